"""The verb report of the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from shutil import copytree

import numpy as np
import pandas as pd
import pytest

import dovetail as dt
from dovetail import DovetailError
from dovetail.cli import main

from .conftest import dovetail


def test_it_prints_one_line_or_json(
    audit_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = dovetail("report", audit_folder)
    assert printed.startswith("Report: report.html (More clusterable than chance?, ")
    assert printed.count("\n") == 1
    answer = json.loads(dovetail("report", audit_folder, "-o", "again.html", "--json"))
    assert answer["report"] == "again.html"
    assert answer["sections"][1] == "Cluster composition by layer"
    assert answer["bytes"] == (tmp_path / "again.html").stat().st_size


def test_options_reach_the_report(parts_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    answer = json.loads(dovetail("report", parts_folder, "-o", out, "--no-measure", "--json"))
    assert answer["sections"] == ["Specialists", "How it was made"]
    dovetail("report", parts_folder, "-o", out, "--samples", 50, "--data", "digits")
    assert "Measured on 50 test samples of digits" in out.read_text()
    with pytest.raises(DovetailError, match="1 or more; got 0"):
        dovetail("report", parts_folder, "-o", out, "--samples", 0)


def test_what_is_left_out_is_said(parts_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    copytree(parts_folder, folder)
    torn = sorted(folder.glob("*.safetensors"))[0]
    torn.write_bytes(torn.read_bytes()[:100])
    answer = json.loads(dovetail("report", folder, "-o", tmp_path / "r.html", "--no-measure", "--json"))
    assert [torn.name in said for said in answer["left_out"]] == [True]
    assert torn.name in (tmp_path / "r.html").read_text()


def test_what_is_not_measured_for_want_of_its_data_is_said(tmp_path: Path) -> None:
    table = pd.DataFrame({"width": np.arange(60) % 7, "kind": ["cat", "dog"] * 30})
    table.to_csv(tmp_path / "pets.csv", index=False)
    data, out = dt.read(tmp_path / "pets.csv"), tmp_path / "r.html"
    dt.train_specialists(data, "mlp:4", epochs=1, folder=tmp_path / "parts", progress=False)
    printed = dovetail("report", tmp_path / "parts", "-o", out)
    note, written = printed.splitlines()
    assert note.startswith("note: nothing is measured on pets, which is own data")
    assert "--data PATH" in note
    assert written.startswith("Report: ")
    assert json.loads(dovetail("report", tmp_path / "parts", "-o", out, "--json"))["not_measured"] == ["pets"]
    for there in (("--data", tmp_path / "pets.csv"), ("--no-measure",)):
        assert "note:" not in dovetail("report", tmp_path / "parts", "-o", out, *there)


def test_an_error_is_one_line_and_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "none")
    monkeypatch.setattr(sys, "argv", ["dovetail", "report", missing, "-o", str(tmp_path / "r.html")])
    with pytest.raises(SystemExit, match="1"):
        main()
    assert capsys.readouterr().err == f"error: there is no file or folder {missing!r}\n"
    assert not list(tmp_path.iterdir())
