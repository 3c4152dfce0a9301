"""What the bench sends to the page, with the Python and the command line that do the same."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ...data import presence
from ...data.registry import Presence
from ...report.chart_frame import chart_content
from ...report.charts import confusion_chart, per_class_chart
from ...specialists import Composite, Part
from ...specialists.evaluate import Score
from .bench import Measured
from .composing import ABOUT, TITLES, offered
from .groups import Group, group_specialists, provenance_of
from .parts import Found, Inventory, UnusableFile

FILE = "composite.safetensors"

_MOST_NAMED = 8
"""Classes that are named one by one in a sentence."""


class SpecialistCard(BaseModel):
    """A specialist as its manifest knows it; accuracy and entropy are those of its last validation."""

    file: str
    size: int
    classes: list[str]
    sparsity: float
    accuracy: float | None
    entropy: float | None
    loss: str
    seed: int


class MethodCard(BaseModel):
    """A way to put specialists together: its name in Python, and for people."""

    name: str
    title: str
    about: str


class GroupCard(BaseModel):
    """Specialists that can be put together."""

    id: str
    title: str
    apart: str | None
    slots: bool
    classes: list[str]
    data: Presence
    methods: list[MethodCard]
    specialists: list[SpecialistCard]


class CompositeCard(BaseModel):
    """A composite as its manifest knows it."""

    file: str
    size: int
    classes: list[str]
    method: str
    specialists: int
    net: str
    data: str


class Parts(BaseModel):
    """All that the folder has; ``complete`` is false where it has more."""

    folder: str
    groups: list[GroupCard]
    composites: list[CompositeCard]
    unusable: list[UnusableFile]
    complete: bool


class Measurement(BaseModel):
    """A composite, what it scored so far, in one sentence too, and how to do the same without the studio."""

    headline: str
    classes: list[str]
    knows: list[str]
    method: str | None
    specialists: int
    data: str
    note: str
    samples: int
    total: int
    accuracy: float | None
    entropy: float | None
    most_entropy: float
    calibration_error: float | None
    coverage: float | None
    unknown_auroc: float | None
    class_accuracy: list[float | None]
    class_entropy: list[float | None]
    confusion: dict[str, Any] | None
    per_class: dict[str, Any] | None
    python: str
    command: str


class TestScore(BaseModel):
    """What one specialist scores on the test split."""

    accuracy: float | None
    entropy: float | None


def parts_answer(folder: str, inventory: Inventory) -> Parts:
    """Return what the folder has as cards."""
    return Parts(
        folder=folder,
        groups=[_group(group) for group in group_specialists(inventory.found)],
        composites=[_composite(found) for found in inventory.found if found.manifest.kind == "composite"],
        unusable=inventory.unusable,
        complete=inventory.complete,
    )


def _group(group: Group) -> GroupCard:
    kind = group.kind
    return GroupCard(
        id=kind.number, title=group.title, apart=group.apart, slots=kind.slots, classes=list(kind.blueprint.classes),
        data=presence(kind.data),
        methods=[
            MethodCard(name=name, title=TITLES[name], about=ABOUT[name])
            for name in offered(kind.blueprint.net, slots=kind.slots)
        ],
        specialists=[_specialist(found) for found in group.members],
    )  # fmt: skip


def _specialist(found: Found) -> SpecialistCard:
    provenance, metrics = provenance_of(found), provenance_of(found).metrics
    return SpecialistCard(
        file=found.file.name, size=found.file.size, classes=_class_names(found), sparsity=found.manifest.sparsities[0],
        accuracy=metrics.get("rewarded_accuracy"), entropy=metrics.get("entropy"), loss=provenance.loss,
        seed=provenance.seed,
    )  # fmt: skip


def _composite(found: Found) -> CompositeCard:
    manifest = found.manifest
    return CompositeCard(
        file=found.file.name, size=found.file.size, classes=_class_names(found), method=manifest.method,
        specialists=len(manifest.specialists), net=str(manifest.blueprint.net), data=provenance_of(found).data,
    )  # fmt: skip


def _class_names(found: Found) -> list[str]:
    rewarded = {number for ids, _ in found.manifest.specialists for number in ids}
    return [found.manifest.blueprint.classes[number] for number in sorted(rewarded)]


def measurement_answer(measured: Measured, paths: Sequence[Path], method: str | None) -> Measurement:
    """Return a measurement with its charts, and how to do the same with some files and a method."""
    part, score = measured.part, measured.score
    numbers: dict[str, Any] = {} if score is None else score.to_dict()
    data = None if score is None else measured.data
    return Measurement(
        headline=headline(part, score),
        classes=list(part.classes), knows=[part.classes[number] for number in part.rewarded],
        method=part.method if isinstance(part, Composite) else None, specialists=len(part.specialists),
        data=measured.data, note=measured.note, samples=measured.samples, total=measured.total,
        accuracy=numbers.get("rewarded_accuracy"), entropy=numbers.get("entropy"),
        most_entropy=math.log(len(part.classes)), calibration_error=numbers.get("calibration_error"),
        coverage=numbers.get("coverage"), unknown_auroc=numbers.get("unknown_auroc"),
        class_accuracy=numbers.get("class_accuracy", []), class_entropy=numbers.get("class_entropy", []),
        confusion=None if score is None else chart_content(confusion_chart(score)),
        per_class=None if score is None else chart_content(per_class_chart(score)),
        python=same_python(paths, method, data), command=same_command(paths, method, data),
    )  # fmt: skip


def headline(part: Part, score: Score | None) -> str:
    """Return in one sentence what a part scored on the classes that it knows, and which nobody knows.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:20", [0, 1], slots=True, epochs=1, lr=1e-9, progress=False)
    >>> headline(team[0] + team[1], None)
    '2 specialists summed. Nobody knows 2, 3, 4, 5, 6, 7, 8, 9.'
    """
    count = len(part.specialists)
    how = f" {_TOGETHER[part.method]}" if isinstance(part, Composite) and count > 1 else ""
    text = f"{count:,} specialist{'s' if count > 1 else ''}{how}"
    if score is not None and score.rewarded_accuracy == score.rewarded_accuracy:
        counts = score.confusion[list(part.rewarded)]
        text += f": {100 * score.rewarded_accuracy:.1f} % of {int(counts.sum()):,} right"
    unknown = [name for number, name in enumerate(part.classes) if number not in part.rewarded]
    if not unknown:
        return f"{text}. All classes are known."
    named = ", ".join(unknown) if len(unknown) <= _MOST_NAMED else f"{len(unknown):,} classes"
    return f"{text}. Nobody knows {named}."


_TOGETHER = {
    "sum": "summed",
    "logits": "with averaged logits",
    "ties": "summed by TIES",
    "calibrated": "summed with fitted factors",
}


def score_answer(score: Score | None) -> TestScore:
    """Return accuracy and entropy, where there are any."""
    numbers: dict[str, Any] = {} if score is None else score.to_dict()
    return TestScore(accuracy=numbers.get("rewarded_accuracy"), entropy=numbers.get("entropy"))


def same_python(paths: Sequence[Path], method: str | None, data: str | None) -> str:
    """Return the Python that composes files, measures the composite and saves it.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    method : str or None
        How to put them together; None for one composite that is taken as it is.
    data : str or None
        What to measure on; None where that cannot be loaded by name.
    """
    lines = ["import dovetail as dt", ""]
    if data is not None:
        lines.append(f"data = dt.load({data!r})")
    if method is None:
        lines.append(f"composite = dt.open({str(paths[0])!r})")
    else:
        inputs = ", inputs=data.train.x" if method == "calibrated" and data is not None else ""
        lines += ["files = [", *(f"    {str(path)!r}," for path in paths), "]"]
        lines.append(f"composite = dt.compose([dt.open(file) for file in files], {method!r}{inputs})")
    if data is not None:
        lines.append("print(composite.evaluate(data.test))")
    if method is not None:
        lines.append(f"composite.save({FILE!r})")
    return "\n".join(lines)


def same_command(paths: Sequence[Path], method: str | None, data: str | None) -> str:
    r"""Return the command that does the same as `same_python`.

    Examples
    --------
    >>> print(same_command([Path("a.safetensors"), Path("b.safetensors")], "sum", "digits"))
    dovetail compose \
      a.safetensors \
      b.safetensors \
      --method sum --evaluate digits -o composite.safetensors
    """
    options = [] if method is None else [f"--method {method}"]
    if data is not None:
        options.append(f"--evaluate {shlex.quote(data)}")
    if method is not None:
        options.append(f"-o {FILE}")
    lines = ["dovetail compose", *(shlex.quote(str(path)) for path in paths), " ".join(options)]
    return " \\\n  ".join(line for line in lines if line)
