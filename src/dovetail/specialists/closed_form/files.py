"""Files of sums: one ``.safetensors`` each, with a JSON manifest in its header.

Of the class at place NUMBER they hold ``NUMBER/samples``, its samples as whole numbers; or ``NUMBER/first`` and
``NUMBER/second``, the sum of their features and the upper half of that of their outer products. Random directions are
not in it: they follow from the seed. Nothing is pickled.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from ...errors import FileFormatError
from ...io.plain import opened_tensors, tensors_in
from ..blueprint import State
from ..threshold import BY_CARDS
from .basis import LARGEST_FEATURE, LARGEST_NUMBER
from .content import Content, Moments, Samples, content_of
from .manifest import SumsManifest, read_sums_manifest
from .sums import Sums


def read_sums(path: Path, text: str) -> Sums:
    """Read sums from their file.

    Parameters
    ----------
    path : Path
        The file.
    text : str
        Its manifest.

    Raises
    ------
    FileFormatError
        When it is damaged, or was altered after it was written.
    """
    manifest = read_sums_manifest(text)
    with opened_tensors(path) as file:
        tensors = tensors_in(file)
    contents = {
        name: _content(tensors, number, form, count, manifest)
        for number, (name, (form, count)) in enumerate(manifest.held.items())
    }
    if tensors:
        raise FileFormatError(f"it holds a tensor that belongs to nothing, {next(iter(tensors))!r:.80}")
    if manifest.threshold is not None and manifest.threshold.confidence in BY_CARDS:
        raise FileFormatError("its threshold is of distances to cards, which sums do not have")
    part = Sums(manifest.blueprint, contents, tuning=manifest.tuning, threshold=manifest.threshold)
    if part.digest != manifest.digest:
        raise FileFormatError("its content does not match its checksum: it was altered or damaged")
    return part


def _content(tensors: State, number: int, form: str, count: int, manifest: SumsManifest) -> Content:
    basis = manifest.blueprint.basis
    if form == "samples":
        numbers = _taken(tensors, f"{number}/samples", (torch.int16,), (count, basis.width))
        if not count or int(numbers.min()) < -LARGEST_NUMBER:
            raise FileFormatError(f"'{number}/samples' are no samples as sums hold them")
        content = content_of(numbers, basis, "samples")
        assert isinstance(content, Samples)
        if not torch.equal(content.numbers, numbers):
            raise FileFormatError(f"'{number}/samples' are not in their order")
        return content
    size = basis.size
    first = _taken(tensors, f"{number}/first", (torch.int64,), (size,))
    second = _taken(tensors, f"{number}/second", (torch.int32, torch.int64), (size * (size + 1) // 2,))
    most = count * LARGEST_FEATURE
    if not count or int(first.abs().max()) > most or int(second.long().abs().max()) > most * LARGEST_FEATURE:
        raise FileFormatError(f"'{number}/second' is larger than {count:,} samples can make it")
    return Moments(count, first, second)


def _taken(tensors: State, name: str, dtypes: tuple[torch.dtype, ...], shape: tuple[int, ...]) -> Tensor:
    tensor = tensors.pop(name, None)
    if tensor is None:
        raise FileFormatError(f"tensor {name!r} is missing")
    if tensor.dtype not in dtypes or tuple(tensor.shape) != shape:
        raise FileFormatError(
            f"{name!r} is {tensor.dtype} {tuple(tensor.shape)}, and should be {dtypes[0]} {shape}"
        )
    return tensor
