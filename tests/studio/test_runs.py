"""Runs in the studio: how far each is, what came of it beside the published, and folders that are no runs."""

from __future__ import annotations

import fcntl
import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from dovetail.engine import results_file
from dovetail.io.lock import is_worked_in
from dovetail.recipes import Comparison, Finished, find_recipe
from dovetail.report import build_report
from dovetail.studio.folder import StudioFolder
from dovetail.studio.runs import studio_runs
from dovetail.studio.runs.job import run as run_job
from dovetail.studio.runs.studio_runs import Pace, Sight, StudioRuns
from dovetail.studio.studio import Studio

from .conftest import ClientOf
from .run_folders import RECIPE, UNITS, QuickEngine, finished_units, open_run, write_run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a run that is done, and one whose last unit is missing."""
    write_run(tmp_path / "old" / "whole")
    write_run(tmp_path / "half", UNITS - 1)
    return tmp_path


@pytest.fixture
def studio(client: ClientOf, root: Path) -> TestClient:
    return client(root)


def of(studio: TestClient, name: str) -> dict[str, Any]:
    answer = studio.get("/api/runs/run", params={"name": name})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_all_runs_are_listed_with_how_far_they_are(studio: TestClient) -> None:
    runs = {run["name"]: run for run in studio.get("/api/runs").json()["runs"]}
    assert runs["old/whole"]["state"] == "complete"
    assert (runs["old/whole"]["done"], runs["old/whole"]["units"]) == (UNITS, UNITS)
    assert runs["half"]["state"] == "stopped"
    assert (runs["half"]["done"], runs["half"]["share"]) == (UNITS - 1, (UNITS - 1) / UNITS)
    assert (runs["half"]["recipe"], runs["half"]["scale"]) == (RECIPE, "paper")


def test_units_that_a_neighbour_has_count_as_they_would_be_taken_over(studio: TestClient, root: Path) -> None:
    shutil.copytree(root / "old" / "whole", root / "beside")
    assert of(studio, "half")["state"]["state"] == "complete"


def test_a_run_that_someone_works_in_is_running_and_moves(studio: TestClient, root: Path) -> None:
    def look() -> dict[str, Any]:
        state: dict[str, Any] = studio.get("/api/runs/progress", params={"name": "half"}).json()
        return state

    with open_run(root / "half") as folder:
        before = look()
        assert (before["state"], before["left"]) == ("running", None)
        folder.add(finished_units()[-1:])
        after = look()
        assert after["done"] == before["done"] + 1
        assert after["share"] > before["share"]
        assert after["left"] == pytest.approx(0, abs=1)
    assert look()["state"] == "complete"


def test_looking_at_a_run_does_not_keep_others_from_working_in_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dovetail.io.lock._PATIENCE", 60)
    assert not is_worked_in(root / "half")
    lock = root / "half" / ".lock"
    with lock.open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)  # as is_worked_in does, but for longer
        threading.Timer(0.1, looking.close).start()
        with open_run(root / "half"):
            assert is_worked_in(root / "half")


def test_a_run_is_shown_as_a_report_shows_it(studio: TestClient, root: Path) -> None:
    html = of(studio, "old/whole")["html"]
    assert html == build_report(root / "old" / "whole").content()
    (expected,) = find_recipe(RECIPE).tables("paper", finished_units())
    for value in expected.wide().iloc[0]:
        assert f">{value}</td>" in html
    assert "Results beside published values" in html


def test_what_a_run_was_made_with_its_figures_and_remarks(studio: TestClient, root: Path) -> None:
    (root / "half" / "remarks.md").write_text("# Close <enough>\n\n- *one*\n- two\n")
    figures = root / "half" / "figures"
    figures.mkdir(exist_ok=True)
    (figures / "curve.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    (figures / "fake.png").write_text("<svg onload=alert(1)>")
    html = of(studio, "half")["html"]
    heading, marks = "<p><strong>Close &lt;enough&gt;</strong></p>", "<li><em>one</em></li>\n<li>two</li>"
    assert f"{heading}\n<ul>\n{marks}\n</ul>" in html
    assert f"a test ({UNITS - 1} units)" in html
    assert "<figcaption>curve</figcaption>" in html
    assert "<figcaption>fake</figcaption>" not in html
    assert "alert" not in html


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("/api/runs/run", {"name": "../x"}),
        ("/api/runs/run", {"name": "/etc"}),
        ("/api/runs/run", {"name": "nothing"}),
        ("/api/runs/progress", {"name": ".."}),
        ("/api/runs/run", {}),
    ],
)
def test_what_is_not_there_or_not_inside_is_refused(
    studio: TestClient, path: str, parameters: dict[str, str]
) -> None:
    assert 400 <= studio.get(path, params=parameters).status_code < 500


def test_folders_of_others_are_left_out_and_damaged_runs_say_why(studio: TestClient, root: Path) -> None:
    for name, text in {
        "theirs": "model: resnet\nlayers: [1, 2]\n",
        "broken": 'recipe: "halves"\nscale: \ndovetail: "0"\n',
        "newer": 'recipe: "table99"\nscale: "smoke"\ndovetail: "9"\n',
        "scale": 'recipe: "halves"\nscale: "huge"\ndovetail: "0"\n',
    }.items():
        (root / name).mkdir()
        (root / name / "config.yaml").write_text(text)
    (root / "half" / results_file.NAME).write_text('{"key": 1}\n')
    found = studio.get("/api/runs").json()
    assert [run["name"] for run in found["runs"]] == ["old/whole"]
    problems = {one["name"]: one["problem"] for one in found["damaged"]}
    assert problems.keys() == {"broken", "newer", "scale", "half"}
    assert "table99" in problems["newer"]
    assert "damaged" in problems["half"]


@pytest.mark.parametrize("row", [{"pruned": 3}, {"pruned": {"measures": []}}, "x\ud800"])
def test_results_that_were_altered_make_no_server_error(studio: TestClient, root: Path, row: object) -> None:
    file = root / "half" / results_file.NAME
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    altered = [
        {**line, "row": row, "seconds": float("inf"), "device": "\ud800", "dovetail": 3} for line in lines
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in altered))
    answer = studio.get("/api/runs/run", params={"name": "half"})
    assert answer.status_code == 400
    said = "cannot be put into tables" if isinstance(row, dict) else "is damaged; delete that line"
    assert said in answer.json()["error"]
    assert studio.get("/api/runs").status_code == 200


def test_numbers_and_texts_that_json_or_utf8_do_not_know_are_shown_all_the_same(
    studio: TestClient, root: Path
) -> None:
    file = root / "half" / results_file.NAME
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    altered = [{**line, "seconds": float("inf"), "device": "\ud800", "dovetail": 3} for line in lines]
    file.write_text("".join(json.dumps(line) + "\n" for line in altered))
    assert rf"\ud800 ({UNITS - 1} units)" in of(studio, "half")["html"]


def test_audits_and_sculptures_are_listed_too(client: ClientOf, tmp_path: Path) -> None:
    for name in (
        "seen/audit.json",
        "cut/seed0.safetensors",
        "cut/seed1.safetensors",
        "cut/other.safetensors",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    found = client(tmp_path).get("/api/runs").json()
    assert found["audits"] == ["seen"]
    assert found["sculptures"] == ["cut/seed0.safetensors", "cut/seed1.safetensors"]


def test_a_recipe_that_was_stopped_goes_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.engine.reproduction.find_engine", lambda *_, **__: QuickEngine())
    told: list[tuple[float, float | None]] = []

    def stopped(done: float, total: float | None, note: str = "", partial: Any = None) -> None:
        if done == 1:
            raise KeyboardInterrupt

    def tell(done: float, total: float | None, note: str = "", partial: Any = None) -> None:
        told.append((done, total))

    settings = {"recipe": RECIPE, "run": "new", "path": str(root / "new")}
    with pytest.raises(KeyboardInterrupt):
        run_job(settings, stopped)
    assert run_job(settings, tell) == {"run": "new", "failed": ""}
    assert told == [(0, None), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    "body",
    [
        {"recipe": "nothing"},
        {"recipe": RECIPE, "folder": "../x"},
        {"recipe": "mlp", "folder": "half"},
        {"recipe": RECIPE, "folder": "half"},
        {"recipe": RECIPE, "folder": "notes"},
    ],
)
def test_recipes_and_folders_that_make_no_sense_are_refused(
    studio: TestClient, root: Path, body: dict[str, str]
) -> None:
    (root / "notes").write_text("a file")
    assert studio.post("/api/runs", json=body).status_code == 400
    assert studio.get("/api/jobs").json() == []


def test_a_folder_that_is_worked_in_is_not_started_again(studio: TestClient, root: Path) -> None:
    with open_run(root / "small", "smoke"):
        answer = studio.post("/api/runs", json={"recipe": RECIPE, "folder": "small"})
    assert answer.status_code == 400
    assert "worked in already" in answer.json()["error"]


def test_recipes_are_listed(studio: TestClient) -> None:
    names = [recipe["name"] for recipe in studio.get("/api/runs/recipes").json()]
    assert names.index("table1") < names.index(RECIPE)


def test_time_left_follows_the_pace_that_was_seen() -> None:
    pace = Pace()
    assert pace.left("a", Sight(100, 0.5, 50), now=150) is None  # 0.5 was there before the process began
    assert pace.left("a", Sight(100, 0.6, 120), now=120) == pytest.approx(80)
    assert pace.left("a", Sight(100, 0.6, 120), now=130) == pytest.approx(70)
    assert pace.left("a", Sight(100, 0.6, 120), now=1000) == 0
    assert pace.left("a", Sight(999, 0.6, 120), now=1000) is None  # another process has begun


@pytest.mark.parametrize(
    "name", ["config.yaml", "results.jsonl", "table.md", "figures", "errors.log", ".lock"]
)
def test_a_recipe_is_not_started_where_a_link_leads_elsewhere(
    studio: TestClient, root: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "config.yaml").write_text('recipe: "a secret"\nscale: "smoke"\n')
    run = root / "new"
    run.mkdir()
    if name != "config.yaml":
        (run / "config.yaml").write_text(f'recipe: "{RECIPE}"\nscale: "smoke"\n')
    (run / name).symlink_to(elsewhere if name == "figures" else elsewhere / "config.yaml")
    answer = studio.post("/api/runs", json={"recipe": RECIPE, "folder": "new"})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(f"new/{name} is a link")
    assert "secret" not in answer.text
    assert studio.get("/api/jobs").json() == []


def test_figures_that_a_link_leads_to_are_not_shown(
    studio: TestClient, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (root / "half" / "remarks.md").symlink_to(elsewhere / "secret.md")
    (elsewhere / "secret.md").write_text("a secret")
    assert "a secret" not in of(studio, "half")["html"]
    (elsewhere / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert "<img" not in of(studio, "half")["html"]
    (root / "half" / "figures").symlink_to(elsewhere)
    assert "<img" not in of(studio, "half")["html"]
    (root / "half" / "figures").unlink()
    (root / "half" / "figures").mkdir()
    (root / "half" / "figures" / "linked.png").symlink_to(elsewhere / "secret.png")
    assert "<img" not in of(studio, "half")["html"]


def test_results_in_memory_are_limited_by_their_size(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = (root / "half" / "results.jsonl").stat().st_size
    reads: list[str] = []
    read = results_file.read_results

    def counted(path: Path) -> dict[str, Finished]:
        reads.append(path.parent.name)
        return read(path)

    monkeypatch.setattr(results_file, "read_results", counted)
    monkeypatch.setattr(studio_runs, "_MOST_RESULT_BYTES", 2 * size)
    kept = StudioRuns(Studio(StudioFolder(root)))
    for name in ("half", "half", "old/whole", "half"):  # the two together are too much
        kept.results(root / name)
    assert reads == ["half", "whole", "half"]


def test_runs_stand_side_by_side(client: ClientOf, tmp_path: Path) -> None:
    write_run(tmp_path / "1/all")
    write_run(tmp_path / "2/half", done=2)
    answer = client(tmp_path).get("/api/runs/compare", params={"name": ["1/all", "2/half"]}).json()
    assert [run["done"] for run in answer["runs"]] == [4, 2]
    (shown,) = find_recipe(RECIPE).tables("paper", finished_units())
    assert isinstance(shown, Comparison)
    (table,) = answer["tables"]
    assert table["title"] == shown.title
    ours = {(*map(str, cell.labels.values()), cell.metric): cell.ours for cell in shown.cells}
    assert len(table["rows"]) == len(ours)
    for row in table["rows"]:
        mine = ours[(*row["labels"], row["metric"])]
        assert row["values"][0] == (mine and mine.share)
        assert row["values"][1] in (None, row["values"][0])
    assert {row["values"][1] is None for row in table["rows"]} == {True, False}


def test_runs_beside_what_is_none_are_refused(client: ClientOf, tmp_path: Path) -> None:
    write_run(tmp_path / "one", done=1)
    answer = client(tmp_path).get("/api/runs/compare", params={"name": ["one", "two"]})
    assert answer.status_code == 404
    assert "two/config.yaml" in answer.json()["error"]
