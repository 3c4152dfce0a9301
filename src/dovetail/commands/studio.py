"""``dovetail studio``: look at parts, networks and runs in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def studio(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="The folder to show; nothing outside of it is opened but --data."
        ),
    ] = Path(),
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            metavar="DATA",
            help="Data of yours to measure parts on: a file or folder, or package.module:function; repeat it for more.",
            show_default="what lies in PATH and is called as in training",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(help="Where to listen; 0: any free port.", show_default="8765 or the next free one"),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open a browser; only print the address.")
    ] = False,
) -> None:
    """See the parts, networks, audits and runs of a folder in a local web app, and put them together.

    Only this machine can reach it; Ctrl-C ends it.

    Example:

        dovetail studio parts/ --data wine.csv
    """
    from ..studio import serve

    serve(path, data=data or (), port=port, browser=not no_browser, say=typer.echo)
