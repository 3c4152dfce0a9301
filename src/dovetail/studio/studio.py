"""What the views' routes share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar, cast

from fastapi import Depends, Request

from .folder import StudioFolder
from .held_data import DataCache
from .jobs import Jobs

Thing = TypeVar("Thing")


class Studio:
    """One running studio.

    Attributes
    ----------
    folder : StudioFolder
        The files that it shows.
    jobs : Jobs
        The long work that runs beside it.
    data : DataCache
        The data that views measure on.

    Parameters
    ----------
    folder : StudioFolder
        The files that it shows.
    given : sequence of str
        Data of users' own to measure on.
    """

    def __init__(self, folder: StudioFolder, given: Sequence[str] = ()) -> None:
        self.folder = folder
        self.jobs = Jobs()
        self.data = DataCache(folder, given)
        self._things: dict[object, object] = {}
        self._lock = threading.RLock()

    def shared(self, kind: Callable[[Studio], Thing]) -> Thing:
        """Return the one thing of a kind that this studio has, made by ``kind(studio)`` when first asked for.

        Views keep here what should outlive a request, such as parts that were read; it must be safe for threads.
        """
        with self._lock:
            if kind not in self._things:
                self._things[kind] = kind(self)
            return cast(Thing, self._things[kind])


def studio_of(request: Request) -> Studio:
    """Return the studio that a request has come to."""
    return cast(Studio, request.app.state.studio)


StudioOf = Annotated[Studio, Depends(studio_of)]
"""The type of a handler's parameter that shall be the studio."""
