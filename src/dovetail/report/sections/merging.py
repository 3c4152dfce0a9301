"""Accuracy over the number of specialists merged."""

from __future__ import annotations

from collections.abc import Mapping

from ...specialists import MergeCurve
from ..charts import merge_curve_chart
from ..page import Page


def add_merge_curves(
    page: Page, curves: Mapping[str, MergeCurve], heading: str = "Merging one after the other"
) -> None:
    """Add how accuracy goes with the number of specialists merged.

    Parameters
    ----------
    page : Page
        What to add to.
    curves : mapping of str to MergeCurve
        By a name for each line; ``""`` for a line that needs none.
    heading : str
        Of the section.
    """
    page.heading(heading)
    page.text(
        "Specialists that share hidden units get in each other's way the more of them are added. In slots, each has "
        "its own share of every hidden layer, and the sum of weights computes the sum of their outputs."
    )
    runs = max(len(curve.orders) for curve in curves.values())
    many = f"mean and standard deviation of {runs} random orders" if runs > 1 else "in one random order"
    page.chart(merge_curve_chart(curves), f"Accuracy over the number of specialists merged, {many}.")
