"""Confusion matrices, one at a time."""

from __future__ import annotations

from collections.abc import Mapping

from ...specialists import Score
from ..chart_content import chart_content
from ..charts import confusion_chart
from ..page import Page, json_in_html

MOST_MATRICES = 60
_SHARE = 0.6
"""Of the room on the page, for matrices of hundreds of classes."""


def add_confusions(
    page: Page, scores: Mapping[str, Score], heading: str = "What is confused", caption: str = ""
) -> None:
    """Add confusion matrices to choose from, the first at first.

    Parameters
    ----------
    page : Page
        What to add to.
    scores : mapping of str to Score
        By the network's name.
    heading : str
        Of the section.
    caption : str
        What they show; how to read them by default.
    """
    page.heading(heading)
    budget, figures = page.room(for_charts=True) * _SHARE, {}
    for name, score in list(scores.items())[:MOST_MATRICES]:
        figure = confusion_chart(score)
        budget -= len(json_in_html(chart_content(figure)))
        if budget < 0:
            break
        figures[name] = figure
    if figures:
        read = "Rows are true classes, columns the largest output; rewarded classes are bold."
        page.charts(figures, caption or read, label="Network")
    if len(figures) < len(scores):
        page.text(
            f"{len(scores) - len(figures)} more matrices are left out, as they would make the page too large."
        )
