"""Refuse at the border what could only fail later, naming the value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..data.dataset import Split, is_finite
from ..errors import ShapeError, TrainingError, unknown_name
from .stack import Tensors

if TYPE_CHECKING:
    from .plan import Training


def check_training(
    training: Training, train: Split, val: Split | None, *, batch_norm: bool, subsets: Sequence[Tensor] | None
) -> None:
    """Refuse a fit that cannot work."""
    for name, value in (("epochs", training.epochs), ("batch_size", training.batch_size)):
        if value < 1:
            raise TrainingError(f"{name} must be at least 1, not {value}")
    if val is None and (
        training.patience is not None or training.goal is not None or training.monitor != "loss"
    ):
        raise TrainingError("patience, goal and monitor need a validation split; pass val=")
    if training.patience is not None and training.patience < 1:
        raise TrainingError(f"patience must be at least 1 epoch, not {training.patience}")
    if training.monitor not in {"loss", *training.metrics}:
        raise unknown_name("score to monitor", training.monitor, ["loss", *training.metrics])
    if batch_norm and subsets is not None:
        raise TrainingError(
            "subsets fill up short batches, which would enter batch-norm statistics; leave one out"
        )
    if batch_norm and len(train) % training.batch_size == 1:
        raise TrainingError(
            f"{len(train)} samples in batches of {training.batch_size} leave a last batch of one, on which batch norm "
            f"is undefined; use another batch_size, e.g. {training.batch_size + 1}"
        )


def check_split(split: Split, what: str) -> Split:
    """Refuse an empty split and inputs that are not numbers."""
    if not len(split):
        raise TrainingError(f"the {what} split has no samples")
    if not split.x.is_floating_point():
        raise TrainingError(f"inputs must be floating point, not {split.x.dtype}; scale them first")
    if not is_finite(split.x):
        raise TrainingError(f"inputs of the {what} split hold NaN or infinity; clean them first")
    return split


def check_fits_outputs(target: Tensor, outputs: int) -> None:
    """Refuse targets that a network with so many outputs cannot have."""
    if target.is_floating_point():
        if target.dim() != 2 or target.shape[1] != outputs:
            raise ShapeError(f"targets of shape {tuple(target.shape)}, but the network has {outputs} outputs")
        return
    if target.dim() != 1:
        raise ShapeError(f"class ids must be a vector, one per sample, not {tuple(target.shape)}")
    low, high = (int(extreme) for extreme in target.aminmax())
    if low < 0 or high >= outputs:
        raise ShapeError(f"class ids from {low} to {high}, but the network has {outputs} outputs")


def check_masks(masks: Mapping[str, Tensor], params: Tensors) -> Tensors:
    """Return masks as bool tensors stacked like the parameters."""
    checked = {}
    for name, mask in masks.items():
        if name not in params:
            raise unknown_name("parameter", name, params)
        param = params[name]
        if mask.shape not in (param.shape, param.shape[1:]):
            raise ShapeError(
                f"mask of {name!r} has shape {tuple(mask.shape)}; it must be {tuple(param.shape)}, "
                f"or {tuple(param.shape[1:])} for all members alike"
            )
        kept = mask.to(param.device)
        if not bool(((kept == 0) | (kept == 1)).all()):
            raise ShapeError(f"mask of {name!r} must hold only 0 and 1")
        checked[name] = kept.bool().expand(param.shape).clone()
    return checked


def check_member_values(values: Mapping[str, Tensor], members: int, device: torch.device) -> Tensors:
    """Return per-member values as tensors on the device, one row per member."""
    checked = {}
    for name, value in values.items():
        tensor = torch.as_tensor(value).to(device)
        if tensor.dim() == 0 or len(tensor) != members:
            raise ShapeError(
                f"{name!r} has shape {tuple(tensor.shape)}; it needs a first dimension of {members}, one row per member"
            )
        checked[name] = tensor
    return checked


def check_targets(targets: Tensor | None, split: Split, members: int, device: torch.device) -> Tensor | None:
    """Return the members' own targets on the device, one per member and sample."""
    if targets is None:
        return None
    if targets.dim() < 2 or tuple(targets.shape[:2]) != (members, len(split)):
        raise ShapeError(
            f"targets have shape {tuple(targets.shape)}; they need {members} members × {len(split)} samples"
        )
    return targets.to(device)


def check_subsets(
    subsets: Sequence[Tensor] | None, samples: int, members: int, device: torch.device
) -> list[Tensor] | None:
    """Return each member's sample numbers on the device."""
    if subsets is None:
        return None
    if len(subsets) != members:
        raise ShapeError(f"{len(subsets)} subsets for {members} members")
    checked = [torch.as_tensor(subset).to(device) for subset in subsets]
    for member, subset in enumerate(checked):
        if subset.dtype == torch.bool or subset.dim() != 1:
            raise ShapeError(
                f"subset of member {member} must be a vector of sample numbers; use mask.nonzero()"
            )
        if not len(subset):
            raise TrainingError(f"member {member} has no samples to train on")
        if int(subset.min()) < 0 or int(subset.max()) >= samples:
            raise ShapeError(f"subset of member {member} names a sample outside 0 to {samples - 1}")
    return checked
