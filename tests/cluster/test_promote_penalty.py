"""The clusterability penalty: against the whole Laplacian, finite differences, and networks that fall apart."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

import dovetail as dt
from dovetail.cluster.promote import ClusterabilityPenalty
from dovetail.cluster.promote.penalty import mean_eigenvalue
from dovetail.errors import ShapeError, SpecError, TrainingError
from dovetail.graph import module_chain
from dovetail.population.trace import traced

from .graphs import Backwards


def chain(*sizes: int, seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1]).double()


def whole_laplacian(matrices: list[Tensor]) -> Tensor:
    """L_sym of the graph of these strengths ``[outputs, inputs]``, units without connections left out."""
    sizes = [matrices[0].shape[1], *(len(matrix) for matrix in matrices)]
    starts = np.cumsum([0, *sizes])
    adjacency = matrices[0].new_zeros(sum(sizes), sum(sizes))
    for place, matrix in enumerate(matrices):
        rows = slice(starts[place + 1], starts[place + 2])
        adjacency[rows, starts[place] : starts[place + 1]] = matrix
    adjacency = adjacency + adjacency.T
    there = adjacency.sum(1) > 0
    adjacency = adjacency[there][:, there]
    root = adjacency.sum(1).rsqrt()
    normalised: Tensor = torch.eye(len(root), dtype=root.dtype) - root[:, None] * adjacency * root
    return normalised


def plain_penalty(matrices: list[Tensor], k: int) -> Tensor:
    eigenvalues: Tensor = torch.linalg.eigh(whole_laplacian(matrices)).eigenvalues
    return eigenvalues[1:k].mean()


def weights(model: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in model.parameters() if parameter.dim() > 1]


@pytest.mark.parametrize(
    "sizes", [(6, 9, 4), (3, 8, 8, 5), (12, 4, 4, 4, 4, 12), (5, 20), (49, 64, 64, 64, 10)]
)
@pytest.mark.parametrize("k", [2, 4])
def test_value_and_gradient_are_those_of_the_whole_laplacian(sizes: tuple[int, ...], k: int) -> None:
    model = chain(*sizes)
    found = ClusterabilityPenalty(k)(model)
    wanted = plain_penalty([w.abs() for w in weights(model)], k)
    assert found.shape == ()
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
    ours = torch.autograd.grad(found, weights(model))
    theirs = torch.autograd.grad(wanted, weights(model))
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-12)


@given(seed=st.integers(0, 2**31), k=st.integers(2, 4), wide=st.integers(4, 9))
def test_gradient_agrees_with_finite_differences(seed: int, k: int, wide: int) -> None:
    model, penalty, step = chain(5, wide, 4, 3, seed=seed), ClusterabilityPenalty(k), 1e-6
    gradients = torch.autograd.grad(penalty(model), weights(model))
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for weight, gradient in zip(weights(model), gradients, strict=True):
            at = tuple(int(rng.integers(size)) for size in weight.shape)
            before = weight[at].clone()
            if abs(before) < 10 * step:
                continue  # the magnitude has a kink at 0
            values = []
            for sign in (1, -1):
                weight[at] = before + sign * step
                values.append(float(penalty(model)))
            weight[at] = before
            assert abs((values[0] - values[1]) / (2 * step) - float(gradient[at])) < 1e-6


def test_layers_are_taken_in_the_order_of_their_use() -> None:
    model = Backwards().double()
    used = [layer.weight for layer in (model.first, model.second, model.last)]
    found, wanted = ClusterabilityPenalty(4)(model), plain_penalty([weight.abs() for weight in used], 4)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
    defined = plain_penalty([weight.abs() for weight in reversed(used)], 4)
    assert abs(float(defined.detach()) - float(wanted.detach())) > 1e-4


def test_biases_do_not_count() -> None:
    model = chain(4, 6, 3)
    before = ClusterabilityPenalty(3)(model)
    before.backward()
    for module in (model[0], model[2]):
        assert isinstance(module, nn.Linear)
        assert module.bias.grad is None
        nn.init.normal_(module.bias)
    assert torch.equal(ClusterabilityPenalty(3)(model), before)


def test_channels_of_convolutions_are_connected_by_the_sum_of_their_kernels() -> None:
    model = dt.build_net("small-cnn", (1, 8, 8), 10, seed=0).double()
    slices = [
        layer.weight.abs().sum((2, 3))  # the first convolution and dense layers are left out
        for name, layer in model.named_modules()
        if isinstance(layer, nn.Conv2d) and name != "conv1"
    ]
    assert len(slices) == 2
    found = ClusterabilityPenalty(4)(model, torch.zeros(1, 1, 8, 8))
    torch.testing.assert_close(found, plain_penalty(slices, 4), rtol=0, atol=1e-12)
    found.backward()
    touched = {name for name, parameter in model.named_parameters() if parameter.grad is not None}
    assert touched == {"conv2.weight", "conv3.weight"}


def test_units_without_connections_are_left_out() -> None:
    model = chain(6, 8, 7, 4)
    with torch.no_grad():
        weights(model)[0][2], weights(model)[1][:, 2] = 0, 0  # a hidden unit
        weights(model)[0][:, 1] = 0  # an input
    found = ClusterabilityPenalty(4)(model)
    torch.testing.assert_close(
        found, plain_penalty([w.detach().abs() for w in weights(model)], 4), rtol=0, atol=1e-12
    )
    found.backward()
    assert all(bool(w.grad is not None and w.grad.isfinite().all()) for w in weights(model))


def test_a_network_in_parts_has_eigenvalues_of_zero_and_finite_gradients() -> None:
    model = chain(6, 6, 6)
    block = torch.block_diag(*[torch.ones(2, 2, dtype=torch.float64)] * 3)
    with torch.no_grad():
        for weight in weights(model):
            weight.mul_(block)
    assert abs(float(ClusterabilityPenalty(3)(model).detach())) < 1e-12  # three parts: λ1 = λ2 = λ3 = 0
    found = ClusterabilityPenalty(4)(model)
    torch.testing.assert_close(found, plain_penalty([w.abs() for w in weights(model)], 4), rtol=0, atol=1e-12)
    gradients = torch.autograd.grad(found, weights(model))
    assert all(bool(gradient.isfinite().all()) for gradient in gradients)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_network_without_connections_has_a_penalty_of_zero(dtype: torch.dtype) -> None:
    model = chain(4, 5, 4).to(dtype)
    for weight in weights(model):
        nn.init.zeros_(weight)
    found = ClusterabilityPenalty(4)(model)
    found.backward()
    assert found.dtype == dtype
    assert float(found.detach()) == 0
    assert all(bool(w.grad is not None and (w.grad == 0).all()) for w in weights(model))
    # The magnitude has no slope at 0 anyway; nor has the mean, and a member with connections has its own.
    between = torch.rand(2, 5, 6, dtype=dtype)
    between[0] = 0
    mean, slopes = mean_eigenvalue(between, 4)
    alone, slopes_alone = mean_eigenvalue(between[1:], 4)
    assert float(mean[0]) == 0
    assert not slopes[0].any()
    assert torch.equal(mean[1:], alone)
    assert torch.equal(slopes[1:], slopes_alone)


@pytest.mark.parametrize("spec", ["mlp:9-7,dropout=0", "small-cnn,dropout=0"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_float32(spec: str, dtype: torch.dtype) -> None:
    half = dt.build_net(spec, (1, 8, 8), 4, seed=0).to(dtype)
    whole = dt.build_net(spec, (1, 8, 8), 4, seed=0)
    whole.load_state_dict(half.state_dict())
    found, wanted = (ClusterabilityPenalty(3)(network, torch.zeros(1, 1, 8, 8)) for network in (half, whole))
    torch.testing.assert_close(found, wanted)
    found.backward()
    wanted.backward()
    touched = 0
    for one, other in zip(half.parameters(), whole.parameters(), strict=True):
        if other.grad is None:
            assert one.grad is None
            continue
        assert one.grad is not None
        assert one.grad.dtype == dtype
        torch.testing.assert_close(one.grad, other.grad.to(dtype))
        touched += 1
    assert touched > 1


@pytest.mark.parametrize("square", [False, True])
def test_second_derivatives_are_an_error(square: bool) -> None:
    # Both where the penalty is the loss, and where its own gradient depends on it.
    model = chain(4, 6, 3)
    found = ClusterabilityPenalty(3)(model)
    loss = found.square() if square else found
    with pytest.raises(TrainingError, match="second derivatives"):
        torch.autograd.grad(loss, weights(model), create_graph=True)


def test_numpy_integers_are_whole_numbers() -> None:
    model = chain(4, 6, 3)
    penalty = ClusterabilityPenalty(np.int64(3))  # type: ignore[arg-type]
    assert type(penalty.k) is int
    assert torch.equal(penalty(model), ClusterabilityPenalty(3)(model))


def test_scaling_a_layer_up_and_the_next_down_can_change_it() -> None:
    # Why it needs the rescaling: the same function, another penalty.
    model, penalty = chain(6, 8, 7, 4), ClusterabilityPenalty(4)
    before = float(penalty(model).detach())
    with torch.no_grad():
        weights(model)[0][:4] *= 10
        weights(model)[1][:, :4] /= 10
    assert abs(float(penalty(model).detach()) - before) > 1e-3


def test_members_of_a_population_have_their_own() -> None:
    build = dt.net_builder("mlp:9-7", (6,), 4)
    population = dt.Population(build, seeds=[0, 1, 2], device="cpu", dtype=torch.float64)
    penalty = ClusterabilityPenalty(4)
    leaves = {name: param.clone().requires_grad_() for name, param in population.params.items()}
    together = penalty.stacked(leaves, module_chain(population.member(0)))
    assert together.shape == (3,)
    names = [name for name in leaves if "weight" in name]
    gradients = torch.autograd.grad(together.sum(), [leaves[name] for name in names])
    for place in range(3):
        network = population.member(place)
        alone = penalty(network)
        torch.testing.assert_close(together[place], alone, rtol=0, atol=1e-14)
        for stacked, gradient in zip(gradients, torch.autograd.grad(alone, weights(network)), strict=True):
            torch.testing.assert_close(stacked[place], gradient, rtol=0, atol=1e-14)


def test_it_can_be_recorded_once_and_replayed() -> None:
    penalty = ClusterabilityPenalty(3)
    calls, layers = [], module_chain(chain(5, 6, 4))

    def gradients(params: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        calls.append(1)
        with torch.enable_grad():
            leaves = {name: param.detach().requires_grad_() for name, param in params.items()}
            return torch.autograd.grad(penalty.stacked(leaves, layers).sum(), list(leaves.values()))

    replay = traced(gradients)
    for seed in range(3):
        params = {
            name: p.detach()[None] for name, p in chain(5, 6, 4, seed=seed).named_parameters() if p.dim() > 1
        }
        recorded = replay(params)
        assert len(calls) == 1
        for one, other in zip(recorded, gradients(params), strict=True):
            torch.testing.assert_close(one, other)
        calls.pop()


def test_training_with_it_lowers_it() -> None:
    data = dt.load("digits")
    penalty = ClusterabilityPenalty(4)
    found = []
    build = dt.net_builder("mlp:16-16,dropout=0", data.input_shape, data.outputs)
    layers = module_chain(build())
    for weight in (0.0, 1.0):
        population = dt.Population(build, seeds=[0, 1], device="cpu")
        population.fit(
            data,
            epochs=3,
            progress=False,
            penalty=lambda params, w=weight: w * penalty.stacked(params, layers),
        )
        found.append(penalty.stacked(population.params, layers))
    assert bool((found[1] < found[0] - 0.05).all())


def test_a_member_that_diverged_does_not_stop_others() -> None:
    between = torch.rand(3, 5, 6)
    between[1, 0, 0] = torch.nan
    mean, slopes = mean_eigenvalue(between, 3)
    assert mean.isfinite().tolist() == [True, False, True]
    assert slopes.flatten(1).isfinite().all(1).tolist() == [True, False, True]


def test_what_it_cannot_take_is_refused() -> None:
    for k in (1, True, 2.0, "a", None):
        with pytest.raises(SpecError, match="at least 2"):
            ClusterabilityPenalty(k)  # type: ignore[arg-type]
    for model in (None, [torch.ones(3, 3)]):
        with pytest.raises(SpecError, match=r"nn\.Module"):
            ClusterabilityPenalty(2)(model)  # type: ignore[arg-type]
        with pytest.raises(SpecError, match="tensors by name"):
            ClusterabilityPenalty(2).stacked(model, [])  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="no layers with weights"):
        ClusterabilityPenalty(2)(nn.ReLU())
    with pytest.raises(ShapeError, match="only 5 units together"):
        ClusterabilityPenalty(6)(chain(3, 5, 4))
    with pytest.raises(ShapeError, match="batch norm"):
        ClusterabilityPenalty(2)(dt.build_net("mlp:5,batch_norm=true", (3,), 4))
    with pytest.raises(ShapeError, match="form a chain"):
        ClusterabilityPenalty(2)(
            dt.build_net("resnet18,batch_norm=false", (1, 8, 8), 4), torch.zeros(1, 1, 8, 8)
        )
    with pytest.raises(ShapeError, match="between hidden channels"):
        ClusterabilityPenalty(2)(dt.build_net("lenet", (1, 28, 28), 4), torch.zeros(1, 1, 28, 28))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_one_network_works_and_a_population_is_refused() -> None:
    model = dt.build_net("mlp:9-7", (6,), 4, seed=0)
    wanted = ClusterabilityPenalty(3)(model)
    torch.testing.assert_close(ClusterabilityPenalty(3)(model.cuda()).cpu(), wanted)
    params = {name: param[None] for name, param in model.named_parameters()}
    with pytest.raises(TrainingError, match="device='cpu'"):
        ClusterabilityPenalty(3).stacked(params, module_chain(model))
