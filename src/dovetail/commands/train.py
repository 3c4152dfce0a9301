"""``dovetail train``: train specialists and save each as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import SpecError
from ..specialists.settings import TrainingSettings
from .files import ENDING, working_in
from .options import DataName, Device, FirstSeed, Json, Seeds, TrunkName, Yes, seed_range, with_settings
from .output import print_json, print_table, say, table_of
from .stopping import safe_when_stopped


@with_settings(TrainingSettings, before="seeds")
def train(
    data: DataName,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the specialists' files.")],
    rewarded: Annotated[
        list[str] | None,
        typer.Option(
            "--rewarded",
            "-r",
            metavar="CLASSES",
            help="Classes that one specialist is to know, such as 3 or 0,1; repeat it for more.",
            show_default="each class alone",
        ),
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILES",
            help="Specialists that there are already, or a folder of them: DATA has new classes. Of old ones no sample "
            "is needed, as their files hold cards (means and covariances) to draw from. The old are introduced to the "
            "new, and saved in the output folder too.",
            show_default="none",
        ),
    ] = None,
    trunk: TrunkName = None,
    seeds: Seeds = 1,
    seed: FirstSeed = 0,
    device: Device = None,
    force: Annotated[
        bool, typer.Option("--force", help="Train anew, and replace, what the folder has.")
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Train specialists: networks that recognise some classes of DATA and are undecided on all others.

    There is one for each class, unless --rewarded says otherwise; dovetail compose puts them together. Specialists that
    the folder has already, trained in the same way, are kept and not trained again.

    Example:

        dovetail train digits --net mlp:500 --slots -o parts/

        dovetail train wine.csv:target=quality -o parts/

        dovetail train new.csv:target=quality --beside parts/ -o grown/

        dovetail train intents.jsonl --trunk sentence:minilm/ --net mlp:1600 --slots -o parts/
    """
    from ..specialists import train_specialists
    from ..specialists.class_sets import class_sets, sets_of_texts
    from ..specialists.data_for import over_list
    from ..specialists.files import file_name
    from .amount import check_training
    from .beside import Others
    from .own_data import what_was_read
    from .trunk import open_through, open_trunk

    numbers = seed_range(seed, seeds)
    frozen = open_trunk(trunk)
    others = Others.opened(beside, output, frozen, force=force) if beside else None
    dataset = (
        open_through(frozen, data, device=device, quiet=as_json) if others is None else others.data(data)
    )
    sets = None if rewarded is None else sets_of_texts(rewarded, dataset.classes)
    own = {name: _function(options.pop(name), name) for name in ("loss", "augment")}
    settings = TrainingSettings(**options | {"patience": options["patience"] or None})
    if not yes:
        taught, how, each = (
            (dataset, settings, len(class_sets(sets, dataset.classes)))
            if others is None
            else others.amount(dataset, settings, sets)
        )
        check_training(taught, how, len(numbers) * each, device=device)
    given = {name: value for name, value in settings if name not in own and name != "sample_weights"}
    kept = safe_when_stopped("specialists", output, lambda: len([*output.glob(f"*{ENDING}")]))
    # Without --force, files that another has put there meanwhile are not replaced, and nobody has to wait.
    with working_in(output if force else None), kept:
        team = train_specialists(
            dataset, rewarded=sets, seeds=numbers, device=device, folder=output, replace=force,
            progress=not as_json, beside=others and others.parts, **given, **own,
        )  # fmt: skip
        written = [] if others is None else others.introduce(team, dataset, device=device, quiet=as_json)
    introduced = [] if others is None else others.files
    table = team.to_frame(dataset.test if others is None else over_list(dataset, team[0].classes).test)
    table.insert(0, "file", [file_name(dataset.name, part.rewarded, part.seed) for part in team])
    if as_json:
        print_json(
            {
                "folder": str(output),
                "data": what_was_read(dataset),
                "seconds": team.seconds,
                "introduced": [str(path) for path in introduced],
                "specialists": table.to_dict("records"),
            }
        )
        return
    print_table(table_of(table.drop(columns="loss"), f"In {output}, measured on the test split"))
    typer.echo(
        f"Trained in {team.seconds:.1f} s."
        if team.histories
        else "All were there already; nothing was trained."
    )
    if introduced:
        new = "too" if written else "already"
        say(f"{len(introduced)} that were there are in {output} {new}, introduced to what is new.")


def _function(text: str | None, what: str) -> Any:
    """Return a function that was named; any other text as it is."""
    from ..importing import found, is_code

    if text is None or not is_code(text, what):
        return text
    function = found(text, what)
    if not callable(function):
        raise SpecError(f"{text!r} is a {type(function).__name__}; {what} is a function")
    return function
