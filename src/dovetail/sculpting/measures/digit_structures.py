"""The structure planted in the two tasks on pairs of images, for comparing with what a network shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...data.boolean import Planted, PlantedModule
from ...errors import SpecError, unknown_name

_TASKS = ("two-digits", "digit-xor")
_BITS = ("bit 4", "bit 2", "bit 1")


@dataclass(frozen=True)
class PlantedPixels(Planted):
    """A planted structure whose inputs are the pixels of an image, of which a network leaves many unused."""


def planted_digits(
    task: Literal["two-digits", "digit-xor"], *, height: int = 28, width: int = 28, classes: int = 10
) -> PlantedPixels:
    """Return the modules of a task on two images side by side.

    Parameters
    ----------
    task : {"two-digits", "digit-xor"}
        The data set. ``two-digits`` has two modules, each with the pixels of one image and the outputs for its
        class. ``digit-xor`` has an input module for each image, and three outputs that read both.
    height, width : int
        Size of one image; pixels of both are numbered row by row, ``2 * width`` in a row.
    classes : int
        Classes of images, for ``two-digits``.

    Examples
    --------
    >>> [str(module) for module in planted_digits("two-digits", height=1, width=2, classes=2)]
    ['left {x1, x2, y1, y2}', 'right {x3, x4, y3, y4}']
    >>> [str(module) for module in planted_digits("digit-xor", height=2, width=1)][:3]
    ['left {x1, x3} -> bit 4, bit 2, bit 1', 'right {x2, x4} -> bit 4, bit 2, bit 1', 'bit 4 {y1}']
    """
    if task not in _TASKS:
        raise unknown_name("task on two images", task, _TASKS)
    if min(height, width, classes) < 1:
        raise SpecError(f"height, width and classes must be 1 or more; got {height}, {width} and {classes}")
    pixels = np.arange(2 * height * width).reshape(height, 2, width)
    left, right = (frozenset(pixels[:, side].ravel().tolist()) for side in range(2))
    if task == "two-digits":
        outputs = [frozenset(range(side * classes, (side + 1) * classes)) for side in range(2)]
        return PlantedPixels(
            (PlantedModule("left", left, outputs[0]), PlantedModule("right", right, outputs[1]))
        )
    inputs = (PlantedModule("left", left, feeds=_BITS), PlantedModule("right", right, feeds=_BITS))
    bits = (PlantedModule(name, outputs=frozenset({unit})) for unit, name in enumerate(_BITS))
    return PlantedPixels((*inputs, *bits))
