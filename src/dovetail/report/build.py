"""A report of whatever there is at a path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..cluster.saved_audit import SavedAudit
from ..engine import Run
from ..errors import DovetailError, explained
from ..io.plain import open_plain
from ..io.write import check_place
from .page import Page
from .pages import audit_page, audits_page, parts_page, run_page, sculpture_page
from .sources import (
    AuditsSource,
    PartsSource,
    SculptureSource,
    Source,
    folders_inside,
    open_source,
)

_GENERATOR = b'<meta name="generator" content="dovetail '
_MOST_NAMED = 10
"""Damaged files."""
_HEAD = 2000
"""Bytes of a file within which a page of ours says so."""


def build_report(
    path: str | Path,
    *,
    measure: bool = True,
    data: str | None = None,
    samples: int | None = None,
    progress: bool = True,
) -> Page:
    """Return a page about a run, specialists, a sculpture, an audit or several.

    Parameters
    ----------
    path : path
        A run folder; a specialist, a composite, or a folder of them; a sculpted network, a folder of them, or modules
        as JSON; an audit's folder, or a folder of several of these, which are put beside each other.
    measure : bool
        Measure specialists on the test split of their data, if it is on this machine.
    data : str, optional
        Data to measure specialists on: a name such as ``"har:features=time"``, a file or folder, or a function, as
        `dovetail.data.open_data` takes it; by default what their manifests name.
    samples : int, optional
        How many samples of the test split to measure on; all by default.
    progress : bool
        Show a progress bar while measuring (on terminals only).

    Raises
    ------
    DovetailError
        When there is nothing at the path that a report can be made of, or it is damaged. Of many files the page names
        those that are damaged, and is about the others.

    Examples
    --------
    >>> import tempfile, dovetail as dt
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = dt.train_specialists(dt.load("digits"), "mlp:16", [3, 8], epochs=1, folder=folder, progress=False)
    ...     build_report(folder, measure=False).sections
    ['Specialists', 'How it was made']
    """
    if samples is not None and samples < 1:
        raise DovetailError(f"samples is how many to measure on, 1 or more; got {samples}")
    source = open_source(path)
    if data is not None and not (measure and isinstance(source, PartsSource)):
        raise DovetailError(
            f"data ({data!r:.80}) is to measure specialists on, and here none are measured; leave it out"
        )
    if isinstance(source, Run):
        page = run_page(source)
    elif isinstance(source, PartsSource):
        page = parts_page(source, measure=measure, data=data, samples=samples, progress=progress)
    elif isinstance(source, SavedAudit):
        page = audit_page(source)
    elif isinstance(source, AuditsSource):
        page = audits_page(list(source.audits.items()))
    else:
        page = sculpture_page(source)
    page.left_out = list(_left_out(source, path))
    page.intro += "".join(f"\n\nNot in this report: {what}." for what in page.left_out)
    return page


def _left_out(source: Source, path: str | Path) -> Iterator[str]:
    """Give what lies at the path and is not in the report."""
    if isinstance(source, PartsSource | SculptureSource | AuditsSource):
        yield from source.damaged[:_MOST_NAMED]
        if len(source.damaged) > _MOST_NAMED:
            yield f"{len(source.damaged) - _MOST_NAMED} more files that are damaged"
        if source.unread:
            yield f"{source.unread} more file{'s' * (source.unread > 1)}, not read because there are too many"
    if not isinstance(source, AuditsSource) and (inside := folders_inside(path)):
        yield f"the folders inside ({inside}); make one of each"


def write_report(
    path: str | Path,
    output: str | Path = "report.html",
    *,
    force: bool = False,
    measure: bool = True,
    data: str | None = None,
    samples: int | None = None,
    progress: bool = True,
) -> Path:
    """Write a page about a run, specialists, a sculpture or an audit to a file, all of it or nothing.

    Parameters
    ----------
    path, measure, data, samples, progress
        As for `build_report`.
    output : path
        Where to; a page that Dovetail made before is replaced.
    force : bool
        Also replace a file that is something else.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    DovetailError
        When there is nothing to report on, or the file cannot be written.
    """
    check_output(output, force=force)
    return build_report(path, measure=measure, data=data, samples=samples, progress=progress).save(output)


def check_output(output: str | Path, *, force: bool = False) -> None:
    """Refuse, before any work is done, a file that cannot be written, or that is not ours to replace."""
    output = Path(output)
    check_place(output)
    if force or not output.exists():
        return
    with explained(f"cannot write {output}"), open_plain(output) as file:
        ours = _GENERATOR in file.read(_HEAD)
    if not ours:
        raise DovetailError(
            f"{output} is in the way, and no page of dovetail's; take another name, or --force"
        )
