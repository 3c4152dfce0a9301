"""``dovetail demo``: see what the library does, on data that needs no download."""

from __future__ import annotations

from pathlib import Path

import typer

from .options import Json, ReplaceFile, ReportFile
from .output import print_json, print_table, say, table_of


def demo(
    output: ReportFile = Path("report.html"),
    force: ReplaceFile = False,
    as_json: Json = False,
) -> None:
    """Train ten specialists on embedded data, compose them, drop one and add it back (under a minute on a laptop).

    It prints a table, and writes a page with charts.

    Example:

        dovetail demo
    """
    from ..demo import DROPPED, NET, run_demo
    from ..report.build import check_output

    check_output(output, force=force)
    if not as_json:
        typer.echo(
            "Training specialists and generalists on digits; this takes about half a minute.", err=True
        )
    found = run_demo(progress=not as_json)
    path = found.page().save(output)
    if as_json:
        print_json(
            {
                "networks": found.table.to_dict("records"),
                "audit": found.audit.to_dict(),
                "same_bits_after_adding_back": found.same_bits,
                "seconds": found.seconds,
                "report": str(path),
            }
        )
        return
    print_table(
        table_of(found.table, f"Ten specialists ({NET}) on digits, test split, {found.seconds:.0f} s")
    )
    back = "the same network, bit for bit" if found.same_bits else "another network"
    typer.echo(f"Class {DROPPED} dropped and added back gives {back}.")
    typer.echo(found.audit.finding)
    say(f"Report: {path}")
