"""``dovetail reproduce``: run a table or figure of a paper."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ..errors import DovetailError
from .amount import duration
from .options import Json
from .output import fits, print_json, print_table, table_of

if TYPE_CHECKING:
    from ..engine import Plan, Run
    from ..recipes import Comparison
    from ..recipes import Table as ResultTable


def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The recipe; leave it out for the list.")
    ] = None,
    scale: Annotated[
        str, typer.Option(help="smoke: small networks, in seconds; paper: as published.")
    ] = "smoke",
    folder: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The run's folder.", show_default="runs/NAME-SCALE"),
    ] = None,
    engine: Annotated[str, typer.Option(help="local: this machine; ray: a Ray cluster.")] = "local",
    address: Annotated[str | None, typer.Option(help="Of the Ray cluster.")] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="The most workers on each GPU, and on the CPU.",
            show_default="1 a GPU, 1 a core as memory allows",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="Train networks there only: cpu, cuda, cuda:1.", show_default="all GPUs, or else the CPU"
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only show the units, their memory and how long they should take."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a table or figure of a paper; print our numbers beside the published ones.

    A run can be stopped at any time and goes on where it was when the same command is given again.

    Example:

        dovetail reproduce random-init
    """
    if name is None:
        _list(as_json)
        return
    from ..engine import find_engine, plan, results_file
    from ..engine import reproduce as run_recipe
    from ..engine.reproduction import reasons
    from ..engine.results_file import read_results
    from ..engine.run_folder import default_folder
    from ..recipes import find_recipe
    from .stopping import safe_when_stopped

    if dry_run:
        found = plan(name, scale, folder)  # type: ignore[arg-type]
        doing = find_engine(engine, address=address, jobs=jobs, device=device)  # type: ignore[arg-type]
        _print_plan(found, doing.places, as_json)
        return
    where = folder or default_folder(find_recipe(name), scale)  # type: ignore[arg-type]
    with safe_when_stopped("units", where, lambda: len(read_results(where / results_file.NAME))):
        run = run_recipe(
            name, scale, where, engine=engine, address=address, jobs=jobs, device=device,  # type: ignore[arg-type]
        )  # fmt: skip
    _print_run(run, as_json)
    if run.failed:
        units = len(run.failed) + len(run.finished)
        raise DovetailError(f"{len(run.failed)} of {units} units could not be done: {reasons(run.failed)}")


def _list(as_json: bool) -> None:
    from ..recipes import PAPERS, recipes

    found = recipes()
    if as_json:
        print_json([{"name": r.name, "paper": r.paper, "title": r.title, "shows": r.shows} for r in found])
        return
    for paper, title in PAPERS.items():
        table = Table(title=title, title_justify="left")
        for column in ("recipe", "what", "shows"):
            table.add_column(column)
        for recipe in found:
            if recipe.paper == paper:
                table.add_row(recipe.name, recipe.title, recipe.shows)
        print_table(table)


def _print_plan(found: Plan, places: Sequence[str], as_json: bool) -> None:
    frame = found.to_frame()
    here = found.seconds(len(places), places[0].partition(":")[0])
    totals = {f"{count} GPU{'s' * (count > 1)}": found.seconds(count, "cuda") for count in (1, 8, 64)}
    totals |= {f"{count} core{'s' * (count > 1)}": found.seconds(count, "cpu") for count in (1, 2, 16)}
    if as_json:
        print_json({**found.to_dict(), "seconds": {"here": here} | totals})
        return
    print_table(table_of(frame, digits=1))
    missing = sum(not one.done for one in found.units)
    times = ", ".join(f"{duration(value)} on {name}" for name, value in totals.items())
    typer.echo(
        f"{len(found.units)} units, {missing} to do: about {duration(here)} with the {len(places)} workers there are "
        f"({', '.join(dict.fromkeys(places))}); {times} (GPUs like the H200 that was measured)."
    )


def _print_run(run: Run, as_json: bool) -> None:
    if as_json:
        print_json(run.to_dict())
        return
    for table in run.tables:
        _print_table(table)
        if table.note:
            typer.echo(table.note + "\n")
    before = len(run.finished) - run.done
    made = [name for name in ("table.md", "figures", "results.jsonl") if (run.folder / name).exists()]
    print(f"In {run.folder}: {', '.join(made)}; {run.done} units done now, {before} before.", file=sys.stderr)
    if run.from_others:
        print(f"{run.from_others} units were copied from runs beside {run.folder}.", file=sys.stderr)


def _print_table(table: ResultTable | Comparison) -> None:
    """Print a table; metric by metric where it would not fit."""
    whole = table_of(table.wide(), table.title, table.digits)
    if fits(whole) or not hasattr(table, "by_metric"):
        print_table(whole)
        return
    for part in table.by_metric():
        print_table(table_of(part.wide(), part.title, part.digits))
