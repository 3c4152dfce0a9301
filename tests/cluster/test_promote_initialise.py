"""Clusterable initialisation: factors by tags, means that stay, tags of each seed's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dovetail as dt
from dovetail.cluster.promote import clusterable_init_, clusterable_weights
from dovetail.errors import ShapeError, SpecError, TrainingError

from .graphs import Backwards


def factors(spec: str, shape: tuple[int, ...], outputs: int = 10, **options: object) -> dict[str, Tensor]:
    """Return by what each weight and bias was multiplied."""
    model = dt.build_net(spec, shape, outputs, seed=0).double()
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(1)
    clusterable_init_(model, example_input=torch.zeros(1, *shape), **options)  # type: ignore[arg-type]
    found = {name: parameter.detach() for name, parameter in model.named_parameters()}
    assert found.keys() == before.keys()
    return found


def tags_after(factor: Tensor, tags: Tensor, strong: float, beta: float) -> Tensor:
    """Read the tags of a layer's units off its factors, given those of the units before; check every one."""
    found = torch.full((len(factor),), -1)
    for unit, row in enumerate(factor):
        equal = row > 1
        torch.testing.assert_close(row, torch.where(equal, strong, beta).to(row))
        if equal.any():
            tag = tags[equal.nonzero()[0, 0]]
            found[unit] = tag
            assert torch.equal(equal, tags == tag)
    return found


def test_outputs_have_the_tags_of_their_classes_and_each_hidden_unit_has_one() -> None:
    clusters, beta, strong = 5, 0.6, 1 + 0.4 * 4
    found = factors("mlp:40-40-40", (7,), outputs=12, clusters=clusters, beta=beta, seed=3)
    assert bool((found["dense1.weight"] == 1).all())
    assert all(bool((factor == 1).all()) for name, factor in found.items() if "bias" in name)
    # From the outputs backwards: an output's tag is known, and so are those of units it is strong with.
    last = found["output.weight"]
    tags = tags_after(last.T, torch.arange(12) % clusters, strong, beta)
    assert bool((tags >= 0).all())
    for name in ("dense3.weight", "dense2.weight"):
        tags = tags_after(found[name].T, tags, strong, beta)
        assert bool((tags >= 0).all())
    assert len(tags.unique()) == clusters


def test_the_mean_magnitude_stays() -> None:
    found = factors("mlp:500-500", (3,), clusters=10, beta=0.6)
    assert abs(float(found["dense2.weight"].mean()) - 1) < 0.02


def test_convolutions_by_channel_and_dense_layers_by_the_channel_they_read() -> None:
    clusters, beta, strong = 10, 0.8, 1 + 0.2 * 9
    found = factors("small-cnn", (1, 8, 8), clusters=clusters, beta=beta)
    assert bool((found["conv1.weight"] == 1).all())
    for name in ("conv2.weight", "conv3.weight"):
        kernel = found[name]
        assert bool((kernel == kernel[:, :, :1, :1]).all())
    dense = found["dense1.weight"].view(128, 64, 4)  # 64 channels of 2 x 2 values
    assert bool((dense == dense[:, :, :1]).all())
    tags = tags_after(found["output.weight"].T, torch.arange(10), strong, beta)
    tags = tags_after(dense[:, :, 0].T, tags, strong, beta)
    tags = tags_after(found["conv3.weight"][:, :, 0, 0].T, tags, strong, beta)
    tags_after(found["conv2.weight"][:, :, 0, 0].T, tags, strong, beta)


def test_the_seed_decides_on_the_tags() -> None:
    once, again, other = (factors("mlp:30-30", (3,), seed=seed) for seed in (1, 1, 2))
    assert torch.equal(once["dense2.weight"], again["dense2.weight"])
    assert not torch.equal(once["dense2.weight"], other["dense2.weight"])


def test_members_get_what_they_would_alone_and_beta_one_leaves_a_member_out() -> None:
    build = dt.net_builder("mlp:20-20", (5,), 4)
    population = dt.Population(build, seeds=[7, 8, 9], device="cpu")
    betas = torch.tensor([0.5, 1.0, 0.7])
    changed = clusterable_weights(population.params, population.seeds, clusters=4, beta=betas)
    assert set(changed) == {"dense2.weight", "output.weight"}
    for place, seed in enumerate(population.seeds):
        network = population.member(place)
        clusterable_init_(network, clusters=4, beta=float(betas[place]), seed=seed)
        for name, weight in changed.items():
            torch.testing.assert_close(weight[place], network.get_parameter(name).detach())
    assert all(torch.equal(weight[1], population.params[name][1]) for name, weight in changed.items())


def test_layers_are_taken_in_the_order_of_their_use() -> None:
    network = Backwards()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.fill_(1)
    clusterable_init_(network, clusters=3, beta=0.5)
    assert bool((network.first.weight == 1).all())
    tags = tags_after(network.last.weight.detach().T, torch.arange(6) % 3, 2.0, 0.5)
    tags_after(network.second.weight.detach().T, tags, 2.0, 0.5)
    assert len(network.second.weight.unique()) == 2


def test_numpy_integers_are_whole_numbers() -> None:
    plain, numpy = (factors("mlp:30-30", (3,), clusters=clusters) for clusters in (4, np.int64(4)))
    assert torch.equal(plain["dense2.weight"], numpy["dense2.weight"])


def test_what_makes_no_sense_is_refused() -> None:
    network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    for beta in (-0.1, 1.2, float("nan")):
        with pytest.raises(SpecError, match="beta must be from 0"):
            clusterable_init_(network, beta=beta)
    for no_number in ("a", None):
        with pytest.raises(SpecError, match="beta must be a number"):
            clusterable_init_(network, beta=no_number)  # type: ignore[arg-type]
    for clusters in (0, True, 2.0, "a"):
        with pytest.raises(SpecError, match="clusters must be"):
            clusterable_init_(network, clusters=clusters)  # type: ignore[arg-type]
    with pytest.raises(TrainingError, match="seed"):
        clusterable_init_(network, seed="a")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="no layers with weights"):
        clusterable_init_(nn.ReLU())
    for model in (None, [network]):
        with pytest.raises(SpecError, match=r"nn\.Module"):
            clusterable_init_(model)  # type: ignore[arg-type]
    params = {name: param[None] for name, param in network.named_parameters()}
    with pytest.raises(ShapeError, match="one number or 1"):
        clusterable_weights(params, [0], beta=torch.tensor([0.5, 0.6]))
    with pytest.raises(ShapeError, match="form a chain"):
        clusterable_init_(dt.build_net("resnet18", (1, 8, 8), 4), example_input=torch.zeros(1, 1, 8, 8))
    with pytest.raises(ShapeError, match="form a chain"):
        clusterable_weights(
            {name: param[None] for name, param in reversed(list(network.named_parameters()))}, [0]
        )
    with pytest.raises(SpecError, match="example_input"):
        clusterable_init_(dt.build_net("small-cnn", (1, 8, 8), 4))
