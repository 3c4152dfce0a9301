"""Small images as other hands would have drawn them: an augmentation for the specialists that the pad is tried with.

`digits` has 1,149 images to train on, and a mouse draws unlike most of them. Networks that have seen each a little
slanted, turned, shifted and stretched read many more drawings, and the test images no worse.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from ...population.random import Noise

_SLANT, _TURN, _STRETCH, _SHIFT = 0.2, 0.15, 0.15, 0.075
"""At most: columns for each row, radians, a share of either side, and a share of the image's side."""


def unsteady(x: Tensor, noise: Noise) -> Tensor:
    """Slant, turn, stretch and shift images a little, at random; what comes in from outside is empty.

    Parameters
    ----------
    x : Tensor
        Images ``[members, batch, channels, height, width]``.
    noise : Noise
        Random numbers, of each member its own.

    Examples
    --------
    >>> from dovetail.population.random import member_keys
    >>> unsteady(torch.rand(2, 5, 1, 8, 8), Noise(member_keys([0, 1]))).shape
    torch.Size([2, 5, 1, 8, 8])
    """
    members, batch, *shape = x.shape
    draws = 2 * noise.uniform(x, (batch, 6)).reshape(-1, 6) - 1
    slant, turn, across, down, left, up = draws.unbind(1)
    slant, turn = _SLANT * slant, _TURN * turn
    across, down = 1 + _STRETCH * across, 1 + _STRETCH * down
    # From a place in the new image to the place in the old one; sides have length 2, and the origin is in the middle.
    rows = [
        [turn.cos() * across, slant - turn.sin(), 2 * _SHIFT * left],
        [turn.sin(), turn.cos() * down, 2 * _SHIFT * up],
    ]
    matrix = torch.stack([torch.stack(row, 1) for row in rows], 1)
    images = x.reshape(members * batch, *shape)
    grid = F.affine_grid(matrix, list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, padding_mode="zeros", align_corners=False).reshape(x.shape)
