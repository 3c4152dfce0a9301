"""The ``dovetail`` command."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ._version import __version__
from .errors import DovetailError

app = typer.Typer(
    help="Neural networks made of parts that fit.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)
data_app = typer.Typer(help="What data there is, and where it is.", no_args_is_help=True)
app.add_typer(data_app, name="data")

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of a table.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dovetail {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; may stand anywhere.")
    ] = False,
) -> None:
    """Neural networks made of parts that fit."""


@app.command()
def demo(as_json: Json = False) -> None:
    """Train ten networks on embedded data as one population and print how they do (seconds on a laptop)."""
    from .demo import generalists

    table, seconds = generalists(progress=not as_json)
    if as_json:
        typer.echo(table.to_json(orient="records"))
        return
    shown = Table(title=f"Ten generalists (64-128-10) on digits, trained together in {seconds:.1f} s")
    for column in table.columns:
        shown.add_column(column, justify="right")
    for row in table.itertuples(index=False):
        shown.add_row(str(row.seed), str(row.epochs), f"{row.loss:.4f}", f"{row.accuracy:.4f}")
    shown.add_section()
    shown.add_row(
        "mean", f"{table.epochs.mean():.1f}", f"{table.loss.mean():.4f}", f"{table.accuracy.mean():.4f}"
    )
    _print(shown)


@data_app.command("list")
def list_data(as_json: Json = False) -> None:
    """List the data sets, their options, and where their files are."""
    from .data import catalogue

    if as_json:
        rows = [
            {**vars(info), "found": None if info.found is None else str(info.found)} for info in catalogue()
        ]
        typer.echo(json.dumps(rows, indent=2))
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
    _print(table)
    typer.echo("\nFiles are looked for in $DOVETAIL_DATA/NAME, then in the cache ($DOVETAIL_CACHE);")
    typer.echo("dovetail data get NAME downloads them.")
    folder = os.environ.get("DOVETAIL_DATA")
    if folder and not Path(folder).expanduser().is_dir():
        typer.echo(f"warning: $DOVETAIL_DATA is {folder}, which is not a folder", err=True)


@data_app.command("get")
def get_data(
    name: Annotated[str, typer.Argument(help="Name of a data set; see dovetail data list.")],
) -> None:
    """Make sure that the files of a data set are there (download and check them), and say where."""
    from .data import get

    folder = get(name)
    typer.echo(f"{name}: {folder or 'needs no files'}")


def _print(table: Table) -> None:
    # A pipe has no width of its own; 80 columns would fold what a file or a program could hold.
    console = Console()
    (console if console.is_terminal else Console(width=160)).print(table)


def main() -> None:
    """Run the command: exit status 0 when done, 1 with one line on an error, 2 on wrong usage."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1
    try:
        app(args=arguments, prog_name="dovetail")
    except DovetailError as error:
        _fail(f"error: {error}", debug)
    except KeyboardInterrupt:
        _fail("stopped", debug, status=130)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has left; there is no one to tell
        sys.exit(1)
    except Exception as error:
        _fail(
            f"internal error: {type(error).__name__}: {error} (please report it with the output of --debug)",
            debug,
        )


def _fail(message: str, debug: bool, status: int = 1) -> None:
    if debug:
        traceback.print_exc()
    print(" ".join(message.split()), file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
