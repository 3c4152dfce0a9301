"""What ``dovetail audit`` looks at: weights in a file, or a network from a builder, from timm, or from a spec."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from torch import Tensor, nn

from ..cluster.source import Source, advised, source_in
from ..errors import FileFormatError, SpecError
from ..graph.matrices import PASS_MODULE, WAYS, read_tensors
from ..graph.read import EXAMPLE
from .audit_builder import built_by, from_timm

_BUILDER = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_FILE_OF_BUILDER = re.compile(r"(.+)\.py:([A-Za-z_][\w.]*)")
_BY_BUILDER = "name the network instead: package.module:builder --weights FILE --input-shape 3x32x32"
_ADVICE = {PASS_MODULE: _BY_BUILDER, WAYS: _BY_BUILDER, EXAMPLE: "--input-shape, for instance 3x32x32"}
"""What to do on the command line in place of what the library says to do in Python."""


def read_source(text: str, weights: Path | None, input_shape: tuple[int, ...] | None) -> Source:
    """Return what a text names: a file, ``timm:NAME``, ``net:SPEC``, or ``package.module:builder``."""
    if Path(text).is_file():
        if weights is not None:
            raise SpecError(
                f"{text!r} is a file of weights already; --weights goes with a builder, timm: or net:"
            )
        return source_in(Path(text), input_shape)
    by_file = _FILE_OF_BUILDER.fullmatch(text)
    if by_file:
        module = by_file[1].removeprefix("./").replace("/", ".")
        raise SpecError(f"{text!r} names a file; a builder is named by its module: {module}:{by_file[2]}")
    tensors = None if weights is None else read_tensors(weights)
    kind, _, name = text.partition(":")
    if kind == "timm" and name:
        network, own_shape = from_timm(name, pretrained=tensors is None)
        input_shape = input_shape or own_shape
    elif kind == "net" and name:
        network = _from_spec(name, tensors, input_shape)
    elif _BUILDER.fullmatch(text):
        network = built_by(text)
    else:
        raise FileFormatError(
            f"{text!r} is {'a folder' if Path(text).is_dir() else 'not there'}; name a file of weights (safetensors, "
            f"or a state dict by torch.save), package.module:builder, timm:NAME, or net:SPEC"
        )
    if tensors is not None:
        assert weights is not None
        _load_weights(network, tensors, weights)
    return Source(network.eval(), input_shape)


def advice_for_the_command(source: Source) -> AbstractContextManager[None]:
    """Turn what errors advise to do in Python into what to do on the command line."""
    return advised(source, _ADVICE)


def read_shape(text: str | None) -> tuple[int, ...] | None:
    """Return the shape that a text such as ``3x32x32`` stands for.

    Examples
    --------
    >>> read_shape("3x32x32"), read_shape("784")
    ((3, 32, 32), (784,))
    """
    if text is None:
        return None
    parts = re.split(r"[x×,]", text)
    if not all(part.isdecimal() and len(part) < 10 and 0 < int(part) < 2**16 for part in parts):
        raise SpecError(f"--input-shape is the shape of one sample, such as 3x32x32 or 784; got {text!r:.60}")
    return tuple(map(int, parts))


def _from_spec(spec: str, tensors: Mapping[str, Tensor] | None, shape: tuple[int, ...] | None) -> nn.Module:
    from ..nets import NetSpec, build_net

    NetSpec.parse(spec)  # a misspelt name before all that would be missing for it
    if tensors is None or shape is None:
        missing = "--weights FILE" if tensors is None else "--input-shape"
        raise SpecError(f"net:{spec} needs {missing}: a spec alone says neither the weights nor the inputs")
    if "output.weight" not in tensors:
        raise FileFormatError("--weights has no 'output.weight', the last layer of every network from a spec")
    return build_net(spec, shape, len(tensors["output.weight"]))


def _load_weights(network: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    try:
        missing, unknown = network.load_state_dict(dict(tensors), strict=False)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise FileFormatError(f"{str(path)!r} does not fit the network: {reason:.200}") from error
    missing = [name for name in missing if not name.endswith("num_batches_tracked")]
    if missing or unknown:
        reason = f"it has no {missing[0]!r}" if missing else f"the network has no {unknown[0]!r}"
        raise FileFormatError(
            f"{str(path)!r} does not fit the network: {reason} ({len(missing)} missing, {len(unknown)} too many)"
        )
