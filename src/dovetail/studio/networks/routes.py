"""What the Networks view asks for."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from ...errors import SpecError
from ..studio import StudioOf
from .files import NetworkFiles, NetworkList, OpenedNetworks
from .finding import FoundUnits, find_units
from .grouping import Grouping, Groups
from .picture import Picture, UnitFacts, picture_of, unit_facts
from .taking_out import WithoutModule, without_module, without_unit

router = APIRouter(prefix="/api/networks", tags=["networks"])

File = Annotated[str, Query(max_length=1000, description="Path of a file, relative to the studio's folder.")]
_Count = Annotated[int, Field(ge=0, le=10**9)]


class Look(BaseModel):
    """Which groups of a network to look at."""

    model_config = ConfigDict(extra="forbid")

    file: Annotated[str, Field(max_length=1000)]
    grouping: Grouping | None = None
    clusters: Annotated[int, Field(ge=2, le=12)] = 4


class Drawing(Look):
    """Which groups to draw, and how many percent of the edges of each layer."""

    strongest: Annotated[float, Field(gt=0, le=100)] | None = None


class TakeOut(Look):
    """Which group to take out; which of the edges are drawn does not matter for it."""

    module: _Count


class OneUnit(BaseModel):
    """A unit of a network, by its layer and number."""

    model_config = ConfigDict(extra="forbid")

    file: Annotated[str, Field(max_length=1000)]
    layer: _Count
    unit: _Count


@router.get("/files")
def read_files(studio: StudioOf) -> NetworkFiles:
    """List the files that may hold networks."""
    return studio.shared(NetworkList).files()


@router.get("/open")
def open_network(studio: StudioOf, look: Annotated[Drawing, Query()]) -> Picture:
    """Open a network and draw its groups."""
    opened = studio.shared(OpenedNetworks)
    network = opened.network(look.file)
    groups: Groups | SpecError
    try:
        _, groups = opened.groups(look.file, look.grouping, look.clusters)
    except SpecError as error:
        groups = error
    return picture_of(network, groups, look.strongest)


@router.get("/unit")
def read_unit(
    studio: StudioOf,
    file: File,
    layer: Annotated[int, Query(ge=0, le=10**6)],
    unit: Annotated[int, Query(ge=0, le=10**9)],
) -> UnitFacts:
    """Tell what a unit reads, and what reads it."""
    return unit_facts(studio.shared(OpenedNetworks).network(file), layer, unit)


@router.get("/find")
def find(studio: StudioOf, file: File, text: Annotated[str, Query(max_length=100)]) -> FoundUnits:
    """Find layers and units by what they are called."""
    return find_units(studio.shared(OpenedNetworks).network(file), text)


@router.post("/without-unit")
def take_out_unit(studio: StudioOf, wish: OneUnit) -> WithoutModule:
    """Take one unit out of a network, and tell which outputs break."""
    network = studio.shared(OpenedNetworks).network(wish.file)
    return without_unit(network, (wish.layer, wish.unit), studio.data)


@router.post("/without")
def take_out(studio: StudioOf, wish: TakeOut) -> WithoutModule:
    """Take a group out of a network, and tell which outputs break."""
    network, groups = studio.shared(OpenedNetworks).groups(wish.file, wish.grouping, wish.clusters)
    return without_module(network, groups, wish.module, studio.data)
