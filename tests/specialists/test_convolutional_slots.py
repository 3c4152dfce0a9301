"""Narrow ResNets and VGGs in slots: trained as small networks, put in their places, added and dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import dovetail as dt
from dovetail.data import Dataset, Split
from dovetail.nets import NetSpec
from dovetail.specialists import Blueprint, Team
from dovetail.specialists.layouts import SmallSlots, layouts

DIGITS = dt.load("digits")
CLASSES = DIGITS.classes[:4]


def images(side: int) -> Dataset:
    """Return a few images of four digits, larger than they are."""

    def some(split: Split, count: int) -> Split:
        rows = (split.y < len(CLASSES)).nonzero().squeeze(1)[:count]
        return Split(F.interpolate(split.x[rows], (side, side)), split.y[rows])

    parts = (some(DIGITS.train, 120), some(DIGITS.val, 60), some(DIGITS.test, 60))
    return Dataset("images", *parts, CLASSES)


DATA = {"resnet18:9": images(8), "vgg11:4": images(32), "vgg16:5": images(32), "resnet-stage:10": images(8)}
TRAINING: dict[str, Any] = {
    "slots": True, "epochs": 2, "batch_size": 30, "patience": None, "keep": "last", "optimizer": "sgd", "lr": 0.02,
    "schedule": "one-cycle", "device": "cpu", "progress": False,
}  # fmt: skip
TEAMS: dict[str, Team] = {}


def trained(net: str) -> Team:
    if net not in TEAMS:
        TEAMS[net] = dt.train_specialists(DATA[net], net, [0, 1, (2, 3)], **TRAINING)
    return TEAMS[net]


pytestmark = pytest.mark.filterwarnings("ignore:.*learned nothing")


@pytest.mark.parametrize(
    "net", [pytest.param(net, marks=pytest.mark.slow) if net.startswith("vgg16") else net for net in DATA]
)
def test_the_sum_is_the_sum_of_logits_and_dropping_is_never_having_added(net: str) -> None:
    team, x = trained(net), DATA[net].test.x
    whole = dt.compose(team)
    with torch.no_grad():
        logits = [part(x) for part in team]
        scale = max(float(each.abs().max()) for each in logits)
        torch.testing.assert_close(whole(x), sum(logits), atol=1e-5 * scale, rtol=1e-5)
        assert len({float(each.abs().sum()) for each in logits}) == 3
        never = dt.compose([team[0], team[2]])
        less = whole.without(1)
        assert less == never
        assert torch.equal(less(x), never(x))
        assert all(torch.equal(t, never.state_dict()[name]) for name, t in less.state_dict().items())
    assert whole == sum(reversed(team[1:]), team[0])


@pytest.mark.parametrize("net", ["resnet18:9", "resnet-stage:10"])
def test_small_networks_learn_what_the_large_one_behind_masks_does(
    net: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = trained(net)
    monkeypatch.setattr("dovetail.specialists.layouts.slot_net", lambda *_: None)
    masked = dt.train_specialists(DATA[net], net, [0, 1, (2, 3)], **TRAINING)
    for a, b in zip(small, masked, strict=True):
        for name, tensor in a.state.items():
            torch.testing.assert_close(tensor, b.state[name], atol=2e-4, rtol=2e-3)
        assert all(torch.equal(a.masks[name], b.masks[name]) for name in a.masks)


@pytest.mark.parametrize("net", DATA)
def test_a_slot_is_a_narrow_network_of_the_same_kind(net: str) -> None:
    spec = NetSpec.parse(net)
    blueprint = Blueprint(spec, DATA[net].input_shape, CLASSES, 5.0)
    ((layout, _),) = layouts(blueprint, [(0, (1,))], slots=True)
    assert isinstance(layout, SmallSlots)
    (width,) = spec.sizes
    assert layout.net == NetSpec(spec.name, (-(-width // 4),), spec.options)


def test_statistics_of_batch_norm_are_each_units_own(tmp_path: Path) -> None:
    team = trained("resnet18:9")
    whole = dt.compose(team).state_dict()
    names = [name for name in whole if name.endswith("running_var")]
    assert len(names) == 20
    for name in names:
        parts = [part.state[name] for part in team]
        assert bool((torch.stack(parts).count_nonzero(0) == 1).all()), name
        assert torch.equal(whole[name], torch.stack(parts).sum(0))
    opened = dt.open(dt.compose(team).save(tmp_path / "whole.safetensors"), dt.Composite)
    with torch.no_grad():
        assert torch.equal(opened(DATA["resnet18:9"].test.x), dt.compose(team)(DATA["resnet18:9"].test.x))


@pytest.mark.slow
def test_narrow_resnets_in_slots_learn() -> None:
    data = DATA["resnet18:9"]
    options = {**TRAINING, "epochs": 12, "lr": 0.1, "batch_size": 20}
    score = dt.compose(dt.train_specialists(data, "resnet18:16", **options)).evaluate(data.test)
    assert score.rewarded_accuracy > 0.85


def test_too_narrow_a_network_is_refused() -> None:
    with pytest.raises(
        dt.DovetailError, match=r"'stem\.conv\.weight' has 3 units, fewer than the 4 that share them"
    ):
        dt.train_specialists(DATA["resnet18:9"], "resnet18:3", **TRAINING)
    with pytest.raises(dt.DovetailError, match="has only 3; make it wider"):
        dt.train_specialists(DATA["resnet-stage:10"], "resnet-stage:3", **TRAINING)
