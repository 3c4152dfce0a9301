"""Trunks: frozen networks up to a cut, whose features are computed once and kept, so that parts can stand on them.

`trunk` makes one of a network of yours; ``trunk.features(data)`` gives a data set like any other. Inside, `cut` ends a
network early, `takes` brings samples to what it takes, `pool` makes one vector of maps and tokens, `compute` runs it
over a data set, and `named` finds trunks by name for the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .frozen import Trunk, trunk

__all__ = ["Trunk", "trunk"]

__getattr__, __dir__ = lazy_names(__name__, {"frozen": ["Trunk", "trunk"]})
