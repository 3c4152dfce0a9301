"""Tensors that are changed in place: the graph is that of the same network without writing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dovetail.errors import SpecError
from dovetail.graph import network_graph

Forward = Callable[["Net", Tensor], Tensor]


class Net(nn.Module):
    def __init__(self, forward: Forward) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b, self.c = nn.Linear(3, 4), nn.Linear(3, 2), nn.Linear(4, 2)
        self.norm = nn.BatchNorm1d(4)
        nn.init.uniform_(self.norm.weight)
        self._forward = forward

    def forward(self, x: Tensor) -> Tensor:
        return self._forward(self, x)


def added_to_a_view(net: Net, x: Tensor) -> Tensor:
    y = net.a(x)
    half = y[:, :2]
    half += net.b(x)
    out: Tensor = net.c(y.relu())
    return out


def added_to_an_item(net: Net, x: Tensor) -> Tensor:
    y = net.a(x)
    y[:, :2] += net.b(x)
    out: Tensor = net.c(y.relu())
    return out


def added_to_a_view_of_a_view(net: Net, x: Tensor) -> Tensor:
    y = net.a(x)
    y.view(-1, 2, 2)[:, 0].add_(net.b(x)).relu_()
    y.t()[2:].relu_()
    out: Tensor = net.c(y)
    return out


def added_to_a_chunk(net: Net, x: Tensor) -> Tensor:
    y = net.a(x)
    half, _ = y.chunk(2, 1)
    half += net.b(x)
    out: Tensor = net.c(y.relu())
    return out


def added_without_writing(net: Net, x: Tensor) -> Tensor:
    out: Tensor = net.c((net.a(x) + F.pad(net.b(x), (0, 2))).relu())
    return out


def copied(net: Net, x: Tensor) -> Tensor:
    y = net.a(x)
    y[:, 2:].copy_(net.b(x))
    out: Tensor = net.c(y)
    return out


def set_as_an_item(net: Net, x: Tensor) -> Tensor:
    y = net.a(x)
    y[:, 2:] = net.b(x)
    out: Tensor = net.c(y)
    return out


def copied_without_writing(net: Net, x: Tensor) -> Tensor:
    out: Tensor = net.c(torch.cat([net.a(x)[:, :2], net.b(x)], 1))
    return out


def written_into_zeros(net: Net, x: Tensor) -> Tensor:
    y = x.new_zeros(len(x), 4)
    middle = y[:, 1:3]
    middle += net.b(x)
    out: Tensor = net.c(y)
    return out


def set_in_zeros(net: Net, x: Tensor) -> Tensor:
    y = torch.zeros(len(x), 4)
    y[:, [1, 2]] = net.b(x)
    out: Tensor = net.c(y)
    return out


def zeros_beside(net: Net, x: Tensor) -> Tensor:
    out: Tensor = net.c(F.pad(net.b(x), (1, 1)))
    return out


def read_through_an_older_view(net: Net, x: Tensor) -> Tensor:
    y = net.norm(net.a(x))
    view = y.view(-1, 4)
    y[:, :2] += net.b(x)
    out: Tensor = net.c(view)
    return out


def read_as_it_is(net: Net, x: Tensor) -> Tensor:
    y = net.norm(net.a(x))
    out: Tensor = net.c(torch.cat([y[:, :2] + net.b(x), y[:, 2:]], 1))
    return out


def returned(net: Net, x: Tensor) -> Tensor:
    y = net.a(x)
    half = y[:, :2]
    half += net.b(x)
    out: Tensor = y
    return out


def returned_without_writing(net: Net, x: Tensor) -> Tensor:
    out: Tensor = net.a(x) + F.pad(net.b(x), (0, 2))
    return out


def zeroed(net: Net, x: Tensor) -> Tensor:
    y = net.a(x)
    y[:, 0].zero_()
    y[:, 3] = 0
    out: Tensor = net.c(y)
    return out


def padded(net: Net, x: Tensor) -> Tensor:
    out: Tensor = net.c(F.pad(net.a(x)[:, 1:3], (1, 1)))
    return out


@pytest.mark.parametrize(
    ("writing", "plain"),
    [
        (added_to_a_view, added_without_writing),
        (added_to_an_item, added_without_writing),
        (added_to_a_chunk, added_without_writing),
        (added_to_a_view_of_a_view, added_without_writing),
        (copied, copied_without_writing),
        (set_as_an_item, copied_without_writing),
        (written_into_zeros, zeros_beside),
        (set_in_zeros, zeros_beside),
        (read_through_an_older_view, read_as_it_is),
        (returned, returned_without_writing),
        (zeroed, padded),
    ],
)
def test_what_is_written_is_read_later(writing: Forward, plain: Forward) -> None:
    x = torch.randn(5, 3)
    with torch.no_grad():
        assert torch.equal(Net(writing).eval()(x), Net(plain).eval()(x))
    found, wanted = (network_graph(Net(forward), x) for forward in (writing, plain))
    assert found.groups == wanted.groups
    assert np.array_equal(found.adjacency.toarray(), wanted.adjacency.toarray())


def test_what_is_written_beside_is_not_read() -> None:
    def beside(net: Net, x: Tensor) -> Tensor:
        y: Tensor = net.a(x)
        written, read = y[:, :2], y[:, 2:]
        written += net.b(x)
        return read

    assert [block.name for block in network_graph(Net(beside)).blocks] == ["a"]


def test_what_cannot_be_followed_is_named() -> None:
    def sorted_into(net: Net, x: Tensor) -> Tensor:
        y = net.a(x)
        y[:, :2].cumsum_(1)
        out: Tensor = net.c(y)
        return out

    with pytest.raises(SpecError, match=r"cannot follow torch\.Tensor\.cumsum_ in the network \(Net\)"):
        network_graph(Net(sorted_into))


def test_what_comes_from_out_of_sight_is_refused_also_without_gradients() -> None:
    scripted = torch.jit.script(nn.Linear(3, 2))

    def hidden(net: Net, x: Tensor) -> Tensor:
        y = net.a(x)
        half, _ = y.chunk(2, 1)
        half += scripted(x)
        out: Tensor = net.c(y)
        return out

    with pytest.raises(SpecError, match="compiled code"):
        network_graph(Net(hidden))
