from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import ShapeError, SpecError
from dovetail.nets import build_net
from dovetail.prune import apply_masks_, mask_units


@pytest.mark.parametrize(
    ("spec", "layers"),
    [
        ("mlp:6-5,dropout=0", {"dense1_relu": "dense1.weight", "dense2_relu": "dense2.weight"}),
        ("lenet:4-6-5", {"conv1_relu": "conv1.weight", "dense1_relu": "dense1.weight"}),
        ("lenet:4-6-5,batch_norm=true", {"conv1_relu": "conv1.weight", "dense2_relu": "dense2.weight"}),
    ],
)
def test_masked_units_are_as_if_their_activations_were_zero(spec: str, layers: dict[str, str]) -> None:
    net = build_net(spec, (1, 8, 8), 3, seed=0).eval()
    parameters = dict(net.named_parameters())
    generator = torch.Generator().manual_seed(1)
    kept = {
        relu: torch.rand(len(parameters[weight]), generator=generator) < 0.5
        for relu, weight in layers.items()
    }
    x = torch.randn(4, 1, 8, 8, generator=generator)
    modules = dict(net.named_modules())

    def silence(name: str) -> None:
        def hook(module: torch.nn.Module, inputs: object, output: torch.Tensor) -> torch.Tensor:
            return output * kept[name].view(1, -1, *[1] * (output.dim() - 2))

        handles.append(modules[name].register_forward_hook(hook))

    handles: list[torch.utils.hooks.RemovableHandle] = []
    for name in kept:
        silence(name)
    expected = net(x)
    for handle in handles:
        handle.remove()
    whole = net(x)
    masks = mask_units(parameters, kept, layers)
    apply_masks_(parameters, masks)
    torch.testing.assert_close(net(x), expected)
    assert not torch.allclose(whole, expected)
    for name, weight in layers.items():
        assert not masks[weight][~kept[name]].any()
    assert masks["output.weight"].any()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_members_get_what_they_would_get_alone(seed: int, members: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    shapes = {"conv": (3, 2, 2, 2), "bias": (3,), "dense": (4, 12), "output": (2, 4)}
    masks = {n: torch.rand(members, *s, generator=generator) < 0.8 for n, s in shapes.items()}
    kept = {n: torch.rand(members, shapes[n][0], generator=generator) < 0.5 for n in ("conv", "dense")}
    together = mask_units(masks, kept, population=True)
    for member in range(members):
        alone = mask_units({n: m[member] for n, m in masks.items()}, {n: k[member] for n, k in kept.items()})
        for name in shapes:
            assert torch.equal(together[name][member], alone[name])
            assert not (alone[name] & ~masks[name][member]).any()


def test_flattened_channels_are_channel_major() -> None:
    masks = mask_units(
        {"conv": torch.zeros(2, 1, 3, 3), "dense": torch.zeros(1, 6)}, {"conv": torch.tensor([True, False])}
    )
    assert masks["dense"].tolist() == [[True, True, True, False, False, False]]


def test_what_is_wrong_is_said() -> None:
    net = {"a": torch.zeros(3, 2), "b": torch.zeros(2, 3)}
    with pytest.raises(ShapeError, match="3 units"):
        mask_units(net, {"a": torch.ones(2, dtype=torch.bool)})
    with pytest.raises(ShapeError, match="bool"):
        mask_units(net, {"a": torch.ones(3)})
    with pytest.raises(SpecError, match="unknown layer 'c'"):
        mask_units(net, {"c": torch.ones(3, dtype=torch.bool)})
    with pytest.raises(ShapeError, match=r"(?s)'b'.*'a'"):
        mask_units(net | {"b": torch.zeros(2, 4)}, {"a": torch.ones(3, dtype=torch.bool)})
