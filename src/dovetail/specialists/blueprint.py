"""The blueprint of parts, and how weights become a network of it: packed as they are stored, or dense.

Parts with the same blueprint can be added.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import torch
from torch import Tensor, nn

from ..data.preparation import Features, Preparation
from ..data.preparation.numbers import as_array
from ..data.split import Split, is_finite
from ..errors import DataError, ShapeError
from ..nets import Net, NetBuilder, OwnNet, builder_of
from ..nets.own import Build, OwnBuilder

State = dict[str, Tensor]
"""A network's parameters and buffers by name."""


class Interface(ABC):
    """What a part takes and answers: samples of a shape, prepared in a way, and the names of classes.

    Attributes
    ----------
    input_shape : tuple of int
        Shape of one sample.
    classes : tuple of str
        What each output stands for.
    preparation : Preparation or None
        What turns raw samples into inputs, for data of one's own.
    """

    input_shape: tuple[int, ...]
    classes: tuple[str, ...]
    preparation: Preparation | None

    @property
    @abstractmethod
    def what(self) -> str:
        """What takes the samples, in words."""

    def check_inputs(self, x: object) -> Tensor:
        """Refuse what is no batch of inputs for a network of this blueprint."""
        if not isinstance(x, Tensor):
            raise DataError(f"inputs are a tensor of samples, not {type(x).__name__}; use torch.as_tensor")
        self.check_shape(x)
        if not len(x) or not is_finite(x):
            raise DataError(
                "inputs hold no sample" if not len(x) else "inputs hold NaN or infinity; clean them first"
            )
        return x

    def prepared(self, samples: object) -> Tensor:
        """Return samples as inputs of a network: those of a split as they are, all others as raw ones.

        Raises
        ------
        DataError
            When they are not like those that networks of this blueprint were trained on.
        """
        if isinstance(samples, Split):
            return self.check_inputs(samples.x)
        if self.preparation is not None:
            return self.check_inputs(self.preparation(samples))
        if not isinstance(samples, Tensor):
            samples = torch.from_numpy(as_array(samples).astype(np.float32, copy=False))
        if samples.dim() == 2 and samples.shape[1] == math.prod(
            self.input_shape
        ):  # pictures as rows of a table
            samples = samples.unflatten(1, self.input_shape)
        return self.check_inputs(samples)

    def check_shape(self, x: Tensor) -> None:
        """Refuse samples of another shape."""
        if not x.dim() or tuple(x.shape[1:]) != self.input_shape:
            way = "; give trunk.features(data).test, or data.test.x" if self._is_raw(x) else ""
            raise ShapeError(
                f"{self.what} takes samples of shape {self.input_shape}, not {tuple(x.shape[1:])}{way}"
            )

    def _is_raw(self, x: Tensor) -> bool:
        """Whether samples are such as a trunk takes, where features of it are wanted."""
        stands_on = self.preparation
        return isinstance(stands_on, Features) and tuple(x.shape[1:]) == stands_on.sample_shape


@dataclass(frozen=True)
class Blueprint(Interface):
    """The network, the classes and the temperature: the same for all that are composed.

    Attributes
    ----------
    net : NetSpec or OwnNet
        The architecture.
    input_shape : tuple of int
        Shape of one sample.
    classes : tuple of str
        What each output stands for.
    temperature : float
        What logits are divided by, in training and afterwards.
    preparation : Preparation or None
        What turns raw samples into inputs, for data of one's own.

    Examples
    --------
    >>> from dovetail.nets import NetSpec
    >>> blueprint = Blueprint(NetSpec.parse("mlp:8"), (4,), ("cat", "dog"), 5.0)
    >>> blueprint.parameter_names
    ('dense1.weight', 'dense1.bias', 'output.weight')
    """

    net: Net
    input_shape: tuple[int, ...]
    classes: tuple[str, ...]
    temperature: float
    preparation: Preparation | None = None

    @property
    def what(self) -> str:
        """The architecture."""
        return str(self.net)

    @property
    def text(self) -> str:
        """All of it as text, the same in every version of the library."""
        prepared = [] if self.preparation is None else [self.preparation.digest]
        return json.dumps([str(self.net), self.input_shape, self.classes, self.temperature, *prepared])

    @property
    def builder(self) -> NetBuilder | OwnBuilder:
        """Makes networks of this architecture."""
        return builder_of(self.net, self.input_shape, len(self.classes))

    @property
    def code(self) -> Build | None:
        """What makes the network, if it is one of the user's own: blueprints that are equal may differ in that."""
        return self.net.build if isinstance(self.net, OwnNet) else None

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Which of the tensors are parameters; the others are batch-norm statistics."""
        return tuple(name for name, _ in self.network().named_parameters())

    def network(self, state: Mapping[str, Tensor] | None = None) -> nn.Module:
        """Return a network with these weights in evaluation mode; without weights, only its shapes."""
        network = _copy(_shapes(self, self.code))
        if state is not None:
            _load(network, state)
        return network


@lru_cache(maxsize=64)
def _shapes(blueprint: Blueprint, code: Build | None) -> nn.Module:
    """Return a network without weights, to be copied and never given away: building it takes longer than using it."""
    if isinstance(blueprint.net, OwnNet):
        # Built for real: a network of one's own may hold tensors that are no weights, and that meta would lose.
        return blueprint.builder(seed=0).eval()
    with torch.device("meta"):
        return blueprint.builder().eval()


def _copy(network: nn.Module) -> nn.Module:
    """Return a network of modules of its own, with the same tensors until others are loaded.

    `copy.deepcopy` takes ten times as long, which is as long as a small network takes to be evaluated.
    """
    twin = network.__class__.__new__(network.__class__)
    vars(twin).update({name: v.copy() if isinstance(v, dict) else v for name, v in vars(network).items()})
    vars(twin)["_modules"] = {name: module and _copy(module) for name, module in network._modules.items()}
    return twin


def _load(network: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Give a network its tensors, as ``load_state_dict(state, assign=True)`` does, in a fraction of the time."""
    given = dict(state)
    for prefix, module in network.named_modules():
        for tensors in (module._parameters, module._buffers):
            for name, shape_only in tensors.items():
                tensor = given.pop(f"{prefix}.{name}" if prefix else name, None)
                if shape_only is None:
                    continue
                if tensor is None or tensor.shape != shape_only.shape:
                    network.load_state_dict(state, assign=True)  # says what is wrong
                    return
                tensors[name] = nn.Parameter(tensor) if tensors is module._parameters else tensor
    if given:
        network.load_state_dict(state, assign=True)


class Tempered(nn.Module):
    """A network whose logits are divided by a temperature."""

    def __init__(self, network: nn.Module, temperature: float) -> None:
        super().__init__()
        self.network = network
        self.temperature = temperature
        self.training = network.training
        if self.training:  # a blueprint's networks never are, and asking each of their modules takes time
            self.eval()

    def forward(self, x: Tensor) -> Tensor:
        """Return logits over the temperature."""
        logits: Tensor = self.network(x)
        return logits / self.temperature


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
        dense = self.values.new_zeros(self.shape)
        dense.view(-1).index_copy_(0, self.positions.long(), self.values)
        return dense

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
    return {name: tensor.dense() for name, tensor in packed.items()}


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
