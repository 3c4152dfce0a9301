"""Networks of timm, where it is installed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dovetail.graph import network_graph

timm = pytest.importorskip("timm")


@pytest.mark.parametrize(
    ("name", "nodes", "groups"),
    [
        ("resnet18", 2880, 12),
        ("mobilenetv3_small_100", 7328, 38),
        ("densenet121", 10240, 120),
        ("convnext_atto", 9800, 28),
    ],
)
def test_networks_of_timm(name: str, nodes: int, groups: int) -> None:
    network = timm.create_model(name, pretrained=False)
    graph = network_graph(network, torch.zeros(1, 3, 64, 64))
    assert len(graph) == nodes
    assert len(graph.groups) == groups
    made = {block.name for block in graph.blocks} | {group.name for group in graph.groups}
    assert made <= {path for path, _ in network.named_modules()}
    degrees = np.asarray(graph.adjacency.sum(axis=1))
    assert (degrees > 0).all()
