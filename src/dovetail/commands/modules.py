"""``dovetail modules``: the modules of a network in a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sculpting.settings import DetectionSettings
from .options import Json, with_settings
from .output import print_json
from .sculpt_folder import check_output, write_hierarchy

if TYPE_CHECKING:
    from torch import Tensor


@with_settings(DetectionSettings, before="as_json")
def modules(
    checkpoint: Annotated[
        Path,
        typer.Argument(
            metavar="CHECKPOINT",
            help="Weights of a perceptron: safetensors (of ours too), or a state dict by torch.save.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write what was found: a .json, .png, .svg, .pdf or .html file."),
    ] = None,
    layers: Annotated[
        str | None,
        typer.Option(
            help="Names of the weights, first layer first, separated by commas.", show_default="all matrices"
        ),
    ] = None,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Find the modules of a sparse network, and how they feed one another.

    Only which weights are 0 matters. Nothing in the file is run.

    Example:

        dovetail modules xor/seed0.safetensors -o modules.html
    """
    from ..sculpting import detect_modules

    if output is not None:
        check_output(output)
    found = detect_modules(_weights(checkpoint, layers), **options)
    if output is not None:
        write_hierarchy(found, output, checkpoint.name)
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(found.describe())


def _weights(path: Path, layers: str | None) -> Mapping[str, Tensor]:
    from torch import nn

    from ..cluster.source import source_in
    from ..errors import unknown_name

    what = source_in(path).what
    found = what.state_dict() if isinstance(what, nn.Module) else what
    if layers is None:
        return found
    names = [name.strip() for name in layers.split(",")]
    for name in names:
        if name not in found:
            raise unknown_name("weight in the file", name, found)
    return {name: found[name] for name in names}
