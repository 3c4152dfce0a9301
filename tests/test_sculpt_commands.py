"""The verbs of the command line on modules: sculpt and modules."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli import app
from dovetail.commands.sculpt import task_of
from dovetail.data import BooleanTask
from dovetail.errors import DovetailError, FileFormatError, SpecError
from dovetail.sculpting import open_sculpture

from .test_commands import run

FEW = ("--hidden", "12", "--unit-steps", "50", "--edge-steps", "2", "--device", "cpu")


@pytest.fixture(scope="module")
def sculpted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sculpted") / "run"
    printed = run("sculpt", "[4,2,4]", *FEW, "-o", folder)
    assert "2 modules" in printed
    return folder


@pytest.fixture
def folder(sculpted: Path, tmp_path: Path) -> Path:
    """Return a copy: some tests add to it."""
    return Path(shutil.copytree(sculpted, tmp_path / "run"))


def test_a_folder_has_the_network_its_modules_and_pictures(folder: Path) -> None:
    names = {path.name for path in folder.iterdir() if path.name != ".lock"}
    assert names == {"config.json", "seed0.safetensors", "seed0.json", "seed0.png", "seed0.html"}
    sculpture = open_sculpture(folder / "seed0.safetensors")
    assert sculpture.hierarchy == dt.Hierarchy.from_json((folder / "seed0.json").read_text())
    assert (folder / "seed0.png").read_bytes().startswith(b"\x89PNG")
    assert "<html" in (folder / "seed0.html").read_text()


def test_what_is_there_is_kept_and_what_is_missing_is_added(folder: Path) -> None:
    before = (folder / "seed0.safetensors").stat().st_mtime_ns
    answer = json.loads(run("sculpt", "4, 2, 4", *FEW, "-o", folder, "--seeds", "2", "--json"))
    assert [network["seed"] for network in answer["networks"]] == [0, 1]
    assert answer["networks"][0]["planted"] is True
    assert answer["networks"][0]["hierarchy"]["schema"].startswith("dovetail.hierarchy")
    assert (folder / "seed0.safetensors").stat().st_mtime_ns == before
    assert (folder / "seed1.safetensors").exists()
    assert "planted" in run("sculpt", "[4,2,4]", *FEW, "-o", folder, "--seeds", "2")


def test_other_settings_need_another_folder(folder: Path) -> None:
    with pytest.raises(DovetailError, match=r"hidden \[12\], not \[13\].*--force"):
        run("sculpt", "[4,2,4]", *FEW[2:], "--hidden", "13", "-o", folder)


def test_a_task_that_changed_or_is_forced_leaves_nothing_of_the_old(tmp_path: Path) -> None:
    task, folder = tmp_path / "task.txt", tmp_path / "run"
    task.write_text("y1 = x1 & x2")
    run("sculpt", task, *FEW, "--seeds", "2", "-o", folder)
    task.write_text("y1 = x1 | x2")
    with pytest.raises(DovetailError, match="fingerprint"):
        run("sculpt", task, *FEW, "-o", folder)
    run("sculpt", task, *FEW, "-o", folder, "--force")
    assert not (folder / "seed1.safetensors").exists()


def test_a_seed_that_is_forced_leaves_the_others(tmp_path: Path) -> None:
    run("sculpt", "y1 = x1", *FEW, "--seeds", "2", "-o", tmp_path)
    kept, redone = (tmp_path / f"seed{seed}.safetensors" for seed in (0, 1))
    before = [file.stat().st_mtime_ns for file in (kept, redone)]
    run("sculpt", "y1 = x1", *FEW, "--seed", "1", "-o", tmp_path, "--force")
    assert kept.stat().st_mtime_ns == before[0]
    assert redone.stat().st_mtime_ns > before[1]


def test_hidden_layers_may_not_be_empty() -> None:
    with pytest.raises(SpecError, match="hidden"):
        run("sculpt", "y1 = x1", "--hidden", "")


def test_a_wrong_option_leaves_no_trace_in_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="threshold"):
        run("sculpt", "y1 = x1", *FEW, "--threshold", "5", "-o", tmp_path)
    run("sculpt", "y1 = x1", *FEW, "-o", tmp_path)
    with pytest.raises(SpecError, match="threshold"):
        run("sculpt", "y1 = x1", *FEW, "--threshold", "5", "-o", tmp_path, "--force")
    assert (tmp_path / "seed0.safetensors").exists()


def test_damaged_folders_are_named(tmp_path: Path) -> None:
    run("sculpt", "y1 = x1", *FEW, "-o", tmp_path)
    (tmp_path / "seed0.safetensors").write_text("junk")
    with pytest.raises(FileFormatError, match="--force"):
        run("sculpt", "y1 = x1", *FEW, "-o", tmp_path)


@pytest.mark.parametrize("content", ["[]", '{"name": "my app"}', "// not even JSON"])
def test_a_config_of_something_else_is_left_alone(content: str, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(content)
    for force in ([], ["--force"]):
        with pytest.raises(FileFormatError, match="take another folder"):
            run("sculpt", "y1 = x1", *FEW, "-o", tmp_path, *force)
    assert config.read_text() == content


@pytest.mark.parametrize("name", ["seed0.png", "consensus.json"])
def test_somebody_elses_files_are_in_the_way_until_forced(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DovetailError, match=rf"{name} is in the way.*--force"):
        run("sculpt", "y1 = x1", *FEW, "-o", tmp_path)
    assert (tmp_path / name).read_text() == "mine"
    run("sculpt", "y1 = x1", *FEW, "-o", tmp_path, "--force")
    assert (tmp_path / "seed0.safetensors").exists()
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.fixture(scope="module")
def pets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table, and what was sculpted for it."""
    folder = tmp_path_factory.mktemp("pets")
    rows = [
        f"{n % 7},{n % 5},{'red' if n % 2 else 'blue'},{'cat' if (n % 7 > 3) ^ (n % 2) else 'dog'}"
        for n in range(140)
    ]
    (folder / "pets.csv").write_text("\n".join(["width,height,colour,kind", *rows]))
    few = ("--hidden", "8", "--unit-steps", "50", "--edge-steps", "2", "--epochs", "60", "--lr", "0.02")
    shown = run("sculpt", f"{folder / 'pets.csv'}:target=kind", *few, "--device", "cpu", "-o", folder / "run")
    assert "width" in shown
    assert "{x1" not in shown
    return folder


def test_names_of_columns_and_classes_are_in_all_files(pets: Path) -> None:
    hierarchy = dt.Hierarchy.from_json((pets / "run" / "seed0.json").read_text())
    assert hierarchy.end_names == (["width", "height", "colour=blue", "colour=red"], ["cat", "dog"])
    page = (pets / "run" / "seed0.html").read_text()
    assert '"width"' in page
    assert '"cat"' in page
    assert "width" in run("modules", pets / "run" / "seed0.safetensors")


def test_modules_of_a_sculpture_are_those_it_says_itself(tmp_path: Path) -> None:
    few = ("--unit-steps", "30", "--edge-steps", "10", "--epochs", "2", "--lr", "0.02", "--threshold", "0.7")
    run("sculpt", "digits", "--hidden", "16-12", *few, "--device", "cpu", "-o", tmp_path)
    file = tmp_path / "seed0.safetensors"
    sculpture = open_sculpture(file)
    assert sculpture.settings.detection() == {"modularity_threshold": -0.3, "merge_threshold": 0.6}
    found = dt.Hierarchy.from_json(run("modules", file, "--json"))
    assert found == sculpture.hierarchy
    assert found.output_names == sculpture.output_names == tuple("0123456789")
    for_boolean_tasks = ("--modularity-threshold", "-0.2", "--merge-threshold", "0.9")
    typed = dt.Hierarchy.from_json(run("modules", file, *for_boolean_tasks, "--json"))
    assert typed == dt.detect_modules(sculpture.network)
    assert typed != found
    run("modules", file, "-o", tmp_path / "modules.svg")
    assert "<image" in (tmp_path / "modules.svg").read_text()  # of the pixels


def test_layers_of_a_sculpture_can_be_chosen(pets: Path) -> None:
    last = [name for name in open_sculpture(pets / "run" / "seed0.safetensors").masks if "weight" in name][-1]
    found = dt.Hierarchy.from_json(
        run("modules", pets / "run" / "seed0.safetensors", "--layers", last, "--json")
    )
    assert found.sizes == (8, 2)
    assert found.input_names is None


def test_modules_replaces_a_file_only_when_forced(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "notes.html"
    page.write_text("mine")
    with pytest.raises(DovetailError, match=r"notes\.html is in the way; replace it \(--force\)"):
        run("modules", folder / "seed0.safetensors", "-o", page)
    assert page.read_text() == "mine"
    run("modules", folder / "seed0.safetensors", "-o", page, "--force")
    assert "<html" in page.read_text()


@pytest.mark.parametrize(
    ("tensors", "command", "words"),
    [
        ({"a": torch.ones(3)}, "modules", "no weight matrix among 1 tensors; .*--layers"),
        (
            {"a": torch.ones(3)},
            "sculpt",
            "no weight matrix among 1 tensors, and sculpting needs dense layers",
        ),
        ({"a.weight": torch.ones(4, 3), "b.weight": torch.ones(2, 5)}, "modules", "chain; .*--layers"),
    ],
)
def test_errors_speak_of_options_not_of_python(
    tensors: dict[str, torch.Tensor], command: str, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "weights.pt"
    torch.save(tensors, file)
    with pytest.raises(DovetailError, match=words) as found:
        run(command, *([file] if command == "modules" else ["y1 = x1", "--from", file]))
    assert "pass " not in str(found.value)
    with pytest.raises(SpecError, match="needs the distance 'euclidean'"):
        run("modules", file, "--linkage", "ward")


def test_a_network_that_does_not_learn_ends_with_status_1() -> None:
    done = CliRunner().invoke(app, ["sculpt", "[4,2,4]", *FEW, "--epochs", "1", "--lr", "0.00001"])
    assert done.exit_code == 1
    assert "train it longer" in done.stdout


@pytest.mark.parametrize(
    ("content", "inputs", "outputs"),
    [
        ("y1 = x1 & x2\ny2 = x2 | x3\n", 3, 2),
        ("0 0 0\n0 1 1\n1 0 1\n1 1 0\n", 2, 1),
        ("a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n", 2, 1),
        ("0\n1\n1\n0\n", 2, 1),
        ("x1;x2;y1 # any order\n1;1;0\n0;0;0\n1;0;1\n0;1;1\n", 2, 1),
        ("# and\ny1 = x1 & x2  # both\n", 2, 1),
    ],
)
def test_tasks_come_from_files(content: str, inputs: int, outputs: int, tmp_path: Path) -> None:
    path = tmp_path / "task.txt"
    path.write_text(content)
    answer = json.loads(run("sculpt", path, *FEW, "--epochs", "60", "--lr", "0.05", "--json"))
    assert answer["networks"][0]["accuracy"] == 1
    connections = answer["networks"][0]["hierarchy"]["sizes"]
    assert (connections[0], connections[-1]) == (inputs, outputs)


@pytest.mark.parametrize(
    "content",
    ["", "x1,y1\n", "0 1\n1\n", "0 2\n1 1\n", "0\n1\n1\n", "x1,x2,y1\n0,0,0\n0,0,1\n", "x1,y1\n0,0\n0,1\n"],
)
def test_bad_task_files_are_named(content: str, tmp_path: Path) -> None:
    path = tmp_path / "task.txt"
    path.write_text(content)
    with pytest.raises(DovetailError):
        run("sculpt", path, *FEW)


def test_typing_errors_are_named() -> None:
    with pytest.raises(DovetailError, match="did you mean"):
        run("sculpt", "[4,2,5]", *FEW)
    with pytest.raises(DovetailError, match="did you mean"):
        run("sculpt", "digts", *FEW)
    with pytest.raises(SpecError, match="--unit-steps"):
        run("sculpt", "[4,2,4]", "--unit-steps", "many")
    with pytest.raises(SpecError, match="--seeds"):
        run("sculpt", "[4,2,4]", "--seeds", "0")
    with pytest.raises(SpecError, match="--from"):
        run("sculpt", "[4,2,4]", "--hidden", "7", "--from", "net.pt")


def test_sculpting_goes_on_from_a_checkpoint(folder: Path) -> None:
    printed = run("sculpt", "[4,2,4]", *FEW[2:], "--from", folder / "seed0.safetensors", "--json")
    answer = json.loads(printed)
    assert answer["networks"][0]["edges"] <= open_sculpture(folder / "seed0.safetensors").edges


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    halves = torch.kron(torch.eye(2), torch.ones(2, 2))
    state = {
        "0.weight": halves,
        "0.bias": torch.zeros(4),
        "2.weight": halves[::2] * 1.0,
        "2.bias": torch.zeros(2),
    }
    path = tmp_path / "net.pt"
    torch.save(state, path)
    return path


def test_modules_of_a_checkpoint(checkpoint: Path) -> None:
    assert "2 modules" in run("modules", checkpoint)
    answer = json.loads(run("modules", checkpoint, "--json"))
    assert dt.Hierarchy.from_json(json.dumps(answer)).sizes == (4, 4, 2)
    assert "2 modules" in run("modules", checkpoint, "--layers", "0.weight,2.weight", "--score", "silhouette")


@pytest.mark.parametrize("kind", ["json", "png", "svg", "html"])
def test_modules_can_be_written(kind: str, checkpoint: Path, tmp_path: Path) -> None:
    path = tmp_path / f"modules.{kind}"
    run("modules", checkpoint, "-o", path)
    assert path.stat().st_size > 200


def test_specialists_are_perceptrons_too(tmp_path: Path) -> None:
    (three,) = dt.train_specialists(
        dt.load("digits"), "mlp:10", [3], sparsity=0.5, epochs=1, progress=False, device="cpu"
    )
    file = three.save(tmp_path / "three.safetensors")
    found = dt.Hierarchy.from_json(json.dumps(json.loads(run("modules", file, "--json"))))
    assert found == dt.detect_modules([three.masks["dense1.weight"], three.masks["output.weight"]])
    answer = run("sculpt", "digits", "--from", file, "--unit-steps", "0", "--edge-steps", "0", "--json")
    assert (
        json.loads(answer)["networks"][0]["hierarchy"]["connections"]
        == json.loads(found.to_json())["connections"]
    )
    dt.compose([three, three], "logits", force=True).save(tmp_path / "twice.safetensors")
    with pytest.raises(SpecError, match="one by one"):
        run("modules", tmp_path / "twice.safetensors")


def test_bad_checkpoints_and_outputs_are_named(checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"\.txt"):
        run("modules", checkpoint, "-o", tmp_path / "modules.txt")
    with pytest.raises(FileFormatError, match="not there"):
        run("modules", tmp_path / "nothing.pt")
    with pytest.raises(DovetailError, match="did you mean"):
        run("modules", checkpoint, "--layers", "0.weigth")
    with pytest.raises(DovetailError):
        run("modules", checkpoint, "--linkage", "ward")


def test_a_long_path_is_a_file_and_a_long_formula_is_none(tmp_path: Path) -> None:
    path = tmp_path / ("d" * 120) / ("e" * 120) / "task.txt"
    path.parent.mkdir(parents=True)
    path.write_text("y1 = x1 & x2 & x3")
    read = task_of(str(path))
    formula = "y1 = " + " & ".join(["x1", "x2"] * 100)
    typed = task_of(formula)
    assert isinstance(read, BooleanTask)
    assert isinstance(typed, BooleanTask)
    assert (read.inputs, typed.inputs) == (3, 2)


def test_seeds_that_learn_nothing_are_told_how_to(tmp_path: Path) -> None:
    answer = CliRunner().invoke(
        app, ["sculpt", "4,2,4", *FEW, "--epochs", "1", "--seeds", "2", "-o", str(tmp_path / "x")]
    )
    assert answer.exit_code == 1
    assert "for each seed the network." in " ".join(answer.output.split())
    assert "train longer (--epochs), or ask for less" in " ".join(answer.output.split())


def test_what_modules_compute_is_said_where_it_is_asked_for(folder: Path, tmp_path: Path) -> None:
    file = folder / "seed0.safetensors"
    assert "y1 = x1 ^ x2" in run("sculpt", "[4,2,4]", *FEW, "-o", folder, "--explain")
    printed = run("modules", file, "--explain")
    assert "y2 = ~(x1 ^ x2)" in printed
    assert "on 16 of 16 inputs" in printed
    assert "x1 ^ x2" not in run("modules", file)
    answer = json.loads(run("modules", file, "--explain", "--json"))
    assert answer["explanation"]["outputs"][0]["formula"] == "x1 ^ x2"
    assert answer["explanation"]["outputs"][0]["table"] == "0110"
    networks = json.loads(run("sculpt", "[4,2,4]", *FEW, "--explain", "--json"))["networks"]
    assert networks[0]["explanation"]["reproduced"] == 16
    assert "x1 ^ x2" in (folder / "seed0.html").read_text()
    run("modules", file, "--explain", "-o", tmp_path / "modules.html")
    assert "x1 ^ x2" in (tmp_path / "modules.html").read_text()


def test_a_sculpture_for_data_is_explained_on_it(tmp_path: Path) -> None:
    rows = [
        f"{colour},{size},{(colour == 'red') != (size == 'big')}"
        for colour in ("red", "blue")
        for size in ("big", "low")
    ]
    (tmp_path / "pets.csv").write_text("\n".join(["colour,size,kind", *rows * 15]))
    task = f"{tmp_path / 'pets.csv'}:target=kind"
    run("sculpt", task, *FEW, "--epochs", "60", "--lr", "0.02", "-o", tmp_path / "run")
    file = tmp_path / "run" / "seed0.safetensors"
    with pytest.raises(SpecError, match="--data"):
        run("modules", file, "--explain")
    assert "samples" in run("modules", file, "--explain", "--data", task)


def test_weights_alone_are_not_explained(tmp_path: Path) -> None:
    torch.save({"a.weight": torch.eye(2), "b.weight": torch.eye(2)}, tmp_path / "plain.pt")
    with pytest.raises(SpecError, match="--explain is for a whole sculpture"):
        run("modules", tmp_path / "plain.pt", "--explain")
