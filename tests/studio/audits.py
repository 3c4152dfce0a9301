"""What tests of audits share: networks in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor


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
