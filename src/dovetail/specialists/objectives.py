"""The three losses of the MaxEnt paper, and what is measured beside them in training.

Each takes one network's logits, the true classes, and ``rewarded``, a row of 0/1 over the classes. All divide
the logits by the temperature first. Label smoothing is for samples of rewarded classes, which have a label: it spreads
a share of that over all classes, as torch's cross-entropy does. What others are to be is spread out already.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from ..errors import SpecError, unknown_name
from .own_functions import told

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
"""``(logits [samples, classes], target [samples], rewarded [classes]) -> [samples]``"""


def max_entropy(
    logits: Tensor, target: Tensor, rewarded: Tensor, temperature: float = 1.0, label_smoothing: float = 0.0
) -> Tensor:
    """Return the divergence from the label for rewarded classes, from the uniform distribution for others.

    Examples
    --------
    >>> logits, rewarded = torch.zeros(2, 4), torch.tensor([True, False, False, False])
    >>> max_entropy(logits, torch.tensor([0, 3]), rewarded)  # ln 4, and nothing to complain about
    tensor([1.3863, 0.0000])
    """
    spread = torch.ones_like(rewarded)
    return _towards_uniform(logits, target, rewarded, spread, temperature, label_smoothing)


def quasi_max_entropy(
    logits: Tensor, target: Tensor, rewarded: Tensor, temperature: float = 1.0, label_smoothing: float = 0.0
) -> Tensor:
    """Return the same, but with the other samples spread over the classes that are not rewarded only.

    Examples
    --------
    >>> logits, rewarded = torch.zeros(2, 4), torch.tensor([True, False, False, False])
    >>> quasi_max_entropy(logits, torch.tensor([0, 3]), rewarded)  # ln 4, and ln 4 - ln 3
    tensor([1.3863, 0.2877])
    """
    return _towards_uniform(logits, target, rewarded, ~rewarded.bool(), temperature, label_smoothing)


def rewarded_cross_entropy(
    logits: Tensor, target: Tensor, rewarded: Tensor, temperature: float = 1.0, label_smoothing: float = 0.0
) -> Tensor:
    """Return the cross-entropy of samples of rewarded classes, and 0 for others.

    Examples
    --------
    >>> rewarded = torch.tensor([True, False, False, False])
    >>> rewarded_cross_entropy(torch.zeros(2, 4), torch.tensor([0, 3]), rewarded)
    tensor([1.3863, 0.0000])
    """
    wanted = _from_label(F.log_softmax(logits / temperature, 1), target, label_smoothing)
    return torch.where(_is_rewarded(target, rewarded), wanted, torch.zeros_like(wanted))


LOSSES: dict[str, Callable[..., Tensor]] = {
    "me": max_entropy,
    "qme": quasi_max_entropy,
    "xe": rewarded_cross_entropy,
}


def objective(loss: str | Loss, temperature: float, label_smoothing: float = 0.0) -> Loss:
    """Return a loss with its temperature filled in, by its short name; a function is given logits divided by it."""
    if label_smoothing and not isinstance(loss, str):
        raise SpecError(
            f"label_smoothing={label_smoothing:g} is for the losses me, qme and xe; smooth the labels in your own, or "
            "leave one out"
        )
    if not isinstance(loss, str):
        own = told(loss, "loss(logits, target, rewarded)")
        return lambda logits, target, rewarded: own(logits / temperature, target, rewarded)
    if loss not in LOSSES:
        raise unknown_name("loss", loss, LOSSES)
    return partial(LOSSES[loss], temperature=temperature, label_smoothing=label_smoothing)


def rewarded_accuracy(logits: Tensor, target: Tensor, rewarded: Tensor) -> Tensor:
    """Return whether samples of rewarded classes are recognised among all classes; NaN for other samples."""
    right = (logits.argmax(1) == target).to(logits.dtype)
    return torch.where(_is_rewarded(target, rewarded), right, torch.full_like(right, torch.nan))


def other_entropy(logits: Tensor, target: Tensor, rewarded: Tensor, temperature: float = 1.0) -> Tensor:
    """Return the entropy of predictions (nats) on samples of classes not rewarded; NaN for other samples."""
    entropy = prediction_entropy(F.log_softmax(logits / temperature, 1))
    return torch.where(_is_rewarded(target, rewarded), torch.full_like(entropy, torch.nan), entropy)


def prediction_entropy(log_probabilities: Tensor, probabilities: Tensor | None = None) -> Tensor:
    """Return the entropy, in nats, along the last dimension.

    Parameters
    ----------
    log_probabilities : Tensor
        Logarithms of predictions.
    probabilities : Tensor, optional
        The predictions, where they are at hand.

    Examples
    --------
    >>> prediction_entropy(torch.tensor([[0.5, 0.5], [1.0, 0.0]]).log())
    tensor([0.6931, 0.0000])
    """
    if probabilities is None:
        probabilities = log_probabilities.exp()
    # 0 · ln 0 counts as 0, its limit; NaN stays NaN.
    finite = log_probabilities.clamp(min=torch.finfo(log_probabilities.dtype).min)
    entropy: Tensor = 0.0 - (probabilities * finite).sum(-1)
    return entropy


def max_entropy_of(log_p: Tensor, target: Tensor, is_rewarded: Tensor) -> Tensor:
    """Return `max_entropy` of many networks at once, from the logarithms of their predictions.

    Parameters
    ----------
    log_p : Tensor
        ``[networks, samples, classes]``
    target : Tensor
        The true classes, ``[samples]``.
    is_rewarded : Tensor
        Whether each network is rewarded for the class of each sample, ``[networks, samples]``.
    """
    label = log_p.gather(2, target.expand(len(log_p), -1)[..., None]).squeeze(2)
    uniform = log_p.mean(2) + math.log(log_p.shape[2])
    return -torch.where(is_rewarded, label, uniform)


def _towards_uniform(
    logits: Tensor,
    target: Tensor,
    rewarded: Tensor,
    spread: Tensor,
    temperature: float,
    label_smoothing: float,
) -> Tensor:
    """Return KL(target ‖ prediction): the label where rewarded, else uniform over the classes in ``spread``."""
    log_p = F.log_softmax(logits / temperature, 1)
    share = spread.to(log_p.dtype)
    count = share.sum().clamp(min=1)
    uniform = -(log_p * share).sum(1) / count - count.log()
    wanted = _from_label(log_p, target, label_smoothing)
    return torch.where(_is_rewarded(target, rewarded), wanted, uniform)


def _from_label(log_p: Tensor, target: Tensor, label_smoothing: float) -> Tensor:
    """Return the cross-entropy from the label, of which a share is spread over all classes."""
    label = -log_p.gather(1, target.unsqueeze(1)).squeeze(1)
    return (1 - label_smoothing) * label - label_smoothing * log_p.mean(1) if label_smoothing else label


def _is_rewarded(target: Tensor, rewarded: Tensor) -> Tensor:
    return rewarded.bool().gather(0, target)
