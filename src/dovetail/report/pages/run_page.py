"""The report on a run of a recipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...recipes import PAPERS, Finished
from ..page import Page
from ..sections import add_made, add_pictures, add_results
from ..sections.made import value_text
from ..sources import RunSource

if TYPE_CHECKING:
    import pandas as pd

_MOST_UNITS = 200
_MOST_VALUES = 12


def run_page(source: RunSource) -> Page:
    """Return a page with the tables beside published values, the figures, and how they were made."""
    recipe, finished = source.run.recipe, source.run.finished
    intro = f"{recipe.shows}. {PAPERS[recipe.paper]}."
    if len(finished) < source.units:
        intro += f"\n\n{len(finished)} of {source.units} units are finished."
    page = Page(recipe.title, intro)
    add_results(page, source.run.tables if finished else [], source.remarks)
    if source.pictures:
        add_pictures(page, source.pictures)
    add_made(page, _facts(source), _details(finished))
    return page


def _facts(source: RunSource) -> dict[str, object]:
    finished = source.run.finished
    devices = Counter(one.device for one in finished)
    return {
        "recipe": f"{source.run.recipe.paper}/{source.run.recipe.name}",
        "scale": source.run.scale,
        "again with": f"dovetail reproduce {source.run.recipe.name} --scale {source.run.scale}",
        "units finished": f"{len(finished)} of {source.units}",
        "time": f"{sum(one.seconds for one in finished) / 60:.1f} min, all units added up"
        if finished
        else None,
        "hardware": ", ".join(f"{name} ({count} units)" for name, count in devices.most_common()) or None,
        "dovetail": ", ".join(
            sorted({one.version for one in finished} | {source.config.get("dovetail", "unknown")})
        ),
        # Of when it was begun; a run that goes on elsewhere does not tell.
        **{f"{name} at its start": source.config.get(name) for name in ("torch", "python")},
    }


def _details(finished: Sequence[Finished]) -> dict[str, pd.DataFrame]:
    import pandas as pd

    if not finished:
        return {}
    rows = [
        {"unit": one.unit.label, "seconds": one.seconds, "device": one.device}
        for one in finished[:_MOST_UNITS]
    ]
    more = f"; {len(finished) - len(rows)} more are left out" if len(finished) > len(rows) else ""
    return {
        "Settings, data and seeds that occur in the units.": settings_frame(finished),
        f"Units, and how long each took{more}.": pd.DataFrame(rows),
    }


def settings_frame(finished: Sequence[Finished]) -> pd.DataFrame:
    """Return the values that occur for each setting, a row each."""
    import pandas as pd

    values: dict[tuple[str, str], dict[str, None]] = {}
    for one in finished:
        for name, value in one.unit.settings.items():
            values.setdefault((one.unit.work, name), {})[value_text(value)] = None
    rows = []
    for (work, name), texts in values.items():
        shown = list(texts)[:_MOST_VALUES]
        more = f"; {len(texts) - len(shown)} more" if len(texts) > len(shown) else ""
        rows.append({"work": work, "setting": name, "values": "; ".join(shown) + more})
    return pd.DataFrame(rows)
