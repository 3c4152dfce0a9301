"""What tests of audits share: networks in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from dovetail.studio.audit.job import run


def planted(blocks: int = 3, units: int = 6) -> dict[str, Tensor]:
    """Return the weights of a perceptron that falls into clusters."""
    rng = np.random.default_rng(0)
    layer = np.kron(np.eye(blocks), np.ones((units, units)))
    return {
        f"fc{number}.weight": torch.tensor(layer * rng.random(layer.shape) + 0.05 * rng.random(layer.shape))
        for number in range(1, 4)
    }


def audit_folder(folder: Path, *, blocks: int = 3, units: int = 6) -> Path:
    """Write the weights of a network that falls into clusters into a folder, as ``planted.safetensors``."""
    save_file(planted(blocks, units), folder / "planted.safetensors")
    return folder


def save_audit(folder: Path, name: str, *, seed: int = 0) -> dict[str, Any]:
    """Audit the network of `audit_folder` into a folder of that one, and return what is saved there."""
    asked = {"file": "planted.safetensors", "k": 3, "shuffles": 5, "seed": seed, "output": name}
    settings = {"asked": asked, "path": str(folder / "planted.safetensors"), "output": str(folder / name)}
    audit: dict[str, Any] = run(settings, lambda *_: None)["audit"]
    return audit
