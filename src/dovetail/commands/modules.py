"""``dovetail modules``: the modules of a network in a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sculpting.settings import DetectionSettings
from .files import check_free
from .options import DATA, Explain, Json, with_settings
from .output import print_json, say
from .sculpt_folder import check_kind, write_hierarchy

if TYPE_CHECKING:
    from torch import Tensor

    from ..sculpting import Sculpture

_WHICH = "modules are found in dense layers that follow one another; name their weights with --layers"
"""What to do here where the library says what to pass in Python."""


@with_settings(DetectionSettings, before="force")
def modules(
    context: typer.Context,
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
    explain: Explain = False,
    data: Annotated[
        str | None,
        typer.Option(help=f"What a sculpture for data is explained on: {DATA}.", metavar="DATA"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Find the modules of a sparse network, and how they feed one another.

    Only which weights are 0 matters. Nothing in the file is run.

    For a sculpture, options that are not typed are those that it was sculpted with, and --explain says what its modules
    and units compute.

    Example:

        dovetail modules xor/seed0.safetensors -o modules.html
    """
    from dataclasses import replace

    from torch import nn

    from ..cluster.source import advised, source_in
    from ..errors import SpecError
    from ..graph.matrices import PASS_MODULE, WAYS
    from ..sculpting import detect_modules
    from .sculpt import task_of

    if output is not None:
        check_kind(output)
        check_free(output, force=force)
    sculpture = _sculpture_in(checkpoint)
    image_shape = None
    if sculpture is None:
        source = source_in(checkpoint)
        tensors = source.what.state_dict() if isinstance(source.what, nn.Module) else source.what
        with advised(source, {PASS_MODULE: _WHICH, WAYS: _WHICH}):
            found = detect_modules(_chosen(tensors, layers), **options)
    else:
        masks = {name: mask for name, mask in sculpture.masks.items() if mask.dim() == 2}
        typed = {name: value for name, value in options.items() if _is_typed(context, name)}
        found = detect_modules(_chosen(masks, layers), **{**sculpture.settings.detection(), **typed})
        if layers is None:  # others have other ends
            found = replace(found, input_names=sculpture.input_names, output_names=sculpture.output_names)
            image_shape = sculpture.image_shape
    explanation = None
    if explain:
        if sculpture is None or layers is not None:
            raise SpecError(
                f"--explain is for a whole sculpture, by dovetail sculpt -o; {checkpoint} is not that"
            )
        if data is None and not sculpture.truth_table:
            raise SpecError(
                f"{checkpoint} is for {sculpture.task}: name that with --data, to say on which samples"
            )
        what = None if data is None else task_of(data)
        explanation = sculpture.explain(what, hierarchy=found)
    if output is not None:
        write_hierarchy(found, output, checkpoint.name, image_shape=image_shape, explanation=explanation)
    if as_json:
        print_json(found.to_dict() | ({"explanation": explanation.to_dict()} if explanation else {}))
    else:
        say(found.describe())
        if explanation is not None:
            say(explanation.describe())


def _sculpture_in(path: Path) -> Sculpture | None:
    """Return the sculpture that a file holds; none for weights alone."""
    from ..io.checkpoint import is_safetensors
    from ..io.header import read_header
    from ..sculpting.sculpture import SCHEMA, open_sculpture

    if path.is_file() and is_safetensors(path) and read_header(path).get("schema") == SCHEMA:
        return open_sculpture(path)
    return None


def _is_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _chosen(tensors: Mapping[str, Tensor], layers: str | None) -> Mapping[str, Tensor]:
    """Return the tensors that were named; all of them where none was."""
    from ..errors import unknown_name

    if layers is None:
        return tensors
    names = [name.strip() for name in layers.split(",")]
    for name in names:
        if name not in tensors:
            raise unknown_name("weight in the file", name, tensors)
    return {name: tensors[name] for name in names}
