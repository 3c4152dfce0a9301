"""Composing: specialists put together by a method, and how well that will go, read off before merging."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload

import torch
from torch import Tensor

from ..errors import CompatibilityWarning, ShapeError, SpecError
from ..graph.chain import layer_chain
from ..result import Result
from .blueprint import State
from .class_lists import Places
from .class_sets import named, one_hot_sets
from .closed_form.sums import Sums, add_if_sums
from .composite import Composite, compose_quietly
from .evaluate import outputs_of
from .fitting import are_joined, check_fit, in_own_slots, shared_classes
from .merge import Method, some_of
from .part import Part
from .specialist import Specialist


@overload
def compose(parts: Iterable[Sums] | Sums) -> Sums: ...  # type: ignore[overload-overlap]
@overload
def compose(
    parts: Iterable[Part] | Part,
    method: Method = "sum",
    *,
    weights: Sequence[float] | None = None,
    inputs: Tensor | None = None,
    keep: float = 1.0,
    force: bool = False,
    device: torch.device | str | None = None,
) -> Composite: ...
def compose(
    parts: Iterable[Part] | Part,
    method: Method = "sum",
    *,
    weights: Sequence[float] | None = None,
    inputs: Tensor | None = None,
    keep: float = 1.0,
    force: bool = False,
    device: torch.device | str | None = None,
) -> Composite | Sums:
    """Put specialists together into one network, or add sums.

    They may know of different classes: lists are joined by name where specialists keep to slots, or with averaged
    logits. A class that one has not heard of gets from it what it gives to "none of mine" (`class_lists`).

    Parameters
    ----------
    parts : iterable of Specialist or Composite, or one of them
        What to put together; composites count as their specialists. Or sums, whose samples are added: all options below
        are for specialists. `combine` puts both kinds together.
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
        any, else from the weights. And when several of different class lists recognise the same class.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:40", epochs=2, progress=False)
    >>> dt.compose(team, "logits")
    Composite(0, 1, 2, 3, 4, 5, 6, 7, 8, 9: averaged logits of 10 specialists, mlp:40)
    """
    parts = parts if isinstance(parts, Part) or not isinstance(parts, Iterable) else list(parts)
    if added := add_if_sums(parts, plain=method == "sum" and weights is None):
        return added
    composite = compose_quietly(
        _specialists(parts), method, weights=weights, inputs=inputs, keep=keep, force=force
    )
    if clash := clash_in(composite, inputs, device=device):
        warnings.warn(clash, CompatibilityWarning, stacklevel=2)
    if note := shared_note(composite):
        warnings.warn(note, CompatibilityWarning, stacklevel=2)
    return composite


def shared_note(composite: Composite) -> str | None:
    """Return which classes several members of different lists recognise, and what that means; None without any."""
    shared = shared_classes(composite.specialists)
    if not shared or not are_joined(composite.specialists):
        return None
    names = named(range(len(shared)), shared)
    return (
        f"{names}: recognised by several of these {len(composite)} specialists. All of them speak for it, so the "
        "composite is surer of it than of others; rename it in one of them if it is not the same class (part.rename), "
        "or leave one out"
    )


def _specialists(parts: Iterable[Part] | Part) -> list[Specialist]:
    """Return the specialists that a list of parts, or a part, is made of."""
    given = [parts] if isinstance(parts, Part) else parts
    if not isinstance(given, Iterable):
        raise SpecError(f"give a list of specialists or composites, not {type(given).__name__}")
    members: list[Specialist] = []
    for part in given:
        if not isinstance(part, Part):
            raise SpecError(f"give a list of specialists or composites, not of {type(part).__name__}")
        members += part.specialists
    return members


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
        "the method 'logits')"
    )


LOW_SEPARATION, LOW_AGREEMENT = 0.5, 0.9
"""Scores below which `compose` warns: from weights alone, and on inputs."""


@dataclass(frozen=True)
class Compatibility(Result):
    """How little specialists get in each other's way.

    Attributes
    ----------
    score : float
        From 0 to 1, higher is better: with inputs the agreement, else the separation.
    separation : float or None
        Of the strength of all paths from inputs to outputs through the weights of any of them, the share of paths
        that run through weights of one specialist only. 1 when they share no hidden unit. None when the layers
        form no chain; the score is then 1 less the mask overlap.
    mask_overlap : float
        Entries that both keep over entries that at least one keeps (Jaccard); the mean over pairs.
    sign_conflicts : float
        Share of the entries both keep in which their signs differ; 0 when they share none.
    agreement : float or None
        With inputs: how often the summed network says what the specialists say. Every input counts as much as a
        specialist claims it for a class of its own (its probability beyond that of a guess).
    interference : float or None
        With inputs: how far the logits of the summed network are from the sum of the specialists' logits,
        relative to that sum.
    """

    score: float
    separation: float | None
    mask_overlap: float
    sign_conflicts: float
    agreement: float | None = None
    interference: float | None = None

    def __repr__(self) -> str:
        numbers = (
            ("separation", self.separation),
            ("mask overlap", self.mask_overlap),
            ("sign conflicts", self.sign_conflicts),
            ("agreement", self.agreement),
            ("interference", self.interference),
        )
        shown = ", ".join(f"{name} {value:.3f}" for name, value in numbers if value is not None)
        return f"Compatibility({self.score:.3f}: {shown})"


def compatibility(
    parts: Iterable[Part],
    *,
    inputs: Tensor | None = None,
    force: bool = False,
    device: torch.device | str | None = None,
) -> Compatibility:
    """Return how well specialists will merge by adding their weights.

    Parameters
    ----------
    parts : iterable of Specialist or Composite
        Two or more; composites count as their specialists.
    inputs : Tensor, optional
        Unlabelled samples, a few hundred or more. With them the score says how much of what the specialists know
        will be left, and predicts the merged accuracy much better (docs/further-results.md).
    force : bool
        Compare specialists that do not fit as well.
    device : str or torch.device, optional
        Where to run them on inputs; the first GPU if there is one.

    Examples
    --------
    >>> import dovetail as dt
    >>> pair = dt.train_specialists(dt.load("digits"), "mlp:40", [3, 8], slots=True, epochs=2, progress=False)
    >>> dt.compatibility(pair)
    Compatibility(1.000: separation 1.000, mask overlap 0.000, sign conflicts 0.000)
    """
    specialists = _specialists(parts)
    if len(specialists) < 2:
        raise ShapeError(f"compatibility compares two specialists or more; got {len(specialists)}")
    check_fit(specialists, force=force, method="sum")
    separation: float | None = 1.0
    overlap = conflicts = 0.0  # small networks side by side share nothing
    if not are_joined(specialists):
        separation = path_separation([part.state for part in specialists])
        overlap, conflicts = _overlaps(specialists)
    if inputs is not None:
        merged = compose_quietly(specialists, inputs=inputs, force=force)
        agreement, interference = on_inputs(merged, inputs, device=device)
        return Compatibility(agreement, separation, overlap, conflicts, agreement, interference)
    return Compatibility(1 - overlap if separation is None else separation, separation, overlap, conflicts)


def path_separation(states: Sequence[State]) -> float | None:
    """Return the share of path strength, over all paths through weights of any network, that stays inside one.

    A path's strength is the product of its squared weights; sums over all paths are products of matrices, so
    none is enumerated. None when the networks' layers form no chain.

    Examples
    --------
    Two networks that each use a hidden unit of their own, and two that share one:

    >>> apart = [{"a": torch.tensor([[1.0], [0.0]]), "b": torch.tensor([[1.0, 0.0]])},
    ...          {"a": torch.tensor([[0.0], [1.0]]), "b": torch.tensor([[0.0, 1.0]])}]
    >>> path_separation(apart), path_separation([apart[0], apart[0]])
    (1.0, 0.5)
    """
    weights = {name: tensor for name, tensor in states[0].items() if tensor.dim() >= 2}
    try:
        layers = layer_chain(weights)
    except ShapeError:
        return None
    pure: list[Tensor | None] = [None] * len(states)
    mixed: Tensor | None = None
    for layer in layers:
        # Kernel positions and flattened pixels of one channel count together, as one connection.
        each = [layer.by_unit(state[layer.weight].double().square()).sum(2) for state in states]
        pure = [_follow(square, strength) for square, strength in zip(each, pure, strict=True)]
        mixed = _follow(torch.stack(each).sum(0), mixed)
    assert mixed is not None
    total = float(mixed.sum())
    return sum(float(strength.sum()) for strength in pure if strength is not None) / total if total else 1.0


def _follow(squares: Tensor, strength: Tensor | None) -> Tensor:
    """Carry the strength of paths on through a layer."""
    return squares.sum(1) if strength is None else squares @ strength


def _overlaps(specialists: Sequence[Specialist]) -> tuple[float, float]:
    """Return the mean Jaccard overlap of the masks over pairs, and the share of shared entries in conflict."""
    names = specialists[0].blueprint.parameter_names
    masks, flat = (
        torch.stack([torch.cat([tensors[name].flatten() for name in names]) for tensors in everyone])
        for everyone in ((part.masks for part in specialists), (part.state for part in specialists))
    )
    overlaps, shared_entries, conflicts = [], 0, 0
    for a in range(len(specialists)):
        for b in range(a + 1, len(specialists)):
            shared = masks[a] & masks[b]
            overlaps.append(int(shared.sum()) / max(1, int((masks[a] | masks[b]).sum())))
            shared_entries += int(shared.sum())
            conflicts += int((shared & (flat[a] * flat[b] < 0)).sum())
    return sum(overlaps) / len(overlaps), conflicts / max(1, shared_entries)


def on_inputs(
    composite: Composite, inputs: Tensor, *, device: torch.device | str | None = None
) -> tuple[float, float]:
    """Return agreement and interference of a merged network on inputs."""
    specialists, classes = composite.specialists, len(composite.classes)
    merged = outputs_of([composite], inputs, device=device)[0]
    apart = torch.stack(
        [
            Places(part.classes, part.rewarded, composite.classes).rows(
                outputs_of([part], inputs, device=device)[0].T
            )
            for part in specialists
        ]
    ).mT
    owned = one_hot_sets(composite.owned, classes).to(apart.device)
    claims = ((apart.softmax(2) - 1 / classes) / (1 - 1 / classes)).clamp(min=0) * owned[:, None]
    said = merged.argmax(1)
    agreed = claims.sum(0).gather(1, said[:, None]).sum()
    # What is added to all logits alike changes no prediction.
    difference, wanted = (_centred(logits) for logits in (merged - apart.sum(0), apart.sum(0)))
    interference = difference.norm() / wanted.norm().clamp(min=1e-12)
    return float(agreed / claims.sum().clamp(min=1e-12)), float(interference)


def _centred(logits: Tensor) -> Tensor:
    return logits.double() - logits.double().mean(1, keepdim=True)
