"""What a fit promises beside the right weights: choice of epochs, company, masks, determinism."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import dovetail.population.fit as fit_module
from dovetail.data import Dataset, Split
from dovetail.errors import DovetailError, TrainingError
from dovetail.population import SGD, Adam, Noise, Population, StepContext, member_keys
from dovetail.population.fit import Fit
from dovetail.population.ops.dropout import dropout
from dovetail.population.step import Stack, TrainingStep

from .helpers import DEVICES, cnn, dropout_mlp, images, mlp


def tensors_equal(a: dict[str, Tensor], b: dict[str, Tensor]) -> bool:
    return all(torch.equal(a[name], b[name]) for name in a)


def test_same_seed_same_start_other_seed_other_start() -> None:
    population = Population(mlp, [3, 3, 4], device="cpu")
    weight = population.params["1.weight"]
    assert torch.equal(weight[0], weight[1])
    assert not torch.equal(weight[0], weight[2])
    torch.manual_seed(4)
    assert torch.equal(weight[2], mlp()[1].weight)  # type: ignore[index]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("build", [dropout_mlp, cnn])
def test_same_seeds_give_the_same_bits(build: type[nn.Module], device: str) -> None:
    split, val = images(100), images(40, seed=1)
    ends = []
    for _ in range(2):
        population = Population(build, [1, 2], device=device)
        torch.manual_seed(torch.randint(1000, ()).item())  # the global state must not matter
        population.fit(split, val, epochs=4, batch_size=16, progress=False)
        ends.append(population.params)
    assert tensors_equal(*ends)


def test_fitting_leaves_the_global_random_state_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    Population(dropout_mlp, [0], device="cpu").fit(images(20), epochs=1, progress=False)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("device", DEVICES)
def test_a_member_learns_the_same_alone_in_company_and_in_parts(device: str) -> None:
    """Dropout, order and augmentation included: what a member draws depends on its seed alone."""
    split, val = images(120, dtype=torch.float64), images(60, seed=1, dtype=torch.float64)
    results = {}
    for name, seeds, at_once in (("company", range(7), None), ("alone", [5], None), ("parts", range(7), 2)):
        population = Population(dropout_mlp, seeds, device=device, dtype=torch.float64)
        population.fit(
            split, val, epochs=12, batch_size=16, patience=2, at_once=at_once, optimizer=Adam(0.01),
            augment=lambda x, noise: x + 0.1 * noise.normal(x, x.shape[1:]), progress=False,
        )  # fmt: skip
        results[name] = {key: tensor[seeds.index(5)] for key, tensor in population.params.items()}
    for other in ("alone", "parts"):
        for key, tensor in results["company"].items():
            torch.testing.assert_close(tensor, results[other][key], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_company_does_not_matter_with_subsets_either(device: str) -> None:
    split = images(120, dtype=torch.float64)
    subsets = [torch.arange(70), torch.arange(5), torch.arange(20, 60)]
    results = []
    for seeds in ([0, 1, 2], [1], [2, 1]):
        population = Population(dropout_mlp, seeds, device=device, dtype=torch.float64)
        population.fit(
            split,
            epochs=4,
            batch_size=16,
            subsets=[subsets[seed] for seed in seeds],
            augment=lambda x, noise: x + 0.1 * noise.normal(x, x.shape[1:]),
            progress=False,
        )
        results.append({name: tensor[seeds.index(1)] for name, tensor in population.params.items()})
    for other in results[1:]:
        for name, tensor in results[0].items():
            torch.testing.assert_close(tensor, other[name], rtol=1e-9, atol=1e-12)


def test_a_member_never_looks_at_samples_outside_its_subset() -> None:
    split = images(40)
    split.x[0] = 1e30  # overflows
    population = Population(mlp, [0, 1], device="cpu")
    history = population.fit(
        split, epochs=2, batch_size=16, subsets=[torch.arange(1, 8), torch.arange(9, 30)], progress=False
    )
    assert not history.diverged.any()
    assert torch.isfinite(history["train_loss"]).all()


def test_a_validation_loss_that_is_no_number_is_never_the_best() -> None:
    split, val = images(40), images(30, seed=1)

    def objective(logits: Tensor, target: Tensor) -> Tensor:
        loss = F.cross_entropy(logits, target, reduction="none")
        return torch.where(target == 3, torch.nan, loss) if len(logits) == 30 else loss

    population = Population(mlp, [0], device="cpu")
    history = population.fit(split, val, epochs=3, batch_size=20, objective=objective, progress=False)
    assert history["loss"].isnan().all()
    assert history.kept_epoch.tolist() == [-1]
    assert not history.diverged.any()
    assert torch.equal(population.params["1.weight"], population.initial["1.weight"])


def test_callbacks_cannot_break_the_masks() -> None:
    population = Population(mlp, [0, 1], device="cpu")

    def meddle(context: StepContext) -> None:
        context.masks["1.weight"].zero_()
        with pytest.raises(TypeError):
            context.params["1.weight"] = torch.zeros(())  # type: ignore[index]
        with pytest.raises(DovetailError, match="did you mean"):
            context.set_masks({"1.weigth": torch.ones(32, 64)})

    population.fit(images(16), epochs=1, after_step=meddle, progress=False)
    assert population.masks == {}


def test_members_that_are_done_leave_and_do_not_change_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []
    continue_with = Fit._continue_with

    def counted(self: Fit, stack: Stack, rows: Tensor) -> None:
        left.append(len(stack))
        continue_with(self, stack, rows)

    monkeypatch.setattr(Fit, "_continue_with", counted)
    split, val = images(80, dtype=torch.float64), images(60, seed=1, dtype=torch.float64)
    sizes = [0.1, 0.03, 0.0, 0.01, 0.001, 0.0]
    ends, epochs = [], []
    for patience in (3, None):
        population = Population(mlp, range(6), device="cpu", dtype=torch.float64)
        history = population.fit(
            split, val, epochs=15, batch_size=16, patience=patience, optimizer=Adam(sizes), progress=False
        )
        ends.append(population.params)
        epochs.append(history.epochs)
        if patience:
            assert history["loss"].isnan().sum() == (15 - history.epochs).sum()
            waited = history.epochs - 1 - history.kept_epoch
            assert ((waited == 3) | (history.epochs == 15)).all()
            # Without a step nothing gets better after the first epoch.
            assert history.epochs[2] == history.epochs[5] == 4
    assert min(left) < 6
    assert epochs[0].min() < epochs[1].min() == 15
    best_is_late = (epochs[0] == 15).nonzero().squeeze(1)
    assert len(best_is_late)
    for name in ends[0]:
        torch.testing.assert_close(
            ends[0][name][best_is_late], ends[1][name][best_is_late], rtol=1e-9, atol=1e-12
        )


def test_every_member_ends_with_its_best_epoch() -> None:
    split, val = images(80), images(60, seed=1)
    population = Population(mlp, range(5), device="cpu")
    history = population.fit(split, val, epochs=20, batch_size=16, optimizer=Adam(0.03), progress=False)
    assert torch.equal(history.kept_epoch, history["loss"].argmin(0))
    assert (history.kept_epoch < 19).any()
    torch.testing.assert_close(population.evaluate(val)["loss"], history["loss"].amin(0), rtol=1e-6, atol=0)

    population = Population(mlp, range(5), device="cpu")
    history = population.fit(
        split, val, epochs=20, batch_size=16, optimizer=Adam(0.03), monitor="accuracy", progress=False
    )
    assert torch.equal(population.evaluate(val)["accuracy"], history["accuracy"].amax(0))


def test_without_validation_the_last_epoch_is_kept() -> None:
    split = images(80)
    population = Population(mlp, [0], device="cpu")
    history = population.fit(split, epochs=5, batch_size=16, progress=False)
    assert history.kept_epoch.tolist() == [4]
    assert list(history.values) == ["train_loss"]
    assert history["train_loss"][-1] < history["train_loss"][0]


def test_a_goal_stops_a_member() -> None:
    split, val = images(1000), images(60, seed=1)
    population = Population(mlp, [0, 1, 2], device="cpu")
    history = population.fit(
        split,
        val,
        epochs=60,
        batch_size=16,
        optimizer=Adam(0.01),
        monitor="accuracy",
        goal=0.7,
        progress=False,
    )
    reached = history["accuracy"].nan_to_num(0) >= 0.7
    assert reached.any(0).all()
    assert torch.equal(history.epochs, reached.int().argmax(0) + 1)


def test_a_member_that_diverges_stops_and_keeps_its_best_weights() -> None:
    split, val = images(80), images(60, seed=1)
    population = Population(mlp, [0, 1], device="cpu")
    history = population.fit(split, val, epochs=30, optimizer=SGD([0.01, 1e6]), progress=False)
    assert history.diverged.tolist() == [False, True]
    assert history.epochs[0] == 30
    assert history.epochs[1] < 30
    assert all(torch.isfinite(param).all() for param in population.params.values())


@settings(deadline=None, max_examples=15)
@given(
    st.integers(0, 2**32),
    st.floats(0, 1),
    st.sampled_from([Adam(0.01), Adam(0.01, weight_decay=0.1), SGD(0.05), SGD(1e9, weight_decay=0.1)]),
    st.integers(1, 4),
    st.booleans(),
    st.sampled_from(DEVICES),
)
def test_a_masked_weight_is_exactly_zero_after_any_number_of_steps(
    seed: int, share: float, optimizer: Adam | SGD, epochs: int, own_subsets: bool, device: str
) -> None:
    population = Population(mlp, [seed, seed + 1], device=device)
    generator = torch.Generator().manual_seed(seed)
    masks = {name: torch.rand(p.shape, generator=generator) < share for name, p in population.params.items()}
    population.set_masks(masks)

    def check(context: StepContext) -> None:
        for name, mask in masks.items():
            pruned = context.params[name].cpu()[~mask[context.members]]
            assert not pruned.any()
            assert not torch.signbit(pruned).any()

    subsets = [torch.arange(5), torch.arange(20)] if own_subsets else None
    population.fit(
        images(20),
        epochs=epochs,
        batch_size=8,
        optimizer=optimizer,
        subsets=subsets,
        after_step=check,
        progress=False,
    )
    for name, mask in masks.items():
        assert not population.params[name].cpu()[~mask].any()


@pytest.mark.parametrize("device", DEVICES)
def test_masks_can_change_during_training(device: str) -> None:
    population = Population(mlp, [0, 1, 2], device=device)

    def prune(context: StepContext) -> None:
        if context.step == 5:
            context.set_masks({"1.weight": context.params["1.weight"].abs() > 0.05})

    population.fit(images(64), epochs=3, batch_size=16, after_step=prune, progress=False)
    mask = population.masks["1.weight"]
    assert 0.1 < mask.float().mean() < 0.9
    assert not population.params["1.weight"][~mask].any()
    assert list(population.masks) == ["1.weight"]


def test_rewinding_restores_the_start_under_the_masks() -> None:
    population = Population(mlp, [0, 1], device="cpu")
    start = {name: param.clone() for name, param in population.params.items()}
    mask = torch.rand(32, 64) > 0.5
    population.set_masks({"1.weight": mask})
    population.fit(images(40), epochs=2, progress=False)
    assert not torch.equal(population.params["3.weight"], start["3.weight"])
    population.rewind()
    assert torch.equal(population.params["1.weight"], start["1.weight"] * mask)
    assert torch.equal(population.params["3.weight"], start["3.weight"])
    population.fit(images(40), epochs=1, progress=False)
    assert torch.equal(population.initial["1.weight"], start["1.weight"])


def test_streams_give_other_orders() -> None:
    ends = []
    for stream in (0, 0, 1):
        population = Population(mlp, [0], device="cpu")
        population.fit(images(100), epochs=1, batch_size=16, stream=stream, progress=False)
        ends.append(population.params)
    assert tensors_equal(ends[0], ends[1])
    assert not tensors_equal(ends[0], ends[2])


def test_augmentation_reaches_training_only() -> None:
    seen: list[tuple[int, ...]] = []

    def augment(x: Tensor, noise: Noise) -> Tensor:
        seen.append(tuple(x.shape))
        return x * 0

    population = Population(mlp, [0, 1], device="cpu")
    population.fit(images(32), images(32, seed=1), epochs=1, batch_size=16, augment=augment, progress=False)
    assert set(seen) == {(2, 16, 1, 8, 8)}
    assert torch.equal(population.params["1.weight"], population.initial["1.weight"])  # no input, no gradient


def test_metrics_count_only_what_is_not_nan() -> None:
    split = images(90)
    population = Population(mlp, [0, 1], device="cpu")
    wanted = torch.tensor([1, 3])

    def accuracy_on(logits: Tensor, target: Tensor, cls: Tensor) -> Tensor:
        return torch.where(target == cls, (logits.argmax(1) == target).float(), torch.nan)

    scores = population.evaluate(split, metrics={"own": accuracy_on}, per_member={"cls": wanted})
    for member, cls in enumerate(wanted.tolist()):
        network = population.member(member)
        mine = split.where(split.y == cls)
        expected = (network(mine.x).argmax(1) == cls).double().mean()
        assert scores["own"][member] == pytest.approx(expected.item(), abs=1e-6)
    expected = F.cross_entropy(population.member(1)(split.x), split.y)
    assert scores["loss"][1] == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize(
    "full", [torch.OutOfMemoryError, partial(RuntimeError, "can't allocate memory: 1 TB")]
)
def test_a_population_that_does_not_fit_is_split(
    full: Callable[[], Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    alive: list[int] = []

    class Small(Fit):
        def run(self, progress: object) -> None:
            sizes.append(len(self.params["1.bias"]))
            alive.append(sum(type(thing) is TrainingStep for thing in gc.get_objects()))
            super().run(progress)  # type: ignore[arg-type]
            if sizes[-1] > 2:
                raise full()

    monkeypatch.setattr(fit_module, "Fit", Small)
    population = Population(mlp, range(7), device="cpu")
    population.fit(images(40), epochs=2, progress=False)
    assert sizes == [7, 4, 2, 2, 3, 2, 1]
    assert max(alive) == 1  # a part that failed has gone before the next one starts
    monkeypatch.undo()
    whole = Population(mlp, range(7), device="cpu")
    whole.fit(images(40), epochs=2, progress=False)
    for name, param in whole.params.items():
        torch.testing.assert_close(param, population.params[name])


def test_fitting_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    Population(mlp, [0], device="cpu").fit(images(40), epochs=1)
    assert capfd.readouterr() == ("", "")


def test_bits_and_values_bring_their_own_objective() -> None:
    x = torch.rand(64, 64)
    bits = Split(x, (x[:, :5] > 0.5).float())
    values = Split(x, x[:, :5] * 3)
    for split, names in ((bits, {"loss", "accuracy"}), (values, {"loss"})):
        population = Population(mlp, [0, 1], device="cpu")
        before = population.evaluate(split)
        assert set(before.values) == names
        population.fit(split, epochs=30, batch_size=16, optimizer=Adam(0.01), progress=False)
        assert (population.evaluate(split)["loss"] < 0.7 * before["loss"]).all()


@pytest.mark.parametrize("source", ["data set", "task"])
def test_a_regression_to_zeros_and_ones_stays_a_regression(source: str) -> None:
    x = torch.rand(40, 64)
    split = Split(x, (x[:, :5] > 0.5).float())
    population = Population(mlp, [0, 1], device="cpu")
    if source == "task":
        population.fit(split, task="values", epochs=1, progress=False)
    else:
        data = Dataset("zeros-and-ones", split, split, split, classes=tuple("abcde"), task="values")
        population.fit(data, epochs=1, progress=False)
    assert population.task == "values"
    squares = (population(x) - split.y).square().mean((1, 2)).double()
    scores = population.select([0, 1]).evaluate(split)
    torch.testing.assert_close(scores["loss"], squares)
    assert set(scores.values) == {"loss"}
    assert set(population.evaluate(split, task="bits").values) == {"loss", "accuracy"}


def test_targets_of_the_members_own_are_not_taken_for_the_data_sets_task() -> None:
    data = Dataset("ids", images(40), images(20), images(20), classes=tuple("abcde"))
    bits = (torch.rand(2, 40, 5) > 0.5).float()
    population = Population(mlp, [0, 1], device="cpu")
    history = population.fit(
        data, targets=bits, val_targets=bits[:, :20], epochs=1, optimizer=Adam(0.0), progress=False
    )
    logits = population(data.train.x)
    wanted = torch.nn.functional.binary_cross_entropy_with_logits(logits, bits, reduction="none").mean((1, 2))
    torch.testing.assert_close(history["train_loss"][0], wanted.double(), atol=1e-6, rtol=0)
    assert population.task == "bits"


def test_a_task_that_targets_cannot_be_is_refused() -> None:
    population = Population(mlp, [0], device="cpu")
    with pytest.raises(TrainingError, match=r"targets of task 'bits' need numbers \(y.float\(\)\)"):
        population.fit(images(20), task="bits", progress=False)
    with pytest.raises(DovetailError, match="unknown task 'bit'"):
        population.evaluate(images(20), task="bit")  # type: ignore[arg-type]


def test_a_mistake_in_an_objective_is_told_as_it_is() -> None:
    def objective(logits: Tensor, target: Tensor) -> Tensor:
        return torch.nn.functional.cross_entropy(logits, tarket, reduction="none")  # type: ignore[name-defined]  # noqa: F821

    population = Population(mlp, [0, 1], device="cpu")
    with pytest.raises(NameError, match="tarket"):
        population.fit(images(20), objective=objective, progress=False)
    with pytest.raises(TrainingError, match="cannot be mapped over members"):
        population.fit(
            images(20), objective=lambda logits, y: logits[:, 0] * logits.sum().item(), progress=False
        )


@pytest.mark.parametrize("p", [0.1, 0.3])
def test_dropout_scales_by_all_digits_of_the_type(p: float) -> None:
    x = torch.rand(7, 5, dtype=torch.float64)
    dropped = dropout(Noise(member_keys([0])[0]), x, p)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], x[kept] / (1 - p), atol=1e-15, rtol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_trains_with_dropout(dtype: torch.dtype) -> None:
    population = Population(
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.Dropout(0.3), nn.Linear(16, 5)),
        [0, 1],
        device="cpu",
        dtype=dtype,
    )
    history = population.fit(images(40), epochs=2, progress=False)
    assert torch.isfinite(history["train_loss"]).all()
