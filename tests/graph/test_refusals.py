"""What `network_graph` cannot follow is named, with its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dovetail.errors import SpecError
from dovetail.graph import network_graph


class Between(nn.Module):
    """Two dense layers with some operation between them."""

    def __init__(self, operation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(4, 6), nn.Linear(6, 3)
        self.operation = operation

    def forward(self, x: Tensor) -> Tensor:
        x = self.operation(self.first(x))
        out: Tensor = self.last(x)
        return out


class Cumulated(nn.Module):
    """Something that cannot be followed, as a module."""

    def forward(self, x: Tensor) -> Tensor:
        return x.cumsum(1)


class Attending(nn.Module):
    """Attention of a sequence to itself, in any of PyTorch's ways."""

    def __init__(self, **options: bool) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True, **options)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.attention(x, x, x)[0]
        return out


class Packed(nn.Module):
    """A recurrent layer over sequences of different lengths."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = nn.LSTM(4, 3, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3]), batch_first=True)
        out: Tensor = self.steps(packed)[1][0]
        return out


def written(x: Tensor) -> Tensor:
    out = torch.zeros_like(x)
    out[x > 0] = 1.0
    return out


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            lambda x: torch.fft.fft(x).real,
            r"cannot follow torch\.fft\.fft in the network \(Between\), 'lambda x: torch\.fft",
        ),
        (lambda x: x.cumsum(dim=1), r"torch\.Tensor\.cumsum"),
        (lambda x: x @ (x.T @ x), r"torch\.Tensor\.matmul.*it mixes different units"),
        (lambda x: x @ torch.ones(2, 6, 6), r"last.*it reads a mixture of many units"),
        (lambda x: x + x.mean(dim=1, keepdim=True), r"torch\.Tensor\.add.*one unit meets many"),
        (lambda x: x.mean(dim=1, keepdim=True).expand(-1, 6), r"last.*it reads a mixture of many units"),
        (lambda x: (x @ x.T).softmax(1)[:, :1].expand(-1, 6), r"last.*it reads a mixture of many units"),
        (lambda x: x + x[:, :1], r"torch\.Tensor\.add.*one unit meets many"),
        (lambda x: torch.gather(x, 1, x.argsort(dim=1)), r"cannot follow"),
        (lambda x: F.linear(x, x.new_ones(6, 6) * x[0]), r"linear.*its weights depend on the input"),
        (lambda x: torch.from_numpy(x.detach().numpy()), r"torch\.Tensor\.numpy.*cannot be seen"),
        (written, r"torch\.Tensor\.__setitem__.*where it writes depends on the input"),
    ],
)
def test_an_operation_that_cannot_be_followed_is_named(
    operation: Callable[[Tensor], Tensor], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        network_graph(Between(operation))


def test_compiled_code_is_refused() -> None:
    compiled = torch.jit.CompilationUnit("def square(x):\n    return x * x\n").square
    with pytest.raises(SpecError, match=r"linear reads in module 'last' \(Linear\).*from compiled code"):
        network_graph(Between(compiled))


def test_the_place_is_named() -> None:
    network = nn.Sequential(nn.Linear(4, 6), nn.Sequential(nn.Unflatten(1, (2, 3)), nn.CELU(), Cumulated()))
    with pytest.raises(
        SpecError, match=r"cannot follow torch\.Tensor\.cumsum in module '1\.2' \(Cumulated\)"
    ):
        network_graph(network, torch.zeros(1, 4))
    with pytest.raises(SpecError, match=r"test_refusals\.py:\d+"):
        network_graph(Between(lambda x: x.cumsum(dim=1)))


def test_what_attention_and_recurrent_layers_do_beside_the_usual_is_named() -> None:
    x = torch.zeros(2, 5, 4)
    with pytest.raises(SpecError, match=r"multi_head_attention_forward in module 'attention'"):
        network_graph(Attending(add_zero_attn=True), x)
    with pytest.raises(SpecError, match=r"torch\.lstm in module '0'.*projections"):
        network_graph(nn.Sequential(nn.LSTM(4, 6, proj_size=3)), x)
    with pytest.raises(SpecError, match=r"pack_padded_sequence"):
        network_graph(Packed(), x)


def test_what_does_not_reach_the_output_need_not_be_followed() -> None:
    def checked(x: Tensor) -> Tensor:
        assert not torch.isnan(x.cumsum(dim=1)).any()
        return x

    assert len(network_graph(Between(checked))) == 13


def test_a_network_without_output_is_refused() -> None:
    class Silent(nn.Module):
        def forward(self, x: Tensor) -> int:
            return len(x)

    with pytest.raises(SpecError, match="returns no tensor"):
        network_graph(Silent(), torch.zeros(1, 4))
