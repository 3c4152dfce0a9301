"""What the mean of the inputs does to merging: the same specialists with inputs shifted and scaled."""

from __future__ import annotations

from collections.abc import Sequence

from ..line import FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from .condition import Condition
from .merges import merged_by
from .rows import steps

_DATA: dict[Scale, tuple[str, ...]] = {"paper": ("mnist", "fashion-mnist"), "smoke": ("digits",)}
_NETS: dict[Scale, str] = {"paper": "mlp:512", "smoke": "mlp:64,dropout=0"}
_INPUTS: dict[Scale, Sequence[tuple[float, float]]] = {
    "paper": ((0, 1), (0.25, 0.5), (0.5, 0.5), (0.75, 0.5), (1, 0.5), (0, 0.5), (0.5, 1), (0.1307, 0.3081)),
    "smoke": ((0, 1), (0.5, 0.5)),
}
"""Shift and scale; pixels are from 0 to 1. The last at paper scale are what the authors took for Fashion-MNIST."""
_STEPS = (2, 5, 7, 10)


def _lines(scale: Scale) -> list[LineTable]:
    """Return a line for each data set, shift and scale."""
    lines = [
        Line({"data": data, "shift": shift, "scale": size}, [condition.unit], condition=condition)
        for data in _DATA[scale]
        for shift, size in _INPUTS[scale]
        for condition in [
            Condition(scale, data, "shallow", net=f"{_NETS[scale]},shift={shift:g},scale={size:g}")
        ]
    ]
    note = (
        "Shallow specialists, one for each class, that compute with (x − shift) / scale. Accuracy on the classes "
        "merged so far, mean over orders and seeds, after so many specialists; and all of them with averaged logits, "
        "where nothing is shared that could interfere, mean (sd) over seeds."
    )
    return [LineTable("Merging over the shift of inputs", lines, _columns, note, all_lines=False)]


def _columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    row = rows[0]
    assert row is not None  # lines of what is not finished are left out
    after = steps(row, "accuracy")
    logits = merged_by(row).get("logits", [])
    return {
        **{f"{step} summed": Quantity(after[step - 1][0]) for step in _STEPS if step <= len(after)},
        "all, averaged logits": Quantity.of_sample(logits),
    }


def _chart(filled: Sequence[FilledTable]) -> Figures:
    """Draw the accuracy of all classes summed over the shift, for inputs that span two units."""
    from matplotlib.figure import Figure

    from ...plotting import line_colours, plain_frame

    cells = [cell for cell in filled[0].cells() if cell.ours]
    last = f"{_STEPS[-1]} summed"
    sets = list(dict.fromkeys(str(cell.labels["data"]) for cell in cells))
    figure = Figure(figsize=(5.4, 3.2), layout="constrained")
    ax = plain_frame(figure.subplots())
    for data, colour in zip(sets, line_colours(len(sets)), strict=True):
        for metric, dashed in ((last, False), ("all, averaged logits", True)):
            mine = [
                (float(str(cell.labels["shift"])), cell.ours.value)
                for cell in cells
                if cell.ours
                and (cell.labels["data"], cell.metric) == (data, metric)
                and cell.labels["scale"] == 0.5
            ]
            if not mine:
                continue
            label = data if not dashed else f"{data}, averaged logits"
            ax.plot(
                *zip(*sorted(mine), strict=True),
                "--" if dashed else "-",
                marker="o",
                color=colour,
                label=label,
            )
    ax.set(xlabel="shift of inputs (scale .5)", ylabel="accuracy, all classes merged")
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    yield "input-shift", figure


RECIPES = (
    Recipe(
        "input-shift",
        "maxent",
        "What the mean of the inputs does to merging",
        "no figure of the paper",
        _lines,
        _chart,
    ),
)
