"""The bench: specialists as cards, composites of those that are ticked, measured at once.

`listing` reads what there is, `groups` says what can be put together, `rows` and `forward` measure step by step from
what is remembered, `bench` ties them together for `routes`.
"""
