"""The work of measuring networks that are not trained here: published ones, or such as they are when they are made."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

import torch
from torch import nn

from ...errors import DovetailError, SpecError
from ...nets import build_net
from ..unit import Row, Settings
from ..works import Work, Workload
from .measuring import CLUSTERING_SECONDS, measure

_OUTPUTS = 1000
_OTHERS_SECONDS = 4.0
"""A core's time to cluster one copy of a network that is not in `CLUSTERING_SECONDS`."""


def run(settings: Settings, device: torch.device) -> Row:
    """Measure one network, on the CPU: nothing trains.

    Returns
    -------
    dict
        ``measures``, one entry for each of the settings'.
    """
    if settings["source"] == "timm":
        network, input_shape = _from_timm(settings["model"])
    else:
        input_shape = tuple(settings["input_shape"])
        network = build_net(settings["model"], input_shape, _OUTPUTS, seed=settings["seed"])
    example = torch.zeros(1, *input_shape)
    return {"measures": [measure([network], example, **made) for made in settings["measures"]]}


def workload(settings: Settings) -> Workload:
    """Return how much work the clustering is."""
    name = settings["model"].partition(".")[0].partition(",")[0]
    each = CLUSTERING_SECONDS.get(name, _OTHERS_SECONDS)
    return Workload(core_seconds=sum((1 + made["shuffles"]) * each for made in settings["measures"]))


def label(settings: Settings) -> str:
    """Return which network this is."""
    return str(settings["model"])


WORK = Work(run, workload, label)


def _from_timm(name: str) -> tuple[nn.Module, tuple[int, ...]]:
    """Return a network of timm with its published weights, and the shape of its inputs."""
    try:
        import timm
    except ImportError as error:
        raise SpecError(
            "networks trained on ImageNet come from the package timm, which is not installed; install it with "
            "pip install 'dovetail-nn[vision]', and run this again"
        ) from error
    try:
        with redirect_stdout(sys.stderr):
            network: nn.Module = timm.create_model(name, pretrained=True)
    except (
        Exception
    ) as error:  # the connection, the disk, the hub: a dozen libraries may fail in their own ways
        reason = (str(error).strip().splitlines() or ["no message"])[0][:200]
        raise DovetailError(
            f"published weights cannot be fetched ({type(error).__name__}: {reason}); timm downloads "
            "them from huggingface.co: run this again with a connection, or with the weights in its cache (HF_HOME)"
        ) from error
    return network, tuple(timm.data.resolve_data_config({}, model=network)["input_size"])
