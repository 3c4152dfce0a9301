"""What was found, for people: interactive charts, and one HTML file that holds them and opens anywhere, offline.

`write_report` makes a page of whatever there is at a path: `sources` reads it, `pages` has a page for each kind of
thing. `charts` makes plotly figures of results; `Page` puts
headings, text, tables, pictures and charts into a file; `hierarchy_html` makes a page of the modules in a network. Only
charts need plotly, and only when one is made. The names below are imported on first use: the studio's jobs need none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .build import build_report, write_report
    from .charts import (
        confusion_chart,
        connectivity_chart,
        merge_curve_chart,
        per_class_chart,
        probe_chart,
        relearning_chart,
    )
    from .hierarchy_view import hierarchy_fragment, hierarchy_html
    from .page import Page

__all__ = [
    "Page",
    "build_report",
    "confusion_chart",
    "connectivity_chart",
    "hierarchy_fragment",
    "hierarchy_html",
    "merge_curve_chart",
    "per_class_chart",
    "probe_chart",
    "relearning_chart",
    "write_report",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "build": ["build_report", "write_report"],
        "charts": [
            "confusion_chart", "connectivity_chart", "merge_curve_chart", "per_class_chart", "probe_chart",
            "relearning_chart",
        ],
        "hierarchy_view": ["hierarchy_fragment", "hierarchy_html"],
        "page": ["Page"],
    },
)  # fmt: skip
