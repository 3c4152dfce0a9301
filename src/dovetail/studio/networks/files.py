"""Files in the studio's folder that may hold a network: listed with what is wrong with them, and kept once opened."""

from __future__ import annotations

import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel
from torch.serialization import get_unsafe_globals_in_checkpoint

from ...errors import DovetailError, FileFormatError
from ...opening import kind_of
from ..cache import Cache
from ..folder import FoundFile, Version
from .grouping import Grouping, Groups, group_units
from .limits import MOST_BYTES, MOST_TEXT_BYTES, check_bytes
from .network import Network
from .reading import read_network

if TYPE_CHECKING:
    from ..studio import Studio

_MOST_NETWORKS, _MOST_GROUPS = 3, 8

_TORCH = (".pt", ".pth", ".ckpt", ".bin")

_MOST = 500

_PICKLE = b"\x80"

FileKind = Literal["sculpture", "specialist or composite", "modules", "checkpoint"]

_KINDS: dict[str | None, FileKind] = {"sculpture": "sculpture", "part": "specialist or composite"}


class NetworkFile(BaseModel):
    """A file, what it seems to hold, and why it cannot be opened where it cannot."""

    name: str
    bytes: int
    kind: FileKind
    problem: str | None = None


class NetworkFiles(BaseModel):
    """The files that were found; ``complete`` is false where there are more."""

    files: list[NetworkFile]
    complete: bool


class NetworkList:
    """The files in a studio's folder that may hold networks; one that has not changed is not looked at again."""

    def __init__(self, studio: Studio) -> None:
        self._folder = studio.folder
        self._seen = Cache[tuple[NetworkFile | None]](2 * _MOST)

    def files(self) -> NetworkFiles:
        """Return the files that may hold networks, by the first bytes of each; none is read as a whole."""
        found = self._folder.find((".safetensors", ".json", *_TORCH), most=_MOST)
        seen = [self._seen.get(file, partial(self._look, file))[0] for file in found.files]
        return NetworkFiles(files=[file for file in seen if file is not None], complete=found.complete)

    def _look(self, file: FoundFile) -> tuple[NetworkFile | None]:
        """Return what a file seems to hold; None inside for one that is no concern of this view."""
        path = self._folder.resolve(file.name)
        entry = NetworkFile(name=file.name, bytes=file.size, kind="checkpoint")
        try:
            if file.name.endswith(".json"):
                if kind_of(path) != "hierarchy":
                    return (None,)
                entry.kind = "modules"
                self._folder.check_size(path, MOST_TEXT_BYTES)
            elif file.name.endswith(_TORCH):
                check_bytes(path)
                _check_torch(path)
            else:
                check_bytes(path)
                entry.kind = _KINDS.get(kind_of(path), "checkpoint")
        except (DovetailError, OSError) as error:
            if file.name.endswith(".json") and entry.kind != "modules":
                return (None,)
            entry.problem = self._folder.without_root(str(error))
        return (entry,)


def _check_torch(path: Path) -> None:
    """Refuse what cannot be a file of PyTorch, and one with objects in it, which would have to be run."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            if file.read(1) != _PICKLE:
                raise FileFormatError(f"{path.name!r} is damaged, cut short, or no file of weights")
        return  # PyTorch's old format: opening it will tell
    try:
        objects = get_unsafe_globals_in_checkpoint(path)
    except Exception as error:  # as in `load_checkpoint`: a damaged file makes torch fail in a dozen ways
        raise FileFormatError(f"{path.name!r} is damaged, or no file of weights") from error
    if objects:
        raise FileFormatError(f"{path.name!r} holds Python objects ({objects[0]}), which are never loaded")


class OpenedNetworks:
    """The few networks that were looked at last. A file that has changed is read anew."""

    def __init__(self, studio: Studio) -> None:
        self._folder = studio.folder
        self._networks = Cache[Network](_MOST_NETWORKS)
        self._groups = Cache[Groups](_MOST_GROUPS)

    def network(self, name: str) -> Network:
        """Return the network in a file."""
        return self._open(name)[0]

    def groups(self, name: str, grouping: Grouping | None, clusters: int) -> tuple[Network, Groups]:
        """Return the network in a file, and its units in groups."""
        network, version = self._open(name)
        key = (version, grouping, clusters)
        return network, self._groups.get(key, lambda: group_units(network, grouping, clusters))

    def _open(self, name: str) -> tuple[Network, Version]:
        version = self._folder.version(name, MOST_BYTES)
        return self._networks.get(version, lambda: read_network(version.path)), version
