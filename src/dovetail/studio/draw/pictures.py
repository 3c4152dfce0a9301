"""Inputs as pictures that a page can show."""

from __future__ import annotations

import base64

import torch
from pydantic import BaseModel
from torch import Tensor

from ...errors import DataError

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
