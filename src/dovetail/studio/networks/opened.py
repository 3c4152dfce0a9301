"""Networks that were opened, and their groups, kept for the next question: reading them again would take longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..made_once import MadeOnce
from .grouping import Grouping, Groups, group_units
from .limits import MOST_BYTES
from .network import Network
from .reading import read_network

if TYPE_CHECKING:
    from ..studio import Studio

_MOST_NETWORKS, _MOST_GROUPS = 3, 8


class OpenedNetworks:
    """The few networks that were looked at last. A file that has changed is read anew."""

    def __init__(self, studio: Studio) -> None:
        self._folder = studio.folder
        self._networks = MadeOnce[Network](_MOST_NETWORKS)
        self._groups = MadeOnce[Groups](_MOST_GROUPS)

    def network(self, name: str) -> Network:
        """Return the network in a file."""
        return self._open(name)[0]

    def groups(
        self, name: str, grouping: Grouping | None, clusters: int, strongest: float | None
    ) -> tuple[Network, Groups]:
        """Return the network in a file, and its units in groups."""
        network, key = self._open(name)
        return network, self._groups.get(
            (*key, grouping, clusters, strongest),
            lambda: group_units(network, grouping, clusters, strongest),
        )

    def _open(self, name: str) -> tuple[Network, tuple[object, ...]]:
        path = self._folder.existing(name, MOST_BYTES)
        status = path.stat()
        key = (path, status.st_mtime_ns, status.st_size)
        return self._networks.get(key, lambda: read_network(path)), key
