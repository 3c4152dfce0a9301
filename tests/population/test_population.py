"""A population as an object: members, selection, outputs, users' own modules, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dovetail.data import Split
from dovetail.errors import DovetailError, ShapeError, SpecError, TrainingError
from dovetail.nets import net_builder
from dovetail.population import Adam, Population
from dovetail.population.memory import MemberCost, evaluation_batch, measure_cost, members_at_once
from dovetail.population.trace import traced

from .helpers import DEVICES, cnn, distance, images, mlp, plain_loop


def test_outputs_and_members_agree() -> None:
    split = images(50)
    population = Population(cnn, [0, 1, 2], device="cpu")
    outputs = population(split.x)
    assert outputs.shape == (3, 50, 5)
    for member in range(3):
        torch.testing.assert_close(outputs[member], population.member(member)(split.x))
    torch.testing.assert_close(population.member(-1)(split.x), outputs[2])


def test_a_member_is_a_network_of_its_own() -> None:
    population = Population(mlp, [0, 1], device="cpu")
    network = population.member(1)
    assert not network.training
    assert all(parameter.requires_grad for parameter in network.parameters())
    with torch.no_grad():
        network[1].weight.zero_()  # type: ignore[index]
    assert population.params["1.weight"][1].any()
    assert network.state_dict().keys() == mlp().state_dict().keys()


def test_selection_copies() -> None:
    population = Population(mlp, [5, 6, 7], device="cpu").set_masks({"1.weight": torch.ones(32, 64)})
    chosen = population.select([2, 0])
    assert chosen.seeds == (7, 5)
    assert torch.equal(chosen.params["1.weight"][0], population.params["1.weight"][2])
    chosen.fit(images(20), epochs=1, progress=False)
    assert torch.equal(population.params["1.weight"], population.initial["1.weight"])
    assert len(population) == 3
    assert "3 networks of 2,688 parameters" in repr(population)


class Own(nn.Module):
    """A user's module: residual addition, layer norm, attention by hand, functional calls."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(8, 16)
        self.norm = nn.LayerNorm(16)
        self.attend = nn.Linear(16, 48)
        self.head = nn.Linear(16, 5)
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor) -> Tensor:
        x = self.embed(x.reshape(x.size(0), 8, 8))
        q, k, v = self.attend(self.norm(x)).chunk(3, -1)
        x = x + self.scale * F.scaled_dot_product_attention(q, k, v)
        return self.head(F.gelu(x).mean(1))  # type: ignore[no-any-return]


def test_users_own_modules_train_like_alone() -> None:
    split = images(70, dtype=torch.float64)
    population = Population(Own, [1, 2], device="cpu", dtype=torch.float64)
    alone = [population.member(i) for i in range(2)]
    population.fit(split, epochs=2, batch_size=16, progress=False)
    for member, network in enumerate(alone):
        plain_loop(network, split, member + 1, epochs=2, batch_size=16, optimizer=Adam(), lr=1e-3)
        assert distance(network, population.params, member) < 1e-10


@pytest.mark.parametrize(
    ("spec", "shape"),
    [
        ("mlp:16-8,batch_norm=true", (1, 8, 8)),
        ("lenet:4-8-8", (1, 12, 12)),
        ("small-cnn,dropout=0.5", (2, 8, 8)),
    ],
)
def test_every_small_architecture_trains(spec: str, shape: tuple[int, ...]) -> None:
    x = torch.rand(32, *shape)
    split = Split(x, torch.randint(3, (32,)))
    population = Population(net_builder(spec, shape, 3), [0, 1], device="cpu")
    history = population.fit(split, epochs=2, batch_size=16, progress=False)
    assert torch.isfinite(history["train_loss"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["vgg11", "vgg16,dropout=0.5", "resnet18"])
def test_every_large_architecture_trains(spec: str) -> None:
    x = torch.rand(32, 3, 32, 32)
    split = Split(x, torch.randint(3, (32,)))
    population = Population(net_builder(spec, (3, 32, 32), 3), [0, 1], device="cpu")
    history = population.fit(split, epochs=2, batch_size=16, progress=False)
    assert (history["train_loss"][1] < history["train_loss"][0] + 1).all()


SPLIT = images(20)
BAD_FITS: list[tuple[dict[str, Any], type[DovetailError], str]] = [
    ({"epochs": 0}, TrainingError, "epochs must be a whole number of at least 1, not 0"),
    ({"batch_size": -1}, TrainingError, "batch_size"),
    ({"optimizer": Adam([1e-3])}, TrainingError, "1 step sizes for 2 members"),
    ({"optimizer": Adam(float("nan"))}, TrainingError, "step size nan"),
    ({"patience": 3}, TrainingError, "need a validation split"),
    ({"val": SPLIT, "patience": 0}, TrainingError, "patience"),
    ({"val": SPLIT, "monitor": "acuracy"}, SpecError, "did you mean 'accuracy'"),
    (
        {"per_member": {"r": torch.zeros(3)}, "objective": lambda logits, y, r: logits[:, 0] * r},
        ShapeError,
        "'r' has shape .3,.; it needs a first dimension of 2",
    ),
    (
        {"per_member": {"r": torch.zeros(2)}},
        SpecError,
        "no objective, metric or penalty takes 'r', which per_member gives; they take none",
    ),
    ({"objective": lambda logits, y, r: logits[:, 0]}, SpecError, "'the objective' needs 'r'"),
    (
        {"objective": nn.CrossEntropyLoss()},
        TrainingError,
        r"one value per sample, .20., but gave .*reduction='none'",
    ),
    ({"val": SPLIT, "metrics": {"loss": lambda logits, y: y}}, TrainingError, "cannot be called 'loss'"),
    (
        {"val": SPLIT, "metrics": {"m": lambda logits, y: logits.mean()}},
        TrainingError,
        "'m' must give one value per",
    ),
    ({"val": Split(torch.rand(4, 63), torch.zeros(4).long())}, ShapeError, r"inputs of shape \(63,\)"),
    ({"val_targets": torch.zeros(2, 20)}, TrainingError, "pass val="),
    ({"targets": torch.full((2, 20), 7)}, ShapeError, "class ids from 7 to 7"),
    ({"optimizer": "adam"}, TrainingError, "must be dovetail.population.Adam"),
    ({"optimizer": Adam(betas=(2.0, 3.0))}, TrainingError, "betas and momentum"),
    ({"optimizer": Adam(weight_decay=float("nan"))}, TrainingError, "weight_decay"),
    ({"optimizer": Adam("fast")}, TrainingError, "step size 'fast'"),  # type: ignore[arg-type]
    ({"at_once": 0}, TrainingError, "at_once"),
    ({"epochs": 1.5}, TrainingError, "epochs must be a whole number"),
    ({"subsets": [torch.zeros(3), torch.arange(3)]}, ShapeError, "vector of sample numbers"),
    ({"targets": torch.zeros(2, 3)}, ShapeError, "2 members × 20 samples"),
    ({"subsets": [torch.arange(3)]}, ShapeError, "1 subsets for 2 members"),
    ({"subsets": [torch.arange(3), torch.arange(0)]}, TrainingError, "member 1 has no samples"),
    ({"subsets": [torch.arange(3), torch.tensor([20])]}, ShapeError, "outside 0 to 19"),
    ({"subsets": [torch.arange(3), torch.ones(20).bool()]}, ShapeError, "nonzero"),
]


@pytest.mark.parametrize(("options", "kind", "message"), BAD_FITS, ids=range(len(BAD_FITS)))
def test_fits_that_cannot_work_are_refused(
    options: dict[str, Any], kind: type[DovetailError], message: str
) -> None:
    population = Population(mlp, [0, 1], device="cpu")
    with pytest.raises(kind, match=message):
        population.fit(SPLIT, progress=False, **options)
    assert torch.equal(population.params["1.weight"], population.initial["1.weight"])


def test_data_that_cannot_be_used_is_refused() -> None:
    population = Population(mlp, [0, 1], device="cpu")
    labels = torch.zeros(4, dtype=torch.int64)
    for x, message in (
        (torch.full((4, 64), torch.nan), "NaN"),
        (torch.zeros(4, 64, dtype=torch.int64), "floating point"),
        (torch.zeros(4, 63), r"inputs of shape \(63,\)"),
    ):
        with pytest.raises(DovetailError, match=message):
            population.fit(Split(x, labels), progress=False)
    with pytest.raises(TrainingError, match="no samples"):
        population.fit(Split(torch.zeros(0, 64), labels[:0]), progress=False)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (torch.tensor([0, 5, 1, 2]), "class ids from 0 to 5, but the network has 5 outputs"),
        (torch.tensor([0, -1, 1, 2]), "class ids from -1 to 2"),
        (torch.tensor([[0], [1], [2], [3]]), r"class ids must be a vector"),
        (torch.tensor([0.0, 1.0, 1.0, 0.0]), r"targets of shape \(4,\), but the network has 5 outputs"),
        (torch.rand(4, 3), r"targets of shape \(4, 3\)"),
    ],
)
def test_targets_that_do_not_fit_the_network_are_refused(y: Tensor, message: str) -> None:
    population = Population(mlp, [0, 1], device="cpu")
    with pytest.raises(ShapeError, match=message):
        population.fit(Split(torch.rand(4, 64), y), progress=False)
    with pytest.raises(ShapeError, match=message):
        population.evaluate(Split(torch.rand(4, 64), y))


def test_class_ids_of_any_whole_type_will_do() -> None:
    population = Population(mlp, [0], device="cpu")
    split = Split(torch.rand(4, 64), torch.tensor([0, 1, 2, 3], dtype=torch.uint8))
    population.fit(split, epochs=1, progress=False)
    assert population.evaluate(split)["accuracy"].shape == (1,)


def test_functions_may_use_tensors_from_outside() -> None:
    weight = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])

    class Scaled(nn.Linear):
        def __init__(self) -> None:
            super().__init__(64, 5)
            self.factor = torch.tensor(2.0)

        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x.flatten(1)) * self.factor

    def objective(logits: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(logits, target, weight=weight, reduction="none")

    split = images(30)
    population = Population(Scaled, [0, 1], device="cpu")
    history = population.fit(split, split, epochs=2, objective=objective, progress=False)
    expected = objective(population.member(1)(split.x), split.y).mean()
    assert history["loss"][-1, 1].item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": 3}, "sequence of whole numbers"),
        ({"seeds": [1.5]}, "sequence of whole numbers"),
        ({"seeds": [-1]}, "from 0 to"),
        ({"seeds": [0], "device": "gpu"}, "no device 'gpu'"),
        ({"seeds": [0], "device": "mps"}, "cannot be used here"),
        ({"seeds": [0], "dtype": torch.int32}, "floating-point type"),
    ],
)
def test_populations_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        Population(mlp, **options)


def test_selection_takes_masks_and_refuses_what_is_not_there() -> None:
    population = Population(mlp, [5, 6, 7], device="cpu")
    chosen = population.select(torch.tensor([True, False, True]))
    assert chosen.seeds == (5, 7)
    assert len(chosen.params["1.weight"]) == 2
    for wrong in ([], [3], [-1], [0.7], [True], torch.tensor(1), torch.zeros(3).bool()):
        with pytest.raises(ShapeError, match="cannot select"):
            population.select(wrong)  # type: ignore[arg-type]


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(TrainingError, match="device 'cuda:1' cannot be used here"):
        Population(mlp, [0], device="cuda:1")


def test_a_metric_cannot_take_the_place_of_the_loss() -> None:
    with pytest.raises(TrainingError, match="cannot be called 'loss'"):
        Population(mlp, [0], device="cpu").evaluate(SPLIT, metrics={"loss": lambda logits, y: y})


def test_frozen_parameters_stay_and_stay_frozen() -> None:
    def build() -> nn.Module:
        network = nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 5))
        network[1].weight.requires_grad_(False)
        return network

    population = Population(build, [0, 1], device="cpu")
    before = population.buffers["1.weight"].clone()
    population.fit(images(30), epochs=2, optimizer=Adam(weight_decay=0.1), progress=False)
    assert torch.equal(population.buffers["1.weight"], before)
    network = population.member(1)
    assert [name for name, p in network.named_parameters() if not p.requires_grad] == ["1.weight"]
    assert torch.equal(network.state_dict()["1.weight"], before[1])


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.head = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 5)
        self.second.weight = self.first.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.relu(self.second(torch.relu(self.first(x.flatten(1))))))  # type: ignore[no-any-return]


def channels_last() -> nn.Module:
    return cnn().to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("build", [Tied, channels_last])
def test_tied_and_strided_parameters_train_like_alone(build: type[nn.Module]) -> None:
    split = images(50, dtype=torch.float64)
    population = Population(build, [1, 2], device="cpu", dtype=torch.float64)
    alone = [population.member(i) for i in range(2)]
    population.fit(split, epochs=2, batch_size=16, progress=False)
    for member, network in enumerate(alone):
        plain_loop(network, split, member + 1, epochs=2, batch_size=16, optimizer=Adam(), lr=1e-3)
        assert distance(network, population.params, member) < 1e-12
    if build is Tied:
        tied = population.member(0)
        assert isinstance(tied, Tied)
        assert tied.second.weight is tied.first.weight


@pytest.mark.parametrize("device", DEVICES)
def test_strided_masks_mask_the_same_weights(device: str) -> None:
    mask = torch.rand(64, 32, generator=torch.Generator().manual_seed(0)) > 0.5
    ends = []
    for given in (mask.mT, mask.mT.contiguous()):
        population = Population(mlp, [0], device=device).set_masks({"1.weight": given}).rewind()
        population.fit(images(30), epochs=2, progress=False)
        assert not population.params["1.weight"][0].cpu()[~mask.mT].any()
        ends.append(population.params["1.weight"])
    assert torch.equal(*ends)


def test_networks_that_draw_numbers_of_their_own() -> None:
    class Noisy(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            out = super().forward(x.flatten(1))
            return out + torch.randn_like(out) if self.training else out

    class Wild(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x.flatten(1)) + torch.randn(5)

    population = Population(lambda: Noisy(64, 5), [3, 3], device="cpu")
    population.fit(images(30), epochs=2, progress=False)
    assert torch.equal(population.params["weight"][0], population.params["weight"][1])
    alone = Population(lambda: Noisy(64, 5), [3], device="cpu")
    alone.fit(images(30), epochs=2, progress=False)
    torch.testing.assert_close(alone.params["weight"][0], population.params["weight"][0])
    wild = Population(lambda: Wild(64, 5), [0], device="cpu")
    for use in (lambda: wild.fit(images(30), progress=False), lambda: wild(images(3).x)):
        with pytest.raises(TrainingError, match="draws random numbers of its own"):
            use()


def test_builders_and_masks_that_do_not_fit_are_refused() -> None:
    widths = iter(range(1, 10))
    for build, seeds, message in (
        (lambda: nn.Linear(2, next(widths)), [0, 1], "different shapes"),
        (lambda: 3, [0], "must return an nn.Module"),
        (nn.ReLU, [0], "need parameters"),
        (mlp, [], "at least one seed"),
        (nn.Linear, [0], "without arguments"),
        (lambda: nn.LazyLinear(3), [0], "lazy layers"),
        (mlp(), [0], "needs a builder"),
    ):
        with pytest.raises(DovetailError, match=message):
            Population(build, seeds, device="cpu")  # type: ignore[arg-type]
    shared = mlp()
    with pytest.raises(TrainingError, match="same network every time"):
        Population(lambda: shared, [0, 1], device="cpu")
    population = Population(mlp, [0], device="cpu")
    for masks, message in (
        ({"1.weigh": torch.ones(32, 64)}, "did you mean '1.weight'"),
        ({"1.weight": torch.ones(2, 2)}, "it must be"),
        ({"1.weight": torch.full((32, 64), 0.5)}, "only 0 and 1"),
    ):
        with pytest.raises(DovetailError, match=message):
            population.set_masks(masks)
    with pytest.raises(ShapeError, match="no member 1"):
        population.member(1)


def test_networks_must_give_logits() -> None:
    population = Population(lambda: nn.Conv2d(1, 2, 3), [0], device="cpu")
    with pytest.raises(ShapeError, match=r"must map a batch to logits .* gave shape \(2, 2, 6, 6\)"):
        population.fit(images(4), progress=False)


def test_networks_that_decide_by_values_are_refused() -> None:
    class Deciding(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x) if x.sum() > 0 else -super().forward(x)

    population = Population(lambda: Deciding(64, 5), [0, 1], device="cpu")
    with pytest.raises(TrainingError, match=r"cannot be mapped over members .*data-dependent"):
        population.fit(Split(torch.rand(4, 64), torch.zeros(4, dtype=torch.int64)), progress=False)


def test_a_cpu_that_is_full_is_not_blamed_on_the_network() -> None:
    class Large(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x.new_zeros(2**50))

    with pytest.raises(RuntimeError, match="you tried to allocate"):
        traced(lambda x: x.new_zeros(2**50) + x)(torch.ones(1))
    with pytest.raises(RuntimeError, match="you tried to allocate"):
        measure_cost(Large(4, 2), torch.zeros(1, 4))


def test_costs_are_measured_on_the_network() -> None:
    cost = measure_cost(nn.Sequential(nn.Linear(100, 50), nn.ReLU(), nn.Linear(50, 10)), torch.zeros(1, 100))
    assert cost.params == 4 * (100 * 50 + 50 + 50 * 10 + 10)
    assert 4 * (100 + 50) <= cost.sample <= 4 * (2 * 100 + 2 * 50 + 10)
    cpu = torch.device("cpu")
    assert members_at_once(MemberCost(10**12, 1, 2), 64, 2, cpu) == 1
    assert members_at_once(MemberCost(4000, 40, 2), 64, 2, cpu) > 1000
    assert evaluation_batch(MemberCost(1, 10**12, 2), 5, cpu) == 16


def test_history_and_scores_as_tables() -> None:
    split = images(40)
    population = Population(mlp, [4, 5], device="cpu")
    history = population.fit(split, split, epochs=3, progress=False)
    table = history.to_frame()
    assert list(table.columns) == ["member", "seed", "epoch", "train_loss", "loss", "accuracy"]
    assert table["seed"].tolist() == [4, 4, 4, 5, 5, 5]
    assert table["loss"].tolist() == history["loss"].T.flatten().tolist()
    assert population.evaluate(split).to_frame().shape == (2, 3)
    assert repr(history).startswith("History(2 members, 3 epochs, train_loss, loss, accuracy")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_population_too_large_for_the_gpu_is_kept_in_main_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for place in ("cuda", "cpu"):
        monkeypatch.setattr(
            "dovetail.population.population.storage_for", lambda *_, place=place: torch.device(place)
        )
        population = Population(mlp, range(5), device="cuda").set_masks({"1.weight": torch.rand(32, 64) > 0})
        population.fit(images(50), images(20, seed=1), epochs=2, at_once=2, progress=False)
        assert population.params["1.weight"].device.type == place
        results.append((population(images(9).x).cpu(), population.evaluate(images(9))["loss"]))
        assert next(population.member(1).parameters()).is_cuda
    torch.testing.assert_close(*results)


def test_targets_that_all_members_share_need_not_be_copied() -> None:
    shared = torch.randint(5, (40,), generator=torch.Generator().manual_seed(0))
    split = Split(images(40).x, shared)
    ends = []
    for targets in (shared.expand(3, -1), shared.repeat(3, 1)):
        population = Population(
            lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 5)), [0, 1, 2], device="cpu"
        )
        population.fit(split, targets=targets, epochs=2, batch_size=16, progress=False)
        ends.append(population.params)
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])
