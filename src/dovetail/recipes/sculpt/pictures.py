"""Networks that were found, drawn by module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..unit import Finished, Row
from .charts import panel_title
from .lines import Line, Lines, with_rows
from .tasks import IMAGES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...sculpting import Hierarchy


def network_pictures(
    lines: Lines,
    finished: Sequence[Finished],
    *,
    column: str,
    row: str | None = None,
    size: tuple[float, float] = (3.4, 3.0),
) -> Iterator[tuple[str, Figure]]:
    """Yield a sheet of networks, if there are any: for each row of a table one with the planted modules, or any.

    Parameters
    ----------
    lines, finished
        The rows, and what is done.
    column, row : str
        The labels by which networks stand beside and, if there is one, below one another.
    size : (float, float)
        Width and height of one picture, in inches.
    """
    from matplotlib.figure import Figure

    names = [row, column] if row else [column]
    shown = {
        tuple(line.labels[name] for name in names): (line, found)
        for line, rows in with_rows(lines, finished)
        if (found := _example(rows)) is not None
    }
    if not shown:
        return
    down = list(dict.fromkeys(place[:-1] for place in shown))
    across = list(dict.fromkeys(place[-1] for place in shown))
    figure = Figure(figsize=(size[0] * len(across), size[1] * len(down)), layout="constrained")
    for place, (line, found) in shown.items():
        number = down.index(place[:-1]) * len(across) + across.index(place[-1]) + 1
        ax = figure.add_subplot(len(down), len(across), number)
        title = "\n".join(map(panel_title, names, place))
        found.plot(ax=ax, title=title, legend=False, **_images(line))
    yield "networks", figure


def _example(rows: Sequence[Row]) -> Hierarchy | None:
    """Return the network to show: the first one that shows what was planted, or else the first."""
    from ...sculpting import Hierarchy

    there = [row for row in rows if row["example"] and row["example"]["hierarchy"]]
    ranked = sorted(there, key=lambda row: not row["trials"][0]["at_depth"]["whole"])
    return Hierarchy.from_json(ranked[0]["example"]["hierarchy"]) if ranked else None


def _images(line: Line) -> dict[str, Any]:
    """Return how inputs are drawn as pixels, where they are."""
    task = line.units[0].settings["task"]
    if not isinstance(task, dict):
        return {}
    height, width = IMAGES[task["base"]]
    return {"image_shape": (height, 2 * width)}
