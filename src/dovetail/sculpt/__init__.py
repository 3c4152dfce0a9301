"""Sculpting: prune a network to the fewest units and edges that do its task, and read the task's modules off it."""

from __future__ import annotations

__all__: list[str] = []
