"""Networks that shift and scale their inputs: the same as other inputs to the plain network, everywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import dovetail as dt
from dovetail.errors import MisfitError, SpecError
from dovetail.nets import ARCHITECTURES, NetSpec

SHAPES = {"mlp": (7,)}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_same_weights_see_other_inputs(name: str) -> None:
    shape = SHAPES.get(name, (1, 32, 32))
    plain = dt.build_net(name, shape, 3, seed=0).eval()
    scaled = dt.build_net(f"{name}:shift=0.5,scale=0.25", shape, 3, seed=0).eval()
    assert list(scaled.state_dict()) == list(plain.state_dict())
    x = torch.rand(4, *shape)
    torch.testing.assert_close(scaled(x), plain((x - 0.5) / 0.25))


def test_a_spec_says_so_and_only_then() -> None:
    assert str(NetSpec.parse("mlp:8,scale=0.50,shift=.5")) == "mlp:8,shift=0.5,scale=0.5"
    assert str(NetSpec.parse("mlp:8,shift=0,scale=1")) == "mlp:8"
    assert not hasattr(dt.build_net("mlp:8", (4,), 2), "inputs")


@pytest.mark.parametrize("wrong", ["scale=0", "scale=-1", "shift=nan", "shift=true", "scale=1e400"])
def test_wrong_numbers_are_refused(wrong: str) -> None:
    with pytest.raises(SpecError, match="must be a number"):
        NetSpec.parse(f"mlp:8,{wrong}")


@pytest.mark.parametrize("options", [{"sparsity": 0.9}, {"slots": True}])
def test_specialists_learn_what_they_learn_of_scaled_data(options: dict[str, object], tmp_path: Path) -> None:
    """Trained, saved, opened, composed and measured on the data as it is."""
    data = dt.load("digits")
    splits = [dt.Split((x - 0.5) / 0.5, y) for x, y in data.splits.values()]
    scaled = replace(data, train=splits[0], val=splits[1], test=splits[2])
    train = {"epochs": 3, "progress": False, "device": "cpu", **options}
    inside = dt.train_specialists(data, "mlp:40,shift=0.5,scale=0.5", [3, 8], **train)  # type: ignore[arg-type]
    outside = dt.train_specialists(scaled, "mlp:40", [3, 8], **train)  # type: ignore[arg-type]
    for a, b in zip(inside, outside, strict=True):
        for name, tensor in a.state.items():
            torch.testing.assert_close(tensor, b.state[name])
    opened = [dt.open(part.save(tmp_path / f"{part.knows}.safetensors")) for part in inside]
    torch.testing.assert_close(
        dt.compose(opened)(data.test.x),  # type: ignore[arg-type]
        dt.compose(outside)(scaled.test.x),
    )
    with pytest.raises(MisfitError, match=r"different networks, mlp:40,shift=0\.5,scale=0\.5 and mlp:40"):
        inside[0] + outside[1]
