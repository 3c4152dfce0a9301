"""Runs over HTTP: the list, one of them, its figures, and a recipe to start."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from ...cluster.audit_folder import FILE as AUDIT
from ...engine.folder_files import is_worked_in
from ...engine.run_folder import CONFIG, check_folder_is, default_folder
from ...errors import DovetailError
from ...recipes import find_recipe, recipes
from ..folder import Listing
from ..jobs import JobState
from ..studio import StudioOf
from .studio_runs import DamagedRun, RunState, StudioRuns, find_run

router = APIRouter(prefix="/api/runs", tags=["runs"])

Name = Annotated[str, Query(max_length=1_000)]
_SCULPTURE = re.compile(r"(?:(.+)/)?seed\d+\.safetensors")


class OtherFolder(BaseModel):
    """A folder with a saved audit, or with sculptures: the files in it that are worth a look."""

    name: str
    files: list[str]


class Runs(BaseModel):
    """What there is; ``complete`` is false where the folder holds more than was looked at."""

    runs: list[RunState]
    damaged: list[DamagedRun]
    audits: list[OtherFolder]
    sculptures: list[OtherFolder]
    complete: bool


class RunDetail(BaseModel):
    """One run: how far it is, and what a report says of it, as HTML."""

    state: RunState
    html: str


class RecipeName(BaseModel):
    """A recipe that can be started."""

    name: str
    paper: str
    title: str
    shows: str


class RecipeRequest(BaseModel):
    """A recipe to run at smoke scale; into ``runs/NAME-smoke`` if no folder is named."""

    recipe: str = Field(max_length=100)
    folder: str | None = Field(default=None, max_length=1_000)


@router.get("")
def all_runs(studio: StudioOf) -> Runs:
    """Return all runs, and folders of audits and sculptures."""
    found = studio.folder.find((CONFIG, AUDIT, ".safetensors"))
    names = [file.name for file in found.files]
    good, bad = studio.shared(StudioRuns).runs(_named(found, CONFIG))
    sculptures: dict[str, list[str]] = {}
    for name in names:
        if match := _SCULPTURE.fullmatch(name):
            sculptures.setdefault(match[1] or ".", []).append(name)
    return Runs(
        runs=good,
        damaged=bad,
        audits=[OtherFolder(name=_folder(name), files=[name]) for name in _named(found, AUDIT)],
        sculptures=[OtherFolder(name=name, files=files) for name, files in sculptures.items()],
        complete=found.complete,
    )


@router.get("/run")
def one_run(name: Name, studio: StudioOf) -> RunDetail:
    """Return all about one run."""
    runs = studio.shared(StudioRuns)
    run = find_run(studio.folder, name)
    return RunDetail(state=runs.state(run), html=runs.page(run))


@router.get("/progress")
def progress(name: Name, studio: StudioOf) -> RunState:
    """Return how far one run is."""
    return studio.shared(StudioRuns).state(find_run(studio.folder, name))


@router.get("/recipes")
def all_recipes() -> list[RecipeName]:
    """Return the recipes that can be started."""
    return [RecipeName(name=r.name, paper=r.paper, title=r.title, shows=r.shows) for r in recipes()]


@router.post("")
def start(asked: RecipeRequest, studio: StudioOf) -> JobState:
    """Start a recipe at smoke scale beside the server, or go on with it."""
    recipe = find_recipe(asked.recipe)
    name = asked.folder or default_folder(recipe, "smoke").as_posix()
    path = studio.folder.resolve(name)
    check_folder_is(path, recipe, "smoke")
    if is_worked_in(path):
        raise DovetailError(f"{name!r} is being worked in already; wait for it, or name another folder")
    settings = {"recipe": recipe.name, "run": name, "path": str(path)}
    return studio.jobs.start("recipe", f"{recipe.name} at smoke scale", settings)


def _named(found: Listing, file: str) -> list[str]:
    """Return the files of exactly this name."""
    return [one.name for one in found.files if one.name.rpartition("/")[2] == file]


def _folder(name: str) -> str:
    return name.rpartition("/")[0] or "."
