"""Checks of what the pruning functions are given, and the one spelling of each complaint."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from ..errors import ShapeError, SpecError, TrainingError, unknown_name


def check_masks(tensors: Mapping[str, torch.Tensor], masks: Mapping[str, torch.Tensor]) -> None:
    """Raise unless every mask is boolean and has the shape of the tensor of its name."""
    for name, mask in masks.items():
        if name not in tensors:
            raise unknown_name("tensor with a mask", name, tensors)
        if mask.dtype != torch.bool:
            raise ShapeError(f"the mask of {name!r} must be torch.bool; got {mask.dtype}")
        if mask.shape != tensors[name].shape:
            raise ShapeError(
                f"the mask of {name!r} has shape {tuple(mask.shape)}, its tensor {tuple(tensors[name].shape)}"
            )


def check_finite(tensors: Mapping[str, torch.Tensor]) -> None:
    """Raise when a tensor holds NaN or infinity, which have no place in any ranking."""
    for name, tensor in tensors.items():
        if not bool(tensor.isfinite().all()):
            raise TrainingError(
                f"{name!r} holds NaN or infinite values and cannot be ranked; did training diverge? "
                f"Try a smaller step size"
            )


def check_share(what: str, value: float) -> None:
    """Raise unless a share is a number in [0, 1]."""
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise SpecError(f"{what} must be a number between 0 and 1; got {value!r:.80}")


def member_count(tensors: Mapping[str, torch.Tensor]) -> int:
    """Return the common leading dimension of a population's tensors."""
    counts = {name: tensor.shape[0] if tensor.dim() else 0 for name, tensor in tensors.items()}
    if len(set(counts.values())) != 1:
        raise ShapeError(f"the tensors of a population need the same number of members; got {counts}")
    return next(iter(counts.values()))
