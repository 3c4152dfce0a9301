"""Computing features: a trunk over all samples, in batches, on all devices, and kept on disk."""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import re
import shutil
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np
import torch
from torch import Tensor

from ..data.dataset import Dataset
from ..data.own.features_folder import (
    FILE,
    FeaturesFile,
    features_content,
    is_features,
    read_features_file,
)
from ..data.own.like import Like, preparation_of
from ..data.preparation import Features, Numbers, Texts, Words
from ..data.sources import cache_folder, expand_user
from ..data.split import is_finite
from ..errors import DataError, DovetailError, ShapeError
from ..io.write import write_whole
from ..population.checks import check_device
from ..population.progress import ProgressBar

if TYPE_CHECKING:
    from .frozen import Trunk

Devices = str | torch.device | Sequence[str | torch.device] | None
"""Where to compute; several take turns."""

_DTYPES = (torch.float32, torch.bfloat16, torch.float16)
_ROUNDING = {torch.float32: 1e-2, torch.bfloat16: 0.1, torch.float16: 0.05}
"""By how much, of its length, a sample's features may differ between machines that compute in a number type."""
_TRIED = 4
"""Samples that are computed again before what is kept is taken."""
_BATCH = 128
_PICTURE = 3
"""Axes of one."""
_AHEAD = 2
"""Batches that each device may be ahead of what is written."""


def compute_features(
    trunk: Trunk,
    x: Tensor,
    *,
    batch_size: int = _BATCH,
    device: Devices = None,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Return the features of samples, in main memory."""
    return torch.cat(list(_batches(trunk, x, batch_size, _devices(device), dtype)))


def features_of(
    trunk: Trunk,
    data: Dataset,
    *,
    folder: str | Path | None,
    batch_size: int,
    device: Devices,
    dtype: torch.dtype,
    scale: bool | None,
    like: Like | None,
    progress: bool,
) -> Dataset:
    """Return the features of a data set, from the disk if they are there; see `Trunk.features`."""
    _check_samples(trunk, data)
    wanted = None if like is None else _features_like(like, trunk, data)
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise DataError(
            f"batch_size is how many samples to take at a time, at least 1; got {batch_size!r:.40}"
        )
    if dtype not in _DTYPES:
        raise DataError(f"dtype is one of {', '.join(map(str, _DTYPES))}; got {dtype!r:.40}")
    devices = _devices(device)
    name = f"{data.name}-{trunk.name}"
    key = _key(trunk, data, dtype)
    place = (
        cache_folder("features") / f"{_safe(name)}-{key}"
        if folder is None
        else expand_user(folder).absolute()
    )
    if folder is not None and (place.exists() and not is_features(place)) and not _is_empty(place):
        raise DovetailError(f"{place} is in the way and holds no features; choose another folder")

    def are_there() -> bool:
        if not is_features(place):
            return False
        _check_key(place, key)
        if _gives(trunk, data.train.x, place / "train.x.npy", devices[0], dtype):
            return True
        if folder is not None:
            raise DovetailError(
                f"{place} holds other features than {trunk.name} gives now, though its weights are the same: code that "
                "it runs has changed; choose another folder, or delete it"
            )
        return False

    if not are_there():
        with _held(place) as work:
            if not are_there():  # another process may just have made them
                _fill(work, trunk, data, name, key, batch_size, devices, dtype, scale, progress)
                if is_features(place):  # what it does not give any more
                    shutil.rmtree(place)
                elif _is_empty(place):
                    place.rmdir()
                work.rename(place)
    content = features_content(place, wanted or _scaled(place, scale))
    preparation = cast(Features, content.preparation).with_trunk(trunk)
    return Dataset.from_content(name, content._replace(preparation=preparation), {"features": place.name})


def _check_key(place: Path, key: str) -> None:
    """Refuse a folder that holds other features."""
    if is_features(place) and read_features_file(place).key != key:
        raise DovetailError(
            f"{place} holds other features (of {read_features_file(place).preparation.trunk}, or of other data); "
            "choose another folder, or delete it"
        )


def _features_like(like: Like, trunk: Trunk, data: Dataset) -> Features:
    """Return how features are scaled to be like those of something else."""
    preparation = preparation_of(like)
    if not isinstance(preparation, Features):
        raise DataError(f"like= takes something that stands on features; this takes {preparation.describe()}")
    if preparation.before != data.preparation:
        raise DataError(
            f"samples of {data.name} are prepared in another way than those that its features were computed of; read "
            "them with the same like="
        )
    return preparation.with_trunk(trunk)


def _check_samples(trunk: Trunk, data: Dataset) -> None:
    """Refuse samples that are not what the trunk takes."""
    before = data.preparation
    if isinstance(before, Features):
        raise DataError(f"{data.name} holds features already, of the trunk {before.trunk}")
    if trunk.takes_texts and not isinstance(before, Texts):
        more = "; read them with texts='raw'" if isinstance(before, Words) else ""
        raise DataError(f"the trunk {trunk.name} takes texts, and {data.name} holds something else{more}")
    if not trunk.takes_texts and isinstance(before, Texts):
        raise DataError(
            f"{data.name} holds texts, and the trunk {trunk.name} takes numbers; give it a tokenizer, if it takes texts"
        )


def _scaled(place: Path, scale: bool | None) -> Features:
    """Return how features that are kept are scaled as is asked for; they are kept as the trunk gave them."""
    kept = read_features_file(place).preparation
    wanted = len(kept.shape) == 1 if scale is None else scale
    is_scaled = (kept.shift, kept.scale) != ((0.0,), (1.0,))
    if wanted == is_scaled:
        return kept
    shift, spread = _fitted(place, wanted)
    return kept.model_copy(update={"shift": shift, "scale": spread})


def _fitted(folder: Path, scale: bool) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return shift and scale that bring a folder's training features to mean 0 and variance 1, or leave them."""
    train = np.load(folder / "train.x.npy", mmap_mode="r", allow_pickle=False)
    fitted = Numbers.fitted(train, "standard" if scale else "none")
    return fitted.shift, fitted.scale


def _key(trunk: Trunk, data: Dataset, dtype: torch.dtype) -> str:
    """Return a hash of all that features depend on; how they are scaled is no matter, as they are kept unscaled."""
    what = [trunk.facts.model_dump(), trunk.code_hash, str(dtype), None, data.fingerprint]
    before = None if data.preparation is None else data.preparation.digest
    return hashlib.sha256(json.dumps([*what, before, data.name], sort_keys=True).encode()).hexdigest()[:16]


@contextmanager
def _held(place: Path) -> Iterator[Path]:
    """Yield the folder in which features are made, which no other process has meanwhile; it may have begun earlier."""
    work = _work_of(place)
    try:
        work.mkdir(parents=True, exist_ok=True)
        lock = _locked(place.with_name(f".{place.name}.lock"))
        try:
            work.mkdir(exist_ok=True)  # whoever had it before has renamed it
            yield work
        finally:
            if not any(file.stat().st_size for file in work.glob("*.npy")):  # done, or nothing to go on with
                shutil.rmtree(work, ignore_errors=True)
                Path(lock.name).unlink(missing_ok=True)
            lock.close()
    except OSError as error:
        raise DovetailError(
            f"cannot keep features in {place} ({error.strerror or error}); what is done stays there, and the same "
            "call goes on with it; or choose another folder, or set $DOVETAIL_CACHE to one that you can write to, with "
            "room and locks"
        ) from error


def _work_of(place: Path) -> Path:
    """Return the folder beside another in which its features are made."""
    return place.with_name(f".{place.name}.part")


def _locked(path: Path) -> TextIOWrapper:
    """Return a lock file that no other process has."""
    while True:
        lock = path.open("w", encoding="utf-8")
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):  # whoever had it has meanwhile removed it
            if os.fstat(lock.fileno()).st_ino == path.stat().st_ino:
                return lock
        lock.close()


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _fill(
    work: Path,
    trunk: Trunk,
    data: Dataset,
    name: str,
    key: str,
    batch_size: int,
    devices: list[torch.device],
    dtype: torch.dtype,
    scale: bool | None,
    progress: bool,
) -> None:
    """Compute what is not there yet of the features of a data set."""
    begun, first = work / "key", work / "train.x.npy"
    if (
        not begun.is_file()
        or begun.read_text("utf-8") != key
        or not _gives(trunk, data.train.x, first, devices[0], dtype)
    ):
        for file in work.iterdir():
            file.unlink()
        begun.write_text(key, "utf-8")
    same: dict[str, str] = {}
    own: dict[int, str] = {}
    for split_name, split in data.splits.items():
        if id(split) in own:
            same[split_name] = own[id(split)]
        else:
            own[id(split)] = split_name
    total = sum(len(data.splits[split_name]) for split_name in own.values())
    shape: tuple[int, ...] = ()
    with ProgressBar(f"Features of {data.name}", total, show=progress, unit="samples") as bar:
        for split_name in own.values():
            split = data.splits[split_name]
            shape = _write_split(
                work / f"{split_name}.x.npy", trunk, split.x, batch_size, devices, dtype, bar
            )
            np.save(work / f"{split_name}.y.npy", split.y.cpu().numpy(), allow_pickle=False)
    shift, spread = _fitted(work, len(shape) == 1 if scale is None else scale)
    about = FeaturesFile(
        key=key,
        name=name,
        classes=data.classes,
        task=data.task,
        splits={split_name: len(split) for split_name, split in data.splits.items()},  # type: ignore[misc]
        same=same,  # type: ignore[arg-type]
        preparation=Features(
            trunk=trunk.facts,
            before=data.preparation,  # type: ignore[arg-type]
            sample_shape=data.input_shape,
            shape=shape,
            shift=shift,
            scale=spread,
        ),
        notes=data.notes,
    )
    begun.unlink()
    write_whole(work / FILE, lambda path: path.write_text(about.to_text(), "utf-8"))


def _write_split(
    path: Path,
    trunk: Trunk,
    x: Tensor,
    batch_size: int,
    devices: list[torch.device],
    dtype: torch.dtype,
    bar: ProgressBar,
) -> tuple[int, ...]:
    """Write the features of samples to a file, after those that it holds already; return the shape of one."""
    shape, done = _written(path, len(x))
    bar.advance(done)
    if done == len(x):
        return shape
    with path.open("ab") as file:
        for features in _batches(trunk, x[done:], batch_size, devices, dtype):
            if not shape:
                shape = tuple(features.shape[1:])
                header = {"descr": "<f4", "fortran_order": False, "shape": (len(x), *shape)}
                np.lib.format.write_array_header_1_0(file, header)
            file.write(features.numpy().tobytes())
            bar.advance(len(features))
        file.flush()
        os.fsync(file.fileno())
    return shape


def _gives(trunk: Trunk, x: Tensor, path: Path, device: torch.device, dtype: torch.dtype) -> bool:
    """Whether a trunk gives what a file holds of the first samples, up to rounding: that shows what no hash sees."""
    kept = _first_rows(path, min(len(x), _TRIED))
    if not len(kept):
        return True
    found = _features(trunk.on(device), x[: len(kept)], device, dtype)
    if found.shape != kept.shape:
        return False
    difference, length = (found - kept).flatten(1).norm(dim=1), kept.flatten(1).norm(dim=1)
    return bool((difference <= _ROUNDING[dtype] * length + 1e-6).all())


def samples_kept(folder: str | Path) -> int:
    """Return of how many samples there are features in a folder, or beside it where they are being made."""
    place = expand_user(folder).absolute()
    kept = 0
    for file in (*place.glob("*.x.npy"), *_work_of(place).glob("*.x.npy")):
        with suppress(OSError, ValueError), file.open("rb") as opened:
            kept += _rows_in(opened)[1]
    return kept


def _rows_in(file: BinaryIO) -> tuple[tuple[int, ...], int]:
    """Read the header of a file of features; return the shape that it shall have, and how many whole rows it has.

    Raises
    ------
    ValueError
        When it was not begun here.
    """
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("not begun here")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    row = math.prod(shape[1:]) * 4
    if not shape or dtype != np.float32 or not row:
        raise ValueError("it holds something else")
    return shape, (os.fstat(file.fileno()).st_size - file.tell()) // row


def _first_rows(path: Path, count: int) -> Tensor:
    """Return the first rows of a file of features, which need not be whole; none where it is none."""
    try:
        with path.open("rb") as file:
            shape, held = _rows_in(file)
            rows, row = min(count, held), math.prod(shape[1:])
            return torch.from_numpy(np.fromfile(file, np.float32, rows * row).reshape(rows, *shape[1:]))
    except (OSError, ValueError):
        return torch.empty(0)


def _written(path: Path, rows: int) -> tuple[tuple[int, ...], int]:
    """Return the shape of a sample's features in a file that was begun, and how many whole rows it is cut to."""
    try:
        with path.open("rb+") as file:
            shape, held = _rows_in(file)
            if shape[0] != rows:
                raise ValueError("begun for other samples")
            done = min(rows, held)
            file.truncate(file.tell() + done * math.prod(shape[1:]) * 4)
            return tuple(shape[1:]), done
    except FileNotFoundError:
        return (), 0
    except ValueError:
        path.unlink()
        return (), 0


def _batches(
    trunk: Trunk, x: Tensor, batch_size: int, devices: list[torch.device], dtype: torch.dtype
) -> Iterator[Tensor]:
    """Yield the features of batch after batch; devices take turns, each a little ahead of what is taken."""
    starts = range(0, len(x), batch_size)
    replicas = [trunk.on(device) for device in devices]
    workers = [ThreadPoolExecutor(1, thread_name_prefix="dovetail-features") for _ in devices]
    ahead: deque[Future[Tensor]] = deque()
    try:
        for number, start in enumerate(starts):
            turn = number % len(devices)
            rows = x[start : start + batch_size]
            ahead.append(workers[turn].submit(_features, replicas[turn], rows, devices[turn], dtype))
            if len(ahead) > _AHEAD * len(devices):
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        for worker in workers:
            worker.shutdown(cancel_futures=True)


@torch.inference_mode()
def _features(trunk: Trunk, x: Tensor, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Return the features of a batch, in main memory."""
    given = x if trunk.takes_texts else x.to(device)
    shape = tuple(x.shape[1:])
    try:
        with torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
            found: Tensor = trunk(given).float().cpu()
    except torch.cuda.OutOfMemoryError:
        raise DovetailError(
            f"{len(x)} samples at a time are too many for the memory of {device}; give a smaller batch_size"
        ) from None
    except DovetailError:
        raise
    except (
        ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError
    ) as error:  # fmt: skip
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        more = "; pictures are brought to a size with size=" if len(shape) == _PICTURE else ""
        raise ShapeError(f"{trunk.name} cannot take samples of shape {shape} ({reason}){more}") from error
    if len(found) != len(x):
        raise ShapeError(
            f"at its cut {trunk.name} gives {tuple(found.shape)} for {len(x)} samples, not a row for each"
        )
    if not found[0].numel():
        raise ShapeError(f"at its cut {trunk.name} gives {tuple(found.shape)}, no features; cut it elsewhere")
    if not is_finite(found):
        raise DataError(
            f"features of {trunk.name} are NaN or infinite; are samples scaled as it expects? ({dtype})"
        )
    return found


def _devices(given: Devices) -> list[torch.device]:
    """Return where to compute: all GPUs by default."""
    if given is None:
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        return [torch.device("cuda", number) for number in range(count)] or [torch.device("cpu")]
    several = [given] if isinstance(given, str | torch.device) else list(given)
    if not several:
        raise DataError("device is an empty list; name at least one")
    chosen = [check_device(one) for one in several]
    return [torch.device("cuda", one.index or 0) if one.type == "cuda" else one for one in chosen]


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)[:80]
