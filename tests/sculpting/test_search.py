"""The search: compact networks, and pruning in lockstep against one network at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from dovetail.data.split import Split
from dovetail.population import Adam
from dovetail.sculpting.pruning.compact import Compact
from dovetail.sculpting.pruning.grid import _train_again, errors_allowed, search_grid
from dovetail.sculpting.pruning.perceptrons import Perceptrons
from dovetail.sculpting.pruning.problem import Problem, problem_of
from dovetail.sculpting.pruning.proposals import EdgeProposal, UnitProposal, sensitivity
from dovetail.sculpting.pruning.repeated_trainer import RepeatedTrainer, TrainingSettings
from dovetail.sculpting.pruning.search import Found, search

WIDTHS = (4, 6, 5, 3)


def random_stack(members: int, seed: int = 0, widths: tuple[int, ...] = WIDTHS) -> Perceptrons:
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    layers = list(pairwise(widths))
    return Perceptrons.from_matrices(
        [draw(members, units, before) * (2 / before) ** 0.5 for before, units in layers],
        [0.1 * draw(members, units) for _, units in layers],
    )


def prune_at_random(stack: Perceptrons, seed: int) -> Compact:
    """Take some units of every member away."""
    generator = torch.Generator().manual_seed(seed)
    kept = stack.kept
    weights, biases = stack.weights(kept), stack.biases(kept)
    for place, units in enumerate(stack.widths[1:-1]):
        stays = torch.rand(len(stack), units, generator=generator) > 0.5
        stays[:, 0] = True
        weights[place] &= stays[:, :, None]
        weights[place + 1] &= stays[:, None, :]
        biases[place] &= stays
    stack.clear()
    return Compact.whole(stack)


@given(st.integers(0, 1000))
def test_a_compact_network_computes_the_same_and_expands_to_the_same(seed: int) -> None:
    whole = prune_at_random(random_stack(4, seed), seed)
    compact = whole.tightened()
    x = torch.randn(9, 4, dtype=torch.float64)
    assert compact.stack.edges <= whole.stack.edges
    assert torch.allclose(compact.stack.logits(x), whole.stack.logits(x))
    again = compact.expanded()
    assert torch.equal(again.values, whole.stack.values)
    edges = whole.stack.edges
    assert torch.equal(again.kept[:, :edges], whole.stack.kept[:, :edges])


def test_the_same_is_proposed_for_a_compact_network() -> None:
    whole = prune_at_random(random_stack(5), 1)
    compact = whole.tightened()
    split = Split(torch.randn(8, 4).double(), torch.randint(0, 2, (8, 3)).double())
    shares = torch.tensor([0.3, 0.5, 0.6, 0.7, 0.9], dtype=torch.float64)
    for proposal in (UnitProposal(split), EdgeProposal()):
        assert torch.equal(proposal.gone(whole), proposal.gone(compact))
        expected = whole.stack.weights(proposal(whole, shares))
        small = Compact(
            Perceptrons(compact.stack.widths, compact.stack.values, proposal(compact, shares)),
            compact.places,
            WIDTHS,
        ).expanded()
        for one, other in zip(small.weights(small.kept), expected, strict=True):
            assert torch.equal(one, other)


def test_edges_go_by_magnitude_one_at_a_time() -> None:
    members = Compact.whole(random_stack(1))
    step = EdgeProposal().smallest(WIDTHS)
    for gone in (1, 2, 7, 68):
        kept = EdgeProposal()(members, torch.tensor([gone * step], dtype=torch.float64))[:, :69]
        order = members.stack.values[0, :69].abs().argsort()
        assert kept[0, order].tolist() == [False] * gone + [True] * (69 - gone)


def xor_problem() -> Problem:
    problem = problem_of("y1 = x1 ^ x2; y2 = x1 & x2")
    return Problem(
        problem.name,
        problem.train.to(dtype=torch.float64),
        problem.val.to(dtype=torch.float64),
        "bits",
        1.0,
        0.1,
        2,
    )


HOW = TrainingSettings(30, 4, Adam(lr=0.05, weight_decay=1e-4), noise=0.1)


def run_search(stack: Perceptrons, seeds: list[int], steps: list[float], kind: str) -> Found:
    problem = xor_problem()
    proposal = UnitProposal(problem.val) if kind == "units" else EdgeProposal()
    return search(
        stack, seeds, torch.tensor(steps, dtype=torch.float64), proposal, phase=kind, problem=problem,
        how=HOW, allowed=torch.zeros(len(stack), dtype=torch.int64), stream=7,
        on_round=lambda *_: None,
    )  # fmt: skip


def trained(seeds: list[int]) -> Perceptrons:
    problem = xor_problem()
    stack = random_stack(len(seeds), seed=3, widths=(2, 8, 6, 2))
    trainer = RepeatedTrainer(stack, seeds, problem.train, problem.val, HOW)
    for stream in range(5):
        best = trainer.train(stream)
    assert not bool(best.wrong.any())
    return stack


@pytest.mark.parametrize("kind", ["units", "edges"])
def test_lockstep_finds_what_each_finds_alone(kind: str) -> None:
    seeds, steps = [0, 1, 0, 2], [0.5, 0.3, 0.1, 0.5]
    stack = trained(seeds)
    together = run_search(stack.select(torch.arange(4)), seeds, steps, kind)
    for place in range(4):
        alone = run_search(stack.select(torch.tensor([place])), [seeds[place]], [steps[place]], kind)
        # Biases of units without edges do nothing; they may be cut off sooner or later.
        edges = slice(stack.edges)
        assert torch.equal(alone.networks.kept[0, edges], together.networks.kept[place, edges])
        ours, theirs = together.networks.values[place, edges], alone.networks.values[0, edges]
        assert torch.allclose(ours, theirs, atol=1e-6)
        assert [(s.units, s.edges, s.wrong) for s in alone.steps[0]] == [
            (s.units, s.edges, s.wrong) for s in together.steps[place]
        ]


def unit_scores(network: Perceptrons, problem: Problem) -> list[np.ndarray]:
    """Return mean abs(dL/da * a) of each hidden unit, by autograd."""
    activations, out = [], problem.val.x
    layers = list(zip(network.weights(), network.biases(), strict=True))
    for place, (weight, bias) in enumerate(layers):
        out = out @ weight[0].T + bias[0]
        if place < len(layers) - 1:
            out = out.relu().requires_grad_()
            out.retain_grad()
            activations.append(out)
    torch.nn.functional.binary_cross_entropy_with_logits(out, problem.val.y).backward()
    return [(a.grad * a).abs().mean(0).detach().numpy() for a in activations if a.grad is not None]


def propose_plainly(network: Perceptrons, share: float, kind: str) -> None:
    """Prune a network in place as the paper says, with numpy's percentile."""
    if kind == "edges":
        magnitudes = network.values[0, : network.edges].abs().numpy()
        network.kept[0, : network.edges] &= torch.from_numpy(magnitudes > np.quantile(magnitudes, share))
        for weight, bias in list(
            zip(network.weights(network.kept), network.biases(network.kept), strict=True)
        )[:-1]:
            for unit in range(weight.shape[1]):
                if not weight[0, unit].any():
                    bias[0, unit] = False
        return
    scores = unit_scores(network, xor_problem())
    threshold = np.quantile(np.concatenate(scores), share)
    weights, biases = network.weights(network.kept), network.biases(network.kept)
    for place, score in enumerate(scores):
        stays = torch.from_numpy(score > threshold)
        weights[place] &= stays[:, None]
        weights[place + 1] &= stays[None, :]
        biases[place] &= stays


def plain_search(network: Perceptrons, seed: int, step: float, kind: str) -> tuple[Tensor, int]:
    """Prune one network as the paper's Algorithms 1 and 2 say; return its edges and how many trainings it took."""
    problem, edges, trainings = xor_problem(), network.edges, 0
    units = sum(network.widths[1:-1])
    smallest = 1 / (units if kind == "units" else edges)
    share = 1 - int(network.kept[0, :edges].sum()) / edges if kind == "edges" else 0.0
    step = max(step, smallest)
    while True:
        further = share + step
        tried = Perceptrons(network.widths, network.values.clone(), network.kept.clone())
        propose_plainly(tried, further, kind)
        trainings += 1
        best = RepeatedTrainer(tried, [seed], problem.train, problem.val, HOW).train(7 + trainings)
        if int(best.wrong[0]) == 0:
            network, share = tried, further
        elif step <= smallest:
            return network.kept[0, :edges], trainings
        else:
            step = max(step / 2, smallest)


@pytest.mark.parametrize("kind", ["units", "edges"])
@pytest.mark.parametrize("step", [0.02, 0.1, 0.4])
def test_the_search_is_the_papers_algorithm(kind: str, step: float) -> None:
    stack = trained([5])
    found = run_search(stack.select(torch.arange(1)), [5], [step], kind)
    kept, trainings = plain_search(stack, 5, step, kind)
    assert torch.equal(found.networks.kept[0, : stack.edges], kept)
    assert found.trainings == trainings


def test_edges_start_at_what_pruned_units_left(monkeypatch: pytest.MonkeyPatch) -> None:
    units = run_search(trained([5]), [5], [0.4], "units").networks
    assert bool((~units.kept[:, : units.edges]).any())
    stacks: list[Perceptrons] = []

    def trainer(stack: Perceptrons, *rest: Any) -> RepeatedTrainer:
        stacks.append(stack)
        return RepeatedTrainer(stack, *rest)

    monkeypatch.setattr("dovetail.sculpting.pruning.search.RepeatedTrainer", trainer)
    found = run_search(units.select(torch.arange(1)), [5], [0.1], "edges")
    assert stacks[0].widths == Compact.whole(units).tightened().stack.widths != units.widths
    kept, trainings = plain_search(units, 5, 0.1, "edges")
    assert torch.equal(found.networks.kept[0, : units.edges], kept)
    assert found.trainings == trainings


def test_sensitivity_in_parts_is_that_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    members = Compact.whole(random_stack(3))
    split = Split(torch.randn(200, 4).double(), torch.randint(0, 2, (200, 3)).double())
    whole = members.stack.sensitivity(split.x, split.y)
    monkeypatch.setattr("dovetail.sculpting.pruning.proposals._AT_ONCE", 1)
    for part, expected in zip(sensitivity(members, split), whole, strict=True):
        assert torch.allclose(part, expected)


def test_what_is_found_does_the_task_and_pruned_weights_are_zero() -> None:
    seeds = [0, 1]
    found = run_search(trained(seeds), seeds, [0.5, 0.2], "units")
    problem = xor_problem()
    wrong, _ = found.networks.measure(problem.val.x, problem.val.y)
    assert wrong.tolist() == [0, 0]
    assert not bool(found.networks.values[~found.networks.kept].any())
    assert all(len(steps) > 0 for steps in found.steps)
    for steps in found.steps:
        units = [step.units for step in steps]
        assert units == sorted(units, reverse=True)


def test_cells_that_share_a_step_for_units_share_their_units() -> None:
    problem, seeds = xor_problem(), [0, 1]
    searches = search_grid(
        random_stack(2, widths=(2, 8, 2)), seeds, problem, HOW, unit_steps=[0.5, 0.25], edge_steps=[0.1, 0.05, 0.02],
        trained=False, on_round=lambda *_: None,
    )  # fmt: skip
    for found in searches:
        assert len(found.networks) == len(found.steps) == 6
        for first in (0, 3):
            units = [[s for s in steps if s.phase == "units"] for steps in found.steps[first : first + 3]]
            assert units[0] == units[1] == units[2]


def test_units_without_an_edge_coming_in_lose_their_bias_and_outputs_keep_it() -> None:
    stack = random_stack(1, widths=(2, 3, 2))
    stack.values[0, :2] = 0.001  # the first hidden unit's weights
    weights, biases = stack.weights(stack.values), stack.biases(stack.values)
    weights[1][0, 0] = 0.001  # and those of the first output
    biases[0][:], biases[1][:] = 1.0, 1.0
    kept = EdgeProposal()(Compact.whole(stack), torch.tensor([5 / 12], dtype=torch.float64))
    assert [row.tolist() for row in stack.biases(kept)] == [[[False, True, True]], [[True, True]]]


def test_each_cell_has_random_numbers_of_its_own_and_trains_again_before_edges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, list[int]]] = []

    class Watched(RepeatedTrainer):
        def __init__(self, stack: Perceptrons, seeds: list[int], *rest: Any) -> None:
            super().__init__(stack, seeds, *rest)
            self.given = seeds

        def train(self, stream: int) -> Any:
            asked.append((stream, self.given))
            return super().train(stream)

    for module in ("grid", "search"):
        monkeypatch.setattr(f"dovetail.sculpting.pruning.{module}.RepeatedTrainer", Watched)
    search_grid(
        random_stack(2, widths=(2, 8, 2)), [0, 1], xor_problem(), HOW, unit_steps=[0.5, 0.25], edge_steps=[0.1, 0.05],
        trained=False, on_round=lambda *_: None,
    )  # fmt: skip
    streams = dict(reversed(asked))
    again = streams[900_000]
    assert len(again) == len(set(again)) == 4  # a seed and a step for units
    order = [stream for stream, _ in asked]
    assert order == sorted(order), "units, then all once more, then edges"
    cells = streams[1_000_001]
    assert len(cells) == len(set(cells)) == 8


def test_a_network_that_fails_when_it_trains_again_goes_on_as_it_was() -> None:
    stack, problem = trained([5]), xor_problem()
    hopeless = replace(HOW, optimizer=Adam(lr=50.0))
    after, scores = _train_again(stack, [5], problem, hopeless, torch.tensor([0]))
    assert torch.equal(after.values, stack.values)
    assert scores == [{}]
    after, (score,) = _train_again(stack, [5], problem, HOW, torch.tensor([0]))
    assert not torch.equal(after.values, stack.values)
    wrong, loss = after.measure(problem.val.x, problem.val.y)
    assert score == {"wrong": int(wrong[0]), "loss": pytest.approx(float(loss[0]))}


@pytest.mark.parametrize("in_one_batch", [True, False])
def test_where_one_batch_holds_all_samples_the_last_of_the_best_epochs_is_kept(in_one_batch: bool) -> None:
    """Decay makes the loss worse from epoch to epoch here, and changes no answer."""
    problem = xor_problem()
    size = len(problem.train) - (not in_one_batch)
    how = TrainingSettings(5, size, Adam(lr=1e-3, weight_decay=5.0))
    stacks = {epochs: trained([5]) for epochs in (1, 5)}
    for epochs, stack in stacks.items():
        trainer = RepeatedTrainer(stack, [5], problem.train, problem.val, replace(how, epochs=epochs))
        assert int(trainer.train(0).wrong[0]) == 0
    assert torch.equal(stacks[1].values, stacks[5].values) != in_one_batch
    if in_one_batch:
        steps = (trained([5]).values - stacks[5].values).abs().max()
        assert 4e-3 < float(steps) < 6e-3  # five steps away


@given(st.floats(0.01, 1), st.integers(1, 5000))
def test_errors_allowed_are_as_many_as_the_threshold_lets_through(threshold: float, answers: int) -> None:
    allowed = errors_allowed(threshold, answers)
    assert (answers - allowed) / answers >= threshold - 1e-9
    assert allowed == answers or (answers - allowed - 1) / answers < threshold + 1e-9
