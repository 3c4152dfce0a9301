"""The image sets that generated sets are built on."""

from __future__ import annotations

from pathlib import Path

from ..errors import SpecError
from .dataset import Dataset
from .registry import load


def load_images(
    base: str,
    root: str | Path | None,
    *,
    divisor: tuple[int, int] = (1, 1),
    least_width: int = 1,
    classes: int = 1,
) -> Dataset:
    """Load a set of one-channel images with class labels, or say why it cannot serve.

    Parameters
    ----------
    base : str
        Name of the image set.
    root : path or None
        Data folder to load it from.
    divisor : pair of int
        What height and width must be multiples of.
    least_width, classes : int
        How wide the images must be, and how many classes there must be, at least.

    Examples
    --------
    >>> load_images("digits", None, classes=8).input_shape
    (1, 8, 8)
    """
    data = load(base, root)
    if data.task != "classes" or len(data.input_shape) != 3 or data.input_shape[0] != 1:
        needs = "class labels and one-channel images"
    elif any(side % by for side, by in zip(data.input_shape[1:], divisor, strict=True)):
        needs = f"height and width that are multiples of {divisor[0]} and {divisor[1]}"
    elif data.input_shape[2] < least_width:
        needs = f"images at least {least_width} pixels wide"
    elif data.outputs < classes:
        needs = f"at least {classes} classes"
    else:
        return data
    raise SpecError(
        f"base={base!r} is not possible: it has inputs of shape {data.input_shape} and {data.outputs} "
        f"{data.task}, but {needs} are needed; mnist and fashion-mnist always work"
    )
