"""What is promised of repeating: the same call gives the same bits, a stopped command ends as one that was not."""

from __future__ import annotations

from pathlib import Path

import torch

import dovetail as dt
from dovetail.sculpting import open_sculpture, sculpt_seeds

from ..test_commands import run

# A seed that is sculpted alone ends in other bits here than beside the other three.
OPTIONS = ("--hidden", "16-16", "--unit-steps", "50", "--edge-steps", "5", "--device", "cpu", "--seeds", "4")
FEW = {"unit_steps": [0.5], "edge_steps": [0.05], "progress": False, "device": "cpu"}


def same(one: dt.Sculpture, other: dt.Sculpture) -> bool:
    tensors = zip(one.network.state_dict().items(), other.network.state_dict().items(), strict=True)
    return one.history == other.history and all(a == b and torch.equal(x, y) for (a, x), (b, y) in tensors)


def test_a_call_gives_the_same_bits_again() -> None:
    one, other = (sculpt_seeds([4, 2, 4], "16-16", range(4), **FEW) for _ in range(2))  # type: ignore[arg-type]
    assert all(map(same, one, other))


def test_with_others_beside_it_a_seed_starts_as_it_would_alone() -> None:
    together = sculpt_seeds([4, 2, 4], "16-16", range(4), **FEW)  # type: ignore[arg-type]
    for seed, found in enumerate(together):
        alone = dt.sculpt([4, 2, 4], "16-16", seed=seed, **FEW)  # type: ignore[arg-type]
        assert abs(found.history[0].loss - alone.history[0].loss) < 1e-9
        assert found.outcome == alone.outcome == "sculpted"


def test_a_command_that_was_stopped_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    run("sculpt", "[4,2,4]", *OPTIONS, "-o", tmp_path)
    before = {seed: open_sculpture(tmp_path / f"seed{seed}.safetensors") for seed in range(4)}
    for seed in (0, 2):
        (tmp_path / f"seed{seed}.safetensors").unlink()
    run("sculpt", "[4,2,4]", *OPTIONS, "-o", tmp_path)
    assert all(same(before[seed], open_sculpture(tmp_path / f"seed{seed}.safetensors")) for seed in range(4))
