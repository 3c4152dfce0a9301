"""``dovetail audit``: how well a network falls into clusters, and whether chance would do as well."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..cluster.settings import OUTPUT, AuditSettings
from .options import Device, Json, Yes, with_settings
from .output import print_json, say

if TYPE_CHECKING:
    from torch import nn

    from ..cluster.source import Source
    from ..data import Dataset, Split


@with_settings(AuditSettings, before="norm")
def audit(
    checkpoint: Annotated[
        str,
        typer.Argument(
            metavar="CHECKPOINT",
            help="A file of weights (safetensors, a state dict by torch.save, or the index of several), an ONNX file, "
            "a Hugging Face folder, package.module:builder (imported from this folder or installed, and called), "
            "timm:NAME, or net:SPEC such as net:mlp:512.",
        ),
    ],
    norm: Annotated[
        Literal["l1", "l2", "induced"],
        typer.Option(help="What a kernel's strength is; induced as in the paper's published CNN results."),
    ] = "l1",
    convention: Annotated[
        Literal["mlp", "cnn"] | None,
        typer.Option(
            help="mlp: inputs and outputs are nodes. cnn: hidden channels only.",
            show_default="cnn if there are convolutions",
        ),
    ] = None,
    residual: Annotated[
        Literal["nodes", "through"],
        typer.Option(help="Units that several layers add to: nodes, or connections pass through them."),
    ] = "nodes",
    layers: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only this layer, or those of a pattern such as encoder.*; can be repeated."
        ),
    ] = None,
    units: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LAYER:0-15", help="Only these units of a layer, or a head of attention; can be repeated."
        ),
    ] = None,
    input_shape: Annotated[
        str | None,
        typer.Option(
            help="Shape of one sample, such as 3x32x32; of tokens, how many.",
            show_default="where it can be known",
        ),
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="File of weights for a builder, timm: or net:.")
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            metavar="K,K,...",
            help="Several numbers of clusters in place of --k, such as 2,4,8, with p corrected for trying them all.",
        ),
    ] = None,
    lesion: Annotated[
        str | None,
        typer.Option(
            metavar="DATA", help="Also take each cluster out and measure on the test split of DATA."
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="Measure on this many samples, drawn by seed.", show_default="all")
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            help="Random sets that a cluster is compared with by --lesion.", show_default="200 or more"
        ),
    ] = None,
    device: Device = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help=OUTPUT)] = None,
    yes: Yes = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Cut a network into clusters, and compare with copies whose weights are shuffled within each layer.

    Only weights are read from files; nothing in them is run. A builder is your code, and is run.

    Example:

        dovetail audit model.safetensors --k 12 -o audit/
    """
    from ..cluster import clusterability
    from ..cluster import lesion as lesioned
    from ..cluster.audit_folder import audit_json, check_folder, write_audit
    from ..errors import SpecError
    from ..graph.chain import ASSUMED
    from ..io.provenance import provenance
    from .amount import check_audit
    from .audit_print import print_found, print_lesions
    from .audit_source import advice_for_the_command, read_shape, read_source
    from .audit_sweep import numbers_in, swept
    from .own_data import say_what_was_read

    begun = time.perf_counter()
    settings = AuditSettings(**options)
    for option, value in (("--samples", samples), ("--draws", draws), ("--device", device)):
        if lesion is None and value is not None:
            raise SpecError(f"{option} goes with --lesion DATA: without it the network is not measured")
    check_audit(settings.shuffles, settings.starts, settings.stability, settings.k, draws, yes=yes)
    if output is not None:
        check_folder(output)
    ks = None if sweep is None else numbers_in(sweep)
    if ks is not None and lesion is not None:
        raise SpecError("--lesion goes with one number of clusters, --k, not with --sweep")
    data = None if lesion is None else _data_for(checkpoint, lesion)
    shape = read_shape(input_shape) or (None if data is None else data.input_shape)
    source = read_source(checkpoint, weights, shape)
    if ks is not None:
        reading = {
            "norm": norm,
            "convention": convention,
            "residual": residual,
            "layers": layers,
            "units": units,
        }
        answers = swept(
            checkpoint, source, ks, options | reading, output=output, begun=begun, as_json=as_json,
            weights=None if weights is None else str(weights),
        )  # fmt: skip
        if as_json:
            print_json(answers)
        return
    with advice_for_the_command(source):
        measured = None if data is None else _ready(source, data, samples, settings.seed, device)
        found = clusterability(
            source.what, example_input=source.example, norm=norm, convention=convention, residual=residual,
            layers=layers, units=units, progress=not as_json, **options,
        )  # fmt: skip
    lesions = lost = None
    if measured is not None:
        network, split = measured
        lesions = lesioned(network, found, split, draws=draws, seed=settings.seed, progress=not as_json)
        assumed = None if source.layers is None else ASSUMED
        # A folder of this machine is nobody's business who reads the file.
        lost = {
            "data": Path(lesion or "").name,
            "classes": source.measured_classes,
            "assumed": assumed,
            **lesions.to_dict(),
        }
    made = provenance(begun, None if measured is None else next(measured[0].parameters()).device)
    answer = audit_json(
        checkpoint, source, found, made, weights=None if weights is None else str(weights), lesions=lost
    )
    if output is not None:
        write_audit(output, found, lesions, answer)
    if as_json:
        print_json(answer)
        return
    print_found(found, source)
    if lesions is not None:
        assert data is not None
        assert lesion is not None
        say_what_was_read(data, lesion)
        print_lesions(lesions, data, source)
    if output is not None:
        say(f"In {output}: pictures, and everything measured in audit.json.")


def _data_for(checkpoint: str, text: str) -> Dataset:
    """Return data to measure on: for a part, prepared as that of its training was."""
    from ..cluster.source import is_part
    from ..data import open_data
    from ..specialists.data_for import data_for
    from ..specialists.files import read_file_manifest

    path = Path(checkpoint)
    if path.is_file() and is_part(path):
        return data_for(read_file_manifest(path).blueprint, text)
    return open_data(text)


def _ready(
    source: Source, data: Dataset, samples: int | None, seed: int, device: str | None
) -> tuple[nn.Module, Split]:
    """Return the network to measure and what to measure it on, after checking that they fit."""
    import torch

    from ..cluster.ablation import check_fits
    from ..errors import DataError, SpecError
    from ..population.checks import check_device
    from .audit_source import measurable

    if data.task != "classes":
        raise DataError(f"--lesion measures how well classes are told apart, and {data.name} has {data.task}")
    split = data.test
    if source.part is not None:
        # On samples of other classes it is meant to be undecided, so that accuracy says nothing there.
        split = split.where(torch.isin(split.y, torch.tensor(source.part.rewarded)))
        if not len(split):
            raise DataError(f"the test split of {data.name} has no samples of {source.part.knows}")
    if samples is not None:
        if samples < 1:
            raise SpecError(f"--samples is how many samples to measure on, 1 or more; got {samples}")
        order = torch.randperm(len(split), generator=torch.Generator().manual_seed(seed))
        split = split.where(order[:samples])
    network = measurable(source).to(check_device(device))
    check_fits(network, split)
    return network, split
