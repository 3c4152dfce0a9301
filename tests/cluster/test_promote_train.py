"""Training with pruning: against a plain PyTorch loop, the schedule, and each network with its own settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import dovetail as dt
from dovetail.cluster.promote import ClusterabilityPenalty, rescale_, train_networks
from dovetail.cluster.promote.spec import settled_spec
from dovetail.data import Dataset, Split
from dovetail.errors import DovetailError, ShapeError, SpecError, TrainingError
from dovetail.population import epoch_order, member_keys
from dovetail.prune import cubic_sparsity

from .graphs import Backwards


def small(samples: int = 70) -> Dataset:
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(samples, 6, generator=generator), torch.randint(4, (samples,), generator=generator)
    train, val, test = (Split(x[a:b], y[a:b]) for a, b in ((0, 40), (40, 50), (50, samples)))
    return Dataset("small", train, val, test, ("a", "b", "c", "d"))


def kernels(network: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in network.parameters() if parameter.dim() > 1]


def plain_training(
    network: nn.Module, data: Dataset, seed: int, epochs: int, *, l1: float, l2: float, clusterability: float
) -> list[dict[str, Tensor]]:
    """Train one network with an ordinary loop, as the paper does; return its weights before and after pruning."""
    x, y = torch.cat([data.train.x, data.val.x]).double(), torch.cat([data.train.y, data.val.y])
    batch, steps = 16, epochs * math.ceil(len(x) / 16)
    masks = [torch.ones_like(w) for w in kernels(network)]

    def prune(sparsity: float) -> None:
        for weight, mask in zip(kernels(network), masks, strict=True):
            smallest = (weight.detach() * mask).abs().flatten().argsort(stable=True)
            mask.view(-1)[smallest[: round(sparsity * weight.numel())]] = 0

    def tidy() -> None:
        with torch.no_grad():
            for weight, mask in zip(kernels(network), masks, strict=True):
                weight.mul_(mask)
        if clusterability:
            rescale_(network)

    stages = []
    for stage in (0, 1):
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, eps=1e-7)
        if stage:
            prune(0.5)
        tidy()
        step = 0
        for epoch in range(epochs):
            order = epoch_order(member_keys([seed], stream=stage), epoch, len(x))[0]
            for index in order.split(batch):
                loss = F.cross_entropy(network(x[index]), y[index])
                loss = loss + l1 * sum(w.abs().sum() for w in kernels(network))
                loss = loss + l2 * sum(w.square().sum() for w in kernels(network))
                if clusterability:
                    loss = loss + clusterability * ClusterabilityPenalty(3)(network)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
                if stage and (step % 3 == 0 or step == steps):
                    prune(cubic_sparsity(step, 0, steps, 0.5, 0.9))
                tidy()
        stages.append({name: p.detach().clone() for name, p in network.named_parameters()})
    return stages


def test_networks_train_as_alone_in_a_plain_loop() -> None:
    data, net, seeds = small(), "mlp:12-10", [3, 3, 4, 5]
    names = ("l1", "l2", "clusterability")
    settings = [
        dict(zip(names, row, strict=True)) for row in [(0, 0, 0), (0.01, 0, 0), (0, 0.02, 0), (0, 0, 0.3)]
    ]
    columns = {name: [setting[name] for setting in settings] for name in names}
    trained = train_networks(
        data, net, seeds=seeds, epochs=6, pruning_epochs=6, batch_size=16, k=3, prune_every=3, dtype=torch.float64,
        device="cpu", progress=False, l1=columns["l1"], l2=columns["l2"], clusterability=columns["clusterability"],
    )  # fmt: skip
    assert trained.pruned is not None
    for place, (seed, setting) in enumerate(zip(seeds, settings, strict=True)):
        alone = dt.build_net(settled_spec(net), (6,), 4, seed=seed).double()
        before, after = plain_training(alone, data, seed, 6, **setting)
        for wanted, stage in ((before, trained.unpruned), (after, trained.pruned)):
            for name, tensor in wanted.items():
                torch.testing.assert_close(stage.population.params[name][place], tensor, rtol=0, atol=1e-9)


def rescale_unit_by_unit(network: nn.Module, cutoffs: list[float]) -> None:
    """Rescale as the paper's program does while it prunes: each unit's weights count times their layer's cutoff."""
    layers = [module for module in network.modules() if isinstance(module, nn.Linear)]
    with torch.no_grad():
        for layer, following, cutoff in zip(layers, layers[1:], cutoffs, strict=False):
            for unit in range(layer.out_features):
                weights, bias = layer.weight[unit], layer.bias[unit]
                size = math.sqrt(
                    sum((cutoff * float(w)) ** 2 for w in weights) + float(bias) ** 2
                ) / math.sqrt(2)
                if size:
                    layer.weight[unit] /= size
                    layer.bias[unit] /= size
                following.weight[:, unit] *= size


def pruning_with_the_cutoff_slip(
    network: nn.Module, data: Dataset, seed: int, epochs: int, weight: float
) -> None:
    """Prune a trained network with an ordinary loop: rescaled before every batch, then pruned where that is due."""
    x, y = torch.cat([data.train.x, data.val.x]).double(), torch.cat([data.train.y, data.val.y])
    steps = epochs * math.ceil(len(x) / 16)
    masks = [torch.ones_like(w) for w in kernels(network)]
    cutoffs = [0.0] * len(masks)

    def begin_batch(step: int) -> None:
        rescale_unit_by_unit(network, cutoffs)
        if step % 3 and step < steps:
            return
        with torch.no_grad():
            for place, (tensor, mask) in enumerate(zip(kernels(network), masks, strict=True)):
                gone = round(cubic_sparsity(step, 0, steps, 0.5, 0.9) * tensor.numel())
                order = (tensor * mask).abs().flatten().argsort(stable=True)
                mask.view(-1)[order[:gone]] = 0
                cutoffs[place] = float(tensor.abs().flatten()[order[gone]])
                tensor.mul_(mask)

    optimizer, step = torch.optim.Adam(network.parameters(), lr=1e-3, eps=1e-7), 0
    begin_batch(0)
    for epoch in range(epochs):
        for index in epoch_order(member_keys([seed], stream=1), epoch, len(x))[0].split(16):
            loss = F.cross_entropy(network(x[index]), y[index]) + weight * ClusterabilityPenalty(3)(network)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                for tensor, mask in zip(kernels(network), masks, strict=True):
                    tensor.mul_(mask)
            step += 1
            begin_batch(step)


def test_the_cutoff_stands_for_the_mask_where_that_slip_is_asked_for() -> None:
    data, net, seeds = small(), "mlp:12-10", [3, 4]
    trained = train_networks(
        data, net, seeds=seeds, epochs=6, pruning_epochs=6, batch_size=16, k=3, prune_every=3, dtype=torch.float64,
        device="cpu", progress=False, clusterability=[0.3, 0.1], slips=["cutoff-for-mask"],
    )  # fmt: skip
    right = train_networks(
        data, net, seeds=seeds, epochs=6, pruning_epochs=6, batch_size=16, k=3, prune_every=3, dtype=torch.float64,
        device="cpu", progress=False, clusterability=[0.3, 0.1],
    )  # fmt: skip
    assert trained.pruned is not None
    assert right.pruned is not None
    for name, tensor in right.unpruned.population.params.items():
        torch.testing.assert_close(trained.unpruned.population.params[name], tensor, rtol=0, atol=0)
    for place, (seed, weight) in enumerate(zip(seeds, (0.3, 0.1), strict=True)):
        alone = trained.networks(pruned=False)[place]
        pruning_with_the_cutoff_slip(alone, data, seed, 6, weight)
        for name, tensor in alone.named_parameters():
            found = trained.pruned.population.params[name][place]
            torch.testing.assert_close(found, tensor.detach(), rtol=1e-7, atol=1e-9)
            assert not torch.allclose(found, right.pruned.population.params[name][place])
    assert trained.pruned.sparsity.tolist() == right.pruned.sparsity.tolist()


def test_l2_has_l1_on_the_first_layer_where_that_slip_is_asked_for() -> None:
    data, l2 = small(), 0.02
    trained = train_networks(
        data, "mlp:12-10", seeds=[3], epochs=4, pruning_epochs=0, batch_size=16, dtype=torch.float64,
        device="cpu", progress=False, l2=l2, slips=["l1-first-layer"],
    )  # fmt: skip
    alone = dt.build_net(settled_spec("mlp:12-10"), (6,), 4, seed=3).double()
    x, y = torch.cat([data.train.x, data.val.x]).double(), torch.cat([data.train.y, data.val.y])
    optimizer = torch.optim.Adam(alone.parameters(), lr=1e-3, eps=1e-7)
    for epoch in range(4):
        for index in epoch_order(member_keys([3], stream=0), epoch, len(x))[0].split(16):
            optimizer.zero_grad()
            F.cross_entropy(alone(x[index]), y[index]).backward()
            first, *others = kernels(alone)
            for weight, slope in [(first, l2 * first.sign()), *((w, 2 * l2 * w) for w in others)]:
                assert weight.grad is not None
                weight.grad += slope.detach()
            optimizer.step()
    for name, tensor in alone.named_parameters():
        torch.testing.assert_close(
            trained.unpruned.population.params[name][0], tensor.detach(), rtol=0, atol=1e-9
        )


def test_slips_that_there_are_not_and_those_of_nothing_are_refused() -> None:
    with pytest.raises(SpecError, match="'l1-last-layer'"):
        train_networks(small(), "mlp:8", l2=1e-4, slips=["l1-last-layer"])  # type: ignore[list-item]
    with pytest.raises(SpecError, match="is one of l2, which is 0 here"):
        train_networks(small(), "mlp:8", slips=["l1-first-layer"])
    with pytest.raises(SpecError, match="is one of clusterability, which is 0 here"):
        train_networks(small(), "mlp:8", l2=1e-4, slips=["cutoff-for-mask"])


def test_every_layer_reaches_the_final_sparsity_and_biases_stay() -> None:
    trained = train_networks(
        dt.load("digits"), "mlp:24-24", seeds=[0, 1], epochs=1, pruning_epochs=2, initial_sparsity=0.3,
        final_sparsity=0.75, device="cpu", progress=False,
    )  # fmt: skip
    assert trained.pruned is not None
    params = trained.pruned.population.params
    assert set(trained.pruned.population.masks) == {name for name in params if "weight" in name}
    for name in trained.pruned.population.masks:
        assert float((params[name] == 0).double().mean()) == pytest.approx(0.75, abs=0.01)
    assert trained.unpruned.sparsity.tolist() == [0, 0]
    torch.testing.assert_close(
        trained.pruned.sparsity, torch.full((2,), 0.75, dtype=torch.float64), rtol=0, atol=0.01
    )


def test_a_network_learns_and_keeps_what_it_learned() -> None:
    data = dt.load("digits")
    trained = train_networks(
        data, "mlp:64-64", seeds=[0, 1, 2], l1=[0, 1e-4, 0], init_beta=[1, 1, 0.6], epochs=8, pruning_epochs=8,
        batch_size=32, device="cpu", progress=False,
    )  # fmt: skip
    assert trained.pruned is not None
    assert float(trained.unpruned.test["accuracy"].min()) > 0.93
    assert float(trained.pruned.test["accuracy"].min()) > 0.85
    for place, network in enumerate(trained.networks()):
        hits = network(data.test.x).argmax(1) == data.test.y
        assert float(hits.double().mean()) == pytest.approx(float(trained.pruned.test["accuracy"][place]))
    dense = trained.networks(pruned=False)[0]
    assert all(bool((weight != 0).all()) for weight in kernels(dense))


def test_initial_weights_are_clusterable_where_asked() -> None:
    data = small()
    # A step size of 0: networks stay where they start.
    trained = train_networks(
        data, "mlp:12-10", seeds=[0, 0], init_beta=[1, 0.5], clusters=3, epochs=1, pruning_epochs=0, lr=0.0,
        device="cpu", progress=False,
    )  # fmt: skip
    plain, tagged = (
        network.get_parameter("dense2.weight").detach() for network in trained.networks(pruned=False)
    )
    ratio = tagged / plain
    assert bool(((ratio - 0.5).abs().lt(1e-5) | (ratio - 2).abs().lt(1e-5)).all())
    with pytest.raises(TrainingError, match="were not pruned"):
        trained.networks()


def test_networks_with_the_penalty_end_rescaled() -> None:
    trained = train_networks(
        small(), "mlp:12-10", seeds=[0, 1], clusterability=[0.1, 0], epochs=2, pruning_epochs=2, prune_every=2,
        batch_size=16, progress=False,
    )  # fmt: skip
    assert trained.pruned is not None
    for stage in (trained.unpruned, trained.pruned):
        params = stage.population.params
        rows = torch.cat([params["dense2.weight"], params["dense2.bias"][:, :, None]], 2).norm(dim=2)
        torch.testing.assert_close(rows[0], torch.full_like(rows[0], math.sqrt(2)))
        assert float((rows[1] - math.sqrt(2)).abs().min()) > 1e-3


def test_options_that_a_text_does_not_name_are_the_papers() -> None:
    spec = settled_spec("mlp:256-256-256-256")
    assert (spec["dropout"], spec["output_bias"], spec["init"]) == (0.0, True, "glorot-uniform")
    assert settled_spec("small-cnn", 0.5)["dropout"] == 0.5
    assert settled_spec("mlp:8,init=default,dropout=0.3")["init"] == "default"
    assert settled_spec(spec) is spec


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (SpecError, {"net": "mlp:8,dropout=0.3", "dropout": 0.5}),
        (SpecError, {"net": "vgg11", "dropout": 0.5}),
        (SpecError, {"net": "mpl:8"}),
        (SpecError, {"initial_sparsity": 0.9, "final_sparsity": 0.5}),
        (SpecError, {"prune_every": 0}),
        (SpecError, {"l1": -1.0}),
        (ShapeError, {"l2": [0.1, 0.2, 0.3]}),
        (SpecError, {"clusterability": 0.1, "k": 1}),
        (SpecError, {"init_beta": 1.5}),
        (SpecError, {"prune_every": True}),
        (SpecError, {"final_sparsity": "a"}),
        (SpecError, {"init_beta": 0.5, "clusters": True}),
        (SpecError, {"net": lambda: nn.Linear(6, 4), "dropout": 0.5}),
        (SpecError, {"net": None}),
        *[
            (TrainingError, {name: value})
            for name in ("epochs", "batch_size")
            for value in (0, -1, True, 1.5, "a")
        ],
        *[(SpecError, {"pruning_epochs": value}) for value in (-1, True, False, 1.5, "a")],
        *[(TrainingError, {"seeds": seeds}) for seeds in ([], None, ["a"], [-1])],
    ],
)
def test_what_makes_no_sense_is_refused(error: type[DovetailError], options: dict[str, object]) -> None:
    settings: dict[str, object] = {"net": "mlp:8", "seeds": [0, 1], "epochs": 1, "progress": False, **options}
    with pytest.raises(error):
        train_networks(small(), **settings)  # type: ignore[arg-type]


class TanhInCode(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.output = nn.Linear(6, 8), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.output(torch.tanh(self.hidden(x)))
        return found


@pytest.mark.parametrize(
    ("message", "build"),
    [
        ("1 is Tanh", lambda: nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))),
        ("1 is BatchNorm1d", lambda: nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))),
        ("changes what this network computes", TanhInCode),
    ],
)
def test_networks_that_rescaling_would_change_do_not_train_with_the_penalty(
    message: str, build: Callable[[], nn.Module]
) -> None:
    def train(*clusterability: float) -> None:
        train_networks(
            small(), build, seeds=[0, 1], epochs=1, pruning_epochs=0, clusterability=clusterability, device="cpu",
            progress=False,
        )  # fmt: skip

    train(0, 0)
    with pytest.raises(ShapeError, match=message):
        train(0, 0.1)


def test_layers_are_taken_in_the_order_of_their_use() -> None:
    trained = train_networks(
        small(), partial(Backwards, 6, 4), seeds=[0, 1], epochs=1, pruning_epochs=0, clusterability=[0.1, 0], k=3,
        init_beta=[0.5, 1], clusters=2, device="cpu", progress=False,
    )  # fmt: skip
    first, other = trained.networks(pruned=False)
    assert isinstance(first, Backwards)
    assert isinstance(other, Backwards)
    for network, rescaled in ((first, True), (other, False)):
        for layer in (network.first, network.second):
            norms = torch.cat([layer.weight, layer.bias[:, None]], 1).detach().norm(dim=1)
            assert bool(torch.isclose(norms, torch.tensor(math.sqrt(2))).all()) == rescaled
