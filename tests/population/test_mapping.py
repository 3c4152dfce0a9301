"""A member that is alone is not mapped: it must learn what it learns beside others, and refuse what they refuse."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from dovetail.errors import TrainingError
from dovetail.population import Population
from dovetail.population.forward import over_members
from dovetail.population.ops import convolution, pooling
from dovetail.population.ops.convolution import lone_conv2d
from dovetail.population.ops.rules import MemberOperations

from .helpers import DEVICES, cnn, distance, dropout_mlp, images, mlp, normed_cnn


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("build", [mlp, cnn, normed_cnn, dropout_mlp])
def test_alone_it_learns_the_same(build: Callable[[], nn.Module], device: str) -> None:
    split = images(203, dtype=torch.float64)
    alone, beside = (Population(build, seeds, device=device, dtype=torch.float64) for seeds in ([5], [5, 7]))
    ours, theirs = (
        population.fit(split, split, epochs=3, batch_size=16, progress=False)
        for population in (alone, beside)
    )
    assert distance(alone.member(0), beside.params, 0) < 1e-9
    # Of each epoch: with the running statistics of batch norm as the steps left them.
    torch.testing.assert_close(ours["loss"][:, 0], theirs["loss"][:, 0])
    torch.testing.assert_close(ours["train_loss"][:, 0], theirs["train_loss"][:, 0])
    torch.testing.assert_close(alone.evaluate(split)["loss"][0], beside.evaluate(split)["loss"][0])


class Attention(nn.Module):
    """Attends over the rows of an image."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout, self.end = dropout, nn.Linear(64, 5)

    def forward(self, x: Tensor) -> Tensor:
        attended = F.scaled_dot_product_attention(x, x, x, dropout_p=self.dropout)
        end: Tensor = self.end(attended.flatten(1))
        return end


@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_attention_draws_nothing_without_dropout(seeds: list[int]) -> None:
    population = Population(Attention, seeds, device="cpu")
    assert torch.isfinite(population.fit(images(30), epochs=2, progress=False)["train_loss"]).all()
    noisy = Population(lambda: Attention(0.5), seeds, device="cpu")
    with pytest.raises(TrainingError, match="random numbers of its own"):
        noisy.fit(images(30), progress=False)


class Rows(nn.Module):
    """Reads an image row by row with a memory, which torch has no stacked version of."""

    def __init__(self) -> None:
        super().__init__()
        self.reader, self.end = nn.LSTM(8, 6, batch_first=True), nn.Linear(6, 5)

    def forward(self, x: Tensor) -> Tensor:
        end: Tensor = self.end(self.reader(x.flatten(1, 2))[0][:, -1])
        return end


@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_what_cannot_be_mapped_is_refused_alone_too(seeds: list[int]) -> None:
    with pytest.raises(TrainingError, match="cannot be mapped over members"):
        Population(Rows, seeds, device="cpu").fit(images(30), progress=False)


def test_a_convolution_that_is_alone_takes_the_layout_of_tensor_cores() -> None:
    x, weight, bias = torch.randn(4, 16, 8, 8), torch.randn(32, 16, 3, 3), torch.randn(32)
    result = lone_conv2d(x, weight, bias, 1, 1)
    assert result.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(result, F.conv2d(x, weight, bias, 1, 1))


@pytest.mark.parametrize(
    ("members", "own_kernel", "alone"), [(1, True, True), (2, True, False), (2, False, False)]
)
def test_which_convolutions_are_alone(
    members: int, own_kernel: bool, alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def noted(x: Tensor, weight: Tensor, *options: object) -> Tensor:
        calls.append(x.shape)
        return x.new_empty(len(x), len(weight), *x.shape[2:])

    def convolve(x: Tensor, weight: Tensor) -> Tensor:
        with MemberOperations():
            return F.max_pool2d(F.conv2d(x, weight, padding=1), 2)

    monkeypatch.setattr(convolution, "lone_conv2d", noted)
    monkeypatch.setattr(pooling, "has_triton", lambda: True)
    kernels = (members, 32, 16, 3, 3) if own_kernel else (32, 16, 3, 3)
    with FakeTensorMode():  # CUDA without a device
        x, weight = torch.empty(members, 4, 16, 8, 8, device="cuda"), torch.empty(kernels, device="cuda")
        recorded = make_fx(over_members(convolve, members, (0, 0 if own_kernel else None), device=x.device))(
            x, weight
        )
    assert calls == [(4, 16, 8, 8)] * alone
    pooled = torch.ops.dovetail.max_pool.default in {node.target for node in recorded.graph.nodes}
    assert pooled != alone  # torch's own pooling takes the layout as it is
