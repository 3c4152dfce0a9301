"""Specialists in a folder: one file each, trained once and found again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ..data.dataset import Dataset
from ..errors import DovetailError, FileFormatError
from .basis import Basis
from .class_sets import ClassSet
from .files import open_file
from .settings import Settings
from .specialist import Specialist


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
        raise DovetailError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    if not os.access(folder, os.W_OK):  # better to know before hours of training than after
        raise DovetailError(f"cannot write into the folder {folder}; choose another")
    return folder


def find_trained(
    folder: Path,
    members: Iterable[tuple[int, ClassSet]],
    data: Dataset,
    basis: Basis,
    settings: Settings,
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
            part = open_file(path)
        except FileFormatError as error:
            raise FileFormatError(
                f"{error}; delete it to train it again, or replace all (--force)"
            ) from error
        if (
            not isinstance(part, Specialist)
            or part.rewarded != ids
            or part.seed != seed
            or part.basis != basis
        ):
            other = f"it is {part!r}"
        elif part.record.fingerprint != data.fingerprint:
            other = f"it was trained on other data ({part.record.fingerprint}, not {data.fingerprint})"
        elif part.record.training != settings.to_json():
            wanted = settings.to_json()
            names = [name for name in wanted if part.record.training.get(name) != wanted[name]]
            other = "it was trained otherwise: " + ", ".join(
                f"{name} {part.record.training.get(name)}, not {wanted[name]}" for name in names
            )
        else:
            found[seed, ids] = part
            continue
        raise DovetailError(f"{path} is in the way ({other}); replace it (--force), or use another folder")
    return found
