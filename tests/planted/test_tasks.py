"""Task networks learn their tasks, in the parts that are declared."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dovetail.errors import SpecError
from dovetail.planted import KnownNetwork, agreement_with, task_networks
from dovetail.planted.tasks import joint_task


def between(known: KnownNetwork, name: str, before: str) -> torch.Tensor:
    """Return the weights of a layer between units of two parts, but for those on wires."""
    after, first = known.owners[name], known.owners[before]
    wired = np.array([[(one, other) in known.wires for one in first] for other in after])
    apart = (after[:, None] != first) & ~wired
    found: torch.Tensor = known.network.state_dict()[f"{name}.weight"][torch.from_numpy(apart)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("parts", "least"), [("separate", 0.99), ("shared", 0.9)])
def test_tasks_are_learned_in_parts(parts: str, least: float) -> None:
    known = task_networks(parts, [0, 1])[0]  # type: ignore[arg-type]
    task = joint_task(parts, 3)  # type: ignore[arg-type]
    right = ((known.network(task.x) > 0) == (task.y > 0.5)).float().mean()
    assert right > least
    for name, before in (("0", "input"), ("2", "0"), ("4", "2")):
        assert not between(known, name, before).any()


def test_formulas_read_their_own_inputs_and_the_shared_part() -> None:
    separate, shared = joint_task("separate", 3), joint_task("shared", 3)
    assert (separate.inputs, separate.outputs, shared.inputs, shared.outputs) == (9, 6, 8, 6)
    both = (shared.x[:, 6] != shared.x[:, 7]).float()
    for task in range(3):
        # Outputs of a task follow from its own two inputs and the shared result alone.
        keys = torch.stack([shared.x[:, 2 * task], shared.x[:, 2 * task + 1], both], 1)
        for output in (2 * task, 2 * task + 1):
            values = {
                tuple(key): set(shared.y[(keys == key).all(1), output].tolist()) for key in keys.unique(dim=0)
            }
            assert all(len(found) == 1 for found in values.values())


def test_noise_comes_between_parts_alone() -> None:
    plain, noisy = (
        task_networks(seeds=[0], units=4, epochs=2, strength=strength)[0] for strength in (1.0, 0.8)
    )
    for name, before in (("0", "input"), ("2", "0"), ("4", "2")):
        one, other = (known.network.state_dict()[f"{name}.weight"] for known in (plain, noisy))
        same = torch.from_numpy(plain.owners[name][:, None] == plain.owners[before])
        assert torch.equal(one[same], other[same])
        ratio = float(between(noisy, name, before).std() / one[same].std())
        assert 0.1 < ratio < 0.3
        assert not between(plain, name, before).any()


def test_labels_are_of_the_graph() -> None:
    (known,) = task_networks("shared", [0], tasks=2, units=4, epochs=1)
    labels = known.labels(known.graph())
    assert agreement_with(labels, labels).units == 6 + 12 + 8 + 4
    assert known.modules == ("task 1", "task 2", "shared")
    assert known.wires == {(2, 0), (2, 1)}


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(SpecError, match="unknown parts 'share'; did you mean 'shared'"):
        task_networks("share")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="from 2 to 4 tasks"):
        task_networks(tasks=9)
    with pytest.raises(SpecError, match="strength is from 0 to 1"):
        task_networks(strength=-1)
