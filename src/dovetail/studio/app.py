"""The studio as an ASGI application: its pages, its views' routes, jobs over HTTP, and what is around all."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from importlib import import_module
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.staticfiles import StaticFiles
from plotly.offline import get_plotlyjs

from ..report.browser_files import FOLDER
from .errors import answer_errors
from .folder import StudioFolder
from .jobs import JobState, JobSummary
from .lanes import Lanes
from .pulse import router as pulse_router
from .safety import Guard
from .studio import Studio, StudioOf

VIEWS = ("bench", "draw", "grow", "networks", "audit", "runs")
"""Each has a module ``dovetail.studio.NAME.routes`` with a ``router``, and a file ``static/views/NAME.js``."""

_STATIC = Path(__file__).parent / "static"

_jobs = APIRouter(prefix="/api/jobs", tags=["jobs"])

# plotly puts the style of its maps into the page unless an element has this name. Our policy allows no such style, and
# nothing here draws maps.
_MAPS = re.compile(r'if\(!document\.getElementById\("[0-9a-f]{64}"\)\)')


def create_app(
    folder: StudioFolder | str | Path, *, token: str, port: int, data: Sequence[str] = ()
) -> FastAPI:
    """Return the studio of a folder.

    Parameters
    ----------
    folder : StudioFolder or path
        The only files that it opens.
    token : str
        What requests must carry.
    port : int
        Where it will listen; requests to another one are refused.
    data : sequence of str
        Data of users' own to measure parts on, as `dovetail.data.open_data` takes it.
    """
    studio = Studio(folder if isinstance(folder, StudioFolder) else StudioFolder(folder), data)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        studio.jobs.stop_all()

    # No pages about the API: they would load scripts from elsewhere, and nobody needs them here.
    app = FastAPI(title="Dovetail studio", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.studio = studio
    answer_errors(app)
    app.include_router(_jobs)
    app.include_router(pulse_router)
    for name in VIEWS:
        app.include_router(import_module(f".{name}.routes", __package__).router)
    _add_pages(app)
    app.add_middleware(Lanes)
    app.add_middleware(Guard, token=token, port=port)
    return app


def _add_pages(app: FastAPI) -> None:
    pages = StaticFiles(directory=_STATIC)

    @app.get("/", include_in_schema=False)
    async def index(request: Request) -> Response:
        return await pages.get_response("index.html", request.scope)

    app.get("/static/plotly.js", include_in_schema=False)(plotly_script)
    app.mount("/static", pages)
    app.mount("/shared", StaticFiles(directory=FOLDER))  # what reports have inside


@_jobs.get("", response_model=list[JobSummary])
def all_jobs(studio: StudioOf) -> list[JobState]:
    """Return in short how all jobs stand, the latest first."""
    return studio.jobs.all()


@_jobs.get("/{job_id}")
def one_job(job_id: str, studio: StudioOf) -> JobState:
    """Return how a job stands."""
    return studio.jobs.get(job_id)


@_jobs.delete("/{job_id}")
def cancel_job(job_id: str, studio: StudioOf) -> JobState:
    """End a job."""
    return studio.jobs.cancel(job_id)


@cache
def _script() -> tuple[bytes, str]:
    content = _MAPS.sub("if(false)", get_plotlyjs()).encode()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def plotly_script(request: Request) -> Response:
    """Return the script, or that the browser has it already."""
    content, tag = _script()
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    return Response(content, media_type="text/javascript", headers={"etag": tag})
