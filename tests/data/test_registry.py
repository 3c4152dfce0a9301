"""Names, options and the catalogue."""

from __future__ import annotations

import inspect
import socket
from pathlib import Path

import numpy as np
import pytest

from dovetail.data import Dataset, catalogue, get, load, registry
from dovetail.data.content import Content
from dovetail.errors import DataError, DovetailError, SpecError

NAMES = {
    "cifar10",
    "clinc150",
    "digit-xor",
    "digits",
    "fashion-mnist",
    "halves",
    "har",
    "lines",
    "mixture",
    "mnist",
    "mnist-7x7",
    "polynomials",
    "random",
    "stack",
    "two-digits",
    "yeast",
}


@pytest.fixture(autouse=True)
def _own_empty_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DOVETAIL_DATA", raising=False)


def test_catalogue_lists_every_set_with_a_description_and_its_options() -> None:
    infos = {info.name: info for info in catalogue()}
    assert set(infos) == NAMES
    assert all(info.description and "\n" not in info.description for info in infos.values())
    assert infos["har"].options == {"features": "all", "classes": 6}
    assert infos["halves"].options == {"base": "mnist", "variant": "same", "seed": 0}
    assert {name for name, info in infos.items() if info.kind == "files"} == {
        "cifar10",
        "clinc150",
        "fashion-mnist",
        "har",
        "mnist",
        "yeast",
    }
    assert infos["digits"].kind == "embedded"
    assert infos["lines"].kind == "generated"


def test_catalogue_says_where_complete_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_DATA", str(tmp_path))
    (tmp_path / "yeast").mkdir()
    assert {info.found for info in catalogue()} == {None}
    (tmp_path / "yeast" / "yeast.data").touch()
    assert {info.name: info.found for info in catalogue()}["yeast"] == tmp_path / "yeast"
    assert {info.name: info.found for info in catalogue(root=tmp_path)}["yeast"] == tmp_path / "yeast"
    cached = tmp_path / "cache" / "cifar10" / "cifar-10-batches-bin"
    cached.mkdir(parents=True)
    for file in [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]:
        assert {info.name: info.found for info in catalogue()}["cifar10"] is None
        (cached / file).touch()
    assert {info.name: info.found for info in catalogue()}["cifar10"] == cached


def test_catalogue_cannot_be_changed_through_its_answers() -> None:
    catalogue()[0].options.clear()
    assert catalogue()[0].options


@pytest.mark.parametrize("act", [load, get])
@pytest.mark.parametrize("name", ["mnits", "", "../mnist", 3, ["mnist"]])
def test_unknown_names_are_refused_with_the_known_ones(act: object, name: object) -> None:
    with pytest.raises(SpecError, match=r"unknown data set .*Known: cifar10, clinc150, digit-xor, digits"):
        act(name)  # type: ignore[operator]


def test_near_misses_get_a_hint() -> None:
    with pytest.raises(SpecError, match="did you mean 'mnist'"):
        load("mnits")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("digits", {"seed": 1}, r"digits takes no options; got 'seed'"),
        (
            "lines",
            {"sede": 1},
            r"unknown option of lines 'sede'; did you mean 'seed'\? Known: seed, test_samples, train_samples",
        ),
        ("lines", {"seed": -1}, r"option 'seed' of .* must be a whole number, 0 or more; got -1"),
        ("lines", {"seed": True}, r"option 'seed' of .* must be a whole number, 0 or more; got True"),
        ("lines", {"seed": 1.0}, r"option 'seed' of .* must be a whole number, 0 or more; got 1.0"),
        (
            "lines",
            {"train_samples": 9},
            r"option 'train_samples' of .* must be a whole number, from 10 to 1,000,000; got 9",
        ),
        (
            "halves",
            {"variant": "different"},
            r"option 'variant' of .* must be 'same' or 'diff'; got 'different'",
        ),
        ("halves", {"base": 3}, r"option 'base' of .* must be the name of a set .*; got 3"),
        ("mixture", {"kind": "both"}, r"option 'kind' of .* must be 'overlapping' or 'separate'; got 'both'"),
        ("har", {"classes": 4}, r"option 'classes' of .* must be 5 or 6; got 4"),
        ("har", {"classes": 6.0}, r"option 'classes' of .* must be 5 or 6; got 6.0"),
        (
            "har",
            {"features": "frequency"},
            r"option 'features' of .* must be 'all' or 'time'; got 'frequency'",
        ),
        ("mnist", {"val": 0}, r"option 'val' of .* must be a number above 0 and below 1; got 0"),
        ("mnist", {"val": 1}, r"and below 1; got 1"),
        ("mnist", {"val": float("nan")}, r"and below 1; got nan"),
        ("mnist", {"val": "0.2"}, r"and below 1; got '0.2'"),
    ],
)
def test_wrong_options_are_named_with_what_is_allowed(
    name: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        load(name, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "base", "message"),
    [
        ("halves", "polynomials", "class labels and one-channel images are needed"),
        ("stack", "stack-of-things", "unknown data set 'stack-of-things'"),
        ("mixture", "digits", "images at least 10 pixels wide are needed"),
    ],
)
def test_bases_that_cannot_serve_are_refused(name: str, base: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load(name, base=base)


def test_options_are_recorded_with_defaults_as_plain_values() -> None:
    data = load("lines", train_samples=np.int64(20), test_samples=10)
    assert data.options == {"train_samples": 20, "test_samples": 10, "seed": 0}
    assert {type(value) for value in data.options.values()} == {int}
    assert load("stack", base="digits").options == {"base": "digits", "variant": "same", "seed": 0}


def test_every_default_obeys_its_own_rule() -> None:
    for entry in registry._ENTRIES.values():
        for option in entry.options.values():
            assert option.rule.read(option.default) == option.default


def test_rules_come_from_annotations() -> None:
    def make(*, size: int = 3) -> Content:
        raise NotImplementedError

    with pytest.raises(TypeError, match="one Rule"):
        registry.register("of no rule", kind="generated")(make)


def test_options_can_be_part_of_the_name() -> None:
    data = load("lines:train_samples=20,test_samples=10", seed=3)
    assert data.name == "lines"
    assert data.options == {"train_samples": 20, "test_samples": 10, "seed": 3}
    assert load("lines,train_samples=20, test_samples = 10,seed=3").fingerprint == data.fingerprint
    with pytest.raises(SpecError, match="'seed' of lines is given twice"):
        load("lines:seed=1", seed=1)
    with pytest.raises(SpecError, match="did you mean 'mnist'"):
        load("mnits:val=0.1")
    with pytest.raises(SpecError, match="no sizes, only options"):
        load("lines:512")


def test_getting_what_has_no_files_of_its_own(tmp_path: Path) -> None:
    assert get("digits") is None
    assert get("lines") is None
    folder = tmp_path / "mnist"
    folder.mkdir()
    for part in ("train", "t10k"):
        for kind in ("images-idx3", "labels-idx1"):
            (folder / f"{part}-{kind}-ubyte.gz").touch()
    assert get("halves", tmp_path) == folder


@pytest.mark.parametrize("given", ["root", "environment"])
def test_a_data_folder_that_does_not_exist_is_named(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = tmp_path / "nowhere"
    if given == "environment":
        monkeypatch.setenv("DOVETAIL_DATA", str(missing))
    root = missing if given == "root" else None
    for act in (load, get):
        with pytest.raises(DataError, match="does not exist; create it, or name another") as caught:
            act("yeast", root)
        assert str(missing) in str(caught.value)
    with pytest.raises(DataError, match="does not exist"):
        load("halves", root)


def test_a_data_folder_that_cannot_be_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"\(root\) cannot be looked into \(File name too long\)"):
        load("yeast", "a" * 300)
    monkeypatch.setenv("DOVETAIL_DATA", "~nobody-of-this-name/data")
    with pytest.raises(DataError, match=r"~nobody-of-this-name/data \(\$DOVETAIL_DATA\) does not exist"):
        load("yeast")
    assert catalogue()


def test_an_option_is_given_once() -> None:
    with pytest.raises(SpecError, match="option 'seed' is given twice"):
        load("lines:seed=1,seed=2")


def test_root_wins_over_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_DATA", str(tmp_path / "nowhere"))
    (tmp_path / "yeast").mkdir()
    (tmp_path / "yeast" / "yeast.data").touch()
    assert get("yeast", tmp_path) == tmp_path / "yeast"


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("mnist", "mnist"),
        ("fashion-mnist", "fashion-mnist"),
        ("yeast", "yeast"),
        ("har", "har/UCI HAR Dataset/train/X_train.txt"),
        ("cifar10", "cifar10/cifar-10-batches-bin/data_batch_1.bin"),
        ("clinc150", "clinc150"),
        ("two-digits", "mnist"),
    ],
)
@pytest.mark.parametrize("root", [True, False])
def test_without_a_network_the_message_says_where_to_put_what(
    name: str, place: str, root: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object, **__: object) -> object:
        raise socket.gaierror("no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    monkeypatch.setattr("dovetail.data.sources._RETRIES", 0)
    folder = tmp_path if root else tmp_path / "cache"
    with pytest.raises(DataError, match="could not download http") as caught:
        load(name, tmp_path if root else None)
    assert str(folder / place) in str(caught.value)
    assert "by hand" in str(caught.value)
    assert str(caught.value).count("http") == 2  # what could not be had, and where all of it is
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_load_is_documented_and_returns_a_dataset() -> None:
    assert isinstance(load("digits"), Dataset)
    assert "Examples" in (inspect.getdoc(load) or "")
    assert issubclass(SpecError, DovetailError)
