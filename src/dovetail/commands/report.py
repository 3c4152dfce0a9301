"""``dovetail report``: one page to keep and send."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from ..errors import DovetailError, FileFormatError
from .files import ENDING
from .options import Json, ReplaceFile, ReportFile
from .output import print_json, say


def report(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A run folder, a specialist, a composite or a folder of them, a sculpture, an audit, or a folder of "
            "audits.",
        ),
    ],
    output: ReportFile = Path("report.html"),
    measure: Annotated[
        bool,
        typer.Option("--measure/--no-measure", help="Measure specialists on the test split of their data."),
    ] = True,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Measure specialists on this data: a name, a file or folder, or package.module:function.",
            show_default="what they were trained on",
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="How many samples of the test split to measure on.", show_default="all")
    ] = None,
    force: ReplaceFile = False,
    as_json: Json = False,
) -> None:
    """Make one HTML page of what PATH holds: it needs no network and no other file, and prints well.

    Specialists are measured for it, if their data is on this machine.

    Example:

        dovetail report parts/ -o report.html
    """
    if not path.exists():  # said at once, before torch and the rest are there
        raise DovetailError(f"there is no file or folder {str(path)!r}")
    from ..report.build import build_report, check_output

    check_output(output, force=force)
    page = build_report(path, measure=measure, data=data, samples=samples, progress=not as_json)
    written = page.save(output)
    size = written.stat().st_size
    unmeasured = _own_data(path) if measure and data is None else []
    if as_json:
        print_json(
            {
                "report": str(written),
                "sections": page.sections,
                "bytes": size,
                "left_out": page.left_out,
                "not_measured": unmeasured,
            }
        )
        return
    for what in page.left_out:
        say(f"warning: not in this report: {what}", err=True)
    if unmeasured:
        say(
            f"note: nothing is measured on {', '.join(unmeasured)}, which is own data: files do not say where it is; "
            "name it with --data PATH"
        )
    say(f"Report: {written} ({', '.join(page.sections)}; {_size(size)})")


def _own_data(path: Path) -> list[str]:
    """Return what parts were trained on that has no name by which it could be loaded."""
    from ..specialists.files import read_file_manifest

    names: list[str] = []
    for file in sorted(path.glob(f"*{ENDING}")) if path.is_dir() else [path]:
        with suppress(FileFormatError):  # not a part; or damaged, which the report says
            manifest = read_file_manifest(file)
            if manifest.blueprint.preparation is not None:
                names += [provenance.data for _, provenance in manifest.specialists]
    return list(dict.fromkeys(names))


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
