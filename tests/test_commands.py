"""The verbs of the command line on specialists: train, compose, inspect, demo."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from safetensors.torch import save_file
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli import app
from dovetail.commands.output import print_table, table_of
from dovetail.errors import DovetailError
from dovetail.specialists import open_file

QUICK = ("--net", "mlp:20", "--epochs", "2", "--device", "cpu")


def run(*arguments: str | Path) -> str:
    """Run a command in this process; its errors come as they are."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("parts")
    run("train", "digits", *QUICK, "--slots", "--sparsity", "0.5", "-o", folder)
    return sorted(folder.iterdir())


def test_training_saves_a_file_for_each_class(parts: list[Path]) -> None:
    assert [path.name for path in parts] == [f"digits-{n}-seed0.safetensors" for n in range(10)]
    part = open_file(parts[3])
    assert part.rewarded == (3,)
    assert part.specialists[0].provenance.training["sparsity"] == 0.5
    assert part.specialists[0].provenance.slots


def test_training_again_keeps_what_is_there(parts: list[Path]) -> None:
    again = ("train", "digits", *QUICK, "--slots", "--sparsity", "0.5", "-o", parts[0].parent)
    assert "nothing was trained" in run(*again)
    answer = json.loads(run(*again, "--json"))
    assert len(answer["specialists"]) == 10
    assert answer["specialists"][3]["file"] == "digits-3-seed0.safetensors"
    with pytest.raises(DovetailError, match=r"in the way.*--force"):
        run(*again, "--temperature", "2")


def test_class_sets_and_seeds(tmp_path: Path) -> None:
    run("train", "digits", *QUICK, "-r", "3", "-r", "0, 8", "--seeds", "2", "--seed", "4", "-o", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"digits-{classes}-seed{seed}.safetensors" for classes in ("0+8", "3") for seed in (4, 5)
    ]


def test_a_composite_replaces_a_file_only_when_forced(parts: list[Path], tmp_path: Path) -> None:
    notes = tmp_path / "notes.csv"
    notes.write_text("mine")
    with pytest.raises(DovetailError, match=r"notes\.csv is in the way; replace it \(--force\)"):
        run("compose", *parts[:2], "-o", notes)
    assert notes.read_text() == "mine"
    with pytest.raises(DovetailError, match="it is a folder; name a file"):
        run("compose", *parts[:2], "-o", tmp_path)
    run("compose", *parts[:2], "-o", notes, "--force")
    assert len(open_file(notes).specialists) == 2
    with pytest.raises(DovetailError, match="in the way"):
        run("compose", *parts[:3], "-o", notes)


def test_composing_saves_and_measures(parts: list[Path], tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match="an export is a file"):
        run("compose", *parts, "--export", tmp_path / "ten.txt", "-o", tmp_path / "ten.safetensors")
    assert not (tmp_path / "ten.safetensors").exists()  # refused before anything is written
    shown = run("compose", *parts, "--evaluate", "digits", "-o", tmp_path / "ten.safetensors")
    assert "sum of 10 specialists, mlp:20, in slots" in shown
    assert "rewarded accuracy" in shown
    assert "undefined (all classes are rewarded)" in shown
    assert len(open_file(tmp_path / "ten.safetensors").specialists) == 10
    # A composite's file is as good as its parts.
    answer = json.loads(
        run("compose", tmp_path / "ten.safetensors", "--without", "3", "--evaluate", "digits", "--json")
    )
    assert len(answer["specialists"]) == 9
    assert answer["score"]["class_accuracy"][3] == 0
    assert answer["score"]["entropy"] > 1


@pytest.mark.filterwarnings("ignore::dovetail.errors.CompatibilityWarning")
@pytest.mark.parametrize("method", ["logits", "ties", "calibrated"])
def test_other_methods(parts: list[Path], method: str) -> None:
    answer = json.loads(run("compose", *parts[:3], "--method", method, "--evaluate", "digits", "--json"))
    assert answer["score"]["rewarded"] == ["0", "1", "2"]


def test_a_composite_is_measured_as_it_was_made(parts: list[Path], tmp_path: Path) -> None:
    file = tmp_path / "average.safetensors"
    first = json.loads(
        run("compose", *parts[:3], "--method", "logits", "--evaluate", "digits", "-o", file, "--json")
    )
    again = json.loads(run("compose", file, "--evaluate", "digits", "--json"))
    assert "averaged logits of 3" in again["composite"]
    assert again["score"] == first["score"]
    assert "averaged logits of 4" in json.loads(run("compose", file, parts[3], "--json"))["composite"]
    assert "sum of 3" in json.loads(run("compose", file, "--method", "sum", "--json"))["composite"]


def test_classes_are_named_or_numbered(tmp_path: Path) -> None:
    data = "lines:train_samples=400,test_samples=20"
    names = dt.load("lines", train_samples=400, test_samples=20).classes
    run("train", data, *QUICK, "-r", "3", "-r", f"{names[0]},{names[1]}", "-o", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "lines-0+1-seed0.safetensors",
        "lines-3-seed0.safetensors",
    ]
    with pytest.raises(
        DovetailError, match=r"digits here has other classes.*10 classes, 0, 1, 2, 3, 4, …, of samples"
    ):
        run("compose", *tmp_path.iterdir(), "--evaluate", "digits")


def test_odd_names_are_shown_as_they_are(tmp_path: Path) -> None:
    from dovetail.specialists import Blueprint, Specialist

    part = dt.train_specialists(dt.load("digits"), "mlp:4", [3], epochs=1, progress=False)[0]
    classes = ("[/x]", "[red]c", *part.classes[2:])
    odd = Specialist(
        Blueprint(part.blueprint.net, part.blueprint.input_shape, classes, 5.0),
        (1,),
        part.weights,
        part.provenance,
    )
    assert "[red]c" in run("inspect", odd.save(tmp_path / "odd.safetensors"))


def test_headings_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(table_of(pd.DataFrame({"[/x]": [1], "\x1b[31m": [2]}), "class [red]c"))
    shown = capsys.readouterr().out
    for words in ("[/x]", r"\x1b[31m", "class [red]c"):
        assert words in shown


def test_json_has_no_nan(tmp_path: Path) -> None:
    everything = ",".join(map(str, range(10)))
    shown = run("train", "digits", *QUICK, "-r", everything, "-r", "3", "--json", "-o", tmp_path)
    assert "NaN" not in shown
    assert json.loads(shown)["specialists"][0]["entropy"] is None


def test_the_audit_is_printed_with_its_words(parts: list[Path]) -> None:
    shown = run("compose", *parts, "--without", "3", "--audit", "digits")
    assert "What is left of class 3" in shown
    assert "generalist retrained without it" in shown
    assert "no proof that nothing of it is left" in " ".join(shown.split())
    assert "Proven: without 3 the composite is, bit for bit" in " ".join(shown.split())
    assert "Not proven: that the others know nothing of 3" in " ".join(shown.split())
    answer = json.loads(run("compose", *parts, "--without", "3", "--audit", "digits", "--json"))
    assert len(answer["audit"]["networks"]) == 7
    assert answer["audit"]["relearning"].keys() == {
        "composite without it", "composite that never saw it", "generalist retrained without it", "untrained network"
    }  # fmt: skip
    assert all(0 <= attack["neural"] <= 1 for attack in answer["audit"]["membership"].values())


def test_inspecting(parts: list[Path], tmp_path: Path) -> None:
    shown = run("inspect", parts[3])
    for words in ("specialist", "mlp:20", "in its slot", "trained on", "digits", "rewarded_accuracy", "θ0"):
        assert words in shown
    manifest = json.loads(run("inspect", parts[3], "--json"))
    assert manifest["specialists"][0]["rewarded"] == [3]
    run("compose", *parts[:2], "-o", tmp_path / "two.safetensors")
    assert "composite, sum of 2 specialists" in run("inspect", tmp_path / "two.safetensors")


def test_inspecting_other_files_of_ours(tmp_path: Path) -> None:
    sculpture = dt.sculpt("y1 = x1 & x2", [4], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    file = sculpture.save(tmp_path / "and.safetensors")
    shown = run("inspect", file)
    assert "sculpted network" in shown
    assert sculpture.describe() in shown
    assert json.loads(run("inspect", file, "--json"))["schema"] == "dovetail.sculpture/1"
    run("modules", file, "-o", tmp_path / "modules.json")
    assert sculpture.hierarchy.describe() in run("inspect", tmp_path / "modules.json")
    assert json.loads(run("inspect", tmp_path / "modules.json", "--json"))["sizes"] == [2, 4, 1]
    verdict = run("audit", file, "--k", "2", "--shuffles", "1", "-o", tmp_path / "audit").splitlines()[0]
    shown = run("inspect", tmp_path / "audit" / "audit.json")
    assert f"audit of {file}" in shown
    assert verdict in shown


def test_files_that_inspect_does_not_show_name_the_command_that_does(tmp_path: Path) -> None:
    weights = tmp_path / "weights.safetensors"
    save_file(dt.build_net("mlp:4", (2,), 2, seed=0).state_dict(), weights)
    (tmp_path / "config.yaml").write_text("recipe: k")
    for path, message in {
        weights: "dovetail audit",
        tmp_path: f"dovetail report {tmp_path}",
        tmp_path / "config.yaml": f"dovetail report {tmp_path}",
    }.items():
        with pytest.raises(DovetailError, match=re.escape(message)):
            run("inspect", path)


def test_force_keep_and_undecided_are_not_passed_over(parts: list[Path], tmp_path: Path) -> None:
    file = tmp_path / "average.safetensors"
    run("compose", *parts[:2], "--method", "logits", "-o", file)
    with pytest.raises(DovetailError, match="--force"):
        run("compose", file, parts[0])
    assert "averaged logits of 3" in run("compose", file, parts[0], "--force")
    with pytest.raises(DovetailError, match="--method ties"):
        run("compose", file, parts[2], "--keep", "0.5")
    with pytest.raises(DovetailError, match="--undecided goes with --threshold DATA"):
        run("compose", *parts[:2], "--undecided", "5%")  # which is the default


def test_a_damaged_specialist_in_the_folder_is_named_with_the_way_out(tmp_path: Path) -> None:
    again = ("train", "digits", *QUICK, "-r", "3", "-r", "8", "-o", tmp_path)
    run(*again)
    damaged = tmp_path / "digits-3-seed0.safetensors"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-10])
    with pytest.raises(DovetailError, match=r"digits-3-seed0.*cut short.*delete it.*--force"):
        run(*again)
    damaged.unlink()
    run(*again)
    assert damaged.read_bytes() == whole


def test_the_demo_does_not_begin_what_it_cannot_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dovetail.demo.run_demo", lambda **_: pytest.fail("it has begun"))
    (tmp_path / "notes.html").write_text("mine")
    for output in (tmp_path / "nowhere" / "report.html", tmp_path / "notes.html"):
        with pytest.raises(DovetailError):
            run("demo", "-o", output)


def test_mistakes_are_explained(parts: list[Path], tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match="there is no file"):
        run("inspect", tmp_path / "nowhere.safetensors")
    with pytest.raises(DovetailError, match="--without"):
        run("compose", *parts, "--audit", "digits")
    with pytest.raises(DovetailError, match="unknown class 'three'"):
        run("compose", *parts, "--without", "three")
    with pytest.raises(DovetailError, match="'time' in 'har:time' is neither an option, written name=value"):
        run("train", "har:time", "-o", tmp_path)
    with pytest.raises(DovetailError, match="--seeds"):
        run("train", "digits", "--seeds", "0", "-o", tmp_path)
    assert CliRunner().invoke(app, ["train", "digits"]).exit_code == 2
    assert CliRunner().invoke(app, ["train", "digits", "--los", "me", "-o", str(tmp_path)]).exit_code == 2


@pytest.mark.slow
def test_the_demo_shows_what_the_library_does(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    answer = json.loads(run("demo", "--json", "-o", report))
    accuracy = {row["network"]: row["accuracy"] for row in answer["networks"]}
    assert accuracy["sum of ten, in slots"] > 0.95 * accuracy["generalist"]
    assert accuracy["sum of ten, in slots"] > accuracy["sum of ten, plain"]
    assert accuracy["in slots, 3 added back"] == accuracy["sum of ten, in slots"]
    assert answer["same_bits_after_adding_back"]
    page = report.read_text("utf-8")
    assert page.count('class="chart"') == 7
    assert "Ten specialists become one network" in page


def test_getting_data_passes_over_options_and_can_answer_in_json() -> None:
    assert run("data", "get", "lines:train_samples=40") == "lines: needs no files\n"
    assert json.loads(run("data", "get", "digits", "--json")) == {"name": "digits", "folder": None}


def test_new_classes_are_trained_beside_files_that_are_there(tmp_path: Path) -> None:
    for name, kinds in (("old", "ab"), ("new", "c"), ("all", "abc")):
        rows = [
            f"{(n * 7) % 5 + 9 * 'abc'.index(kind)},{(n * 3) % 5 - 6 * 'abc'.index(kind)},{kind}"
            for kind in kinds
            for n in range(40)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["width,height,kind", *rows]))
    how = ("--lr", "0.02", "--epochs", "40")
    run(
        "train",
        f"{tmp_path}/old.csv:target=kind",
        "--net",
        "mlp:12,dropout=0",
        "--slots",
        *how,
        "-o",
        tmp_path / "parts",
    )
    beside = (
        "train",
        f"{tmp_path}/new.csv:target=kind",
        "--beside",
        tmp_path / "parts",
        *how,
        "-o",
        tmp_path / "grown",
    )
    assert "2 that were there are in" in run(*beside)
    names = ["new-2-seed0.safetensors", "old-0-seed0.safetensors", "old-1-seed0.safetensors"]
    assert sorted(path.name for path in (tmp_path / "grown").iterdir()) == names
    shown = run("compose", tmp_path / "grown", "--evaluate", f"{tmp_path}/all.csv:target=kind", "--json")
    assert json.loads(shown)["score"]["rewarded_accuracy"] > 0.9
    assert json.loads(shown)["composite"].startswith("Composite(a, b, c: sum of 3 specialists")
    files = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in (tmp_path / "grown").iterdir()}
    again = run(*beside)  # nothing is written over, and nothing is to be done
    assert "nothing was trained" in again
    assert "2 that were there are in" in again
    assert "already, introduced" in again
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files} == files
    lost = tmp_path / "grown/old-1-seed0.safetensors"
    lost.unlink()  # as where it was stopped
    assert "2 that were there are in" in run(*beside)
    assert lost.read_bytes() == files[lost][1]
    lost.write_bytes((tmp_path / "grown/old-0-seed0.safetensors").read_bytes())
    with pytest.raises(DovetailError, match=r"old-1-seed0.safetensors is in the way"):  # another part
        run(*beside)
    lost.write_bytes((tmp_path / "parts/old-1-seed0.safetensors").read_bytes())
    with pytest.raises(
        DovetailError, match=r"is in the way \(it was introduced"
    ):  # not introduced to anything
        run(*beside)
    assert "too, introduced" in run(*beside, "--force")
    assert lost.read_bytes() == files[lost][1]
    with pytest.raises(DovetailError, match="is in the way"):  # a folder is not introduced in its place
        run(*beside[:-1], tmp_path / "parts")
