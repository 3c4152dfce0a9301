"""Mode connectivity: the loss on paths from one specialist over the sum to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...specialists import Connectivity
from ...specialists.connectivity import TOLERANCE
from ..charts import connectivity_chart
from ..page import Page

if TYPE_CHECKING:
    import pandas as pd


def add_paths(
    page: Page,
    steps: Mapping[str, Sequence[Connectivity]],
    pairs: Mapping[str, Sequence[Connectivity]] | None = None,
) -> None:
    """Add the paths of merges step by step, and the highest point of the path between any two specialists.

    Parameters
    ----------
    page : Page
        What to add to.
    steps : mapping of str to sequence of Connectivity
        The steps of a merge, by the team's name.
    pairs : mapping of str to sequence of Connectivity, optional
        Paths between any two of a team.
    """
    page.heading("Mode connectivity")
    page.text(
        "Walking from what is merged so far over the sum to the next specialist, the loss (for the classes of both) "
        "should not rise above the straight line between the ends. Below 0 it is lower than the line, which is good; "
        f"more than {TOLERANCE:g} % above it is a barrier."
    )
    page.charts(
        {name: connectivity_chart(paths) for name, paths in steps.items()},
        "Relative loss on the path over the sum, step by step.",
        label="Team",
    )
    for name, paths in (pairs or {}).items():
        of_team = f" ({name})" if len(steps) > 1 else ""
        connected = sum(path.connected for path in paths)
        highest = max(path.barrier for path in paths)
        page.text(
            f"Two specialists at a time{of_team}: {connected} of {len(paths)} pairs are connected, and the highest "
            f"barrier is {highest:.1f}\N{NO-BREAK SPACE}%."
        )
        if connected < len(paths):
            page.table(
                barriers(paths), f"The barrier between any two{of_team}, in percent above the line.", digits=1
            )


def barriers(paths: Sequence[Connectivity]) -> pd.DataFrame:
    """Return the barrier between any two as a table: a row for each first end, a column for each second."""
    import pandas as pd

    rows: dict[str, dict[str, float]] = {}
    for path in paths:
        rows.setdefault(path.first, {})[path.second] = path.barrier
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("")
