"""Building: from a spec to a network, or to a builder that can be stored and sent elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import nn

from ..errors import ShapeError, SpecError
from ..precision import in_float32
from .init import initialise_
from .layers import InputScaling, sequential
from .spec import ARCHITECTURES, MAX_PARAMETERS, NetSpec

_MAX_INPUTS = 2**24
_MAX_DIMENSIONS = 16
_MAX_OUTPUTS = 2**20


@dataclass(frozen=True)
class NetBuilder:
    """A spec with its input and output sizes: call it for a network with fresh random weights.

    Builders are small, compare by value, and can be hashed and pickled, so they travel to other processes
    where networks would not. Without a seed a builder draws from PyTorch's global random state and follows its
    default device. Weights are float32, as data is. Made by `net_builder`.
    """

    spec: NetSpec
    input_shape: tuple[int, ...]
    outputs: int

    def __post_init__(self) -> None:
        _check_shapes(self.input_shape, self.outputs)
        _check_parameters(self.spec, self.input_shape, self.outputs)

    @in_float32()
    def __call__(self, seed: int | None = None) -> nn.Module:
        """Return a new network, with the weights of a seed if one is given; then it is on the CPU."""
        if seed is not None:
            check_seed(seed)
        generator = None if seed is None else torch.Generator("cpu").manual_seed(seed)
        net = _on_meta(self.spec, self.input_shape, self.outputs)
        place = torch.get_default_device() if generator is None else torch.device("cpu")
        # As `to_empty`, whose `empty_like` of tensors without data imports torch's symbolic shapes, for half a second.
        net._apply(
            lambda like: torch.empty_strided(like.shape, like.stride(), dtype=like.dtype, device=place)
        )
        initialise_(net, str(self.spec["init"]), generator)
        return net


def net_builder(spec: str | NetSpec, input_shape: Sequence[int], outputs: int) -> NetBuilder:
    """Return a builder of networks of one architecture.

    ================  =======================================  ================================================
    spec              sizes                                    options and defaults
    ================  =======================================  ================================================
    ``mlp:512-256``   units of the hidden layers               dropout=0.5, batch_norm, output_bias, init
    ``lenet``         channels, then dense units: 64-120-64    dropout=0, batch_norm, output_bias, init
    ``small-cnn``                                              dropout=0, output_bias=true, init=glorot-uniform
    ``vgg16``         channels of the first stage: 64          dropout=0, batch_norm=true, output_bias=true, init
    ``vgg11``         channels of the first stage: 64          batch_norm=true, output_bias=true, init
    ``resnet18``      channels of the first stage: 64          batch_norm=true, output_bias=true, init
    ``resnet-stage``  channels: 512                            batch_norm=true, output_bias=true, init
    ``vit``           width of the tokens: 192                 patch=4, depth=6, heads=4, groups=1,
                                                               dropout=0, output_bias=true, init
    ================  =======================================  ================================================

    The width of a VGG or ResNet is that of its first stage; later layers have twice, four and eight times as many
    channels. ``resnet-stage`` is the last stage of a ResNet-18 with what follows it, for feature maps as inputs.

    ``groups`` of heads have layer norms of their own, each over its share of the width: ``vit:640,heads=40,groups=10``
    can be shared out among ten classes.

    Defaults are the papers'; so an ``mlp`` drops half of its hidden units in training and has no output bias
    unless told otherwise. Flags are false where no default is given. ``init`` is default (PyTorch's),
    kaiming-normal or glorot-uniform. Every architecture also takes ``shift`` and ``scale``: its first layer then sees
    ``(x - shift) / scale``, such as ``mlp:512,shift=0.5,scale=0.5`` for inputs from -1 to 1 where data has 0 to 1.

    Parameters
    ----------
    spec
        A `NetSpec` or its text, such as ``"mlp:512-256,dropout=0.2,output_bias=true"``.
    input_shape
        Shape of one sample, without the batch dimension.
    outputs
        Number of logits.

    Examples
    --------
    >>> build = net_builder("mlp:32", (8, 8), outputs=10)
    >>> build()(torch.zeros(5, 8, 8)).shape
    torch.Size([5, 10])
    >>> build == net_builder("mlp:32,dropout=0.5", [8, 8], 10)
    True
    """
    settled = spec if isinstance(spec, NetSpec) else NetSpec.parse(spec)
    return NetBuilder(settled, tuple(input_shape), outputs)


def build_net(
    spec: str | NetSpec, input_shape: Sequence[int], outputs: int, seed: int | None = None
) -> nn.Module:
    """Return a new network.

    Parameters
    ----------
    spec
        A `NetSpec` or its text, such as ``"mlp:512-256,dropout=0.2"``.
    input_shape
        Shape of one sample, without the batch dimension.
    outputs
        Number of logits.
    seed
        With a seed the network is built on the CPU, the same on every machine and in any thread, and the global
        random state is left alone. Without one, its weights come from the global random state.

    Raises
    ------
    SpecError
        For a spec that is not understood, or a network that is too large.
    ShapeError
        For inputs that the architecture cannot take.

    Examples
    --------
    >>> net = build_net("lenet", (1, 28, 28), outputs=10, seed=0)
    >>> net.output
    Linear(in_features=64, out_features=10, bias=False)
    """
    return net_builder(spec, input_shape, outputs)(seed)


def check_seed(seed: object) -> None:
    """Refuse what cannot seed a generator."""
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise SpecError(f"a seed must be a whole number from 0 to 2**63 - 1; got {seed!r:.80}")


def _on_meta(spec: NetSpec, input_shape: tuple[int, ...], outputs: int) -> nn.Module:
    """Return the network without values: nothing is allocated, whatever the size, and no random number is drawn."""
    architecture = ARCHITECTURES[spec.name]
    options = {option.name: spec[option.name] for option in architecture.own_options}
    with torch.device("meta"):
        net = architecture.build(spec.sizes, input_shape, outputs, **options)
    shift, scale = spec["shift"], spec["scale"]
    assert isinstance(shift, float)
    assert isinstance(scale, float)
    if (shift, scale) != (0, 1):
        net = sequential([("inputs", InputScaling(shift, scale)), *net.named_children()])
    return net.float()  # as data is, whatever torch.set_default_dtype says


def _check_shapes(input_shape: tuple[int, ...], outputs: int) -> None:
    if not input_shape or not all(_is_whole(size) and size > 0 for size in input_shape):
        raise ShapeError(f"an input shape is one or more positive whole numbers; got {input_shape!r:.80}")
    if len(input_shape) > _MAX_DIMENSIONS:
        raise ShapeError(f"an input shape has at most {_MAX_DIMENSIONS} dimensions, not {len(input_shape)}")
    if max(input_shape) > _MAX_INPUTS or math.prod(input_shape) > _MAX_INPUTS:
        raise ShapeError(f"input shape {input_shape!r:.80} has more than {_MAX_INPUTS} values")
    if not _is_whole(outputs) or not 1 <= outputs <= _MAX_OUTPUTS:
        raise ShapeError(f"a network has from 1 to {_MAX_OUTPUTS} outputs; got {outputs!r:.80}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@lru_cache(maxsize=256)
def _check_parameters(spec: NetSpec, input_shape: tuple[int, ...], outputs: int) -> None:
    count = sum(parameter.numel() for parameter in _on_meta(spec, input_shape, outputs).parameters())
    if count > MAX_PARAMETERS:
        raise SpecError(
            f"{spec} on inputs {input_shape} has {count} parameters, more than {MAX_PARAMETERS}; "
            f"use smaller layers or inputs"
        )
