"""For which data one can draw, and how a drawing becomes an input like its own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ...errors import SpecError
from .as_digits import as_digits
from .as_fashion import as_fashion
from .as_mnist import as_mnist
from .pad import Ink

Prepare = Callable[[Ink], Ink]

PREPARATIONS: dict[str, Prepare] = {"digits": as_digits, "mnist": as_mnist, "fashion-mnist": as_fashion}
"""By name of the data. Each gives one channel with values from 0 to 1, as the loader of that data does."""


def can_draw(data: str) -> bool:
    """Whether there is a way from a drawing to an input like those of a data set."""
    return data in PREPARATIONS


def prepared(ink: Ink, data: str) -> Tensor:
    """Return a drawing as an input of a data set, ``[1, channels, height, width]``.

    Raises
    ------
    SpecError
        For data that one cannot draw.

    Examples
    --------
    >>> import numpy as np
    >>> prepared(np.ones((112, 112)), "digits").shape
    torch.Size([1, 1, 8, 8])
    """
    if data not in PREPARATIONS:
        known = ", ".join(PREPARATIONS)
        raise SpecError(
            f"inputs of {data!r:.80} cannot be drawn; go through its test images, or use specialists of {known}"
        )
    return torch.from_numpy(PREPARATIONS[data](ink)).to(torch.float32)[None, None]
