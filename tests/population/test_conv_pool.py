"""A first convolution and its pooling as one operation compute what torch's two do: alone, mapped and traced.

On the CPU these operations are told to take part; on CUDA they are the Triton kernels. Numbers are whole where results
must be equal: sums of them are exact in whatever order, and windows hold equal values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functional_call, grad, vmap

from dovetail.nets import net_builder
from dovetail.population import Population
from dovetail.population.ops import conv_pool
from dovetail.population.ops.conv_pool import conv_pool2d
from dovetail.population.ops.rules import MemberOperations
from dovetail.population.recording import record
from dovetail.population.trace import traced

from .helpers import DEVICES, images

NAN = float("nan")
OWN = {torch.ops.dovetail.conv_pool.default, torch.ops.dovetail.conv_pool_kernels.default}
PLAIN = {torch.ops.aten.unfold.default, torch.ops.aten.convolution.default, torch.ops.aten.cat.default}

each_device = pytest.mark.parametrize("device", DEVICES)


def whole(*shape: int, device: str = "cpu") -> Tensor:
    return torch.randint(-2, 3, shape, device=device).float()


def torchs(x: Tensor, weight: Tensor, bias: Tensor | None, padding: int, window: tuple[int, int]) -> Tensor:
    return F.max_pool2d(F.conv2d(x, weight, bias, padding=padding), window)


def ours(x: Tensor, weight: Tensor, bias: Tensor | None, padding: int, window: tuple[int, int]) -> Tensor:
    return conv_pool2d(x, weight, bias, (padding, padding), window)


def close(got: Tensor, wanted: Tensor) -> None:
    """Compare: in single precision numbers must be whole, and results equal."""
    tolerance = 0.0 if got.dtype == torch.float32 else 1e-9
    torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


def agree(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    padding: int = 0,
    window: tuple[int, int] = (2, 2),
    *,
    of_x: bool = False,
) -> None:
    """Compare a stack's pooled values, and the gradients of a weighted sum of them."""
    x.requires_grad_(of_x)
    given = [x, weight.requires_grad_()] + ([] if bias is None else [bias.requires_grad_()])
    leaves = given if of_x else given[1:]

    def with_rest(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        return lambda x, weight, bias=None: function(x, weight, bias, padding, window)

    got = vmap(with_rest(ours))(*given)
    wanted = torch.stack([with_rest(torchs)(*member) for member in zip(*given, strict=True)])
    close(got, wanted)
    if not wanted.isnan().any():
        change = whole(*wanted.shape, device=str(x.device)).to(x.dtype)
        mine, theirs = (torch.autograd.grad(y, leaves, change) for y in (got, wanted))
        for one, other in zip(mine, theirs, strict=True):
            close(one, other)


@each_device
@given(
    st.integers(1, 3),
    st.sampled_from([(3, 3), (5, 5), (2, 3)]),
    st.integers(0, 2),
    st.sampled_from([(2, 2), (3, 3), (1, 2)]),
    st.tuples(st.integers(7, 10), st.integers(7, 10)),
    st.booleans(),
)
def test_sizes_and_ties(
    device: str,
    channels: int,
    size: tuple[int, int],
    padding: int,
    window: tuple[int, int],
    shape: tuple[int, int],
    with_bias: bool,
) -> None:
    x, weight = whole(2, 3, channels, *shape, device=device), whole(2, 4, channels, *size, device=device)
    bias = whole(2, 4, device=device) if with_bias else None
    agree(x, weight, bias, padding, window)
    if device == "cpu":  # numbers that are not whole, to more digits than the kernels have
        x, weight = (torch.randn_like(t, dtype=torch.float64) for t in (x, weight))
        agree(x, weight, None if bias is None else torch.randn(2, 4).double(), padding, window, of_x=True)


@each_device
def test_more_windows_channels_and_samples_than_a_block(device: str) -> None:
    for side, channels in [
        (28, 70),
        (30, 64),
        (6, 3),
    ]:  # 13 x 13 and 14 x 14 windows, and fewer than a block's
        x, weight = whole(2, 9, 1, side, side, device=device), whole(2, channels, 1, 5, 5, device=device)
        agree(x, weight, whole(2, channels, device=device), 1)


@each_device
@given(st.lists(st.sampled_from([NAN, 0.0, 1.0, -2.0]), min_size=64, max_size=64))
def test_nan(device: str, numbers: list[float]) -> None:
    x = torch.tensor(numbers, device=device).view(2, 1, 1, 4, 8)
    agree(x, whole(2, 3, 1, 3, 3, device=device), whole(2, 3, device=device), 1)


@each_device
def test_real_numbers_in_single_precision(device: str) -> None:
    x, weight, bias = (torch.randn(*s, device=device) for s in [(2, 8, 1, 28, 28), (2, 6, 1, 5, 5), (2, 6)])
    got = vmap(lambda x, w, b: ours(x, w, b, 1, (2, 2)))(x, weight, bias)
    wanted = torch.stack([torchs(x[m], weight[m], bias[m], 1, (2, 2)) for m in range(2)])
    torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)


@each_device
@pytest.mark.parametrize("in_dims", [(None, 0), (0, None), (1, 2), (None, 1)])
def test_what_members_share(device: str, in_dims: tuple[int | None, int | None]) -> None:
    x, weight = whole(2, 1, 7, 8, device=device), whole(4, 1, 3, 3, device=device)
    of_x, of_weight = in_dims
    x = x if of_x is None else torch.stack([x, x + 1, -x], of_x)
    weight = weight if of_weight is None else torch.stack([weight, weight + 1, -weight], of_weight)
    weight.requires_grad_()
    got = vmap(lambda x, w: ours(x, w, None, 0, (2, 2)), in_dims)(x, weight)
    xs, weights = ([t] * 3 if dim is None else t.unbind(dim) for t, dim in ((x, of_x), (weight, of_weight)))
    wanted = torch.stack([torchs(*both, None, 0, (2, 2)) for both in zip(xs, weights, strict=True)])
    close(got, wanted)
    change = whole(*got.shape, device=device)
    close(torch.autograd.grad(got, weight, change)[0], torch.autograd.grad(wanted, weight, change)[0])


@each_device
def test_maps_of_maps(device: str) -> None:
    x, weight = whole(3, 2, 1, 7, 8, device=device), whole(5, 4, 1, 3, 3, device=device)

    def all_pairs(function: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        return vmap(lambda w: vmap(lambda x: function(x, w))(x))(weight)

    got = all_pairs(lambda x, w: ours(x, w, None, 0, (2, 2)))
    close(got, all_pairs(lambda x, w: torchs(x, w, None, 0, (2, 2))))


@each_device
def test_gradients_inside_of_the_map(device: str) -> None:
    x, weight, bias = (whole(*s, device=device) for s in [(3, 2, 1, 7, 6), (3, 4, 1, 3, 3), (3, 4)])

    def gradients(function: Callable[..., Tensor]) -> tuple[Tensor, ...]:
        result: tuple[Tensor, ...] = vmap(
            grad(lambda w, b, x: function(x, w, b, 1, (2, 2)).square().sum(), argnums=(0, 1))
        )(weight, bias, x)
        return result

    for got, want in zip(gradients(ours), gradients(torchs), strict=True):
        torch.testing.assert_close(got, want)


@pytest.mark.parametrize("of_x", [False, True])
def test_second_derivatives(of_x: bool) -> None:
    x, weight, bias = (torch.randn(*s, dtype=torch.float64) for s in [(2, 2, 6, 7), (3, 2, 3, 3), (3,)])

    def derivatives(function: Callable[..., Tensor]) -> list[Tensor]:
        leaves = [t.clone().requires_grad_(of_x or t is not x) for t in (x, weight, bias)]
        wanted = leaves if of_x else leaves[1:]
        first = torch.autograd.grad(function(*leaves, 1, (2, 2)).pow(3).sum(), wanted, create_graph=True)
        return list(torch.autograd.grad(torch.cat([f.flatten() for f in first]).square().sum(), wanted))

    for got, want in zip(derivatives(ours), derivatives(torchs), strict=True):
        torch.testing.assert_close(got, want)


@each_device
def test_stand_ins_look_like_the_results(device: str) -> None:
    x, kernels = torch.randn(2, 3, 1, 7, 8, device=device), torch.randn(2, 4, 10, device=device)
    values, places = conv_pool.conv_pool(x, kernels, (3, 3), (2, 2))
    assert places.dtype == torch.uint8
    torch.library.opcheck(conv_pool.conv_pool, (x, kernels, (3, 3), (2, 2)))
    torch.library.opcheck(conv_pool.conv_pool, (x[0], kernels, (3, 3), (2, 2)))
    torch.library.opcheck(conv_pool.kernel_gradient, (values, places, x, (3, 3), (2, 2), 10))


@pytest.fixture
def own_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the two operations on the CPU too."""
    monkeypatch.setattr(conv_pool, "pools_well", lambda weight, convolved, window: True)


def members_step(network: nn.Module, device: str) -> tuple[Callable[..., list[Tensor]], dict[str, Tensor]]:
    """Return all gradients of a stack of networks, as a function of its parameters and inputs; and parameters."""

    def forward(params: dict[str, Tensor], x: Tensor) -> Tensor:
        with MemberOperations():
            output: Tensor = functional_call(network, params, (x,))
        return output.square().sum()

    def step(params: dict[str, Tensor], x: Tensor) -> list[Tensor]:
        with torch.enable_grad():
            leaves = {name: param.detach().requires_grad_() for name, param in params.items()}
            loss = vmap(forward)(leaves, x).sum()
            return list(torch.autograd.grad(loss, list(leaves.values())))

    network.to(device)
    return step, {name: torch.randn(3, *p.shape, device=device) for name, p in network.named_parameters()}


def targets_of(network: nn.Module, shape: tuple[int, ...] = (3, 2, 1, 9, 8)) -> set[object]:
    step, params = members_step(network, "cpu")
    return {node.target for node in record(step, (params, torch.randn(shape))).graph.nodes}


@each_device
def test_a_trace_has_the_two_operations_only_and_gives_the_same(device: str, own_operations: None) -> None:
    network = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.MaxPool2d(2), nn.ReLU())
    step, params = members_step(network, device)
    x = torch.randn(3, 2, 1, 9, 8, device=device)
    targets = {node.target for node in record(step, (params, x)).graph.nodes}
    assert targets >= OWN
    assert not targets & (PLAIN - {torch.ops.aten.cat.default})  # the bias is put beside its kernel
    assert torch.ops.aten.bmm.default not in targets
    replay = traced(step)
    replay(params, torch.zeros_like(x))  # records
    for got, want in zip(replay(params, x), step(params, x), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


class _Between(nn.Module):
    def __init__(self, between: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.convolution, self._between = nn.Conv2d(1, 4, 3), between

    def forward(self, x: Tensor) -> Tensor:
        return F.max_pool2d(self._between(self.convolution(x)), 2)


@pytest.mark.parametrize(
    ("network", "own"),
    [
        (_Between(lambda y: y), True),
        (_Between(F.relu_), False),  # the same tensor, changed
        (_Between(F.relu), False),
        (nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4, track_running_stats=False), nn.MaxPool2d(2)), False),
        (nn.Sequential(nn.Conv2d(1, 4, 3, padding="same"), nn.MaxPool2d(2)), True),
        (nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.MaxPool2d(2)), False),
        (nn.Sequential(nn.Conv2d(1, 4, 3), nn.MaxPool2d(2, stride=1)), False),
        (nn.Sequential(nn.Conv2d(1, 4, 3), nn.MaxPool2d(2, ceil_mode=True)), False),
        (nn.Sequential(nn.Conv2d(1, 2, 1), nn.Conv2d(2, 4, 3), nn.MaxPool2d(2)), False),  # needs its input's gradient
    ],
    ids=str,
)  # fmt: skip
def test_only_a_first_convolution_that_is_pooled_at_once(
    own_operations: None, network: nn.Module, own: bool
) -> None:
    assert (targets_of(network) >= OWN) == own
    assert bool(targets_of(network) & OWN) == own
    step, params = members_step(network, "cpu")
    x = torch.randn(3, 2, 1, 9, 8)
    plainly = step(params, x)  # without a trace, all is as before
    for got, want in zip(traced(step)(params, x), plainly, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_a_convolution_that_is_used_besides_is_kept(own_operations: None) -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convolution = nn.Conv2d(1, 4, 3)

        def forward(self, x: Tensor) -> Tensor:
            y: Tensor = self.convolution(x)
            return F.max_pool2d(y, 2).flatten(1).sum(1) + y.flatten(1).sum(1)

    assert targets_of(Twice()) >= OWN | {torch.ops.aten.unfold.default}


@pytest.mark.parametrize(
    ("dtype", "size", "window", "triton", "own"),
    [
        (torch.float32, 5, 2, True, True),
        (torch.float32, 6, 2, True, False),  # more values than a patch may have
        (torch.float32, 5, 5, True, False),  # more places than a window may have
        (torch.float64, 5, 2, True, False),
        (torch.float32, 5, 2, False, False),
    ],
)
def test_when_the_kernels_are_used(
    dtype: torch.dtype, size: int, window: int, triton: bool, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conv_pool, "has_triton", lambda: triton)

    def pool(x: Tensor, weight: Tensor) -> Tensor:
        with MemberOperations():
            pooled: Tensor = F.max_pool2d(F.conv2d(x, weight), window)
        return pooled

    with FakeTensorMode():  # CUDA without a device
        x, weight = (torch.empty(2, 4, 1, side, side, dtype=dtype, device="cuda") for side in (28, size))
        recorded = record(vmap(pool), (x, weight))
    assert (torch.ops.dovetail.conv_pool.default in {node.target for node in recorded.graph.nodes}) == own


def test_windows_larger_than_the_convolution_are_torchs_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tensor, "is_cuda", True)
    convolved, weight = torch.zeros(1, 4, 3, 3), torch.zeros(4, 1, 3, 3)
    monkeypatch.setattr(conv_pool, "has_triton", lambda: True)
    assert conv_pool.pools_well(weight, convolved, (2, 2))
    assert not conv_pool.pools_well(weight, convolved, (2, 4))


def test_a_population_learns_the_same(own_operations: None, monkeypatch: pytest.MonkeyPatch) -> None:
    split = images(40)

    def learned() -> Population:
        population = Population(net_builder("lenet:6-10-8", (1, 8, 8), 5), seeds=range(3), device="cpu")
        population.fit(split, epochs=3, batch_size=16, progress=False)
        return population

    calls: list[Tensor] = []

    def noted(x: Tensor, *others: Any) -> Tensor:
        calls.append(x)
        return conv_pool2d(x, *others)

    monkeypatch.setattr(conv_pool, "conv_pool2d", noted)
    with_it = learned()
    assert calls
    loss = with_it.evaluate(split)["loss"]
    calls.clear()
    monkeypatch.setattr(conv_pool, "pools_well", lambda *_: False)
    without = learned()
    assert not calls
    for name, param in with_it.params.items():
        torch.testing.assert_close(param, without.params[name], rtol=0, atol=1e-5)
    torch.testing.assert_close(loss, without.evaluate(split)["loss"])
