"""What specialists share so that their weights can be added."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from ..nets import NetBuilder, NetSpec, net_builder


@dataclass(frozen=True)
class Basis:
    """The network, the classes and the temperature: the same for all that are composed.

    Attributes
    ----------
    net : NetSpec
        The architecture.
    input_shape : tuple of int
        Shape of one sample.
    classes : tuple of str
        What each output stands for.
    temperature : float
        What logits are divided by, in training and afterwards.
    """

    net: NetSpec
    input_shape: tuple[int, ...]
    classes: tuple[str, ...]
    temperature: float

    @property
    def text(self) -> str:
        """All of it as text, the same in every version of the library."""
        return json.dumps([str(self.net), self.input_shape, self.classes, self.temperature])

    @property
    def builder(self) -> NetBuilder:
        """Makes networks of this architecture."""
        return net_builder(self.net, self.input_shape, len(self.classes))


def hash_tensors(tensors: Mapping[str, Tensor]) -> str:
    """Return a hash of names, types, shapes and values.

    Examples
    --------
    >>> hash_tensors({"w": torch.zeros(2)}) == hash_tensors({"w": torch.zeros(3)})
    False
    """
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:32]
