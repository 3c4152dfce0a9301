"""Architectures with the paper's options where a text does not name them."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from ...data.dataset import Dataset
from ...errors import SpecError
from ...nets import ARCHITECTURES, NetSpec, net_builder


def settled_builder(
    net: str | NetSpec | Callable[[], nn.Module], data: Dataset, dropout: float | None = None
) -> Callable[[], nn.Module]:
    """Return what makes networks for some data; a builder is taken as it is."""
    if not callable(net):
        return net_builder(settled_spec(net, dropout), data.input_shape, data.outputs)
    if dropout is not None:
        raise SpecError(
            f"dropout={dropout} is given beside a builder, which decides on it alone; leave it out"
        )
    return net


def settled_spec(net: str | NetSpec, dropout: float | None = None) -> NetSpec:
    """Return a network's spec; options that a text leaves out are those of the Clusterability paper, which used Keras.

    Examples
    --------
    >>> str(settled_spec("mlp:256-256", dropout=0.5))
    'mlp:256-256,output_bias=true,init=glorot-uniform'
    >>> str(settled_spec("mlp:256-256,dropout=0.1,init=default"))
    'mlp:256-256,dropout=0.1,output_bias=true'
    """
    if isinstance(net, NetSpec):
        if dropout is not None:
            raise SpecError(f"dropout={dropout} is given beside the complete spec '{net}'; leave one out")
        return net
    if not isinstance(net, str):
        raise SpecError(
            f"a network must be a text such as 'mlp:256-256', a NetSpec or a builder, not {type(net).__name__}"
        )
    named = {part.partition("=")[0].strip() for part in net.split(",")[1:]}
    if dropout is not None and "dropout" in named:
        raise SpecError(f"dropout is given twice, as {dropout} and in {net!r}; leave one out")
    wanted = {"dropout": 0.0 if dropout is None else dropout, "output_bias": "true", "init": "glorot-uniform"}
    known = {option.name for option in ARCHITECTURES[NetSpec.parse(net).name].options}
    if dropout and "dropout" not in known:
        raise SpecError(f"{net!r} has no dropout; leave it out, or use another network")
    added = [f"{name}={value}" for name, value in wanted.items() if name in known - named]
    return NetSpec.parse(",".join([net, *added]))
