"""``dovetail inspect``: what a file holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import FileFormatError
from .options import Json
from .output import facts_table, print_json, print_table, say, table_of

if TYPE_CHECKING:
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
    from ..cluster.saved_audit import SavedAudit
    from ..engine import Run
    from ..io.header import read_header
    from ..opening import open_saved
    from ..sculpting import Hierarchy, Sculpture

    if file.is_dir():
        raise FileFormatError(
            f"{file} is a folder; name a file in it, or see all of it: dovetail report {file}"
        )
    found = open_saved(file)
    content: object
    match found:
        case Sculpture():
            what, text, content = "sculpted network", found.describe(), read_header(file)
        case Hierarchy():
            what, text, content = "modules of a network", found.describe(), json.loads(found.to_json())
        case SavedAudit():
            warnings = [f"warning: {warning}" for warning in found.warnings]
            more = f"Clusters, lesions and pictures: dovetail report {file}"
            what, text = f"audit of {found.checkpoint}", "\n".join([found.verdict, *warnings, more])
            content = found.content
        case _:
            assert not isinstance(found, Run)  # which is a folder
            what, text, content = "", "", json.loads(found.manifest.to_text())
            if not as_json:
                _show_part(file, found)
                return
    if as_json:
        print_json(content)
        return
    print_table(facts_table({"file": _named(file), "what": what}))
    say(text)


def _show_part(file: Path, part: Specialist | Composite) -> None:
    from ..specialists import Composite, Team

    first = part.specialists[0]
    provenance = first.provenance
    facts = {
        "file": _named(file),
        "what": f"composite, {part.method} of {len(part)} specialists"
        if isinstance(part, Composite)
        else "specialist",
        "knows": f"{part.knows}  (of {len(part.classes)} classes: {', '.join(part.classes)})",
        "network": f"{part.blueprint.net} on inputs {' × '.join(map(str, part.blueprint.input_shape))}",
        "temperature": f"{part.blueprint.temperature:g}",
    }
    if not isinstance(part, Composite):
        facts |= {
            "sparsity": f"{100 * first.sparsity:.2f} %" + (", in its slot" if provenance.slots else ""),
            "trained on": f"{provenance.data} ({provenance.fingerprint}), loss {provenance.loss}, seed {first.seed}",
            "settings": ", ".join(f"{name} {value}" for name, value in provenance.training.items()),
            "in validation": ", ".join(f"{name} {value:.4f}" for name, value in provenance.metrics.items()),
            "θ0": provenance.start,
        }
    print_table(facts_table(facts | {"checksum": part.digest}))
    if isinstance(part, Composite):
        frame = Team(part.specialists).to_frame()
        frame["data"] = [member.provenance.data for member in part.specialists]
        frame["slots"] = [member.provenance.slots for member in part.specialists]
        print_table(table_of(frame))


def _named(file: Path) -> str:
    return f"{file} ({file.stat().st_size / 1000:.1f} kB)"
