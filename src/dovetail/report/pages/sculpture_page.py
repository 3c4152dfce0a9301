"""The report on a sculpture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...sculpting import Hierarchy, Statue
from ..page import Page
from ..sections import add_made, add_modules, add_statues
from ..sources import SculptureSource

if TYPE_CHECKING:
    import pandas as pd

_MOST_CLUSTERED = 60


def sculpture_page(source: SculptureSource) -> Page:
    """Return a page with the networks, their modules, and how they came about."""
    statues = list(source.statues.values())
    page = Page(_title(source), _intro(source))
    if statues:
        add_statues(page, statues)
    if source.hierarchies:
        outputs = {name: _output_names(source, hierarchy) for name, hierarchy in source.hierarchies.items()}
        add_modules(page, source.hierarchies, outputs)
    add_made(page, _facts(source), _details(source))
    return page


def _title(source: SculptureSource) -> str:
    tasks = {statue.task for statue in source.statues.values()}
    if not tasks:
        return f"The modules of {source.path.stem}"
    return f"{tasks.pop()}, sculpted" if len(tasks) == 1 else "Sculpted networks"


def _intro(source: SculptureSource) -> str:
    count = len(source.statues)
    if not count:
        return "Modules found in a network, and how they feed one another."
    networks = "A network" if count == 1 else f"{count} networks"
    return f"{networks} pruned to the fewest units and edges that still do the task, and the modules that are left."


def _output_names(source: SculptureSource, hierarchy: Hierarchy) -> Sequence[str] | None:
    """Return what the outputs are called, if the network that was drawn knows it."""
    for statue in source.statues.values():
        if statue.outcome != "not learned" and statue.hierarchy is hierarchy:
            return statue.output_names
    return None


def _facts(source: SculptureSource) -> dict[str, object]:
    facts: dict[str, object] = dict(source.config)
    if source.statues:
        some = list(source.statues.values())
        facts |= {
            "seeds": [statue.seed for statue in some],
            "units before pruning": ", ".join(dict.fromkeys("-".join(map(str, s.widths)) for s in some)),
            "accuracy asked for": ", ".join(dict.fromkeys(f"{statue.threshold:g}" for statue in some)),
        }
    facts["dovetail"] = ", ".join(source.versions) or None
    return facts


def _details(source: SculptureSource) -> dict[str, pd.DataFrame]:
    import pandas as pd

    if len(source.statues) == 1:
        (statue,) = source.statues.values()
        return {"Pruning, phase by phase: what was left at its end.": _phases(statue)}
    if source.statues:
        return {}
    (found,) = source.hierarchies.values()
    rows = [
        {"layer": layer, "units": found.sizes[layer], "clusters": chosen.chosen, "best score with": chosen.best,
         "tests": len(chosen.tests), "ties": chosen.tied}
        for layer, chosen in enumerate(found.clusterings[:_MOST_CLUSTERED])
    ]  # fmt: skip
    return {"How each layer was clustered, inputs first.": pd.DataFrame(rows)} if rows else {}


def _phases(statue: Statue) -> pd.DataFrame:
    """Return the last accepted step of each phase."""
    import pandas as pd

    last = {step.phase: step for step in statue.history}
    steps = {phase: sum(step.phase == phase for step in statue.history) for phase in last}
    return pd.DataFrame(
        [
            {"phase": phase, "accepted steps": steps[phase], "hidden units": step.units, "edges": step.edges,
             "wrong in validation": step.wrong}
            for phase, step in last.items()
        ]
    )  # fmt: skip
