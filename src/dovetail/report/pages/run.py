"""The report on a run of a recipe: tables beside published values, figures, and how they were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...engine import Run
from ...engine.run_folder import figures_in, read_config, read_remarks
from ...markup import Marks
from ...recipes import PAPERS, Comparison, Finished, Table
from ..page import Page, folded
from ..table import row_groups
from .made import add_made, distinct_text

if TYPE_CHECKING:
    import pandas as pd

_MOST_COLUMNS = 12
"""Up to which a table has room on a sheet of paper."""

_KEY = (
    "Δ is ours minus published (for counts, of their shares); a number in brackets is the standard deviation. A dash: "
    "not published, or not measured."
)

_DOUBT = (
    "Published values with ? are not to be trusted: they repeat other cells, or are impossible as described."
)

_PNG = b"\x89PNG\r\n\x1a\n"
_BASE64 = 4 / 3
"""By how much a picture grows in a page."""

_MOST_UNITS = 200


def run_page(run: Run) -> Page:
    """Return a page with the tables beside published values, the figures, and how they were made."""
    units = len(set(run.recipe.units(run.scale)))
    intro = f"{run.recipe.shows}. {PAPERS[run.recipe.paper]}."
    if len(run.finished) < units:
        intro += f"\n\n{len(run.finished)} of {units} units are finished."
    page = Page(run.recipe.title, intro)
    add_results(page, run.tables if run.finished else [], read_remarks(run.folder))
    if pictures := figures_in(run.folder):
        add_pictures(page, pictures)
    add_made(page, _facts(run, units), _details(run.finished))
    return page


def add_results(page: Page, tables: Sequence[Table | Comparison], remarks: str = "") -> None:
    """Add all tables, and what someone has said about them.

    Parameters
    ----------
    page : Page
        What to add to.
    tables : sequence of Table or Comparison
        A recipe's.
    remarks : str
        Markdown.
    """
    compared = [table for table in tables if isinstance(table, Comparison)]
    published = any(cell.published for table in compared for cell in table.cells)
    page.heading("Results beside published values" if published else "Results")
    if remarks.strip():
        page.prose(remarks)
    if published:
        page.text(f"{_KEY} {_DOUBT}" if any(_has_doubts(table) for table in compared) else _KEY)
    if not tables:
        page.text("Nothing is finished yet.")
    for table in tables:
        page.subheading(table.title)
        if table.note:
            page.prose(table.note)
        if isinstance(table, Table):
            _add_plain(page, table)
        elif len(table.wide().columns) <= _MOST_COLUMNS:
            _add_comparison(page, table)
        else:
            for rows in table.by_metric():
                _add_comparison(page, rows)


def _add_plain(page: Page, table: Table) -> None:
    import pandas as pd

    texts = [
        str(name) for name, kind in table.frame.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)
    ]
    for number, (name, rows) in enumerate(row_groups(table.frame, texts)):
        with folded(page, name, is_open=number == 0):
            page.table(rows, digits=table.digits)


def _add_comparison(page: Page, table: Comparison) -> None:
    labels = list(dict.fromkeys(name for cell in table.cells for name in cell.labels))
    for number, (name, wide) in enumerate(row_groups(table.wide(), labels)):
        marks, short = _marks(wide, labels), [_short(column) for column in wide.columns]
        with folded(page, name, is_open=number == 0):
            page.table(wide.set_axis(short, axis=1), digits=table.digits, marks=marks)


def _marks(wide: pd.DataFrame, labels: Sequence[str]) -> Marks:
    """Return which cells are differences, and which are not to be trusted."""
    marks: dict[tuple[int, int], str] = {}
    for column, name in enumerate(wide.columns):
        if name in labels:
            continue
        for row, text in enumerate(wide[name]):
            kind = "number difference" if name.endswith(" Δ") else "number"
            marks[row, column] = "number doubt" if str(text).endswith(" ?") else kind
    return marks


def _short(column: str) -> str:
    """Return what stands above a column: the metric above ours, and the next two columns belong to it."""
    return column.rpartition(" ")[2] if column.endswith((" published", " Δ")) else column


def _has_doubts(table: Comparison) -> bool:
    return any(cell.published is not None and cell.published.doubt for cell in table.cells)


def add_pictures(page: Page, files: Sequence[Path]) -> None:
    """Add pictures from PNG files, as many as the page has room for, and name those that are left out."""
    page.heading("Figures")
    left_out = []
    for file in files:
        if file.stat().st_size * _BASE64 >= page.room():
            left_out.append(file.name)
        elif (content := file.read_bytes()).startswith(_PNG):
            page.picture(content, file.stem)
    if left_out:
        page.text(f"Too large for this page, and left out: {', '.join(left_out)}. They are in figures/.")


def _facts(run: Run, units: int) -> dict[str, object]:
    finished, config = run.finished, read_config(run.folder)
    devices = Counter(one.device for one in finished)
    seconds = sum(one.seconds for one in finished)
    return {
        "recipe": f"{run.recipe.paper}/{run.recipe.name}",
        "scale": run.scale,
        "again with": f"dovetail reproduce {run.recipe.name} --scale {run.scale}",
        "units finished": f"{len(finished)} of {units}",
        "time": f"{seconds / 60:.1f} min, all units added up" if finished else None,
        "hardware": ", ".join(f"{name} ({count} units)" for name, count in devices.most_common()) or None,
        "dovetail": ", ".join(
            sorted({str(one.version) for one in finished} | {config.get("dovetail", "unknown")})
        ),
        # Of when it was begun; a run that goes on elsewhere does not tell.
        **{f"{name} at its start": config.get(name) for name in ("torch", "python")},
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
