"""Masks: which weights of a network may be other than zero, and how to choose them.

Everything here is a pure function, mostly from mappings ``name -> tensor`` to mappings ``name -> tensor``. With
``population=True`` the tensors carry a leading dimension, one entry for each member, and every member gets
exactly what it would get on its own. A mask is a ``torch.bool`` tensor of the shape of the tensor it belongs
to; True means kept. Pruning never brings a weight back.
"""

from __future__ import annotations

from .density import density
from .magnitude import prune_by_magnitude
from .percentile import above_percentile
from .rates import cubic_sparsity, rate_per_round
from .rewind import apply_masks, apply_masks_, rewind
from .slots import slot_masks

__all__ = [
    "above_percentile",
    "apply_masks",
    "apply_masks_",
    "cubic_sparsity",
    "density",
    "prune_by_magnitude",
    "rate_per_round",
    "rewind",
    "slot_masks",
]
