"""``dovetail inspect``: what a file holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import FileFormatError
from .files import files_in, refuse_weights
from .options import Json
from .output import facts_table, print_json, print_table, say, table_of

if TYPE_CHECKING:
    from ..cluster.saved_audit import SavedAudit
    from ..sculpting import Hierarchy, Sculpture
    from ..specialists import Composite, Part, Specialist, Sums


def inspect(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A specialist, a composite, sums, a sculpted network, modules as JSON, an audit, or a folder of them.",
        ),
    ],
    as_json: Json = False,
) -> None:
    """Say what a file of dovetail's is and holds: what a specialist knows, which modules a network has.

    Weights of other programs are for dovetail audit and dovetail modules.

    Example:

        dovetail inspect parts/digits-3-seed0.safetensors
    """
    from ..cluster.audit_folder import FILE
    from ..opening import kind_of

    kind = kind_of(file) if file.is_dir() else None
    if kind == "run":
        raise FileFormatError(f"{file} is the folder of a run; see all of it: dovetail report {file}")
    if kind is None and file.is_dir():
        _show_folder(file, as_json)
        return
    _show(file / FILE if kind == "audit" else file, as_json)


def _show(file: Path, as_json: bool) -> None:
    """Say all that there is to say about one file."""
    from ..cluster.saved_audit import SavedAudit
    from ..sculpting import Hierarchy, Sculpture
    from ..specialists import Sums

    found = _opened(file)
    if as_json:
        print_json(_content(file, found))
        return
    match found:
        case Sculpture():
            what, text = "sculpted network", found.describe()
        case Hierarchy():
            what, text = "modules of a network", found.describe()
        case SavedAudit():
            warnings = [f"warning: {warning}" for warning in found.warnings]
            more = f"Clusters, lesions and pictures: dovetail report {file}"
            what, text = f"audit of {found.checkpoint}", "\n".join([found.verdict, *warnings, more])
        case Sums():
            _show_sums(file, found)
            return
        case _:
            _show_part(file, found)
            return
    print_table(facts_table({"file": _named(file), "what": what}))
    say(text)


def _show_folder(folder: Path, as_json: bool) -> None:
    """Say of each file in a folder what it is, in a line."""
    import pandas as pd

    rows: list[dict[str, object]] = []
    for file in files_in([folder]):
        try:
            found = _opened(file)
            rows.append({"file": file.name, "what": _content(file, found) if as_json else repr(found)})
        except FileFormatError as error:
            rows.append({"file": file.name, "error" if as_json else "what": str(error)})
    if as_json:
        print_json(rows)
        return
    print_table(table_of(pd.DataFrame(rows), f"In {folder}"))


def _opened(file: Path) -> Specialist | Composite | Sums | Sculpture | Hierarchy | SavedAudit:
    """Return what a file holds."""
    from ..engine import Run
    from ..opening import open_saved

    try:
        found = open_saved(file)
    except FileFormatError:
        refuse_weights(file, "dovetail inspect is for what dovetail itself has written")
        raise
    assert not isinstance(found, Run)  # which is a folder
    return found


def _content(file: Path, found: Specialist | Composite | Sums | Sculpture | Hierarchy | SavedAudit) -> object:
    """Return all that a file says, for machines."""
    from ..cluster.saved_audit import SavedAudit
    from ..io.header import read_header
    from ..sculpting import Hierarchy, Sculpture

    if isinstance(found, Hierarchy | SavedAudit):
        return found.to_dict()
    return read_header(file) if isinstance(found, Sculpture) else json.loads(found.manifest.to_text())


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
    facts |= _takes(part)
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


def _show_sums(file: Path, part: Sums) -> None:
    import pandas as pd

    tuning = part.tuning
    facts = {
        "file": _named(file),
        "what": f"sums of {part.samples:,} samples, of {part.blueprint.basis}",
        "knows": f"{part.knows}  (of {len(part.classes)} classes: {', '.join(part.classes)})",
        "inputs": " × ".join(map(str, part.blueprint.input_shape)),
        "ridge": f"{tuning.ridge:g}",
        "temperature": f"{tuning.temperature:.4g}",
    }
    if tuning.chosen_on:
        facts["chosen on"] = tuning.chosen_on
    facts |= _takes(part) | {"checksum": part.digest}
    print_table(facts_table(facts))
    held = [
        {"class": name, "samples": content.count, "held": type(content).__name__.lower()}
        for name, content in part.contents.items()
    ]
    print_table(table_of(pd.DataFrame(held)))


def _takes(part: Part) -> dict[str, str]:
    """Return what a part says of raw samples and of when it answers."""
    facts = {}
    if part.preparation is not None:
        facts["takes"] = f"raw samples; {part.preparation.describe()}"
    if part.threshold is not None:
        facts["undecided"] = (
            f"{part.threshold.rate:.2%} of validation samples that it knows "
            f"({part.threshold.confidence} below {part.threshold.value():.4f})"
        )
    return facts


def _named(file: Path) -> str:
    return f"{file} ({file.stat().st_size / 1000:.1f} kB)"
