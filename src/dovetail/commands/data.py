"""``dovetail data``: what data there is, and where it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from .output import Json, print_json, print_table

app = typer.Typer(help="What data there is, and where it is.", no_args_is_help=True)


@app.command("list")
def list_data(as_json: Json = False) -> None:
    """List the data sets, their options, and where their files are."""
    from ..data import catalogue

    if as_json:
        print_json(
            [{**vars(info), "found": None if info.found is None else str(info.found)} for info in catalogue()]
        )
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "what it is", "where"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "name")
    for info in catalogue():
        made = f"generated from {info.needs}" if info.needs else "generated"
        where = {"embedded": "in scikit-learn", "generated": made, "files": "not here yet"}[info.kind]
        settings = ", ".join(f"{name}={value}" for name, value in info.options.items())
        table.add_row(
            info.name,
            info.description + (f"\n  [dim]{settings}[/dim]" if settings else ""),
            str(info.found or where),
        )
    print_table(table)
    typer.echo("\nFiles are looked for in $DOVETAIL_DATA/NAME, then in the cache ($DOVETAIL_CACHE);")
    typer.echo("dovetail data get NAME downloads them. Options follow a colon: har:features=time,classes=5.")
    folder = os.environ.get("DOVETAIL_DATA")
    if folder and not Path(folder).expanduser().is_dir():
        typer.echo(f"warning: $DOVETAIL_DATA is {folder}, which is not a folder", err=True)


@app.command("get")
def get_data(
    name: Annotated[str, typer.Argument(help="Name of a data set; see dovetail data list.")],
) -> None:
    """Make sure that the files of a data set are there (download and check them), and say where."""
    from ..data import get

    folder = get(name)
    typer.echo(f"{name}: {folder or 'needs no files'}")
