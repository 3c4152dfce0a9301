"""The draw view over HTTP: what can be drawn for, answers to drawings, and the hardest test images."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from ..bench.bench import bench_of
from ..bench.routes import Ticked
from ..studio import StudioOf
from .answers import Drawn, DrawParts, HardList, draw_parts_answer
from .board import board_of

router = APIRouter(prefix="/api/draw", tags=["draw"])

_MOST_PLACES = 10_000_000


class Drawing(Ticked):
    """A drawing, and who is asked about it."""

    ink: Annotated[str, Field(max_length=100_000)]


class Choice(Ticked):
    """Which test image: its place, counted from 0, among those of a class, or those that are mistaken, or all."""

    place: Annotated[int, Field(ge=0, le=_MOST_PLACES)] = 0
    class_id: Annotated[int, Field(ge=0, le=_MOST_PLACES)] | None = None
    mistakes: bool = False


@router.get("/parts")
def parts(studio: StudioOf) -> DrawParts:
    """Return the folder's specialists in groups, and whether one can draw for them."""
    return draw_parts_answer(str(studio.folder.root), studio.shared(bench_of).inventory())


@router.post("/drawing")
def drawing(given: Drawing, studio: StudioOf) -> Drawn:
    """Return what specialists and their composite say to a drawing."""
    return studio.shared(board_of).drawn(given.files, given.method, given.ink)


@router.post("/hardest")
def hardest(choice: Choice, studio: StudioOf) -> HardList:
    """Return one of the test images that a composite finds hardest."""
    return studio.shared(board_of).hardest(
        choice.files, choice.method, place=choice.place, number=choice.class_id, only_mistakes=choice.mistakes
    )
