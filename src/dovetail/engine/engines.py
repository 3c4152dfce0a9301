"""The engines by name, and what an engine is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol, get_args

from ..errors import SpecError, unknown_name
from ..recipes import Unit
from .perform import Outcome

EngineName = Literal["local", "ray"]


class Engine(Protocol):
    """Does units somewhere.

    Attributes
    ----------
    places : sequence of str
        The device of each worker, ``"cpu"`` or ``"cuda..."``; as many units run side by side.
    """

    @property
    def places(self) -> Sequence[str]:
        """The device of each worker."""
        ...

    def run(self, units: Sequence[Unit]) -> Iterator[Outcome]:
        """Do units and yield what became of each, in whatever order."""
        ...


def find_engine(
    name: EngineName, *, address: str | None = None, jobs: int | None = None, device: str | None = None
) -> Engine:
    """Return the engine of a name."""
    if name == "local":
        if address is not None:
            raise SpecError(f"address {address!r} is for engine 'ray'; engine 'local' is this machine")
        from .local import LocalEngine

        return LocalEngine(jobs=jobs, device=device)
    if name == "ray":
        from .ray_cluster import RayEngine

        return RayEngine(address=address, jobs=jobs, device=device)
    raise unknown_name("engine", name, get_args(EngineName))
