"""Complete merges, one specialist after another: Figure 4, at other temperatures (6) and pruning ratios (7 and 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..line import FilledTable, Line, LineTable, Rows
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Row
from .condition import CASES, CNN_DATA, FEW_PAIRS, Condition, cnn_pruned_at
from .rows import METRICS, sample, steps_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METHODS = {"sum": "sum", "logits": "averaged logits", "ties": "TIES", "calibrated": "calibrated sum"}


def merge_conditions(scale: Scale) -> list[Condition]:
    """Return one specialist per class: every case, pruned and not; then CNNs at the rate of the figure."""
    cases = [Condition(scale, *case, sparsity=sparsity) for case in CASES[scale] for sparsity in (None, 0.0)]
    return cases + (
        [cnn_pruned_at(scale, data, 1, 0.99) for data in CNN_DATA[scale]] if scale == "paper" else []
    )


def _complete_merge(scale: Scale) -> list[LineTable]:
    """Return accuracy and entropy after each step, and all classes merged in other ways."""
    lines = [condition.line("data", "net", "pruned") for condition in merge_conditions(scale)]
    merged_otherwise = [line for line in lines if line.units[0].settings["methods"]]
    note = (
        "Mean over ten random orders and five seeds of the accuracy on the classes merged so far. The paper "
        "draws this without numbers; it says that shallow MLPs stay above .9 on MNIST and Fashion-MNIST up to "
        "the full merge, and that all models were pruned at 99 %, though its tables have CNNs at 60 %."
    )
    nats, methods = (
        "In nats; ln |C| is uniform.",
        "All classes merged, mean (sd) over seeds; the same specialists in every column.",
    )
    return [
        _steps("Accuracy over the number of specialists merged", lines, "accuracy", note),
        _steps("Entropy on the other classes", lines, "entropy", nats),
        LineTable(
            "All classes, merged in other ways", merged_otherwise, _method_columns, methods, all_lines=False
        ),
    ]


def _steps(title: str, lines: Sequence[Line], metric: str, note: str) -> LineTable:
    return LineTable(title, lines, steps_columns(metric), note, all_lines=False, numbers=True)


def _method_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    assert rows[0] is not None
    return {_METHODS[name]: Quantity.of_sample(values) for name, values in merged_by(rows[0]).items()}


def merged_by(row: Row) -> dict[str, list[float]]:
    """Return the accuracy of all classes merged by each method, one value for each seed.

    Examples
    --------
    >>> merged_by({"steps": {"accuracy": [[1.0, 0.8], [1.0, 0.6]]}})
    {'sum': [0.8, 0.6]}
    """
    others = {method: sample(row["methods"], method, "accuracy") for method in row.get("methods", {})}
    return {"sum": [accuracies[-1] for accuracies in row["steps"]["accuracy"]], **others}


def _finished(table: FilledTable) -> list[tuple[Condition, Row]]:
    return [(line.condition, rows[0]) for line, rows in table.lines if rows[0]]


def _complete_merge_chart(filled: Sequence[FilledTable]) -> Figures:
    """Draw Figure 4: a panel for each model, a colour for each data set."""
    from ...plotting import line_colours
    from .drawing import draw_steps, panels

    found = _finished(filled[0])
    titles = list(dict.fromkeys(_panel(condition) for condition, _ in found))
    sets = list(dict.fromkeys(condition.data for condition, _ in found))
    colours = dict(zip(sets, line_colours(len(sets)), strict=True))
    figure, axes = panels(len(titles), columns=2, size=(4.2, 3.2), sharey=True)
    for condition, row in found:
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
    rate = f", {condition.labels['pruned']} pruned" if condition.pruned and not condition.as_published else ""
    return f"{condition.model}{rate}"


COMPLETE_MERGE = Recipe(
    "complete-merge",
    "maxent",
    "All classes merged, one specialist after another, and in other ways than by their sum",
    "Figure 4",
    _complete_merge,
    _complete_merge_chart,
)


def _temperature(scale: Scale) -> list[LineTable]:
    """Return shallow specialists, one per class, at each temperature."""
    lines = [
        Condition(scale, *CASES[scale][0], temperature=value).line("data", temperature=value)
        for value in (1.0, 3.0, 5.0, 7.0)
    ]
    note = (
        "Mean over orders and seeds. The paper draws this without numbers, and chooses t = 5 as a trade-off."
    )
    return [
        _steps(f"{metric.capitalize()} over the number of specialists merged", lines, metric, note)
        for metric in METRICS
    ]


def _temperature_chart(filled: Sequence[FilledTable]) -> Figures:
    """Draw Figure 6: entropy and accuracy over merge steps, a line for each temperature."""
    from .drawing import steps_figure

    yield (
        "temperature",
        steps_figure([(f"t = {one.train['temperature']:g}", row) for one, row in _finished(filled[0])]),
    )


TEMPERATURE = Recipe(
    "temperature",
    "maxent",
    "The complete merge at other temperatures",
    "Figure 6",
    _temperature,
    _temperature_chart,
)

_MLP_RATES: dict[Scale, tuple[float, ...]] = {"paper": (0.0, 0.9, 0.99, 0.999), "smoke": (0.5, 0.9, 0.99)}
_CNN_RATES: dict[Scale, tuple[float, ...]] = {"paper": (0.3, 0.6, 0.9, 0.99), "smoke": (0.6, 0.99)}
_CNN_SIZES: dict[Scale, tuple[int, ...]] = {"paper": (2, 5), "smoke": (2,)}
_CNN_TITLE = "CNN, pairs"


def _pruning_ratio(scale: Scale) -> list[LineTable]:
    """Return shallow specialists, one per class (Figure 7), and CNNs of larger sets (Figure 8) at each rate."""
    mlps = [
        Condition(scale, *CASES[scale][0], sparsity=rate).line("data", "pruned") for rate in _MLP_RATES[scale]
    ]
    cnns = [
        cnn_pruned_at(scale, data, size, rate).line("data", "|R|")
        for data in CNN_DATA[scale]
        for size in _CNN_SIZES[scale]
        for rate in _CNN_RATES[scale]
    ]
    note = "Mean over orders and seeds. The paper draws 90, 99 and 99.9 % without numbers, and chooses 99 %."
    cnn_note = (
        f"Rewarded accuracy of sums of two, mean (sd) over {FEW_PAIRS} pairs and five seeds, the same pairs at "
        "every rate. The paper draws this without numbers, and finds 60 % best throughout; which other rates "
        "it tried is not in its text."
    )
    return [
        *(_steps(f"Shallow, {metric} over the number merged", mlps, metric, note) for metric in METRICS),
        LineTable(_CNN_TITLE, cnns, _rate_columns, cnn_note, all_lines=False),
    ]


def _rate_columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    """Return a column for the line's own rate: lines of other rates have the same labels."""
    assert rows[0] is not None
    pairs = shared_pairs(line.condition, rows[0])
    return {f"{line.condition.labels['pruned']} pruned": Quantity.of_sample(pairs)}


def shared_pairs(condition: Condition, row: Row) -> list[float]:
    """Return the accuracies of those pairs that are measured at every rate."""
    wanted = cnn_pruned_at(condition.scale, condition.data, condition.size, 0.99).unit.settings["pairs"]
    places = [place for place, pair in enumerate(condition.unit.settings["pairs"]) if pair in wanted]
    return [accuracies[place] for accuracies in row["pairs"]["accuracy"] for place in places]


def _pruning_ratio_charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw Figures 7 and 8."""
    from .drawing import steps_figure

    tables = {table.title == _CNN_TITLE: table for table in filled}
    if mlps := tables.get(False):
        lines = [
            (f"{one.labels['pruned']} pruned" if one.pruned else "not pruned", row)
            for one, row in _finished(mlps)
        ]
        yield "pruning-ratio-shallow", steps_figure(lines)
    if cnns := tables.get(True):
        yield "pruning-ratio-cnn", _cnn_figure(_finished(cnns))


def _cnn_figure(found: Sequence[tuple[Condition, Row]]) -> Figure:
    from ...plotting import line_colours, plain_frame
    from .drawing import panels

    figure, (ax,) = panels(1, size=(6.2, 3.4))
    lines = list(dict.fromkeys((one.data, one.size) for one, _ in found))
    for (data, size), colour in zip(lines, line_colours(len(lines)), strict=True):
        mine = [
            (100 * one.train["sparsity"], Quantity.of_sample(shared_pairs(one, row)))
            for one, row in found
            if (one.data, one.size) == (data, size)
        ]
        ax.errorbar(
            [rate for rate, _ in mine],
            [one.value for _, one in mine if one],
            [one.spread or 0 for _, one in mine if one],
            color=colour, marker="o", markersize=4, capsize=2, label=f"{data}, |R| = {size}",
        )  # fmt: skip
    ax.set(xlabel="weights pruned (%)", ylabel="rewarded accuracy of pairs (mean ± sd)")
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    plain_frame(ax)
    return figure


PRUNING_RATIO = Recipe(
    "pruning-ratio",
    "maxent",
    "Merges of specialists that are pruned more or less",
    "Figures 7 and 8",
    _pruning_ratio,
    _pruning_ratio_charts,
)

RECIPES = (COMPLETE_MERGE, TEMPERATURE, PRUNING_RATIO)
