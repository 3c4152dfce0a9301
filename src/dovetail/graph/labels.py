"""Tensors that hold a label for each entry of another: mostly copies of few labels, kept as views."""

from __future__ import annotations

import torch
from torch import Tensor


def narrowed(*labels: Tensor) -> tuple[Tensor, ...]:
    """Return labels of one shape with one place along dimensions along which they all are mere copies.

    Examples
    --------
    >>> narrowed(torch.arange(3)[:, None].expand(3, 100))[0].shape
    torch.Size([3, 1])
    """
    for dim in range(labels[0].dim()):
        if all(tensor.stride(dim) == 0 for tensor in labels):
            labels = tuple(tensor.narrow(dim, 0, 1) for tensor in labels)
    return labels


def compact(labels: Tensor) -> Tensor:
    """Return labels as a view with stride 0 along dimensions along which they do not change."""
    shape = labels.shape
    for dim in range(labels.dim()):
        first = labels.narrow(dim, 0, 1)
        if labels.stride(dim) == 0 or torch.equal(labels, first.expand_as(labels)):
            labels = first
    return labels.expand(shape)
