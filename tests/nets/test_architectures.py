from __future__ import annotations

from collections import Counter

import pytest
import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

from dovetail.errors import ShapeError
from dovetail.nets import build_net, net_builder

SMALL: list[tuple[str, tuple[int, ...]]] = [
    ("mlp", (2, 3)),
    ("mlp:9-5,batch_norm=true", (2, 3)),
    ("lenet:6-8-5,dropout=0.3", (2, 8, 9)),
    ("lenet:6-8-5,batch_norm=true", (1, 8, 8)),
    ("small-cnn,dropout=0.5", (1, 8, 8)),
    ("resnet18:3", (2, 8, 8)),
    ("resnet-stage:5", (3, 4, 4)),
    ("vit:12,depth=2,heads=3,dropout=0.2", (2, 8, 8)),
]
LARGE: list[tuple[str, tuple[int, ...]]] = [
    ("vgg16,dropout=0.5", (3, 32, 32)),
    ("vgg11", (3, 32, 32)),
    ("vgg11:5", (3, 32, 32)),
    ("resnet18", (3, 4, 4)),
    ("resnet18,batch_norm=false", (1, 3, 2)),
]


def modules_of(net: nn.Module) -> list[str]:
    return [type(module).__name__ for module in net.children()]


def rates_of(net: nn.Module) -> list[float]:
    return [module.p for module in net.modules() if isinstance(module, nn.Dropout)]


def weight_shapes(net: nn.Module) -> list[tuple[int, ...]]:
    return [tuple(p.shape) for p in net.parameters() if p.dim() > 1]


def count(net: nn.Module) -> int:
    return sum(p.numel() for p in net.parameters())


@pytest.mark.parametrize(("spec", "shape"), SMALL + LARGE)
def test_population_tracing_and_single_use(spec: str, shape: tuple[int, ...]) -> None:
    build = net_builder(spec, shape, 4)
    nets = [build().eval() for _ in range(2)]
    x = torch.randn(1, *shape)
    parameters, buffers = stack_module_state(nets)

    def forward(p: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> torch.Tensor:
        out: torch.Tensor = functional_call(nets[0], (p, b), (x,))
        return out

    with torch.no_grad():
        together = vmap(forward)(parameters, buffers)
        for number, net in enumerate(nets):
            torch.testing.assert_close(together[number], net(x), rtol=1e-4, atol=1e-5)
        traced = torch.fx.symbolic_trace(nets[0])
        torch.testing.assert_close(traced(x), nets[0](x))

    relus = {name for name, module in nets[0].named_modules() if isinstance(module, nn.ReLU)}
    calls = Counter(str(node.target) for node in traced.graph.nodes if node.op == "call_module")
    assert all(calls[name] == 1 for name in calls)
    assert relus <= set(calls)
    assert not any(node.op == "call_function" and "relu" in str(node.target) for node in traced.graph.nodes)
    assert not any(module.inplace for module in nets[0].modules() if isinstance(module, nn.ReLU))
    assert isinstance(nets[0].output, nn.Linear)


@pytest.mark.parametrize(("spec", "shape"), [*SMALL, ("resnet18", (3, 4, 4))])
def test_population_trains(spec: str, shape: tuple[int, ...]) -> None:
    build = net_builder(spec, shape, 4)
    nets = [
        build(seed) for seed in range(2)
    ]  # of other seeds the few units may all be dead, and have no gradient
    x = torch.randn(
        64, *shape, generator=torch.Generator().manual_seed(0)
    )  # dropout leaves something of each unit
    parameters, buffers = stack_module_state(nets)

    def forward(p: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> torch.Tensor:
        out: torch.Tensor = functional_call(nets[0], (p, b), (x,))
        return out

    logits = vmap(forward, randomness="different")(parameters, buffers)
    torch.autograd.backward(logits.square().sum())
    assert all(bool((p.grad.flatten(1).abs().sum(1) > 0).all()) for p in parameters.values())
    for name, buffer in buffers.items():
        if name.endswith("num_batches_tracked"):
            assert buffer.tolist() == [1, 1]


def test_mlp() -> None:
    net = build_net("mlp:512-256", (1, 28, 28), 10)
    layer = ["Linear", "ReLU", "Dropout"]
    assert modules_of(net) == ["Flatten", *layer, *layer, "Linear"]
    assert weight_shapes(net) == [(512, 784), (256, 512), (10, 256)]
    assert rates_of(net) == [0.5, 0.5]
    assert "output.bias" not in dict(net.named_parameters())
    assert "output.bias" in dict(build_net("mlp,output_bias=true", (4,), 2).named_parameters())
    normed = build_net("mlp:8,batch_norm=true,dropout=0", (4,), 2)
    assert modules_of(normed) == ["Flatten", "Linear", "BatchNorm1d", "ReLU", "Linear"]


def test_lenet_is_the_maxent_network() -> None:
    net = build_net("lenet", (1, 28, 28), 10)
    assert modules_of(net) == ["Conv2d", "MaxPool2d", "ReLU", "Flatten", *["Linear", "ReLU"] * 2, "Linear"]
    assert weight_shapes(net) == [(64, 1, 5, 5), (120, 64 * 13 * 13), (64, 120), (10, 64)]
    assert "output.bias" not in dict(net.named_parameters())
    assert rates_of(build_net("lenet,dropout=0.2", (1, 28, 28), 10)) == [0.2, 0.2]


def test_small_cnn_is_the_clusterability_network() -> None:
    net = build_net("small-cnn,dropout=0.5", (1, 28, 28), 10, seed=0)
    conv, pooled = ["Conv2d", "ReLU", "Dropout"], ["Conv2d", "MaxPool2d", "ReLU", "Dropout"]
    dense = ["Flatten", "Linear", "ReLU", "Dropout", "Linear"]
    assert modules_of(net) == [*conv, *pooled, *pooled, *dense]
    assert rates_of(net) == [0.25, 0.25, 0.25, 0.5]
    assert weight_shapes(net)[3:] == [(128, 64 * 7 * 7), (10, 128)]
    parameters = dict(net.named_parameters())
    bound = (6 / (64 * 9 + 64 * 9)) ** 0.5
    assert 0.97 * bound < float(parameters["conv2.weight"].detach().abs().max()) <= bound
    assert not parameters["conv2.bias"].any()
    assert not parameters["output.bias"].any()


def test_vgg16_is_liu_and_dengs() -> None:
    net = build_net("vgg16,dropout=0.5", (3, 32, 32), 10)
    # 13 convolutions and 1 dense layer without bias, batch norm after each of the 14, the output with bias.
    assert count(net) == 14_710_464 + 2 * 4224 + 512 * 512 + 2 * 512 + 5130
    assert rates_of(net) == pytest.approx([0.3, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.5, 0.5])
    names = modules_of(net)
    assert names.count("MaxPool2d") == 5
    assert names.count("BatchNorm2d") == 13
    assert names.count("BatchNorm1d") == 1
    assert rates_of(build_net("vgg16,dropout=0.25", (3, 32, 32), 10))[:2] == pytest.approx([0.15, 0.2])
    assert rates_of(build_net("vgg16", (3, 32, 32), 10)) == []


def test_vgg11_and_resnet18_sizes() -> None:
    assert count(build_net("vgg11", (3, 32, 32), 10)) == 9_217_728 + 2 * 2752 + 5130
    # The size that ResNet-18 with a 3 x 3 first convolution has everywhere.
    assert count(build_net("resnet18", (3, 32, 32), 10)) == 11_173_962


@pytest.mark.parametrize("spec", ["resnet18", "vgg11", "vgg16"])
def test_a_width_is_that_of_the_first_stage_and_all_others_follow(spec: str) -> None:
    usual, narrow = (weight_shapes(build_net(text, (3, 32, 32), 10)) for text in (spec, f"{spec}:24"))
    assert [shape[0] for shape in narrow[:-1]] == [shape[0] * 24 // 64 for shape in usual[:-1]]
    assert [shape[1] for shape in narrow[1:]] == [shape[1] * 24 // 64 for shape in usual[1:]]
    assert [shape[2:] for shape in narrow] == [shape[2:] for shape in usual]


def test_ten_slots_of_a_resnet_of_width_240_are_ten_of_width_24() -> None:
    assert 10 * count(build_net("resnet18:24", (3, 32, 32), 10)) == 15_752_020


def test_a_last_stage_is_that_of_a_resnet() -> None:
    whole = build_net("resnet18:8", (3, 32, 32), 10, seed=0).eval()
    stage = build_net("resnet-stage:64", (32, 8, 8), 10).eval()
    tensors = whole.state_dict()
    stage.load_state_dict(
        {
            name: tensors[name.replace("stage.", "stage4.") if name.startswith("stage.") else name]
            for name in stage.state_dict()
        }
    )
    x = torch.randn(2, 3, 32, 32)
    maps = nn.Sequential(*list(whole.children())[:4])(x)
    assert maps.shape == (2, 32, 8, 8)
    torch.testing.assert_close(stage(maps), whole(x))


def test_pooling_before_relu_is_the_same_function() -> None:
    net = build_net("small-cnn", (1, 8, 8), 3, seed=0)
    x = torch.randn(2, 1, 8, 8)
    p = dict(net.named_parameters())
    h = x
    for number in (1, 2, 3):
        h = torch.conv2d(h, p[f"conv{number}.weight"], p[f"conv{number}.bias"], padding=1).relu()
        if number > 1:
            h = torch.nn.functional.max_pool2d(h, 2)
    h = (h.flatten(1) @ p["dense1.weight"].T + p["dense1.bias"]).relu()
    torch.testing.assert_close(net(x), h @ p["output.weight"].T + p["output.bias"])


def test_kaiming_normal() -> None:
    net = build_net("mlp:2000,init=kaiming-normal", (50,), 3, seed=0)
    weight, bias = list(net.parameters())[:2]
    assert float(weight.detach().std()) == pytest.approx((2 / 50) ** 0.5, rel=0.02)
    assert not bias.any()


@pytest.mark.parametrize(
    ("spec", "smallest"),
    [
        ("lenet", 4),
        ("small-cnn", 4),
        ("vgg16", 32),
        ("vgg11", 32),
        ("resnet18", 1),
        ("resnet-stage", 1),
        ("vit,patch=8", 8),
    ],
)  # fmt: skip
def test_smallest_images(spec: str, smallest: int) -> None:
    net = build_net(spec, (1, smallest, smallest), 2).eval()
    assert net(torch.zeros(1, 1, smallest, smallest)).shape == (1, 2)
    with pytest.raises(ShapeError, match="images"):
        build_net(spec, (784,), 2)
    if smallest > 1:
        with pytest.raises(
            ShapeError, match=f"{smallest} x {smallest} pixels; got {smallest} x {smallest - 1}"
        ):
            build_net(spec, (1, smallest, smallest - 1), 2)
