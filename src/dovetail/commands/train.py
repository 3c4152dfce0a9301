"""``dovetail train``: train specialists and save each as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from .options import DataName, Device, FirstSeed, Json, Seeds, load_data, seed_range
from .output import print_json, print_table, table_of


def train(
    data: DataName,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the specialists' files.")],
    net: Annotated[str, typer.Option(help="Architecture, such as mlp:512-256 or lenet.")] = "mlp:512",
    rewarded: Annotated[
        list[str] | None,
        typer.Option(
            "--rewarded",
            "-r",
            metavar="CLASSES",
            help="Classes of one specialist, such as 3 or 0,1; repeat it for more.",
            show_default="each class alone",
        ),
    ] = None,
    loss: Annotated[Literal["me", "qme", "xe"], typer.Option(help="The objective.")] = "me",
    sparsity: Annotated[
        float | None,
        typer.Option(
            help="Share of weights to prune.", show_default=".99 for mlp, .6 for others, 0 with slots"
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(help="In how many rounds to prune.")] = 2,
    epochs: Annotated[int, typer.Option(help="Epochs of the last training.")] = 20,
    round_epochs: Annotated[
        int | None, typer.Option(help="Epochs of each pruning round.", show_default="epochs / rounds")
    ] = None,
    temperature: Annotated[float, typer.Option(help="What logits are divided by.")] = 5.0,
    slots: Annotated[
        bool, typer.Option("--slots", help="Give each class its own share of every hidden layer.")
    ] = False,
    seeds: Seeds = 1,
    seed: FirstSeed = 0,
    lr: Annotated[float, typer.Option(help="Step size of Adam.")] = 1e-3,
    batch_size: Annotated[int, typer.Option(help="Samples per step.")] = 64,
    patience: Annotated[
        int, typer.Option(help="Stop after so many epochs without a better validation score; 0: never.")
    ] = 3,
    monitor: Annotated[
        Literal["loss", "rewarded_accuracy"],
        typer.Option(metavar="SCORE", help="The validation score that decides: loss or rewarded_accuracy."),
    ] = "loss",
    scope: Annotated[
        Literal["tensor", "global"],
        typer.Option(help="Prune the share in each tensor, or rank all together."),
    ] = "tensor",
    output_share: Annotated[
        float, typer.Option(help="The output layer's pruning rate as a share of the others'.")
    ] = 0.5,
    device: Device = None,
    force: Annotated[
        bool, typer.Option("--force", help="Train anew, and replace, what the folder has.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Train sparse networks that recognise some classes of DATA and are undecided on all others.

    Specialists that the folder has already, trained in the same way, are kept and not trained again.

    Example:

        dovetail train digits --net mlp:500 --slots -o parts/
    """
    from ..specialists import train_specialists
    from ..specialists.files import file_name

    numbers = seed_range(seed, seeds)
    dataset = load_data(data)
    sets = None if rewarded is None else [_class_set(entry, dataset.classes) for entry in rewarded]
    team = train_specialists(
        dataset, net, sets, loss=loss, sparsity=sparsity, rounds=rounds, epochs=epochs, round_epochs=round_epochs,
        temperature=temperature, slots=slots, seeds=numbers, lr=lr, batch_size=batch_size,
        patience=patience or None, monitor=monitor, scope=scope, output_share=output_share, device=device,
        folder=output, replace=force, progress=not as_json,
    )  # fmt: skip
    table = team.to_frame(dataset.test)
    table.insert(0, "file", [file_name(dataset.name, part.rewarded, part.seed) for part in team])
    if as_json:
        print_json({"folder": str(output), "seconds": team.seconds, "specialists": table.to_dict("records")})
        return
    print_table(table_of(table.drop(columns="loss"), f"In {output}, measured on the test split"))
    typer.echo(
        f"Trained in {team.seconds:.1f} s."
        if team.histories
        else "All were there already; nothing was trained."
    )


def _class_set(text: str, classes: tuple[str, ...]) -> list[int]:
    """Return the classes of one specialist as they were typed; a name may have a comma in it."""
    from ..specialists.class_sets import class_of_text

    names = [text] if text.strip() in classes else text.split(",")
    return [class_of_text(name, classes) for name in names]
