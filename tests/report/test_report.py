"""Reports of each kind: their sections, and that their numbers are the library's."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from datetime import datetime, timedelta
from html import unescape
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import dovetail as dt
from dovetail import DovetailError
from dovetail.data import catalogue
from dovetail.engine import Run
from dovetail.errors import DataError
from dovetail.recipes.tables import Cell, Comparison, Quantity
from dovetail.report import Page, build_report, write_report
from dovetail.report.page import MOST_BYTES
from dovetail.report.pages.made import distinct_text
from dovetail.report.pages.part_sections import add_confusions
from dovetail.report.pages.run import add_pictures, add_results
from dovetail.report.pages.sculpture import add_modules
from dovetail.report.sources import open_source
from dovetail.sculpting import open_sculpture
from dovetail.specialists import Specialist

from .conftest import NASTY
from .test_page import Reader


def figures(page: Page) -> list[Any]:
    """Return the content of all charts of a page."""
    raw = [text for tag, text in Reader(page.to_html()).raw if tag == "script" and text[:1] in ("{", "[")]
    return [json.loads(text) for text in raw]


def rows(page: Page) -> list[list[str]]:
    """Return the text of the cells of all tables, row by row."""
    return [
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", page.to_html())
    ]


def specialists(folder: Path) -> list[Specialist]:
    found = [dt.open(path) for path in sorted(folder.glob("*.safetensors"))]
    return [part for part in found if isinstance(part, Specialist)]


def test_specialists_are_measured_as_the_library_does(parts_folder: Path) -> None:
    page = build_report(parts_folder, progress=False)
    assert page.sections == [
        "Specialists", "What is confused", "Merging one after the other", "Mode connectivity", "How it was made",
    ]  # fmt: skip
    team, data = specialists(parts_folder), dt.load("digits")
    cells = rows(page)
    for part in team:
        score = part.evaluate(data.test)
        (row,) = (row for row in cells if row[:3] == [part.knows, "0", "me"])
        assert row[3:6] == [f"{part.sparsity:.4f}", f"{score.rewarded_accuracy:.4f}", f"{score.entropy:.4f}"]
    whole = (team[0] + team[1] + team[2]).evaluate(data.test)
    (row,) = (row for row in cells if row[0] == "sum of 3")
    assert row[1:6] == ["sum", "3", "3 of 10", f"{whole.rewarded_accuracy:.4f}", f"{whole.entropy:.4f}"]
    matrices, curve, paths = figures(page)
    expected = [whole, *(part.evaluate(data.test) for part in team)]
    assert [matrix["data"][0]["text"] for matrix in matrices] == [s.confusion.tolist() for s in expected]
    assert re.findall(r"<option>(.*?)</option>", page.to_html()) == ["sum of 3", "0", "1", "2"]
    assert curve["data"][1]["y"][-1] == pytest.approx(whole.rewarded_accuracy)
    steps = dt.specialists.incremental_connectivity(team, data.test)
    assert [line["y"] for line in paths["data"]] == [
        pytest.approx(step.relative.tolist(), abs=1e-4) for step in steps
    ]
    pairs = [dt.connectivity([a, b], data.test, points=5) for a, b in combinations(team, 2)]
    assert f"{sum(pair.connected for pair in pairs)} of 3 pairs are connected" in page.to_html()
    assert f"barrier is {max(pair.barrier for pair in pairs):.1f}\N{NO-BREAK SPACE}%" in page.to_html()


def test_without_measuring_the_manifests_say_what_they_know(parts_folder: Path) -> None:
    page = build_report(parts_folder, measure=False)
    assert page.sections == ["Specialists", "How it was made"]
    assert not figures(page)
    for part in specialists(parts_folder):
        accuracy = part.provenance.metrics["rewarded_accuracy"]
        assert any(row[0] == part.knows and row[4] == f"{accuracy:.4f}" for row in rows(page))
    assert "on the validation split" in page.to_html()


def test_data_that_is_not_here_is_named_with_the_way_to_get_it(
    parts_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    monkeypatch.delenv("DOVETAIL_DATA", raising=False)
    with pytest.raises(DataError, match="get them with: dovetail data get mnist"):
        build_report(parts_folder, data="mnist", progress=False)
    with pytest.raises(DataError, match=r"^lines here has other classes or samples of another shape"):
        build_report(parts_folder, data="lines:train_samples=100,test_samples=20", progress=False)
    with pytest.raises(DovetailError, match=r"^unknown data set 'digitz'; did you mean 'digits'"):
        build_report(parts_folder, data="digitz", progress=False)


def test_what_a_folder_holds_and_the_page_does_not_is_named(parts_folder: Path, tmp_path: Path) -> None:
    parts = shutil.copytree(parts_folder, tmp_path / "parts")
    shutil.copytree(parts_folder, parts / "more")
    (parts / "nothing").mkdir()
    cut = sorted(parts.glob("*.safetensors"))[0]
    cut.write_bytes(cut.read_bytes()[:100])
    page = build_report(parts, measure=False)
    assert page.title == "2 specialists"
    assert f"Not in this report: {cut.name} is not a safetensors file, or is cut short" in page.to_html()
    assert "Not in this report: the folders inside (more); make one of each." in page.to_html()


def test_files_beyond_the_limit_are_named(
    parts_folder: Path, sculpture_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, unread in ((parts_folder, "2 more files"), (sculpture_folder, "1 more file")):
        assert not build_report(folder, measure=False).left_out
        with monkeypatch.context() as limited:
            limited.setattr("dovetail.report.sources.MOST_FILES", 1)
            page = build_report(folder, measure=False)
        assert page.left_out == [f"{unread}, not read because there are too many"]
        assert page.to_html().count(unread) == 1


def test_what_was_asked_for_is_not_taken_for_what_there_is(parts_folder: Path, tmp_path: Path) -> None:
    part = specialists(parts_folder)[0]
    training = {**part.provenance.training, "odd": [[1, 2], {"deep": [3]}], "sparsity": 0.0}
    other = Specialist(
        part.blueprint, part.rewarded, part.weights, replace(part.provenance, slots=True, training=training)
    )
    page = build_report(other.save(tmp_path / "a.safetensors"), measure=False)
    assert ["sparsity asked for", "0"] in rows(page)
    assert ["odd", "[1, 2], [deep [3]]"] in rows(page)
    assert "weights that are 0: pruned, or outside of its slot" in page.to_html()


def test_data_that_nothing_is_measured_on_is_refused(parts_folder: Path, audit_folder: Path) -> None:
    for path, measure in ((parts_folder, False), (audit_folder, True)):
        with pytest.raises(
            DovetailError, match=r"^data \('digits'\) is to measure specialists on, .* leave it out$"
        ):
            build_report(path, data="digits", measure=measure, progress=False)


def test_a_composite_alone_shows_itself_and_its_members(parts_folder: Path, tmp_path: Path) -> None:
    team = specialists(parts_folder)
    file = dt.compose(team[:2], "logits").save(tmp_path / "two.safetensors")
    page = build_report(file, progress=False, samples=100)
    assert "Measured on 100 test samples" in page.to_html()
    (row,) = (row for row in rows(page) if row[0] == "two")
    assert row[1:4] == ["logits", "2", "2 of 10"]
    assert row[-1] == f"{file.stat().st_size / 1000:.1f} kB"


def test_specialists_that_do_not_fit_are_still_reported(parts_folder: Path, tmp_path: Path) -> None:
    for path in parts_folder.iterdir():
        shutil.copy(path, tmp_path)
    first = specialists(parts_folder)[0]
    Specialist(first.blueprint, (0, 1), first.weights, first.provenance).save(tmp_path / "both.safetensors")
    page = build_report(tmp_path, progress=False)
    assert page.sections == ["Specialists", "What is confused", "How it was made"]
    assert "Not added up: " in page.to_html()
    assert "both have class 0" in page.to_html()


def test_a_sculpture_shows_its_networks_and_modules(sculpture_folder: Path) -> None:
    page = build_report(sculpture_folder)
    assert page.sections == ["Sculpted networks", "Modules", "What they compute", "How it was made"]
    for seed in (0, 1):
        sculpture = open_sculpture(sculpture_folder / f"seed{seed}.safetensors")
        (row,) = (row for row in rows(page) if row[:2] == [str(seed), sculpture.outcome])
        assert row[4:7] == [
            str(sculpture.edges), f"{sculpture.density:.4f}", str(len(sculpture.hierarchy.modules)),
        ]  # fmt: skip
    html = page.to_html()
    said = unescape(html)
    for seed in (0, 1):
        explanation = open_sculpture(sculpture_folder / f"seed{seed}.safetensors").explain()
        assert all(one.formula is not None and f">{one.formula}<" in said for one in explanation.outputs)
        assert explanation.outputs[0].says() in said  # of the unit that one points at
    assert html.count('<figure class="hierarchy">') == 2
    assert len(html) < 200_000  # without plotly


def test_modules_alone_are_drawn(sculpture_folder: Path) -> None:
    page = build_report(sculpture_folder / "seed0.json")
    assert page.sections == ["The network by modules", "How it was made"]


def test_an_audit_shows_its_null_and_clusters(audit_folder: Path) -> None:
    page = build_report(audit_folder)
    assert page.sections == [
        "More clusterable than chance?", "Cluster composition by layer", "Without each cluster", "How it was made",
    ]  # fmt: skip
    found = json.loads((audit_folder / "audit.json").read_text())["clusterability"]
    null, composition = figures(page)
    assert sum(null["data"][0]["y"]) == 8
    assert null["data"][1]["x"] == [found["ncut"]] * 2
    assert composition["data"][0]["text"] == [[n or "" for n in row] for row in found["composition"]]
    assert f"p = {found['p_value']:.3g}" in page.to_html()
    assert f"n-cut {found['ncut']:.3f} with 3 clusters" in page.to_html()


def test_a_run_shows_its_tables_and_figures(run_folder: Path) -> None:
    page = build_report(run_folder)
    assert page.sections == ["Results beside published values", "Figures", "How it was made"]
    source = open_source(run_folder)
    assert isinstance(source, Run)
    shown = {cell for row in rows(page) for cell in row}
    (table,) = source.tables
    wide = table.wide()
    assert {text for name in wide.columns for text in wide[name]} <= shown
    assert page.to_html().count("data:image/png;base64,") == len(list((run_folder / "figures").iterdir()))


def test_suspect_cells_and_differences_are_marked() -> None:
    page = Page("x")
    cells = [
        Cell({"data": "a"}, "accuracy", Quantity(0.9), Quantity(0.8, doubt=True)),
        Cell({"data": "b"}, "accuracy", Quantity(0.5), Quantity(0.75)),
    ]
    add_results(page, [Comparison("Pairs", cells, note="`?` is **doubtful**.")])
    assert page.sections == ["Results beside published values"]
    html = page.to_html()
    assert '<td class="number doubt">0.800 ?</td><td class="number difference">+0.100</td>' in html
    assert '<td class="number">0.750</td><td class="number difference">-0.250</td>' in html
    assert "<code>?</code> is <strong>doubtful</strong>" in html


def test_hostile_names_are_shown_as_they_stand(
    parts_folder: Path, audit_folder: Path, tmp_path: Path
) -> None:
    source = sorted(parts_folder.iterdir())[0]
    (tmp_path / "a").mkdir()
    # No file name may have the slash of the closing tag.
    hostile = tmp_path / "a" / "<script>alert(1)<script>.safetensors"
    shutil.copy(source, hostile)
    page = build_report(hostile, measure=False)
    assert "alert(1)" in page.to_html()
    assert "<script>alert" not in page.to_html()
    content = json.loads((audit_folder / "audit.json").read_text())
    content["checkpoint"] = NASTY
    content["clusterability"]["groups"][0]["name"] = NASTY
    content["clusterability"]["warnings"] = [NASTY]
    content["lesions"]["data"] = NASTY
    (tmp_path / "audit.json").write_text(json.dumps(content))
    html = build_report(tmp_path / "audit.json").to_html()
    assert "&lt;script&gt;alert(1)" in html
    assert "<script>alert" not in html


def test_class_names_cannot_become_html(parts_folder: Path, tmp_path: Path) -> None:
    for number, part in enumerate(specialists(parts_folder)):
        blueprint = replace(part.blueprint, classes=(NASTY, *part.classes[1:]))
        provenance = replace(part.provenance, data="mine")
        Specialist(blueprint, part.rewarded, part.weights, provenance).save(
            tmp_path / f"{number}.safetensors"
        )
    html = build_report(tmp_path, progress=False).to_html()
    assert "&#x27;mine&#x27; is no data set that dovetail loads" in html
    assert "&lt;script&gt;alert(1)" in html
    assert "<script>alert" not in html
    score = specialists(tmp_path)[0].evaluate(dt.load("digits").test)
    page = Page("x")
    add_confusions(page, {NASTY: score})
    assert "<script>alert" not in page.to_html()


def test_what_is_too_large_is_left_out_and_named(tmp_path: Path, sculpture_folder: Path) -> None:
    header = b"\x89PNG\r\n\x1a\n" + bytes(16)
    files = []
    for number in range(3):
        files.append(tmp_path / f"figure{number}.png")
        files[-1].write_bytes(header + bytes(2_000_000))
    page = Page("x")
    add_pictures(page, files)
    html = page.to_html()
    assert "left out: figure2.png" in html
    assert 5_000_000 < len(html.encode()) < MOST_BYTES
    add_modules(page, {"small": open_sculpture(sculpture_folder / "seed0.safetensors").hierarchy})
    assert '<figure class="hierarchy">' in page.to_html()
    page.fragment("x" * (page.room() - 10_000))
    add_modules(page, {"no room": open_sculpture(sculpture_folder / "seed0.safetensors").hierarchy})
    assert "keep the page small: no room" in page.to_html()
    assert len(page.to_html().encode()) < MOST_BYTES


def test_matrices_of_very_many_classes_stay_within_the_room() -> None:
    import torch

    from dovetail.specialists.evaluate import score_logits

    classes = [str(number) for number in range(300)]
    (score,) = score_logits(torch.randn(1, 900, 300), torch.arange(900) % 300, [(0, 1)], classes)
    page = Page("x")
    add_confusions(page, {str(number): score for number in range(20)})
    html = page.to_html()
    assert "more matrices are left out" in html
    assert len(html.encode()) < MOST_BYTES


def test_a_page_of_ours_is_replaced_and_nothing_else(audit_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    assert write_report(audit_folder, out) == out
    assert out.stat().st_size < MOST_BYTES
    write_report(audit_folder, out)
    out.write_text("<html>my own</html>")
    with pytest.raises(DovetailError, match="is in the way"):
        write_report(audit_folder, out)
    assert out.read_text() == "<html>my own</html>"
    write_report(audit_folder, out, force=True)
    with pytest.raises(DovetailError, match="it is a folder"):
        write_report(audit_folder, tmp_path)
    with pytest.raises(DovetailError, match="there is no folder"):
        write_report(audit_folder, tmp_path / "none" / "report.html")


def test_data_named_by_the_files_that_is_not_here_is_said_in_the_report(
    parts_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = [info if info.name != "digits" else replace(info, kind="files") for info in catalogue()]
    monkeypatch.setattr("dovetail.data.registry.catalogue", lambda: away)
    page = build_report(parts_folder, progress=False)
    assert page.sections == ["Specialists", "How it was made"]
    assert "get them with: dovetail data get digits" in page.to_html()
    assert "on the validation split" in page.to_html()


def test_other_data_of_the_same_kind_is_measured_and_said(parts_folder: Path, tmp_path: Path) -> None:
    for number, part in enumerate(specialists(parts_folder)[:2]):
        provenance = replace(part.provenance, fingerprint="0123456789abcdef")
        Specialist(part.blueprint, part.rewarded, part.weights, provenance).save(
            tmp_path / f"{number}.safetensors"
        )
    page = build_report(tmp_path, progress=False, samples=50)
    assert "Measured on 50 test samples of digits" in page.to_html()
    assert "is not what they were trained on (0123456789abcdef)" in page.to_html()
    assert (
        "is not what they were trained on"
        not in build_report(parts_folder, progress=False, samples=50).to_html()
    )


def test_a_file_cannot_ask_for_options_of_generated_data(parts_folder: Path, tmp_path: Path) -> None:
    part = specialists(parts_folder)[0]
    provenance = replace(part.provenance, data="lines:train_samples=100000000")
    Specialist(part.blueprint, part.rewarded, part.weights, provenance).save(tmp_path / "one.safetensors")
    html = build_report(tmp_path, progress=False).to_html()
    assert "lines:train_samples=100000000&#x27; is no data set that dovetail loads" in html


def test_how_an_audit_was_made_is_in_its_report(audit_folder: Path, tmp_path: Path) -> None:
    content = json.loads((audit_folder / "audit.json").read_text())
    assert datetime.fromisoformat(content["made"]["when"]).utcoffset() == timedelta(0)
    assert content["made"]["seconds"] > 0
    shown = dict(row for row in rows(build_report(audit_folder)) if len(row) == 2)
    for name in ("when", "hardware", "dovetail", "torch", "python"):
        assert shown[name] == content["made"][name]
    del content["made"]  # as earlier versions wrote it
    (tmp_path / "audit.json").write_text(json.dumps(content))
    shown = dict(row for row in rows(build_report(tmp_path)) if len(row) == 2)
    assert "seed" in shown
    assert "torch" not in shown


def test_long_tables_are_in_groups(tmp_path: Path) -> None:
    cells = [
        Cell(
            {"data": data, "net": net, "seed": seed},
            "accuracy",
            Quantity(0.5),
            Quantity(0.4, doubt=seed == 0),
        )
        for data in ("a", "b")
        for net in ("deep", "shallow")
        for seed in range(30)
    ]
    page = Page("Long")
    add_results(page, [Comparison("Many", cells)])
    html = page.to_html()
    assert re.findall(r"<summary>(.*?)</summary>", html) == ["a, deep", "a, shallow", "b, deep", "b, shallow"]
    assert html.count("<details open>") == 1
    assert html.count("0.400 ?") == html.count('class="number doubt"') == 4
    assert rows(page)[0] == ["seed", "accuracy", "published", "Δ"]
    short = Page("Short")
    add_results(short, [Comparison("Few", cells[:40])])
    assert "<summary>" not in short.to_html()
    assert rows(short)[0] == ["data", "net", "seed", "accuracy", "published", "Δ"]


def test_a_long_table_is_not_cut_into_groups_of_a_few_rows() -> None:
    def folds(nets: int, seeds: int) -> tuple[int, int]:
        page = Page("Long")
        cells = [
            Cell({"net": f"net {net}", "seed": seed}, "accuracy", Quantity(0.5))
            for net in range(nets)
            for seed in range(seeds)
        ]
        add_results(page, [Comparison("Many", cells)])
        return page.to_html().count("<summary>"), len(rows(page)[0])

    whole = 3  # columns: those of the groups are gone from their tables
    assert folds(60, 1) == (0, whole)
    assert folds(20, 3) == (0, whole)
    assert folds(15, 4) == (15, whole - 1)


def test_values_that_differ_late_are_told_apart() -> None:
    first, other = list(range(100)), [*range(99), 7]
    shown = distinct_text([first, other, first]).split("; ")
    assert len(shown) == 2
    assert all(len(text) < 90 for text in shown)
    assert distinct_text([{"seeds": first}, {"seeds": other}]).count("seeds") == 2
    assert distinct_text(["a" * 700 + "b", "a" * 700 + "c"]).count(" …") == 2


def test_settings_of_a_run_are_in_words_and_units_are_folded() -> None:
    page = build_report(Path(__file__).parents[2] / "results" / "table4")
    cells = rows(page)
    assert ["train: loss", "me; qme; xe"] in cells
    assert ["data: name", "mnist; fashion-mnist; har; yeast"] in cells
    assert "{" not in "".join(values for _, values in (row for row in cells if len(row) == 2))
    assert "<summary>Units, and how long each took.</summary>" in page.to_html()


def test_a_run_tells_the_versions_that_it_was_begun_with(run_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(run_folder, tmp_path / "run")
    assert "torch at its start" not in build_report(folder).to_html()
    with (folder / "config.yaml").open("a") as file:
        file.write('torch: "2.99.0"\n')
    shown = [row for row in rows(build_report(folder)) if row[0] == "torch at its start"]
    assert shown == [["torch at its start", "2.99.0"]]
