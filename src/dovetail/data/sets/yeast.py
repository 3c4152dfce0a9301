"""Places of proteins in a yeast cell (UCI Yeast), from the official file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from ..content import Content
from ..files import Files, damaged, read_lines
from ..registry import register
from ..sources import Download, Source
from ..split import Split
from ..splits import standardise_, stratified_in_three

_FILE = "yeast.data"
_FEATURES = 8
_PROTEINS = 1484
_SITES = ("CYT", "NUC", "MIT", "ME3", "ME2", "ME1", "EXC", "VAC", "POX", "ERL")
_KEPT = ("CYT", "ME3", "MIT", "NUC")
"""The four sites with enough samples; the paper uses these."""
_SOURCE = Source(
    (_FILE,),
    (
        Download(
            "https://archive.ics.uci.edu/ml/machine-learning-databases/yeast/yeast.data",
            "7cf61776fc04f527f93bf57a327b863893a1225d82df02d457e8950173218258",
        ),
    ),
)


@register("yeast", kind="files", source=_SOURCE)
def yeast(files: Files) -> Content:
    """1,299 yeast proteins with eight features, from the four largest sites in the cell (UCI Yeast)."""
    path = files.folder / _FILE
    rows = [_parse(path, number, line) for number, line in enumerate(read_lines(path), 1)]
    files.check_count(path, "proteins", len(rows), _PROTEINS)
    rows = [(values, site) for values, site in rows if site in _KEPT]
    x = torch.tensor([values for values, _ in rows], dtype=torch.float64)
    labels = np.array([_KEPT.index(site) for _, site in rows], dtype=np.int64)
    rows_of = [torch.from_numpy(indices) for indices in stratified_in_three(labels, path)]
    inputs = [x[indices] for indices in rows_of]
    standardise_(*inputs)
    y = torch.from_numpy(labels)
    splits = [
        Split(values.to(torch.float32), y[indices]) for values, indices in zip(inputs, rows_of, strict=True)
    ]
    return Content(splits, _KEPT)


def _parse(path: Path, number: int, line: str) -> tuple[list[float], str]:
    """Return the features and the site of one protein: a name, eight numbers in [0, 1], a site."""
    _, *fields = line.split()
    site = fields.pop() if fields else ""
    if len(fields) != _FEATURES or site not in _SITES:
        raise damaged(
            path, f"has no name, {_FEATURES} numbers and known site in line {number}: {line[:80]!r}"
        )
    try:
        values = [float(field) for field in fields]
    except ValueError as error:
        raise damaged(path, f"has something that is not a number in line {number}: {line[:80]!r}") from error
    if not all(0 <= value <= 1 for value in values):
        raise damaged(path, f"has a value outside 0 to 1 in line {number}: {line[:80]!r}")
    return values, site
