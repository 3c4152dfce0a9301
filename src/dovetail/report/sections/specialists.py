"""Specialists in a table: what each knows, how sparse it is, how well it does, how large its file is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...specialists import Composite, Part, Score, Specialist
from ..page import Page
from ..sources.parts import PartFile
from ..table import Marks

if TYPE_CHECKING:
    import pandas as pd

_MOST_ROWS = 300


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
    score, known = scores.get(part), part.record.metrics
    return {
        "classes": part.knows,
        "seed": part.seed,
        "loss": part.record.loss,
        "slot": part.record.slots,
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
