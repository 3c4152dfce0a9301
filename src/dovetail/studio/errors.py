"""Errors as answers: one line of JSON, with the status that fits."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ..errors import DovetailError
from .folder import MissingError, StudioFolder
from .safety import add_headers


def answer_errors(app: FastAPI) -> None:
    """Make an app answer what is foreseen with 4xx, and the rest with 500, all as ``{"error": ...}``."""
    app.add_exception_handler(DovetailError, _foreseen)
    app.add_exception_handler(OSError, _unreadable)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _by_status)
    app.add_exception_handler(Exception, _internal)


def _foreseen(request: Request, error: Exception) -> JSONResponse:
    folder: StudioFolder = request.app.state.studio.folder
    return _answer(404 if isinstance(error, MissingError) else 400, folder.without_root(str(error)))


def _unreadable(_: Request, error: Exception) -> JSONResponse:
    # A file may go, or be closed to us, between the look at it and the reading.
    assert isinstance(error, OSError)
    return _answer(400, f"a file cannot be used: {error.strerror or error}")


def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    lines = [
        f"{'.'.join(str(key) for key in problem['loc'][1:]) or problem['loc'][0]}: {problem['msg']}"
        for problem in error.errors()[:3]
    ]
    return _answer(422, "; ".join(lines))


def _by_status(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": str(error.detail)}, status_code=error.status_code, headers=error.headers)


def _internal(request: Request, error: Exception) -> JSONResponse:
    answer = _answer(500, f"internal error: {type(error).__name__}: {error}")
    answer.raw_headers = add_headers(
        answer.raw_headers, request.url.path
    )  # it is sent from outside of the guard
    return answer


def _answer(status: int, message: str) -> JSONResponse:
    # Names from outside may hold what no encoding knows.
    return JSONResponse({"error": message.encode("utf-8", "replace").decode()}, status_code=status)
