"""The studio as an ASGI application: its pages, its views' routes, and the guard around all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.staticfiles import StaticFiles

from ..report.browser_files import FOLDER
from . import job_routes
from .errors import answer_errors
from .folder import StudioFolder
from .plotly_script import plotly_script
from .safety import Guard
from .studio import Studio

VIEWS = ("bench", "draw", "networks", "audit", "runs")
"""Each has a module ``dovetail.studio.NAME.routes`` with a ``router``, and a file ``static/views/NAME.js``."""

_STATIC = Path(__file__).parent / "static"


def create_app(folder: StudioFolder | str | Path, *, token: str, port: int) -> FastAPI:
    """Return the studio of a folder.

    Parameters
    ----------
    folder : StudioFolder or path
        The only files that it opens.
    token : str
        What requests must carry.
    port : int
        Where it will listen; requests to another one are refused.
    """
    studio = Studio(folder if isinstance(folder, StudioFolder) else StudioFolder(folder))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        studio.jobs.stop_all()

    # No pages about the API: they would load scripts from elsewhere, and nobody needs them here.
    app = FastAPI(title="Dovetail studio", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.studio = studio
    answer_errors(app)
    for module in (job_routes, *(import_module(f".{name}.routes", __package__) for name in VIEWS)):
        app.include_router(module.router)
    _add_pages(app)
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
