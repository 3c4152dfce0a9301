"""What ``dovetail audit`` looks at: weights in a file, or a network from a builder, from timm, or from a spec."""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, redirect_stdout, suppress
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from ..cluster.source import Source, advised, source_in
from ..errors import DovetailError, FileFormatError, ShapeError, SpecError
from ..graph.chain import ASSUMED, foreign_tensor, layer_chain
from ..graph.matrices import PASS_MODULE, WAYS, read_tensors
from ..graph.read import EXAMPLE
from ..importing import failed, is_code, made_by

_BY_BUILDER = "name the network instead: package.module:builder --weights FILE --input-shape 3x32x32"

_ADVICE = {
    PASS_MODULE: _BY_BUILDER,
    WAYS: _BY_BUILDER,
    EXAMPLE: "--input-shape, for instance 3x32x32",
    "convention='mlp'": "--convention mlp",
    "method='leiden'": "--method leiden",
}
"""What to do on the command line in place of what the library says to do in Python."""


def read_source(text: str, weights: Path | None, input_shape: tuple[int, ...] | None) -> Source:
    """Return what a text names: a file or folder, ``timm:NAME``, ``net:SPEC``, or ``package.module:builder``."""
    if Path(text).is_file():
        if weights is not None:
            raise SpecError(
                f"{text!r} is a file of weights already; --weights goes with a builder, timm: or net:"
            )
        return source_in(Path(text), input_shape)
    if (Path(text) / "config.json").is_file():
        if weights is not None:
            raise SpecError(
                f"{text!r} is a folder with weights already; --weights goes with a builder, timm: or net:"
            )
        return from_hugging_face(Path(text), input_shape)
    by_name = is_code(text, "builder")
    tensors = None if weights is None else read_tensors(weights)
    kind, _, name = text.partition(":")
    if kind == "timm" and name:
        network, own_shape = from_timm(name, pretrained=tensors is None)
        input_shape = input_shape or own_shape
    elif kind == "net" and name:
        network = _from_spec(name, tensors, input_shape)
    elif by_name:
        network = built_by(text)
    else:
        raise _nothing_there(text)
    if tensors is not None:
        assert weights is not None
        _load_weights(network, tensors, weights)
    embeds = any(isinstance(part, nn.Embedding | nn.EmbeddingBag) for part in network.modules())
    tokens = embeds and input_shape is not None and len(input_shape) == 1
    return Source(network.eval(), input_shape, tokens=tokens)


def _nothing_there(text: str) -> FileFormatError:
    """Return the error for a text that names nothing, with what it might have been meant for."""
    from ..nets import NetSpec

    ways = (
        "name a file of weights (safetensors, or a state dict by torch.save), an ONNX file, a Hugging Face folder with "
        "config.json, package.module:builder, timm:NAME, or net:SPEC"
    )
    with suppress(SpecError):
        NetSpec.parse(text)
        ways = (
            f"for this architecture of dovetail's write net:{text} --weights FILE --input-shape 3x32x32, for one of "
            "timm's timm:NAME, for a file its path"
        )
    return FileFormatError(f"{text!r} is {'a folder' if Path(text).is_dir() else 'not there'}; {ways}")


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


def measurable(source: Source) -> nn.Module:
    """Return a source's network, or what its weights are assumed to be: dense layers with ReLUs between them."""
    return source.what if isinstance(source.what, nn.Module) else _dense_network(source.what)


def _dense_network(tensors: Mapping[str, Tensor]) -> nn.Module:
    """Return dense layers with ReLUs between them, if the tensors are their weights and biases and nothing else."""
    from ..sculpting.pruning.start import perceptron_of

    try:
        layers = layer_chain(tensors)
    except ShapeError as error:
        raise ShapeError(f"{error}; {PASS_MODULE}") from error
    if not layers:
        raise _not_dense(f"there is no weight matrix among {len(tensors)} tensors")
    if name := foreign_tensor(tensors, layers):
        if any(layer.convolutional and layer.weight == name for layer in layers):
            raise _not_dense(f"{name!r} is a convolution")
        kind = "batch norm" if "running_" in name else "something else"
        raise _not_dense(f"{name!r} is neither the weights of a dense layer nor its bias, but of {kind}")
    return nn.Sequential(nn.Flatten(), *perceptron_of(tensors))


def _not_dense(why: str) -> SpecError:
    return SpecError(
        f"--lesion needs a network to measure, and weights alone say which for {ASSUMED} only; {why}; name a "
        "builder, package.module:builder, and the file with --weights"
    )


def built_by(text: str) -> nn.Module:
    """Return the network that ``package.module:builder`` makes when it is called; the module is imported for it."""
    network = made_by(text, "builder", nn.Module)
    if not isinstance(network, nn.Module):
        raise SpecError(
            f"{text!r} returned a {type(network).__name__}; it must return the network, an nn.Module"
        )
    return network


def from_timm(name: str, *, pretrained: bool) -> tuple[nn.Module, tuple[int, ...]]:
    """Return a network of timm and the shape of its inputs; with its published weights if ``pretrained``."""
    try:
        timm: Any = importlib.import_module("timm")
    except ImportError as error:
        raise SpecError(
            "timm: needs the package timm; install it with pip install 'dovetail-nn[vision]'"
        ) from error
    if not timm.is_model(name):
        near = difflib.get_close_matches(name, timm.list_models(), n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise SpecError(f"timm has no model {name!r}{hint}")
    try:
        with redirect_stdout(sys.stderr):
            network: nn.Module = timm.create_model(name, pretrained=pretrained)
    except Exception as error:  # the network, the disk, the hub: a dozen libraries may fail in their own ways
        what = f"making {name!r} with timm" + (" and downloading its weights" if pretrained else "")
        way_out = "; with --weights FILE nothing is downloaded" if pretrained else ""
        raise DovetailError(f"{failed(what, error)}{way_out}") from error
    return network, tuple(timm.data.resolve_data_config({}, model=network)["input_size"])


_TOKENS = 8
"""Tokens in an example: what is done to one is done to all."""


def from_hugging_face(folder: Path, shape: tuple[int, ...] | None) -> Source:
    """Return the network in a folder with ``config.json`` and weights. Code that lies there is never run."""
    try:
        transformers: Any = importlib.import_module("transformers")
    except ImportError as error:
        raise SpecError(
            f"{str(folder)!r} is a Hugging Face folder, and those need the package transformers; install it with "
            "pip install transformers, or name the file of weights in it"
        ) from error
    try:
        with redirect_stdout(sys.stderr):
            config = transformers.AutoConfig.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False
            )
            kinds = [getattr(transformers, name, None) for name in config.architectures or ()]
            kind = next((one for one in kinds if one is not None), transformers.AutoModel)
            network: nn.Module = kind.from_pretrained(str(folder), config=config, local_files_only=True)
    except Exception as error:  # transformers fails in a hundred ways
        raise FileFormatError(failed(f"reading {str(folder)!r} with transformers", error)) from error
    size = getattr(config, "image_size", None)
    if size is None:
        return Source(network.eval(), shape or (_TOKENS,), tokens=True)
    sides = (size, size) if isinstance(size, int) else tuple(size)
    return Source(network.eval(), shape or (getattr(config, "num_channels", 3), *sides))
