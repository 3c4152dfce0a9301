"""``dovetail sculpt``: prune networks to the structure of a task."""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Device, FirstSeed, Json, Seeds, seed_range
from .output import print_json, print_table, say, table_of

if TYPE_CHECKING:
    from torch import nn

    from ..data import BooleanTask, Dataset
    from ..sculpting import Sculpture


_HIDDEN = "24"
_AT_ONCE = 8
"""Seeds that are sculpted together and then saved. None is done long before the others: the first ends after nine
tenths of the time that all take, so that little would be gained by saving each as it ends."""


def sculpt(
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="A Boolean task such as [4,2,4], formulas such as 'y1 = x1 ^ x2', a file with formulas or with a "
            "truth table (rows of 0 and 1), or a data set such as two-digits.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for networks, hierarchies and pictures.")
    ] = None,
    hidden: Annotated[
        str | None,
        typer.Option(
            help="Units of the hidden layers, such as 24 or 36-36; not with --from.", show_default=_HIDDEN
        ),
    ] = None,
    seeds: Seeds = 1,
    seed: FirstSeed = 0,
    network: Annotated[
        Path | None,
        typer.Option("--from", help="File of a trained perceptron to start from, instead of a fresh one."),
    ] = None,
    unit_steps: Annotated[
        str | None,
        typer.Option(
            help="First steps for units in percent, such as 25,50; 0: prune none.", show_default="5,10,...,70"
        ),
    ] = None,
    edge_steps: Annotated[
        str | None,
        typer.Option(help="First steps for edges in percent; 0: prune none.", show_default="0.5,1,1.5,2,2.5"),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Accuracy in validation from which on the task is done.",
            show_default="1 for Boolean tasks, else the dense network's",
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Epochs of every training.", show_default="by task")
    ] = None,
    lr: Annotated[float | None, typer.Option(help="Step size of Adam.", show_default="by task")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Samples per step.", show_default="by task")] = None,
    noise: Annotated[
        float | None,
        typer.Option(help="Noise on training inputs (sd).", show_default=".1 for Boolean tasks, else 0"),
    ] = None,
    device: Device = None,
    weight_decay: Annotated[float, typer.Option(help="L2 term on weights and biases.")] = 1e-4,
    modularity_threshold: Annotated[
        float | None,
        typer.Option(help="For detecting modules.", show_default="-0.2 for Boolean tasks, else -0.3"),
    ] = None,
    merge_threshold: Annotated[
        float | None,
        typer.Option(help="For detecting modules.", show_default="0.9 for Boolean tasks, else 0.6"),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Sculpt these seeds anew; networks of other settings are replaced."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Prune networks to the fewest units and edges that still do TASK, and show the modules that are left.

    With a folder, seeds that it has already, sculpted in the same way, are kept and not sculpted again.

    Others are sculpted together and then saved, eight at a time.

    Example:

        dovetail sculpt 4,2,4 -o xor/
    """
    from ..errors import SpecError
    from ..sculpting import compare
    from ..sculpting.settings import EDGE_STEPS, UNIT_STEPS

    numbers = seed_range(seed, seeds)
    if hidden is not None and network is not None:
        raise SpecError("--hidden is for a fresh network; the one of --from has its layers already")
    what = _task_of(task)
    options: dict[str, object] = {
        "unit_steps": _percents("--unit-steps", unit_steps, UNIT_STEPS),
        "edge_steps": _percents("--edge-steps", edge_steps, EDGE_STEPS),
        "threshold": threshold, "epochs": epochs, "lr": lr, "batch_size": batch_size, "noise": noise,
        "weight_decay": weight_decay, "modularity_threshold": modularity_threshold, "merge_threshold": merge_threshold,
    }  # fmt: skip
    settings = {
        # A family has one name, however it was typed: 4,2,4 is [4, 2, 4].
        "task": what.name if what.name.startswith("[") else task,
        "fingerprint": _fingerprint(what), "hidden": _HIDDEN if hidden is None else hidden,
        "from": None if network is None else hashlib.sha256(_bytes(network)).hexdigest()[:16], **options,
    }  # fmt: skip
    sculptures = _sculpted(what, settings, options, network, numbers, output, device, force, not as_json)
    planted = getattr(what, "planted", None)
    rows = []
    for sculpture in sculptures:
        match = (
            None
            if planted is None or sculpture.outcome == "not learned"
            else compare(sculpture.hierarchy, planted)
        )
        rows.append(
            _row(sculpture) | ({} if planted is None else {"planted": None if match is None else match.whole})
        )
    if as_json:
        print_json(
            {
                "folder": None if output is None else str(output),
                "settings": settings,
                "networks": [
                    row | {"hierarchy": json.loads(sculpture.hierarchy.to_json())}
                    for row, sculpture in zip(rows, sculptures, strict=True)
                ],
            }
        )
    elif len(sculptures) == 1:
        say(sculptures[0].describe())
    else:
        _print_rows(rows, task)
    if output is not None and not as_json:
        say(f"In {output}: for each seed the network, its modules as JSON, a picture, a page to look into.")
    if all(sculpture.outcome == "not learned" for sculpture in sculptures):
        raise typer.Exit(1)


def _sculpted(
    what: BooleanTask | Dataset,
    settings: dict[str, object],
    options: dict[str, object],
    network: Path | None,
    seeds: range,
    folder: Path | None,
    device: str | None,
    force: bool,
    progress: bool,
) -> list[Sculpture]:
    """Return a sculpture for each seed: from the folder, or made now and saved there."""
    from ..sculpting import sculpt_seeds
    from .sculpt_folder import check_settings, clear, open_kept, save_all

    there: dict[int, Sculpture] = {}
    same = False
    if folder is not None:
        same = check_settings(folder, settings, force=force)
        there = {} if force else open_kept(folder, seeds)
    missing = [seed for seed in seeds if seed not in there]
    start = _network_of(network) if network is not None and missing else None
    while missing:
        # A few at a time, so that little is lost when somebody stops it.
        now, missing = missing[:_AT_ONCE], missing[_AT_ONCE:]
        made = sculpt_seeds(
            what, str(settings["hidden"]), now, network=start, device=device, progress=progress, **options,  # type: ignore[arg-type]
        )  # fmt: skip
        there |= dict(zip(now, made, strict=True))
        if folder is not None:
            if force:  # only now: whatever is wrong with the options has shown, and nobody has stopped it
                clear(folder, now if same else None)
                same = True
            save_all(folder, made, settings)
    return [there[seed] for seed in seeds]


def _task_of(text: str) -> BooleanTask | Dataset:
    """Return the task that a text names: a family, formulas, a file with formulas or a table, or a data set."""
    from ..data import boolean_task, load
    from ..errors import DataError
    from .task_file import read_task_file

    is_file = False
    with suppress(OSError):  # formulas may be longer than any name of a file
        is_file = Path(text).is_file()
    if is_file:
        return read_task_file(Path(text))
    if re.fullmatch(r"[0-9, ]+", text):
        text = f"[{text}]"
    if text.lstrip().startswith("[") or "=" in text.split(":")[0]:
        return boolean_task(text)
    if re.search(r"[/\\]|\.\w+$", text) or not text.strip():
        raise DataError(f"there is no file {text!r}; name a Boolean task, formulas, a file, or a data set")
    return load(text)


def _fingerprint(what: BooleanTask | Dataset) -> str:
    """Return a hash of the task itself: a name or a file may come to mean something else."""
    from ..data import Dataset

    return (what if isinstance(what, Dataset) else what.dataset()).fingerprint


def _bytes(path: Path) -> bytes:
    from ..errors import FileFormatError

    try:
        return path.read_bytes()
    except OSError as error:
        raise FileFormatError(f"{str(path)!r} cannot be read: {error.strerror}") from error


def _network_of(path: Path) -> nn.Module:
    """Return the network in a file; of weights alone, dense layers with ReLUs between them."""
    from torch import nn

    from ..cluster.source import source_in
    from ..sculpting.pruning.start import perceptron_of

    what = source_in(path).what
    return what if isinstance(what, nn.Module) else perceptron_of(what)


def _percents(name: str, text: str | None, usual: tuple[float, ...]) -> list[float]:
    from ..errors import SpecError

    if text is None:
        return list(usual)
    try:
        steps = [float(part) / 100 for part in text.split(",")]
    except ValueError:
        raise SpecError(
            f"{name} takes percentages separated by commas, such as 25,50; got {text!r}"
        ) from None
    if steps == [0]:
        return []
    for step in steps:
        if not 0 < step <= 1:
            raise SpecError(f"{name} are percentages above 0 and up to 100, or 0 alone; got {100 * step:g}")
    return steps


def _row(sculpture: Sculpture) -> dict[str, object]:
    learned = sculpture.outcome != "not learned"
    return {
        "seed": sculpture.seed, "outcome": sculpture.outcome, "accuracy": sculpture.accuracy,
        "units": list(sculpture.units),
        "edges": sculpture.edges, "density": sculpture.density,
        "modules": len(sculpture.hierarchy.modules) if learned else None, "tied_cells": sculpture.tied,
    }  # fmt: skip


def _print_rows(rows: list[dict[str, object]], task: str) -> None:
    import pandas as pd

    frame = pd.DataFrame(rows).rename(columns={"tied_cells": "tied cells"})
    frame["units"] = ["-".join(map(str, units)) for units in frame["units"]]
    print_table(table_of(frame, f"{task}, sculpted"))
