"""Charts of sculpted networks: success rates beside the published ones, as bars or maps, and networks by module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..line import Line, Rows
from ..tables import Cell, Quantity
from .tasks import IMAGES

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...sculpting import Hierarchy

_BAR = 0.38
_LONG_NAME = 6
"""Letters from which on names below a map are written aslant."""


def success_bars(cells: Sequence[Cell], *, x: str, panel: str) -> Figure:
    """Return bars of success rates, ours and the published, in panels side by side.

    Parameters
    ----------
    cells : sequence of Cell
        Counts.
    x, panel : str
        What lies along a panel, and what each panel is for: names of labels, or ``"metric"``.
    """
    from matplotlib.figure import Figure

    from ...plotting import plain_frame

    panels = _labels(cells, panel)
    places = _labels(cells, x)
    figure = Figure(figsize=(1.2 + len(panels) * max(1.9, 0.75 * len(places)), 2.9), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, name in zip(axes, panels, strict=True):
        shown = {_label(cell, x): cell for cell in cells if _label(cell, panel) == name}
        for place, value in enumerate(places):
            if value in shown:
                _draw_pair(ax, place, shown[value])
        ax.set_xticks(range(len(places)), [str(value) for value in places])
        ax.set_xlim(-0.6, len(places) - 0.4)
        ax.set_xlabel(x)
        ax.set_title(panel_title(panel, name), fontsize="medium")
        plain_frame(ax)
    axes[0].set_ylim(0, 1.12)
    axes[0].set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes[0].set_ylabel("success rate")
    _add_legend(figure, axes)
    return figure


def _draw_pair(ax: Axes, place: int, cell: Cell) -> None:
    from ...plotting import GREY, LINE_COLOURS

    both = [("ours", cell.ours, LINE_COLOURS[0]), ("published", cell.published, GREY)]
    there = [(label, quantity, colour) for label, quantity, colour in both if quantity is not None]
    for number, (label, quantity, colour) in enumerate(there):
        at = place + (number - (len(there) - 1) / 2) * _BAR
        ax.bar(at, quantity.share, _BAR, color=colour, label=label)
        ax.annotate(
            f"{quantity.value:g}",
            (at, quantity.share),
            (0, 1),
            textcoords="offset points",
            ha="center",
            fontsize="x-small",
        )


def _add_legend(figure: Figure, axes: Sequence[Axes]) -> None:
    found: dict[str, Artist] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(
        list(found.values()), list(found), loc="outside right upper", frameon=False, fontsize="small"
    )


def rate_maps(cells: Sequence[Cell], *, x: str, y: str, column: str) -> Figure:
    """Return maps of success rates, ours above the published ones; a cross where there is none.

    Parameters
    ----------
    cells : sequence of Cell
        Counts.
    x, y, column : str
        What lies along a map and up it, and what each map is for: names of labels, or ``"metric"``.
    """
    from matplotlib.figure import Figure

    across, up, columns = (_labels(cells, name) for name in (x, y, column))
    sources = ["ours", "published"] if any(cell.published for cell in cells) else ["ours"]
    size = 1.4 + len(columns) * (0.7 + 0.42 * len(across)), 0.9 + len(sources) * (0.5 + 0.32 * len(up))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(sources), len(columns), squeeze=False, sharex=True, sharey=True)
    for row, source in zip(axes, sources, strict=True):
        for ax, name in zip(row, columns, strict=True):
            shown = {
                (_label(cell, x), _label(cell, y)): getattr(cell, source)
                for cell in cells
                if _label(cell, column) == name
            }
            _draw_map(ax, [[shown.get((along, above)) for along in across] for above in up])
        row[0].set_ylabel(f"{source}\n{y}", fontsize="small")
    for ax, name in zip(axes[0], columns, strict=True):
        ax.set_title(panel_title(column, name), fontsize="medium")
    axes[0, 0].set_yticks(range(len(up)), [str(value) for value in up])
    names = [str(value) for value in across]
    slanted = max(map(len, names)) > _LONG_NAME
    for ax in axes[-1]:
        ax.set_xticks(range(len(names)), names, rotation=30 * slanted, ha="right" if slanted else "center")
        ax.set_xlabel(x, fontsize="small")
    return figure


def _draw_map(ax: Axes, quantities: list[list[Quantity | None]]) -> None:
    shares = [[float("nan") if cell is None else cell.share for cell in line] for line in quantities]
    ax.imshow(shares, vmin=0, vmax=1, cmap="Blues", origin="lower", aspect="auto")
    for up, line in enumerate(shares):
        for across, share in enumerate(line):
            known = share == share  # not NaN
            text = f"{share:.2f}".lstrip("0") if share < 1 else "1"
            ax.text(
                across, up, text if known else "×", ha="center", va="center", fontsize="x-small",
                color="white" if known and share > 0.6 else "black",
            )  # fmt: skip


def _label(cell: Cell, name: str) -> object:
    return cell.metric if name == "metric" else cell.labels[name]


def _labels(cells: Sequence[Cell], name: str) -> list[object]:
    return list(dict.fromkeys(_label(cell, name) for cell in cells))


def panel_title(name: str, value: object) -> str:
    """Return what a panel is called: numbers need their name beside them.

    Examples
    --------
    >>> panel_title("use", 8), panel_title("structure", "reused")
    ('use: 8', 'reused')
    """
    return f"{name}: {value}" if isinstance(value, int | float) else str(value)


def network_pictures(
    lines: Sequence[tuple[Line, Rows]],
    *,
    column: str,
    row: str | None = None,
    size: tuple[float, float] = (3.4, 3.0),
) -> Iterator[tuple[str, Figure]]:
    """Yield a sheet of networks, if there are any: for each line of a table one with the planted modules, or any.

    Parameters
    ----------
    lines : sequence of (Line, Rows)
        The lines, and what came out of their units.
    column, row : str
        The labels by which networks stand beside and, if there is one, below one another.
    size : (float, float)
        Width and height of one picture, in inches.
    """
    from matplotlib.figure import Figure

    names = [row, column] if row else [column]
    shown = {
        tuple(line.labels[name] for name in names): (line, found)
        for line, rows in lines
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


def _example(rows: Rows) -> Hierarchy | None:
    """Return the network to show: the first one that shows what was planted, or else the first."""
    from ...sculpting import Hierarchy

    there = [row for row in rows if row and row["example"] and row["example"]["hierarchy"]]
    ranked = sorted(there, key=lambda row: not row["trials"][0]["at_depth"]["whole"])
    return Hierarchy.from_json(ranked[0]["example"]["hierarchy"]) if ranked else None


def _images(line: Line) -> dict[str, Any]:
    """Return how inputs are drawn as pixels, where they are."""
    task = line.units[0].settings["task"]
    if not isinstance(task, dict):
        return {}
    height, width = IMAGES[task["base"]]
    return {"image_shape": (height, 2 * width)}
