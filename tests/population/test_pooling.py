"""Max-pooling by its own two operations computes what torch's does: alone, mapped over members, and traced.

On the CPU these operations are told to take part; on CUDA they are the Triton kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx

from dovetail.population.ops import pooling
from dovetail.population.ops.pooling import max_pool, max_pool2d_apart, spread
from dovetail.population.ops.rules import MemberOperations
from dovetail.population.trace import traced

from .helpers import DEVICES

BY_KERNEL = pooling._by_kernel
NAN, INF = float("nan"), float("inf")
pytestmark = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture(autouse=True, scope="module")
def own_operations() -> Iterator[None]:
    """Use the two operations on the CPU too, for the same inputs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pooling, "_by_kernel", lambda x, kernel: x.dtype == torch.float32)
        yield


def both_passes(x: Tensor, weight: Tensor, kernel: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """Return what a stack is pooled to, and the gradient of its weighted sum."""
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        pooled = vmap(lambda x: max_pool2d_apart(x, kernel))(leaf)
        (gradient,) = torch.autograd.grad(pooled, leaf, weight)
    return pooled.detach(), gradient


def torchs_passes(x: Tensor, weight: Tensor, kernel: tuple[int, int]) -> tuple[Tensor, Tensor]:
    leaf = x.detach().requires_grad_()
    pooled = torch.stack([F.max_pool2d(member, kernel) for member in leaf])
    (gradient,) = torch.autograd.grad(pooled, leaf, weight)
    return pooled.detach(), gradient


def weight_for(x: Tensor, kernel: tuple[int, int]) -> Tensor:
    return torch.randn(
        *x.shape[:-2], x.shape[-2] // kernel[0], x.shape[-1] // kernel[1], dtype=x.dtype, device=x.device
    )


def agree(x: Tensor, kernel: tuple[int, int]) -> None:
    weight = weight_for(x, kernel)
    for got, want in zip(both_passes(x, weight, kernel), torchs_passes(x, weight, kernel), strict=True):
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


@given(
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.integers(3, 9),
    st.integers(3, 9),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_even_and_odd_sizes(
    device: str, kernel: tuple[int, int], height: int, width: int, dtype: torch.dtype
) -> None:
    agree(torch.randn(2, 3, 2, height, width, device=device, dtype=dtype), kernel)


@given(st.tuples(st.integers(1, 3), st.integers(1, 3)), st.integers(3, 9))
def test_the_first_of_equal_values_is_chosen(device: str, kernel: tuple[int, int], size: int) -> None:
    agree(torch.randint(3, (2, 2, 2, size, size + 1), device=device).float(), kernel)


@given(st.lists(st.sampled_from([NAN, INF, -INF, 0.0, 1.0]), min_size=2 * 4 * 5, max_size=2 * 4 * 5))
def test_nan_and_infinity(device: str, numbers: list[float]) -> None:
    agree(torch.tensor(numbers, device=device).view(2, 1, 1, 4, 5), (2, 2))


def test_more_windows_than_a_block(device: str) -> None:
    agree(torch.randn(3, 7, 5, 26, 26, device=device), (2, 2))
    agree(torch.randn(3, 7, 5, 27, 25, device=device), (2, 2))


def test_inputs_that_are_not_contiguous(device: str) -> None:
    x = torch.randn(4, 6, 2, 3, 2, device=device).permute(4, 2, 3, 0, 1)
    agree(x, (2, 2))
    by_column = vmap(lambda x: max_pool2d_apart(x, (2, 2)), in_dims=2)(x.movedim(0, 2))
    torch.testing.assert_close(by_column, vmap(lambda x: max_pool2d_apart(x, (2, 2)))(x))


def test_a_trace_records_both_operations_and_gives_the_same(device: str) -> None:
    shape = (3, 2, 2, 7, 6)
    first, x = torch.zeros(shape, device=device), torch.randn(shape, device=device)
    weight = weight_for(x, (2, 2))
    recorded = make_fx(lambda x, w: both_passes(x, w, (2, 2)), tracing_mode="fake")(first, weight)
    targets = {node.target for node in recorded.graph.nodes}
    assert {torch.ops.dovetail.max_pool.default, torch.ops.dovetail.max_pool_spread.default} <= targets
    replay = traced(lambda x, w: both_passes(x, w, (2, 2)))
    replay(first, weight)  # records
    for got, want in zip(replay(x, weight), torchs_passes(x, weight, (2, 2)), strict=True):
        torch.testing.assert_close(got, want, rtol=0, atol=0)


def test_gradients_inside_of_the_map(device: str) -> None:
    x = torch.randn(3, 2, 2, 5, 6, device=device)
    ours = vmap(grad(lambda x: max_pool2d_apart(x, (2, 2)).square().sum()))(x)
    leaf = x.clone().requires_grad_()
    (wanted,) = torch.autograd.grad(F.max_pool2d(leaf.flatten(0, 1), 2).square().sum(), leaf)
    torch.testing.assert_close(ours, wanted)


def test_second_derivatives(device: str) -> None:
    x, direction = (torch.randn(2, 3, 2, 5, 7, device=device) for _ in range(2))

    def derivatives(pool: Callable[[Tensor], Tensor]) -> Tensor:
        leaf = x.clone().requires_grad_()
        (first,) = torch.autograd.grad(pool(leaf).pow(3).sum(), leaf, create_graph=True)
        return torch.autograd.grad(first, leaf, direction)[0]

    ours = derivatives(vmap(lambda x: max_pool2d_apart(x, (2, 3))))
    torch.testing.assert_close(ours, derivatives(lambda x: F.max_pool2d(x.flatten(0, 1), (2, 3))))


def test_many_gradients_of_one_pooling(device: str) -> None:
    x, weights = torch.randn(2, 5, 4, device=device), torch.randn(3, 2, 2, 2, device=device)
    _, places = max_pool(x, (2, 2))
    mapped = vmap(lambda w: spread(w, places, (5, 4), (2, 2)))(weights)
    for got, weight in zip(mapped, weights, strict=True):
        torch.testing.assert_close(got, spread(weight, places, (5, 4), (2, 2)))


def test_stand_ins_look_like_the_results(device: str) -> None:
    x = torch.randn(2, 3, 7, 6, device=device)
    values, places = max_pool(x, (2, 3))
    assert places.dtype == torch.uint8
    torch.library.opcheck(max_pool, (x, (2, 3)))
    torch.library.opcheck(spread, (values, places, (7, 6), (2, 3)))


@pytest.mark.parametrize(
    ("dtype", "side", "triton", "own"),
    [
        (torch.float32, 2, True, True),
        (torch.float32, 16, True, True),
        (torch.float32, 17, True, False),  # places in the window need more than a byte
        (torch.float64, 2, True, False),
        (torch.float32, 2, False, False),
    ],
)
def test_when_the_kernels_are_used(
    device: str, dtype: torch.dtype, side: int, triton: bool, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooling, "_by_kernel", BY_KERNEL)
    monkeypatch.setattr(pooling, "has_triton", lambda: triton)

    def pool(x: Tensor) -> Tensor:
        with MemberOperations():
            return F.max_pool2d(x, side)

    with FakeTensorMode():  # CUDA without a device
        recorded = make_fx(vmap(pool))(torch.empty(2, 1, 1, 34, 34, dtype=dtype, device="cuda"))
    assert (torch.ops.dovetail.max_pool.default in {node.target for node in recorded.graph.nodes}) == own


def test_windows_larger_than_the_input_are_torchs_error(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooling, "_by_kernel", BY_KERNEL)
    with pytest.raises(RuntimeError, match="Output size is too small"):
        max_pool2d_apart(torch.randn(1, 1, 3, 3, device=device), (2, 4))
