"""Every finder of modules, held against networks whose modules are known. No paper has asked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..line import FilledTable, Line, LineTable, Rows, units_of
from ..recipe import Figures, Recipe, Scale
from ..tables import Quantity
from ..unit import Unit

_FINDERS = ("spectral", "leiden", "paths", "lesions", "sculpted")
_LEVEL = 0.05

_LOOKING: dict[Scale, Sequence[str]] = {
    "paper": _FINDERS,
    "smoke": ("spectral", "paths", "lesions", "sculpted"),
}
"""Communities need a package that may not be there, and take ten times as long as the others."""

_SEEDS: dict[Scale, int] = {"paper": 4, "smoke": 2}
_NULLS: dict[Scale, dict[str, tuple[int, int]]] = {
    "paper": {"blocks": (60, 16), "tasks": (80, 30)},
    "smoke": {"blocks": (2, 0), "tasks": (2, 0)},
}
"""Shuffled networks of each kind, and those of them that *leiden* looks at."""
_SIZES = {"modules": 4, "units": 4}
_LAYERS: dict[Scale, dict[str, int]] = {"paper": {"mlp": 3, "cnn": 3, "attention": 1}, "smoke": {"mlp": 2}}
_STRENGTHS: dict[Scale, Sequence[float]] = {"paper": (0.25, 0.5, 0.75, 1.0), "smoke": (0.0, 1.0)}
_TRAINED: dict[Scale, Sequence[float]] = {"paper": (0.8, 0.95, 1.0), "smoke": (1.0,)}
_PARTS: dict[Scale, Sequence[str]] = {"paper": ("separate", "shared"), "smoke": ("shared",)}
_EPOCHS: dict[Scale, int] = {"paper": 300, "smoke": 20}
_OF_NULLS = {"blocks": 0.5, "tasks": 0.95}
"""Strength of the networks that are shuffled: there finders begin to see something."""

_PROGRAMS: dict[Scale, dict[str, Sequence[int]]] = {
    "paper": {"named": range(1, 36), "drawn": range(12), "two drawn": range(500, 508)},
    "smoke": {"named": range(4, 5), "two drawn": range(500, 501)},
}
"""Numbers of the named programs, of which the first is no operation, and seeds of the drawn ones."""
_STREAMS: dict[str, dict[str, Any]] = {
    "nodes": {"residual": "nodes", "turned": False},
    "turned": {"residual": "nodes", "turned": True},
    "through": {"residual": "through", "turned": False},
}

_HOW = """\
The adjusted Rand index of clusters and modules, over hidden units: 1 if they are the same, 0 by chance. *Blocks*
have random weights, between modules with a standard deviation of 1 - *strength* times that within. *Tasks* are
trained for three Boolean functions at once in separate parts, or with one more part that all of them read, and get
noise between the parts afterwards. *Spectral* and *leiden* are audits with `clusterability`; *paths* and *lesions*
are k-means of `path_profiles` and `effect_profiles`; *sculpted* are the modules that `detect_modules` finds among
the largest weights, a share of one over the number of modules in each layer. All but the last are told how many
modules there are. Inputs and outputs do not count; a hidden unit that a finder leaves out counts as a cluster of
its own."""

_COMPILED = """\
The adjusted Rand index of clusters and parts. A program's operations are the parts of a transformer: heads, dense
units, and the directions of the residual stream that they write to. *Two drawn*: two programs side by side, each of
which is one module; what both need is none. *Stream*: its *nodes* are units; or it is *turned* by a random rotation,
which leaves what the network computes, but no direction of the stream to a part; or connections pass *through* it
(`residual="through"`), which does not depend on how it is turned. *Sculpted* modules need a chain of layers.
*Seen* is by spectral clusters of nodes beside 19 copies, p ≤ 0.05."""


def _unit(scale: Scale, family: str, options: dict[str, Any], **changes: Any) -> Unit:
    settings: dict[str, Any] = {
        "family": family, "options": options, "seeds": list(range(_SEEDS[scale])), "residual": "nodes",
        "shuffled": False, "finders": list(_LOOKING[scale]), "tested": list(_LOOKING[scale]), "shuffles": 19,
    }  # fmt: skip
    return Unit("beyond/known-networks", {**settings, **changes})


def _families(scale: Scale) -> dict[str, tuple[str, dict[str, Any], Sequence[float]]]:
    """Return by name the family, its options but for the strength, and the strengths."""
    blocks = {
        f"{kind} blocks": ("blocks", {**_SIZES, "kind": kind, "layers": layers}, _STRENGTHS[scale])
        for kind, layers in _LAYERS[scale].items()
    }
    tasks = {
        f"{parts} tasks": ("tasks", {"parts": parts, "epochs": _EPOCHS[scale]}, _TRAINED[scale])
        for parts in _PARTS[scale]
    }
    return {**blocks, **tasks}


def _lines(scale: Scale) -> list[LineTable]:
    """Return agreement, power and false positives, and agreement with the parts of compiled transformers."""
    families = _families(scale)
    planted = [
        Line(
            {"network": name, "strength": f"{strength:g}"},
            [_unit(scale, family, {**options, "strength": strength}, tested=_tested(scale, family))],
        )
        for name, (family, options, strengths) in families.items()
        for strength in strengths
    ]
    nulls = [
        Line({"network": name}, _nulls(scale, family, {**options, "strength": _OF_NULLS[family]}))
        for name, (family, options, _) in families.items()
    ]
    nulls.append(Line({"network": "all"}, units_of(nulls)))
    compiled = _compiled(scale)
    rand, information = partial(_agreement, "rand"), partial(_agreement, "information")
    same = "The same by adjusted mutual information."
    power = (
        "How many of these networks are found to be modular: at most one in twenty of the network and its 19 copies "
        "with shuffled weights has as good clusters (p ≤ 0.05). By the n-cut for *spectral* and *leiden*, by the "
        "variance of profiles between clusters for *paths* and *lesions*, by modularity for *sculpted*; ties count "
        "against the network. *Leiden* takes long, and is tested on tasks alone."
    )
    false = (
        "The same test on networks whose weights were shuffled beforehand (blocks of strength "
        f"{_OF_NULLS['blocks']:g}, tasks of {_OF_NULLS['tasks']:g}): the share that is found to be modular, which "
        "should be 0.05, with its standard error. There are fewer networks for *leiden*, which takes long."
    )
    return [
        LineTable("Agreement with known modules", planted, rand, _HOW),
        LineTable("Mutual information with known modules", planted, information, same),
        LineTable("Power", planted, _power, power),
        LineTable("False positives", nulls, _false_positives, false),
        LineTable("Agreement with parts of compiled transformers", compiled, rand, _COMPILED),
        LineTable("Mutual information with parts of compiled transformers", compiled, information, same),
    ]


def _tested(scale: Scale, family: str) -> list[str]:
    """Return the finders whose power is measured."""
    return [name for name in _LOOKING[scale] if name != "leiden" or family == "tasks"]


def _nulls(scale: Scale, family: str, options: dict[str, Any]) -> list[Unit]:
    """Return units of shuffled networks: for all finders but Leiden, and fewer for that."""
    many, few = _NULLS[scale][family]
    others = [name for name in _LOOKING[scale] if name != "leiden"]
    looking = [(others, many), (["leiden"], few)]
    return [
        _unit(
            scale, family, options, shuffled=True, seeds=list(range(1000, 1000 + count)),
            finders=finders, tested=finders,
        )
        for finders, count in looking
        if count
    ]  # fmt: skip


def _compiled(scale: Scale) -> list[Line]:
    streams = list(_STREAMS)[:: 1 if scale == "paper" else 2]
    finders = [name for name in _LOOKING[scale] if name != "sculpted"]
    return [
        Line(
            {"programs": name, "stream": stream},
            [
                _unit(
                    scale, "programs",
                    {"programs": "named" if name == "named" else "drawn", "together": 1 + (name == "two drawn"),
                     "length": 5, "operations": 5, "turned": _STREAMS[stream]["turned"]},
                    seeds=list(seeds), residual=_STREAMS[stream]["residual"], finders=finders,
                    tested=["spectral"] if stream == "nodes" else [],
                )
            ],
        )
        for name, seeds in _PROGRAMS[scale].items()
        for stream in streams
    ]  # fmt: skip


def _values(rows: Rows, finder: str, column: str) -> list[float]:
    found = [row["finders"].get(finder, {column: []})[column] for row in rows if row]
    return [value for values in found for value in values if value is not None]


def _agreement(measure: str, line: Line, rows: Rows) -> dict[str, Quantity | None]:
    found: dict[str, Quantity | None] = {
        "units": Quantity.of_sample([units for row in rows if row for units in row["units"]]),
        "modules": Quantity.of_sample([modules for row in rows if row for modules in row["modules"]]),
        **{finder: Quantity.of_sample(_values(rows, finder, measure)) for finder in _FINDERS},
    }
    if "programs" in line.labels:
        found["seen"] = _count(_values(rows, "spectral", "p_values"))
    return found


def _power(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    return {finder: _count(_values(rows, finder, "p_values")) for finder in _FINDERS}


def _count(p_values: Sequence[float]) -> Quantity | None:
    return Quantity(sum(p <= _LEVEL for p in p_values), of=len(p_values)) if p_values else None


def _false_positives(line: Line, rows: Rows) -> dict[str, Quantity | None]:
    found: dict[str, Quantity | None] = {}
    for finder in _FINDERS:
        seen = _count(_values(rows, finder, "p_values"))
        if seen is None or seen.of is None:
            found[finder] = None
        else:
            found[finder] = Quantity(seen.share, (seen.share * (1 - seen.share) / seen.of) ** 0.5)
            found[f"of ({finder})"] = Quantity(seen.value, of=seen.of)
    return found


def _charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw agreement and power over strength, a panel for each kind of network."""
    yield "agreement", _curves(filled[0], "adjusted Rand index")
    yield "power", _curves(filled[2], "found to be modular")


def _curves(table: FilledTable, what: str) -> Any:
    from matplotlib.figure import Figure

    from ...plotting import line_colours, plain_frame

    names = list(dict.fromkeys(line.labels["network"] for line, _ in table.lines))
    figure = Figure(figsize=(2.4 * len(names) + 1.2, 2.8), layout="constrained")
    for ax, name in zip(figure.subplots(1, len(names), sharey=True, squeeze=False)[0], names, strict=True):
        plain_frame(ax)
        for finder, colour in zip(_FINDERS, line_colours(len(_FINDERS)), strict=True):
            cells = [cell for cell in table.cells([finder]) if cell.labels["network"] == name and cell.ours]
            points = [(float(str(cell.labels["strength"])), cell.ours.share) for cell in cells if cell.ours]
            ax.plot(*zip(*points, strict=True), "o-", ms=3, color=colour, label=finder) if points else None
        ax.set(title=name, xlabel="strength", ylim=(-0.1, 1.05))
        if name == names[0]:
            ax.set(ylabel=what)
            figure.legend(
                *ax.get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=8
            )
    return figure


RECIPES = (
    Recipe(
        "ground-truth",
        "beyond",
        "Do finders of modules find modules that are known?",
        "no paper's question",
        _lines,
        _charts,
    ),
)
