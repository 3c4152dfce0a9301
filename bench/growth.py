"""How long it takes to add a class to a composite of 150 specialists, to drop one, and how large its file is.

Run ``python bench/growth.py [UNITS]``: units of each specialist's slot, 32 by default. Data are 150 classes of 100
random samples of 384 numbers, the size of CLINC150 on a sentence transformer, and one more. Adding trains its
specialist beside cards of the others and introduces those that claim it. Every line is the least time of a few tries:
that of the processor, on one thread, so that other programs on the machine disturb it little.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import torch

import dovetail as dt
from dovetail.data import Dataset, Split
from dovetail.specialists import add_class
from sums import CLASSES, least, random_data

TRIES = 5


def main() -> None:
    """Print what a class more or less costs."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # that random samples are hard to learn
    units = int(sys.argv[1]) if len(sys.argv) > 1 else 32
    data = random_data()
    known, fresh = only(data, range(CLASSES - 1)), only(data, range(CLASSES - 1, CLASSES))
    team = dt.train_specialists(known, f"mlp:{units * (CLASSES - 1)}", slots=True)
    whole, one = dt.compose(team), data.test.x[:1]
    grown = add_class(whole, fresh, progress=False)
    introduced = sum("introduced" in part.provenance.metrics for part in grown.specialists)
    with tempfile.TemporaryDirectory() as folder:
        size = grown.specialists[-1].save(Path(folder) / "last.safetensors").stat().st_size
    print(f"{CLASSES - 1} specialists of {units} units; the file of one more {size / 1000:.0f} kB")
    for what, seconds in (
        (
            f"a class added, {introduced} introduced",
            least(lambda: add_class(whole, fresh, progress=False), TRIES),
        ),
        (
            "and not introduced",
            least(lambda: add_class(whole, fresh, introduction=False, progress=False), TRIES),
        ),
        ("a class dropped", least(lambda: grown.without("7"), TRIES)),
        ("a class dropped, an answer given", least(lambda: grown.without("7")(one), TRIES)),
    ):
        print(f"  {what:<40} {1000 * seconds:8,.1f} ms")


def only(data: Dataset, classes: range) -> Dataset:
    """Return the samples of some classes, with a list of these alone."""

    def some(split: Split) -> Split:
        kept = (split.y >= classes.start) & (split.y < classes.stop)
        return Split(split.x[kept], split.y[kept] - classes.start)

    names = tuple(data.classes[number] for number in classes)
    return Dataset(data.name, some(data.train), some(data.val), some(data.test), names)


if __name__ == "__main__":
    main()
