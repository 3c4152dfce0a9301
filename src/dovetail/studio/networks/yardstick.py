"""Yardsticks for the outputs of a network, whole and without some units: a truth table, a test split, or movement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from ...data import BooleanTask, boolean_task
from ...data.boolean.table import input_table
from ...errors import DovetailError
from ...specialists.evaluate import run_network
from ..held_data import HeldData

Measure = Literal["bits", "classes", "movement"]

_MOST_INPUTS, _RANDOM_ROWS = 14, 256

_SEED = 0

MEANING = {
    "bits": "Broken: right in fewer rows than before.",
    "classes": "Ties do not count as right. Broken: worse by more than 5 points.",
    "movement": "Broken: moves by more than a tenth.",
}

_LEAST = {"bits": 1e-9, "classes": 0.05, "movement": 0.1}

_MOST_MULTIPLICATIONS = 2 * 10**10
"""In one pass over the samples: a second or so."""

_FEWEST_SAMPLES = 50


Shares = list[float | None]


@dataclass(frozen=True, eq=False)
class Yardstick:
    """Samples, and what a network should say to them.

    Attributes
    ----------
    measure : {"bits", "classes", "movement"}
        What is told of each output: the share of rows in which its bit is right; the accuracy on its class; or how far
        it moves, against how much it varies from sample to sample.
    text : str
        What is measured, in words.
    x : Tensor
        The samples.
    y : Tensor, optional
        Bits or class ids; where there are none, what the whole network says is taken to be right.
    """

    measure: Measure
    text: str
    x: Tensor
    y: Tensor | None = None


def of_boolean(task: str, inputs: int, accuracy: float) -> Yardstick:
    """Return the truth table that a sculpture was made for.

    A sculpture tells the name of its task. Where that names no family, its own answers stand for the table: they are
    what it was, except for the bits that the sculpture gets wrong.

    Examples
    --------
    >>> of_boolean("[4,2,4]", 4, 1.0).text
    'share of the 16 rows of the truth table of [4,2,4] that are right'
    """
    if inputs > _MOST_INPUTS:
        rows = (
            torch.rand(2**_MOST_INPUTS, inputs, generator=torch.Generator().manual_seed(_SEED)) < 0.5
        ).float()
        what = f"{2**_MOST_INPUTS:,} random rows of its truth table"
    else:
        rows, what = input_table(inputs), f"the {2**inputs:,} rows of its truth table"
    known = _family(task)
    if known is not None and known.inputs == inputs and inputs <= _MOST_INPUTS:
        what = f"the {len(rows):,} rows of the truth table of {task}"
        return Yardstick("bits", f"share of {what} that are right", known.x, known.y)
    right = (
        "right" if accuracy == 1 else f"as in the whole network, which gets {accuracy:.2%} of all bits right"
    )
    return Yardstick("bits", f"share of {what} that are {right}", rows)


def of_data(data: HeldData, note: str = "") -> Yardstick:
    """Return the test split of a data set, and say a note about it.

    Examples
    --------
    >>> from dovetail.studio.held_data import DataCache
    >>> of_data(DataCache().get("digits")).text
    'accuracy on each class of the test split of digits'
    """
    if data.task == "values":
        return of_nothing(data.input_shape, f"{data.name} has neither bits nor classes")
    measure: Measure = "bits" if data.task == "bits" else "classes"
    what = "share that is right" if measure == "bits" else "accuracy on each class"
    text = f"{what} of the test split of {data.name}"
    return Yardstick(measure, f"{text} ({note})" if note else text, data.test.x, data.test.y)


def of_nothing(input_shape: tuple[int, ...], why: str = "") -> Yardstick:
    """Return random inputs, for a network that nothing is known of.

    Examples
    --------
    >>> of_nothing((4,)).measure
    'movement'
    """
    x = torch.randn(_RANDOM_ROWS, *input_shape, generator=torch.Generator().manual_seed(_SEED))
    text = f"how far the output moves on {_RANDOM_ROWS} random inputs, as a share of how much it varies over them"
    return Yardstick("movement", f"{text} ({why})" if why else text, x)


def _family(task: str) -> BooleanTask | None:
    try:
        return boolean_task(task) if task.startswith("[") else None
    except DovetailError:
        return None  # a table that somebody gave such a name


@dataclass(frozen=True)
class Measured:
    """What the outputs do before and after: shares that are right, or (after) how far each moves."""

    before: Shares
    after: Shares
    text: str


def measured(whole: nn.Module, less: nn.Module, yardstick: Yardstick) -> Measured:
    """Measure a network and the same without some units.

    Examples
    --------
    >>> one, none = nn.Linear(2, 1, bias=False), nn.Linear(2, 1, bias=False)
    >>> with torch.no_grad():
    ...     _ = one.weight.fill_(1.0), none.weight.zero_()
    >>> found = measured(one, none, Yardstick("bits", "rows that are right", torch.eye(2), torch.ones(2, 1)))
    >>> found.before, found.after, found.text
    ([1.0], [0.0], 'Rows that are right. Broken: right in fewer rows than before.')
    """
    x, y = yardstick.x, yardstick.y
    if next(whole.parameters()).dim() == 2:  # dense layers read flattened images
        x = x.flatten(1)
    text = yardstick.text[:1].upper() + yardstick.text[1:]
    most = max(_FEWEST_SAMPLES, _MOST_MULTIPLICATIONS // _multiplications(whole, x[:1]))
    if most < len(x):
        text += f", on the first {most:,} of {len(x):,} samples"
        x, y = x[:most], None if y is None else y[:most]
    logits = _logits(whole, x)
    if y is not None and yardstick.measure == "bits" and y.shape != logits.shape:
        raise DovetailError(
            f"its data has {tuple(y.shape[1:])} bits, but the network {logits.shape[1]} outputs"
        )
    before, after = _shares(yardstick.measure, logits, _logits(less, x), y)
    return Measured(before, after, f"{text}. {MEANING[yardstick.measure]}")


def is_broken(measure: Measure, before: float | None, after: float | None) -> bool:
    """Return whether an output does much worse, or moves much.

    Examples
    --------
    >>> is_broken("bits", 1.0, 0.75), is_broken("classes", 0.98, 0.96), is_broken("movement", 0.0, None)
    (True, False, True)
    """
    if measure == "movement":
        return after is None or after > _LEAST[measure]
    return before is not None and after is not None and after < before - _LEAST[measure]


def _shares(measure: Measure, before: Tensor, after: Tensor, y: Tensor | None) -> tuple[Shares, Shares]:
    if measure == "movement":
        return [0.0] * before.shape[1], _movement(before, after)
    if measure == "classes" and y is not None:
        return _by_class(before, y), _by_class(after, y)
    right = before > 0 if y is None else y > 0.5
    return ((before > 0) == right).double().mean(0).tolist(), ((after > 0) == right).double().mean(0).tolist()


def _by_class(logits: Tensor, y: Tensor) -> Shares:
    own = logits.gather(1, y.clamp(0, logits.shape[1] - 1)[:, None])
    # A tie is no answer: a network without any units left would always say the first class.
    right = ((logits >= own).sum(1) == 1).double()
    classes = [y == number for number in range(logits.shape[1])]
    return [float(right[mine].mean()) if bool(mine.any()) else None for mine in classes]


def _movement(before: Tensor, after: Tensor) -> Shares:
    varies = (before - before.mean(0)).square().mean(0).sqrt().tolist()
    moves = (after - before).square().mean(0).sqrt().tolist()
    # An output that is the same for every input moves by nothing, or by more than any share.
    shares = [m / v if v > 0 else (math.inf if m > 0 else 0.0) for m, v in zip(moves, varies, strict=True)]
    return [share if math.isfinite(share) else None for share in shares]


def _multiplications(network: nn.Module, x: Tensor) -> int:
    """Return how many multiplications the layers of a network need for a batch."""
    counts: list[int] = []

    def count(layer: nn.Linear | nn.Conv2d, _: object, out: Tensor) -> None:
        counts.append(out.numel() * layer.weight[0].numel())

    layers = [layer for layer in network.modules() if isinstance(layer, nn.Linear | nn.Conv2d)]
    hooks = [layer.register_forward_hook(count) for layer in layers]
    try:
        _logits(network, x)
    finally:
        for hook in hooks:
            hook.remove()
    return max(1, sum(counts))


def _logits(network: nn.Module, x: Tensor) -> Tensor:
    try:
        return run_network(network.eval(), x.float())
    except RuntimeError as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise DovetailError(
            f"the network cannot take samples of shape {tuple(x.shape[1:])}: {reason}"
        ) from error
