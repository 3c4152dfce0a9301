"""Charts on their way to the page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def figure_json(figure: Figure) -> dict[str, Any]:
    """Return a figure for the page, which has a template of its own."""
    content: dict[str, Any] = json.loads(figure.to_json())
    content["layout"].pop("template", None)
    return content
