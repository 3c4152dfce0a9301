"""``dovetail features``: what a trunk makes of data, as a folder that is data itself."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .options import DataName, Device, Json
from .output import print_json, say
from .stopping import safe_when_stopped


def features(
    data: DataName,
    trunk: Annotated[
        str,
        typer.Option(
            metavar="TRUNK",
            help="A frozen network: timm:NAME, sentence:FOLDER, transformers:FOLDER or package.module:builder, with "
            "options such as :weights=FILE,size=224,cut=layer3,pool=max.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the features.")],
    batch_size: Annotated[int, typer.Option(help="Samples at a time.")] = 128,
    bf16: Annotated[bool, typer.Option("--bf16", help="Compute in bfloat16, which is fast on GPUs.")] = False,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Compute what a trunk, a frozen network, makes of DATA, once: a folder that other commands take as DATA.

    A computation that was stopped goes on where it was.

    Example:

        dovetail features photos/ --trunk timm:resnet18:size=64 -o seen/
    """
    import torch

    from ..data import open_data
    from ..trunks import trunk as trunk_of
    from ..trunks.compute import samples_kept
    from .own_data import say_what_was_read

    network = trunk_of(trunk)
    dataset = open_data(data, texts="raw" if network.takes_texts else "words")
    if not as_json:
        say_what_was_read(dataset, data)
    with safe_when_stopped("samples", output, partial(samples_kept, output)):
        made = network.features(
            dataset, folder=output, batch_size=batch_size, device=device, progress=not as_json,
            dtype=torch.bfloat16 if bf16 else torch.float32,
        )  # fmt: skip
    if as_json:
        print_json(
            {
                "folder": str(output),
                "name": made.name,
                "trunk": network.facts.model_dump(),
                "samples": {name: len(split) for name, split in made.splits.items()},
                "shape": list(made.input_shape),
                "fingerprint": made.fingerprint,
            }
        )
        return
    say(made.describe())
    say(f"In {output}, which is data for other commands: dovetail train {output} --slots -o parts/")
