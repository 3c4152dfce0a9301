"""What a path is, and what is said when it is nothing, several things, or damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save, save_file

import dovetail as dt
from dovetail import DovetailError
from dovetail.cluster.saved_audit import SavedAudit
from dovetail.engine import Run
from dovetail.errors import FileFormatError
from dovetail.report import build_report
from dovetail.report.sources import PartsSource, SculptureSource, open_source
from dovetail.specialists import open_file


def _lines(run: Path) -> int:
    return len((run / "results.jsonl").read_text().splitlines())


def test_each_kind_is_recognised(
    parts_folder: Path, sculpture_folder: Path, audit_folder: Path, run_folder: Path
) -> None:
    parts = open_source(parts_folder)
    assert isinstance(parts, PartsSource)
    assert [part.knows for part in parts.specialists] == ["0", "1", "2"]
    assert [file.size for file in parts.files] == [
        path.stat().st_size for path in sorted(parts_folder.iterdir())
    ]
    assert {file.version for file in parts.files} == {dt.__version__}
    sculpture = open_source(sculpture_folder)
    assert isinstance(sculpture, SculptureSource)
    assert list(sculpture.hierarchies) == ["seed 0", "seed 1"]
    assert sculpture.config["task"] == "[4,2,4]"
    audit = open_source(audit_folder)
    assert isinstance(audit, SavedAudit)
    assert (audit.k, len(audit.copies), len(audit.lesions)) == (3, 8, 3)
    run = open_source(run_folder)
    assert isinstance(run, Run)
    assert run.recipe.name == "random-init"
    assert len(run.finished) == _lines(run_folder) <= len(set(run.recipe.units(run.scale)))


def test_single_files_are_recognised(parts_folder: Path, sculpture_folder: Path, audit_folder: Path) -> None:
    assert isinstance(open_source(sorted(parts_folder.iterdir())[0]), PartsSource)
    assert isinstance(open_source(sculpture_folder / "seed1.safetensors"), SculptureSource)
    modules = open_source(sculpture_folder / "seed0.json")
    assert isinstance(modules, SculptureSource)
    assert not modules.sculptures
    assert isinstance(open_source(audit_folder / "audit.json"), SavedAudit)


def test_a_composite_is_its_members(parts_folder: Path, tmp_path: Path) -> None:
    a, b, _ = (open_file(path) for path in sorted(parts_folder.iterdir()))
    source = open_source((a + b).save(tmp_path / "two.safetensors"))
    assert isinstance(source, PartsSource)
    assert source.specialists == [a, b]
    assert source.composites == [a + b]


def test_a_run_without_results_of_its_own_takes_those_beside_it(run_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(run_folder, tmp_path / "a")
    shutil.copytree(run_folder, tmp_path / "b")
    (tmp_path / "b" / "results.jsonl").unlink()
    source = open_source(tmp_path / "b")
    assert isinstance(source, Run)
    assert len(source.finished) == _lines(run_folder)


def test_nothing_to_report_on_is_said_with_the_way_out(tmp_path: Path, run_folder: Path) -> None:
    with pytest.raises(DovetailError, match="there is no file or folder"):
        open_source(tmp_path / "none")
    with pytest.raises(DovetailError, match="is empty; name a run folder"):
        open_source(tmp_path)
    with pytest.raises(DovetailError, match=r"about one folder; in '.*' it could be random-init$"):
        open_source(run_folder.parent)
    (tmp_path / "notes.txt").write_text("hello")
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(DovetailError, match="nothing that a report can be made of"):
            open_source(path)
    save_file({"weight": torch.zeros(2, 2)}, tmp_path / "foreign.safetensors")
    with pytest.raises(DovetailError, match="dovetail audit or dovetail modules first"):
        open_source(tmp_path / "foreign.safetensors")


def test_several_kinds_in_one_folder_are_refused(
    parts_folder: Path, sculpture_folder: Path, tmp_path: Path
) -> None:
    for source in (*parts_folder.iterdir(), sculpture_folder / "seed0.safetensors"):
        shutil.copy(source, tmp_path)
    with pytest.raises(DovetailError, match=r"several kinds .*specialists \(.*\) and sculpted networks"):
        open_source(tmp_path)


def test_damaged_files_are_named(
    parts_folder: Path, audit_folder: Path, run_folder: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "parts" / "cut.safetensors"
    cut.parent.mkdir()
    cut.write_bytes(sorted(parts_folder.iterdir())[0].read_bytes()[:-10])
    with pytest.raises(FileFormatError, match=r"cut\.safetensors"):
        open_source(cut.parent)
    file = tmp_path / "audit.json"
    for text in ("{", "[]", "{}", '{"clusterability": {"schema": "other/1"}}'):
        file.write_text(text)
        with pytest.raises(FileFormatError, match=r"audit\.json"):
            open_source(file)
    content = json.loads((audit_folder / "audit.json").read_text())
    content["clusterability"]["composition"][0][0] = "<b>"
    file.write_text(json.dumps(content))
    with pytest.raises(FileFormatError, match="valid integer"):
        open_source(file)
    run = shutil.copytree(run_folder, tmp_path / "run")
    (run / "config.yaml").write_text('recipe: "unheard-of"\nscale: "smoke"\n')
    with pytest.raises(DovetailError, match="unknown recipe 'unheard-of'"):
        open_source(run)
    (run / "config.yaml").write_text("recipe: [\n")
    with pytest.raises(FileFormatError, match="not a run folder"):
        open_source(run)


def test_one_damaged_file_does_not_hide_the_others(
    parts_folder: Path, sculpture_folder: Path, tmp_path: Path
) -> None:
    parts = shutil.copytree(parts_folder, tmp_path / "parts")
    first, second, third = sorted(parts.iterdir())
    first.write_bytes(first.read_bytes()[:-10])
    second.write_bytes(_with_other_positions(second))
    source = open_source(parts)
    assert isinstance(source, PartsSource)
    assert [file.name for file in source.files] == [third.name]
    assert [name in said for name, said in zip((first.name, second.name), source.damaged, strict=True)] == [
        True
    ] * 2
    assert str(tmp_path) not in " ".join(source.damaged)
    third.write_bytes(b"")
    with pytest.raises(FileFormatError, match=second.name):
        open_source(parts)
    sculptures = shutil.copytree(sculpture_folder, tmp_path / "sculptures")
    (sculptures / "seed0.safetensors").write_bytes(b"")
    sculpture = open_source(sculptures)
    assert isinstance(sculpture, SculptureSource)
    assert list(sculpture.sculptures) == ["seed1.safetensors"]
    assert "seed0.safetensors" in sculpture.damaged[0]


def _with_other_positions(path: Path) -> bytes:
    """Return a file whose header is whole, and whose positions of weights are not in order."""
    with safe_open(path, framework="pt") as file:
        tensors, metadata = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118
    whole = {name for name, tensor in tensors.items() if not tensor.is_floating_point()}
    assert whole
    return save(
        {name: t.flip(0).contiguous() if name in whole else t for name, t in tensors.items()}, metadata
    )


def test_sculptures_of_one_seed_are_all_drawn(sculpture_folder: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        shutil.copy(sculpture_folder / "seed0.safetensors", tmp_path / f"{name}.safetensors")
    source = open_source(tmp_path)
    assert isinstance(source, SculptureSource)
    assert list(source.hierarchies) == ["seed 0", "second"]


def test_figures_that_links_lead_to_are_not_taken(run_folder: Path, tmp_path: Path) -> None:
    run = shutil.copytree(run_folder, tmp_path / "run")
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"\x89PNG\r\n\x1a\n")
    (run / "figures").mkdir(exist_ok=True)
    shutil.copy(secret, run / "figures/own.png")
    (run / "figures/linked.png").symlink_to(secret)
    html = build_report(run).to_html()
    assert "<figcaption>own</figcaption>" in html
    assert "<figcaption>linked</figcaption>" not in html


def test_results_that_are_not_the_recipes_are_refused(run_folder: Path, tmp_path: Path) -> None:
    run = shutil.copytree(run_folder, tmp_path / "run")
    lines = [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]
    (run / "results.jsonl").write_text(
        "".join(json.dumps(line | {"row": {"other": 1}}) + "\n" for line in lines)
    )
    with pytest.raises(FileFormatError, match="not what the recipe random-init writes"):
        open_source(run)


def test_settings_that_are_nested_without_end_are_refused(
    sculpture_folder: Path, audit_folder: Path, tmp_path: Path
) -> None:
    deep = "[" * 900 + "]" * 900
    sculptures = shutil.copytree(sculpture_folder, tmp_path / "sculptures")
    (sculptures / "config.json").write_text(f'{{"task": {deep}}}')
    audit = tmp_path / "audit.json"
    whole = (audit_folder / "audit.json").read_text()
    audit.write_text(whole.replace('"weights": null', f'"weights": {deep}'))
    assert deep in audit.read_text()
    for path in (sculptures, audit):
        with pytest.raises(FileFormatError, match="nested"):
            open_source(path)
