"""Training images turned, shifted and mirrored a little at random, as the paper did for CIFAR-10."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from ...population.random import Noise

_TURN = math.radians(15)
_SHIFT = 0.1


def turned_shifted_mirrored(x: Tensor, noise: Noise) -> Tensor:
    """Turn images by at most 15 degrees, shift them by at most a tenth of their size, mirror half of them.

    Pixels that come in from outside are those at the border, as in Keras.

    Parameters
    ----------
    x : Tensor
        Images ``[members, batch, channels, height, width]``.
    noise : Noise
        Random numbers, of each member its own.

    Examples
    --------
    >>> from dovetail.population.random import member_keys
    >>> turned_shifted_mirrored(torch.rand(2, 5, 1, 8, 8), Noise(member_keys([0, 1]))).shape
    torch.Size([2, 5, 1, 8, 8])
    """
    members, batch, channels, height, width = x.shape
    draws = noise.uniform(x, (batch, 4)).reshape(-1, 4)
    turn, along, down, mirror = (2 * draws - 1).unbind(1)
    turn = _TURN * turn
    sign = torch.where(mirror < 0, -1.0, 1.0).to(x.dtype)
    # Rows of the matrix that leads from a place in the new image to the place in the old one; both have their origin
    # in the middle and sides of length 2, so images that are not square need the ratio of the sides.
    ratio = height / width
    matrix = torch.stack(
        [
            torch.stack([sign * turn.cos(), -sign * turn.sin() * ratio, 2 * _SHIFT * along], dim=1),
            torch.stack([turn.sin() / ratio, turn.cos(), 2 * _SHIFT * down], dim=1),
        ],
        dim=1,
    )
    images = x.reshape(members * batch, channels, height, width)
    grid = F.affine_grid(matrix, list(images.shape), align_corners=False)
    moved = F.grid_sample(images, grid, padding_mode="border", align_corners=False)
    return moved.reshape(x.shape)
