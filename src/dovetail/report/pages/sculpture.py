"""The report on sculptures and on modules: networks in a table, drawn by modules, and how they came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ...errors import ShapeError
from ...sculpting import Explanation, Hierarchy, Sculpture
from ..hierarchy_view import hierarchy_fragment
from ..page import Page
from ..sources import SculptureSource
from .made import add_made

if TYPE_CHECKING:
    import pandas as pd

MOST_DRAWN = 6

_MOST_ROWS = 300

_MOST_CLUSTERED = 60


def sculpture_page(source: SculptureSource) -> Page:
    """Return a page with the networks, their modules, and how they came about."""
    sculptures = list(source.sculptures.values())
    page = Page(_title(source), _intro(source))
    if sculptures:
        add_sculptures(page, sculptures)
    learned = [sculpture for sculpture in sculptures if sculpture.outcome != "not learned"]
    explanations = {
        name: sculpture.explanation
        for name, sculpture in list(zip(source.hierarchies, learned, strict=False))[:MOST_DRAWN]
        if sculpture.explanation is not None
    }
    if source.hierarchies:
        add_modules(page, source.hierarchies, source.output_names, explanations)
    if explanations:
        add_explanations(page, explanations)
    add_made(page, _facts(source), _details(source))
    return page


def add_sculptures(page: Page, sculptures: Sequence[Sculpture]) -> None:
    """Add a table of sculpted networks, a row each."""
    page.heading("Sculpted networks")
    rows = [sculpture_facts(sculpture) for sculpture in sculptures[:_MOST_ROWS]]
    frame = facts_frame(rows)
    frame["modules"] = frame["modules"].astype("Int64")
    more = f" {len(sculptures) - len(rows)} more are left out." if len(sculptures) > len(rows) else ""
    page.table(
        frame,
        "Accuracy on the validation split; units with edges in each layer, inputs first; density is the share of edges "
        f"that are left; tied searches ended with as few edges.{more}",
    )


def sculpture_facts(sculpture: Sculpture) -> dict[str, object]:
    """Return what there is to say of a sculpture in a row of a table."""
    learned = sculpture.outcome != "not learned"
    return {
        "seed": sculpture.seed, "outcome": sculpture.outcome, "accuracy": sculpture.accuracy,
        "units": list(sculpture.units),
        "edges": sculpture.edges, "density": sculpture.density,
        "modules": len(sculpture.hierarchy.modules) if learned else None, "tied_searches": sculpture.tied,
    }  # fmt: skip


def facts_frame(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Return facts of sculptures as a table to read."""
    import pandas as pd

    frame = pd.DataFrame(rows).rename(columns={"tied_searches": "tied searches"})
    frame["units"] = ["-".join(map(str, units)) for units in frame["units"]]
    return frame


def add_modules(
    page: Page,
    hierarchies: Mapping[str, Hierarchy],
    output_names: Mapping[str, Sequence[str] | None] | None = None,
    explanations: Mapping[str, Explanation] | None = None,
) -> None:
    """Add drawings of networks by modules, which open on a click.

    Parameters
    ----------
    page : Page
        What to add to.
    hierarchies : mapping of str to Hierarchy
        By a name for readers.
    output_names : mapping of str to sequence of str, optional
        What the outputs of each are called.
    explanations : mapping of str to Explanation, optional
        What modules and units of each compute, where that is known.
    """
    page.heading("Modules" if len(hierarchies) > 1 else "The network by modules")
    left_out = []
    for number, (name, hierarchy) in enumerate(hierarchies.items()):
        drawing = ""
        if number < MOST_DRAWN:
            with suppress(ShapeError):  # too many modules for a drawing
                drawing = hierarchy_fragment(
                    hierarchy,
                    output_names=(output_names or {}).get(name),
                    explanation=(explanations or {}).get(name),
                )
        if not drawing or len(drawing.encode()) > page.room():
            left_out.append(name)
            continue
        if len(hierarchies) > 1:
            page.subheading(name[:1].upper() + name[1:])
        page.fragment(drawing)
    if left_out:
        more = ", ..." if len(left_out) > 20 else ""
        page.text(
            f"Not drawn here, to keep the page small: {', '.join(left_out[:20])}{more}. "
            "A report on a file of its own shows it, as far as it is not too large itself."
        )


def add_explanations(page: Page, explanations: Mapping[str, Explanation]) -> None:
    """Add a table for each network of what its outputs, signals between modules and hidden units compute."""
    page.heading("What they compute" if len(explanations) > 1 else "What it computes")
    for name, explanation in explanations.items():
        if len(explanations) > 1:
            page.subheading(name[:1].upper() + name[1:])
        frame = explanation.to_frame()[:_MOST_ROWS].drop(columns="boolean")
        frame["to"] = [", ".join(names) for names in frame["to"]]
        frame = frame.rename(columns={"to": "told to", "formula_of_inputs": "formula of inputs"})
        checked = f"Computed on all {explanation.samples:,} inputs."
        if explanation.reproduced is not None:
            checked += f" These formulas alone give all outputs on {explanation.reproduced:,} of them."
        page.table(
            frame,
            f"{checked} Share: how much of the variance of a unit's values lies between two groups; it is taken for a "
            "bit from .9 on. Of a unit that is none the formula says where it is above 0.",
        )


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
