from __future__ import annotations

import pickle
import time

import pytest
import torch

from dovetail.errors import DovetailError, ShapeError, SpecError
from dovetail.nets import NetSpec, build_net, net_builder


def test_seed_fixes_weights_and_leaves_the_global_state_alone() -> None:
    before = torch.random.get_rng_state()
    first = build_net("mlp:16", (4,), 3, seed=7)
    assert torch.equal(torch.random.get_rng_state(), before)
    again, other = build_net("mlp:16", (4,), 3, seed=7), build_net("mlp:16", (4,), 3, seed=8)
    for a, b in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(next(first.parameters()), next(other.parameters()))


def test_without_seed_weights_come_from_the_global_state() -> None:
    build = net_builder("mlp:16", (4,), 3)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        first, second = build(), build()
        torch.manual_seed(5)
        assert torch.equal(next(build().parameters()), next(first.parameters()))
    assert not torch.equal(next(first.parameters()), next(second.parameters()))
    seeded = build_net("mlp:16", (4,), 3, seed=5)
    assert torch.equal(next(seeded.parameters()), next(first.parameters()))


def test_builder_is_a_value() -> None:
    build = net_builder("lenet:8-16", (1, 12, 12), 4)
    sent = pickle.loads(pickle.dumps(build))
    assert sent == build
    assert {build, sent, net_builder(NetSpec.parse("lenet:8-16"), [1, 12, 12], 4)} == {build}
    assert sent()(torch.zeros(2, 1, 12, 12)).shape == (2, 4)


def test_builder_follows_the_default_device() -> None:
    with torch.device("meta"):
        assert next(net_builder("mlp:4", (3,), 2)().parameters()).is_meta
        assert not next(build_net("mlp:4", (3,), 2, seed=0).parameters()).is_meta


@pytest.mark.parametrize(
    ("spec", "shape", "outputs"),
    [
        ("mlp:200000", (1000, 1000), 10),
        ("lenet:262144-262144", (16, 1024, 1024), 10),
        ("mlp", (2**24,), 2**20),
        ("vgg16", (1, 4096, 4096), 10),
    ],
)
def test_too_many_parameters_are_refused_before_memory_is_used(
    spec: str, shape: tuple[int, ...], outputs: int
) -> None:
    started = time.process_time()
    with pytest.raises(SpecError, match="parameters"):
        build_net(spec, shape, outputs)
    assert time.process_time() - started < 10


@pytest.mark.parametrize("shape", [(), (0,), (3, -1), (2**30,), (2.5,), (True,)])
def test_impossible_inputs_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError):
        build_net("mlp:4", shape, 2)


@pytest.mark.parametrize("outputs", [0, -1, 2**40, True])
def test_impossible_outputs_are_refused(outputs: int) -> None:
    with pytest.raises(ShapeError):
        build_net("mlp:4", (3,), outputs)


@pytest.mark.parametrize("seed", [-1, 2**70, 0.5])
def test_impossible_seeds_are_refused(seed: int) -> None:
    with pytest.raises(DovetailError):
        build_net("mlp:4", (3,), 2, seed=seed)
