"""Recordings: the same numbers as the function, from a shorter list."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import vmap

from dovetail.population.recording import is_recording, record

aten = torch.ops.aten


def operations(recording: torch.fx.GraphModule) -> list[object]:
    return [node.target for node in recording.graph.nodes if node.op == "call_function"]


def test_what_comes_in_and_goes_out_may_be_nested() -> None:
    def function(
        given: dict[str, Tensor], more: tuple[Tensor, None, int]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        return given["a"] + more[2], {"product": given["b"] * more[0], "again": given["a"]}

    a, b, c = torch.rand(3), torch.rand(3), torch.rand(3)
    recording = record(function, ({"a": a, "b": b}, (c, None, 2)))
    found, rest = recording(a, b, c)
    assert torch.equal(found, a + 2)
    assert torch.equal(rest["product"], b * c)
    assert torch.equal(rest["again"], a)


def test_gradients_of_mapped_functions_are_recorded() -> None:
    def gradients(weight: Tensor, x: Tensor) -> Tensor:
        leaf = weight.detach().requires_grad_()
        with torch.enable_grad():
            loss = vmap(lambda w, x: (x @ w).tanh().log_softmax(1)[:, 0].sum(), (0, None))(leaf, x).sum()
            return torch.autograd.grad(loss, leaf)[0]

    recording = record(gradients, (torch.rand(4, 5, 3), torch.rand(7, 5)))
    weight, x = torch.rand(4, 5, 3), torch.rand(7, 5)
    assert torch.equal(recording(weight, x), gradients(weight, x))


def test_no_input_is_changed() -> None:
    said: list[bool] = []

    def function(x: Tensor) -> Tensor:
        said.append(is_recording())
        return x.add_(1)

    x = torch.zeros(3)
    recording = record(function, (x,))
    assert said == [True]
    assert not is_recording()
    assert torch.equal(x, torch.zeros(3))
    assert torch.equal(recording(x), torch.ones(3))
    assert torch.equal(x, torch.ones(3))


def test_what_depends_on_no_input_is_computed_once() -> None:
    def function(x: Tensor) -> Tensor:
        table = (torch.arange(6, dtype=torch.float32) * 2 + torch.tensor(1.0)).reshape(2, 3)
        return x + table.T.exp()

    recording = record(function, (torch.rand(3, 2),))
    assert operations(recording) == [aten.add.Tensor]
    x = torch.rand(3, 2)
    for _ in range(2):
        assert torch.equal(recording(x), function(x))


def test_what_is_written_to_is_made_anew_every_time() -> None:
    def counts(x: Tensor) -> Tensor:
        table = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
        zeros = torch.zeros(4)
        table[0].add_(x)  # a view
        zeros.view(2, 2)[1] += x[:2]
        return torch.cat([table.flatten(), zeros, torch.zeros(3).scatter_add(0, torch.tensor([0, 0, 2]), x)])

    recording, x = record(counts, (torch.rand(3),)), torch.rand(3)
    for _ in range(3):
        assert torch.equal(recording(x), counts(x))


def test_what_is_drawn_is_drawn_anew_every_time() -> None:
    recording = record(lambda x: x + torch.rand(3), (torch.zeros(3),))
    assert not torch.equal(recording(torch.zeros(3)), recording(torch.zeros(3)))


def test_tensors_from_outside_are_read_anew_every_time() -> None:
    outside = torch.ones(3)
    recording = record(lambda x: x + outside.exp() * 2, (torch.zeros(3),))
    outside.zero_()
    assert torch.equal(recording(torch.zeros(3)), torch.full((3,), 2.0))


def test_what_changes_nothing_is_left_out() -> None:
    recording = record(lambda x: x.detach().expand(1, 3).view(1, 3).reshape(1, 3) * 2, (torch.rand(1, 3),))
    assert operations(recording) == [aten.mul.Tensor]


@pytest.mark.parametrize("several", [lambda x: x.max(1), lambda x: x.sort(), lambda x: torch.var_mean(x, 1)])
def test_operations_with_several_results(several: object) -> None:
    assert callable(several)
    recording = record(lambda x: tuple(several(x)), (torch.rand(4, 5),))
    x = torch.rand(4, 5)
    assert all(torch.equal(got, want) for got, want in zip(recording(x), several(x), strict=True))


def test_a_recording_is_one_of_shapes_and_keeps_no_stand_ins() -> None:
    """They would be freed by whichever thread drops the recording, while others record."""
    recording = record(lambda x: (x @ x).sum(1), (torch.ones(3, 3),))
    assert all(not node.meta for node in recording.graph.nodes)
    assert torch.equal(recording(torch.ones(3, 3)), torch.full((3,), 9.0))


@pytest.mark.parametrize(
    "decides",
    [
        lambda x: x if x.sum() > 0 else -x,
        lambda x: x * x.max().item(),
        lambda x: x * float(x.detach().numpy().max()),
        lambda x: x * max(x.tolist()),
        lambda x: x[x > 0.5],
    ],
)
def test_what_depends_on_values_cannot_be_recorded(decides: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(RuntimeError, match="data-dependent"):
        record(decides, (torch.rand(3),))


def test_values_of_what_is_no_input_are_fixed() -> None:
    recording = record(lambda x: x * torch.tensor([2.0, 3.0]).max().item(), (torch.ones(3),))
    assert torch.equal(recording(torch.ones(3)), torch.full((3,), 3.0))


def test_cuda_is_recorded_without_a_device() -> None:
    with FakeTensorMode():
        recording = record(
            lambda x: x.relu().sum(1) + torch.arange(3, device=x.device), (torch.empty(3, 4, device="cuda"),)
        )
    assert aten.relu.default in operations(recording)


def test_torchs_compiler_is_left_alone() -> None:
    code = """
import sys, torch
from dovetail.population.recording import record
record(lambda x: torch.func.vmap(lambda y: y.relu().sum())(x), (torch.rand(2, 3),))(torch.rand(2, 3))
assert "torch._dynamo" not in sys.modules, "torch._dynamo"
"""
    subprocess.run([sys.executable, "-c", code], check=True)
