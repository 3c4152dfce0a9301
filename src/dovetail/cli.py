"""The ``dovetail`` command."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ._version import __version__
from .commands import data
from .commands.audit import audit
from .commands.compose import compose
from .commands.demo import demo
from .commands.features import features
from .commands.inspect import inspect
from .commands.modules import modules
from .commands.predict import predict
from .commands.report import report
from .commands.reproduce import reproduce
from .commands.sculpt import sculpt
from .commands.stopping import INTERRUPTED, Stopping
from .commands.studio import studio
from .commands.sums import sums
from .commands.train import train
from .display import print_whatever_the_encoding, printable
from .errors import DovetailError, DovetailWarning, memory_is_full
from .importing import TRUSTED


class _Commands(TyperGroup):
    """The commands; what is wrong with an option is said without how Typer has found out."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was typed."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


app = typer.Typer(
    cls=_Commands,
    help="Neural networks made of parts that fit. New here? dovetail demo shows what it does; dovetail COMMAND --help "
    "says more.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


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
    trust: Annotated[
        list[str] | None,
        typer.Option(
            "--trust",
            metavar="PACKAGE",
            help="Import networks of your own from this package when a part's file names them; stands before the "
            "command, repeat it for more.",
        ),
    ] = None,
) -> None:
    """Neural networks made of parts that fit."""
    TRUSTED.update(trust or ())


BEGIN, COMPOSE, STRUCTURE, SEE = "Begin", "Compose a classifier", "Find structure", "See, keep, and do again"

app.command(rich_help_panel=BEGIN)(demo)
app.add_typer(data.app, name="data", rich_help_panel=BEGIN)
app.command(rich_help_panel=COMPOSE)(features)
app.command(rich_help_panel=COMPOSE)(train)
app.command(rich_help_panel=COMPOSE)(sums)
app.command(rich_help_panel=COMPOSE)(compose)
app.command(rich_help_panel=COMPOSE)(predict)
app.command(rich_help_panel=STRUCTURE)(sculpt)
app.command(rich_help_panel=STRUCTURE)(modules)
app.command(rich_help_panel=STRUCTURE)(audit)
app.command(rich_help_panel=SEE)(inspect)
app.command(rich_help_panel=SEE)(report)
app.command(rich_help_panel=SEE)(studio)
app.command(rich_help_panel=SEE)(reproduce)


def main() -> None:
    """Run the command: exit status 0 when done, 1 with one line on an error, 2 on wrong usage."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1
    warnings.showwarning = _show_warning
    print_whatever_the_encoding()
    stopping = Stopping()
    stopping.listen()
    # Threads that spin for long while they wait starve each other where cores are shared: two trainings at once took
    # 8 s each with this, one beside other work more than 75 s without. OpenMP reads it when torch is first imported,
    # which is later than here.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    try:
        app(args=arguments, prog_name="dovetail")
    except DovetailError as error:
        _fail(f"error: {error}", debug)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer has caught the interruption, and says nothing
            _fail("stopped", debug, status=stopping.status)
        raise
    except BrokenPipeError:
        sys.stderr.close()  # the reader has left; there is no one to tell
        sys.exit(1)
    except OSError as error:  # such as a name that is too long, a folder that one may not enter
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"error: {where}{error.strerror or error}", debug)
    except Exception as error:
        if memory_is_full(error):
            _fail(f"error: memory is full; choose something smaller ({type(error).__name__}: {error})", debug)
        _fail(
            f"internal error: {type(error).__name__}: {error} (please report it with the output of --debug)",
            debug,
        )


def _show_warning(message: Warning | str, category: type[Warning], *where: object, **more: object) -> None:
    """Show our own warnings as one line; others are for developers."""
    if issubclass(category, DovetailWarning):
        _say(f"warning: {message}")


def _fail(message: str, debug: bool, status: int = 1) -> None:
    if debug:
        print(printable(traceback.format_exc()), file=sys.stderr)
    _say(message)
    sys.exit(status)


def _say(message: str) -> None:
    """Print a message on one line, with nothing in it that a terminal would obey."""
    print(printable(" ".join(message.split())), file=sys.stderr)


if __name__ == "__main__":
    main()
