"""How reliable a single sculpture is: networks of a seed against what many searches agree on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..line import FilledTable, Line, LineTable, Rows, units_of
from ..recipe import Figures, Recipe, Scale
from ..sculpt.columns import count, published_count, some_tied, trials_in
from ..sculpt.settings import SEEDS, USES, WIDTHS, boolean_trials
from ..tables import Quantity

_DEPTH = 3
_GROUPS: dict[Scale, Sequence[Sequence[int]]] = {
    "paper": (SEEDS["paper"], range(20, 24), range(24, 28), range(28, 32)),
    "smoke": ((0, 1),),
}
"""Seeds whose searches vote together. The rule of the vote was chosen on seeds 10 to 13."""
_DEPTHS: dict[Scale, int] = {"paper": _DEPTH, "smoke": 2}
_USES = USES | {"smoke": (2,)}


def _lines(scale: Scale) -> list[LineTable]:
    """Return a line for each use, all widths and groups of seeds, and one for all."""
    depth = _DEPTHS[scale]
    lines = [
        Line(
            {"use": use},
            [
                boolean_trials(scale, [4, 1, 2, 2 * use], width, depth, **_seeds(scale, group))
                for group in _GROUPS[scale]
                for width in WIDTHS[scale]
            ],
        )
        for use in _USES[scale]
    ]
    published = [published_count(scale, "8", use=use, hidden_layers=depth) for use in _USES[scale]]
    found = [quantity for quantity in published if quantity]
    total = Quantity(sum(one.value for one in found), of=sum(one.of or 0 for one in found)) if found else None
    whole = Line({"use": "all"}, units_of(lines), {"single": total} if total else {})
    groups = "; ".join(", ".join(map(str, group)) for group in _GROUPS[scale])
    note = (
        f"[4,1,2,m], {depth} hidden layers: how often the planted structure is found. *Single*: by the sculpture of a "
        "seed, its sparsest network; *some tied*: by some network as sparse. *Consensus of a seed*: by the structure "
        "that most of its searches end with, of networks with at most 1.2 times the fewest edges. *Of four seeds*: by "
        f"that of all searches of four seeds together (seeds {groups}; the rule was chosen on 10 to 13). *Agreement* "
        "is the mean adjusted mutual information of modules, over sculptures of four seeds and over searches of "
        "one. Published are counts of single networks, at seeds 0, 1, 2, 5."
    )
    return [LineTable("Single sculptures and consensus", [*lines, whole], _columns, note, digits=2)]


def _seeds(scale: Scale, group: Sequence[int]) -> dict[str, Any]:
    """Return the change of settings for a group of seeds; none for the usual ones, so that units are shared."""
    return {} if list(group) == list(SEEDS[scale]) else {"seeds": list(group)}


def _columns(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    trials = [trial for trial in trials_in(rows) if "consensus" in trial]
    groups = [row["consensus"] for row in rows if row and row.get("consensus")]
    over = {
        kind: [group["agreements"][kind]["value"] for group in groups if kind in group["agreements"]]
        for kind in ("seeds", "searches")
    }
    return {
        "single": count(trials, "full", "whole"),
        "some tied": some_tied(trials, "full", "whole") if trials else None,
        "consensus of a seed": count(trials, "consensus", "full", "whole"),
        "of four seeds": count(groups, "full", "whole"),
        "share of votes": Quantity.of_sample([group["share"] for group in groups]),
        **{f"agreement over {kind}": Quantity.of_sample(found) for kind, found in over.items()},
    }


def _charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw how often each way finds the planted structure, by use."""
    from matplotlib.figure import Figure

    from ...plotting import line_colours, plain_frame

    table = filled[0]
    ways = ("single", "some tied", "consensus of a seed", "of four seeds")
    uses = [line.labels["use"] for line, _ in table.lines if line.labels["use"] != "all"]
    figure = Figure(figsize=(6.2, 3.2), layout="constrained")
    ax = plain_frame(figure.subplots())
    for number, (way, colour) in enumerate(zip(ways, line_colours(len(ways)), strict=True)):
        cells = [cell for cell in table.cells([way]) if cell.labels["use"] != "all" and cell.ours]
        places = [uses.index(cell.labels["use"]) + 0.2 * (number - 1.5) for cell in cells]
        ax.bar(places, [cell.ours.share for cell in cells if cell.ours], 0.18, color=colour, label=way)
    ax.set_xticks(range(len(uses)), [f"use {use}" for use in uses])
    ax.set(ylim=(0, 1.02), ylabel="planted structure found")
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    yield "stability", figure


RECIPES = (
    Recipe(
        "stability",
        "beyond",
        "How reliable is a single sculpture?",
        "no paper's question",
        _lines,
        _charts,
    ),
)
