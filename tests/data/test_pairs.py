"""Halves, stack, two digits, digit exclusive or and averaged images, all built on the embedded digits."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dovetail.data import Dataset, load

Known = dict[bytes, int]


@pytest.fixture(scope="module")
def digits() -> Dataset:
    return load("digits")


def key(image: Tensor) -> bytes:
    return image.contiguous().numpy().tobytes()


def known_images(digits: Dataset) -> dict[str, Known]:
    """Return the label of every image, split by split; the images are all different."""
    known = {
        name: {key(image): label for image, label in zip(split.x[:, 0], split.y.tolist(), strict=True)}
        for name, split in digits.splits.items()
    }
    assert sum(map(len, known.values())) == 1797
    return known


def labels_of(images: Tensor, known: Known) -> Tensor:
    """Look every image up in one split; an image from another split would be a KeyError."""
    return torch.tensor([known[key(image)] for image in images])


@pytest.mark.parametrize("variant", ["same", "diff"])
def test_stack_pairs_images_of_one_split_with_the_right_label(digits: Dataset, variant: str) -> None:
    known = known_images(digits)
    data = load("stack", base="digits", variant=variant)
    assert data.input_shape == (2, 8, 8)
    for name, split in data.splits.items():
        first, second = (labels_of(split.x[:, channel], known[name]) for channel in (0, 1))
        if variant == "same":
            assert torch.equal(first, second)
            assert torch.equal(split.y, first)
        else:
            assert torch.equal(split.y, (first + second) % 10)
            assert (first != second).float().mean() > 0.8
        assert not (split.x[:, 0] == split.x[:, 1]).flatten(1).all(1).any(), "an image is its own partner"
        assert len({key(image) for image in split.x[:, 1]}) == len(split), "a partner was used twice"


@pytest.mark.parametrize("variant", ["same", "diff"])
def test_halves_is_stack_squeezed_side_by_side(variant: str) -> None:
    halves, stack = (load(name, base="digits", variant=variant, seed=3) for name in ("halves", "stack"))
    assert halves.input_shape == (1, 8, 8)
    for name, split in halves.splits.items():
        assert torch.equal(split.y, stack.splits[name].y)
        assert split.x.min() >= 0
        assert split.x.max() <= 1
        for place, channel in ((slice(0, 4), 0), (slice(4, 8), 1)):
            pixels = stack.splits[name].x[:, channel]
            # Antialiased to half width, column j is a tent over the columns 2j-1 .. 2j+2, weights 1 3 3 1.
            tent = sum(
                weight * pixels[..., start::2][..., :2]
                for weight, start in ((1 / 8, 1), (3 / 8, 2), (3 / 8, 3), (1 / 8, 4))
            )
            assert torch.allclose(split.x[:, 0, :, place][..., 1:3], torch.as_tensor(tent), atol=1e-5)


@pytest.mark.parametrize("name", ["halves", "stack", "two-digits", "digit-xor"])
def test_seeds_decide(name: str) -> None:
    options = {"pairs": 10} if name in ("two-digits", "digit-xor") else {"variant": "diff"}
    first, again, other = (load(name, base="digits", seed=seed, **options) for seed in (1, 1, 2))
    assert first.fingerprint == again.fingerprint
    for split in ("train", "val", "test"):
        assert not torch.equal(first.splits[split].x, other.splits[split].x)


def test_two_digits_tells_both_and_keeps_sources_apart(digits: Dataset) -> None:
    known = known_images(digits)
    data = load("two-digits", base="digits", pairs=20)
    assert data.task == "bits"
    assert data.input_shape == (1, 8, 16)
    assert data.classes[0] == "left 0"
    assert data.classes[19] == "right 9"
    for (name, split), each in zip(data.splits.items(), (16, 4, 4), strict=True):
        left, right = (labels_of(part, known[name]) for part in split.x[:, 0].chunk(2, dim=2))
        assert torch.equal(split.y[:, :10].argmax(1), left)
        assert torch.equal(split.y[:, 10:].argmax(1), right)
        assert torch.equal(split.y.sum(1), torch.full((len(split),), 2.0))
        assert torch.equal(torch.bincount(10 * left + right), torch.full((100,), each))
        assert not torch.equal(left, left.sort().values), "combinations come in order"


def test_digit_xor_computes_on_digits_below_eight(digits: Dataset) -> None:
    known = known_images(digits)
    data = load("digit-xor", base="digits", pairs=10)
    assert data.classes == ("bit 4", "bit 2", "bit 1")
    for (name, split), each in zip(data.splits.items(), (8, 2, 2), strict=True):
        left, right = (labels_of(part, known[name]) for part in split.x[:, 0].chunk(2, dim=2))
        bits = split.y.to(torch.int64)
        assert torch.equal(4 * bits[:, 0] + 2 * bits[:, 1] + bits[:, 2], left ^ right)
        assert torch.equal(torch.bincount(8 * left + right), torch.full((64,), each))


def test_averaged_images_hold_the_mean_of_each_block(digits: Dataset) -> None:
    data = load("mnist-7x7", base="digits")
    assert data.input_shape == (1, 2, 2)
    for name, split in data.splits.items():
        blocks = digits.splits[name].x.view(-1, 1, 2, 4, 2, 4).mean((3, 5))
        assert torch.allclose(split.x, blocks)
        assert torch.equal(split.y, digits.splits[name].y)
