from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.func import functional_call

from dovetail.errors import ShapeError, SpecError
from dovetail.nets import build_net
from dovetail.prune import apply_masks, slot_masks


def owned(spec: str, shape: tuple[int, ...], owners: int) -> list[dict[str, torch.Tensor]]:
    """State of one network for each owner, all with weights of their own, each in its slot."""
    states = []
    for owner in range(owners):
        generator = torch.Generator().manual_seed(owner)
        state = build_net(spec, shape, 5, seed=owner).state_dict()
        for name, tensor in state.items():
            if "norm" in name and tensor.dim():
                tensor.copy_(torch.rand(tensor.shape, generator=generator) + 0.5)
        states.append(apply_masks(state, slot_masks(state, owner, owners)))
    return states


@pytest.mark.parametrize(
    ("spec", "shape", "owners"),
    [
        ("mlp:13-7,output_bias=true", (2, 3), 3),
        ("lenet:7-9-6", (2, 8, 8), 3),
        ("lenet:7-9-6,batch_norm=true", (2, 8, 8), 3),
        ("small-cnn", (1, 8, 8), 4),
        ("resnet18,batch_norm=false", (1, 2, 2), 2),
        ("resnet18", (1, 2, 2), 2),
        ("mlp", (6,), 3),
    ],
)
def test_summed_weights_compute_summed_logits(spec: str, shape: tuple[int, ...], owners: int) -> None:
    states = owned(spec, shape, owners)
    x = torch.randn(4, *shape, generator=torch.Generator().manual_seed(99))
    net = build_net(spec, shape, 5).eval()
    with torch.no_grad():
        logits = torch.stack([functional_call(net, state, (x,)) for state in states]).sum(0)
        merged = {name: torch.stack([state[name] for state in states]).sum(0) for name in states[0]}
        torch.testing.assert_close(functional_call(net, merged, (x,)), logits, rtol=1e-4, atol=1e-4)
        assert float(logits.std()) > 1e-3


@pytest.mark.parametrize("spec", ["mlp:13-10", "lenet:7-9-6", "small-cnn", "vgg16", "resnet18"])
def test_owners_share_no_hidden_parameter_and_leave_no_unit_out(spec: str) -> None:
    net = build_net(spec, (1, 32, 32), 5)
    tensors = dict(net.named_parameters())
    owners = 3
    taken = {name: torch.zeros(t.shape, dtype=torch.uint8) for name, t in tensors.items()}
    for owner in range(owners):
        for name, mask in slot_masks(tensors, owner, owners).items():
            assert mask.shape == tensors[name].shape
            taken[name] += mask
    for name, count in taken.items():
        if name == "output.bias":
            assert bool((count == owners).all())
        elif name == "output.weight" or count.dim() == 1:
            assert bool((count == 1).all())
        else:
            assert int(count.max()) == 1
            assert bool(count.flatten(1).any(1).all())


def test_slots_by_hand() -> None:
    tensors = {
        "a": torch.zeros(5, 2),
        "a_bias": torch.zeros(5),
        "b": torch.zeros(3, 5),
        "out": torch.zeros(2, 3),
        "out_bias": torch.zeros(2),
    }
    masks = slot_masks(tensors, 1, 3)
    rows = torch.tensor([False, True, True, False, False])  # floor(5/3) up to floor(10/3)
    assert torch.equal(masks["a"], rows[:, None].expand(5, 2))
    assert torch.equal(masks["a_bias"], rows)
    middle = torch.tensor([False, True, False])
    assert torch.equal(masks["b"], middle[:, None] & rows)
    assert torch.equal(masks["out"], middle.expand(2, 3))
    assert masks["out_bias"].all()


def test_what_is_wrong_is_said() -> None:
    tensors = {"a": torch.zeros(5, 2), "out": torch.zeros(2, 5)}
    with pytest.raises(ShapeError, match=r"'a' has 5 units.* at least 6 wide"):
        slot_masks(tensors, 0, 6)
    with pytest.raises(SpecError, match="got 3"):
        slot_masks(tensors, 3, 3)
    with pytest.raises(SpecError, match="got -1"):
        slot_masks(tensors, -1, 3)
    with pytest.raises(SpecError, match="at least one owner"):
        slot_masks(tensors, [], 3)
    with pytest.raises(SpecError, match="got owners=-1"):
        slot_masks(tensors, 0, -1)
    with pytest.raises(SpecError, match=r"got 1\.5"):
        slot_masks(tensors, [0, 1.5], 3)  # type: ignore[list-item]
    with pytest.raises(SpecError, match=r"got 1\.5"):
        slot_masks(tensors, 1.5, 3)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="belongs to no layer"):
        slot_masks({"scale": torch.ones(2), **tensors}, 0, 3)
    depthwise = {"a": torch.zeros(4, 3, 3, 3), "each": torch.zeros(4, 1, 3, 3), "out": torch.zeros(2, 4)}
    with pytest.raises(ShapeError, match="'each'"):
        slot_masks(depthwise, 0, 2)


@pytest.mark.parametrize("width", [6, 7, 8])
def test_a_slot_of_several_owners_is_their_shares_fully_connected(width: int) -> None:
    net = {"a": torch.zeros(width, 2), "b": torch.zeros(width + 1, width), "out": torch.zeros(2, width + 1)}
    one, two, both = slot_masks(net, 0, 3), slot_masks(net, 2, 3), slot_masks(net, [0, 2], 3)
    assert torch.equal(both["a"], one["a"] | two["a"])
    assert torch.equal(both["out"], one["out"] | two["out"])
    rows, columns = both["b"].any(1), both["b"].any(0)
    assert torch.equal(both["b"], rows[:, None] & columns)
    for numbers in (np.array([0, 2]), torch.tensor([0, 2])):
        again = slot_masks(net, numbers, 3)
        assert all(torch.equal(again[name], mask) for name, mask in both.items())
