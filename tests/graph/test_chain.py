from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from dovetail.errors import ShapeError
from dovetail.graph.chain import find_layers, layer_chain
from dovetail.nets import build_net


def test_vectors_go_with_the_weight_before_them() -> None:
    net = build_net("lenet:4-6,batch_norm=true,output_bias=true", (1, 8, 8), 3)
    layers = layer_chain(net.state_dict())
    norm = ["weight", "bias", "running_mean", "running_var"]
    assert [layer.vectors for layer in layers] == [
        tuple(f"conv1_norm.{part}" for part in norm),
        tuple(f"dense1_norm.{part}" for part in norm),
        ("output.bias",),
    ]
    assert [(layer.units, layer.inputs, layer.convolutional) for layer in layers] == [
        (4, 1, True),
        (6, 36, False),
        (3, 6, False),
    ]
    assert [b.positions_after(a) for a, b in pairwise(layers)] == [9, 1]


def test_a_population_has_the_layers_of_its_members() -> None:
    tensors = dict(build_net("small-cnn", (1, 8, 8), 3).named_parameters())
    stacked = {name: torch.stack([t, t]) for name, t in tensors.items()}
    assert layer_chain(stacked, population=True) == layer_chain(tensors)


def test_vectors_of_another_size_belong_to_no_layer() -> None:
    layers = find_layers(
        {"before": torch.ones(3), "w": torch.ones(3, 2), "odd": torch.ones(4), "b": torch.ones(3)}
    )
    assert [layer.vectors for layer in layers] == [("b",)]


@pytest.mark.parametrize(
    "tensors",
    [
        {"first": torch.zeros(4, 3), "second": torch.zeros(2, 5)},
        {"first": torch.zeros(4, 3), "second": torch.zeros(2, 8)},
        {"first": torch.zeros(4, 3, 3, 3), "second": torch.zeros(4, 1, 3, 3)},
    ],
)
def test_layers_that_do_not_fit_are_both_named(tensors: dict[str, torch.Tensor]) -> None:
    with pytest.raises(ShapeError, match=r"(?s)'second'.*'first'"):
        layer_chain(tensors)


def test_residual_networks_are_no_chain() -> None:
    with torch.device("meta"):
        net = build_net("resnet18", (3, 8, 8), 4)
    with pytest.raises(ShapeError, match="shortcut"):
        layer_chain(dict(net.named_parameters()))
