"""Explanations: formulas that are held against the network, signals between modules, and units that are no bits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import dovetail as dt
from dovetail.errors import DataError, ShapeError, SpecError
from dovetail.sculpting import Explanation, explain, open_sculpture
from dovetail.sculpting.explaining.two_groups import two_groups

FEW = {"unit_steps": [0.3, 0.5], "edge_steps": [0.02], "progress": False, "device": "cpu"}


def network_of(*layers: tuple[list[list[float]], list[float]]) -> nn.Sequential:
    found: list[nn.Module] = []
    for weights, biases in layers:
        dense = nn.Linear(len(weights[0]), len(weights))
        with torch.no_grad():
            dense.weight.copy_(torch.tensor(weights))
            dense.bias.copy_(torch.tensor(biases))
        found += [dense, nn.ReLU()]
    return nn.Sequential(*found[:-1])


def table(inputs: int) -> torch.Tensor:
    return dt.boolean_task(f"y1 = x{inputs}").x


def assert_right(explanation: Explanation, network: nn.Module, x: torch.Tensor, names: list[str]) -> None:
    """Compute each output's formula of inputs with Python's operators, and compare with the network."""
    columns = dict(zip(names, x.bool().numpy().T, strict=True))
    with torch.no_grad():
        bits = (network(x) > 0).numpy()
    for place, output in enumerate(explanation.outputs):
        assert output.formula_of_inputs is not None
        values = np.broadcast_to(np.asarray(eval(output.formula_of_inputs, {}, columns), bool), len(x))
        assert (values == bits[:, place]).all(), output.name


def test_a_bit_of_units_that_are_none_is_found() -> None:
    """Two units that count make an xor, which one output reads with a third input: ``(x1 ^ x2) & x3``."""
    network = network_of(
        ([[1, 1, 0], [1, 1, 0], [0, 0, 1]], [0, -1, 0]),
        ([[1, -2, 1]], [-1]),
        ([[2], [-2]], [-1, 1]),
    )
    found = explain(network, table(3), whole=True)
    assert [output.formula for output in found.outputs] == ["(x1 ^ x2) & x3", "~((x1 ^ x2) & x3)"]
    count = found["h1_1"]
    assert (count.boolean, count.levels, count.formula) == (False, 3, "x1 | x2")
    assert count.share == pytest.approx(2 / 3)
    assert count.weighted == "relu(x1 + x2)"
    assert (found["h1_2"].boolean, found["h1_2"].formula) == (True, "x1 & x2")
    assert found.reproduced == found.samples == 8


def planted_with_signals() -> tuple[nn.Sequential, dt.Hierarchy]:
    """Return a network whose first module tells a second one an xor, by two units of which one is no bit."""
    network = network_of(
        ([[1, 1, 0], [1, 1, 0], [0, 0, 1]], [0, -1, 0]),
        ([[1, -2, 1], [1, -2, -1]], [-1, 0]),
        ([[1, 0], [0, 1]], [-0.5, -0.5]),
    )
    edges = tuple(layer.weight.detach().numpy() != 0 for layer in network if isinstance(layer, nn.Linear))
    first = frozenset({(0, 0), (0, 1), (1, 0), (1, 1)})
    rest = frozenset({(0, 2), (1, 2), (2, 0), (2, 1), (3, 0), (3, 1)})
    return network, dt.Hierarchy(
        edges, (), (first, rest), input_names=("a", "b", "c"), output_names=("both", "only")
    )


def test_what_a_module_tells_is_a_signal_with_a_name_in_formulas() -> None:
    network, hierarchy = planted_with_signals()
    found = explain(network, table(3), hierarchy=hierarchy, whole=True)
    (signal,) = found.signals
    assert (signal.name, signal.formula, signal.to, signal.share) == ("M1", "a ^ b", ("h2_1", "h2_2"), 1.0)
    assert [output.formula for output in found.outputs] == ["c & M1", "~c & M1"]
    assert [output.formula_of_inputs for output in found.outputs] == ["(a ^ b) & c", "(a ^ b) & ~c"]
    assert found.outputs[0].of == ("c", "M1")
    assert found.outputs[0].table == "0001"
    assert "tells h2_1, h2_2 M1 = a ^ b" in found.describe()
    assert "These formulas alone give all outputs of the network on 8 of 8 inputs." in str(found)


def test_a_signal_that_is_a_number_gives_way_to_what_it_is_made_of() -> None:
    network, hierarchy = planted_with_signals()
    with torch.no_grad():
        network.get_parameter("2.weight")[:, 1] = 0.0  # what is told now is how many of a and b are 1
    found = explain(network, table(3), hierarchy=hierarchy, whole=True)
    assert not found.signals[0].boolean
    assert "tells h2_1, h2_2" not in found.describe()
    assert found.signals[0].says() == "tells h2_1 a number (3 levels; two groups have 67 % of its variance)"
    assert_right(found, network, table(3), ["a", "b", "c"])


@pytest.mark.parametrize("seed", range(3))
def test_formulas_of_any_network_are_what_it_computes(seed: int) -> None:
    torch.manual_seed(seed)
    last = nn.Linear(4, 3)
    network = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 4), nn.ReLU(), last)
    with torch.no_grad():
        last.bias.copy_(-network(table(5)).mean(0))  # so that no output is always the same
    found = explain(network, table(5), whole=True)
    assert_right(found, network, table(5), [f"x{number}" for number in range(1, 6)])
    assert found.reproduced == 32


def test_a_sculpture_explains_itself_with_its_names(tmp_path: Path) -> None:
    sculpture = dt.sculpt("carry = a & b; s = a ^ b", [6], **FEW)  # type: ignore[arg-type]
    found = sculpture.explain()
    assert [(output.name, output.formula) for output in found.outputs] == [("carry", "a & b"), ("s", "a ^ b")]
    assert sculpture.input_names == ("a", "b")
    assert "a" in {text.get_text() for text in sculpture.plot().texts}
    again = open_sculpture(sculpture.save(tmp_path / "adder.safetensors"))
    assert again.explain().to_dict() == found.to_dict()
    assert (again.truth_table, again.answers) == (True, "bits")


def test_a_sculpture_for_data_is_explained_on_samples() -> None:
    draws = np.random.default_rng(1)
    colour, size = draws.choice(["red", "blue"], 200), draws.choice(["big", "small"], 200)
    kind = np.where((colour == "red") ^ (size == "big"), "cat", "dog")
    frame = pd.DataFrame({"colour": colour, "size": size, "kind": kind})
    data = dt.Dataset.from_frame(frame, "kind")
    sculpture = dt.sculpt(data, [8], unit_steps=0.5, edge_steps=0.1, epochs=60, lr=0.02, progress=False)
    with pytest.raises(DataError, match=r"sculpture\.explain\(data\)"):
        sculpture.explain()
    assert sculpture.explanation is None
    found = sculpture.explain(data)
    assert not found.whole
    assert found.samples == len(data.train) + len(data.val) == found.reproduced
    cat = found["cat"]
    assert cat.formula is not None
    assert cat.formula.count("^") == 1
    assert set(cat.of) <= set(sculpture.input_names or ())
    assert "[colour=red]" in cat.formula or "[colour=blue]" in cat.formula


def test_numbers_have_no_formulas_but_are_said() -> None:
    network = network_of(([[1, -0.5, 0], [0, 2, 1]], [0.25, 0]), ([[1, 0], [1, 1]], [-1, -1]))
    found = explain(network, torch.randn(200, 3, generator=torch.Generator().manual_seed(0)))
    assert found.reproduced is None
    assert all(function.formula is None for function in (*found.outputs, *found.units))
    assert "No formula was found for y1, y2." in found.describe()
    assert [unit.weighted for unit in found.units] == ["relu(x1 - 0.5 x2 + 0.25)", "relu(2 x2 + x3)"]
    assert not any(unit.boolean for unit in found.units)
    classes = explain(network, torch.randn(200, 3), answers="classes")
    assert (classes.outputs[0].formula, classes.whole) == (None, False)


def test_all_forms_of_an_explanation() -> None:
    sculpture = dt.sculpt([6, 3, 3, 3], [12], **FEW)  # type: ignore[arg-type]
    found = sculpture.explain()
    frame = found.to_frame()
    assert len(frame) == len(found.outputs) + len(found.signals) + len(found.units)
    plain = json.loads(found.to_json())
    assert [output["formula"] for output in plain["outputs"]] == [output.formula for output in found.outputs]
    assert plain["reproduced"] == plain["samples"] == 64
    legend = found.plot().get_legend()
    assert legend is not None
    assert any("y1 = " in text.get_text() for text in legend.get_texts())
    assert "<" in found._repr_html_()


def test_outputs_that_never_change_are_said_to() -> None:
    sculpture = dt.sculpt("y1 = x1 & x2; y2 = x1 | ~x1", [6], **FEW)  # type: ignore[arg-type]
    found = sculpture.explain()
    assert [output.formula for output in found.outputs] == ["x1 & x2", "1"]
    assert found.reproduced == 4


def test_what_cannot_be_explained_is_refused() -> None:
    network = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    with pytest.raises(ShapeError, match=r"samples are \[samples, 2\]"):
        explain(network, torch.zeros(4, 3))
    with pytest.raises(DataError, match="finite"):
        explain(network, torch.full((4, 2), torch.nan))
    with pytest.raises(SpecError, match="not a plain perceptron"):
        explain(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)), table(2))
    other = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
    with pytest.raises(ShapeError, match="2-3-1"):
        explain(other, table(2), hierarchy=dt.detect_modules(network))
    hard = dt.sculpt("y1 = x1 ^ x2", [1], epochs=1, **FEW)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="nothing to explain"):
        hard.explain()


def test_two_groups_are_the_best_of_all_cuts() -> None:
    draws = np.random.default_rng(0)
    for _ in range(20):
        values = np.round(draws.normal(size=9), 1)
        found = two_groups(values)
        within = [
            sum(((part - part.mean()) ** 2).sum() for part in (values[values <= cut], values[values > cut]))
            for cut in np.unique(values)[:-1]
        ]
        total = ((values - values.mean()) ** 2).sum()
        assert found.share == pytest.approx(1 - min(within) / total)
        assert found.levels == len(np.unique(values))
    assert two_groups(np.full(4, 3.0)).constant
