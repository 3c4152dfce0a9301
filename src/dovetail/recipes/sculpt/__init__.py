"""Recipes of Neural Sculpting.

All of them count `trials`: networks that were sculpted for a task, a few seeds together. `settings` says how a unit of
them is written down, `trial_row` what is kept of a network, `columns` and `charts` what becomes of many of them.
"""
