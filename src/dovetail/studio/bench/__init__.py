"""The bench: specialists as cards, composites of those that are ticked, measured at once.

`parts` reads what there is, `groups` says what can be put together and `composing` does it, `logits` computes step by
step from what is remembered, and `bench` ties them together for `routes`.
"""
