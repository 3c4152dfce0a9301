"""The bench without a network: what it lists, and that its numbers are those of the library."""

from __future__ import annotations

import gc
import time
import warnings
import weakref
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import dovetail as dt
from dovetail.errors import DovetailError
from dovetail.nets import NetSpec
from dovetail.specialists import Composite, Specialist
from dovetail.specialists.blueprint import Packed
from dovetail.specialists.composite import compose_quietly
from dovetail.specialists.evaluate import score_logits
from dovetail.specialists.files import read_file_manifest
from dovetail.specialists.manifest import Manifest
from dovetail.specialists.merge import Method
from dovetail.studio.bench import composing as first_fit
from dovetail.studio.bench import parts
from dovetail.studio.bench.bench import Bench, Measured
from dovetail.studio.bench.groups import group_specialists
from dovetail.studio.bench.logits import Outputs
from dovetail.studio.bench.parts import FolderParts
from dovetail.studio.folder import StudioFolder
from dovetail.studio.held_data import DataCache

from .bench_parts import DIGITS, digit_specialist, names, save_team


def bench_of(folder: Path) -> Bench:
    return Bench(StudioFolder(folder))


def whole(bench: Bench, files: list[str], method: Method, seconds: float = 5.0) -> Measured:
    measured = bench.measure(files, method, seconds)
    while measured.samples < measured.total:
        measured = bench.measure(files, method, seconds)
    return measured


@pytest.mark.parametrize(
    ("net", "slots"),
    [("mlp:12", False), ("mlp:14-11", False), ("mlp:12,batch_norm=true", True), ("small-cnn", True)],
)
@pytest.mark.parametrize("method", ["sum", "logits", "ties", "calibrated"])
def test_measures_what_the_library_does(tmp_path: Path, net: str, slots: bool, method: Method) -> None:
    team = save_team(tmp_path, net, slots=slots)
    score = whole(bench_of(tmp_path), names(0, 1, 3), method).score
    members = [team[0], team[1], team[3]]
    inputs = DIGITS.train.x if method == "calibrated" else None
    expected = compose_quietly(members, method, inputs=inputs).evaluate(DIGITS.test)
    assert score is not None
    assert score.confusion.tolist() == expected.confusion.tolist()
    assert score.rewarded_accuracy == pytest.approx(expected.rewarded_accuracy, abs=1e-12)
    assert score.entropy == pytest.approx(expected.entropy, abs=1e-5)
    torch.testing.assert_close(score.class_entropy, expected.class_entropy, atol=1e-5, rtol=0)


def test_answers_in_parts_end_with_the_whole(tmp_path: Path) -> None:
    team = save_team(tmp_path)
    bench = bench_of(tmp_path)
    first = bench.measure(names(0, 1), "ties", seconds=0.0)
    assert 0 < first.samples < first.total == len(DIGITS.test)
    last = whole(bench, names(0, 1), "ties", seconds=0.0)
    assert last.score is not None
    expected = dt.compose(team[:2], "ties", force=True).evaluate(DIGITS.test)
    assert last.score.confusion.tolist() == expected.confusion.tolist()


def test_factors_come_from_few_samples_first_and_then_from_the_librarys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_fit, "_QUICK", 0)
    team = save_team(tmp_path)
    bench, expected = bench_of(tmp_path), compose_quietly(team[:2], "calibrated", inputs=DIGITS.train.x)
    first = bench.measure(names(0, 1), "calibrated")
    assert first.score is not None
    assert 0 < first.samples < first.total
    assert isinstance(first.part, Composite)
    assert first.part.weights != pytest.approx(expected.weights, abs=1e-3)
    last = whole(bench, names(0, 1), "calibrated")
    assert isinstance(last.part, Composite)
    assert last.part.weights == pytest.approx(expected.weights, abs=1e-6)
    assert last.score is not None
    assert last.score.confusion.tolist() == expected.evaluate(DIGITS.test).confusion.tolist()
    assert bench.measure(names(1, 0), "calibrated").samples == last.total  # known: no first answer any more


def test_the_first_samples_are_a_mixture() -> None:
    first = DataCache().get("digits").test.y[:100]
    assert first.bincount(minlength=10).min() > 2


def test_little_memory_gives_the_same(tmp_path: Path) -> None:
    team = save_team(tmp_path)
    data = DataCache().get("digits")
    one = 12 * len(data.test) * 4
    composite = Composite(team[:3])
    outputs = Outputs(hidden_bytes=2 * one, logit_bytes=1)
    for part in (*team, composite):
        outputs.logits(part, data).advance(5.0)
    outputs.logits(composite, data)
    assert outputs._hidden.weight <= 2 * one
    assert outputs._logits.weight == 10 * len(data.test) * 4  # the last one, alone
    (score,) = score_logits(
        outputs.logits(composite, data).up_to(len(data.test))[None], data.test.y, [(0, 1, 2)], DIGITS.classes
    )
    assert score.confusion.tolist() == composite.evaluate(DIGITS.test).confusion.tolist()


def test_remembers_what_each_gave(tmp_path: Path) -> None:
    """A composite of members that were measured needs none of their first layers again."""
    team = save_team(tmp_path)
    data = DataCache().get("digits")
    outputs = Outputs()
    for part in team:
        outputs.logits(part, data).advance(5.0)
    before = outputs._hidden.weight
    outputs.logits(Composite(team), data).advance(5.0)
    assert outputs._hidden.weight == before == 4 * 12 * len(data.test) * 4


@pytest.mark.parametrize("method", ["sum", "ties", "logits"])
def test_networks_of_unfinished_composites_are_let_go(tmp_path: Path, method: Method) -> None:
    """Each holds a network, which is far more than its logits."""
    team = save_team(tmp_path, "mlp:12-300", count=6)
    data = DataCache().get("digits")
    outputs = Outputs(begun_bytes=200_000)
    begun = []
    for pair in combinations(team, 2):
        rows = outputs.logits(compose_quietly(pair, method), data)
        rows.up_to(10)
        begun.append(weakref.ref(rows))
        del rows
    gc.collect()
    assert sum(rows() is not None for rows in begun) <= 4 < len(begun)
    assert outputs._begun.weight <= 200_000


def test_finished_composites_weigh_their_logits_only(tmp_path: Path) -> None:
    data = DataCache().get("digits")
    outputs = Outputs(begun_bytes=1)
    composites = [Composite(pair) for pair in combinations(save_team(tmp_path, "mlp:12-300"), 2)]
    for part in composites:
        outputs.logits(part, data).advance(5.0)
    assert all(outputs.logits(part, data).complete for part in composites)
    assert outputs._begun.weight == 0
    assert outputs._logits.weight == 6 * 10 * len(data.test) * 4


def test_groups_say_why_they_are_apart(tmp_path: Path) -> None:
    for name, part in {
        "a": digit_specialist((0,)),
        "b": digit_specialist((1,)),
        "other-start": digit_specialist((2,), seed=1),
        "other-net": digit_specialist((3,), "mlp:13"),
        "slots": digit_specialist((4,), slots=True),
        "slots-other-start": digit_specialist((5,), slots=True, seed=1),
        "other-data": digit_specialist((6,), data="mine"),
    }.items():
        part.save(tmp_path / f"{name}.safetensors")
    groups = group_specialists(FolderParts(StudioFolder(tmp_path)).inventory().found)
    reasons = {
        tuple(found.file.name.split(".")[0] for found in group.members): group.apart for group in groups
    }
    assert reasons.pop(("a", "b")) is None
    assert reasons.pop(("slots", "slots-other-start")) == (
        "Cannot be put together with the first group: they keep to slots."
    )
    assert "network (mlp:13, not mlp:12)" in (reasons.pop(("other-net",)) or "")
    assert "θ0" in (reasons.pop(("other-start",)) or "")
    assert "data (mine, not digits)" in (reasons.pop(("other-data",)) or "")
    assert not reasons


def test_every_pair_of_a_group_fits(tmp_path: Path) -> None:
    for seed in (0, 1):
        for number in range(3):
            for slots in (False, True):
                digit_specialist((number,), seed=seed, slots=slots).save(
                    tmp_path / f"{seed}{number}{slots}.safetensors"
                )
    bench = bench_of(tmp_path)
    groups = group_specialists(bench.inventory().found)
    assert [len(group.members) for group in groups] == [6, 3, 3]
    for group in groups:
        one_of_each = {found.manifest.specialists[0][0]: found.file.name for found in group.members}
        assert bench.measure(list(one_of_each.values()), "sum").part.rewarded == (0, 1, 2)


def test_files_that_are_nothing_are_listed_with_the_reason(tmp_path: Path) -> None:
    (good,) = save_team(tmp_path, count=1)
    (tmp_path / "noise.safetensors").write_bytes(b"\x00" * 100)
    (tmp_path / "short.safetensors").write_bytes((tmp_path / "0.safetensors").read_bytes()[:200])
    save_file({"weight": torch.zeros(2)}, tmp_path / "foreign.safetensors")
    inventory = FolderParts(StudioFolder(tmp_path)).inventory()
    assert [found.manifest.digest for found in inventory.found] == [good.digest]
    reasons = {bad.file: bad.reason for bad in inventory.unusable}
    assert "without dovetail's manifest" in reasons["foreign.safetensors"]
    assert set(reasons) == {"foreign.safetensors", "noise.safetensors", "short.safetensors"}
    assert not any(str(tmp_path) in reason for reason in reasons.values())


def test_only_changed_files_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_team(tmp_path, count=3)
    read: list[str] = []

    def noted(path: Path) -> Manifest:
        read.append(path.name)
        return read_file_manifest(path)

    monkeypatch.setattr(parts, "read_file_manifest", noted)
    catalogue = FolderParts(StudioFolder(tmp_path))
    catalogue.inventory()
    digit_specialist((7,), "mlp:20").save(tmp_path / "1.safetensors")
    (tmp_path / "2.safetensors").unlink()
    found = catalogue.inventory().found
    assert read == ["0.safetensors", "1.safetensors", "2.safetensors", "1.safetensors"]
    assert [entry.manifest.specialists[0][0] for entry in found] == [(0,), (7,)]


def test_compatibility_is_the_librarys_and_comes_in_parts(tmp_path: Path) -> None:
    team = save_team(tmp_path, count=3)
    digit_specialist((0, 3)).save(tmp_path / "again.safetensors")
    bench = bench_of(tmp_path)
    files = [*names(0, 1, 2), "again.safetensors"]
    table = bench.compatibility(files, seconds=0.0)
    assert len(table.pairs) == 1
    assert table.total == 6
    for _ in range(5):
        table = bench.compatibility(files, seconds=0.0)
    known = {(a, b): (score, why) for a, b, score, why in table.pairs}
    assert known[0, 2][0] == pytest.approx(dt.compatibility([team[0], team[2]]).score)
    assert "both have class 0" in known[0, 3][1]
    assert len(known) == 6


def test_a_damaged_file_does_not_keep_others_from_being_measured(tmp_path: Path) -> None:
    save_team(tmp_path, count=2)
    content = bytearray((tmp_path / "0.safetensors").read_bytes())
    content[-1] ^= 1
    (tmp_path / "0.safetensors").write_bytes(content)
    scores = bench_of(tmp_path).scores(names(0, 1), seconds=5.0)
    assert scores["0.safetensors"] is None
    assert scores["1.safetensors"] is not None


@pytest.mark.parametrize(("data", "way_out"), [("mnist", "dovetail data get mnist"), ("my own", "by name")])
def test_data_that_is_not_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: str, way_out: str
) -> None:
    monkeypatch.delenv("DOVETAIL_DATA", raising=False)
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    digit_specialist((0,), data=data).save(tmp_path / "0.safetensors")
    measured = bench_of(tmp_path).measure(names(0), "sum")
    assert measured.score is None
    assert way_out in measured.note
    digit_specialist((1,), data=data).save(tmp_path / "1.safetensors")
    with pytest.raises(DovetailError, match="not on this machine"):
        bench_of(tmp_path).measure(names(0, 1), "calibrated")


def test_batch_norm_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    save_team(tmp_path, "mlp:12,batch_norm=true")
    with pytest.raises(DovetailError, match="command line"):
        bench_of(tmp_path).measure(names(0, 1), "sum")
    assert bench_of(tmp_path).measure(names(0, 1), "logits", 5.0).score is not None


def test_a_network_far_larger_than_its_file_is_refused(tmp_path: Path) -> None:
    small = digit_specialist((0,))
    blueprint = replace(small.blueprint, net=NetSpec.parse("mlp:40000-40000"))
    weights = {
        name: Packed(torch.zeros(1), torch.zeros(1, dtype=torch.int32), like.shape)
        for name, like in blueprint.network().state_dict().items()
    }
    path = Specialist(blueprint, (0,), weights, small.provenance).save(tmp_path / "0.safetensors")
    assert path.stat().st_size < 10_000
    with pytest.raises(DovetailError, match="1,603,040,000 entries"):
        bench_of(tmp_path).measure(names(0), "sum")


def test_slow_fits_are_refused(tmp_path: Path) -> None:
    save_team(tmp_path, "small-cnn")
    with pytest.raises(DovetailError, match="takes too long"):
        bench_of(tmp_path).measure(names(0, 1), "calibrated")


def test_a_composite_can_be_looked_at_but_not_ticked(tmp_path: Path) -> None:
    team = save_team(tmp_path)
    composite = compose_quietly(team, "calibrated", inputs=DIGITS.train.x)
    composite.save(tmp_path / "all.safetensors")
    bench = bench_of(tmp_path)
    score = bench.look("all.safetensors", 5.0).score
    assert score is not None
    assert score.confusion.tolist() == composite.evaluate(DIGITS.test).confusion.tolist()
    with pytest.raises(DovetailError, match=r"all\.safetensors is a composite"):
        bench.measure(["all.safetensors"], "sum")


@pytest.mark.parametrize("method", ["sum", "ties", "calibrated", "logits"])
@pytest.mark.parametrize("slots", [False, True])
def test_warns_of_what_the_library_warns_of(tmp_path: Path, method: Method, slots: bool) -> None:
    team = save_team(tmp_path, slots=slots)
    inputs = DIGITS.train.x if method == "calibrated" else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dt.compose(team[:3], method, inputs=inputs)
    bench = bench_of(tmp_path)
    expected = [str(warning.message) for warning in caught]
    assert len(expected) == (not slots and method != "logits")
    for _ in range(2):  # worked out, and remembered
        assert [bench.clash(names(0, 1, 2), method)] == (expected or [""])


@pytest.mark.slow
def test_answers_are_quick(tmp_path: Path) -> None:
    """A loose bound, for busy machines; `bench/studio.py` measures."""
    save_team(tmp_path, "mlp:512", count=10)
    bench = bench_of(tmp_path)
    while len(bench.scores(names(*range(10)))) < 10:
        pass
    begun = time.process_time()
    bench.measure(names(*range(9)), "sum")
    assert time.process_time() - begun < 1
