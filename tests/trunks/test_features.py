"""Features: the same as the network gives, computed once, never stale, whole or to be gone on with."""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MethodType
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dovetail as dt
from dovetail.data import Dataset
from dovetail.data.own.features_folder import FILE
from dovetail.data.preparation import Features, Texts
from dovetail.errors import DataError, DovetailError, FileFormatError, ShapeError
from dovetail.trunks import Trunk, compute


class Counted(nn.Module):
    """A network that counts the samples that it has seen."""

    seen = 0

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(64, 7)
        self.head = nn.Linear(7, 10)

    def forward(self, x: Tensor) -> Tensor:
        Counted.seen += len(x)
        logits: Tensor = self.head(self.body(x.flatten(1)).relu())
        return logits


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    Counted.seen = 0
    return tmp_path / "cache"


@pytest.fixture
def model() -> Counted:
    torch.manual_seed(0)
    return Counted()


@pytest.fixture(scope="module")
def data() -> Dataset:
    return dt.load("digits")


def raw_features(model: Counted, x: Tensor) -> Tensor:
    with torch.no_grad():
        return torch.as_tensor(model.body(x.flatten(1)).relu())


def test_they_are_what_the_network_gives_scaled_by_the_training_samples(
    model: Counted, data: Dataset
) -> None:
    features = dt.trunk(model).features(data, progress=False)
    train = raw_features(model, data.train.x)
    spread = train.std(0, correction=0)
    for name, split in data.splits.items():
        wanted = (raw_features(model, split.x) - train.mean(0)) / torch.where(spread > 0, spread, 1)
        torch.testing.assert_close(features.splits[name].x, wanted, atol=1e-4, rtol=1e-4)
        assert torch.equal(features.splits[name].y, split.y)
    assert features.classes == data.classes


def test_they_are_computed_once(model: Counted, data: Dataset) -> None:
    trunk = dt.trunk(model)
    first = trunk.features(data, progress=False)
    seen = Counted.seen
    assert seen == 1797
    again = dt.trunk(model).features(data, progress=False)
    assert Counted.seen - seen == compute._TRIED  # whether it still gives what is kept
    assert again.fingerprint == first.fingerprint
    assert again.preparation == first.preparation


@pytest.mark.parametrize("first", [None, False])
def test_other_scaling_computes_nothing_anew(
    model: Counted, data: Dataset, tmp_path: Path, first: bool | None
) -> None:
    trunk = dt.trunk(model)
    ways = (first, False if first is None else None, first)
    found = [trunk.features(data, scale=scale, folder=tmp_path / "f", progress=False) for scale in ways]
    assert Counted.seen == 1797 + 2 * compute._TRIED
    raw, scaled = found[:2] if first is False else found[1::-1]
    torch.testing.assert_close(raw.test.x, raw_features(model, data.test.x))
    alone = trunk.features(data, folder=tmp_path / "alone", progress=False)
    assert torch.equal(scaled.test.x, alone.test.x)
    assert scaled.preparation == alone.preparation
    assert torch.equal(found[2].test.x, found[0].test.x)
    assert scaled.preparation != raw.preparation


CHANGES: dict[str, Callable[[Counted, Dataset], tuple[Trunk, Dataset]]] = {
    "weights": lambda model, data: (dt.trunk(_changed(model)), data),
    "cut": lambda model, data: (dt.trunk(model, cut="body"), data),
    "name": lambda model, data: (dt.trunk(model, name="other"), data),
    "scaling of samples": lambda model, data: (dt.trunk(model, mean=0.5, std=0.5), data),
    "samples": lambda model, data: (dt.trunk(model), replace(data, test=data.val)),
    "classes": lambda model, data: (dt.trunk(model), replace(data, classes=tuple("abcdefghij"))),
}


def _changed(model: Counted) -> Counted:
    with torch.no_grad():
        model.body.weight[0, 0] += 1e-3
    return model


@pytest.mark.parametrize("what", CHANGES)
def test_nothing_stale_is_used(model: Counted, data: Dataset, what: str) -> None:
    dt.trunk(model).features(data, progress=False)
    Counted.seen = 0
    trunk, other = CHANGES[what](model, data)
    trunk.features(other, progress=False)
    assert Counted.seen > 1000


def test_code_that_changed_is_noticed(model: Counted, data: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    trunk = dt.trunk(model)
    trunk.features(data, progress=False)
    Counted.seen = 0
    monkeypatch.setattr("inspect.getsource", lambda kind: "other code")
    trunk.features(data, progress=False)
    assert Counted.seen == 1797


class Activated(nn.Module):
    """A network that is set up by what it holds, and not by weights."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(64, 7)
        self.head = nn.Linear(7, 10)
        self.activation: Callable[..., Tensor] = torch.relu
        self.by = torch.ones(1)  # no buffer
        self.more = {"shifts": [0.0, 1.0]}
        self.sizes = np.ones(2)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.activation(self.body(x.flatten(1))) * self.by + self.more["shifts"][0]
        logits: Tensor = self.head(hidden * float(self.sizes[0]))
        return logits


def _twice(self: Activated, x: Tensor) -> Tensor:
    logits: Tensor = self.head(self.body(x.flatten(1)).relu() * 2)
    return logits


def _with(model: Activated, **settings: object) -> Activated:
    for name, value in settings.items():
        setattr(model, name, value)
    return model


def _hooked(model: Activated) -> Activated:
    model.body.register_forward_hook(lambda module, given, output: output.abs())
    return model


SETTINGS: dict[str, Callable[[Activated], Activated]] = {
    "a function": lambda model: _with(model, activation=torch.tanh),
    "a partial": lambda model: _with(model, activation=partial(nn.functional.leaky_relu, negative_slope=0.5)),
    "a tensor": lambda model: _with(model, by=torch.ones(1) * 2),
    "an array": lambda model: _with(model, sizes=np.zeros(2)),
    "a list in a dictionary": lambda model: _with(model, more={"shifts": [1.0, 1.0]}),
    "a hook": _hooked,
    "its own forward": lambda model: _with(model, forward=MethodType(_twice, model)),
    # What no hash of the network sees; the first samples do.
    "what a closure holds": lambda model: _with(model, activation=_times(3.0)),
    "an object": lambda model: _with(model, activation=_Times(3.0)),
}


def _times(factor: float) -> Callable[[Tensor], Tensor]:
    return lambda hidden: hidden.relu() * factor


class _Times:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, hidden: Tensor) -> Tensor:
        return hidden.relu() * self.factor


@pytest.mark.parametrize("what", SETTINGS)
def test_features_of_the_same_weights_set_up_otherwise_are_not_taken(what: str, data: Dataset) -> None:
    torch.manual_seed(0)
    model = Activated()
    if what in ("what a closure holds", "an object"):
        model.activation = _times(1.0) if what == "what a closure holds" else _Times(1.0)
    before = dt.trunk(model).features(data, scale=False, progress=False)
    trunk = dt.trunk(SETTINGS[what](model))
    after = trunk.features(data, scale=False, progress=False)
    with torch.no_grad():
        torch.testing.assert_close(after.test.x, trunk(data.test.x))
    assert not torch.equal(before.test.x, after.test.x)


class Inherits(Activated):
    """A network whose code is that of another class."""


def test_code_of_classes_that_are_inherited_from_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = dt.trunk(Inherits()).code_hash
    source = inspect.getsource
    monkeypatch.setattr("inspect.getsource", lambda kind: "other" if kind is Activated else source(kind))
    assert dt.trunk(Inherits()).code_hash != before


def test_a_folder_of_what_a_trunk_does_not_give_any_more_is_refused(data: Dataset, tmp_path: Path) -> None:
    model = Activated()
    model.activation = _Times(1.0)
    dt.trunk(model).features(data, folder=tmp_path / "f", progress=False)
    model.activation = _Times(3.0)
    with pytest.raises(DovetailError, match="code that it runs has changed"):
        dt.trunk(model).features(data, folder=tmp_path / "f", progress=False)


def test_what_was_begun_with_other_code_is_not_gone_on_with(data: Dataset) -> None:
    class Broken(_Times):
        batches = 0

        def __call__(self, hidden: Tensor) -> Tensor:
            Broken.batches += 1
            if Broken.batches == 3:
                raise KeyboardInterrupt
            return super().__call__(hidden)

    model = Activated()
    model.activation = Broken(1.0)
    with pytest.raises(KeyboardInterrupt):
        dt.trunk(model).features(data, scale=False, batch_size=50, progress=False)
    model.activation = _Times(3.0)
    trunk = dt.trunk(model)
    found = trunk.features(data, scale=False, progress=False)
    with torch.no_grad():
        torch.testing.assert_close(found.train.x, trunk(data.train.x))


@pytest.mark.parametrize("rows", [1, 200, 1200])
def test_what_was_stopped_goes_on(
    model: Counted, data: Dataset, cache: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    plain = Counted.forward

    class StopError(Exception):
        pass

    def forward(self: Counted, x: Tensor) -> Tensor:
        if Counted.seen >= rows:
            raise StopError
        return plain(self, x)

    with monkeypatch.context() as patched:
        patched.setattr(Counted, "forward", forward)
        with pytest.raises(StopError):
            dt.trunk(model).features(data, batch_size=50, progress=False)
    (begun,) = (cache / "features").glob(".*.part")
    part = next(
        iter(sorted(begun.glob("*.x.npy"), key=lambda path: path.stat().st_mtime, reverse=True)), None
    )
    if part is not None:
        with part.open("ab") as file:
            file.write(b"half a row")
    Counted.seen = 0
    found = dt.trunk(model).features(data, batch_size=50, progress=False)
    assert Counted.seen < 1797 or rows == 1
    assert not list((cache / "features").glob(".*"))
    assert (
        found.fingerprint
        == dt.trunk(model).features(data, folder=cache / "b", batch_size=50, progress=False).fingerprint
    )


def test_devices_take_turns_and_keep_the_order(model: Counted, data: Dataset) -> None:
    one = compute.compute_features(dt.trunk(model), data.train.x, batch_size=100)
    several = compute.compute_features(dt.trunk(model), data.train.x, batch_size=100, device=["cpu"] * 3)
    assert torch.equal(one, several)


class Overtaken(Counted):
    """A network whose first run waits for a second one to begin, which goes on only when the first is over."""

    # Of the class: a trunk copies its network, and threads' events cannot be copied.
    begun: ClassVar[list[int]] = []
    second, over = threading.Event(), threading.Event()

    def forward(self, x: Tensor) -> Tensor:
        self.begun.append(len(x))
        features = self.body(x.flatten(1)).relu()
        if len(self.begun) == 1:
            self.second.wait(0.5)
        else:
            self.second.set()
            self.over.wait(0.5)
        logits: Tensor = self.head(features)
        return logits


def test_samples_wait_for_the_first_run_of_another_thread() -> None:
    torch.manual_seed(0)
    trunk = dt.trunk(Overtaken())
    x = torch.rand(2, 1, 8, 8)

    def first() -> Tensor:
        found: Tensor = trunk(x)
        Overtaken.over.set()
        return found

    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(first), threads.submit(trunk, x)]
        one, other = (run.result() for run in runs)
    assert torch.equal(one, other)


def test_bfloat16_is_near(model: Counted, data: Dataset) -> None:
    trunk = dt.trunk(model)
    exact = trunk.features(data, progress=False)
    rough = trunk.features(data, dtype=torch.bfloat16, progress=False)
    assert exact.fingerprint != rough.fingerprint
    assert rough.train.x.dtype == torch.float32
    torch.testing.assert_close(exact.train.x, rough.train.x, atol=0.1, rtol=0.1)


def test_maps_stay_as_they_are(data: Dataset) -> None:
    torch.manual_seed(0)
    trunk = dt.trunk(nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU()), pool="none", cut="output")
    features = trunk.features(data, progress=False)
    assert features.input_shape == (3, 6, 6)
    with torch.no_grad():
        torch.testing.assert_close(features.test.x, trunk(data.test.x))
    assert dt.train_specialists(features, "lenet:4-6", [0, 1], epochs=1, progress=False)[
        0
    ].blueprint.input_shape == (3, 6, 6)


def test_a_folder_of_features_is_data(model: Counted, data: Dataset, tmp_path: Path) -> None:
    features = dt.trunk(model).features(data, folder=tmp_path / "digits-features", progress=False)
    read = dt.read(tmp_path / "digits-features")
    assert read.fingerprint == features.fingerprint
    assert read.preparation == features.preparation
    with pytest.raises(DovetailError, match="holds other features"):
        dt.trunk(_changed(model)).features(data, folder=tmp_path / "digits-features", progress=False)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(DovetailError, match="in the way and holds no features"):
        dt.trunk(model).features(data, folder=tmp_path / "mine", progress=False)


def test_many_of_them_stay_in_files(model: Counted, data: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    held = dt.trunk(model).features(data, progress=False)
    for room in ("rows", "features_folder"):
        monkeypatch.setattr(f"dovetail.data.own.{room}.MOST_IN_MEMORY", 0)
    mapped = dt.trunk(model).features(data, progress=False)
    assert mapped.fingerprint == held.fingerprint


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / FILE).write_text("{}"), "Field required"),
        (lambda folder: (folder / FILE).write_text("{"), "features.json"),
        (lambda folder: (folder / FILE).write_bytes(b"\xff\xfe\x00"), "no text"),
        (lambda folder: _edit(folder, schema="dovetail.features/2"), "install a newer one"),
        (lambda folder: _edit(folder, splits={"train": 3, "val": 288, "test": 360}), "should hold float32"),
        (lambda folder: _edit(folder, same={"val": "test", "test": "val"}), "does not hold"),
        (lambda folder: (folder / "val.x.npy").unlink(), "missing or cut short"),
        (
            lambda folder: (folder / "val.x.npy").write_bytes((folder / "val.x.npy").read_bytes()[:-9]),
            "cut short",
        ),
        (lambda folder: np.save(folder / "val.y.npy", np.zeros(3)), "3 targets for 288 samples"),
    ],
)
def test_damaged_folders(
    model: Counted, data: Dataset, tmp_path: Path, damage: Callable[[Path], object], says: str
) -> None:
    dt.trunk(model).features(data, folder=tmp_path / "f", progress=False)
    damage(tmp_path / "f")
    with pytest.raises((FileFormatError, DataError), match=says):
        dt.read(tmp_path / "f")


def _edit(folder: Path, **changes: object) -> None:
    content = json.loads((folder / FILE).read_text())
    (folder / FILE).write_text(json.dumps(content | changes))


def test_what_is_refused(model: Counted, data: Dataset) -> None:
    trunk = dt.trunk(model)
    features = trunk.features(data, progress=False)
    with pytest.raises(DataError, match="holds features already"):
        trunk.features(features, progress=False)
    with pytest.raises(DataError, match="give a Dataset"):
        trunk.features(data.train, progress=False)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="batch_size is how many"):
        trunk.features(data, batch_size=0, progress=False)
    with pytest.raises(ShapeError, match=r"cannot take samples of shape \(3,\)"):
        trunk.compute(torch.zeros(2, 3))
    with torch.no_grad():
        trunk.network.body.weight[0] = torch.inf  # type: ignore[union-attr, operator]
    with pytest.raises(DataError, match="NaN or infinite"):
        trunk.compute(data.train.x)


class Lengths(nn.Module):
    """A network of texts: how long they are, and how many letters e they have."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return torch.stack([input_ids.eq(101).float(), input_ids.gt(0).float()], 2) * self.scale


def letters(texts: list[str], **options: object) -> dict[str, Tensor]:
    longest = max(map(len, texts))
    ids = torch.tensor([[ord(letter) for letter in text.ljust(longest, "\0")] for text in texts])
    return {"input_ids": ids, "attention_mask": ids.gt(0)}


def test_texts_are_read_by_their_trunk(tmp_path: Path) -> None:
    rows = [
        {"text": text, "label": label}
        for label, text in (("much", "eee e"), ("little", "ape"), ("much", "eel e")) * 9
    ]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    data = dt.read(path, texts="raw")
    assert isinstance(data.preparation, Texts)
    trunk = dt.trunk(Lengths(), tokenizer=letters, cut="output", name="letters")
    features = trunk.features(data, scale=False, progress=False)
    assert features.preparation is not None
    sample = features.preparation(["eels"])
    torch.testing.assert_close(sample, torch.tensor([[0.5, 1.0]]))
    team = dt.train_specialists(features, "mlp:8", slots=True, epochs=2, batch_size=4, progress=False)
    part = dt.compose(team)
    part.save(tmp_path / "part.safetensors")
    again = dt.open(tmp_path / "part.safetensors", dt.Composite, trunk=trunk)
    assert list(again.predict(["eee", "bcd"])) == list(part.predict(["eee", "bcd"]))
    with pytest.raises(DataError, match="texts='raw'"):
        trunk.features(dt.read(path), progress=False)
    with pytest.raises(DataError, match="takes numbers"):
        dt.trunk(Counted()).features(data, progress=False)


def test_a_network_is_not_trained_on_texts_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"text": "a b", "label": 1}\n{"text": "c d", "label": 2}\n' * 10)
    with pytest.raises(DataError, match="trunk"):
        dt.train_specialists(dt.read(tmp_path / "t.jsonl", texts="raw"), "mlp:8", progress=False)


def test_features_of_other_data_can_be_scaled_alike(model: Counted, data: Dataset) -> None:
    trunk = dt.trunk(model)
    first = trunk.features(data, progress=False)
    half = replace(data, train=data.train.where(data.train.y < 5), name="half")
    alike = trunk.features(half, like=first, progress=False)
    assert alike.preparation == first.preparation
    torch.testing.assert_close(alike.test.x, first.test.x)
    assert trunk.features(half, progress=False).preparation != first.preparation
    with pytest.raises(DataError, match="stands on features"):
        trunk.features(half, like=Dataset.from_arrays(np.eye(20), [0, 1] * 10), progress=False)
    assert isinstance(first.preparation, Features)
