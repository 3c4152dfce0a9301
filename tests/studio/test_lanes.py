"""Lanes: heavy requests keep no light ones waiting, and what nobody waits for is never begun."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from dovetail.errors import DovetailError
from dovetail.studio.lanes import WIDTH, Lanes
from dovetail.studio.networks.files import OpenedNetworks
from dovetail.studio.serve import listen, server_config

from .conftest import TOKEN, UrlOf

MANY = 100
PATIENCE = 60.0
"""Seconds after which something that waits for nothing of ours is taken for stuck."""


def ask(port: int, path: str, body: bytes = b"") -> http.client.HTTPConnection:
    """Send a request, and do not wait for its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    connection.request("POST" if body else "GET", path, body or None, headers)
    return connection


def wait_until(holds: Callable[[], bool]) -> None:
    """Return when something holds; the test that waits in vain fails by its own words."""
    never = threading.Event()
    for _ in range(int(PATIENCE / 0.01)):
        if holds():
            return
        never.wait(0.01)
    raise AssertionError("it never came to that")


class Held:
    """An ASGI application whose requests are answered when the test says so."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.bodies: list[bytes] = []
        self._open = threading.Event()

    def release(self) -> None:
        self._open.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        self.begun.append(scope["path"])
        self.bodies.append((await receive()).get("body", b""))
        if not scope["path"].endswith("/light"):
            await anyio.to_thread.run_sync(self._open.wait, PATIENCE)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def served() -> Iterator[tuple[Held, Lanes, int]]:
    """Such an application in lanes, and the port on which it answers."""
    app = Held()
    lanes = Lanes(app)
    with ExitStack() as stack:
        listening = stack.enter_context(listen(0))
        config = server_config(lanes)
        config.lifespan = "off"
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()

        def end() -> None:
            server.should_exit = True
            app.release()
            thread.join(PATIENCE)

        stack.callback(end)
        yield app, lanes, listening.getsockname()[1]


def test_a_lane_is_so_wide_and_others_pass_it(served: tuple[Held, Lanes, int]) -> None:
    app, lanes, port = served
    waiting = [ask(port, "/api/networks/open") for _ in range(MANY)]
    wait_until(lambda: lanes.waiting == MANY - WIDTH)
    assert app.begun == ["/api/networks/open"] * WIDTH
    for light in ("/api/jobs/light", "/api/pulse/light", "/api/bench/light", "/static/light"):
        assert ask(port, light).getresponse().read() == b"ok"
    app.release()
    assert [connection.getresponse().read() for connection in waiting] == [b"ok"] * MANY
    assert lanes.waiting == 0


def test_what_nobody_waits_for_is_never_begun(served: tuple[Held, Lanes, int]) -> None:
    app, lanes, port = served
    first = [ask(port, f"/api/networks/{number}") for number in range(WIDTH)]
    wait_until(lambda: len(app.begun) == WIDTH)
    gone = [ask(port, "/api/networks/gone", b"{}") for _ in range(MANY)]
    stays = ask(port, "/api/networks/stays", b'{"what": "it asks"}')
    wait_until(lambda: lanes.waiting == MANY + 1)
    for connection in gone:
        connection.close()
    wait_until(lambda: lanes.waiting == 1)
    app.release()
    for connection in (*first, stays):
        assert connection.getresponse().read() == b"ok"
    assert "/api/networks/gone" not in app.begun
    assert app.bodies[-1] == b'{"what": "it asks"}'  # nothing of it was lost while it waited


def test_the_job_list_answers_while_networks_are_opened(
    studio_url: UrlOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all that the studio has around its routes: more requests than it has threads."""
    held, begun = threading.Event(), threading.Semaphore(0)

    def open_slowly(*_: object) -> None:
        begun.release()
        held.wait(PATIENCE)
        raise DovetailError("it was only held")

    monkeypatch.setattr(OpenedNetworks, "network", open_slowly)
    (tmp_path / "a.safetensors").write_bytes(b"")
    port = urlsplit(studio_url(tmp_path)).port
    assert port is not None
    try:
        opened = [ask(port, "/api/networks/open?file=a.safetensors") for _ in range(MANY)]
        for _ in range(WIDTH):
            assert begun.acquire(timeout=PATIENCE)
        for light in ("/api/jobs", "/api/pulse", "/api/networks/files", "/api/bench/parts"):
            assert ask(port, light).getresponse().status == 200
    finally:
        held.set()
    for connection in opened:
        connection.close()
