"""Sections about specialists, for any page: tables, merging one by one, paths between them, and what is confused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...markup import Marks
from ...specialists import Composite, Connectivity, MergeCurve, Part, Score, Specialist
from ..chart_frame import chart_content
from ..charts import confusion_chart, connectivity_chart, merge_curve_chart
from ..page import Page, json_in_html
from ..sources import PartFile

if TYPE_CHECKING:
    import pandas as pd

_MOST_ROWS = 300

MOST_MATRICES = 60

_SHARE = 0.6
"""Of the room on the page, for matrices of hundreds of classes."""


def add_specialists(
    page: Page, files: Sequence[PartFile], scores: Mapping[Part, Score], note: str = ""
) -> None:
    """Add a table of specialists: those with files of their own, or else the members of composites.

    Parameters
    ----------
    page : Page
        What to add to.
    files : sequence of PartFile
        What there is.
    scores : mapping of Part to Score
        What was measured, on a test split. For a specialist that was not, the table has what its manifest knows.
    note : str
        Why something was not measured, if so.
    """
    import pandas as pd

    page.heading("Specialists")
    if note:
        page.text(note)
    rows = [
        _row(file.part, scores) | {"file": file.name, "size": _size(file.size)}
        for file in files
        if isinstance(file.part, Specialist)
    ]
    rows = rows or [_row(part, scores) for file in files for part in file.part.specialists]
    frame = pd.DataFrame(rows)
    splits, slots = list(frame["split"].unique()), bool(frame["slot"].any())
    for name in ("slot", "split"):
        if frame[name].nunique() == 1:  # then it tells none from another
            frame = frame.drop(columns=name)
    where = f"the {splits[0]} split" if len(splits) == 1 else "the split that is named"
    page.table(
        frame.head(_MOST_ROWS),
        f"Accuracy on the classes that each knows, and entropy (nats) on all others, on {where}. Sparsity is the share "
        f"of weights that are 0: pruned{', or outside of its slot' if slots else ''}.{_more(len(rows))}",
        marks=_to_the_right(frame, "size"),
    )


def add_composites(
    page: Page, composites: Mapping[str, Part], scores: Mapping[Part, Score], sizes: Mapping[str, int]
) -> None:
    """Add a table of what specialists give when they are put together.

    Parameters
    ----------
    page : Page
        What to add to.
    composites : mapping of str to Part
        By name.
    scores : mapping of Part to Score
        What was measured, on a test split.
    sizes : mapping of str to int
        Bytes of those that are in files.
    """
    import pandas as pd

    page.subheading("Put together")
    rows = []
    for name, part in composites.items():
        row: dict[str, object] = {
            "network": name,
            "method": part.method if isinstance(part, Composite) else "sum",
            "specialists": len(part.specialists),
            "classes": f"{len(part.rewarded)} of {len(part.classes)}",
        }
        if part in scores:
            row |= {
                "accuracy": scores[part].rewarded_accuracy,
                "entropy": scores[part].entropy,
                "calibration error": scores[part].calibration_error,
            }
        if sizes:
            row["size"] = _size(sizes[name]) if name in sizes else None
        rows.append(row)
    frame = pd.DataFrame(rows)
    where = ", on the test split" if "accuracy" in frame else ""
    caption = f"Specialists put together{where}.{_more(len(rows))}"
    page.table(frame.head(_MOST_ROWS), caption, marks=_to_the_right(frame, "size"))


def _row(part: Specialist, scores: Mapping[Part, Score]) -> dict[str, object]:
    score, known = scores.get(part), part.provenance.metrics
    return {
        "classes": part.knows,
        "seed": part.seed,
        "loss": part.provenance.loss,
        "slot": part.provenance.slots,
        "sparsity": part.sparsity,
        "accuracy": score.rewarded_accuracy if score else known.get("rewarded_accuracy"),
        "entropy": score.entropy if score else known.get("entropy"),
        "split": "test" if score else "validation",
    }


def _size(count: int) -> str:
    return f"{count / 1000:.1f} kB"


def _to_the_right(frame: pd.DataFrame, name: str) -> Marks:
    """Return marks that put a column of texts to the right, as numbers are."""
    column = list(frame.columns).index(name) if name in frame else None
    return {} if column is None else {(row, column): "number" for row in range(len(frame))}


def _more(rows: int) -> str:
    return f" {rows - _MOST_ROWS} more are left out." if rows > _MOST_ROWS else ""


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
        f"more than {Connectivity.tolerance:g} % above it is a barrier."
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
