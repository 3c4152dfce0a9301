"""Names of inputs and outputs: from a table's columns to what is printed, drawn and kept in files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dovetail as dt
from dovetail.errors import FileFormatError
from dovetail.sculpting import Hierarchy, Sculpture, Sculptures, detect_modules, open_sculpture
from dovetail.sculpting.modules.hierarchy import LONGEST_NAME

INPUTS = ("width", "height", "colour=blue", "colour=red")
OUTPUTS = ("cat", "dog")


@pytest.fixture(scope="module")
def pets() -> dt.Dataset:
    draws = np.random.default_rng(0)
    colour, width = draws.choice(["red", "blue"], 200), draws.normal(size=200)
    kind = np.where((colour == "red") ^ (width > 0), "cat", "dog")
    table = {"width": width, "height": draws.normal(size=200), "colour": colour, "kind": kind}
    return dt.Dataset.from_frame(pd.DataFrame(table), "kind")


@pytest.fixture(scope="module")
def sculpture(pets: dt.Dataset) -> Sculpture:
    found = dt.sculpt(pets, [8], unit_steps=0.5, edge_steps=0.1, epochs=60, lr=0.02, progress=False)
    assert found.outcome == "sculpted"
    return found


def test_a_sculpture_of_a_table_has_its_columns_and_classes(sculpture: Sculpture) -> None:
    assert (sculpture.input_names, sculpture.output_names) == (INPUTS, OUTPUTS)
    used = sorted(set().union(*map(sculpture.hierarchy.inputs_of, range(len(sculpture.hierarchy.modules)))))
    shown = sculpture.hierarchy.describe()
    assert all(INPUTS[unit] in shown for unit in used)
    assert shown.replace("\n", "\n             ") in sculpture.describe()
    assert not re.search(r"\b[xy][0-9]", sculpture.describe())
    table = sculpture.hierarchy.to_frame()
    assert {name for names in table["inputs"] for name in names} == {INPUTS[unit] for unit in used}
    assert {name for names in table["outputs"] for name in names} == set(OUTPUTS)


def test_pictures_have_them(sculpture: Sculpture) -> None:
    for ax in (sculpture.plot(), sculpture.hierarchy.plot()):
        texts = {text.get_text() for text in ax.texts}
        assert set(OUTPUTS) <= texts
        assert texts & set(INPUTS)
    renamed = {text.get_text() for text in sculpture.plot(output_names=["miau", "wuff"]).texts}
    assert {"miau", "wuff"} <= renamed


def test_files_keep_them(sculpture: Sculpture, tmp_path: Path) -> None:
    again = open_sculpture(sculpture.save(tmp_path / "pets.safetensors"))
    assert (again.input_names, again.output_names) == (INPUTS, OUTPUTS)
    assert again.hierarchy.describe() == sculpture.hierarchy.describe()
    found = Hierarchy.from_json(again.hierarchy.to_json())
    assert found == sculpture.hierarchy
    assert found.end_names == (list(INPUTS), list(OUTPUTS))


def test_all_searches_and_what_they_agree_on_have_them(sculpture: Sculpture) -> None:
    assert all(hierarchy.input_names == INPUTS for _, hierarchy in sculpture.hierarchies(within=2))
    assert Sculptures([sculpture]).consensus().hierarchy.output_names == OUTPUTS


def test_names_that_do_not_fit_are_refused(sculpture: Sculpture, tmp_path: Path) -> None:
    wrong = replace(sculpture, input_names=INPUTS[:3])
    with pytest.raises(FileFormatError, match="input_names do not fit its widths"):
        open_sculpture(wrong.save(tmp_path / "wrong.safetensors"))
    fields = json.loads(sculpture.hierarchy.to_json()) | {"output_names": ["cat"]}
    with pytest.raises(FileFormatError, match="output_names are 1, for 2 units"):
        Hierarchy.from_json(json.dumps(fields))


def test_files_without_names_are_read(sculpture: Sculpture) -> None:
    fields = json.loads(sculpture.hierarchy.to_json())
    del fields["input_names"], fields["output_names"]
    assert Hierarchy.from_json(json.dumps(fields)).end_names[0] == ["x1", "x2", "x3", "x4"]


def test_names_do_not_make_another_hierarchy_and_long_ones_are_cut_in_a_line() -> None:
    plain = detect_modules([np.eye(2)])
    named = replace(plain, input_names=("a" * 100, "b"), output_names=("c", "d"))
    assert named == plain
    line = named.describe().splitlines()[1]
    assert "a" * (LONGEST_NAME - 1) + "…" in line
    assert "a" * LONGEST_NAME not in line
    assert plain.describe().splitlines()[1].startswith("  M1      {x1, y1}")


def test_boolean_tasks_and_pictures_have_no_names_of_inputs() -> None:
    for task in ("y1 = x1 & x2", dt.load("digits")):
        found = dt.sculpt(task, 4, unit_steps=0.5, edge_steps=0.1, epochs=1, progress=False)
        assert found.input_names is None
        assert found.hierarchy.end_names[0][0] == "x1"
