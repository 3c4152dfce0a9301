"""Single units and parts in the Networks view: found by name, taken out, and a composite as parts by outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import dovetail as dt
from dovetail.specialists import Composite, open_file
from dovetail.specialists.composite import compose_quietly
from dovetail.studio.networks.finding import MOST_FOUND, find_units
from dovetail.studio.networks.grouping import group_units
from dovetail.studio.networks.parts_matrix import parts_matrix
from dovetail.studio.networks.reading import read_network
from dovetail.studio.networks.taking_out import without_module, without_unit

from .bench_parts import save_team
from .conftest import ClientOf
from .sculptures import save_run


@pytest.fixture
def composite(parts_folder: Path) -> Composite:
    return dt.compose([open_file(file) for file in sorted(parts_folder.glob("*.safetensors"))])


def test_strengths_are_norms_of_the_last_weights(composite: Composite) -> None:
    found = parts_matrix(composite)
    assert found is not None
    assert found.parts == found.outputs == list("0123456789")
    for row, member in enumerate(composite.specialists):
        weights = member.state_dict()["output.weight"].numpy()  # outputs by hidden units
        less = weights - weights.mean(0)
        np.testing.assert_allclose(found.strengths[row], np.sqrt((less**2).sum(1)), atol=1e-4)
        assert np.argmax(found.strengths[row]) == row
        assert found.own[row] == [name in member.known for name in composite.classes]


def test_parts_with_lists_of_their_own_have_nothing_to_say_of_other_classes(composite: Composite) -> None:
    digits = dt.load("digits")
    keep = digits.train.y < 2
    own = dt.Split(digits.train.x[keep], digits.train.y[keep])
    new = dt.Dataset("digits", own, own, own, classes=("a", "b"))
    more = dt.train_specialists(new, "mlp:40", slots=True, epochs=1, progress=False)
    found = parts_matrix(dt.compose([*composite.specialists[:2], *more]))
    assert found is not None
    by_part = dict(zip(found.parts, found.strengths, strict=True))
    assert by_part["a"][found.outputs.index("5")] == 0
    assert by_part["0"][found.outputs.index("a")] == 0
    assert by_part["a"][found.outputs.index("a")] > 0


def test_averaged_logits_have_a_matrix_though_no_drawing(client: ClientOf, tmp_path: Path) -> None:
    compose_quietly(save_team(tmp_path, count=3), "logits").save(tmp_path / "three.safetensors")
    answer = client(tmp_path).get("/api/networks/open", params={"file": "three.safetensors"}).json()
    assert answer["drawing"] is None
    assert answer["parts"]["parts"] == ["0", "1", "2"]
    assert len(answer["parts"]["strengths"][0]) == 10


def test_layers_are_groups_of_all_their_units(tmp_path: Path) -> None:
    network = read_network(save_run(tmp_path / "run"))
    groups = group_units(network, "layers")
    assert groups.names == ["inputs", "hidden 1", "outputs"]
    assert [len(units) for units in groups.modules] == network.widths
    assert all(output.broken for output in without_module(network, groups, 1).outputs)


def test_units_are_found_by_all_words_and_whole_numbers(tmp_path: Path) -> None:
    network = read_network(save_run(tmp_path / "run"))
    assert [one.name for one in find_units(network, "y2").found] == ["y2"]
    assert [(one.layer, one.unit) for one in find_units(network, "Hidden 1, unit 2").found] == [(1, 1)]
    assert find_units(network, "dense1").found[0].name == "hidden 1 (dense1)"
    many = find_units(network, "unit")
    assert len(many.found) == 24
    assert not many.more
    assert find_units(network, "  ").found == find_units(network, "nobody").found == []


def test_of_many_units_the_first_are_named(tmp_path: Path) -> None:
    torch.save(torch.nn.Linear(50, 3).state_dict(), tmp_path / "wide.pt")
    found = find_units(read_network(tmp_path / "wide.pt"), "x")
    assert len(found.found) == MOST_FOUND
    assert found.more


def test_a_unit_is_taken_out_as_if_nothing_read_it(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    torch.save(model.state_dict(), tmp_path / "plain.pt")
    network = read_network(tmp_path / "plain.pt")
    found = without_unit(network, (1, 2))
    assert network.yardstick is not None
    x = network.yardstick(None).x  # type: ignore[arg-type]
    with torch.no_grad():
        before = model(x)
        hidden = model[1](model[0](x))
        hidden[:, 2] = 0
        after = model[2](hidden)
    moves = (after - before).square().mean(0).sqrt() / (before - before.mean(0)).square().mean(0).sqrt()
    assert [output.after for output in found.outputs] == pytest.approx(moves.tolist(), rel=1e-4)
    assert found.units == "Set to 0: 1 hidden."


@pytest.mark.parametrize(("layer", "unit"), [(9, 0), (1, 24)])
def test_a_unit_that_is_not_there_is_said(client: ClientOf, tmp_path: Path, layer: int, unit: int) -> None:
    save_run(tmp_path / "run")
    wish = {"file": "run/seed0.safetensors", "layer": layer, "unit": unit}
    answer = client(tmp_path).post("/api/networks/without-unit", json=wish)
    assert answer.status_code == 404
    assert "there is no unit" in answer.json()["error"]
