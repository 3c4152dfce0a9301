"""A folder that keeps an audit: what was measured in ``audit.json``, and pictures of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DovetailError
from ..io.write import write_together

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .audit import Clusterability
    from .lesions import Lesions
    from .source import Source

FILE = "audit.json"


def check_folder(folder: Path) -> None:
    """Say before any work is done that nothing can be written there; the folder itself is made when there is."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise DovetailError(f"cannot make the folder {str(folder)!r}: {str(there)!r} is a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise DovetailError(f"cannot write into the folder {str(there)!r}: permission denied")


def audit_json(
    checkpoint: str,
    source: Source,
    found: Clusterability,
    made: Mapping[str, object],
    *,
    weights: str | None = None,
    lesions: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Return all that an audit found, as ``audit.json`` has it.

    Parameters
    ----------
    checkpoint : str
        What was audited, as it was named.
    source : Source
        What was read there.
    found : Clusterability
        What came out.
    made : mapping
        With which versions, on what and when, as `dovetail.io.provenance.provenance` says.
    weights : str, optional
        The file of weights that went into it, if it was a builder's network.
    lesions : mapping, optional
        What taking clusters out did, if that was measured.
    """
    return {
        "checkpoint": checkpoint,
        "weights": weights,
        "layers_read": source.layers,
        "family": source.family,
        "sorted_by_name": source.sorted_by_name,
        "clusterability": found.to_dict(),
        "lesions": lesions,
        "made": dict(made),
    }


def write_audit(
    folder: Path, found: Clusterability, lesions: Lesions | None, answer: dict[str, object]
) -> None:
    """Write the pictures and what was measured, in the place of an earlier audit as a whole or not at all."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DovetailError(
            f"cannot make the folder {str(folder)!r}: {error.strerror}; choose another"
        ) from error
    pictures: dict[str, Callable[[], Axes] | None] = {
        "null.png": found.plot_null if len(found.null) else None,
        "clusters.png": found.plot_composition,
        "embedding.png": found.plot_embedding if found.embedding.shape[1] > 1 else None,
        "lesions.png": None if lesions is None else lesions.plot,
    }
    text = json.dumps(answer, indent=2, allow_nan=False)
    write_together(
        {
            **{folder / name: draw and partial(_write_picture, draw=draw) for name, draw in pictures.items()},
            folder / FILE: lambda path: path.write_text(text, encoding="utf-8"),
        }
    )


def _write_picture(path: Path, draw: Callable[[], Axes]) -> None:
    from matplotlib import pyplot as plt
    from matplotlib.figure import Figure

    figure = draw().get_figure()
    assert isinstance(figure, Figure)
    try:
        figure.savefig(path, format="png", dpi=150)
    finally:
        plt.close(figure)
