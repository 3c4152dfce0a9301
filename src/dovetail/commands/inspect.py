"""``dovetail inspect``: what a file holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import FileFormatError
from .options import Json
from .output import facts_table, print_json, print_table, say, table_of

if TYPE_CHECKING:
    from ..report.sources import AuditSource
    from ..sculpting import Hierarchy, Sculpture
    from ..specialists import Composite, Specialist


def inspect(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A specialist, a composite, a sculpted network, modules as JSON, or an audit.",
        ),
    ],
    as_json: Json = False,
) -> None:
    """Say what a file of dovetail's is and holds: what a specialist knows, which modules a network has.

    Weights of other programs are for dovetail audit and dovetail modules.

    Example:

        dovetail inspect parts/digits-3-seed0.safetensors
    """
    from ..io.checkpoint import is_safetensors
    from ..report.sources.audit import audit_file, read_audit
    from ..report.sources.sculpture import is_hierarchy, read_modules

    try:
        if file.is_dir():
            raise FileFormatError(
                f"{file} is a folder; name a file in it, or see all of it: dovetail report {file}"
            )
        tensors = is_safetensors(file)
    except FileNotFoundError:
        raise FileFormatError(f"there is no file {file}") from None
    except OSError as error:
        raise FileFormatError(f"cannot read {file}: {error.strerror or error}") from error
    if tensors:
        content, show = _in_tensors(file)
    elif is_hierarchy(file):
        (found,) = read_modules(file).hierarchies.values()
        content, show = json.loads(found.to_json()), lambda: _show_modules(file, found)
    elif audit_file(file):
        audit = read_audit(file)
        content, show = json.loads(file.read_text("utf-8")), lambda: _show_audit(audit)
    else:
        raise FileFormatError(_nothing_known(file))
    if as_json:
        print_json(content)
    else:
        show()


def _in_tensors(file: Path) -> tuple[object, Callable[[], None]]:
    """Return what a safetensors file says about itself, and what shows it to people."""
    from ..io.header import read_header
    from ..sculpting import open_sculpture
    from ..sculpting.sculpture import SCHEMA
    from ..specialists import open_file
    from ..specialists.manifest import write_manifest

    header = read_header(file)
    if not header:
        raise FileFormatError(_nothing_known(file))
    if header.get("schema") == SCHEMA:
        sculpture = open_sculpture(file)
        return header, lambda: _show_sculpture(file, sculpture)
    part = open_file(file)
    return json.loads(write_manifest(part)), lambda: _show_part(file, part)


def _show_part(file: Path, part: Specialist | Composite) -> None:
    from ..specialists import Composite, Team

    first = part.specialists[0]
    record = first.record
    facts = {
        "file": _named(file),
        "what": f"composite, {part.method} of {len(part)} specialists"
        if isinstance(part, Composite)
        else "specialist",
        "knows": f"{part.knows}  (of {len(part.classes)} classes: {', '.join(part.classes)})",
        "network": f"{part.basis.net} on inputs {' × '.join(map(str, part.basis.input_shape))}",
        "temperature": f"{part.basis.temperature:g}",
    }
    if not isinstance(part, Composite):
        facts |= {
            "sparsity": f"{100 * first.sparsity:.2f} %" + (", in its slot" if record.slots else ""),
            "trained on": f"{record.data} ({record.fingerprint}), loss {record.loss}, seed {record.seed}",
            "settings": ", ".join(f"{name} {value}" for name, value in record.training.items()),
            "in validation": ", ".join(f"{name} {value:.4f}" for name, value in record.metrics.items()),
            "θ0": record.start,
        }
    print_table(facts_table(facts | {"checksum": part.digest}))
    if isinstance(part, Composite):
        frame = Team(part.specialists).to_frame()
        frame["data"] = [member.record.data for member in part.specialists]
        frame["slots"] = [member.record.slots for member in part.specialists]
        print_table(table_of(frame))


def _show_sculpture(file: Path, sculpture: Sculpture) -> None:
    print_table(facts_table({"file": _named(file), "what": "sculpted network"}))
    say(sculpture.describe())


def _show_modules(file: Path, modules: Hierarchy) -> None:
    print_table(facts_table({"file": _named(file), "what": "modules of a network"}))
    say(modules.describe())


def _show_audit(audit: AuditSource) -> None:
    import numpy as np

    from ..cluster.null import Null, verdict

    print_table(facts_table({"file": _named(audit.path), "what": f"audit of {audit.checkpoint}"}))
    say(verdict(Null(audit.ncut, np.array(audit.copies)), audit.k))
    for warning in audit.warnings:
        say(f"warning: {warning}")
    say(f"Clusters, lesions and pictures: dovetail report {audit.path}")


def _named(file: Path) -> str:
    return f"{file} ({file.stat().st_size / 1000:.1f} kB)"


def _nothing_known(file: Path) -> str:
    """Say which command a file is for that says nothing about itself."""
    if file.name in ("config.yaml", "results.jsonl", "config.json"):
        return f"{file} is of a run, or of networks sculpted together; see all of it: dovetail report {file.parent}"
    return (
        f"{file} is no file that dovetail wrote, or is damaged; weights of other programs are for dovetail audit and "
        "dovetail modules"
    )
