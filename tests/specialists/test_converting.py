"""Ordinary classifiers that become parts: they keep what they know, and are undecided on the rest."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import dovetail as dt
from dovetail.errors import DataError, DovetailError, MisfitError, ShapeError, SpecError, TrainingWarning
from dovetail.nets import NetSpec
from dovetail.specialists import Specialist, audit_drop

DATA = dt.load("digits")
FIRST, SECOND = [0, 1, 2, 3, 4], [5, 6, 7, 8, 9]
QUICK: dict[str, Any] = {"device": "cpu", "progress": False}
pytestmark = pytest.mark.filterwarnings("ignore:.*learned nothing")


class Net(nn.Module):
    """A small convolutional network with batch norm, and a number that is no weight."""

    def __init__(self, outputs: int = 10, *, gain: float = 1.0) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.head = nn.Linear(8 * 16, outputs)
        self.gain = gain

    def forward(self, x: Tensor) -> Tensor:
        h = F.max_pool2d(self.norm(self.conv(self.gain * x)).relu(), 2)
        logits: Tensor = self.head(h.flatten(1))
        return logits


class Dense(nn.Module):
    """The same without settings: files can name it as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.net(x)
        return logits


def taught(model: nn.Module, own: list[int] | None = None, epochs: int = 12) -> nn.Module:
    """Return a classifier that somebody trained, on all classes or on a few, by a loop of their own."""
    split = DATA.train if own is None else DATA.train.where(torch.isin(DATA.train.y, torch.tensor(own)))
    y = split.y if own is None else torch.tensor([own.index(label) for label in split.y.tolist()])
    step = torch.optim.Adam(model.parameters(), 5e-3)
    for epoch in range(epochs):
        order = torch.randperm(len(y), generator=torch.Generator().manual_seed(epoch))
        for batch in order.split(64):
            step.zero_grad()
            F.cross_entropy(model(split.x[batch]), y[batch]).backward()
            step.step()
    return model.eval()


@pytest.fixture(scope="module")
def of_all() -> nn.Module:
    torch.manual_seed(0)
    return taught(Dense())


def entropy_on_others(network: nn.Module, own: list[int]) -> float:
    others = DATA.test.x[~torch.isin(DATA.test.y, torch.tensor(own))]
    with torch.no_grad():
        logs = network(others).log_softmax(1)
    return float(-(logs.exp() * logs).sum(1).mean())


def test_it_stays_right_on_its_own_and_becomes_undecided_on_the_rest(of_all: nn.Module) -> None:
    part = dt.as_part(of_all, DATA, FIRST, epochs=15, lr=5e-3, **QUICK)
    score = part.evaluate(DATA.test)
    assert part.rewarded == tuple(FIRST)
    assert score.rewarded_accuracy > 0.9
    assert entropy_on_others(of_all, FIRST) < 1
    assert entropy_on_others(part.module(), FIRST) > 2


def test_it_begins_with_the_weights_and_answers_that_were_there(of_all: nn.Module) -> None:
    before = {name: tensor.clone() for name, tensor in of_all.state_dict().items()}
    part = dt.as_part(of_all, DATA, FIRST, epochs=1, lr=1e-12, **QUICK)
    with torch.no_grad():
        torch.testing.assert_close(part(DATA.test.x), of_all(DATA.test.x), atol=1e-4, rtol=1e-4)
    for name, tensor in before.items():
        times = part.blueprint.temperature if name.startswith("net.3") else 1
        torch.testing.assert_close(part.state[name], times * tensor, atol=1e-6, rtol=1e-6)
        assert torch.equal(of_all.state_dict()[name], tensor)
    assert not of_all.training


def test_classifiers_of_half_of_the_classes_each_are_one_of_all(tmp_path: Path) -> None:
    torch.manual_seed(1)
    build = functools.partial(Net, 10)
    # In an order of their own, which is that of the outputs.
    sets = [[3, 0, 1, 4, 2], SECOND]
    models = [taught(Net(5).train(), own) for own in sets]
    starts = [
        dt.as_part(m, DATA, own, build=build, epochs=1, lr=1e-12, **QUICK)
        for m, own in zip(models, sets, strict=True)
    ]
    for part, model, own in zip(starts, models, sets, strict=True):
        with torch.no_grad():
            found = part(DATA.test.x)
            # Batch norm has gone through the data in training mode, so its statistics are slightly others.
            same = found.argmax(1) == torch.tensor(own)[model(DATA.test.x).argmax(1)]
        assert float(same.float().mean()) > 0.9
    parts = [
        dt.as_part(m, DATA, own, build=build, epochs=10, lr=5e-3, **QUICK)
        for m, own in zip(models, sets, strict=True)
    ]
    whole = dt.compose(parts, "logits")
    assert whole.evaluate(DATA.test).rewarded_accuracy > 0.9
    assert whole - parts[0] == dt.compose([parts[1]], "logits")
    path = whole.save(tmp_path / "whole.safetensors")
    with pytest.raises(DovetailError, match="code of your own"):
        dt.open(path)
    again = dt.open(path, dt.Composite, build=build)
    assert again == whole
    with pytest.raises(MisfitError, match="different initial weights"):
        dt.compose(parts, inputs=DATA.val.x)


def test_one_output_tells_its_class_from_all_else() -> None:
    torch.manual_seed(2)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 1))
    part = dt.as_part(
        model,
        DATA,
        "3",
        build=lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 10)),
        epochs=1,
        lr=1e-12,
        **QUICK,
    )
    with torch.no_grad():
        logits, one = part(DATA.test.x), model(DATA.test.x)
    wanted = torch.zeros(len(logits), 10)
    wanted[:, 3] = one[:, 0]
    torch.testing.assert_close(logits, wanted, atol=1e-4, rtol=1e-4)


def test_a_spec_makes_it_too_and_its_file_needs_no_code(tmp_path: Path) -> None:
    spec = "mlp:24,dropout=0,output_bias=true"
    model = taught(dt.build_net(spec, DATA.input_shape, 10, seed=4).train())
    part = dt.as_part(model, DATA, [3, "8"], build=spec, **QUICK)
    assert part.blueprint.net == NetSpec.parse(spec)
    opened = dt.open(part.save(tmp_path / "part.safetensors"), Specialist)
    assert opened == part
    assert opened.provenance.start.startswith("given:")
    assert opened.provenance.training["epochs"] == 5
    assert len(opened.own_cards) == 2
    other = dt.train_specialists(DATA, spec, [1], sparsity=0, epochs=5, **QUICK)[0]
    pair = dt.compose([part, other], "logits")
    assert pair.known == ("1", "3", "8")
    with pytest.raises(
        SpecError, match=r"weights that were given \(as_part\), so they cannot be trained again"
    ):
        audit_drop(pair, 1, DATA, **QUICK)


def test_how_it_is_trained_on_is_as_for_specialists(of_all: nn.Module) -> None:
    options: dict[str, Any] = {
        "epochs": 2, "keep": "last", "patience": None, "optimizer": "sgd", "lr": 0.01, "schedule": "cosine", **QUICK,
    }  # fmt: skip
    part = dt.as_part(of_all, DATA, FIRST, seed=5, **options)
    said = part.provenance.training
    assert [said[name] for name in ("optimizer", "lr", "momentum", "schedule", "sparsity", "rounds")] == [
        "sgd", 0.01, 0.9, "cosine", 0.0, 0,
    ]  # fmt: skip
    again = dt.as_part(of_all, DATA, FIRST, seed=5, **options)
    assert again == part
    other = dt.as_part(of_all, DATA, FIRST, seed=6, **options)
    assert other != part
    assert other.provenance.start == part.provenance.start  # the same weights, whatever the seed


def test_who_speaks_for_all_classes_cannot_be_undecided(of_all: nn.Module) -> None:
    with pytest.warns(TrainingWarning, match="no training samples of classes other than"):
        dt.as_part(of_all, DATA, range(10), epochs=1, **QUICK)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"model": Dense}, SpecError, "give the trained network, a torch.nn.Module, not type"),
        ({"data": [1, 2]}, DataError, "give a Dataset with classes"),
        ({"loss": "xe"}, SpecError, "nothing would become undecided"),
        ({"slots": True}, SpecError, "unknown setting of as_part 'slots'"),
        ({"lrr": 1.0}, SpecError, "did you mean 'lr'"),
        ({"epochs": 0}, SpecError, "epochs must be at least 1"),
        ({"rewarded": ["eleven"]}, SpecError, "unknown class 'eleven'"),
        ({"model": Net(10, gain=2.0)}, SpecError, "makes another one, which gives other answers"),
        ({"model": Net(7)}, ShapeError, "gives 7 logits; it must give one for each of the 10 classes"),
        ({"model": nn.Linear(64, 10)}, SpecError, "Linear takes arguments; pass build="),
        (
            {"model": nn.Sequential(nn.Flatten(), nn.Linear(64, 10))},
            SpecError,
            r"there is no '1\.weight' in what it makes",
        ),
        (
            {"model": nn.Linear(3, 10), "build": lambda: nn.Linear(3, 10)},
            ShapeError,
            "does not take samples of shape",
        ),
        ({"model": nn.Flatten(0)}, ShapeError, "it must give a row of logits for each"),
        (
            {"model": Net(), "build": functools.partial(Net, 2)},
            SpecError,
            "gives 2 outputs; pass as build= what makes one",
        ),
        ({"build": "mlp:32"}, SpecError, r"there is no 'dense1\.weight' in the model"),
        (
            {"model": dt.build_net("mlp:9", (64,), 10), "build": "mlp:8"},
            SpecError,
            r"\(8, 64\) and not \(9, 64\)",
        ),
    ],
)
def test_what_is_refused(options: dict[str, Any], error: type[DovetailError], says: str) -> None:
    given: dict[str, Any] = {"model": Dense(), "data": DATA, "rewarded": [3, 8], **QUICK, **options}
    with pytest.raises(error, match=says):
        dt.as_part(**given)


def test_weights_that_are_not_finite_are_named() -> None:
    model = Dense()
    name, weight = next(iter(model.named_parameters()))
    with torch.no_grad():
        weight.view(-1)[3] = float("nan")
    with pytest.raises(SpecError, match=f"weights of the model are not finite: '{name}' holds NaN"):
        dt.as_part(model, DATA, [3, 8], **QUICK)
