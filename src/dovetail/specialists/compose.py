"""Composing: specialists put together by a method, with a word of warning where they will clash."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from ..errors import CompatibilityWarning, SpecError
from .compatibility import LOW_AGREEMENT, LOW_SEPARATION, on_inputs, path_separation
from .fitting import in_own_slots
from .merge import Method, some_of
from .part import Composite, Part, Specialist, compose_quietly


def compose(
    parts: Iterable[Part],
    method: Method = "sum",
    *,
    weights: Sequence[float] | None = None,
    inputs: Tensor | None = None,
    keep: float = 1.0,
    force: bool = False,
    device: torch.device | str | None = None,
) -> Composite:
    """Put specialists together into one network.

    Parameters
    ----------
    parts : iterable of Specialist or Composite
        What to put together; composites count as their specialists.
    method : {"sum", "logits", "ties", "calibrated"}
        ``"sum"`` adds weights and biases (the paper). ``"logits"`` runs every specialist and averages their
        logits. ``"ties"`` trims, elects a sign for each weight and averages those that agree. ``"calibrated"``
        adds weights, each specialist's times a coefficient fitted on ``inputs``.
    weights : sequence of float, optional
        For ``"logits"``: what each specialist's logits weigh; the same by default. They need not add up to 1.
    inputs : Tensor, optional
        Unlabelled samples: needed for ``"calibrated"``, and to recompute batch-norm statistics where networks
        with batch norm share units.
    keep : float
        For ``"ties"``: the share of its weights, the largest ones, that each specialist brings along.
    force : bool
        Also put together what is unwise: other θ0, classes in common, slots that overlap.
    device : str or torch.device, optional
        Where to judge on ``inputs`` whether they clash; the first GPU if there is one. Merging itself runs on the CPU,
        which gives the same bits with and without a GPU.

    Raises
    ------
    MisfitError
        When they do not fit together.

    Warns
    -----
    CompatibilityWarning
        When the specialists will get in each other's way (see `compatibility`): judged on ``inputs`` if there are
        any, else from the weights.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:40", epochs=2, progress=False)
    >>> dt.compose(team, "logits")
    Composite(0, 1, 2, 3, 4, 5, 6, 7, 8, 9: averaged logits of 10 specialists, mlp:40)
    """
    members = [specialist for part in parts for specialist in _specialists(part)]
    composite = compose_quietly(members, method, weights=weights, inputs=inputs, keep=keep, force=force)
    if clash := clash_in(composite, inputs, device=device):
        warnings.warn(clash, CompatibilityWarning, stacklevel=2)
    return composite


def _specialists(part: object) -> tuple[Specialist, ...]:
    if not isinstance(part, Part):
        raise SpecError(f"only specialists and composites can be composed, not {type(part).__name__}")
    return part.specialists


def clash_in(
    composite: Composite, inputs: Tensor | None = None, *, device: torch.device | str | None = None
) -> str | None:
    """Return why the specialists of a composite will get in each other's way, and what to do; None if they will not.

    Judged on samples if there are any, else from the weights.
    """
    members = composite.specialists
    if composite.method == "logits" or len(members) < 2 or in_own_slots(members):
        return None
    problem = None
    if inputs is not None:
        agreement, _ = on_inputs(composite, some_of(inputs), device=device)
        if agreement < LOW_AGREEMENT:
            problem = (
                f"this composite says what its {len(members)} specialists say on {100 * agreement:.0f} % only"
            )
    else:
        separation = path_separation([member.state for member in members])
        if separation is not None and separation < LOW_SEPARATION:
            problem = (
                f"only {100 * separation:.0f} % of the strength of all paths through these {len(members)} specialists "
                "stays inside one of them"
            )
    if problem is None:
        return None
    return (
        f"{problem}; expect them to get in each other's way (train in slots, sparser or wider, or use "
        "method='logits')"
    )
