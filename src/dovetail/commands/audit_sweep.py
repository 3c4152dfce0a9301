"""``dovetail audit --sweep``: one network, several numbers of clusters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SpecError
from .output import print_table, say, table_of

if TYPE_CHECKING:
    from ..cluster import Sweep
    from ..cluster.source import Source


def numbers_in(text: str) -> list[int]:
    """Return the numbers of clusters that a text names.

    Examples
    --------
    >>> numbers_in("2,4, 12")
    [2, 4, 12]
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 7 for part in parts):
        raise SpecError(
            f"--sweep takes numbers of clusters with commas between them, such as 2,4,8; got {text!r:.60}"
        )
    return [int(part) for part in parts]


def swept(
    checkpoint: str,
    source: Source,
    ks: list[int],
    options: Mapping[str, Any],
    *,
    output: Path | None,
    weights: str | None,
    begun: float,
    as_json: bool,
) -> dict[str, object]:
    """Audit with each number of clusters; print what comes out, or return it; write a folder for each number."""
    from ..cluster import sweep_clusters
    from ..cluster.audit_folder import audit_json, write_audit
    from ..io.provenance import provenance
    from .audit_source import advice_for_the_command

    with advice_for_the_command(source):
        found = sweep_clusters(
            source.what, ks, example_input=source.example, progress=not as_json,
            **{name: value for name, value in options.items() if name != "k"},
        )  # fmt: skip
    made = provenance(begun, None)
    if output is not None:
        for audit in found.audits:
            answer = audit_json(checkpoint, source, audit, made, weights=weights)
            write_audit(output / f"k-{audit.k:02d}", audit, None, answer)
    if not as_json:
        _print(found, output)
    return {"checkpoint": checkpoint, "weights": weights, "sweep": found.to_dict(), "made": made}


def _print(found: Sweep, output: Path | None) -> None:
    say(found.verdict())
    print_table(table_of(found.to_frame().reset_index(), "Numbers of clusters, on the same shuffled copies"))
    say(
        "lower by: by what share the n-cut is below the copies' mean. corrected p: holds for all numbers together. "
        "depth: the share of what clusters tell about units that layers tell already. stable: agreement with other "
        "seeds."
    )
    if output is not None:
        say(f"In {output}: a folder for each number; dovetail report {output} puts them beside each other.")
