"""Results are alike: each has a table, plain values, JSON text, and HTML that a notebook can show as it is."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import NoReturn

import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib import pyplot as plt

import dovetail as dt
from dovetail.cluster import lesion, train_networks
from dovetail.cluster.saved_audit import audit_of
from dovetail.engine import Run, plan
from dovetail.markup import (
    MOST_COLUMNS,
    MOST_ROWS,
    excerpt_html,
    facts_html,
    matrix_html,
    table_html,
    text_html,
)
from dovetail.recipes import Cell, Comparison, Quantity, Table, find_recipe
from dovetail.result import Result, plain
from dovetail.sculpting import Match, Sculpture, compare, detect_modules, input_separability
from dovetail.specialists import (
    Compatibility,
    Connectivity,
    DropAudit,
    MembershipAttack,
    MergeCurve,
    Relearning,
)
from dovetail.specialists.answers import answers_from
from dovetail.specialists.evaluate import score_logits

from .api.public_names import FOLDERS

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;\x1b[31m", "\ud800half")
"""Names that a file may have given to classes and layers."""
VOID = {"img"}


class Reader(HTMLParser):
    """Reads HTML and refuses what is not closed, what could run, and what would be fetched."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.texts: list[str] = []
        self.tags: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open
        assert self.texts

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in {"div", "style", "table", "thead", "tbody", "tr", "th", "td", "p", "img"}
        self.tags.append(tag)
        for name, value in attrs:
            assert name in {"class", "scope", "style", "alt", "src"}
            assert name != "src" or str(value).startswith("data:image/svg+xml;base64,")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.texts.append(data)


@pytest.fixture(scope="module")
def sculpture() -> Sculpture:
    return dt.sculpt([4, 2, 4], [12], unit_steps=[0.3], edge_steps=[0.02], progress=False)


@pytest.fixture(scope="module")
def results(sculpture: Sculpture) -> dict[str, Result]:
    torch.manual_seed(0)
    classes = ("cat", *HOSTILE)
    weights = [np.kron(np.eye(2), np.ones((4, 4))) + 0.01] * 2
    states = {f"{name}.weight": torch.tensor(w) for name, w in zip(("a", HOSTILE[0]), weights, strict=True)}
    found = dt.clusterability(states, k=2, shuffles=3, progress=False)
    network = dt.build_net("mlp:6", (4,), 2, seed=0)
    split = dt.Split(torch.rand(20, 4), torch.arange(20) % 2)
    lesions = lesion(
        network, dt.clusterability(network, k=2, shuffles=0, progress=False), split, draws=5, progress=False
    )
    (score,) = score_logits(torch.rand(1, 10, 5), torch.arange(10) % 5, [(0, 1)], classes)
    population = dt.Population(dt.net_builder("mlp:6", (4,), 2), seeds=[0, 1])
    history = population.fit(split, epochs=1, progress=False)
    data = dt.Dataset(HOSTILE[0], split, split, split, HOSTILE[:2])
    team = dt.train_specialists(data, "mlp:6", epochs=1, progress=False)
    names = (
        "composite with it",
        "composite without it",
        "composite that never saw it",
        "untrained network",
        "raw inputs",
    )
    sculptures = dt.sculpt_seeds([4, 2, 4], [12], [0, 1], unit_steps=[0.3], edge_steps=[0.02], progress=False)
    content = {"checkpoint": HOSTILE[1], "clusterability": found.to_dict()}
    cell = Cell({"data": HOSTILE[0]}, "accuracy", Quantity(0.9926), Quantity(0.991))
    curve = torch.tensor([[0.5, 0.75]], dtype=torch.float64)
    tables = (
        Table(HOSTILE[0], pd.DataFrame({HOSTILE[1]: [HOSTILE[2], None]})),
        Comparison("Pairs", [cell], note=HOSTILE[1]),
    )
    run = Run(find_recipe("k"), "smoke", Path(HOSTILE[0]), ())
    vars(run)["tables"] = list(tables)  # as if it had been done
    everything = [
        found,
        lesions,
        audit_of(json.loads(json.dumps(content))),
        sculpture,
        sculptures,
        sculptures.consensus(),
        sculptures.consensus().agreements["seeds"],
        sculpture.hierarchy,
        compare(sculpture.hierarchy, [4, 2, 4]),
        input_separability([np.eye(4), np.eye(4) + 0.1], [({0, 1}, {0, 1})]),
        Compatibility(0.5, None, 0.25, 0.0),
        Connectivity(HOSTILE[1], HOSTILE[2], *torch.rand(3, 4, dtype=torch.float64)),
        MergeCurve((HOSTILE[:2],), (0,), curve, curve * torch.nan),
        DropAudit(
            (classes[1],),
            dict.fromkeys(names[:3], score),
            dict.fromkeys(names, 0.5),
            True,
            False,
            proven=(HOSTILE[0],),
            not_proven=(HOSTILE[1],),
        ),
        Relearning((1, 5), (0, 10), ((0.5, 0.6), (0.5, 0.9))),
        MembershipAttack(0.5, 0.75, 10, 20),
        run,
        plan("k"),
        *tables,
        score,
        answers_from(torch.rand(4, 5), (0, 1), classes, "entropy", 0.5),
        history,
        population.evaluate(split, task="classes"),
        team,
        train_networks(dt.load("digits"), "mlp:8", seeds=[0, 1], epochs=1, pruning_epochs=1, progress=False),
    ]
    return {type(result).__name__: result for result in everything}


NAMES = [
    "Agreement", "Answers", "Clusterability", "Comparison", "Compatibility", "Connectivity", "Consensus",
    "DropAudit", "Hierarchy", "History", "InputSeparability", "Lesions", "Match", "MembershipAttack", "MergeCurve",
    "Plan", "Relearning", "Run", "SavedAudit", "Score", "Scores", "Sculpture", "Sculptures", "Table", "Team",
    "TrainedNetworks",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_html_is_whole_and_harmless(results: dict[str, Result], name: str) -> None:
    figures = plt.get_fignums()
    reader = Reader(results[name]._repr_html_())
    assert plt.get_fignums() == figures  # a notebook would show it again
    shown = "".join(reader.texts)
    assert "\x1b" not in shown
    shown.encode()  # no half of a character
    assert ("img" in reader.tags) == (name in {"Sculpture", "Hierarchy", "Consensus"})


@pytest.mark.parametrize("name", NAMES)
def test_json_is_text_of_the_plain_values(results: dict[str, Result], name: str) -> None:
    def refuse(text: str) -> NoReturn:
        raise AssertionError(f"{text} is not JSON")

    content = json.loads(results[name].to_json(), parse_constant=refuse)
    assert content == json.loads(json.dumps(plain(results[name].to_dict())))
    assert content


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_data_frames_with_rows(results: dict[str, Result], name: str) -> None:
    frame = results[name].to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) >= 1
    assert all(isinstance(column, str) for column in frame.columns)


def test_all_public_results_have_the_same_methods() -> None:
    methods = {"to_frame", "to_dict", "to_json", "_repr_html_"}
    modules = [importlib.import_module(f"dovetail.{folder}") for folder in FOLDERS]
    public = [getattr(module, name) for module in modules for name in getattr(module, "__all__", ())]
    classes = [value for value in public if inspect.isclass(value)]
    found = {one for one in classes if {"to_frame", "to_json", "plot"} & set(dir(one))}
    assert {one.__name__ for one in found} >= {"Clusterability", "Hierarchy", "MergeCurve"}
    assert {one.__name__: methods - set(dir(one)) for one in found if not methods <= set(dir(one))} == {}


def test_what_is_shown_is_what_is_known(results: dict[str, Result], sculpture: Sculpture) -> None:
    audit = "".join(Reader(results["DropAudit"]._repr_html_()).texts)
    assert HOSTILE[0] in audit
    assert "a linear probe still tells" in audit
    found = results["Clusterability"]
    assert isinstance(found, dt.Clusterability)
    shown = "".join(Reader(found._repr_html_()).texts)
    assert found.verdict() in shown
    assert HOSTILE[0] in shown
    odd = replace(sculpture, task=HOSTILE[0], output_names=(*HOSTILE[:2], "y3", "y4"))
    assert HOSTILE[0] in "".join(Reader(odd._repr_html_()).texts)
    failed = replace(sculpture, outcome="not learned", accuracy=0.5)
    assert "train it longer" in "".join(Reader(failed._repr_html_()).texts)
    assert failed.to_dict()["hierarchy"] is None


def test_large_networks_are_described_and_not_drawn() -> None:
    rng = np.random.default_rng(0)
    dense = detect_modules([rng.random((40, 40)) < 0.9, rng.random((3, 40)) < 0.9])
    reader = Reader(dense._repr_html_())
    assert "img" not in reader.tags
    assert "M1" in "".join(reader.texts)


def test_a_hierarchy_says_the_same_in_all_forms() -> None:
    tree = detect_modules([np.eye(2), [[1, 0], [0, 1], [1, 1]]])
    assert dt.Hierarchy.from_json(tree.to_json()) == tree
    assert tree.to_frame().to_dict("list") == {
        "module": ["M1", "M2", "M3"],
        "inputs": [[0], [1], []],
        "outputs": [[0], [1], [2]],
        "units": [3, 3, 1],
        "feeds": [["M3"], ["M3"], []],
    }


def test_a_match_has_its_answers_and_not_the_task(results: dict[str, Result]) -> None:
    match = results["Match"]
    assert isinstance(match, Match)
    assert match.to_dict()["whole"] is match.whole
    assert "expected" not in match.to_dict()


def test_the_shade_of_a_cell_is_its_share_of_the_row() -> None:
    counts = pd.DataFrame([[3, 1], [0, 0], [2, 2]], pd.Index(HOSTILE[:3], name="true"), ["cat", "cat"])
    html = matrix_html(counts)
    shades = [float(shade) for shade in re.findall(r"rgba\(0, 114, 178, ([0-9.]+)\)", html)]
    assert shades == pytest.approx([0.65 * share for share in (0.75, 0.25, 0.5, 0.5)], abs=0.006)
    texts = [text for text in Reader(html).texts if text.strip()]
    assert texts[:3] == ["true", "cat", "cat"]
    assert texts[3:6] == [HOSTILE[0], "3", "1"]


def test_long_and_wide_tables_are_cut_and_say_so() -> None:
    rows, columns = MOST_ROWS + 1, MOST_COLUMNS + 25
    html = excerpt_html(pd.DataFrame(np.zeros((rows, columns))))
    reader = Reader(html)
    assert reader.tags.count("td") == MOST_ROWS * MOST_COLUMNS
    assert reader.texts[-1] == "and 1 more row and 25 more columns"
    assert "more" not in excerpt_html(pd.DataFrame({"a": range(MOST_ROWS)}))
    assert matrix_html(pd.DataFrame(np.ones((rows, columns), int))).count("<td") == MOST_ROWS * MOST_COLUMNS


@pytest.mark.parametrize("name", HOSTILE)
def test_every_text_is_escaped_wherever_it_stands(name: str) -> None:
    labels = pd.Index([name], dtype=object, name=name)
    frame = pd.DataFrame([[name]], labels, pd.Index([name], dtype=object), dtype=object)
    for html in (table_html(frame), text_html(name), facts_html({name: name})):
        reader = Reader(html)
        seen = [text for text in reader.texts if text.strip()]
        assert len(set(seen)) == 1
        assert "\x1b" not in seen[0]
        if name in HOSTILE[:2]:
            assert seen[0] == name


def test_values_become_plain_whatever_they_are() -> None:
    content = plain(
        {
            "tensor": torch.tensor([1.0, torch.inf]),
            "scalar": np.float64(0.5),
            "whole": np.int64(3),
            "path": Path("a"),
            7: {3, 1},
            "none": None,
            "yes": True,
        }
    )
    assert json.loads(json.dumps(content)) == {
        "tensor": [1.0, None], "scalar": 0.5, "whole": 3, "path": "a", "7": [1, 3], "none": None, "yes": True,
    }  # fmt: skip
