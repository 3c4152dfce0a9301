"""The weights of a seed: those of plain PyTorch, in any number of threads, whatever its defaults are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from dovetail.errors import SpecError
from dovetail.nets import ARCHITECTURES, NetSpec, build_net, keep_random_state, net_builder, seeded_build
from dovetail.nets.init import INITS

SPECS = [
    ("mlp", (2, 3)),
    ("mlp:9-5,output_bias=true", (2, 3)),
    ("mlp:9-5,batch_norm=true", (2, 3)),
    ("lenet:6-8-5", (2, 8, 9)),
    ("lenet:6-8-5,batch_norm=true,output_bias=true", (1, 8, 8)),
    ("small-cnn,dropout=0.5", (1, 8, 8)),
    ("small-cnn,output_bias=false", (1, 8, 8)),
    ("vgg16", (3, 32, 32)),
    ("vgg11,batch_norm=false", (3, 32, 32)),
    ("resnet18", (3, 4, 4)),
    ("resnet18,batch_norm=false,output_bias=false", (1, 3, 2)),
    ("resnet-stage:6", (3, 4, 4)),
    ("vit:8,depth=1,heads=2", (3, 8, 4)),
]


def plainly(spec: NetSpec, shape: tuple[int, ...], outputs: int, seed: int) -> nn.Module:
    """Build as anybody would with PyTorch: seed the global generator, construct, draw anew where asked."""
    options = dict(spec.options)
    init = str(options.pop("init"))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        own = {option.name: options[option.name] for option in ARCHITECTURES[spec.name].own_options}
        net = ARCHITECTURES[spec.name].build(spec.sizes, shape, outputs, **own)
        for module in net.modules():
            if init != "default" and isinstance(module, nn.Linear | nn.Conv2d):
                if init == "kaiming-normal":
                    nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
                else:
                    nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
    return net


def same(a: nn.Module, b: nn.Module) -> bool:
    first, second = a.state_dict(), b.state_dict()
    return list(first) == list(second) and all(
        first[name].dtype == second[name].dtype and torch.equal(first[name], second[name]) for name in first
    )


@pytest.mark.parametrize("init", [None, *INITS])
@pytest.mark.parametrize(("text", "shape"), SPECS)
def test_a_seed_gives_the_weights_that_plain_pytorch_gives(
    text: str, shape: tuple[int, ...], init: str | None
) -> None:
    spec = NetSpec.parse(text if init is None else f"{text},init={init}")
    for seed in (0, 2**40 + 7):
        net = build_net(spec, shape, 4, seed=seed)
        assert same(net, plainly(spec, shape, 4, seed))
    assert all(parameter.requires_grad for parameter in net.parameters())
    assert net.training


def test_the_specs_above_are_of_all_architectures() -> None:
    assert {NetSpec.parse(text).name for text, _ in SPECS} == set(ARCHITECTURES)


@pytest.fixture
def noise() -> Iterator[Callable[[], None]]:
    """Start a thread that draws from the global generator all the time."""
    stop = threading.Event()

    def draw() -> None:
        while not stop.is_set():
            torch.rand(3)

    thread = threading.Thread(target=draw)
    yield thread.start
    stop.set()
    if thread.ident is not None:
        thread.join()


def test_networks_of_a_spec_can_be_built_in_threads(noise: Callable[[], None]) -> None:
    build = net_builder("mlp:64-32", (8, 8), 10)
    alone = [build(seed) for seed in range(100)]
    noise()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(build, range(100)))
        through = list(pool.map(lambda seed: seeded_build(build, seed), range(100)))
    assert sum(not same(a, b) for a, b in zip(alone, together, strict=True)) == 0
    assert sum(not same(a, b) for a, b in zip(alone, through, strict=True)) == 0


def test_networks_of_any_function_can_be_built_in_threads() -> None:
    def build() -> nn.Module:
        return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))

    alone = [seeded_build(build, seed) for seed in range(100)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: seeded_build(build, seed), range(100)))
    assert sum(not same(a, b) for a, b in zip(alone, together, strict=True)) == 0


def test_what_keeps_the_random_state_does_not_come_between_seed_and_network() -> None:
    def build() -> nn.Module:
        return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))

    def draw(_: int) -> None:
        with keep_random_state():
            torch.rand(100)

    alone = [seeded_build(build, seed) for seed in range(100)]
    with ThreadPoolExecutor(4) as pool:
        others = pool.map(draw, range(200))
        together = list(pool.map(lambda seed: seeded_build(build, seed), range(100)))
        list(others)
    assert sum(not same(a, b) for a, b in zip(alone, together, strict=True)) == 0


def test_a_builder_may_itself_build_from_a_seed() -> None:
    def build() -> nn.Module:
        return nn.Sequential(seeded_build(lambda: nn.Linear(2, 3), 5), nn.Linear(3, 1))

    assert same(seeded_build(build, 1), seeded_build(build, 1))


def test_building_leaves_the_global_state_alone() -> None:
    before = torch.random.get_rng_state()
    seeded_build(lambda: nn.Linear(3, 4), seed=3)
    seeded_build(net_builder("mlp:4", (3,), 2), seed=3)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("seed", [-1, 2**63, 0.5, True, "1"])
def test_what_is_no_seed_is_refused(seed: int) -> None:
    with pytest.raises(SpecError, match="a seed must be a whole number"):
        seeded_build(lambda: nn.Linear(3, 4), seed)


def test_the_default_type_of_torch_changes_nothing() -> None:
    usual = build_net("lenet:6-8-5,batch_norm=true", (1, 8, 8), 4, seed=0)
    torch.set_default_dtype(torch.float64)
    try:
        net = build_net("lenet:6-8-5,batch_norm=true", (1, 8, 8), 4, seed=0)
        unseeded = build_net("mlp:8", (3,), 4)
    finally:
        torch.set_default_dtype(torch.float32)
    assert same(net, usual)
    assert {parameter.dtype for parameter in unseeded.parameters()} == {torch.float32}
