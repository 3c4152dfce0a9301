"""Charts on their way to a page: a report's, or the studio's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


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
