"""``dovetail compose``: put parts together, take classes out, and measure what comes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .compose_sums import print_audit
from .files import check_free, open_parts
from .options import Json, TrunkName
from .output import print_json, print_table, say, table_of

if TYPE_CHECKING:
    from torch import Tensor

    from ..specialists import Composite, DropAudit, Score, Specialist


def compose(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES", help="Files of specialists, composites or sums, or folders of them."),
    ],
    method: Annotated[
        Literal["sum", "logits", "ties", "calibrated"] | None,
        typer.Option(
            metavar="METHOD",
            help="Add up weights (sum), average outputs (logits), or merge weights in another way: ties or calibrated.",
            show_default="sum; composites as they were made",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", metavar="CLASS", help="A class to leave out again; repeat it for more."),
    ] = None,
    evaluate: Annotated[
        str | None, typer.Option(metavar="DATA", help="Measure the result on the test split of this data.")
    ] = None,
    audit: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Say what is proven, and measure what is left, of the classes of --without (retrains on this data).",
        ),
    ] = None,
    shadows: Annotated[
        int,
        typer.Option(
            help="With --audit: parts to make beside, from which an attack learns what training leaves; 2 or more."
        ),
    ] = 0,
    inputs: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Unlabelled samples for calibrated sums and for batch norm.",
            show_default="the training samples of the data measured on",
        ),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="DATA", help="Choose on the validation split of this data how sure it must be to answer."
        ),
    ] = None,
    undecided: Annotated[
        str | None,
        typer.Option(
            help="With --threshold: the share of samples it knows that may be left undecided.",
            show_default="5%",
        ),
    ] = None,
    trunk: TrunkName = None,
    tune: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="For sums: choose regularisation and temperature on the validation split of this data, or by "
            "leave-one-out.",
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For sums: a file that says, and lets others compute, that without the classes of --without this is "
            "what there would be had they never been there. With --audit that is also made anew from the data.",
        ),
    ] = None,
    keep: Annotated[
        float, typer.Option(help="For --method ties: share of its weights each specialist brings along.")
    ] = 1.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to save the composite in.")
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write it for other programs, model.onnx or model.pt2: from raw numbers (with --trunk, what the "
            "trunk takes) to logits of the classes that it knows.",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Replace the file if it is there, and also put together what is unwise."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Put parts together into one: add a class by adding its file, drop it with --without.

    A composite among the files counts as the specialists in it. Sums are added, of all samples that they hold.

    Example:

        dovetail compose parts/ --without 3 -o nine.safetensors

        dovetail compose parts/ --export ten.onnx

        dovetail compose sums/ --without 3 --certificate without-3.json -o nine.safetensors
    """
    from ..data import open_data
    from ..errors import SpecError
    from ..specialists import Sums, audit_drop
    from ..specialists.class_lists import joined_list
    from ..specialists.class_sets import class_of_text
    from ..specialists.data_for import data_for
    from ..specialists.export import check_ending
    from ..specialists.threshold import rate_of
    from .compose_sums import compose_sums, refuse_options_of_specialists
    from .trunk import on_trunk, open_trunk

    if certificate is not None and not without:
        raise SpecError("--certificate is about classes that were taken out; name them with --without")
    if audit is not None and not without:
        raise SpecError("--audit measures what is left of a class that was taken out; name it with --without")
    if shadows and audit is None:
        raise SpecError("--shadows is for the attacks of an audit; name the data with --audit")
    if keep != 1 and method != "ties":
        raise SpecError("--keep goes with --method ties")
    if undecided is not None and threshold is None:
        raise SpecError("--undecided goes with --threshold DATA, on which it is chosen")
    undecided = "5%" if undecided is None else undecided
    rate_of(undecided)
    if output is not None:
        check_free(output, force=force)
    if export is not None:
        check_ending(export)
        check_free(export, force=force)
    if certificate is not None:
        check_free(certificate, force=force)
    opened = on_trunk(open_parts(files), open_trunk(trunk))
    if any(isinstance(part, Sums) for part in opened):
        refuse_options_of_specialists(
            {"--method": method not in (None, "sum"), "--inputs": inputs is not None}
        )
        compose_sums(
            opened, without=without or (), evaluate=evaluate, audit=audit, tune=tune, threshold=threshold,
            undecided=undecided, certificate=certificate, output=output, export=export, as_json=as_json,
            shadows=shadows,
        )  # fmt: skip
        return
    for name, value in (("--certificate", certificate), ("--tune", tune)):
        if value is not None:
            raise SpecError(f"{name} is for sums (dovetail sums); these parts are specialists")
    parts = [part for part in opened if not isinstance(part, Sums)]
    blueprint = replace(parts[0].blueprint, classes=joined_list(part.classes for part in parts))
    measured = None if evaluate is None else data_for(blueprint, evaluate)
    audited = None if audit is None else measured if audit == evaluate else data_for(blueprint, audit)
    chosen_on = (
        measured if threshold == evaluate else None if threshold is None else data_for(blueprint, threshold)
    )
    source = open_data(inputs, like=blueprint) if inputs is not None else measured or audited
    whole = _put_together(parts, method, None if source is None else source.train.x, keep, force)
    dropped = [class_of_text(name, whole.classes) for name in without or ()]
    composite = whole.without(*dropped) if dropped else whole
    if chosen_on is not None:
        composite = composite.with_threshold(chosen_on.val, undecided)
    score = None if measured is None else composite.evaluate(measured.test)
    found = (
        None
        if audited is None
        else audit_drop(whole, dropped, audited, shadows=shadows, progress=not as_json)
    )
    if output is not None:
        composite.save(output)
    exported = None if export is None else composite.export(export)
    if as_json:
        print_json(
            {
                "composite": repr(composite),
                "specialists": [repr(part) for part in composite.specialists],
                "file": None if output is None else str(output),
                "export": None if exported is None else exported.to_dict(),
                "score": None if score is None else score.to_dict(),
                "audit": None if found is None else found.to_dict(),
            }
        )
        return
    _print(composite, score, found, output)
    if exported is not None:
        say(str(exported))


def _put_together(
    parts: list[Specialist | Composite],
    method: Literal["sum", "logits", "ties", "calibrated"] | None,
    samples: Tensor | None,
    keep: float,
    force: bool,
) -> Composite:
    """Compose by the method that was asked for, or else in the way in which composites among the parts were made."""
    from ..specialists import Composite, compose
    from ..specialists.composite import add_parts

    made = [part for part in parts if isinstance(part, Composite) and not part.is_plain]
    if method is not None or not made:
        return compose(parts, method or "sum", inputs=samples, keep=keep, force=force)
    if samples is not None:  # files hold none
        parts = [
            part.with_inputs(samples)
            if isinstance(part, Composite) and not part.is_plain and part.method != "logits"
            else part
            for part in parts
        ]
    only = parts[0]
    return only if len(parts) == 1 and isinstance(only, Composite) else add_parts(parts, force=force)


def _print(composite: Composite, score: Score | None, found: DropAudit | None, output: Path | None) -> None:
    say(repr(composite))
    if score is not None:
        print_table(table_of(score.per_class, "On the test split"))
        entropy = f"undefined ({score.no_entropy})" if score.entropy is None else f"{score.entropy:.4f}"
        typer.echo(score.answered)
        typer.echo(
            f"rewarded accuracy {score.rewarded_accuracy:.4f}, entropy on other classes {entropy}, "
            f"calibration error {score.calibration_error:.4f}"
        )
    if found is not None:
        print_audit(found)
    if output is not None:
        say(f"Saved in {output}.")
