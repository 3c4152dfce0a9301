"""What the draw view sends to its page: inputs as pictures, and what networks say to them."""

from __future__ import annotations

import base64
import math

import torch
from pydantic import BaseModel
from torch import Tensor

from ...errors import DataError
from ...specialists.objectives import prediction_entropy
from ..bench.answers import GroupCard, parts_answer
from ..bench.groups import group_specialists
from ..bench.parts import Inventory
from .pad import SIDE
from .preparations import can_draw

_HALF = 0.5

Range = tuple[Tensor, Tensor]
"""What black and full light are, for each channel."""


class Picture(BaseModel):
    """Pixels row by row, one byte (grey) or three (red, green, blue) each, in base64."""

    width: int
    height: int
    channels: int
    pixels: str


def is_image(shape: tuple[int, ...]) -> bool:
    """Whether inputs of a shape can be seen: grey or in colour, and more than a row.

    Examples
    --------
    >>> is_image((1, 8, 8)), is_image((3, 32, 32)), is_image((2, 28, 28)), is_image((561,))
    (True, True, False, False)
    """
    return len(shape) == 3 and shape[0] in (1, 3) and min(shape[1:]) > 1


def check_image(data: str, shape: tuple[int, ...]) -> None:
    """Refuse data that is nothing to look at."""
    if not is_image(shape):
        size = " × ".join(map(str, shape))
        raise DataError(
            f"{data} holds no images (its inputs are {size}), so there is nothing to draw or to look at; use "
            "image data, such as digits, and the bench for this"
        )


def range_of(images: Tensor) -> Range:
    """Return the least and the largest value of each channel, ``[channels, 1, 1]``.

    Standardised data keeps neither; over a whole split they are as good as the true ends.
    """
    flat = images.transpose(0, 1).flatten(1)
    low, high = flat.aminmax(dim=1)
    return low[:, None, None], high[:, None, None]


def picture_of(image: Tensor, ends: Range | None = None) -> Picture:
    r"""Return an image ``[channels, height, width]`` as a picture; its values go from 0 to 1 unless ends are given.

    Examples
    --------
    >>> picture = picture_of(torch.tensor([[[0.0, 1.0]]]))
    >>> picture.width, picture.channels, base64.b64decode(picture.pixels)
    (2, 1, b'\x00\xff')
    """
    low, high = ends or (torch.tensor(0.0), torch.tensor(1.0))
    share = (image - low) / (high - low).clamp(min=1e-12)
    pixels = (share.clamp(0, 1) * 255).round().to(torch.uint8)
    channels, height, width = pixels.shape
    content = pixels.permute(1, 2, 0).contiguous().numpy().tobytes()
    return Picture(width=width, height=height, channels=channels, pixels=base64.b64encode(content).decode())


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
    shapes = [group.kind.blueprint.input_shape for group in group_specialists(inventory.found)]
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
