"""``dovetail predict``: rows from standard input, and pictures of which some are broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli import app
from dovetail.errors import DovetailError

ROWS = pd.DataFrame(
    {"width": np.arange(40.0) % 7, "colour": ["red", "blue"] * 20, "kind": ["cat", "dog"] * 20}
)


def predicted(*arguments: str | Path, given: str | None = None) -> tuple[dict[str, Any], str]:
    """Return what the command prints as JSON, and its error if it ends with one."""
    done = CliRunner().invoke(app, ["predict", *map(str, arguments), "--json"], input=given)
    if done.exception is not None and not isinstance(done.exception, DovetailError):
        raise done.exception
    return json.loads(done.stdout or "{}"), str(done.exception or "")


def saved(data: dt.Dataset, path: Path) -> Path:
    team = dt.train_specialists(data, "mlp:8", epochs=1, progress=False)
    return dt.compose(team, method="logits").save(path)


@pytest.mark.filterwarnings("ignore::dovetail.errors.DovetailWarning")
def test_rows_from_standard_input(tmp_path: Path) -> None:
    inputs = ROWS.drop(columns="kind")
    inputs.to_csv(tmp_path / "rows.csv", index=False)
    table = saved(dt.Dataset.from_frame(ROWS, "kind"), tmp_path / "table.safetensors")
    wanted, _ = predicted(table, tmp_path / "rows.csv")
    assert len(wanted["answers"]) == 40
    lists = "\n".join(map(json.dumps, inputs.to_numpy().tolist()))
    for text in (inputs.to_json(orient="records", lines=True), lists, (tmp_path / "rows.csv").read_text()):
        found, error = predicted(table, "-", given=text)
        assert (found["probabilities"], error) == (wanted["probabilities"], "")
    arrays = saved(dt.Dataset.from_arrays(ROWS[["width"]].to_numpy(), ROWS.kind), tmp_path / "a.safetensors")
    found, _ = predicted(arrays, "-", given="[3]\n[4]\n")
    part = dt.open(arrays)
    assert isinstance(part, dt.Composite)
    assert found["answers"] == part.predict(np.array([[3.0], [4.0]])).tolist()
    _, error = predicted(arrays, "-", given="[3]\n[4, 5]\n")
    assert "row 2 has 2 values, and a sample has 1" in error


@pytest.mark.filterwarnings("ignore::dovetail.errors.DovetailWarning")
def test_broken_pictures_have_no_answer_and_all_others_have(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for number in range(20):
        path = tmp_path / "photos" / ("cat" if number % 2 else "dog") / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        image.new("RGB", (6, 6), (12 * number, 0, 0)).save(path)
    part = saved(dt.read(tmp_path / "photos"), tmp_path / "part.safetensors")
    wanted, error = predicted(part, tmp_path / "photos")
    assert (len(wanted["answers"]), wanted["unread"], error) == (20, {}, "")
    (tmp_path / "photos" / "dog" / "4.png").write_bytes(b"no picture")
    output = tmp_path / "answers.csv"
    found, error = predicted(part, tmp_path / "photos", "-o", output)
    assert error.startswith("no answer for 1 of 20 pictures: ")
    assert "dog/4.png cannot be read as a picture" in error
    assert list(found["unread"]) == ["dog/4.png"]
    kept = [name != "dog/4.png" for name in wanted["samples"]]
    for field in ("samples", "labels", "answers", "probabilities"):
        assert found[field] == [value for value, keep in zip(wanted[field], kept, strict=True) if keep]
    assert pd.read_csv(output)["sample"].tolist() == found["samples"]
    assert CliRunner().invoke(app, ["predict", str(part), str(tmp_path / "photos")]).exit_code == 1
    for path in (tmp_path / "photos" / "dog").iterdir():
        path.write_bytes(b"no picture")
    found, error = predicted(part, tmp_path / "photos" / "dog")
    assert found == {}
    assert "none of 10 pictures in" in error
    _, error = predicted(part, tmp_path / "photos")
    assert error.endswith("and 5 more (--json names all)")


@pytest.mark.filterwarnings("ignore::dovetail.errors.DovetailWarning")
def test_without_a_threshold_it_says_what_decides(tmp_path: Path) -> None:
    data = dt.Dataset.from_frame(ROWS, "kind")
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    team = dt.train_specialists(data, "mlp:8", epochs=1, progress=False)
    whole, cat = dt.compose(team, method="logits"), team[0]
    for part, undecided, note in (
        (
            whole,
            [],
            "no threshold was chosen, so it answers everything; dovetail compose PARTS --threshold DATA",
        ),
        (cat, [], "it is undecided only where its largest output is of a class that it does not know"),
        (cat, ["--undecided", "0.5"], ""),
        (whole.with_threshold(data.val, "5%"), [], ""),
    ):
        path = part.save(tmp_path / f"{len(list(tmp_path.iterdir()))}.safetensors")
        done = CliRunner().invoke(app, ["predict", str(path), str(tmp_path / "rows.csv"), *undecided])
        said = " ".join(done.stdout.split())
        assert (note in said) if note else ("no threshold" not in said)


def test_data_in_the_place_of_parts_is_told(tmp_path: Path) -> None:
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    for name in ("rows.csv", "rows.zip"):
        (tmp_path / "rows.zip").write_bytes(b"PK")
        _, error = predicted(tmp_path / name, tmp_path / "part.safetensors")
        assert (
            f"{name} is data, and a file of parts, or a folder of such, is wanted here; dovetail train"
            in error
        )
