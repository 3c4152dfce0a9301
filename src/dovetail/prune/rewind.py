"""Masks put into force: pruned entries become exactly zero, whatever they held before."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from .checks import check_masks


def apply_masks(
    tensors: Mapping[str, torch.Tensor], masks: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Return the tensors with zeros where their masks are False; those without a mask stay as they are.

    Examples
    --------
    >>> weights = {"w": torch.tensor([1.0, float("nan")]), "b": torch.tensor([2.0])}
    >>> apply_masks(weights, {"w": torch.tensor([True, False])})
    {'w': tensor([1., 0.]), 'b': tensor([2.])}
    """
    check_masks(tensors, masks)
    # Choosing, not multiplying: 0 * inf and 0 * NaN are NaN, and 0 * -1 is a negative zero.
    return {
        name: torch.where(masks[name], tensor, tensor.new_zeros(())) if name in masks else tensor
        for name, tensor in tensors.items()
    }


def apply_masks_(tensors: Mapping[str, torch.Tensor], masks: Mapping[str, torch.Tensor]) -> None:
    """Zero the masked entries of the tensors in place; call it after every optimizer step.

    Examples
    --------
    >>> layer = torch.nn.Linear(3, 1, bias=False)
    >>> apply_masks_(dict(layer.named_parameters()), {"weight": torch.zeros(1, 3, dtype=torch.bool)})
    >>> layer.weight.tolist()
    [[0.0, 0.0, 0.0]]
    """
    check_masks(tensors, masks)
    with torch.no_grad():
        for name, mask in masks.items():
            tensors[name].masked_fill_(~mask, 0)


def rewind(initial: Mapping[str, torch.Tensor], masks: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the initial tensors with only what the masks keep: where the next pruning round starts.

    Tensors without a mask return to their initial values whole. The result shares no memory with `initial`,
    so training it leaves `initial` as it is.

    Examples
    --------
    >>> rewind({"w": torch.tensor([0.5, -0.25])}, {"w": torch.tensor([False, True])})
    {'w': tensor([ 0.0000, -0.2500])}
    """
    return {
        name: tensor if name in masks else tensor.clone()
        for name, tensor in apply_masks(initial, masks).items()
    }
