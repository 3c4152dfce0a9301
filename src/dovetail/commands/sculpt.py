"""``dovetail sculpt``: prune networks to the structure of a task."""

from __future__ import annotations

import hashlib
import re
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sculpting.settings import SculptSettings
from .files import ENDING, working_in
from .options import Device, Explain, FirstSeed, Json, Seeds, Yes, seed_range, with_settings
from .output import print_json, print_table, say, table_of
from .stopping import safe_when_stopped

if TYPE_CHECKING:
    from torch import nn

    from ..data import BooleanTask, Dataset
    from ..data.boolean import Planted
    from ..sculpting import Sculpture


_AT_ONCE = 8
"""Seeds that are sculpted together and then saved. None is done long before the others: the first ends after nine
tenths of the time that all take, so that little would be gained by saving each as it ends."""


@with_settings(SculptSettings, before="device")
def sculpt(
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="A Boolean task such as [4,2,4], formulas such as 'y1 = x1 ^ x2', a file with formulas or with a "
            "truth table (rows of 0 and 1), a data set such as two-digits, or data of yours: wine.csv, photos/, "
            "package.module:function.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for networks, hierarchies and pictures.")
    ] = None,
    seeds: Seeds = 1,
    seed: FirstSeed = 0,
    network: Annotated[
        Path | None,
        typer.Option("--from", help="File of a trained perceptron to start from, instead of a fresh one."),
    ] = None,
    device: Device = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Sculpt these seeds anew; networks of other settings are replaced."),
    ] = False,
    yes: Yes = False,
    explain: Explain = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Prune networks to the fewest units and edges that still do TASK, and show the modules that are left.

    Each seed ends with its sparsest network of many searches; what most searches agree on is the consensus.

    With a folder, seeds that it has already, sculpted in the same way, are kept. Others are made eight at a time.

    A command that was stopped and is started again gives the networks that it would have given at once.

    Example:

        dovetail sculpt 4,2,4 -o xor/
    """
    from ..data import Dataset
    from ..errors import SpecError
    from ..report.pages.sculpture import facts_frame
    from ..sculpting import Sculptures
    from .amount import check_sculpting
    from .own_data import say_what_was_read
    from .sculpt_folder import write_consensus

    numbers = seed_range(seed, seeds)
    if options["hidden"] is not None and network is not None:
        raise SpecError("--hidden is for a fresh network; the one of --from has its layers already")
    what = task_of(task)
    if isinstance(what, Dataset) and not as_json:
        say_what_was_read(what, task)
    for name in ("unit_steps", "edge_steps"):
        if options[name] is not None:
            options[name] = _percents(f"--{name.replace('_', '-')}", options[name])
    asked = SculptSettings(**{name: value for name, value in options.items() if value is not None})
    settings = {
        # A family has one name, however it was typed: 4,2,4 is [4, 2, 4].
        "task": what.name if what.name.startswith("[") else task,
        "fingerprint": _fingerprint(what),
        "from": None if network is None else _hash_of(network),
        **asked.model_dump(mode="json"),
    }
    check_sculpting(*_steps_of(what, asked), len(numbers), _AT_ONCE, yes=yes)
    done = (
        nullcontext() if output is None else safe_when_stopped("networks", output, partial(_count_in, output))
    )
    with working_in(output), done:
        sculptures = _sculpted(what, settings, asked, network, numbers, output, device, force, not as_json)
        learned = [sculpture for sculpture in sculptures if sculpture.searches]
        agreed = Sculptures(learned).consensus() if learned else None
        voted = agreed is not None and agreed.networks > 1
        if output is not None and agreed is not None and voted:
            write_consensus(output, agreed, sculptures[0])
    rows = [_row(sculpture, getattr(what, "planted", None)) for sculpture in sculptures]
    if as_json:
        print_json(
            {
                "folder": None if output is None else str(output),
                "settings": settings,
                "consensus": None if agreed is None else agreed.to_dict(),
                "networks": [
                    row
                    | {"hierarchy": sculpture.hierarchy.to_dict()}
                    | ({"explanation": _explained(sculpture, what)} if explain else {})
                    for row, sculpture in zip(rows, sculptures, strict=True)
                ],
            }
        )
    elif len(sculptures) == 1:
        say(sculptures[0].describe())
    else:
        print_table(table_of(facts_frame(rows), f"{task}, sculpted"))
    if explain and not as_json:
        for sculpture in learned:
            if len(sculptures) > 1:
                say(f"seed {sculpture.seed}:")
            say(sculpture.explain(what).describe())
    if agreed is not None and voted and not as_json:
        say(agreed.describe())
    some = any(sculpture.outcome != "not learned" for sculpture in sculptures)
    if output is not None and not as_json:
        each = "for each seed the network"
        if some:
            each += ", its modules as JSON, a picture, a page to look into"
        say(f"In {output}: {each}{'; and the consensus' if voted else ''}.")
    if not some:
        if len(sculptures) > 1 and not as_json:
            say("No network has learned the task: train longer (--epochs), or ask for less (--threshold).")
        raise typer.Exit(1)


def _steps_of(what: BooleanTask | Dataset, asked: SculptSettings) -> tuple[int, int]:
    """Return the epochs of a training, and the steps of each."""
    from ..sculpting.pruning.problem import problem_of

    problem = problem_of(what)
    settings = asked.for_problem(problem, asked.hidden)
    samples = len(problem.train)
    return settings.epochs or 1, -(-samples // min(settings.batch_size or samples, samples))


def _count_in(folder: Path) -> int:
    """Return how many sculpted networks a folder has."""
    return len([*folder.glob(f"seed*{ENDING}")])


def _sculpted(
    what: BooleanTask | Dataset,
    settings: dict[str, object],
    asked: SculptSettings,
    network: Path | None,
    seeds: range,
    folder: Path | None,
    device: str | None,
    force: bool,
    progress: bool,
) -> list[Sculpture]:
    """Return a sculpture for each seed: from the folder, or made now and saved there."""
    from ..sculpting import sculpt_seeds
    from ..sculpting.pruning.problem import problem_of
    from .sculpt_folder import check_settings, clear, open_kept, save_all, show

    there: dict[int, Sculpture] = {}
    same = False
    if folder is not None:
        same = check_settings(folder, settings, force=force)
        # Networks have the fingerprint of the task as training sees it.
        own = settings | {"fingerprint": problem_of(what).fingerprint}
        there = {} if force else open_kept(folder, seeds, own)
        for sculpture in there.values():
            show(folder, sculpture)  # which somebody may have removed
    start = None
    # A few at a time, so that little is lost when somebody stops it. Which few depends only on what was asked for, and
    # all of them are sculpted even if some are there: rounding depends on who else is in a stack, and so may the end.
    for together in (seeds[first : first + _AT_ONCE] for first in range(0, len(seeds), _AT_ONCE)):
        if all(seed in there for seed in together):
            continue
        start = _network_of(network) if network is not None and start is None else start
        found = sculpt_seeds(
            what, seeds=together, network=start, device=device, progress=progress, **asked.model_dump()
        )
        made = [sculpture for sculpture in found if sculpture.seed not in there]
        there |= {sculpture.seed: sculpture for sculpture in made}
        if folder is not None:
            if force:  # only now: whatever is wrong with the options has shown, and nobody has stopped it
                clear(folder, together if same else None)
                same = True
            save_all(folder, made, settings)
    return [there[seed] for seed in seeds]


def task_of(text: str) -> BooleanTask | Dataset:
    """Return the task that a text names: a family, formulas, a file with formulas or a table, or a data set."""
    from ..data import boolean_task, open_data
    from ..data.boolean.formulas import INPUT
    from ..errors import DataError
    from .task_file import is_task_file, read_task_file

    path = Path(text)
    if _is_there(text):
        return read_task_file(path) if is_task_file(path) else open_data(text)
    if re.fullmatch(r"[0-9, ]+", text):
        text = f"[{text}]"
    if text.lstrip().startswith("[") or "=" in text.split(":")[0]:
        return boolean_task(text)
    if not text.strip() or (":" not in text and re.search(r"[/\\]|\.\w+$", text)):
        raise DataError(f"there is no file {text!r}; name a Boolean task, formulas, a file, or a data set")
    return boolean_task(text) if INPUT.search(text) else open_data(text)


def _is_there(text: str) -> bool:
    """Whether there is such a file or folder; formulas may be longer than any name of one."""
    try:
        return bool(text.strip()) and Path(text).exists()
    except (OSError, ValueError):
        return False


def _fingerprint(what: BooleanTask | Dataset) -> str:
    """Return a hash of the task itself: a name or a file may come to mean something else."""
    from ..data import Dataset
    from ..sculpting.pruning.problem import problem_of

    if isinstance(what, Dataset):
        return what.fingerprint
    if bool(what.y.isnan().any()):  # which no data set can say
        return problem_of(what).fingerprint
    return what.dataset().fingerprint


def _network_of(path: Path) -> nn.Module:
    """Return the network in a file; of weights alone, dense layers with ReLUs between them."""
    from torch import nn

    from ..cluster.source import source_in
    from ..sculpting.pruning.start import perceptron_of

    what = source_in(path).what
    return what if isinstance(what, nn.Module) else perceptron_of(what)


def _hash_of(path: Path) -> str:
    """Return a hash of what a file holds."""
    from ..io.plain import open_plain

    with open_plain(path) as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


def _percents(name: str, text: str) -> list[float]:
    from ..errors import SpecError

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


def _explained(sculpture: Sculpture, task: BooleanTask | Dataset) -> dict[str, object] | None:
    return None if sculpture.outcome == "not learned" else sculpture.explain(task).to_dict()


def _row(sculpture: Sculpture, planted: Planted | None) -> dict[str, object]:
    from ..report.pages.sculpture import sculpture_facts
    from ..sculpting import compare

    row = sculpture_facts(sculpture)
    if planted is not None:
        learned = sculpture.outcome != "not learned"
        row["planted"] = compare(sculpture.hierarchy, planted).whole if learned else None
    return row
