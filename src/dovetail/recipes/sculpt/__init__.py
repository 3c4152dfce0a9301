"""Recipes of Neural Sculpting.

All of them count `trials`: networks that were sculpted for a task, a few seeds together. `settings` says how a unit of
them is written down, `lines` how units become rows of tables, `charts` and `pictures` how they are drawn.
"""
