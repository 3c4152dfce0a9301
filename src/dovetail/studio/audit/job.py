"""The job of an audit: `clusterability` of a file, told about copy by copy."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from torch import nn

from ...cluster import Null, clusterability
from ...cluster.audit_folder import audit_json, write_audit
from ...cluster.source import Source, advised, is_part, source_in
from ...errors import FileFormatError
from ...graph.matrices import PASS_MODULE, WAYS
from ...graph.read import EXAMPLE
from ...io.provenance import provenance
from ..jobs import Tell
from ..networks.limits import check_bytes, check_part, check_shapes
from .settings import AuditSettings
from .shown import audit_shown, null_shown

_PAUSE = 0.25
"""Seconds between two pictures of the null; making one takes a few hundredths."""

_BY_BUILDER = (
    "name the network on the command line: "
    "dovetail audit package.module:builder --weights FILE --input-shape 3x32x32"
)
_ADVICE = dict.fromkeys((PASS_MODULE, WAYS, EXAMPLE), _BY_BUILDER)
"""What to do in place of what the library says to do in Python."""


def run(settings: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Audit a file; return what to show, and all that was measured."""
    begun = time.perf_counter()
    asked = AuditSettings.model_validate(settings["asked"])
    # In all that is shown, so that a page that was loaded again knows what it sees.
    about = {"asked": asked.model_dump(), "command": asked.command}
    last = float("-inf")

    def show(null: Null) -> None:
        nonlocal last
        if time.monotonic() - last >= _PAUSE:
            last = time.monotonic()
            tell(
                len(null.copies), asked.shuffles, "shuffled copies", about | null_shown(null, asked.shuffles)
            )

    tell(0, asked.shuffles, "reading and cutting the network", about)
    source = _source(Path(settings["path"]))
    with advised(source, _ADVICE):
        found = clusterability(
            source.what, asked.k, asked.shuffles, shuffle=asked.shuffle, seed=asked.seed,
            example_input=source.example, progress=False, on_null=show,
        )  # fmt: skip
    audit = audit_json(asked.file, source, found, provenance(begun))
    if settings["output"]:
        write_audit(Path(settings["output"]), found, None, audit)
    return about | {"shown": audit_shown(audit), "audit": audit}


def _source(path: Path) -> Source:
    """Return what a file holds, if the computer that shows the studio can be expected to hold it too."""
    try:
        check_bytes(path)
        if is_part(path):
            check_part(path)
        source = source_in(path)
        tensors = source.what.state_dict() if isinstance(source.what, nn.Module) else source.what
        check_shapes(path.name, [tensor.shape for tensor in tensors.values()])
    except FileFormatError as error:
        raise FileFormatError(str(error).replace(str(path), path.name)) from error
    return source
