"""Files of parts: one ``.safetensors`` each, with a JSON manifest in its header.

Tensors that were pruned are stored as ``NUMBER/NAME.values`` and ``NUMBER/NAME.positions``, others as
``NUMBER/NAME``, where NUMBER is the specialist's place; the cards of its classes as ``NUMBER/cards/`` with ``count``,
``mean``, ``variance``, ``directions`` and ``most``, a row for each class; batch-norm statistics of a merged network as
``merged/NAME``. A composite stores its specialists, so they can still be taken out. What files of sums hold is said in
`closed_form.files`. Nothing is pickled.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch
from safetensors import SafetensorError
from torch import Tensor

from ..data.dataset import Dataset
from ..data.split import is_finite
from ..errors import DataError, DovetailError, FileFormatError
from ..importing import TRUSTED
from ..io.bounds import check_borne_out
from ..io.header import manifest_in
from ..io.plain import opened_tensors, tensors_in
from ..nets.own import Build, check_build, trusted
from ..precision import in_float32
from .blueprint import Blueprint, Packed, State
from .cards import Card, from_tensors, inputs_of
from .class_sets import ClassSet
from .closed_form.files import read_sums
from .closed_form.manifest import is_sums
from .closed_form.sums import Sums
from .composite import Composite
from .manifest import Manifest, read_manifest
from .settings import TrainingSettings
from .specialist import Specialist
from .threshold import BY_CARDS

Read = TypeVar("Read")


@in_float32()
def open_part(
    path: str | Path, *, build: Build | None = None, trust: Collection[str] = ()
) -> Specialist | Composite | Sums:
    """Read a part of any kind from its file, as `dovetail.open` does.

    Parameters
    ----------
    path : path
        The file.
    build : callable, optional
        What makes its network, if that is one of your own.
    trust : collection of str
        Packages from which networks may be imported because a file names them, beside those of `dovetail --trust`.

    Raises
    ------
    FileFormatError
        When the file is missing, not one of ours, damaged, or was altered after it was written.

    Examples
    --------
    >>> import tempfile, dovetail as dt
    >>> three = dt.sums(dt.load("digits"), [3], features=20)[0]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     open_part(three.save(f"{folder}/three.safetensors")) == three
    True
    """
    check_build(build)
    return _explained(Path(path), partial(_read, build=build, trust=(*trusted(trust), *TRUSTED)))


def open_file(
    path: str | Path, *, build: Build | None = None, trust: Collection[str] = ()
) -> Specialist | Composite:
    """Read a specialist or composite from its file; as `open_part`, but for sums, which are refused.

    Examples
    --------
    >>> import tempfile, dovetail as dt
    >>> (three,) = dt.train_specialists(dt.load("digits"), "mlp:16", [3], epochs=1, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dt.open(three.save(f"{folder}/three.safetensors")) == three
    True
    """
    part = open_part(path, build=build, trust=trust)
    if isinstance(part, Sums):
        raise FileFormatError(
            f"{path} holds sums, which are not trained and have no weights to look into; dovetail.open reads them"
        )
    return part


def read_file_manifest(path: str | Path) -> Manifest:
    """Read what a file says about itself, without its weights.

    Raises
    ------
    FileFormatError
        When the file is missing, not one of ours, or its manifest is damaged. Damaged weights are not noticed.

    Examples
    --------
    >>> import tempfile, dovetail as dt
    >>> (three,) = dt.train_specialists(dt.load("digits"), "mlp:16", [3], epochs=1, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_file_manifest(three.save(f"{folder}/three.safetensors")).kind
    'specialist'
    """
    return _explained(Path(path), _manifest)


def _explained(path: Path, read: Callable[[Path], Read]) -> Read:
    """Return what is read from a file, with every reason why it cannot be in words."""
    try:
        return read(path)
    except FileNotFoundError:
        raise FileFormatError(f"there is no file {path}") from None
    except OSError as error:
        raise FileFormatError(f"cannot read {path}: {error.strerror or error}") from error
    except SafetensorError as error:
        raise FileFormatError(f"{path} is not a safetensors file, or is cut short ({error})") from None
    except FileFormatError as error:
        raise FileFormatError(f"{path} cannot be used: {error}") from None


def _manifest(path: Path, build: Build | None = None, trust: Collection[str] = ()) -> Manifest:
    return read_manifest(_text(path), build, trust)


def _text(path: Path) -> str:
    """Return the manifest of a file as text."""
    if path.is_dir():
        raise FileFormatError("it is a folder; name the files in it")
    with opened_tensors(path) as file:
        text = manifest_in(file)
    if text is None:
        raise FileFormatError(
            "it is a safetensors file without dovetail's manifest; make specialists with train_specialists; weights of "
            "other programs are for dovetail audit and dovetail modules"
        )
    return str(text)


def _read(path: Path, build: Build | None, trust: Collection[str]) -> Specialist | Composite | Sums:
    text = _text(path)
    if is_sums(text):
        return read_sums(path, text)
    manifest = read_manifest(text, build, trust)
    with opened_tensors(path) as file:
        tensors = tensors_in(file)
    shapes = manifest.blueprint_of(0).network().state_dict()
    if manifest.members is None:
        _check_sizes(tensors, shapes, len(manifest.specialists))
    specialists = []
    for number, (rewarded, provenance) in enumerate(manifest.specialists):
        blueprint = manifest.blueprint_of(number)
        own = shapes
        if manifest.members is not None:
            own = blueprint.network().state_dict()
            _check_sizes(tensors, own, 1)
        specialists.append(
            Specialist(
                blueprint,
                manifest.rewarded_of(number),
                _weights(tensors, number, own),
                provenance,
                manifest.threshold if manifest.kind == "specialist" else None,
                _cards(tensors, number, len(rewarded), blueprint),
            )
        )
    part: Specialist | Composite = specialists[0]
    if manifest.kind == "composite":
        statistics = {} if manifest.members else _statistics(tensors, manifest.blueprint, shapes)
        part = Composite(
            specialists,
            manifest.method,
            coefficients=manifest.coefficients,
            keep=manifest.keep,
            statistics=statistics,
            threshold=manifest.threshold,
        )
    if part.threshold is not None and part.threshold.confidence in BY_CARDS and not part.has_cards:
        raise FileFormatError("its threshold is of distances to cards, which it does not hold")
    if tensors:
        raise FileFormatError(f"it holds a tensor that belongs to nothing, {next(iter(tensors))!r:.80}")
    if part.manifest.digest != manifest.digest:
        raise FileFormatError("its content does not match its checksum: it was altered or damaged")
    return part


def _check_sizes(tensors: State, shapes: Mapping[str, Tensor], specialists: int) -> None:
    """Refuse networks far larger than what a file holds of them; nothing of their size has been allocated yet."""
    claimed = specialists * sum(like.shape.numel() for like in shapes.values())
    check_borne_out(
        "its network" if specialists == 1 else f"the networks of its {specialists} specialists",
        claimed,
        sum(tensor.numel() for tensor in tensors.values()),
    )


def _weights(tensors: State, number: int, shapes: Mapping[str, Tensor]) -> dict[str, Packed]:
    """Take a specialist's tensors out of a file's, checked against the network they are for."""
    weights = {}
    for name, like in shapes.items():
        key = f"{number}/{name}"
        if key in tensors:
            weights[name] = Packed(_checked(tensors.pop(key), like, name, like.shape), None, like.shape)
            continue
        values, positions = tensors.pop(f"{key}.values", None), tensors.pop(f"{key}.positions", None)
        if values is None or positions is None:
            raise FileFormatError(f"tensor {key!r} is missing")
        _check_positions(positions, name, like.shape.numel())
        weights[name] = Packed(_checked(values, like, name, positions.shape), positions, like.shape)
    return weights


def _cards(tensors: State, number: int, classes: int, blueprint: Blueprint) -> list[Card]:
    """Take a specialist's cards out of a file's tensors; none where it has none."""
    names = ("count", "mean", "variance", "directions", "most")
    taken = {name: tensors.pop(key) for name in names if (key := f"{number}/cards/{name}") in tensors}
    if not taken:
        return []
    try:
        return from_tensors(
            taken, classes, math.prod(blueprint.input_shape), inputs_of(blueprint.preparation)
        )
    except DataError as error:
        raise FileFormatError(str(error)) from None


def _statistics(tensors: State, blueprint: Blueprint, shapes: Mapping[str, Tensor]) -> State:
    stored = [name for name in shapes if f"merged/{name}" in tensors]
    wanted = {name for name, _ in blueprint.network().named_buffers()}
    if stored and set(stored) != wanted:
        raise FileFormatError("its merged batch-norm statistics are not complete")
    return {
        name: _checked(tensors.pop(f"merged/{name}"), shapes[name], name, shapes[name].shape)
        for name in stored
    }


def _checked(tensor: Tensor, like: Tensor, name: str, shape: torch.Size) -> Tensor:
    if tensor.shape != shape or tensor.dtype != like.dtype:
        raise FileFormatError(
            f"{name!r} is {tensor.dtype} {tuple(tensor.shape)}, and its network takes {like.dtype} {tuple(shape)}"
        )
    if tensor.is_floating_point() and not is_finite(tensor):
        raise FileFormatError(f"{name!r} holds NaN or infinity")
    return tensor


def _check_positions(positions: Tensor, name: str, size: int) -> None:
    if positions.dtype != torch.int32 or positions.dim() != 1:
        raise FileFormatError(f"positions of {name!r} are not a list of int32")
    if len(positions) and (
        positions[0] < 0 or positions[-1] >= size or not bool((positions.diff() > 0).all())
    ):
        raise FileFormatError(f"positions of {name!r} are not ascending places in a tensor of {size}")


def file_name(data: str, rewarded: Iterable[int], seed: int) -> str:
    """Return what a specialist's file is called.

    Examples
    --------
    >>> file_name("digits", (0, 3), 1)
    'digits-0+3-seed1.safetensors'
    """
    safe = re.sub(r"[^\w.-]", "_", data)
    return f"{safe}-{'+'.join(map(str, rewarded))}-seed{seed}.safetensors"


def make_folder(path: str | Path) -> Path:
    """Return a folder that exists."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise DovetailError(f"cannot make the folder {folder}: it is a file; choose another name") from error
    except OSError as error:
        raise DovetailError(
            f"cannot make the folder {folder}: {error.strerror or error}; choose another"
        ) from error
    if not os.access(folder, os.W_OK):  # better to know before hours of training than after
        raise DovetailError(f"cannot write into the folder {folder}; choose another")
    return folder


def find_trained(
    folder: Path,
    members: Iterable[tuple[int, ClassSet]],
    data: Dataset,
    blueprint: Blueprint,
    settings: TrainingSettings,
    *,
    replace: bool,
) -> dict[tuple[int, ClassSet], Specialist]:
    """Return the members (seed, classes) that a folder has already, trained in just this way.

    Raises
    ------
    DovetailError
        When a file in the place of one is something else, unless ``replace`` allows to train it anew.
    """
    found = {}
    for seed, ids in members:
        path = folder / file_name(data.name, ids, seed)
        if not path.exists() or replace:
            continue
        try:
            part = open_file(path, build=blueprint.code)
        except FileFormatError as error:
            raise FileFormatError(
                f"{error}; delete it to train it again, or replace all (--force)"
            ) from error
        if (
            not isinstance(part, Specialist)
            or part.rewarded != ids
            or part.seed != seed
            or part.blueprint != blueprint
        ):
            other = f"it is {part!r}"
        elif part.provenance.fingerprint != data.fingerprint:
            other = f"it was trained on other data ({part.provenance.fingerprint}, not {data.fingerprint})"
        elif (trained := TrainingSettings.from_provenance(part.provenance.training)) != settings:
            had, wanted = trained.model_dump(), settings.model_dump()
            names = [name for name in wanted if had[name] != wanted[name]]
            other = "it was trained otherwise: " + ", ".join(
                f"{name} {had[name]}, not {wanted[name]}" for name in names
            )
        else:
            found[seed, ids] = part
            continue
        raise DovetailError(f"{path} is in the way ({other}); replace it (--force), or use another folder")
    return found


def keep_trained(
    part: Specialist, folder: Path, data: Dataset, settings: TrainingSettings, *, replace: bool
) -> None:
    """Save a specialist that was just trained; what somebody else trained meanwhile in just this way counts as well.

    Raises
    ------
    DovetailError
        When another process has put something else in its place meanwhile, unless ``replace`` allows to replace it.
    """
    try:
        part.save(folder / file_name(data.name, part.rewarded, part.seed), replace=replace)
    except DovetailError:
        member = (part.seed, part.rewarded)
        if not find_trained(folder, [member], data, part.blueprint, settings, replace=replace):
            raise
