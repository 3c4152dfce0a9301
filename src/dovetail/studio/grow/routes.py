"""The grow view over HTTP: what can be grown, a class taught from drawings or from data, and answers to drawings."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from ..bench.routes import Files
from ..jobs import JobState
from ..studio import Studio, StudioOf
from .examples import FEWEST, MOST
from .grown import Grown, Heard, Places, grown_of, places
from .teaching import LONGEST_NAME, data_path

router = APIRouter(prefix="/api/grow", tags=["grow"])

_MOST_LEFT_OUT = 100
_Ink = Annotated[str, Field(max_length=100_000)]
_ClassName = Annotated[str, Field(max_length=1000)]
_Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


class Lesson(Files):
    """A class, drawn a few times, and the files of those that shall know it."""

    name: _Name
    inks: Annotated[list[_Ink], Field(min_length=FEWEST, max_length=MOST)]


class Reading(Files):
    """Data in the studio's folder with new classes, and the column of a table that names them."""

    data: Annotated[str, Field(min_length=1, max_length=1000)]
    target: Annotated[str, Field(max_length=200)] | None = None


class Question(Files):
    """A drawing, who is asked about it, and the classes that are left out."""

    without: list[_ClassName] = Field(default_factory=list, max_length=_MOST_LEFT_OUT)
    ink: _Ink


@router.get("/places")
def grow_places(studio: StudioOf) -> Places:
    """Return what can be grown, and the data that lies in the folder."""
    return places(studio)


@router.post("/prepare")
def prepare(studio: StudioOf) -> dict[str, bool]:
    """Start the process that will teach, because somebody has begun to draw examples."""
    studio.jobs.prepare("grow")
    return {"ready": True}


@router.post("/teach")
def teach(lesson: Lesson, studio: StudioOf) -> JobState:
    """Teach a class that was drawn, beside the server."""
    settings = {"files": _checked(studio, lesson), "name": lesson.name, "inks": lesson.inks}
    return studio.jobs.start("grow", f"Teaching {lesson.name}", {"root": str(studio.folder.root), **settings})


@router.post("/add")
def add(reading: Reading, studio: StudioOf) -> JobState:
    """Teach the new classes of data in the folder, beside the server."""
    data_path(studio.folder, reading.data)
    settings = {"files": _checked(studio, reading), "data": reading.data, "target": reading.target}
    return studio.jobs.start(
        "grow", f"Teaching {reading.data}", {"root": str(studio.folder.root), **settings}
    )


@router.post("/ask")
def ask(question: Question, studio: StudioOf) -> Heard:
    """Return what a composite says to a drawing."""
    grown: Grown = studio.shared(grown_of)
    return grown.ask(question.files, question.without, question.ink)


def _checked(studio: Studio, wanted: Files) -> list[str]:
    """Return the files, all of which are there."""
    for file in wanted.files:
        studio.folder.existing(file)
    return list(dict.fromkeys(wanted.files))
