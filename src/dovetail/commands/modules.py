"""``dovetail modules``: the modules of a network in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .options import Json
from .output import print_json
from .sculpt_folder import check_output, write_hierarchy

if TYPE_CHECKING:
    from torch import Tensor


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
    modularity_threshold: Annotated[
        float, typer.Option(help="Metric above which tests decide on the clusters; -0.3 for images.")
    ] = -0.2,
    merge_threshold: Annotated[
        float, typer.Option(help="Share of edges above which clusters are merged; 0.6 for images.")
    ] = 0.9,
    linkage: Annotated[
        Literal["average", "single", "complete", "ward"],
        typer.Option(metavar="NAME", help="Distance between clusters: average, single, complete or ward."),
    ] = "average",
    distance: Annotated[
        Literal["cosine", "jaccard", "euclidean"],
        typer.Option(metavar="NAME", help="Distance between units: cosine, jaccard or euclidean."),
    ] = "cosine",
    score: Annotated[
        Literal["modularity", "silhouette", "calinski-harabasz", "davies-bouldin"],
        typer.Option(
            metavar="NAME",
            help="What decides the number of clusters: modularity, silhouette, calinski-harabasz or davies-bouldin.",
        ),
    ] = "modularity",
    as_json: Json = False,
) -> None:
    """Find the modules of a sparse network, and how they feed one another.

    Only which weights are 0 matters. Nothing in the file is run.

    Example:

        dovetail modules xor/seed0.safetensors -o modules.html
    """
    from ..sculpting import detect_modules

    if output is not None:
        check_output(output)
    found = detect_modules(
        _weights(checkpoint, layers), modularity_threshold=modularity_threshold, merge_threshold=merge_threshold,
        linkage=linkage, distance=distance, score=score,
    )  # fmt: skip
    if output is not None:
        write_hierarchy(found, output, checkpoint.name)
    if as_json:
        print_json(json.loads(found.to_json()))
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
