"""``dovetail inspect``: what a file holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from .output import Json, print_json, print_table, table_of


def inspect(
    file: Annotated[Path, typer.Argument(help="File of a specialist or composite.")],
    as_json: Json = False,
) -> None:
    """Say what a specialist or composite is and knows."""
    from ..specialists import Composite, Team, open_file
    from ..specialists.manifest import write_manifest

    part = open_file(file)
    if as_json:
        print_json(json.loads(write_manifest(part)))
        return
    first = part.specialists[0]
    record = first.record
    table = Table(box=None, show_header=False, pad_edge=False)
    what = (
        f"composite, {part.method} of {len(part)} specialists"
        if isinstance(part, Composite)
        else "specialist"
    )
    rows = {
        "file": f"{file} ({file.stat().st_size / 1000:.1f} kB)",
        "what": what,
        "knows": f"{part.knows}  (of {len(part.classes)} classes: {', '.join(part.classes)})",
        "network": f"{part.basis.net} on inputs {' × '.join(map(str, part.basis.input_shape))}",
        "temperature": f"{part.basis.temperature:g}",
    }
    if not isinstance(part, Composite):
        rows |= {
            "sparsity": f"{100 * first.sparsity:.2f} %" + (", in its slot" if record.slots else ""),
            "trained on": f"{record.data} ({record.fingerprint}), loss {record.loss}, seed {record.seed}",
            "settings": ", ".join(f"{name} {value}" for name, value in record.training.items()),
            "in validation": ", ".join(f"{name} {value:.4f}" for name, value in record.metrics.items()),
            "θ0": record.start,
        }
    rows["checksum"] = part.digest
    for name, value in rows.items():
        table.add_row(Text(name, style="bold"), Text(value))
    print_table(table)
    if isinstance(part, Composite):
        frame = Team(part.specialists).to_frame()
        frame["data"] = [member.record.data for member in part.specialists]
        frame["slots"] = [member.record.slots for member in part.specialists]
        print_table(table_of(frame))
