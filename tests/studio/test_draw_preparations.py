"""Drawings become images like those of the data: whatever their size, place and slant, a classifier reads them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.svm import SVC
from torch.nn import functional as F

import dovetail as dt
from dovetail.data import presence
from dovetail.errors import DataError, SpecError
from dovetail.specialists import open_file
from dovetail.studio.draw.pad import SIDE, Ink, read_ink
from dovetail.studio.draw.preparations import (
    PREPARATIONS,
    as_digits,
    as_fashion,
    as_mnist,
    prepared,
    resampled,
)

from .scripted_drawings import scripted_drawings
from .strokes import Points, drawn, line, placed

PEN = 9
"""As on the page."""

WAYS = [as_digits, as_mnist, as_fashion]


@cache
def everywhere(digit: int) -> list[Ink]:
    """Return a digit in several sizes and proportions, in the middle and in corners of the pad."""
    pads = []
    for height, ratio, place in product((45, 65, 90), (0.5, 0.65, 0.8), (0.1, 0.5, 0.9)):
        width = height * ratio
        left, top = (6 + place * (SIDE - 12 - extent) for extent in (width, height))
        pads.append(drawn(placed(digit, left, top, width, height), PEN))
    return pads


@pytest.fixture(scope="module")
def judge() -> SVC:
    """A classifier of scikit-learn's that was trained on images of `digits` alone."""
    train = dt.load("digits").train
    return SVC(gamma=0.2, C=10).fit(train.x.flatten(1).numpy(), train.y.numpy())


@pytest.mark.parametrize("digit", range(10))
def test_digits_are_read_in_any_size_and_place(judge: SVC, digit: int) -> None:
    images = np.stack([as_digits(pad) for pad in everywhere(digit)])
    said = judge.predict(images.reshape(len(images), -1))
    assert (said == digit).mean() >= 0.9, np.bincount(said, minlength=10)


def test_most_ways_to_write_are_read(judge: SVC) -> None:
    drawings = scripted_drawings("choose")
    said = judge.predict(np.stack([as_digits(one.ink) for one in drawings]).reshape(len(drawings), -1))
    assert (said == [one.digit for one in drawings]).mean() >= 0.85


@pytest.mark.parametrize("digit", [0, 1])
def test_composite_reads_what_the_browser_tests_draw(parts_folder: Path, digit: int) -> None:
    composite = dt.compose([open_file(file) for file in sorted(parts_folder.glob("*.safetensors"))])
    images = torch.from_numpy(np.stack([as_digits(pad) for pad in everywhere(digit)])).float()
    assert (composite(images[:, None]).argmax(1) == digit).float().mean() >= 0.95


@pytest.mark.parametrize("prepare", WAYS)
def test_place_does_not_matter(prepare: Callable[[Ink], Ink]) -> None:
    corner, middle = (drawn(placed(5, at, at, 40, 60), PEN) for at in (8, 31))
    np.testing.assert_allclose(prepare(corner), prepare(middle), atol=1e-9)


def test_images_of_digits_have_the_ink_and_the_extent_of_the_data() -> None:
    real = dt.load("digits").train.x[:, 0].numpy()
    ours = np.stack([as_digits(pad) for digit in range(10) for pad in everywhere(digit)])
    low, high = np.percentile(real.sum((1, 2)), [1, 99])
    inside = (ours.sum((1, 2)) >= low) & (ours.sum((1, 2)) <= high)
    assert inside.mean() > 0.9  # one in ten is a line as straight as only a mouse draws it, with less ink
    assert ours.any(2).all(), "an image does not fill all rows, and all of the data do"
    np.testing.assert_array_equal(ours * 16, np.rint(ours * 16))


def test_slanted_digits_stand_upright() -> None:
    upright, slanted = (as_digits(drawn([line((x, 10), (40, 100))], PEN)) for x in (40, 75))
    for image in (upright, slanted):
        columns = image.sum(0)
        assert columns[3] + columns[4] > 0.75 * columns.sum()


def test_own_images_of_digits_survive_the_pad() -> None:
    test = dt.load("digits").test
    pads = F.interpolate(test.x, size=SIDE, mode="bilinear")[:, 0].numpy()
    again = np.stack([as_digits(pad) for pad in pads]).reshape(len(pads), -1)
    own = test.x.flatten(1).numpy()
    likeness = [np.corrcoef(a, b)[0, 1] for a, b in zip(again, own, strict=True)]
    assert np.median(likeness) > 0.9


def test_mnist_images_are_centred_by_mass_in_their_box() -> None:
    image = as_mnist(drawn(placed(7, 10, 20, 50, 80), PEN))
    rows, columns = np.nonzero(image > 0.05)
    assert max(np.ptp(rows), np.ptp(columns)) + 1 in (20, 21, 22)
    places = np.arange(28) + 0.5
    middle = [float((image.sum(axis) * places).sum() / image.sum()) for axis in (1, 0)]
    np.testing.assert_allclose(middle, 14.5, atol=0.01)
    assert 0 <= image.min() <= image.max() <= 1 + 1e-9


def test_small_drawings_do_not_get_fat_strokes() -> None:
    inks = [as_mnist(drawn(placed(0, 30, 30, size * 0.7, size), PEN)).sum() for size in (30, 90)]
    assert inks[0] < 1.5 * inks[1]


def test_fashion_fills_the_image_and_the_outline() -> None:
    outline: list[Points] = [line((30, 20), (80, 20), (80, 100), (30, 100), (30, 20))]
    image = as_fashion(drawn(outline, 3))
    assert image[2:-2, 14].min() == pytest.approx(1)
    assert min(image[0, 14], image[-1, 14]) > 0.5
    assert image[14, 0] == image[14, -1] == 0


@pytest.mark.skipif(not presence("mnist").here, reason="MNIST is not on this machine")
def test_own_images_of_mnist_survive_the_pad() -> None:
    images = dt.load("mnist").test.x[:200]
    pads = F.interpolate(images, size=SIDE, mode="bilinear")[:, 0].numpy()
    again = np.stack([as_mnist(pad) for pad in pads])
    assert np.abs(again - images[:, 0].numpy()).mean() < 0.04


@pytest.mark.parametrize("name", sorted(PREPARATIONS))
@pytest.mark.parametrize(
    "pad", [np.ones((SIDE, SIDE)), np.pad(np.ones((1, 1)), ((0, SIDE - 1), (0, SIDE - 1)))]
)
def test_a_full_pad_and_a_single_dot_give_finite_inputs(name: str, pad: NDArray[np.float64]) -> None:
    x = prepared(pad, name)
    assert x.isfinite().all()
    assert x.max() <= 1
    assert x.sum() > 0


def test_resampling_keeps_the_amount_of_ink() -> None:
    pad = drawn(placed(8, 40, 30, 30, 50), PEN)
    half = resampled(pad, 80, (55, 55), (0.5, 0.5))
    assert half.sum() == pytest.approx(pad.sum() / 4)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("not base64!", "sent as base64"),
        (base64.b64encode(bytes(10)).decode(), "112 × 112 pixels, not 10"),
        (base64.b64encode(bytes(SIDE * SIDE)).decode(), "nothing on the pad"),
    ],
)
def test_what_is_no_drawing_is_refused(text: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_ink(text)


def test_data_that_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(SpecError, match=r"'cifar10' cannot be drawn; .* specialists of digits"):
        prepared(np.ones((SIDE, SIDE)), "cifar10")
