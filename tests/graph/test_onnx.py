"""ONNX files: the module made of one computes what it did, and its graph is the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dovetail as dt
from dovetail.errors import FileFormatError, SpecError
from dovetail.graph import network_graph
from dovetail.graph.onnx_network import onnx_network

from .networks import randomise
from .test_families import Bert, Residual

pytest.importorskip("onnx")
pytest.importorskip("onnxscript")

IDS = torch.arange(4)[None] % 9


def exported(network: nn.Module, x: Tensor, path: Path) -> Path:
    torch.onnx.export(network, (x,), str(path), dynamo=True, verbose=False, optimize=False)
    return path


def convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 6, 3, padding=1), nn.BatchNorm2d(6), nn.Hardswish(), nn.Conv2d(6, 6, 3, groups=6), nn.LeakyReLU(),
        nn.MaxPool2d(2, padding=1), nn.ConvTranspose2d(6, 4, 2, stride=2), nn.AvgPool2d(2), nn.Flatten(),
        nn.Linear(64, 3),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("build", "x"),
    [
        (convolutions, torch.rand(1, 2, 8, 8)),
        (lambda: Residual(padded=False), torch.rand(1, 3, 8, 8)),
        (lambda: Residual(padded=True), torch.rand(1, 3, 8, 8)),
        (lambda: dt.build_net("mlp:12-8", (6,), 4, seed=0), torch.rand(1, 6)),
        (Bert, IDS),
        (lambda: nn.TransformerEncoderLayer(6, 2, 8, batch_first=True, dropout=0.0), torch.rand(1, 4, 6)),
    ],
    ids=["convolutions", "residual", "padded", "dense", "bert", "torch transformer"],
)
def test_a_file_computes_and_reads_like_its_network(
    build: Callable[[], nn.Module], x: Tensor, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    network = randomise(build(), 0).eval()
    again = onnx_network(exported(network, x, tmp_path / "net.onnx"))
    assert again.input_shape == tuple(x.shape[1:])
    assert again.tokens == (x.dtype == torch.int64)
    with torch.no_grad():
        torch.testing.assert_close(again(x), network(x), rtol=1e-3, atol=1e-4)
    ours, theirs = network_graph(network, x), network_graph(again, x)
    assert len(ours) == len(
        theirs
    )  # in other groups where a file has one matrix for queries, keys and values
    for degrees in (0, 1):  # of nodes as they are, and of what they are connected with
        found = [np.asarray(graph.adjacency.sum(1)) for graph in (ours, theirs)]
        if degrees:
            found = [graph.adjacency @ one for graph, one in zip((ours, theirs), found, strict=True)]
        np.testing.assert_allclose(np.sort(found[0]), np.sort(found[1]), rtol=1e-4)


def test_damaged_files_and_unknown_operations_are_named(tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    (tmp_path / "text.onnx").write_text("hello")
    with pytest.raises((FileFormatError, SpecError), match=r"text.onnx"):
        onnx_network(tmp_path / "text.onnx")
    node = helper.make_node("Det", ["x"], ["y"])
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2]) for name in "xy"]
    onnx.save(
        helper.make_model(helper.make_graph([node], "one", value[:1], value[1:])), tmp_path / "det.onnx"
    )
    with pytest.raises(SpecError, match="not known here: Det"):
        onnx_network(tmp_path / "det.onnx")


def test_without_onnx_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(SpecError, match=r"pip install 'dovetail-nn\[onnx\]'"):
        onnx_network(tmp_path / "any.onnx")
