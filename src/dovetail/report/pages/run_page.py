"""The report on a run of a recipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...recipes import PAPERS, Finished
from ..page import Page
from ..sections import add_made, add_pictures, add_results
from ..sections.made import distinct_text
from ..sources import RunSource

if TYPE_CHECKING:
    import pandas as pd

_MOST_UNITS = 200


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

    values: dict[tuple[str, str], list[object]] = {}
    for one in finished:
        for name, value in _flat(one.unit.settings):
            values.setdefault((one.unit.work, name), []).append(value)
    rows = [
        {"work": work, "setting": name.replace("_", " "), "values": distinct_text(found)}
        for (work, name), found in values.items()
    ]
    frame = pd.DataFrame(rows)
    return frame if frame["work"].nunique() > 1 else frame.drop(columns="work")


def _flat(settings: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Give each setting with its value, those inside of others under both names."""
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}: ")
        elif isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
            for entry in value:
                yield from _flat(entry, f"{prefix}{name}: ")
        else:
            yield f"{prefix}{name}", value
