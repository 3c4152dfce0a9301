"""Figure 4: all specialists merged, one after another, in random orders; and in other ways than by their sum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..recipe import Recipe, Scale
from ..tables import Cell, Comparison, Quantity, Table
from ..unit import Finished, Row, Unit
from .collecting import finished_rows, units_of
from .condition import Condition
from .other_rates import CNN_DATA, cnn_pruned_at
from .samples import sample, steps_table
from .training import CASES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = {"sum": "sum", "logits": "averaged logits", "ties": "TIES", "calibrated": "calibrated sum"}
NOTE = (
    "Mean over ten random orders and five seeds of the accuracy on the classes merged so far. The paper "
    "draws this without numbers; it says that shallow MLPs stay above .9 on MNIST and Fashion-MNIST up to "
    "the full merge, and that all models were pruned at 99 %, though its tables have CNNs at 60 %."
)
METHODS_NOTE = "All classes merged, mean (sd) over seeds; the same specialists in every column."


def conditions(scale: Scale) -> list[Condition]:
    """Return one specialist per class: every case, pruned and not; then CNNs at the rate of the figure."""
    cases = [Condition(scale, *case, sparsity=sparsity) for case in CASES[scale] for sparsity in (None, 0.0)]
    return cases + (
        [cnn_pruned_at(scale, data, 1, 0.99) for data in CNN_DATA[scale]] if scale == "paper" else []
    )


def units(scale: Scale) -> Sequence[Unit]:
    """Return all the work."""
    return units_of(conditions(scale))


def tables(finished: Sequence[Finished]) -> Sequence[Table | Comparison]:
    """Return accuracy and entropy after each step, and all classes merged in other ways."""
    rows = finished_rows(conditions, finished)
    if not rows:
        return []
    labelled = [({name: one.labels[name] for name in ("data", "net", "pruned")}, row) for one, row in rows]
    cells = [
        Cell(labels, METHODS[method], Quantity.of_sample(values))
        for labels, row in labelled
        if "methods" in row
        for method, values in merged_by(row).items()
    ]
    found: list[Table | Comparison] = [
        steps_table("Accuracy over the number of specialists merged", labelled, "accuracy", NOTE),
        steps_table("Entropy on the other classes", labelled, "entropy", "In nats; ln |C| is uniform."),
    ]
    return [*found, Comparison("All classes, merged in other ways", cells, METHODS_NOTE)] if cells else found


def merged_by(row: Row) -> dict[str, list[float]]:
    """Return the accuracy of all classes merged by each method, one value for each seed.

    Examples
    --------
    >>> merged_by({"steps": {"accuracy": [[1.0, 0.8], [1.0, 0.6]]}})
    {'sum': [0.8, 0.6]}
    """
    others = {method: sample(row["methods"], method, "accuracy") for method in row.get("methods", {})}
    return {"sum": [accuracies[-1] for accuracies in row["steps"]["accuracy"]], **others}


def figures(finished: Sequence[Finished]) -> Iterable[tuple[str, Figure]]:
    """Draw Figure 4: a panel for each model, a colour for each data set."""
    from ...plotting import line_colours
    from .drawing import draw_steps, panels

    rows = finished_rows(conditions, finished)
    if not rows:
        return
    titles = list(dict.fromkeys(_panel(condition) for condition, _ in rows))
    sets = list(dict.fromkeys(condition.data for condition, _ in rows))
    colours = dict(zip(sets, line_colours(len(sets)), strict=True))
    figure, axes = panels(len(titles), columns=2, size=(4.2, 3.2), sharey=True)
    for condition, row in rows:
        ax = axes[titles.index(_panel(condition))]
        label = condition.data if condition.pruned else f"{condition.data}, not pruned"
        draw_steps(
            ax, row, "accuracy", label=label, colour=colours[condition.data], dashed=not condition.pruned
        )
    for ax, title in zip(axes, titles, strict=True):
        ax.set(title=title, ylim=(0, 1.02))
    lines = {str(line.get_label()): line for ax in axes for line in ax.get_lines()}
    figure.legend(
        list(lines.values()), list(lines), loc="outside lower center", ncols=4, frameon=False, fontsize=7
    )
    yield "complete-merge", figure


def _panel(condition: Condition) -> str:
    rate = f", {condition.labels['pruned']} pruned" if condition.pruned and not condition.as_printed else ""
    return f"{condition.model}{rate}"


RECIPE = Recipe(
    name="complete-merge",
    paper="maxent",
    title="All classes merged, one specialist after another, and in other ways than by their sum",
    shows="Figure 4",
    units=units,
    tables=tables,
    figures=figures,
)
