"""The bench view over HTTP: what there is, composites measured and saved, and training the demonstration's parts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from ...specialists.merge import Method
from ..jobs import JobState
from ..studio import Studio, StudioOf
from .answers import (
    Measurement,
    Parts,
    TestScore,
    measurement_answer,
    parts_answer,
    score_answer,
)
from .bench import bench_of
from .composing import Cost, Fits

router = APIRouter(prefix="/api/bench", tags=["bench"])

DEMO_FOLDER = "demo-parts"

_Name = Annotated[str, Field(max_length=1000)]
_MOST_PARTS = 100


class Files(BaseModel):
    """Files of specialists, by their names in the folder."""

    model_config = ConfigDict(extra="forbid")

    files: Annotated[list[_Name], Field(min_length=1, max_length=_MOST_PARTS)]


class Ticked(Files):
    """Specialists and a way to put them together."""

    method: Method = "sum"


class Saving(Ticked):
    """Where to save a composite."""

    name: _Name


class OneFile(BaseModel):
    """A file to look at as it is."""

    model_config = ConfigDict(extra="forbid")

    file: _Name


@router.get("/parts")
def parts(studio: StudioOf) -> Parts:
    """Return the folder's specialists in groups, its composites, and the files that are neither."""
    return parts_answer(str(studio.folder.root), studio.shared(bench_of).inventory())


@router.post("/measure")
def measure(ticked: Ticked, studio: StudioOf) -> Measurement:
    """Put specialists together and measure them on the test split; on part of it first, where that takes long."""
    measured = studio.shared(bench_of).measure(ticked.files, ticked.method)
    return measurement_answer(measured, _paths(studio, ticked.files), ticked.method)


@router.post("/cost")
def cost(ticked: Ticked, studio: StudioOf) -> Cost:
    """Return how many weights a composite computes with, and how long that takes."""
    return studio.shared(bench_of).cost(ticked.files, ticked.method)


@router.post("/look")
def look(one: OneFile, studio: StudioOf) -> Measurement:
    """Measure a composite, or one specialist, as its file has it."""
    measured = studio.shared(bench_of).look(one.file)
    return measurement_answer(measured, _paths(studio, [one.file]), None)


@router.post("/scores")
def scores(wanted: Files, studio: StudioOf) -> dict[str, TestScore]:
    """Return what specialists score each for itself, of those that are measured by now."""
    found = studio.shared(bench_of).scores(wanted.files)
    return {file: score_answer(score) for file, score in found.items()}


@router.post("/compatibility")
def compatibility(wanted: Files, studio: StudioOf) -> Fits:
    """Return how well any two specialists will merge, of the pairs that are compared by now."""
    return studio.shared(bench_of).compatibility(wanted.files)


@router.post("/clash")
def clash(ticked: Ticked, studio: StudioOf) -> dict[str, str]:
    """Return what the library warns of when it puts these specialists together; empty where there is nothing."""
    return {"warning": studio.shared(bench_of).clash(ticked.files, ticked.method)}


@router.post("/save")
def save(saving: Saving, studio: StudioOf) -> dict[str, str]:
    """Save the composite of some specialists under a name that is free, and return it."""
    path = studio.shared(bench_of).save(saving.files, saving.method, saving.name)
    return {"file": studio.folder.relative(path)}


@router.post("/demo")
def train_demo(studio: StudioOf) -> JobState:
    """Train the demonstration's specialists beside the server."""
    for job in studio.jobs.all():
        if job.kind == "demo" and job.state == "running":
            return job
    settings = {"folder": str(studio.folder.resolve(DEMO_FOLDER))}
    return studio.jobs.start("demo", "Training ten specialists of digits", settings)


def _paths(studio: Studio, files: list[str]) -> list[Path]:
    return [studio.folder.resolve(file) for file in dict.fromkeys(files)]
