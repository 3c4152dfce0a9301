"""What growth in steps costs: classes that come a few at a time, without any old sample, beside joint training.

Run ``python bench/growth.py digits --step 2``, or with features of a frozen network as ``NAME=FILE.npz`` (arrays
``train``, ``val``, ``test``, samples × numbers, and ``train_y``, ``val_y``, ``test_y``). Features are brought to mean 0
and variance 1 of the training samples of the first step, which is all that there is then.

*joint*: specialists for all classes, trained together on all samples. *grown*: those of the first step so, the others
beside them, from their own samples and draws of cards (`train_specialists(..., beside=)`), and the old ones introduced
to the new (`Team.introduce`). *not introduced*: the same without that. *alone* (``--alone``): every class by itself,
with cards of all others. Then how long it takes to add one class to a composite of all others, and to drop it, and the
size of its file. Numbers on the validation split are printed beside those on the test split, which chose nothing.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

import dovetail as dt
from dovetail.specialists import Team
from dovetail.specialists.data_for import over_list


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", help="a data set by name, or NAME=FILE.npz")
    parser.add_argument("--step", type=int, default=10, help="classes of a step")
    parser.add_argument("--units", type=int, default=10, help="hidden units of a class")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--orders", type=int, default=1)
    parser.add_argument(
        "--alone", type=int, default=0, help="train so many classes by themselves, with cards of all others"
    )
    parser.add_argument("--no-joint", action="store_true")
    parser.add_argument("--no-growth", action="store_true")
    parser.add_argument("--no-times", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for order in range(options.orders):
        measure(read(options.data), order, options)


def read(text: str) -> dt.Dataset:
    """Return data by name, or features from a file."""
    name, _, file = text.partition("=")
    if not file:
        return dt.load(name)
    arrays = np.load(file)
    train, val, test = (
        dt.Split(torch.from_numpy(arrays[one]).float(), torch.from_numpy(arrays[f"{one}_y"]).long())
        for one in ("train", "val", "test")
    )
    classes = tuple(f"{number}" for number in range(int(arrays["train_y"].max()) + 1))
    return dt.Dataset(name, train, val, test, classes)


def part_of(data: dt.Dataset, names: Sequence[str]) -> dt.Dataset:
    """Return the samples of some classes."""
    ids = torch.tensor([data.classes.index(name) for name in names])
    place = torch.full((len(data.classes),), -1)
    place[ids] = torch.arange(len(names))

    def some(split: dt.Split) -> dt.Split:
        own = place[split.y]
        return dt.Split(split.x[own >= 0], own[own >= 0])

    train, val, test = (some(split) for split in (data.train, data.val, data.test))
    return replace(data, train=train, val=val, test=test, classes=tuple(names))


def scaled(data: dt.Dataset, first: dt.Dataset) -> dt.Dataset:
    """Return features scaled by the first samples that there were; pictures as they are."""
    if len(data.input_shape) > 1:
        return data
    shift, scale = first.train.x.mean(0), first.train.x.std(0).clamp(min=1e-6)
    train, val, test = (dt.Split((s.x - shift) / scale, s.y) for s in (data.train, data.val, data.test))
    return replace(data, train=train, val=val, test=test)


def measure(data: dt.Dataset, order: int, options: argparse.Namespace) -> None:
    """Print accuracies of one order of classes, step by step."""
    shuffled = torch.randperm(len(data.classes), generator=torch.Generator().manual_seed(order)).tolist()
    names = [data.classes[number] for number in shuffled]
    steps = [names[start : start + options.step] for start in range(0, len(names), options.step)]
    data = scaled(data, part_of(data, steps[0]))
    how = {
        "slots": True, "epochs": options.epochs, "lr": options.lr, "batch_size": options.batch, "progress": False,
    }  # fmt: skip
    data = part_of(data, names)
    if not options.no_joint:
        begun = time.perf_counter()
        joint = dt.train_specialists(data, f"mlp:{options.units * len(names)},dropout=0", **how)
        show("joint", len(names), dt.compose(joint), data, time.perf_counter() - begun)
    if order == 0 and options.alone:
        begun = time.perf_counter()
        alone = [
            dt.train_specialists(part_of(data, [name]), beside=[p for p in joint if p.knows != name], **how)[
                0
            ]
            for name in names[: options.alone]
        ]
        # Beside those of which there is no such training, to have all outputs.
        show(
            "alone", len(alone), dt.compose([*alone, *joint[len(alone) :]]), data, time.perf_counter() - begun
        )
    if options.no_growth:
        return
    team = dt.train_specialists(
        part_of(data, steps[0]), f"mlp:{options.units * len(steps[0])},dropout=0", **how
    )
    parts = {"grown": list(team), "not introduced": list(team)}
    seen = list(steps[0])
    for step in steps[1:]:
        begun = time.perf_counter()
        new = part_of(data, step)
        more = dt.train_specialists(new, beside=parts["grown"], **how)
        trained = time.perf_counter()
        old = Team(parts["grown"]).introduce(more, new, progress=False)
        seconds = time.perf_counter() - begun
        changed = sum(a is not b for a, b in zip(parts["grown"], old, strict=True))
        parts["grown"] = [*old, *more]
        parts["not introduced"] += list(more)
        seen += step
        now = part_of(data, seen)
        for kind, own in parts.items():
            show(f"{kind}", len(seen), dt.compose(own), now, seconds)
        print(
            f"    training {trained - begun:.1f} s, introducing {seconds - trained + begun:.1f} s, {changed} changed"
        )
    if order == 0 and not options.no_times:
        times(parts["grown"], part_of(data, seen), how)


def show(kind: str, classes: int, whole: dt.Composite, data: dt.Dataset, seconds: float) -> None:
    """Print a line."""
    over = over_list(data, tuple(dict.fromkeys((*whole.classes, *data.classes))))
    val, test = (whole.evaluate(split).rewarded_accuracy for split in (over.val, over.test))
    print(f"{kind:16s} {classes:4d} classes: val {val:.4f}, test {test:.4f}, {seconds:.1f} s", flush=True)


def times(parts: Sequence[dt.Specialist], data: dt.Dataset, how: dict[str, object]) -> None:
    """Print how long a class takes to be added to all others, and to be dropped."""
    name = parts[-1].knows
    rest = dt.compose(parts[:-1])
    rest.digest, rest(data.val.x[:2])
    new = part_of(data, [name])
    begun = time.perf_counter()
    whole = dt.specialists.add_class(rest, new, progress=False)
    whole(data.val.x[:2])
    print(f"adding a class to {len(rest)}: {time.perf_counter() - begun:.2f} s")
    show("with it", len(data.classes), whole, data, 0)
    for _ in range(3):
        begun = time.perf_counter()
        less = whole.without(name)
        less(data.val.x[:2])
        print(f"dropping it again: {1000 * (time.perf_counter() - begun):.0f} ms")
    (part,) = [one for one in whole.specialists if one.knows == name]
    with tempfile.TemporaryDirectory() as folder:
        size = part.save(Path(folder) / "part.safetensors").stat().st_size
    print(f"its file: {size / 1000:.0f} kB ({len(new.train)} samples)")


if __name__ == "__main__":
    main()
