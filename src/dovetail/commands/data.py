"""``dovetail data``: what data there is, and where it is."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from .options import DataName, Json
from .output import print_json, print_table, say

app = typer.Typer(help="What data there is, and where it is.", no_args_is_help=True)


@app.command("list")
def list_data(as_json: Json = False) -> None:
    """List the data sets, their options, and where their files are.

    Wherever DATA is asked for, options may follow after a colon: har:features=time,classes=5.

    DATA may also be a file or folder of yours, such as wine.csv or photos/, or package.module:function.

    Example:

        dovetail data list
    """
    from ..data import catalogue
    from ..data.sources import expand_user

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
            Text(str(info.found or where)),
        )
    print_table(table)
    typer.echo("\nFiles are looked for in $DOVETAIL_DATA/NAME, then in the cache ($DOVETAIL_CACHE);")
    typer.echo("dovetail data get NAME downloads them. Options follow a colon: har:features=time,classes=5.")
    typer.echo(
        "Your own data is named by its path: wine.csv:target=quality, photos/; dovetail data check says what"
    )
    typer.echo("is in it.")
    folder = os.environ.get("DOVETAIL_DATA")
    if folder and not expand_user(folder).is_dir():
        say(f"warning: $DOVETAIL_DATA is {folder}, which is not a folder", err=True)


@app.command("get")
def get_data(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A data set; dovetail data list shows all.")],
    as_json: Json = False,
) -> None:
    """Make sure that the files of a data set are there (download and check them), and say where.

    They are checked against known hashes.

    Example:

        dovetail data get mnist
    """
    from ..data import data_spec, get

    folder = get(name)
    name = data_spec(name).name
    if as_json:
        print_json({"name": name, "folder": None if folder is None else str(folder)})
        return
    say(f"{name}: {folder or 'needs no files'}")


@app.command("check")
def check_data(data: DataName, as_json: Json = False) -> None:
    """Say what is in data before anything is trained on it.

    That is samples and classes of each split, columns and missing values, duplicates within and between splits, and
    what is done to samples before a network sees them.

    Example:

        dovetail data check wine.csv:target=quality
    """
    from ..data import check_data

    found = check_data(data)
    if as_json:
        print_json(found.to_dict())
        return
    say(str(found))
