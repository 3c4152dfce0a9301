"""Networks drawn by modules, closed at first; and sculpted networks in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...sculpting import Hierarchy, Sculpture
from ..hierarchy_view import hierarchy_fragment
from ..page import Page

MOST_DRAWN = 6
_MOST_ROWS = 300


def add_sculptures(page: Page, sculptures: Sequence[Sculpture]) -> None:
    """Add a table of sculpted networks, a row each."""
    import pandas as pd

    page.heading("Sculpted networks")
    rows = [
        {
            "seed": sculpture.seed,
            "outcome": sculpture.outcome,
            "accuracy": sculpture.accuracy,
            "units": "-".join(map(str, sculpture.units)),
            "edges": sculpture.edges,
            "density": sculpture.density,
            "modules": len(sculpture.hierarchy.modules) if sculpture.outcome != "not learned" else None,
            "tied cells": sculpture.tied,
        }
        for sculpture in sculptures[:_MOST_ROWS]
    ]
    frame = pd.DataFrame(rows)
    frame["modules"] = frame["modules"].astype("Int64")
    more = f" {len(sculptures) - len(rows)} more are left out." if len(sculptures) > len(rows) else ""
    page.table(
        frame,
        "Accuracy on the validation split; units with edges in each layer, inputs first; density is the share of edges "
        f"that are left; tied cells are searches that ended with as few edges.{more}",
    )


def add_modules(
    page: Page,
    hierarchies: Mapping[str, Hierarchy],
    output_names: Mapping[str, Sequence[str] | None] | None = None,
) -> None:
    """Add drawings of networks by modules, which open on a click.

    Parameters
    ----------
    page : Page
        What to add to.
    hierarchies : mapping of str to Hierarchy
        By a name for readers.
    output_names : mapping of str to sequence of str, optional
        What the outputs of each are called.
    """
    page.heading("Modules" if len(hierarchies) > 1 else "The network by modules")
    left_out = []
    for number, (name, hierarchy) in enumerate(hierarchies.items()):
        drawing = (
            hierarchy_fragment(hierarchy, output_names=(output_names or {}).get(name))
            if number < MOST_DRAWN
            else ""
        )
        if not drawing or len(drawing.encode()) > page.room():
            left_out.append(name)
            continue
        if len(hierarchies) > 1:
            page.subheading(name[:1].upper() + name[1:])
        page.fragment(drawing)
    if left_out:
        more = ", ..." if len(left_out) > 20 else ""
        page.text(
            f"Not drawn here, to keep the page small: {', '.join(left_out[:20])}{more}. "
            "A report on a file of its own shows it, as far as it is not too large itself."
        )
