"""Readers against hostile input: only a `DovetailError` may come out, at a bounded cost."""
