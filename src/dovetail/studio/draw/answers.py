"""What the draw view sends to its page."""

from __future__ import annotations

import math

from pydantic import BaseModel
from torch import Tensor

from ...specialists.objectives import prediction_entropy
from ..bench.answers import GroupCard, parts_answer
from ..bench.groups import group_specialists
from ..bench.listing import Inventory
from .pad import SIDE
from .pictures import Picture, is_image
from .preparations import can_draw

_HALF = 0.5


class Said(BaseModel):
    """What a network says to an input; ``decided`` is whether one class has more than half of all probability.

    For averaged logits, it has more than half of what they give when they are added up.
    """

    probabilities: list[float]
    entropy: float
    winner: int
    decided: bool


class Drawn(BaseModel):
    """A drawing as the networks see it, and what they say; ``specialists`` are in the order of the files."""

    seen: Picture
    composite: Said
    specialists: list[Said]


class Hard(BaseModel):
    """A test image, and what is said to it."""

    picture: Picture
    truth: int
    known: bool
    loss: float
    composite: Said
    specialists: list[Said]


class HardList(BaseModel):
    """One of the test images that were chosen, worst first.

    ``count`` of them were found among the ``samples`` of all ``total`` test images that are looked at by now.
    """

    place: int
    count: int
    mistakes: int
    samples: int
    total: int
    note: str
    image: Hard | None


class DrawGroup(BaseModel):
    """A group of the bench, whether its inputs can be drawn and seen, and the files to begin with."""

    group: GroupCard
    pad: bool
    images: bool
    shape: list[int]
    first: list[str]


class DrawParts(BaseModel):
    """All groups, and the side of the pad in pixels."""

    groups: list[DrawGroup]
    side: int


def draw_parts_answer(folder: str, inventory: Inventory) -> DrawParts:
    """Return the groups of a folder; those with something to see come first."""
    cards = parts_answer(folder, inventory).groups
    shapes = [group.kind.basis.input_shape for group in group_specialists(inventory.found)]
    groups = [
        DrawGroup(
            group=card,
            pad=can_draw(card.data.name) and is_image(shape),
            images=is_image(shape),
            shape=list(shape),
            first=_one_per_class(card),
        )
        for card, shape in zip(cards, shapes, strict=True)
    ]
    return DrawParts(groups=sorted(groups, key=lambda one: (not one.pad, not one.images)), side=SIDE)


def _one_per_class(card: GroupCard) -> list[str]:
    """Return as many specialists as go together, which no two of one class do."""
    files, taken = [], set[str]()
    for specialist in card.specialists:
        if not taken & set(specialist.classes):
            files.append(specialist.file)
            taken.update(specialist.classes)
    return files


def said(log_probabilities: Tensor, sharpness: float = 1.0) -> Said:
    """Return what a network says, from a row of log-probabilities.

    Parameters
    ----------
    log_probabilities : Tensor
        One for each class.
    sharpness : float
        What logits are multiplied with before it is judged whether the network is decided. An average over n networks
        of which one alone knows the class has an nth of its logits, and is as decided as that one is.

    Examples
    --------
    >>> import torch
    >>> said(torch.tensor([0.25, 0.75]).log())
    Said(probabilities=[0.25, 0.75], entropy=0.5623, winner=1, decided=True)
    """
    probabilities = log_probabilities.exp().tolist()
    winner = int(log_probabilities.argmax())
    entropy = float(prediction_entropy(log_probabilities))
    sharpened = (sharpness * log_probabilities).softmax(0)
    return Said(
        probabilities=[round(value, 4) for value in probabilities],
        entropy=round(min(entropy, math.log(len(probabilities))), 4),
        winner=winner,
        decided=bool(sharpened[winner] > _HALF),
    )
