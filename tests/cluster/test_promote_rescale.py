"""Rescaling: hidden units get a norm, the function stays, zeros stay zeros."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

import dovetail as dt
from dovetail.cluster.promote import rescale_, rescale_stacked_
from dovetail.cluster.promote.rescale import check_rescaling
from dovetail.errors import ShapeError, SpecError, TrainingError
from dovetail.graph import module_chain

from .graphs import Backwards


def incoming_norms(model: nn.Module) -> list[Tensor]:
    """Norms of incoming weights and bias together, for every layer but the last."""
    layers = [m for m in model.modules() if isinstance(m, nn.Linear | nn.Conv2d)]
    norms = []
    for layer in layers[:-1]:
        assert layer.bias is not None
        rows = torch.cat([layer.weight.detach().flatten(1), layer.bias.detach()[:, None]], 1)
        norms.append(rows.norm(dim=1))
    return norms


def shaken(spec: str, shape: tuple[int, ...], seed: int) -> nn.Module:
    """Return a network with biases other than 0, in float64."""
    model = dt.build_net(spec, shape, 10, seed=seed).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return model


@given(seed=st.integers(0, 2**31), norm=st.floats(0.1, 10))
def test_the_function_stays_and_norms_are_as_asked(seed: int, norm: float) -> None:
    model = shaken("mlp:9-7-8,output_bias=true", (6,), seed)
    x = torch.randn(20, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    before = model(x)
    rescale_(model, norm)
    torch.testing.assert_close(model(x), before, rtol=1e-10, atol=1e-12)
    for norms in incoming_norms(model):
        torch.testing.assert_close(norms, torch.full_like(norms, norm), rtol=1e-12, atol=0)


def test_convolutions_by_channel_and_through_flattening() -> None:
    model = shaken("small-cnn", (2, 12, 12), 0)
    x = torch.randn(5, 2, 12, 12, dtype=torch.float64)
    before = model(x)
    rescale_(model, example_input=x[:1])
    torch.testing.assert_close(model(x), before, rtol=1e-10, atol=1e-10)
    for norms in incoming_norms(model):
        torch.testing.assert_close(norms, torch.full_like(norms, math.sqrt(2)), rtol=1e-12, atol=0)


def test_layers_are_taken_in_the_order_of_their_use() -> None:
    model = Backwards().double()
    x = torch.randn(20, 6, dtype=torch.float64)
    before = model(x)
    rescale_(model)
    torch.testing.assert_close(model(x), before, rtol=1e-10, atol=1e-12)
    for layer in (model.first, model.second):
        rows = torch.cat([layer.weight, layer.bias[:, None]], 1).detach()
        torch.testing.assert_close(rows.norm(dim=1), torch.full((6,), math.sqrt(2), dtype=torch.float64))


def test_shortcuts_in_code_are_seen_before_anything_is_changed() -> None:
    model = InCode(torch.relu, shortcut=True)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    with pytest.raises(ShapeError, match="form a chain"):
        rescale_(model)
    assert all(torch.equal(p.detach(), b) for p, b in zip(model.parameters(), before, strict=True))


def test_again_changes_nothing() -> None:
    model = shaken("mlp:9-7", (6,), 0)
    rescale_(model)
    once = [parameter.detach().clone() for parameter in model.parameters()]
    rescale_(model)
    for parameter, before in zip(model.parameters(), once, strict=True):
        torch.testing.assert_close(parameter.detach(), before, rtol=1e-12, atol=0)


def test_pruned_weights_stay_zero_and_empty_units_lead_nowhere() -> None:
    model = shaken("mlp:9-7", (6,), 0)
    first, second = (m for name, m in model.named_modules() if name in ("dense1", "dense2"))
    assert isinstance(first, nn.Linear)
    assert isinstance(second, nn.Linear)
    with torch.no_grad():
        first.weight[:, ::2] = 0
        first.weight[3], first.bias[3] = 0, 0
        second.weight[1] = 0  # but not its bias
    x = torch.randn(20, 6, dtype=torch.float64)
    before, zeros = model(x), {name: p == 0 for name, p in model.named_parameters()}
    rescale_(model)
    torch.testing.assert_close(model(x), before, rtol=1e-10, atol=1e-12)
    for name, parameter in model.named_parameters():
        assert not parameter[zeros[name]].any()
        assert bool(parameter.isfinite().all())
    assert not second.weight[:, 3].any()
    assert abs(float(second.bias[1].detach().abs()) - math.sqrt(2)) < 1e-12


def test_members_as_if_alone_and_only_those_named() -> None:
    population = dt.Population(dt.net_builder("small-cnn", (1, 8, 8), 10), seeds=[0, 1, 2], device="cpu")
    alone = [population.member(place) for place in range(3)]
    before = {name: param.clone() for name, param in population.params.items()}
    example = torch.zeros(1, 1, 8, 8)
    layers = module_chain(alone[0], example)
    rescale_stacked_(population.params, layers, members=torch.tensor([True, False, True]))
    for place in (0, 2):
        rescale_(alone[place], example_input=example)
        for name, parameter in alone[place].named_parameters():
            torch.testing.assert_close(population.params[name][place], parameter.detach())
            assert "weight" not in name or not torch.equal(before[name][place], parameter.detach())
    assert all(torch.equal(population.params[name][1], before[name][1]) for name in before)


@pytest.mark.parametrize("layer", [nn.Tanh(), nn.BatchNorm1d(5), nn.GELU(), nn.Softplus()])
def test_what_would_change_the_function_is_refused(layer: nn.Module) -> None:
    with pytest.raises(ShapeError, match=f"1 is {type(layer).__name__}"):
        rescale_(nn.Sequential(nn.Linear(3, 5), layer, nn.Linear(5, 2)))


@pytest.mark.parametrize("norm", [-1, 0, math.nan, math.inf, "a", None, True, 10**400])
def test_a_norm_is_a_positive_number(norm: float) -> None:
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))
    before = [parameter.detach().clone() for parameter in model.parameters()]
    with pytest.raises(SpecError, match="norm must be"):
        rescale_(model, norm)
    assert all(torch.equal(p.detach(), b) for p, b in zip(model.parameters(), before, strict=True))


def test_what_is_no_network_is_refused() -> None:
    for model in (None, [nn.Linear(2, 2)]):
        with pytest.raises(SpecError, match=r"nn\.Module"):
            rescale_(model)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="no layers with weights"):
        rescale_(nn.ReLU())


class InCode(nn.Module):
    """A network whose activation, and a shortcut on demand, are in its code, where no module shows them."""

    def __init__(
        self, activation: Callable[[Tensor], Tensor], shortcut: bool = False, zero: bool = False
    ) -> None:
        super().__init__()
        self.first, self.second, self.last = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 4)
        self.activation, self.shortcut = activation, shortcut
        if zero:
            nn.init.zeros_(self.last.weight)
            nn.init.zeros_(self.last.bias)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.activation(self.first(x))
        further = self.activation(self.second(hidden))
        found: Tensor = self.last(further + hidden if self.shortcut else further)
        return found


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_inputs_show_what_layers_do_not(dtype: torch.dtype, size: float) -> None:
    x = size * torch.randn(16, 6, generator=torch.Generator().manual_seed(0))

    def check(**options: object) -> None:
        build = partial(InCode, **options)  # type: ignore[arg-type]
        population = dt.Population(build, seeds=[0], device="cpu", dtype=dtype)
        before = {name: param.clone() for name, param in population.params.items()}
        check_rescaling(population, module_chain(population.member(0)), x)
        assert all(torch.equal(before[name], param) for name, param in population.params.items())

    check(activation=torch.relu)
    check(activation=F.leaky_relu)
    check(activation=torch.relu, zero=True)
    with pytest.raises(ShapeError, match="form a chain"):
        check(activation=torch.relu, shortcut=True)
    for options in (
        {"activation": torch.tanh}, {"activation": torch.tanh, "zero": True}, {"activation": F.gelu},
    ):  # fmt: skip
        with pytest.raises(ShapeError, match="changes what this network computes"):
            check(**options)


@pytest.mark.parametrize(
    "spec", ["mlp:9-7-8", "mlp:300-300-300-300-300-300", "small-cnn", "lenet", "vgg11,batch_norm=false"]
)
def test_our_networks_are_let_through(spec: str) -> None:
    population = dt.Population(dt.net_builder(spec, (1, 32, 32), 10), seeds=[0], device="cpu")
    x = torch.rand(4, 1, 32, 32)
    check_rescaling(population, module_chain(population.member(0), x), x)


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_weights_that_are_not_finite_are_named_and_nothing_is_changed(odd: float) -> None:
    model = shaken("mlp:5-4", (3,), seed=0)
    with torch.no_grad():
        model.get_parameter("dense2.bias")[1] = odd
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(TrainingError, match=r"dense2\.bias"):
        rescale_(model)
    assert all(
        torch.equal(value.nan_to_num(), before[name].nan_to_num())
        for name, value in model.state_dict().items()
    )
