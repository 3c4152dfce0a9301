"""Several fits with one optimizer, and fits that end with the last epoch in place of the best."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from dovetail.errors import SpecError, TrainingError
from dovetail.population import SGD, Adam, OptimizerState, Population, epoch_order, member_keys
from dovetail.prune import prune_by_magnitude

from .helpers import DEVICES, dropout_mlp, images, mlp


@pytest.mark.parametrize("device", DEVICES)
def test_one_adam_through_pruning_and_rewinding_is_that_of_a_plain_loop(device: str) -> None:
    split = images(50, dtype=torch.float64)
    population = Population(mlp, [3, 4], device=device, dtype=torch.float64)
    state = OptimizerState()
    for stream in range(2):
        population.rewind()
        population.fit(
            split,
            epochs=3,
            batch_size=16,
            optimizer=Adam(0.01),
            optimizer_state=state,
            stream=stream,
            progress=False,
        )
        if stream == 0:
            population.set_masks(prune_by_magnitude(population.params, rate=0.5, population=True))

    for place, seed in enumerate([3, 4]):
        network = Population(mlp, [seed], device="cpu", dtype=torch.float64).member(0)
        network.train()
        start = {name: p.detach().clone() for name, p in network.named_parameters()}
        masks = {name: torch.ones_like(p) for name, p in start.items()}
        adam = torch.optim.Adam(network.parameters(), lr=0.01)
        for stream in range(2):
            with torch.no_grad():
                for name, p in network.named_parameters():
                    p.copy_(start[name] * masks[name])
            for epoch in range(3):
                for rows in epoch_order(member_keys([seed], stream), epoch, 50)[0].split(16):
                    adam.zero_grad()
                    F.cross_entropy(network(split.x[rows]), split.y[rows]).backward()
                    adam.step()
                    with torch.no_grad():
                        for name, p in network.named_parameters():
                            p.mul_(masks[name])
            if stream == 0:
                found = prune_by_magnitude({n: p.detach() for n, p in network.named_parameters()}, rate=0.5)
                masks = {name: mask.double() for name, mask in found.items()}
        for name, p in network.named_parameters():
            torch.testing.assert_close(
                population.params[name][place].cpu(), p.detach(), rtol=1e-9, atol=1e-11
            )
    assert state.steps.tolist() == [24, 24]


@pytest.mark.parametrize("device", DEVICES)
def test_members_that_stop_early_take_their_own_state_along(device: str) -> None:
    """In company members stop at different epochs, and go on from there as they would alone."""
    split, val = images(120, dtype=torch.float64), images(60, seed=1, dtype=torch.float64)
    ends, steps = {}, {}
    for name, seeds in (("company", list(range(6))), ("alone", [4])):
        population = Population(dropout_mlp, seeds, device=device, dtype=torch.float64)
        state = OptimizerState()
        for stream in range(2):
            population.rewind()
            history = population.fit(
                split, val, epochs=15, batch_size=16, patience=1, optimizer=Adam(0.02), optimizer_state=state,
                keep="last", stream=stream, progress=False,
            )  # fmt: skip
            if name == "company" and stream == 0:
                assert len(history.epochs.unique()) > 1, "all stop together, so this would show nothing"
        ends[name] = {key: tensor[seeds.index(4)] for key, tensor in population.params.items()}
        steps[name] = int(state.steps[seeds.index(4)])
    assert steps["company"] == steps["alone"]
    for key, tensor in ends["company"].items():
        torch.testing.assert_close(tensor, ends["alone"][key], rtol=1e-9, atol=1e-12)


def test_the_last_epoch_is_the_one_where_patience_ended() -> None:
    split, val = images(120), images(60, seed=1)
    patient = Population(mlp, [0, 1, 2], device="cpu")
    history = patient.fit(
        split, val, epochs=30, patience=2, optimizer=Adam(0.02), keep="last", progress=False
    )
    assert (history.epochs < 30).any()
    assert torch.equal(history.kept_epoch, history.epochs - 1)
    for place, epochs in enumerate(history.epochs.tolist()):
        plain = Population(mlp, [place], device="cpu")
        plain.fit(split, epochs=epochs, optimizer=Adam(0.02), progress=False)
        for name, tensor in plain.params.items():
            torch.testing.assert_close(patient.params[name][place], tensor[0], rtol=1e-5, atol=1e-6)


def test_another_optimizer_cannot_go_on() -> None:
    population, state = Population(mlp, [0], device="cpu"), OptimizerState()
    population.fit(images(20), epochs=1, optimizer_state=state, progress=False)
    with pytest.raises(TrainingError, match=r"another optimizer.*begin with OptimizerState\(\)"):
        population.fit(images(20), epochs=1, optimizer=SGD(), optimizer_state=state, progress=False)
    with pytest.raises(TrainingError, match="other networks"):
        Population(mlp, [0, 1], device="cpu").fit(images(20), epochs=1, optimizer_state=state, progress=False)
    with pytest.raises(SpecError, match="best"):
        population.fit(images(20), epochs=1, keep="first", progress=False)  # type: ignore[arg-type]
