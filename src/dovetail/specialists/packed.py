"""A sparse tensor as its kept values and their positions: how a specialist is held and stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

State = dict[str, Tensor]
"""A network's parameters and buffers by name."""


@dataclass(frozen=True, eq=False)
class Packed:
    """A tensor of which only some entries are kept.

    Attributes
    ----------
    values : Tensor
        The kept entries in row-major order; the whole tensor when ``positions`` is None.
    positions : Tensor or None
        Their places in the flattened tensor, int32, ascending.
    shape : torch.Size
        Shape of the tensor.

    Examples
    --------
    >>> packed = pack(torch.tensor([[0.0, 2.0], [0.0, 0.0]]), torch.tensor([[False, True], [False, True]]))
    >>> packed.values, packed.positions
    (tensor([2., 0.]), tensor([1, 3], dtype=torch.int32))
    >>> packed.dense()
    tensor([[0., 2.],
            [0., 0.]])
    """

    values: Tensor
    positions: Tensor | None
    shape: torch.Size

    @property
    def kept(self) -> int:
        """Number of entries that are kept."""
        return self.values.numel()

    def dense(self) -> Tensor:
        """Return the tensor, with zeros where nothing is kept."""
        if self.positions is None:
            return self.values.clone()
        flat = self.values.new_zeros(self.shape.numel())
        flat[self.positions.long()] = self.values
        return flat.reshape(self.shape)

    def mask(self) -> Tensor:
        """Return which entries are kept."""
        if self.positions is None:
            return torch.ones(self.shape, dtype=torch.bool)
        flat = torch.zeros(self.shape.numel(), dtype=torch.bool)
        flat[self.positions.long()] = True
        return flat.reshape(self.shape)

    def sparse(self) -> Tensor:
        """Return the tensor in torch's sparse COO layout, or as it is when all of it is kept."""
        if self.positions is None:
            return self.values.clone()
        index = torch.unravel_index(self.positions.long(), self.shape)
        return torch.sparse_coo_tensor(torch.stack(index), self.values, self.shape, check_invariants=False)


def pack(tensor: Tensor, mask: Tensor | None = None) -> Packed:
    """Return the entries of a tensor that a mask keeps, on the CPU; all of them without a mask."""
    tensor = tensor.detach().cpu()
    if mask is None or bool(mask.all()):
        return Packed(tensor.clone().contiguous(), None, tensor.shape)
    positions = mask.detach().cpu().flatten().nonzero().squeeze(1)
    return Packed(tensor.flatten()[positions], positions.int(), tensor.shape)


def dense_state(packed: Mapping[str, Packed]) -> State:
    """Return a network's tensors with zeros where nothing is kept."""
    return {name: part.dense() for name, part in packed.items()}
