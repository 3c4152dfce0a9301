"""What a trunk takes: samples as data sets hold them, brought to what its network was trained on."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from ..data.preparation.texts import texts_of
from ..errors import DataError, SpecError
from .identity import code_of, without_places


class Call(NamedTuple):
    """How a network is called for some samples, and which of their tokens are there, if they have any."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}
    mask: Tensor | None = None


class Takes(Protocol):
    """Brings samples to what a network takes."""

    texts: bool

    def call(self, x: Tensor | Sequence[str], network: nn.Module) -> Call:
        """Return how the network is called for samples, on the device where it is."""

    def __str__(self) -> str:
        """Return what is done, as it is hashed and told."""


@dataclass(frozen=True)
class Numbers:
    """Tensors as they are, or pictures brought to a size and scaled by channel.

    Attributes
    ----------
    size : (int, int), optional
        Height and width that pictures are resized to, smoothly.
    mean, std : tuple of float
        What is taken off each channel, and what it is divided by; samples of data sets are from 0 to 1.

    Examples
    --------
    >>> call = Numbers((4, 4), (0.5,), (0.5,)).call(torch.ones(2, 1, 8, 8), nn.Identity())
    >>> call.args[0].shape, float(call.args[0].max())
    (torch.Size([2, 1, 4, 4]), 1.0)
    """

    size: tuple[int, int] | None = None
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    texts = False

    def __post_init__(self) -> None:
        if len(self.mean) != len(self.std) or not all(self.std):
            raise SpecError(
                f"mean and std have a number for each channel, none of std 0; got {self.mean} and {self.std}"
            )

    def call(self, x: Tensor | Sequence[str], network: nn.Module) -> Call:
        """Return the resized and scaled samples."""
        if not isinstance(x, Tensor):
            raise DataError(f"this trunk takes tensors, not {type(x).__name__}")
        weight, given = next(network.parameters(), None), x
        if weight is not None:
            x = _ids(x.to(weight.device)) if _looks_up(network) else x.to(weight.device, weight.dtype)
        if self.size is not None and tuple(x.shape[-2:]) != self.size:
            if x.dim() != 4:
                raise DataError(f"pictures are [pictures, channels, height, width], not {tuple(x.shape)}")
            x = nn.functional.interpolate(x, self.size, mode="bilinear", antialias=True, align_corners=False)
        if self.mean:
            mean, std = (torch.tensor(values).to(x).reshape(-1, 1, 1) for values in (self.mean, self.std))
            x = (x - mean) / std
        # Samples are the caller's, and a network may begin with what works in place.
        return Call((x.clone() if x is given else x,))

    def __str__(self) -> str:
        size = "samples as they are" if self.size is None else "pictures at {} × {}".format(*self.size)
        scaled = f", mean {list(self.mean)}, std {list(self.std)}" if self.mean else ""
        return size + scaled


@dataclass(frozen=True)
class Sentences:
    """Texts, made tokens of.

    Attributes
    ----------
    tokenizer : object
        What makes tokens: ``tokenizer(texts, padding=True, truncation=True, return_tensors="pt")``, as those of
        transformers do; or, for sentence transformers, None: they have their own.
    about : str
        What tells this tokenizer from others.
    """

    tokenizer: Any = None
    about: str = "its own tokenizer"
    texts = True

    def call(self, x: Tensor | Sequence[str], network: nn.Module) -> Call:
        """Return the tokens of texts."""
        texts = texts_of(x) if isinstance(x, Tensor) else list(x)
        device = next(network.parameters()).device
        if self.tokenizer is None:
            # What sentence-transformers called `tokenize` until its version 6.
            own = getattr(network, "preprocess", None) or network.tokenize
            tokenize: Callable[[list[str]], Mapping[str, Any]] = own  # type: ignore[assignment]
            return Call(({name: _on(value, device) for name, value in tokenize(texts).items()},))
        tokens = self.tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
        found = {name: _on(value, device) for name, value in tokens.items()}
        return Call((), found, found.get("attention_mask"))

    def __str__(self) -> str:
        return f"texts, by {self.about}"


def usual_sentences(network: nn.Module, tokenizer: Any = None) -> Sentences:
    """Return how texts are brought to a network: by this tokenizer, or by its own."""
    if tokenizer is not None:
        name = getattr(tokenizer, "__name__", type(tokenizer).__name__)
        return Sentences(tokenizer, f"{name} {_hash_of(tokenizer)}")
    own = getattr(network, "tokenizer", None)
    longest = getattr(network, "max_seq_length", None)
    about = "its own tokenizer" + (f" {_hash_of(own)}" if own is not None else "")
    return Sentences(None, about + (f", up to {longest} tokens" if longest is not None else ""))


def _hash_of(tokenizer: Any) -> str:
    """Return a hash of what a tokenizer does, which is the same in every process and whether it was used before."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        content = json.loads(backend.to_str())
        kept = {
            key: value for key, value in content.items() if key not in ("truncation", "padding")
        }  # of a call
        limits = [str(getattr(tokenizer, name, None)) for name in ("model_max_length", "padding_side")]
        text = json.dumps([kept, limits], sort_keys=True)
    else:
        text = code_of(tokenizer if inspect.isroutine(tokenizer) else type(tokenizer))
        vocabulary = getattr(tokenizer, "get_vocab", None)
        text += (
            json.dumps(vocabulary(), sort_keys=True) if vocabulary is not None else without_places(tokenizer)
        )
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def is_sentence_transformer(network: nn.Module) -> bool:
    """Return whether a network reads sentences by itself, as those of sentence-transformers do."""
    return hasattr(network, "encode") and (hasattr(network, "preprocess") or hasattr(network, "tokenize"))


def _looks_up(network: nn.Module) -> bool:
    """Whether a network begins with an embedding: it takes ids."""
    first = next(
        (one for one in network.modules() if next(one.parameters(recurse=False), None) is not None), None
    )
    return isinstance(first, nn.Embedding | nn.EmbeddingBag)


def _ids(x: Tensor) -> Tensor:
    ids = x.long()
    # What records a computation cannot decide by values.
    if x.is_floating_point() and not torch.compiler.is_compiling() and not torch.equal(ids.to(x.dtype), x):
        raise DataError(
            "this trunk begins with an embedding, which takes whole numbers, and the samples hold others; give a "
            "Dataset of ids (dovetail.Dataset takes tensors as they are), or a tokenizer"
        )
    return ids


def _on(value: Any, device: torch.device) -> Any:
    return value.to(device) if isinstance(value, Tensor) else value


def usual_numbers(
    network: nn.Module,
    size: int | tuple[int, int] | None,
    mean: Sequence[float] | float | None,
    std: Sequence[float] | float | None,
) -> Numbers:
    """Return how pictures are brought to a network: as was asked for, else as it says itself (timm's networks do)."""
    says = getattr(network, "pretrained_cfg", None) or getattr(network, "default_cfg", None) or {}
    if not isinstance(says, Mapping):
        says = {}
    if size is None and isinstance(says.get("input_size"), tuple | list):
        size = (int(says["input_size"][-2]), int(says["input_size"][-1]))
    if mean is None and std is None:
        mean, std = says.get("mean"), says.get("std")
    if (mean is None) != (std is None):
        raise SpecError("mean and std go together; give both, or none")
    sides = (size, size) if isinstance(size, int) else size
    if sides is not None and (len(sides) != 2 or not all(0 < side <= 4096 for side in sides)):
        raise SpecError(f"size is a number of pixels, or height and width; got {size!r:.40}")
    return Numbers(None if sides is None else (sides[0], sides[1]), _numbers(mean), _numbers(std))


def _numbers(given: Sequence[float] | float | None) -> tuple[float, ...]:
    if given is None:
        return ()
    return (float(given),) if isinstance(given, int | float) else tuple(float(value) for value in given)
