"""Run a network whole and without some units, and say of each output how good it is, or how far it moves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ...errors import DovetailError
from .yardstick import Measure, Yardstick

MEANING = {
    "bits": "Broken: right in fewer rows than before.",
    "classes": "Ties do not count as right. Broken: worse by more than 5 points.",
    "movement": "Broken: moves by more than a tenth.",
}
_LEAST = {"bits": 1e-9, "classes": 0.05, "movement": 0.1}
_MOST_MULTIPLICATIONS = 2 * 10**10
"""In one pass over the samples: a second or so."""
_FEWEST_SAMPLES = 50
_BATCH = 1024

Shares = list[float | None]


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
        with torch.no_grad():
            return torch.cat([network.eval()(part.float()) for part in x.split(_BATCH)])
    except RuntimeError as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise DovetailError(
            f"the network cannot take samples of shape {tuple(x.shape[1:])}: {reason}"
        ) from error
