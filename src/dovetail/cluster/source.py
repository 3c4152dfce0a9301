"""What there is to audit: a network, or the weights in a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from ..errors import DovetailError, FileFormatError, ShapeError, SpecError
from ..graph.chain import layers_in_order
from ..graph.matrices import PASS_MODULE, family_of, read_tensors
from ..graph.onnx_network import onnx_network
from ..io.checkpoint import is_safetensors
from ..io.header import read_header
from ..specialists.composite import Composite
from ..specialists.files import open_file
from ..specialists.manifest import READ
from ..specialists.specialist import Specialist

_MOST_NAMES = 8


@dataclass(frozen=True)
class Source:
    """What to audit.

    Attributes
    ----------
    what : nn.Module or mapping of str to Tensor
        A network, or the tensors of a checkpoint, first layer first.
    input_shape : tuple of int, optional
        Shape of one sample, where it is known.
    part : Specialist or Composite, optional
        What the network is, if it comes from such a file.
    sorted_by_name : bool
        Whether tensors are in the order of their names, because their file keeps none.
    tokens : bool
        Whether a sample is a row of numbers of tokens.
    """

    what: nn.Module | Mapping[str, Tensor]
    input_shape: tuple[int, ...] | None
    part: Specialist | Composite | None = None
    sorted_by_name: bool = False
    tokens: bool = False

    @property
    def example(self) -> Tensor | None:
        """A sample to trace a network with."""
        if self.input_shape is None:
            return None
        return torch.zeros(1, *self.input_shape, dtype=torch.long if self.tokens else torch.float32)

    @property
    def family(self) -> str | None:
        """The family that a checkpoint's names tell of; none where its layers are read as a chain."""
        return None if isinstance(self.what, nn.Module) else family_of(self.what)

    @property
    def layers(self) -> list[str] | None:
        """The layers of a checkpoint as they are read, each from the one before; none where something else tells."""
        return None if isinstance(self.what, nn.Module) or self.family else layers_in_order(self.what)

    @property
    def measured_classes(self) -> list[str] | None:
        """The classes that a specialist or composite is for, if these are not all of them."""
        if self.part is None or len(self.part.rewarded) == len(self.part.classes):
            return None
        return [self.part.classes[number] for number in self.part.rewarded]


def source_in(path: Path, input_shape: tuple[int, ...] | None = None) -> Source:
    """Return what a file holds: a specialist, a composite, or plain weights. Nothing in it is run."""
    if path.suffix == ".onnx":
        network = onnx_network(path).eval()
        return Source(network, input_shape or network.input_shape, tokens=network.tokens)
    if not is_part(path):
        return Source(read_tensors(path), input_shape, sorted_by_name=is_safetensors(path))
    part = open_file(path)
    if isinstance(part, Composite) and part.method == "logits":
        raise SpecError(f"{str(path)!r} averages the logits of {len(part)} networks; take them one by one")
    return Source(part.blueprint.network(part.state_dict()), part.blueprint.input_shape, part)


def is_part(path: Path) -> bool:
    """Whether a file says that it is one of our specialists or composites."""
    try:
        return read_header(path).get("schema") in READ
    except FileFormatError:
        return False  # reading it as weights says what is wrong with it, if anything is


def chain_text(layers: list[str], *, sorted_by_name: bool) -> str:
    """Return in words which layers were read from a file, shortened in the middle if there are many.

    Examples
    --------
    >>> chain_text(["conv", "fc"], sorted_by_name=False)
    'Layers read from the file, each from the one before: conv -> fc; shortcuts and branches are not in a file.'
    """
    if len(layers) > _MOST_NAMES:
        layers = [*layers[:4], f"({len(layers) - 7} more)", *layers[-3:]]
    order = ", sorted by name" if sorted_by_name else ""
    return (
        f"Layers read from the file{order}, each from the one before: {' -> '.join(layers)}; shortcuts and branches "
        "are not in a file."
    )


@contextmanager
def advised(source: Source, advice: Mapping[str, str]) -> Iterator[None]:
    """Turn what errors advise to do in Python into what to do where people are."""
    try:
        yield
    except DovetailError as error:
        text = str(error)
        if source.sorted_by_name and isinstance(error, ShapeError) and PASS_MODULE in text:
            text += " (layers were sorted by name: a safetensors file keeps no order)"
        for in_python, here in advice.items():
            text = text.replace(in_python, here)
        raise type(error)(text) from error
