"""Networks that were opened, and their groups, kept for the next question: reading them again would take longer."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from .grouping import Grouping, Groups, group_units
from .limits import MOST_BYTES
from .network import Network
from .reading import read_network

if TYPE_CHECKING:
    from ..studio import Studio

Kept = TypeVar("Kept")


class OpenedNetworks:
    """The few networks that were looked at last. A file that has changed is read anew."""

    def __init__(self, studio: Studio) -> None:
        self._folder = studio.folder
        self._networks: OrderedDict[tuple[object, ...], Network] = OrderedDict()
        self._groups: OrderedDict[tuple[object, ...], Groups] = OrderedDict()
        self._lock = threading.Lock()

    def network(self, name: str) -> Network:
        """Return the network in a file."""
        return self._open(name)[0]

    def groups(
        self, name: str, grouping: Grouping | None, clusters: int, strongest: float | None
    ) -> tuple[Network, Groups]:
        """Return the network in a file, and its units in groups."""
        network, key = self._open(name)
        return network, self._kept(
            self._groups, (*key, grouping, clusters, strongest), 8,
            lambda: group_units(network, grouping, clusters, strongest),
        )  # fmt: skip

    def _open(self, name: str) -> tuple[Network, tuple[object, ...]]:
        path = self._folder.existing(name, MOST_BYTES)
        status = path.stat()
        key = (path, status.st_mtime_ns, status.st_size)
        return self._kept(self._networks, key, 3, lambda: read_network(path)), key

    def _kept(
        self,
        kept: OrderedDict[tuple[object, ...], Kept],
        key: tuple[object, ...],
        most: int,
        make: Callable[[], Kept],
    ) -> Kept:
        with self._lock:
            if key in kept:
                kept.move_to_end(key)
                return kept[key]
        made = make()  # not under the lock: a large file must not hold up the others
        with self._lock:
            kept[key] = made
            while len(kept) > most:
                kept.popitem(last=False)
        return made
