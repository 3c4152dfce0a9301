"""Specialists without training: random weights behind random masks, which is all that composing needs."""

from __future__ import annotations

import torch

from dovetail.nets import NetSpec, build_net
from dovetail.prune import apply_masks, slot_masks
from dovetail.specialists import Blueprint, Provenance, Specialist
from dovetail.specialists.blueprint import pack
from dovetail.specialists.train import start_hash

CLASSES = ("ant", "bee", "cat", "dog", "eel")


def make_specialist(
    rewarded: tuple[int, ...],
    net: str = "mlp:12",
    *,
    seed: int = 0,
    density: float = 0.4,
    slots: bool = False,
    shape: tuple[int, ...] = (6,),
    classes: tuple[str, ...] = CLASSES,
    temperature: float = 5.0,
) -> Specialist:
    blueprint = Blueprint(NetSpec.parse(net), shape, classes, temperature)
    draw = torch.Generator().manual_seed(1000 * seed + sum(2**n for n in rewarded))
    network = build_net(net, shape, len(classes), seed=seed)
    state = {
        name: torch.rand(t.shape, generator=draw) + 0.5 if "running" in name else
        torch.randn(t.shape, generator=draw) if t.is_floating_point() else t
        for name, t in network.state_dict().items()
    }  # fmt: skip
    parameters = dict(network.named_parameters())
    masks = {name: torch.rand(t.shape, generator=draw) < density for name, t in parameters.items()}
    if slots:
        own = slot_masks(state, rewarded, len(classes))
        masks = {name: mask & masks[name] if name in masks else mask for name, mask in own.items()}
    state = apply_masks(state, masks)
    provenance = Provenance(
        seed, start_hash(blueprint, seed), "me", slots, "none", "0" * 16, {}, {"entropy": 1.5}
    )
    return Specialist(blueprint, rewarded, {n: pack(t, masks.get(n)) for n, t in state.items()}, provenance)


def make_team(count: int = 5, net: str = "mlp:12", *, slots: bool = False, seed: int = 0) -> list[Specialist]:
    return [make_specialist((number,), net, slots=slots, seed=seed) for number in range(count)]


def inputs(samples: int = 7, shape: tuple[int, ...] = (6,), seed: int = 3) -> torch.Tensor:
    return torch.randn(samples, *shape, generator=torch.Generator().manual_seed(seed))
