"""Draws are the same whoever makes them: torch's operations, one of their own, or the Triton kernel behind it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import vmap
from torch.fx.experimental.proxy_tensor import make_fx

from dovetail.population import Noise, member_keys
from dovetail.population import random as draws

from .helpers import DEVICES

SHAPES = [(50,), (1025,), (3, 5, 7), (1,), (0,), ()]
KINDS = ["bits", "normal"]
BITS = [[333737364, 1274644685, -289606329], [-852404837, -670638150, -978443611]]
NORMAL = [[1.9095751, -0.2175727, 0.0753654], [0.1130167, 0.5510010, 0.6094638]]
LATER = [[[1333027465, 612850936]], [[-1779506517, -1349915004]]]
OPERATION = torch.ops.dovetail.draw.default


def drawn(kind: str, keys: Tensor, shape: tuple[int, ...]) -> Tensor:
    if kind == "bits":
        return draws.draw_bits(keys, 3, shape)
    return draws.draw_normal(keys, 3, shape, torch.float32)


def test_draws_do_not_change_between_versions() -> None:
    # What was trained before could not be trained again otherwise.
    noise, like = Noise(member_keys([0, -5], stream=2)), torch.zeros(1)
    assert noise.bits((3,)).tolist() == BITS
    torch.testing.assert_close(noise.normal(like, (3,)), torch.tensor(NORMAL), atol=1e-6, rtol=0)
    assert noise.bits((1, 2)).tolist() == LATER


def test_normal_numbers_take_two_sites() -> None:
    one, other, like = Noise(member_keys([7])), Noise(member_keys([7])), torch.zeros(1)
    one.normal(like, (9,))
    for _ in range(2):
        other.bits((9,))
    assert torch.equal(one.bits((9,)), other.bits((9,)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_operation_draws_what_torchs_do_mapped_and_traced(
    kind: str, shape: tuple[int, ...], device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = torch.cat([member_keys(range(5)), member_keys([-(2**60)], stream=9)]).view(2, 3)
    plain = drawn(kind, keys, shape)
    assert plain.shape == (2, 3, *shape)
    monkeypatch.setattr(draws, "_by_kernel", lambda key: True)
    keys = keys.to(device)

    def draw(keys: Tensor) -> Tensor:
        return drawn(kind, keys, shape)

    turned = keys.T.contiguous().T  # strides that are not those of a new tensor
    for function, given in [
        (draw, keys),
        (draw, turned),
        (vmap(draw), keys),
        (vmap(vmap(draw)), keys),
        (vmap(draw, in_dims=1, out_dims=1), keys),
    ]:
        recording = make_fx(function, tracing_mode="fake")(given)
        (node,) = [node for node in recording.graph.nodes if node.target is OPERATION]
        assert node.meta["val"].dtype == plain.dtype
        for found in (function(given), recording(given)):
            torch.testing.assert_close(found.cpu(), plain, atol=1e-5 * (kind == "normal"), rtol=0)
    assert torch.equal(draw(keys[0, 0]), draw(keys)[0, 0])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_stand_ins_look_like_the_results(kind: str, device: str) -> None:
    keys = member_keys(range(6), device=device).view(2, 3)
    for key in (keys, keys.T, keys[0, 0]):
        torch.library.opcheck(draws._draw, (key, 1, kind == "normal", (4, 2)))


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize(
    ("kind", "dtype", "triton", "own"),
    [
        ("bits", torch.float32, True, [False]),
        ("bits", torch.float32, False, []),
        ("normal", torch.float32, True, [True]),
        ("normal", torch.float32, False, []),
        ("normal", torch.float64, True, [False, False]),  # bits from the kernel, the rest by torch
    ],
)
def test_when_the_kernel_is_used(
    kind: str,
    dtype: torch.dtype,
    triton: bool,
    own: list[bool],
    members: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(draws, "has_triton", lambda: triton)

    def draw(key: Tensor) -> Tensor:
        noise = Noise(key)
        return (
            noise.bits((7,))
            if kind == "bits"
            else noise.normal(torch.zeros(1, dtype=dtype, device="cuda"), (7,))
        )

    with FakeTensorMode():  # CUDA without a device
        keys = torch.zeros(members, dtype=torch.int64, device="cuda")
        recorded = make_fx(vmap(draw))(keys)
    calls = [node for node in recorded.graph.nodes if node.target is OPERATION]
    assert [call.args[2] for call in calls] == own


def test_on_the_cpu_no_operation_of_our_own_is_used() -> None:
    recorded = make_fx(lambda keys: drawn("normal", keys, (7,)))(member_keys([0, 1]))
    assert OPERATION not in {node.target for node in recorded.graph.nodes}
