from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import dovetail as dt
from dovetail.data import Dataset, Split
from dovetail.errors import DataError, FileFormatError, MisfitError, SpecError
from dovetail.specialists import Certificate, certify
from dovetail.specialists.closed_form.manifest import checksum

from ..helpers import make_specialist
from .helpers import CLASSES, data_of, team_of

DATA = data_of()


def signed(content: dict[str, object]) -> dict[str, object]:
    """Give a file's content the checksum that whoever alters it can write as well."""
    rest = {name: value for name, value in content.items() if name != "checksum"}
    return {**rest, "checksum": checksum(rest)}


def test_a_certificate_is_of_three_computations_that_agree() -> None:
    whole = dt.compose(team_of(DATA))
    found = certify(whole, ["cat", 0], DATA)
    assert found.holds
    assert found.subtracted == found.added == found.fresh != found.before
    assert found.solution == found.fresh_solution
    assert (found.dropped, found.kept) == (("cat", "ant"), ("bee", "dog", "eel"))
    assert "data's samples" in found.proven[0]
    left = whole.without("cat", "ant")
    assert found.check(left)
    assert found.check(left, DATA)
    assert found.check(left.with_moments())


def test_a_part_that_was_altered_or_data_that_differs_does_not_pass() -> None:
    whole = dt.compose(team_of(DATA))
    found = certify(whole, ["cat"], DATA)
    assert not found.check(whole)
    assert not found.check(whole.without("dog"))
    assert not found.check(whole.without("cat").with_tuning(ridge=9.0))
    fewer = whole.without("cat").minus(DATA.train.where(torch.tensor([0])))
    assert not found.check(fewer)
    changed = Dataset("changed", Split(DATA.train.x + 1, DATA.train.y), DATA.val, DATA.test, CLASSES)
    assert not found.check(whole.without("cat"), changed)
    wrong = certify(whole, ["cat"], changed)
    assert not wrong.holds
    assert wrong.proven == ()
    assert "NOT what there would be" in wrong.finding


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dropped", ["dog"]),
        ("dropped", []),
        ("dropped", ["Eve"]),
        ("dropped", ["cat", "dog"]),
        ("kept", ["ant", "bee", "dog"]),
        ("samples", {"ant": 12, "bee": 12, "dog": 12, "eel": 13}),
        ("data", "hospital (0)"),
        ("data", ""),
        ("fresh", None),
        ("basis", "0" * 32),
        ("subtracted", "0" * 32),
        ("ridge", 4.0),
        ("proven", ["anything"]),
        ("not_proven", []),
    ],
)
def test_a_certificate_that_was_altered_does_not_pass_even_with_a_checksum_that_fits(
    tmp_path: Path, name: str, value: object
) -> None:
    whole = dt.compose(team_of(DATA))
    path = certify(whole, ["cat"], DATA).save(tmp_path / "cat.json")
    content = json.loads(path.read_text())
    left = whole.without("cat")
    path.write_text(json.dumps(signed(content)))
    assert Certificate.open(path).check(left, DATA, whole=whole)
    path.write_text(json.dumps(signed(content | {name: value})))
    assert not Certificate.open(path).check(left, DATA)


def test_only_the_whole_tells_whether_what_is_said_of_it_is_right() -> None:
    whole = dt.compose(team_of(DATA))
    left = whole.without("cat")
    for found in (certify(whole, ["cat"]), certify(whole, ["cat"], DATA)):
        assert found.check(left, whole=whole)
        other = found.model_copy(update={"before": "0" * 32})
        assert other.check(left)
        assert not other.check(left, whole=whole)
        assert not found.check(left, whole=whole.without("dog"))
        assert not found.check(left, whole=left)
        assert not found.check(left, whole=dt.compose([whole, team_of(data_of(1))[2]]))


def test_it_says_what_is_not_proven() -> None:
    trunk = dt.trunk(torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 5)))
    for scale in (True, False):
        features = trunk.features(DATA, scale=scale, progress=False)
        found = certify(dt.compose(team_of(features)).tuned(), ["bee"])
        text = " ".join(found.not_proven)
        assert "never saw bee" in text
        assert ("scaled by the mean and variance" in text) == scale
        assert "chosen by leave one out of 60" in text
        assert "no data was given" in text
    rows = Dataset.from_arrays(DATA.train.x.numpy(), [CLASSES[y] for y in DATA.train.y.tolist()])
    assert "how raw samples are prepared" in " ".join(certify(dt.compose(team_of(rows)), ["bee"]).not_proven)
    assert "prepared" not in " ".join(certify(dt.compose(team_of(DATA)), ["bee"]).not_proven)


def test_a_file_of_it_is_read_back_and_damage_is_refused(tmp_path: Path) -> None:
    found = certify(dt.compose(team_of(DATA)), ["cat"], DATA)
    path = found.save(tmp_path / "cat.json")
    assert Certificate.open(path) == found
    content = json.loads(path.read_text())
    assert content["holds"] is True
    for change, said in (
        ({"subtracted": "none"}, "its subtracted is 'none'"),
        ({"schema": "dovetail.certificate/3"}, "reads up to"),
        ({"more": 1}, "its more is 1"),
    ):
        path.write_text(json.dumps(signed(content | change)))
        with pytest.raises(FileFormatError, match=said):
            Certificate.open(path)
    for name, value in (("dropped", ["dog"]), ("checksum", "0" * 32), ("holds", False)):
        path.write_text(json.dumps(content | {name: value}))
        with pytest.raises(FileFormatError, match="does not match its checksum"):
            Certificate.open(path)
    path.write_text(json.dumps({name: value for name, value in content.items() if name != "checksum"}))
    with pytest.raises(FileFormatError, match="does not match its checksum"):
        Certificate.open(path)
    path.write_text("[1]")
    with pytest.raises(FileFormatError, match="it is not a JSON object"):
        Certificate.open(path)


def test_what_cannot_be_certified_is_refused() -> None:
    whole = dt.compose(team_of(DATA))
    with pytest.raises(MisfitError, match="is of classes that are taken out; name one that Sums"):
        certify(whole, [], DATA)
    assert certify(whole, "cat") == certify(whole, 2) == certify(whole, ["cat"])  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="unknown class 'yak'"):
        certify(whole, "yak")
    with pytest.raises(MisfitError, match="sums of nothing"):
        certify(whole, CLASSES)
    with pytest.raises(DataError, match="has other classes"):
        certify(whole, ["cat"], dt.load("digits"))


@pytest.mark.parametrize("wrong", [team_of(DATA), make_specialist((1,)), "nine.safetensors", DATA, None])
def test_a_certificate_is_of_sums_alone(wrong: Any) -> None:
    whole = dt.compose(team_of(DATA))
    said = f"of sums in one part, not of {type(wrong).__name__}: add a list with dovetail.compose"
    with pytest.raises(MisfitError, match=said):
        certify(wrong, ["cat"])
    found = certify(whole, ["cat"])
    with pytest.raises(MisfitError, match=said):
        found.check(wrong)
    if wrong is not None:
        with pytest.raises(MisfitError, match=said):
            found.check(whole.without("cat"), whole=wrong)


@pytest.mark.parametrize("wrong", [DATA.train, "digits", team_of(DATA)])
def test_data_of_a_certificate_is_a_dataset(wrong: Any) -> None:
    whole = dt.compose(team_of(DATA))
    said = f"give the Dataset that the sums were made of.*not {type(wrong).__name__}"
    with pytest.raises(DataError, match=said):
        certify(whole, ["cat"], wrong)
    with pytest.raises(DataError, match=said):
        certify(whole, ["cat"]).check(whole.without("cat"), wrong)
