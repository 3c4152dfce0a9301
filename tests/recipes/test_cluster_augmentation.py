"""Training images turned, shifted and mirrored."""

from __future__ import annotations

import math

import torch
from torch import Tensor

import dovetail as dt
from dovetail.cluster import train_networks
from dovetail.population.random import Noise, member_keys
from dovetail.recipes.cluster.augmentation import turned_shifted_mirrored
from dovetail.recipes.data import first_samples

IMAGES = 400


def _moved(x: Tensor, seeds: tuple[int, ...] = (0,)) -> Tensor:
    return turned_shifted_mirrored(x.expand(len(seeds), *x.shape), Noise(member_keys(seeds)))


def _spot(height: int, width: int, row: int, column: int) -> Tensor:
    """Return images with one bright spot that is wide enough to follow between pixels."""
    rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    spot = torch.exp(-((rows - row) ** 2 + (columns - column) ** 2) / 8.0)
    return spot.expand(IMAGES, 1, height, width)


def _places(images: Tensor) -> tuple[Tensor, Tensor]:
    """Return where the spots are, from the middle, in pixels."""
    height, width = images.shape[-2:]
    weights = images.squeeze(-3) / images.sum((-3, -2, -1)).unsqueeze(-1).unsqueeze(-1)
    down = (weights.sum(-1) * (torch.arange(height) - (height - 1) / 2)).sum(-1)
    along = (weights.sum(-2) * (torch.arange(width) - (width - 1) / 2)).sum(-1)
    return down, along


def test_a_spot_in_the_middle_shifts_by_at_most_a_tenth() -> None:
    down, along = _places(_moved(_spot(41, 41, 20, 20)))
    for shift in (down, along):
        assert shift.abs().max() < 4.1 * 1.5  # turning moves shifted spots too
        assert shift.std() > 1.5
        assert shift.mean().abs() < 0.5


def test_half_of_the_images_are_mirrored_and_angles_are_small() -> None:
    down, along = _places(_moved(_spot(61, 61, 30, 48)))  # 18 pixels to the right of the middle
    mirrored = (along < 0).float().mean()
    assert 0.4 < mirrored < 0.6
    reach = 18 * math.sin(math.radians(15)) + 0.1 * 61 * 1.3
    assert down.abs().max() < reach
    assert along.abs().min() > 18 * math.cos(math.radians(15)) - 0.1 * 61 * 1.3


def test_turning_keeps_lengths_in_images_that_are_not_square() -> None:
    two = _spot(40, 80, 20, 30) + _spot(40, 80, 20, 50)
    apart = _spot(40, 80, 20, 50)
    middle, end = _places(_moved(two)), _places(_moved(apart))  # equal draws for equal seeds
    length = torch.hypot(end[0] - middle[0], end[1] - middle[1])
    assert (length - 10).abs().max() < 0.3


def test_members_draw_their_own_and_always_the_same() -> None:
    x = torch.rand(6, 3, 8, 8)
    both = _moved(x, (1, 2))
    assert both.shape == (2, 6, 3, 8, 8)
    assert not torch.equal(both[0], both[1])
    assert torch.allclose(both[1], _moved(x, (2,))[0])


def test_training_takes_it() -> None:
    data = first_samples(dt.load("digits"), 100)
    losses = [
        train_networks(
            data,
            "mlp:16",
            seeds=[0],
            epochs=1,
            pruning_epochs=0,
            augment=augment,
            device="cpu",
            progress=False,
        ).unpruned.test["loss"]
        for augment in (None, turned_shifted_mirrored)
    ]
    assert not torch.equal(*losses)
