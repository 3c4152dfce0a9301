"""``dovetail predict``: what parts say to new samples, by name, or "undecided"."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import DovetailError
from .files import check_free, open_parts
from .options import Device, Json, TrunkName
from .output import print_json, print_table, say, table_of

if TYPE_CHECKING:
    import pandas as pd

    from ..data.own.samples import Samples
    from ..specialists import Answers, Part

_SHOWN = 20
"""Answers that are printed; a file holds all."""
_NAMED = 5
"""Pictures without an answer that are named."""

STANDARD_INPUT = "-"


def predict(
    parts: Annotated[
        Path,
        typer.Argument(
            metavar="PARTS", help="File of a composite, a specialist or sums, or a folder to add up."
        ),
    ],
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="Raw samples: a table, texts, pictures, arrays; labels are not needed. A known data set: its test "
            "split. -: standard input.",
        ),
    ] = STANDARD_INPUT,
    undecided: Annotated[
        str | None,
        typer.Option(
            help="When not to answer: the share of known samples that may be left (5%), or the least confidence (0.8).",
            show_default="as the part says",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for all answers, as csv.")
    ] = None,
    trunk: TrunkName = None,
    device: Device = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file of answers if it is there.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say of which class each sample is, by name, or "undecided" where it may be of none that PARTS know.

    Samples are raw, as they were in what the parts were trained on: scaling, categories and sizes of pictures are in
    the parts' files. Known classes are answered by name. Pictures that cannot be read have no answer and are named, all
    others are answered; the exit status is then 1.

    Example:

        dovetail predict ten.safetensors digits -o answers.csv
    """
    from ..io.write import write_whole
    from ..specialists import compose
    from .trunk import on_trunk, open_trunk

    if output is not None:
        check_free(output, force=force)
    found = on_trunk(open_parts([parts]), open_trunk(trunk))
    part: Part = found[0] if len(found) == 1 else compose(found)
    samples = _samples(part, data)
    answers = part.answers(samples.raw, undecided=_as_typed(undecided), device=device)
    table = _table(answers, samples)
    if output is not None:
        write_whole(output, lambda temporary: table.to_csv(temporary, index=False))
    if as_json:
        print_json(
            {
                "part": repr(part),
                "samples": list(samples.names),
                **answers.to_dict(),
                "labels": None if samples.labels is None else list(samples.labels),
                "unread": dict(samples.unread),
                "file": None if output is None else str(output),
            }
        )
    else:
        _print(part, answers, samples, table, output)
        if undecided is None and part.threshold is None:
            say(_without_threshold(part))
    if samples.unread:
        raise _without_answer(samples)


def _samples(part: Part, text: str) -> Samples:
    """Return raw samples of a file; of a data set known by name, or made by a function, the test split."""
    from ..data.own.path_options import path_and_options, read_options
    from ..data.own.samples import Samples, read_samples
    from ..specialists.data_for import data_for

    if text == STANDARD_INPUT:
        return read_samples(sys.stdin.buffer, part.preparation)
    path, options = (text, "") if Path(text).exists() else path_and_options(text)
    if path:
        # All samples are answered, whatever their split; how they are prepared is in the part.
        return read_samples(Path(path), part.preparation, target=read_options(path, options).get("target"))
    split = data_for(part.blueprint, text).test
    labels = tuple(part.classes[number] for number in split.y.tolist())
    return Samples(split, tuple(str(number) for number in range(1, len(split) + 1)), labels)


def _without_answer(samples: Samples) -> DovetailError:
    """Return the error for pictures that cannot be read, said when all others are answered."""
    count, every = len(samples.unread), len(samples.unread) + len(samples.names)
    why = "; ".join(list(samples.unread.values())[:_NAMED])
    more = f"; and {count - _NAMED:,} more (--json names all)" if count > _NAMED else ""
    return DovetailError(f"no answer for {count:,} of {every:,} pictures: {why}{more}")


def _as_typed(undecided: str | None) -> str | float | None:
    try:
        return None if undecided is None else float(undecided)
    except ValueError:
        return undecided


def _table(answers: Answers, samples: Samples) -> pd.DataFrame:
    table = answers.to_frame()
    table.insert(0, "sample", list(samples.names))
    if samples.labels is not None:
        table.insert(1, "label", list(samples.labels))
    return table


def _print(part: Part, answers: Answers, samples: Samples, table: pd.DataFrame, output: Path | None) -> None:
    import pandas as pd

    say(repr(part))
    shown = table.head(_SHOWN)[[name for name in table if not str(name).startswith("p(")]]
    print_table(table_of(shown, f"The first {_SHOWN} of {len(table):,}" if len(table) > _SHOWN else None))
    counts = pd.Series(answers.names).value_counts()
    say(", ".join(f"{name} {count:,}" for name, count in counts.items()))
    if samples.labels is not None:
        say(_accuracy(answers, samples.labels))
    if output is not None:
        say(f"All answers are in {output}.")


def _without_threshold(part: Part) -> str:
    """Return what decides in place of a threshold, and how there comes to be one."""
    says = (
        "it answers everything"
        if len(part.known) == len(part.classes)
        else "it is undecided only where its largest output is of a class that it does not know"
    )
    return (
        f"note: no threshold was chosen, so {says}; dovetail compose PARTS --threshold DATA -o FILE chooses one on "
        "validation data"
    )


def _accuracy(answers: Answers, labels: tuple[str, ...]) -> str:
    """Return how right the answers are, for samples whose class is written beside them."""
    import numpy as np

    truth = np.array(labels, dtype=object)
    labelled = truth != ""
    known = np.isin(truth, answers.known)
    others = labelled & ~known
    right = int((answers.names == truth)[known].sum())
    answered = int((answers.decided & known).sum())
    count = int(known.sum())
    text = f"Of {count:,} samples of classes that it knows it answers {answered:,}, {right:,} of them rightly"
    if others.any():
        refused = int((~answers.decided & others).sum())
        text += f"; of {int(others.sum()):,} others it leaves {refused:,} undecided"
    if not labelled.all():
        text += f"; {int((~labelled).sum()):,} have no label"
    return f"{text}."
