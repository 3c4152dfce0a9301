"""Lanes: how many requests of one kind are worked on at a time, so that heavy ones do not keep light ones waiting.

Handlers run in threads, of which a server has few. A request that would be one too many in its lane waits as a
coroutine, which costs next to nothing; when nobody waits for its answer any more, it is dropped before it has begun.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

WIDTH = 4
"""Requests of a lane that are worked on at a time. All lanes together take fewer threads than there are."""

_FREE = ("/api/jobs", "/api/pulse")
"""What always gets through: it costs nothing, and tells people how all else stands."""

_LISTS = (
    "/api/audit",
    "/api/runs",
    "/api/runs/progress",
    "/api/runs/recipes",
    "/api/bench/parts",
    "/api/draw/parts",
    "/api/networks/files",
)
"""What is shown before anything is chosen: it must not wait for what somebody has chosen already."""


def lane_of(method: str, path: str) -> str | None:
    """Return which requests take turns with one; None where it need not wait for any.

    Examples
    --------
    >>> lane_of("GET", "/api/networks/open"), lane_of("POST", "/api/bench/measure"), lane_of("GET", "/api/runs")
    ('networks', 'bench', 'lists')
    >>> lane_of("GET", "/api/jobs/17"), lane_of("GET", "/static/studio.css")
    (None, None)
    """
    if not path.startswith("/api/") or path.startswith(_FREE):
        return None
    return "lists" if method == "GET" and path in _LISTS else path.split("/")[2]


class Lanes:
    """An ASGI application around another that lets a few requests of each lane in at a time.

    Parameters
    ----------
    app : ASGI application
        What answers.
    lane : callable
        Returns the lane of a method and a path.

    Attributes
    ----------
    waiting : int
        Requests that have not been let in yet.
    """

    def __init__(self, app: ASGIApp, lane: Callable[[str, str], str | None] = lane_of) -> None:
        self._app = app
        self._lane = lane
        self._lanes: dict[str, anyio.Semaphore] = {}
        self.waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request when it is its turn, or not at all when whoever asked has gone."""
        name = self._lane(scope["method"], scope["path"]) if scope["type"] == "http" else None
        if name is None:
            await self._app(scope, receive, send)
            return
        lane = self._lanes.setdefault(name, anyio.Semaphore(WIDTH))
        asked = _Asked(receive)
        if await self._enter(lane, asked):
            try:
                await self._app(scope, asked.receive, send)
            finally:
                lane.release()

    async def _enter(self, lane: anyio.Semaphore, asked: _Asked) -> bool:
        """Wait for a place in a lane; return whether there is one, and anybody who wants it."""
        try:
            lane.acquire_nowait()
            return True
        except anyio.WouldBlock:
            pass
        entered = False
        self.waiting += 1
        try:
            async with anyio.create_task_group() as group:

                async def leave_when_gone() -> None:
                    await asked.wait_until_gone()
                    group.cancel_scope.cancel()

                group.start_soon(leave_when_gone)
                await lane.acquire()
                entered = True
                group.cancel_scope.cancel()
        finally:
            self.waiting -= 1
        return entered


class _Asked:
    """A request's messages, read ahead to notice when whoever asked has gone, and given again to the handler."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._kept: list[Message] = []
        self._refused: HTTPException | None = None

    async def wait_until_gone(self) -> None:
        try:
            while not self._kept or self._kept[-1]["type"] != "http.disconnect":
                self._kept.append(await self._receive())
        except HTTPException as error:  # too long; the handler shall say so when it reads
            self._refused = error
            await anyio.sleep_forever()

    async def receive(self) -> Message:
        if self._kept:
            return self._kept.pop(0)
        if self._refused is not None:
            raise self._refused
        return await self._receive()
