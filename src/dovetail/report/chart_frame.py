"""Charts: what all have in common, and how they go to a page, a report's or the studio's."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def empty_figure(x: str, y: str, height: int = 420) -> Figure:
    """Return a figure with nothing in it but the names of its axes."""
    from plotly.graph_objects import Figure

    axis: dict[str, Any] = {"automargin": True, "zeroline": False}
    # Pages bring a template of their own, and copying one of plotly's takes three times as long as all the rest.
    return Figure(
        layout={
            "template": "none", "height": height, "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
            "colorscale": {"sequential": "Blues"},
            "xaxis": {"title": {"text": x}, **axis}, "yaxis": {"title": {"text": y}, **axis},
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        }
    )  # fmt: skip


def titled(figure: Figure, title: str) -> Figure:
    """Return the figure with a title above it."""
    place = {"x": 0.5, "y": 1, "yanchor": "top", "pad": {"t": 10}}
    return figure.update_layout(title={"text": title, "font": {"size": 15}, **place}, margin={"t": 50})


def plain(text: str) -> str:
    """Return text that plotly shows as it stands: not as tags, formulas ($...$) or variables (%{...})."""
    return escape(text).replace("$", "&#36;").replace("{", "&#123;")


def chart_content(figure: Figure) -> dict[str, Any]:
    """Return a figure as plain values, without what is the page's to decide: its width and its template.

    Examples
    --------
    >>> from plotly.graph_objects import Figure
    >>> chart_content(Figure(layout={"width": 100, "height": 200}))
    {'data': [], 'layout': {'height': 200}}
    """
    content: dict[str, Any] = json.loads(figure.to_json())
    for name in ("width", "template"):
        content["layout"].pop(name, None)
    return content
