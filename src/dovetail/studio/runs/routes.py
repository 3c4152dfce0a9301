"""Runs over HTTP: the list, one of them, several side by side, and a recipe to start."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from ...cluster.audit_folder import FILE as AUDIT
from ...engine.run_folder import CONFIG, check_folder_is, default_folder
from ...errors import DovetailError
from ...io.lock import is_worked_in
from ...recipes import find_recipe, recipes
from ..folder import Listing
from ..jobs import JobState
from ..studio import StudioOf
from .comparing import ComparedRuns, joined
from .studio_runs import DamagedRun, RunState, StudioRuns, find_run

router = APIRouter(prefix="/api/runs", tags=["runs"])

Name = Annotated[str, Query(max_length=1_000)]
_MOST_BESIDE = 12
"""Runs that are looked at side by side."""
_SCULPTURE = re.compile(r"(.+/)?seed\d+\.safetensors")


class Runs(BaseModel):
    """What there is: runs, folders with saved audits, and files of sculpted networks.

    ``complete`` is false where the folder holds more than was looked at.
    """

    runs: list[RunState]
    damaged: list[DamagedRun]
    audits: list[str]
    sculptures: list[str]
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
    good, bad = studio.shared(StudioRuns).runs(_named(found, CONFIG))
    return Runs(
        runs=good,
        damaged=bad,
        audits=[Path(name).parent.as_posix() for name in _named(found, AUDIT)],
        sculptures=[file.name for file in found.files if _SCULPTURE.fullmatch(file.name)],
        complete=found.complete,
    )


@router.get("/run")
def one_run(name: Name, studio: StudioOf) -> RunDetail:
    """Return all about one run."""
    runs = studio.shared(StudioRuns)
    run = find_run(studio.folder, name)
    return RunDetail(state=runs.state(run), html=runs.page(run))


@router.get("/compare")
def compare(
    name: Annotated[list[Name], Query(min_length=1, max_length=_MOST_BESIDE)], studio: StudioOf
) -> ComparedRuns:
    """Return several runs side by side: how far they are, and their tables joined."""
    runs = studio.shared(StudioRuns)
    found = [find_run(studio.folder, one) for one in dict.fromkeys(name)]
    return ComparedRuns(
        runs=[runs.state(run) for run in found], tables=joined([runs.tables(run) for run in found])
    )


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
