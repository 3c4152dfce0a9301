"""Sculpting as users call it: what comes out, what it is given, and what is refused."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt
from safetensors.torch import save_file
from torch import nn

import dovetail as dt
from dovetail.errors import DovetailError, FileFormatError, ShapeError, SpecError, TrainingError
from dovetail.sculpting import compare, open_sculpture, sculpt_seeds
from dovetail.sculpting.pruning.problem import problem_of
from dovetail.sculpting.pruning.start import read_network
from dovetail.sculpting.search_end import SearchEnd, sparsest

mpl.use("Agg")
FEW = {"unit_steps": [0.5, 0.25], "edge_steps": [0.02], "progress": False, "device": "cpu"}


@pytest.fixture(scope="module")
def sculpture() -> dt.Sculpture:
    return dt.sculpt([4, 2, 4], [16], seed=0, **FEW)  # type: ignore[arg-type]


def test_a_separable_task_falls_into_its_two_modules(sculpture: dt.Sculpture) -> None:
    task = dt.boolean_task([4, 2, 4])
    assert sculpture.outcome == "sculpted"
    assert sculpture.accuracy == 1
    assert compare(sculpture.hierarchy, task).whole
    right = (sculpture.network(task.x) > 0) == (task.y > 0.5)
    assert bool(right.all())
    assert sculpture.edges == sum(int(mask.sum()) for mask in sculpture.masks.values() if mask.dim() == 2)
    assert sculpture.density == sculpture.edges / (4 * 16 + 16 * 4)
    for name, parameter in sculpture.network.named_parameters():
        assert not bool(parameter[~sculpture.masks[name]].any())


def test_the_history_shrinks_from_dense_to_the_result(sculpture: dt.Sculpture) -> None:
    phases = [step.phase for step in sculpture.history]
    assert phases == sorted(phases, key=["dense", "units", "edges"].index)
    edges = [step.edges for step in sculpture.history]
    assert edges[0] == 128
    assert edges[-1] == sculpture.edges
    assert edges == sorted(edges, reverse=True)
    assert all(step.wrong == 0 for step in sculpture.history)


def test_the_grid_says_how_many_tied(sculpture: dt.Sculpture) -> None:
    assert sculpture.grid is not None
    assert sculpture.grid.shape == (2, 1)
    assert int(sculpture.grid.min()) == sculpture.edges
    assert sculpture.tied == int((sculpture.grid == sculpture.edges).sum())


def test_a_seed_gives_the_same_again(sculpture: dt.Sculpture) -> None:
    again = dt.sculpt([4, 2, 4], "16", seed=0, **FEW)  # type: ignore[arg-type]
    for one, other in zip(sculpture.network.parameters(), again.network.parameters(), strict=True):
        assert torch.equal(one, other)


def test_ties_go_to_the_lowest_loss() -> None:
    ends = zip([5, 4, 4, 4], [0.0, 0.3, 0.1, 0.1], strict=True)
    assert sparsest([SearchEnd(None, None, loss, torch.arange(edges)) for edges, loss in ends]) == 2


def test_a_file_brings_everything_back(sculpture: dt.Sculpture, tmp_path: Path) -> None:
    again = open_sculpture(sculpture.save(tmp_path / "sculpture.safetensors"))
    assert again.describe() == sculpture.describe()
    assert again.history == sculpture.history
    assert again.hierarchy == sculpture.hierarchy
    assert again.masks.keys() == sculpture.masks.keys()
    assert all(torch.equal(again.masks[name], sculpture.masks[name]) for name in sculpture.masks)
    assert all(
        torch.equal(a, b)
        for a, b in zip(again.network.parameters(), sculpture.network.parameters(), strict=True)
    )


def test_other_files_are_refused(sculpture: dt.Sculpture, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="no file"):
        open_sculpture(tmp_path / "nothing")
    save_file({"weight": torch.zeros(2, 2)}, tmp_path / "foreign.safetensors")
    with pytest.raises(FileFormatError, match="schema"):
        open_sculpture(tmp_path / "foreign.safetensors")
    whole = sculpture.save(tmp_path / "sculpture.safetensors").read_bytes()
    (tmp_path / "cut.safetensors").write_bytes(whole[:-40])
    with pytest.raises(FileFormatError, match="cannot be read"):
        open_sculpture(tmp_path / "cut.safetensors")
    (tmp_path / "other.safetensors").write_bytes(
        whole.replace(b'\\"widths\\": [4, 16, 4]', b'\\"widths\\": [4, 17, 4]')
    )
    with pytest.raises(FileFormatError, match="cannot be read"):
        open_sculpture(tmp_path / "other.safetensors")


def test_pictures_can_be_drawn(sculpture: dt.Sculpture) -> None:
    axes = sculpture.plot_history()
    legend = axes.get_legend()
    assert legend is not None
    assert {text.get_text() for text in legend.get_texts()} == {"edges", "hidden units"}
    edges = next(line for line in axes.lines if line.get_label() == "edges").get_ydata()
    assert list(np.asarray(edges)) == [step.edges for step in sculpture.history]
    assert sculpture.plot() is not None
    plt.close("all")


def test_a_dense_network_below_the_threshold_is_a_clear_outcome() -> None:
    sculpture = dt.sculpt([4, 2, 4], [4], epochs=1, lr=1e-4, **FEW)  # type: ignore[arg-type]
    assert sculpture.outcome == "not learned"
    assert sculpture.accuracy < 1
    assert sculpture.history == ()
    assert "train it longer" in sculpture.describe()


def test_a_network_with_nothing_to_prune_stays_as_it_is() -> None:
    network = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    hand_made = {
        "0.weight": [[2.0, 2.0], [2.0, 2.0]],
        "0.bias": [0.0, -2.0],
        "2.weight": [[4.0, -8.0]],
        "2.bias": [-4.0],
    }
    network.load_state_dict({name: torch.tensor(values) for name, values in hand_made.items()})
    sculpture = dt.sculpt("y1 = x1 ^ x2", network=network, **FEW)  # type: ignore[arg-type]
    assert sculpture.outcome == "unpruned"
    assert sculpture.density == 1
    assert len(sculpture.history) == 1


def test_a_network_that_is_sculpted_stays_in_the_modes_it_was_in() -> None:
    network = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Dropout(0.5), nn.Linear(6, 1)).train()
    network[2].eval()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    read_network(network, problem_of("y1 = x1 ^ x2"))
    assert [module.training for module in network.modules()] == [True, True, True, False, True]
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())


def test_constant_outputs_and_inputs_that_do_not_matter_are_set_aside() -> None:
    sculpture = dt.sculpt("y1 = 1; y2 = x1 & x3; y3 = x2 & 0", [12], **FEW)  # type: ignore[arg-type]
    unused = {unit for unit in sculpture.hierarchy.unused if unit[0] in (0, 2)}
    assert unused == {(0, 1), (2, 0), (2, 2)}
    assert len(sculpture.hierarchy.modules) == 1


def test_a_task_that_needs_no_hidden_unit_loses_all() -> None:
    sculpture = dt.sculpt("y1 = 1; y2 = x1 & 0", [6], **FEW)  # type: ignore[arg-type]
    assert sculpture.outcome == "sculpted"
    assert sculpture.edges == 0
    assert sculpture.hierarchy.modules == ()


def test_a_truth_table_and_formulas_are_the_same_task() -> None:
    by_table = dt.sculpt(np.array([[0], [1], [1], [0]]), [8], epochs=40, **FEW)  # type: ignore[arg-type]
    by_formula = dt.sculpt("y1 = x1 ^ x2", [8], epochs=40, **FEW)  # type: ignore[arg-type]
    assert by_table.edges == by_formula.edges
    assert by_table.accuracy == by_formula.accuracy == 1


def test_only_one_phase_can_be_asked_for() -> None:
    units = dt.sculpt([4, 2, 4], [16], **{**FEW, "edge_steps": []})  # type: ignore[arg-type]
    edges = dt.sculpt([4, 2, 4], [16], **{**FEW, "unit_steps": []})  # type: ignore[arg-type]
    assert {step.phase for step in units.history} == {"dense", "units"}
    assert {step.phase for step in edges.history} == {"dense", "edges"}
    assert units.edge_step is None
    assert edges.unit_step is None
    inputs, *hidden, outputs = units.units
    assert units.edges == inputs * hidden[0] + hidden[0] * outputs


def test_data_with_classes_can_be_sculpted_from_its_own_accuracy() -> None:
    data = dt.load("digits")
    (sculpture,) = sculpt_seeds(
        data, [24], [0], unit_steps=[0.5], edge_steps=[0.1], epochs=12, batch_size=32, lr=0.01, progress=False
    )
    assert sculpture.outcome == "sculpted"
    x, y = data.val.x.flatten(1), data.val.y
    accuracy = float((sculpture.network(x).argmax(1) == y).double().mean())
    assert accuracy == pytest.approx(sculpture.accuracy)
    assert sculpture.accuracy >= sculpture.threshold > 0.5
    assert sculpture.edges < 64 * 24 + 24 * 10


def trained_network(task: dt.BooleanTask) -> nn.Sequential:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 4))
    adam = torch.optim.Adam(network.parameters(), lr=0.05)
    for _ in range(300):
        adam.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(network(task.x), task.y).backward()
        adam.step()
    return network


def test_a_trained_network_is_where_sculpting_starts() -> None:
    task = dt.boolean_task([4, 2, 4])
    network = trained_network(task)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    sculpture = dt.sculpt(task, network=network, **FEW)  # type: ignore[arg-type]
    assert sculpture.outcome == "sculpted"
    assert sculpture.widths == (4, 20, 4)
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())


def test_networks_that_are_no_perceptrons_are_refused() -> None:
    task = dt.boolean_task([4, 2, 4])
    for network, problem in (
        (nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4)), "plain perceptron"),
        (nn.Linear(4, 4), "hidden layer"),
    ):
        with pytest.raises(SpecError, match=problem):
            dt.sculpt(task, network=network, **FEW)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="3 inputs"):
        dt.sculpt(task, network=nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4)), **FEW)  # type: ignore[arg-type]


def test_biases_of_a_given_network_may_start_at_zero() -> None:
    task = dt.boolean_task([4, 2, 4])
    network = dt.build_net("mlp:20,dropout=0,output_bias=true,init=kaiming-normal", (4,), 4, seed=0)
    sculpture = dt.sculpt(task, network=network, **FEW)  # type: ignore[arg-type]
    assert sculpture.outcome == "sculpted"
    assert any(bool(p.any()) for name, p in sculpture.network.named_parameters() if name.endswith("bias"))


class _Backwards(nn.Module):
    """Layers that are defined last first."""

    def __init__(self) -> None:
        super().__init__()
        self.last, self.middle, self.first = nn.Linear(6, 4), nn.Linear(6, 6), nn.Linear(4, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.last(self.middle(self.first(x).relu()).relu())
        return out


def test_a_given_network_is_read_in_the_order_of_its_use() -> None:
    network = _Backwards()
    read = read_network(network, problem_of([4, 2, 4]))
    x = torch.rand(5, 4)
    torch.testing.assert_close(read.logits(x)[0], network(x))


def test_what_cannot_be_pruned_further_is_not_called_sculpted(sculpture: dt.Sculpture) -> None:
    again = dt.sculpt([4, 2, 4], network=sculpture.network, **FEW)  # type: ignore[arg-type]
    assert again.history[0].edges == sculpture.edges
    assert again.outcome == ("sculpted" if again.edges < sculpture.edges else "unpruned")


def test_a_network_at_chance_has_not_learned() -> None:
    for lr in (1e-12, 1e30):
        sculpture = dt.sculpt(dt.load("digits"), [8], lr=lr, epochs=1, **FEW)  # type: ignore[arg-type]
        assert sculpture.outcome == "not learned"
        assert "constant answer" in sculpture.describe()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"unit_steps": [0]}, "unit_steps"),
        ({"edge_steps": [2]}, "edge_steps"),
        ({"threshold": 1.5}, "threshold"),
        ({"noise": -1}, "noise"),
        ({"lr": -1}, "lr"),
        ({"epochs": 2.5}, "epochs"),
        ({"epochs": 0}, "epochs"),
        ({"lr": 0}, "lr"),
        ({"threshold": "1"}, "threshold"),
        ({"weight_decay": None}, "weight_decay"),
        ({"merge_threshold": 2}, "merge_threshold"),
        ({"hidden": []}, "hidden"),
        ({"hidden": [0]}, "0"),
        ({"device": "tpu"}, "tpu"),
    ],
)
def test_bad_options_are_named(options: dict[str, object], problem: str) -> None:
    with pytest.raises(DovetailError, match=problem):
        dt.sculpt("y1 = x1", **{**FEW, **options})  # type: ignore[arg-type]


def test_bad_tasks_are_named() -> None:
    with pytest.raises(SpecError, match=r"dovetail\.load"):
        dt.sculpt("digits", **FEW)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="values"):
        dt.sculpt(dt.load("polynomials", samples=50), **FEW)  # type: ignore[arg-type]
    with pytest.raises(DovetailError):
        dt.sculpt([[0, 1], [1, 2]], **FEW)  # type: ignore[arg-type]
    with pytest.raises(TrainingError, match="seed"):
        sculpt_seeds("y1 = x1", [4], [])
