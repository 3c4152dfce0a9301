"""Families of networks whose weights go by the same names everywhere: state dictionaries say enough of them to be read.

A state dictionary does not tell which layer reads which, but BERT's and GPT's and those named like them are all put
together in the same way, and so are residual networks that are named like torchvision's. How many heads there are no
weights tell; nor which queries are turned into one another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from .graph import Floats, Indices
from .layers import Reading, Units, WeightedLayer


@dataclass(frozen=True)
class _Transformer:
    """How a family names the parts of a block, and what stands before and after all blocks.

    ``{n}`` in `block` is the block's number. `queries` is one name for all three matrices, or three names. `norms` are
    those of attention and of the dense layers, before these (`first`) or after their results were added. `heads` are
    rows of layers that begin with the stream; what is not there is passed over, and a norm scales what the next one
    reads.
    """

    block: str
    queries: tuple[str, ...]
    mixed: str
    up: tuple[str, ...]
    down: str
    norms: tuple[str, str]
    first: bool
    embed: str
    embed_norm: str = ""
    last_norm: str = ""
    heads: tuple[tuple[str, ...], ...] = ()
    turned: bool = False


_TRANSFORMERS = (
    _Transformer(
        "encoder.layer.{n}.",
        ("attention.self.query", "attention.self.key", "attention.self.value"), "attention.output.dense",
        ("intermediate.dense",), "output.dense", ("attention.output.LayerNorm", "output.LayerNorm"), False,
        "embeddings.word_embeddings", "embeddings.LayerNorm", "",
        (
            ("pooler.dense", "classifier"),
            ("pooler.dense", "cls.seq_relationship"),
            ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.decoder"),
        ),
    ),
    _Transformer(
        "transformer.layer.{n}.", ("attention.q_lin", "attention.k_lin", "attention.v_lin"), "attention.out_lin",
        ("ffn.lin1",), "ffn.lin2", ("sa_layer_norm", "output_layer_norm"), False,
        "embeddings.word_embeddings", "embeddings.LayerNorm", "",
        (("pre_classifier", "classifier"), ("vocab_transform", "vocab_layer_norm", "vocab_projector")),
    ),
    _Transformer(
        "h.{n}.", ("attn.c_attn",), "attn.c_proj", ("mlp.c_fc",), "mlp.c_proj", ("ln_1", "ln_2"), True,
        "wte", "", "ln_f", (("lm_head",),), turned=True,
    ),
    _Transformer(
        "layers.{n}.", ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), "self_attn.o_proj",
        ("mlp.gate_proj", "mlp.up_proj"), "mlp.down_proj", ("input_layernorm", "post_attention_layernorm"), True,
        "embed_tokens", "", "norm", (("lm_head",),),
    ),
    _Transformer(
        "blocks.{n}.", ("attn.qkv",), "attn.proj", ("mlp.fc1",), "mlp.fc2", ("norm1", "norm2"), True,
        "patch_embed.proj", "", "norm", (("head",),),
    ),
)  # fmt: skip

_CONSTANTS = re.compile(r"position|token_type|wpe\.|pos_embed|cls_token|dist_token|attn\.(masked_)?bias$")
"""What is added to a stream whatever the input is, and masks: they make no unit."""

_RESNET = re.compile(r"layer(\d+)\.(\d+)\.conv(\d+)\.weight")


def read_family(tensors: Mapping[str, Tensor], norms: Mapping[str, Floats]) -> tuple[str, Reading] | None:
    """Return the family and the layers of a state dictionary that belongs to one; None for all others.

    Parameters
    ----------
    tensors : mapping of str to Tensor
        The state dictionary.
    norms : mapping of str to array
        What each batch norm multiplies by, by the name of its variance.

    Examples
    --------
    >>> import torch
    >>> read_family({"0.weight": torch.zeros(2, 3)}, {}) is None
    True
    """
    for family in _TRANSFORMERS:
        reader = _reader_of(family, tensors)
        if reader is not None and (found := reader()) is not None:
            return f"a transformer whose blocks are named {family.block.format(n=0)}* and so on", found
    if any(_RESNET.fullmatch(name) for name in tensors) and (residual := _resnet(tensors, norms)) is not None:
        return "a residual network named like torchvision's", residual
    return None


def _reader_of(family: _Transformer, tensors: Mapping[str, Tensor]) -> Callable[[], Reading | None] | None:
    """Return what reads tensors as those of a family, if the first block is there under any prefix."""
    first = family.block.format(n=0) + family.queries[0] + ".weight"
    names = [name for name in tensors if name == first or name.endswith(f".{first}")]
    if len(names) != 1:
        return None
    prefix = names[0].removesuffix(first)
    return _Reader(family, tensors, prefix).read


class _Reader:
    """Reads the blocks of one transformer one after the other, and keeps the units of its stream."""

    def __init__(self, family: _Transformer, tensors: Mapping[str, Tensor], prefix: str) -> None:
        self._family, self._tensors, self._prefix = family, tensors, prefix
        self._units, self._layers = Units(), list[WeightedLayer]()
        self._used: set[str] = set()
        self._made: dict[str, Indices] = {}

    def read(self) -> Reading | None:
        """Return the layers; None if some weights have no place in such a network."""
        family = self._family
        found = self._start()
        if found is None:
            return None
        stream, scale = found
        number = 0
        while (place := self._prefix + family.block.format(n=number)) + family.queries[
            0
        ] + ".weight" in self._tensors:
            for kind, norm in zip((self._attention, self._dense), family.norms, strict=True):
                own = self._scale(place + norm, len(stream))
                if own is None:
                    return None
                made = kind(place, stream, own if family.first else scale)
                if made is None or len(made) != len(stream):
                    return None
                self._units.unite(stream, made)
                self._units.note_sum(stream, made)
                if not family.first:
                    # As everywhere: two scales that meet in a sum count with their mean.
                    scale = (1 if scale is None else (scale + 1) / 2) * own
            number += 1
        if family.last_norm:
            scale = self._scale(self._prefix + family.last_norm, len(stream))
        for head in family.heads:
            self._head(head, stream, scale)
        left = {name for name, tensor in self._tensors.items() if tensor.dim() > 1} - self._used
        passed_over = any(not _CONSTANTS.search(name) for name in left)
        return None if passed_over else Reading(self._layers, self._units)

    def _head(self, names: Sequence[str], read: Indices, scale: Floats | None) -> None:
        """Read a row of layers, some of which may not be there, or be in another row already."""
        for ending in names:
            found = [name for name in self._tensors if f".{name}".endswith(f".{ending}.weight")]
            if len(found) != 1:
                continue
            name = found[0].removesuffix(".weight")
            if self._tensors[found[0]].dim() == 1:
                scale = self._scale(name, len(read))
                continue
            if name not in self._made:
                self._made[name] = self._layer(name, read, scale)
            read, scale = self._made[name], None

    def _start(self) -> tuple[Indices, Floats | None] | None:
        """Return the units of the stream as they begin, and their scale."""
        name = self._prefix + self._family.embed
        weight = self._tensors.get(f"{name}.weight")
        if weight is None:
            return None
        self._used.add(f"{name}.weight")
        if weight.dim() > 2:
            inputs = self._units.add("input", weight.shape[1], convolutional=False)
        else:
            self._units.add("input", 0, convolutional=False)
            inputs = self._units.add(f"{name}:tokens", len(weight), convolutional=False)
            weight = weight.T
        stream = self._units.add(name, len(weight), convolutional=weight.dim() > 2)
        self._layers.append(WeightedLayer(name, weight, stream, inputs))
        norm = self._family.embed_norm
        return stream, self._scale(self._prefix + norm, len(stream)) if norm else None

    def _scale(self, name: str, size: int) -> Floats | None:
        weight = self._tensors.get(f"{name}.weight")
        if weight is None or weight.shape != (size,):
            return None
        scale: Floats = weight.detach().double().abs().numpy()
        return scale

    def _attention(self, place: str, stream: Indices, scale: Floats | None) -> Indices | None:
        names = self._family.queries
        if len(names) == 1:
            whole = self._layer(place + names[0], stream, scale)
            if len(whole) != 3 * len(stream):
                return None
            queries, keys, values = np.split(whole, 3)
        else:
            queries, keys, values = (self._layer(place + name, stream, scale) for name in names)
        if len(queries) == len(keys):
            self._units.unite(queries, keys)
        elif len(values) < len(queries):  # several heads share them
            return None
        return self._layer(place + self._family.mixed, values, None)

    def _dense(self, place: str, stream: Indices, scale: Floats | None) -> Indices | None:
        first, *others = (self._layer(place + name, stream, scale) for name in self._family.up)
        for other in others:
            self._units.unite(first, other)
        return self._layer(place + self._family.down, first, None)

    def _layer(self, name: str, inputs: Indices, scale: Floats | None) -> Indices:
        """Return the units of a new layer; none where its weights are missing or do not fit."""
        weight = self._tensors.get(f"{name}.weight")
        if weight is not None and self._family.turned and name.rpartition(".")[2].startswith("c_"):
            weight = weight.T
        if weight is None or weight.dim() != 2 or weight.shape[1] != len(inputs):
            return np.arange(0)
        self._used.add(f"{name}.weight")
        outputs = self._units.add(name, len(weight), convolutional=False)
        self._layers.append(WeightedLayer(name, weight, outputs, inputs, input_factor=scale))
        return outputs


def _resnet(tensors: Mapping[str, Tensor], norms: Mapping[str, Floats]) -> Reading | None:
    """Return the layers of a residual network; None if some weights have no place in it."""
    units, layers, used = Units(), list[WeightedLayer](), set[str]()

    def layer(name: str, norm: str, inputs: Indices | None) -> Indices | None:
        weight = tensors.get(f"{name}.weight")
        if weight is None or inputs is None or len(inputs) % weight.shape[1]:
            return None
        outputs = units.add(name, len(weight), convolutional=weight.dim() > 2)
        factor = norms.get(f"{norm}.running_var")
        groups = len(inputs) // weight.shape[1]
        layers.append(WeightedLayer(name, weight, outputs, inputs, groups, output_factor=factor))
        used.add(f"{name}.weight")
        return outputs

    if "conv1.weight" not in tensors:
        return None
    stream: Indices | None = units.add("input", tensors["conv1.weight"].shape[1], convolutional=False)
    stream = layer("conv1", "bn1", stream)
    places = sorted(
        {(int(found[1]), int(found[2])) for name in tensors if (found := _RESNET.fullmatch(name))}
    )
    for stage, block in places:
        place, number = f"layer{stage}.{block}", 1
        inner, before = stream, stream
        while inner is not None and f"{place}.conv{number}.weight" in tensors:
            inner = layer(f"{place}.conv{number}", f"{place}.bn{number}", inner)
            number += 1
        if inner is None or before is None:
            return None
        for name in ("downsample", "shortcut"):
            if f"{place}.{name}.0.weight" in tensors:
                before = layer(f"{place}.{name}.0", f"{place}.{name}.1", before)
        if before is None or len(before) > len(inner):
            return None
        # Without weights a shortcut to more channels puts zeros on both sides.
        start = (len(inner) - len(before)) // 2
        same = inner[start : start + len(before)]
        units.unite(before, same)
        units.note_sum(before, same)
        stream = inner
    for name in ("fc", "linear"):
        if f"{name}.weight" in tensors and stream is not None:
            stream = layer(name, "", stream)
    left = [name for name, tensor in tensors.items() if tensor.dim() > 1 and name not in used]
    return None if left or stream is None else Reading(layers, units)
