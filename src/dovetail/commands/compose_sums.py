"""``dovetail compose`` for sums: add them, leave classes out, and prove that this is what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import DovetailError, SpecError
from .output import print_json, print_table, say, table_of

if TYPE_CHECKING:
    from ..specialists import Certificate, DropAudit, Part, Score, Sums


def compose_sums(
    parts: Sequence[Part],
    *,
    without: Sequence[str],
    evaluate: str | None,
    audit: str | None,
    tune: str | None,
    threshold: str | None,
    undecided: str,
    certificate: Path | None,
    output: Path | None,
    export: Path | None,
    as_json: bool,
    shadows: int,
) -> None:
    """Do what ``dovetail compose`` was asked to, with sums."""
    from ..specialists import audit_drop, certify
    from ..specialists.class_sets import class_of_text
    from ..specialists.closed_form.sums import add_sums
    from ..specialists.data_for import data_for

    whole = add_sums(parts)
    opened = {
        text: data_for(whole.blueprint, text)
        for text in dict.fromkeys([evaluate, audit, tune, threshold])
        if text is not None and text != LEAVE_OUT
    }
    dropped = [class_of_text(name, whole.classes) for name in without]
    found: Certificate | None = None
    if certificate is not None or audit is not None:
        found = certify(whole, dropped, None if audit is None else opened[audit])
    measured: DropAudit | None = None
    if audit is not None and found is not None and found.holds:
        measured = audit_drop(whole, dropped, opened[audit], shadows=shadows, progress=not as_json)
    part: Sums = whole.without(*dropped) if dropped else whole
    if tune is not None:
        part = part.tuned(None if tune == LEAVE_OUT else opened[tune].val)
    if threshold is not None:
        part = part.with_threshold(opened[threshold].val, undecided)
    score = None if evaluate is None else part.evaluate(opened[evaluate].test)
    if output is not None:
        part.save(output)
    if found is not None and certificate is not None:
        found.save(certificate)
    exported = None if export is None else part.export(export)
    if as_json:
        print_json(
            {
                "composite": repr(part),
                "samples": part.counts,
                "tuning": part.tuning.model_dump(),
                "file": None if output is None else str(output),
                "export": None if exported is None else exported.to_dict(),
                "score": None if score is None else score.to_dict(),
                "certificate": None if found is None else found.to_dict(),
                "audit": None if measured is None else measured.to_dict(),
            }
        )
    else:
        _print(part, score, found, measured, certificate, output)
        if exported is not None:
            say(str(exported))
    if found is not None and not found.holds:
        raise DovetailError(found.finding)


LEAVE_OUT = "leave-one-out"
"""What is written in place of data where every sample is judged by what there would be without it."""


def refuse_options_of_specialists(given: dict[str, bool]) -> None:
    """Refuse options that mean nothing for sums."""
    for name, is_given in given.items():
        if is_given:
            raise SpecError(f"{name} is for specialists; these parts are sums, which are added")


def _print(
    part: Sums,
    score: Score | None,
    found: Certificate | None,
    measured: DropAudit | None,
    certificate: Path | None,
    output: Path | None,
) -> None:
    say(repr(part))
    if part.tuning.chosen_on:
        say(
            f"ridge {part.tuning.ridge:g}, temperature {part.tuning.temperature:.3g}: {part.tuning.chosen_on}"
        )
    if score is not None:
        print_table(table_of(score.per_class, "On the test split"))
        typer.echo(score.answered)
        typer.echo(
            f"rewarded accuracy {score.rewarded_accuracy:.4f}, calibration error {score.calibration_error:.4f}"
        )
    if found is not None:
        say(f"Proven: {found.finding}." if found.holds else found.finding)
        if measured is None:
            print_not_proven(found.not_proven)
        else:
            print_audit(measured)
        if certificate is not None:
            say(f"The certificate is in {certificate}.")
    if output is not None:
        say(f"Saved in {output}.")


def print_audit(found: DropAudit) -> None:
    """Print what an audit found, and what is proven and what is not."""
    print_table(table_of(found.to_frame(), f"What is left of class {found.names}, on the test split"))
    say(found.finding)
    for one in found.proven:
        say(f"Proven: {one[:1].lower()}{one[1:]}")
    print_not_proven(found.not_proven)


def print_not_proven(texts: Sequence[str]) -> None:
    """Print what does not follow, a line each."""
    for one in texts:
        say(f"Not proven: {one[:1].lower()}{one[1:]}")
