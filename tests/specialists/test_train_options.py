from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

import dovetail as dt
from dovetail.errors import DataError, DovetailError, SpecError, TrainingError
from dovetail.population import Noise
from dovetail.specialists import audit_drop
from dovetail.specialists.objectives import max_entropy
from dovetail.specialists.own_functions import OWN_NAME, function_name

DATA = dt.load("digits")
TRAINING = {"net": "mlp:16", "rewarded": [3, 8], "sparsity": 0.5, "epochs": 2, "progress": False}


def own_loss(logits: Tensor, target: Tensor, rewarded: Tensor) -> Tensor:
    return max_entropy(logits, target, rewarded)


def blurred(x: Tensor, noise: Noise) -> Tensor:
    return x + 0.1 * noise.normal(x, x.shape[1:])


def test_a_loss_of_ones_own_that_is_the_usual_one_trains_the_same_networks() -> None:
    usual = dt.train_specialists(DATA, **TRAINING)  # type: ignore[arg-type]
    own = dt.train_specialists(DATA, loss=own_loss, **TRAINING)  # type: ignore[arg-type]
    for a, b in zip(usual, own, strict=True):
        assert all(torch.equal(a.state[name], b.state[name]) for name in a.state)


def test_files_name_functions_and_tell_them_apart(tmp_path: Path) -> None:
    options = {**TRAINING, "folder": tmp_path}
    first = dt.train_specialists(DATA, loss=own_loss, augment=blurred, **options)  # type: ignore[arg-type]
    part = dt.open(tmp_path / "digits-3-seed0.safetensors")
    assert isinstance(part, dt.Specialist)
    assert part == first[0]
    assert part.provenance.loss == function_name(own_loss, "loss")
    assert OWN_NAME.fullmatch(str(part.provenance.training["augment"]))
    again = dt.train_specialists(DATA, loss=own_loss, augment=blurred, **options)  # type: ignore[arg-type]
    assert not again.histories
    with pytest.raises(DovetailError, match="trained otherwise: loss"):
        dt.train_specialists(DATA, augment=blurred, **options)  # type: ignore[arg-type]


def test_mistakes_in_own_functions_name_them_and_how_they_are_called() -> None:
    def with_own(**own: object) -> None:
        dt.train_specialists(DATA, **{**TRAINING, **own})  # type: ignore[arg-type]

    with pytest.raises(
        TrainingError, match=r"<lambda> failed: TypeError: .* called as loss\(logits, target, rewarded"
    ):
        with_own(loss=lambda logits: logits)
    with pytest.raises(
        TrainingError, match=r"failed: TypeError: .*'shape'; it is called as augment\(x, noise\)"
    ):
        with_own(augment=lambda x, noise: x + noise.normal(x.shape))
    with pytest.raises(
        TrainingError, match=r"inputs of 2 networks, 64 samples each, .* it gave \[1, 64, 1, 8, 8\]"
    ):
        with_own(augment=lambda x, noise: x[:1])
    with pytest.raises(TrainingError, match="it gave NoneType"):
        with_own(augment=lambda x, noise: None)
    with pytest.raises(TrainingError, match="mapped over members"):  # torch's own advice stays
        with_own(loss=lambda logits, target, rewarded: logits[:, 0] if logits.sum() > 0 else logits[:, 1])


def test_functions_are_the_same_by_what_they_do() -> None:
    def times(factor: float) -> object:
        return lambda x: x * factor

    names = [function_name(times(factor), "loss") for factor in (2.0, 3.0, 2.0)]  # type: ignore[arg-type]
    assert names[0] == names[2] != names[1]
    with pytest.raises(SpecError, match="loss is a function"):
        function_name(Noise, "loss")


def test_balanced_is_the_weight_of_each_class() -> None:
    few = torch.cat([(DATA.train.y == 3).nonzero().squeeze(1)[:10], (DATA.train.y != 3).nonzero().squeeze(1)])
    uneven = dt.Dataset("uneven", DATA.train.where(few), DATA.val, DATA.test, DATA.classes)
    counts = uneven.train.y.bincount()
    weights = (len(few) / (10 * counts.double())).float()[uneven.train.y]
    options = {**TRAINING, "keep": "last", "patience": None}
    balanced = dt.train_specialists(uneven, balanced=True, **options)  # type: ignore[arg-type]
    weighed = dt.train_specialists(uneven, sample_weights=weights, **options)  # type: ignore[arg-type]
    plain = dt.train_specialists(uneven, **options)  # type: ignore[arg-type]
    for a, b, c in zip(balanced, weighed, plain, strict=True):
        for name in a.state:
            torch.testing.assert_close(a.state[name], b.state[name])
        assert any(not torch.equal(a.state[name], c.state[name]) for name in a.state)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (torch.ones(3), "each needs one"),
        (["a"], "are numbers"),
        (-torch.ones(len(DATA.train)), "not negative"),
    ],
)
def test_wrong_weights_are_refused(weights: object, message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        dt.train_specialists(DATA, sample_weights=weights, **TRAINING)  # type: ignore[arg-type]


def test_a_table_is_no_data() -> None:
    with pytest.raises(DataError, match=r"not a list; write .*from_arrays"):
        dt.train_specialists([[1, 2]])  # type: ignore[arg-type]


def test_weight_decay_makes_weights_smaller() -> None:
    plain, decayed = (
        dt.train_specialists(DATA, weight_decay=decay, **TRAINING)[0].state  # type: ignore[arg-type]
        for decay in (0.0, 0.1)
    )
    assert sum(decayed[name].norm() for name in decayed) < 0.8 * sum(plain[name].norm() for name in plain)


def test_specialists_that_are_done_are_kept_when_training_stops(tmp_path: Path) -> None:
    options = {**TRAINING, "rewarded": None, "folder": tmp_path, "at_once": 4}
    steps = []

    def counted(logits: Tensor, target: Tensor, rewarded: Tensor) -> Tensor:
        return max_entropy(logits, target, rewarded)

    def interrupting(x: Tensor, noise: Noise) -> Tensor:
        steps.append(1)
        if len(list(tmp_path.iterdir())) >= 4:
            raise KeyboardInterrupt
        return x

    with pytest.raises(KeyboardInterrupt):
        dt.train_specialists(DATA, loss=counted, augment=interrupting, **options)  # type: ignore[arg-type]
    kept = sorted(tmp_path.iterdir())
    assert [file.name for file in kept] == [f"digits-{number}-seed0.safetensors" for number in range(4)]
    assert steps


@pytest.mark.slow
def test_parts_of_a_population_are_what_all_at_once_would_be() -> None:
    options = {**TRAINING, "rewarded": None}
    together = dt.train_specialists(DATA, **options)  # type: ignore[arg-type]
    apart = dt.train_specialists(DATA, at_once=3, **options)  # type: ignore[arg-type]
    assert [len(history.seeds) for history in apart.histories] == [10, 10, 10]
    for a, b in zip(together, apart, strict=True):
        for name in a.state:
            torch.testing.assert_close(a.state[name], b.state[name])
    for all_at_once, in_parts in zip(together.histories, apart.histories, strict=True):
        torch.testing.assert_close(all_at_once["loss"], in_parts["loss"], equal_nan=True)


def test_what_files_only_name_cannot_be_trained_again() -> None:
    team = dt.train_specialists(DATA, loss=own_loss, **TRAINING)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="because their loss was given as a function"):
        audit_drop(dt.compose(list(team), force=True), 3, DATA, progress=False)
