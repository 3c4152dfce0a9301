"""A sculpture that several tests look at, made once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import dovetail as dt


@cache
def sculpture() -> dt.Sculpture:
    """Return a sculpture of [4,2,4], in which both modules are found: {x1, x2, y1, y2} and {x3, x4, y3, y4}."""
    return dt.sculpt([4, 2, 4], [24], unit_steps=[0.25], edge_steps=[0.05], seed=0, progress=False)


def save_run(folder: Path) -> Path:
    """Write what ``dovetail sculpt -o FOLDER`` writes, as far as the studio reads it."""
    folder.mkdir(parents=True)
    (folder / "seed0.json").write_text(sculpture().hierarchy.to_json())
    return sculpture().save(folder / "seed0.safetensors")
