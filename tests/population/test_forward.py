"""The operations that are worded anew compute what torch's own compute, gradients included."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.func import vmap

from dovetail.population import Noise, member_keys
from dovetail.population.ops.convolution import patch_conv2d
from dovetail.population.ops.linear import linear
from dovetail.population.ops.pooling import max_pool2d_apart
from dovetail.population.ops.rules import MemberOperations


def agree(ours: Callable[..., Tensor], theirs: Callable[..., Tensor], *inputs: Tensor) -> None:
    """Compare values and gradients, for single inputs and mapped over a first dimension."""
    inputs = tuple(x.double().requires_grad_() for x in inputs)
    reference = torch.stack([theirs(*members) for members in zip(*inputs, strict=True)])
    mapped = vmap(ours)(*inputs)
    torch.testing.assert_close(mapped, reference)
    torch.testing.assert_close(ours(*(x[0] for x in inputs)), reference[0])
    weight = torch.randn_like(reference)
    wanted = torch.autograd.grad(reference, inputs, weight)
    for got, want in zip(torch.autograd.grad(mapped, inputs, weight), wanted, strict=True):
        torch.testing.assert_close(got, want)


@given(st.integers(1, 4), st.lists(st.integers(1, 3), max_size=3), st.integers(1, 5), st.integers(1, 5))
def test_linear(members: int, batch: list[int], inputs: int, outputs: int) -> None:
    x, w, b = (
        torch.randn(members, *batch, inputs),
        torch.randn(members, outputs, inputs),
        torch.randn(members, outputs),
    )
    agree(linear, F.linear, x, w, b)
    agree(linear, F.linear, x, w)


def test_linear_gradients_have_the_layout_of_what_they_belong_to() -> None:
    x, w = torch.randn(3, 8, 5, requires_grad=True), torch.randn(3, 7, 5, requires_grad=True)
    for gradient in torch.autograd.grad(vmap(linear)(x, w).square().sum(), (x, w)):
        assert gradient.is_contiguous()


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(0, 2))
def test_patch_convolution(channels: int, kernel_h: int, kernel_w: int, stride: int, padding: int) -> None:
    x = torch.randn(2, 3, channels, 6, 7)
    w, b = torch.randn(2, 4, channels, kernel_h, kernel_w), torch.randn(2, 4)
    agree(
        lambda x, w, b: patch_conv2d(x, w, b, (stride, stride), (padding, padding)),
        lambda x, w, b: F.conv2d(x, w, b, stride, padding),
        x, w, b,
    )  # fmt: skip


@given(st.integers(1, 3), st.integers(1, 3), st.integers(3, 8))
def test_max_pooling_without_overlap(kernel_h: int, kernel_w: int, size: int) -> None:
    # Whole numbers, so that many windows hold equal values: the first must be chosen, as torch does.
    x = torch.randint(3, (2, 2, 2, size, size + 1))
    kernel = (kernel_h, kernel_w)
    agree(lambda x: max_pool2d_apart(x, kernel), lambda x: F.max_pool2d(x, kernel), x)


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(1, 4, 3, padding="same"),
        nn.Conv2d(1, 4, 4, padding="same"),
        nn.Conv2d(1, 4, 3, padding="valid", stride=2),
        nn.Conv2d(1, 4, 3, dilation=2),
        nn.Conv2d(4, 4, 3, groups=2),
        nn.Conv2d(20, 4, 3, bias=False),
        nn.MaxPool2d(2),
        nn.MaxPool2d(3, stride=1, padding=1),
    ],
    ids=repr,
)
def test_every_kind_of_layer_gives_torchs_own_result(layer: nn.Module) -> None:
    channels = layer.in_channels if isinstance(layer, nn.Conv2d) else 2
    x = torch.randn(3, channels, 8, 8)
    with MemberOperations():
        ours = layer(x)
    torch.testing.assert_close(ours, layer(x))


@pytest.mark.parametrize(
    ("layer", "shape", "unit"),
    [
        (nn.Dropout(0.3), (400, 500), ()),
        (nn.Dropout1d(0.3), (400, 50, 4), (4,)),
        (nn.Dropout2d(0.3), (400, 50, 2, 3), (2, 3)),
        (nn.Dropout3d(0.3), (400, 50, 2, 1, 3), (2, 1, 3)),
    ],
    ids=repr,
)
def test_dropout_drops_whole_units_and_keeps_the_mean(
    layer: nn.Module, shape: tuple[int, ...], unit: tuple[int, ...]
) -> None:
    with MemberOperations(Noise(member_keys([0])[0])):
        y = layer(torch.ones(shape))
    assert abs(y.mean().item() - 1) < 0.02
    units = y.flatten(len(shape) - len(unit)) if unit else y.unsqueeze(-1)
    assert torch.equal(units.amin(-1), units.amax(-1))
    layer.eval()
    with MemberOperations(Noise(member_keys([0])[0])):
        assert torch.equal(layer(torch.ones(shape)), torch.ones(shape))


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    x = torch.randn(1000, 1000, generator=torch.Generator().manual_seed(0))
    with MemberOperations(Noise(member_keys([0])[0])):
        y = F.alpha_dropout(x, 0.3, training=True)
    theirs = F.alpha_dropout(x, 0.3, training=True)
    assert y.min() == pytest.approx(theirs.min().item(), abs=0.5)
    assert y.mean().item() == pytest.approx(0, abs=0.01)
    assert y.var().item() == pytest.approx(1, abs=0.01)
    assert (y == y.mode().values.mode().values).float().mean().item() == pytest.approx(0.3, abs=0.01)


def test_dropout_of_everything_and_nothing() -> None:
    x = torch.ones(5, 5)
    with MemberOperations(Noise(member_keys([0])[0])):
        assert torch.equal(F.dropout(x, 0.0), x)
        assert torch.equal(F.dropout(x, 1.0), torch.zeros(5, 5))
