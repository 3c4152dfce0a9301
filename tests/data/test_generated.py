"""Lines, mixtures, random images and polynomials."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from dovetail.data import Dataset, load, registry
from dovetail.data.content import Content


def test_lines_are_whole_white_columns_counted_by_the_label() -> None:
    data = load("lines", train_samples=2000, test_samples=500)
    assert [len(split) for split in data.splits.values()] == [1600, 400, 500]
    assert data.classes[0] == "1 line"
    assert data.classes[9] == "10 lines"
    for split in data.splits.values():
        assert set(split.x.flatten().tolist()) == {0.0, 1.0}
        assert torch.equal(split.x, split.x[:, :, :1].expand_as(split.x))
        assert torch.equal(split.x[:, 0, 0].sum(1).to(torch.int64), split.y + 1)
        assert set(split.y.tolist()) == set(range(10))
        share = split.x[:, 0, 0].mean(0)
        assert share.min() > 0.1, "some column is hardly ever white"
        assert share.max() < 0.3, "some column is white too often"


def test_lines_have_the_sizes_of_mnist() -> None:
    assert [len(split) for split in load("lines").splits.values()] == [48_000, 12_000, 10_000]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("lines", {"train_samples": 100, "test_samples": 20}),
        ("random", {"samples": 100}),
        ("polynomials", {"samples": 100}),
    ],
)
def test_seeds_decide_and_splits_differ(name: str, options: dict[str, Any]) -> None:
    first, again, other = (load(name, None, seed=seed, **options) for seed in (1, 1, 2))
    assert first.fingerprint == again.fingerprint
    for split in ("train", "val", "test"):
        assert not torch.equal(first.splits[split].x, other.splits[split].x)
    assert not torch.equal(first.val.x[:20], first.test.x[:20])
    assert not torch.equal(first.train.x[:20], first.test.x[:20])


def test_random_images_are_uniform_with_unrelated_labels() -> None:
    data = load("random", samples=3000)
    assert [len(split) for split in data.splits.values()] == [3000, 1000, 1000]
    x, y = data.train
    assert x.dtype == torch.float32
    assert abs(float(x.mean()) - 1 / 2) < 1e-3
    assert abs(float(x.var()) - 1 / 12) < 1e-3
    assert torch.bincount(y).min() > 220
    assert len(torch.bincount(y)) == 10
    assert len(load("random", samples=12_000).val) == 2000


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """A small image set that is entered in the registry for one test."""
    monkeypatch.setattr(registry, "_ENTRIES", dict(registry._ENTRIES))

    @registry.register("small", kind="generated")
    def small() -> Content:
        splits = load("random", samples=1000).splits.values()
        return Content(list(splits), tuple("abcdefghij"))

    return load("small")


@pytest.mark.parametrize("kind", ["overlapping", "separate"])
def test_mixtures_take_lines_and_base_in_the_right_shares(base: Dataset, kind: str) -> None:
    data = load("mixture", kind=kind, base="small")
    assert data.classes == base.classes
    for name, split in data.splits.items():
        x, y = base.splits[name]
        assert torch.equal(split.y, y)
        from_base = (split.x[:, 0, 0] == x[:, 0, 0]).all(1)
        assert torch.equal(split.x[from_base], x[from_base])
        drawn = split.x[~from_base]
        assert torch.equal(drawn, drawn[:, :, :1].expand_as(drawn))
        assert torch.equal(drawn[:, 0, 0].sum(1).to(torch.int64), y[~from_base] + 1)
        if kind == "separate":
            assert torch.equal(from_base, y >= 5)
        else:
            assert int((~from_base).sum()) == len(y) // 2
            for label in range(10):
                of_class = from_base[y == label]
                assert abs(2 * int(of_class.sum()) - len(of_class)) <= 1


@pytest.mark.parametrize("kind", ["overlapping", "separate"])
def test_whole_mixtures_are_unions_of_lines_and_base(base: Dataset, kind: str) -> None:
    data = load("mixture", kind=kind, base="small", size="both")
    for name, split in data.splits.items():
        x, y = base.splits[name]
        is_lines = (split.x == split.x[:, :, :1]).flatten(1).all(1)
        # All images of the base that belong, each once, with their labels.
        belong = torch.ones(len(y), dtype=torch.bool) if kind == "overlapping" else y >= 5
        found, wanted = split.x[~is_lines].flatten(1), x[belong].flatten(1)
        first, second = (images[:, 0].argsort() for images in (found, wanted))
        assert torch.equal(found[first], wanted[second])
        assert torch.equal(split.y[~is_lines][first], y[belong][second])
        # As many lines as the base has images, less those of labels that do not belong.
        labels = split.y[is_lines]
        assert torch.equal(split.x[is_lines][:, 0, 0].sum(1).to(torch.int64), labels + 1)
        if kind == "overlapping":
            assert len(split) == 2 * len(y)
        else:
            assert set(labels.tolist()) == set(range(5))
            assert abs(len(labels) - len(y) / 2) < 0.1 * len(y)
        # Shuffled: both kinds all over.
        assert 0.3 < float(is_lines[: len(split) // 2].double().mean()) < 0.7


def test_mixture_seeds_decide(base: Dataset) -> None:
    first, other = (load("mixture", base="small", seed=seed).val for seed in (0, 1))
    assert not torch.equal(first.x, other.x)
    assert torch.equal(first.y, other.y)


def test_polynomials_have_the_values_their_names_say() -> None:
    data = load("polynomials", samples=50)
    assert data.task == "values"
    assert data.input_shape == (2,)
    assert [len(split) for split in data.splits.values()] == [50, 10_000, 10_000]
    assert len(set(data.classes)) == 512
    assert data.classes[0] == "0"
    assert {"x^2y + y", "1", "x^2y^2 + x^2y + x^2 + xy^2 + xy + x + y^2 + y + 1"} <= set(data.classes)
    inputs = data.train.x.double()
    assert abs(float(data.val.x.std()) - 1) < 0.02
    assert abs(float(data.val.x.mean())) < 0.02
    for output, name in enumerate(data.classes):
        expected = torch.zeros(50, dtype=torch.float64)
        for term in name.split(" + "):
            parts = re.fullmatch(r"(?:x(\^2)?)?(?:y(\^2)?)?", term) if term not in ("0", "1") else None
            if parts:
                x_power = ("x" in term) + (parts[1] is not None)
                y_power = ("y" in term) + (parts[2] is not None)
                expected += inputs[:, 0] ** x_power * inputs[:, 1] ** y_power
            else:
                expected += float(term)
        assert torch.allclose(data.train.y[:, output].double(), expected, atol=1e-4, rtol=1e-5), name
