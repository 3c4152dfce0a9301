"""The report on a sculpture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...sculpting import Hierarchy, Sculpture
from ..page import Page
from ..sections import add_made, add_modules, add_sculptures
from ..sources import SculptureSource

if TYPE_CHECKING:
    import pandas as pd

_MOST_CLUSTERED = 60


def sculpture_page(source: SculptureSource) -> Page:
    """Return a page with the networks, their modules, and how they came about."""
    sculptures = list(source.sculptures.values())
    page = Page(_title(source), _intro(source))
    if sculptures:
        add_sculptures(page, sculptures)
    if source.hierarchies:
        outputs = {name: _output_names(source, hierarchy) for name, hierarchy in source.hierarchies.items()}
        add_modules(page, source.hierarchies, outputs)
    add_made(page, _facts(source), _details(source))
    return page


def _title(source: SculptureSource) -> str:
    tasks = {sculpture.task for sculpture in source.sculptures.values()}
    if not tasks:
        return f"The modules of {source.path.stem}"
    return f"{tasks.pop()}, sculpted" if len(tasks) == 1 else "Sculpted networks"


def _intro(source: SculptureSource) -> str:
    count = len(source.sculptures)
    if not count:
        return "Modules found in a network, and how they feed one another."
    networks = "A network" if count == 1 else f"{count} networks"
    return f"{networks} pruned to the fewest units and edges that still do the task, and the modules that are left."


def _output_names(source: SculptureSource, hierarchy: Hierarchy) -> Sequence[str] | None:
    """Return what the outputs are called, if the network that was drawn knows it."""
    for sculpture in source.sculptures.values():
        if sculpture.outcome != "not learned" and sculpture.hierarchy is hierarchy:
            return sculpture.output_names
    return None


def _facts(source: SculptureSource) -> dict[str, object]:
    facts: dict[str, object] = dict(source.config)
    if source.sculptures:
        some = list(source.sculptures.values())
        facts |= {
            "seeds": [sculpture.seed for sculpture in some],
            "units before pruning": ", ".join(dict.fromkeys("-".join(map(str, s.widths)) for s in some)),
            "accuracy asked for": ", ".join(dict.fromkeys(f"{sculpture.threshold:g}" for sculpture in some)),
        }
    facts["dovetail"] = ", ".join(source.versions) or None
    return facts


def _details(source: SculptureSource) -> dict[str, pd.DataFrame]:
    import pandas as pd

    if len(source.sculptures) == 1:
        (sculpture,) = source.sculptures.values()
        return {"Pruning, phase by phase: what was left at its end.": _phases(sculpture)}
    if source.sculptures:
        return {}
    (found,) = source.hierarchies.values()
    rows = [
        {"layer": layer, "units": found.sizes[layer], "clusters": chosen.chosen, "best score with": chosen.best,
         "tests": len(chosen.tests), "ties": chosen.tied}
        for layer, chosen in enumerate(found.clusterings[:_MOST_CLUSTERED])
    ]  # fmt: skip
    return {"How each layer was clustered, inputs first.": pd.DataFrame(rows)} if rows else {}


def _phases(sculpture: Sculpture) -> pd.DataFrame:
    """Return the last accepted step of each phase."""
    import pandas as pd

    last = {step.phase: step for step in sculpture.history}
    steps = {phase: sum(step.phase == phase for step in sculpture.history) for phase in last}
    return pd.DataFrame(
        [
            {"phase": phase, "accepted steps": steps[phase], "hidden units": step.units, "edges": step.edges,
             "wrong in validation": step.wrong}
            for phase, step in last.items()
        ]
    )  # fmt: skip
