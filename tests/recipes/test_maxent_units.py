"""Which work the recipes of the MaxEnt paper ask for."""

from __future__ import annotations

from typing import get_args

import pytest

from dovetail.data import catalogue
from dovetail.errors import DovetailError
from dovetail.nets import NetSpec
from dovetail.recipes import Unit, find_recipe, find_work, read_published
from dovetail.recipes.data import DATA_SIZES, load_named
from dovetail.recipes.maxent.condition import TRAINING, Condition, data_settings
from dovetail.recipes.published_values import PublishedFile
from dovetail.recipes.recipe import Scale
from dovetail.recipes.unit import canonical
from dovetail.specialists.settings import TrainingSettings
from dovetail.specialists.train import settled

RECIPES = (
    "table1", "table4", "complete-merge", "connectivity", "temperature", "pruning-ratio", "confusions", "width",
)  # fmt: skip


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("scale", get_args(Scale))
def test_units_are_unique_and_json(name: str, scale: Scale) -> None:
    units = find_recipe(name).units(scale)
    assert units
    assert len({unit.key for unit in units}) == len(units)
    assert all(canonical(unit.settings) for unit in units)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("table1", 20),  # ten cases, pruned and not
        ("table4", 156),  # 2 x 54 for images, 2 x 24 for HAR and Yeast
        ("complete-merge", 22),
        ("connectivity", 13),
        ("temperature", 4),
        ("pruning-ratio", 20),
        ("confusions", 23),
    ],
)
def test_paper_scale_has_all_conditions(name: str, count: int) -> None:
    assert len(find_recipe(name).units("paper")) == count


def test_width_pairs_every_network_with_generalists() -> None:
    units = find_recipe("width").units("paper")
    nets = {(u.settings["data"]["name"], u.settings["net"]) for u in units if u.work == "maxent/generalists"}
    teams = {
        (u.settings["data"]["name"], u.settings["train"]["net"])
        for u in units
        if u.work == "maxent/specialists"
    }
    assert len(nets) == 4 * 12 + 2 * 4
    assert {(data, NetSpec.parse(net)) for data, net in teams} == {
        (data, NetSpec.parse(net)) for data, net in nets
    }


def test_recipes_share_what_they_train() -> None:
    """Everything but the CNNs at 99 % that the complete merge, table 1 and temperature need is in table 4."""
    pairs = set(find_recipe("table4").units("paper"))
    assert set(find_recipe("table1").units("paper")) <= pairs
    assert len(set(find_recipe("complete-merge").units("paper")) - pairs) == 2
    assert len(set(find_recipe("temperature").units("paper")) - pairs) == 3
    everything = {unit for name in RECIPES[:-1] for unit in find_recipe(name).units("paper")}
    assert len(everything) == len(pairs) + 2 + 3 + 2 + 12


@pytest.mark.parametrize(("file", "recipe"), [("maxent_table1", "table1"), ("maxent_table4", "table4")])
def test_every_published_cell_is_covered(file: PublishedFile, recipe: str) -> None:
    printed = [row for row in read_published(file) if row["mean"]]
    found = [
        quantity
        for table in find_recipe(recipe).lines("paper")
        for line in table.lines
        for quantity in line.published.values()
        if quantity
    ]
    assert len(found) == len(printed) == {"maxent_table1": 36, "maxent_table4": 262}[file]
    assert sum(quantity.doubt for quantity in found) == sum(row.get("suspect") == "yes" for row in printed)


def test_small_or_changed_conditions_have_no_published_value() -> None:
    for changed in (
        Condition("smoke", "digits", "shallow"),
        Condition("paper", "mnist", "shallow", temperature=3.0),
        Condition("paper", "mnist", "shallow", sparsity=0.9),
        Condition("paper", "mnist", "shallow", net="mlp:240"),
        Condition("paper", "mnist", "shallow", net="mlp:512", slots=True),
    ):
        assert not changed.line(file="maxent_table4").published


def test_a_condition_that_names_the_papers_values_is_the_papers() -> None:
    named = Condition("paper", "mnist", "shallow", sparsity=0.99, temperature=5.0)
    assert named.unit == Condition("paper", "mnist", "shallow").unit


NOT_THE_PAPERS = (
    "weight_decay", "balanced", "augment", "sample_weights", "momentum", "nesterov", "schedule", "warmup",
    "label_smoothing", "clip_gradient", "autocast",
)  # fmt: skip


def test_training_settings_are_complete() -> None:
    """Every option of a training is said, so that a unit's key covers it."""
    for data, models in TRAINING.items():
        for model in models:
            for sparsity in (None, 0.0):
                train = Condition("paper", data, model, sparsity=sparsity).train
                filled_in = settled(TrainingSettings(**train)).model_dump()
                # What no paper has is left out, and off.
                assert not any(filled_in.pop(name) for name in NOT_THE_PAPERS)
                assert filled_in.pop("optimizer") == "adam"
                filled_in.pop("card_directions")  # of what is kept beside the weights
                # Without rounds there is no other Adam and no other epoch; the work says so itself.
                assert filled_in.keys() == train.keys() | (set() if train["sparsity"] else {"keep", "adam"})
                assert filled_in["sparsity"] == train["sparsity"]
                assert filled_in["rounds"] == (2 if train["sparsity"] else 0)


def test_the_papers_settings() -> None:
    cnn, har = Condition("paper", "mnist", "cnn").train, Condition("paper", "har", "deep").train
    assert (cnn["sparsity"], cnn["epochs"], cnn["round_epochs"], cnn["lr"]) == (0.6, 15, 7, 1e-3)
    assert (har["net"], har["epochs"], har["lr"]) == ("mlp:512-256,dropout=0", 25, 1e-4)


def test_inputs_adam_and_epochs_are_the_authors() -> None:
    pruned, dense = (
        Condition("paper", "fashion-mnist", "deep", sparsity=share).unit for share in (None, 0.0)
    )
    train = pruned.settings["train"]
    assert (train["net"], train["keep"], train["adam"]) == (
        "mlp:512-256,shift=0.1307,scale=0.3081", "last", "carried",
    )  # fmt: skip
    assert dense.settings["train"]["net"] == train["net"]
    assert pruned.before is not None
    assert pruned.before["train"] == {
        **{name: value for name, value in train.items() if name not in ("keep", "adam")}, "net": "mlp:512-256",
    }  # fmt: skip
    assert Condition("paper", "mnist", "shallow", net="mlp:512,shift=1,scale=0.5").unit.before is None
    yeast = Condition("paper", "yeast", "deep", sparsity=0.0).unit
    assert yeast.older_keys == [yeast.key], "what is as it was need not be done again"


def test_what_is_shared_measures_everything() -> None:
    settings = Condition("paper", "fashion-mnist", "shallow").unit.settings
    assert settings["methods"] == ["logits", "ties", "calibrated"]
    assert (settings["orders"], settings["confusions"], len(settings["pairs"])) == (10, True, 10)
    assert settings["paths"]["steps"]
    assert len(settings["paths"]["pairs"]) == 3
    assert settings["seeds"] == [0, 1, 2, 3, 4]
    assert settings["rewarded"] == [[number] for number in range(10)]


def test_large_sets_of_cnns_come_last() -> None:
    units = find_recipe("table4").units("paper")
    nets = [
        (unit.settings["train"]["net"].startswith("lenet"), len(unit.settings["rewarded"][0]))
        for unit in units
    ]
    first = nets.index((True, 1))
    assert not any(cnn for cnn, _ in nets[:first])
    assert nets[first:] == sorted(nets[first:])


@pytest.mark.parametrize("name", TRAINING)
def test_sizes_are_those_of_the_data(name: str) -> None:
    if {info.name: info for info in catalogue()}[name].kind == "files":
        found = {info.name: info for info in catalogue()}[name].found
        if found is None:
            pytest.skip(f"{name} is not here")
    data = load_named(data_settings(name))
    size = DATA_SIZES[name]
    assert (data.input_shape, data.outputs, len(data.train)) == (
        size.input_shape,
        size.outputs,
        size.training,
    )


def test_load_counts_members_and_steps() -> None:
    def load(condition: Condition) -> tuple[str, int, int]:
        found = find_work(condition.unit.work).workload(condition.unit.settings)
        return found.net, found.members, found.steps

    shallow = "mlp:512,shift=0.5,scale=0.5"
    assert load(Condition("paper", "mnist", "shallow")) == (shallow, 50, 40 * 750)
    assert load(Condition("paper", "mnist", "shallow", sparsity=0.0)) == (shallow, 50, 20 * 750)
    assert load(Condition("paper", "mnist", "cnn", 5, "xe")) == ("lenet,shift=0.5,scale=0.5", 100, 29 * 375)
    assert load(Condition("paper", "har", "shallow", net="mlp:480,dropout=0", slots=True)) == (
        "mlp:80,dropout=0", 30, 25 * 92,
    )  # fmt: skip
    generalists = next(u for u in find_recipe("width").units("paper") if u.work == "maxent/generalists")
    found = find_work(generalists.work).workload(generalists.settings)
    assert (found.net, found.members, found.steps) == ("mlp:240,shift=0.5,scale=0.5", 5, 20 * 750)


def test_works_are_known() -> None:
    with pytest.raises(DovetailError):
        Unit("maxent/nothing", {}).key  # noqa: B018
