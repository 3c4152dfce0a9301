"""Trunks by name: networks of libraries and of one's own, as a text that can be typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor, nn

from ..errors import DovetailError, SpecError, unknown_name
from ..importing import failed, found, is_code, made_by
from ..nets.seeding import seeded_build

KINDS = ("timm", "sentence", "transformers")
FORM = (
    "timm:NAME, sentence:FOLDER, transformers:FOLDER or package.module:builder, with options after a second colon: "
    "timm:resnet18:weights=resnet18.safetensors,size=224"
)
"""What can be named, in the words of help and errors."""

_SEED = 0
"""Of the weights of a builder that draws them."""


class Built(NamedTuple):
    """A network with what belongs to it."""

    network: nn.Module
    name: str
    tokenizer: Any = None
    weights: str | Path | Mapping[str, Tensor] | None = None


def name_and_options(text: str) -> tuple[str, dict[str, Any]]:
    """Return what names a network, and the options after it as `trunk` takes them.

    Examples
    --------
    >>> name_and_options("timm:resnet18:size=224,mean=0.5/0.5/0.5")
    ('timm:resnet18', {'size': 224, 'mean': (0.5, 0.5, 0.5)})
    """
    parts = text.split(":", 2)
    options: dict[str, Any] = {}
    for item in parts[2].split(",") if len(parts) == 3 else ():
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not value:
            raise SpecError(f"{item!r:.80} after {':'.join(parts[:2])} is no option, written name=value")
        if name not in _OPTIONS:
            raise unknown_name("option of a trunk", name, _OPTIONS)
        options[name] = _OPTIONS[name](value)
    return ":".join(parts[:2]), options


def build_named(text: str, weights: str | Path | Mapping[str, Tensor] | None = None) -> Built:
    """Return the network that a text names, `FORM` without options; weights are only passed on.

    Raises
    ------
    SpecError
        For a text that names none, and for unknown names.
    DovetailError
        When the library is not installed, or building or loading fails.

    Examples
    --------
    >>> build_named("torch.nn:Flatten").network
    Flatten(start_dim=1, end_dim=-1)
    """
    kind, _, rest = text.partition(":")
    if kind in KINDS and rest:
        return {"timm": _timm, "sentence": _sentence, "transformers": _transformers}[kind](rest, weights)
    if is_code(text, "builder"):
        made = _made(text)
        if not isinstance(made, nn.Module):
            raise SpecError(f"{text} gives a {type(made).__name__}; a trunk is made of a torch.nn.Module")
        return Built(made, text.rpartition(":")[2], weights=weights)
    raise SpecError(f"{text!r:.200} names no network; write {FORM}")


def _made(text: str) -> Any:
    """Return what a builder makes, from a seed: or else one without weights gave another trunk in every process."""
    # Importing may draw too, the first time; and a network may be made there.
    seeded_build(lambda: found(text, "builder"), _SEED)
    return seeded_build(lambda: made_by(text, "builder", ready=nn.Module), _SEED)


def _timm(name: str, weights: str | Path | Mapping[str, Tensor] | None) -> Built:
    timm = _library("timm", "vision")
    if not timm.is_model(name):
        raise unknown_name("model of timm", name, timm.list_models())
    try:
        network = timm.create_model(name, pretrained=weights is None)
    except Exception as error:  # whatever the network gives: timm asks for a download
        raise DovetailError(
            f"{failed(f'building {name} with timm', error)}; without a network name a file: weights=FILE"
        ) from error
    return Built(network, name, weights=weights)


def _sentence(name: str, weights: str | Path | Mapping[str, Tensor] | None) -> Built:
    library = _library("sentence_transformers", "text")
    # Never code from a folder, and no pickles: what is not safetensors is refused.
    safe = {"use_safetensors": True}
    network = _loaded(name, lambda: library.SentenceTransformer(name, device="cpu", model_kwargs=safe))
    return Built(network, Path(name).name, weights=weights)


def _transformers(name: str, weights: str | Path | Mapping[str, Tensor] | None) -> Built:
    library = _library("transformers", "text")
    network = _loaded(name, lambda: library.AutoModel.from_pretrained(name, use_safetensors=True))
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError, KeyError, TypeError):  # a network of pictures has none
        tokenizer = None
    return Built(network, Path(name).name, tokenizer, weights)


def _loaded(name: str, load: Callable[[], Any]) -> nn.Module:
    try:
        network: nn.Module = load()
    except Exception as error:
        raise DovetailError(
            f"{failed(f'loading {name!r:.200}', error)}; is it the folder of a saved model?"
        ) from error
    return network


def _library(name: str, extra: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise DovetailError(
            f"this needs {name}, which is not installed ({error}): pip install 'dovetail-nn[{extra}]'"
        ) from None


def _size(text: str) -> int | tuple[int, int]:
    sides = text.replace("×", "x").split("x")
    if not 1 <= len(sides) <= 2 or not all(side.isdigit() for side in sides):
        raise SpecError(f"size is a number of pixels, or height x width, such as 224; got {text!r:.40}")
    return int(sides[0]) if len(sides) == 1 else (int(sides[0]), int(sides[1]))


def _floats(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(value) for value in text.split("/"))
    except ValueError:
        raise SpecError(
            f"mean and std are numbers with slashes between, 0.485/0.456/0.406; got {text!r:.60}"
        ) from None


_OPTIONS: dict[str, Callable[[str], Any]] = {
    "weights": str,
    "cut": str,
    "pool": str,
    "size": _size,
    "mean": _floats,
    "std": _floats,
    "name": str,
}
