"""The studio's server on this machine: find a port, say the address, serve until stopped."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn

from ..errors import DovetailError
from .app import create_app
from .folder import StudioFolder
from .held_data import check_given

_ADDRESS = "127.0.0.1"

FIRST_PORT = 8765

_TRIES = 50


def serve(
    folder: str | Path = ".",
    *,
    data: Sequence[str] = (),
    port: int | None = None,
    browser: bool = True,
    say: Callable[[str], object] = print,
) -> None:
    """Serve the studio of a folder until Ctrl-C.

    Parameters
    ----------
    folder : path
        The only files that it opens, beside data that is named here.
    data : sequence of str
        Data of users' own to measure parts on, as `dovetail.data.open_data` takes it. Data that lies in the folder and
        is called as in training is found without.
    port : int, optional
        Where to listen; 0 for any that is free. By default 8765 or the next that is free.
    browser : bool
        Whether to open the page in a browser.
    say : callable
        Where the address goes.

    Raises
    ------
    DovetailError
        When there is no such folder, the data cannot be opened, or the port is taken.
    """
    shown = StudioFolder(folder)
    check_given(data)
    listening = listen(port)
    number = listening.getsockname()[1]
    token = secrets.token_hex(24)
    url = f"http://{_ADDRESS}:{number}/?token={token}"
    say(f"Dovetail studio of {shown.root}: {url} (Ctrl-C ends it)")
    with (
        listening,
        contextlib.ExitStack() as at_end,
        contextlib.suppress(KeyboardInterrupt),
    ):  # the way to end it
        if browser:  # in a thread, because a browser in the terminal would hold up the server it asks
            page = at_end.enter_context(landing_page(url))
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()
        compute_politely()
        # The slowest part, and after the address: the socket listens already, and lets the browser wait.
        app = create_app(shown, token=token, port=number, data=data)
        _Server(server_config(app), at_end.close).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that tidies up before the signal that has ended it is passed on, which may end the process at once."""

    def __init__(self, config: uvicorn.Config, tidy_up: Callable[[], None]) -> None:
        super().__init__(config)
        self._tidy_up = tidy_up

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        self._tidy_up()


def compute_politely() -> None:
    """Compute in one thread a request: at these sizes several gain little, and on a busy machine they lose much."""
    import torch

    torch.set_num_threads(1)


def server_config(app: object) -> uvicorn.Config:
    """Return how the studio is served: quietly, without websockets, and ended soon when asked to."""
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        log_level="warning", access_log=False, ws="none", lifespan="on", server_header=False,
        timeout_graceful_shutdown=2,
    )  # fmt: skip


def listen(port: int | None) -> socket.socket:
    """Return a socket that listens on this machine only, at a port or the first that is free."""
    if port is not None and not 0 <= port < 2**16:
        raise DovetailError(f"{port} is no port; choose one from 1024 to 65535, or 0 for any that is free")
    wanted = [port] if port is not None else [*range(FIRST_PORT, FIRST_PORT + _TRIES), 0]
    for number in wanted:
        try:
            listening = socket.create_server((_ADDRESS, number))
            # Or the second half of every answer waits 40 ms; asyncio does this only for sockets that it makes itself.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return listening
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
    raise DovetailError(f"cannot listen on port {port}: {reason}; choose another, or 0 for any that is free")


@contextlib.contextmanager
def landing_page(address: str) -> Iterator[str]:
    """Make a page in a private temporary folder that leads to an address; give what to open in the browser.

    Every user of a machine sees the arguments of every process, so an address with a token must not be one of them: the
    browser is given the name of a file that only this user can read.
    """
    with TemporaryDirectory(prefix="dovetail-studio-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "open.html"
        path.touch(0o600)  # before anything is in it
        path.write_text(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Dovetail studio</title>'
            f'<meta http-equiv="refresh" content="0; url={escape(address)}">'
            f'<a href="{escape(address)}">To the studio</a></html>\n',
            "utf-8",
        )
        yield path.as_uri()
