"""``dovetail compose``: put specialists together, take classes out, and measure what comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .output import Json, load_data, print_json, print_table, table_of

if TYPE_CHECKING:
    from ..specialists import Composite, DropAudit, Score


def compose(
    files: Annotated[list[Path], typer.Argument(help="Files of specialists or composites.")],
    method: Annotated[
        Literal["sum", "logits", "ties", "calibrated"], typer.Option(help="How to put them together.")
    ] = "sum",
    without: Annotated[
        list[str] | None, typer.Option("--without", help="A class to leave out again; repeat it for more.")
    ] = None,
    evaluate: Annotated[
        str | None, typer.Option(metavar="DATA", help="Measure on the test split of this data.")
    ] = None,
    audit: Annotated[
        str | None,
        typer.Option(
            metavar="DATA", help="Measure what is left of the classes of --without (retrains on this data)."
        ),
    ] = None,
    inputs: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Unlabelled samples for calibrated sums and for batch norm. [default: the data measured on]",
        ),
    ] = None,
    keep: Annotated[
        float, typer.Option(help="For ties: share of its weights each specialist brings along.")
    ] = 1.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to save the composite in.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Also put together what is unwise.")] = False,
    as_json: Json = False,
) -> None:
    """Put specialists together into one network: add a class by adding its file, drop it with --without."""
    from ..errors import SpecError
    from ..specialists import audit_drop, open_file
    from ..specialists import compose as put_together

    if audit is not None and not without:
        raise SpecError("--audit measures what is left of a class that was taken out; name it with --without")
    parts = [open_file(path) for path in files]
    unlabelled = inputs or evaluate or audit
    samples = load_data(unlabelled).train.x if unlabelled is not None else None
    whole = put_together(parts, method, inputs=samples, keep=keep, force=force)
    composite = whole.without(*(_class_name(name, whole.classes) for name in without)) if without else whole
    score = None if evaluate is None else composite.evaluate(load_data(evaluate).test)
    audits: list[DropAudit] = []
    if audit is not None:
        dataset = load_data(audit)
        audits = [
            audit_drop(whole, _class_name(name, whole.classes), dataset, progress=not as_json)
            for name in without or ()
        ]
    if output is not None:
        composite.save(output)
    if as_json:
        print_json(
            {
                "composite": repr(composite),
                "specialists": [repr(part) for part in composite.specialists],
                "file": None if output is None else str(output),
                "score": None if score is None else score.to_dict(),
                "audits": [found.to_dict() for found in audits],
            }
        )
        return
    _print(composite, score, audits, output)


def _class_name(text: str, classes: tuple[str, ...]) -> int | str:
    """Return a class as it was meant: a name if there is one, else an id."""
    return text if text in classes or not text.isdigit() else int(text)


def _print(composite: Composite, score: Score | None, audits: list[DropAudit], output: Path | None) -> None:
    typer.echo(repr(composite))
    if score is not None:
        print_table(table_of(score.per_class, "On the test split"))
        entropy = "undefined (all classes are rewarded)" if score.entropy is None else f"{score.entropy:.4f}"
        typer.echo(
            f"rewarded accuracy {score.rewarded_accuracy:.4f}, entropy on other classes {entropy}, "
            f"calibration error {score.calibration_error:.4f}"
        )
    for found in audits:
        print_table(table_of(found.to_frame(), f"What is left of class {found.dropped}, on the test split"))
        typer.echo(found.finding)
    if output is not None:
        typer.echo(f"saved in {output}")
