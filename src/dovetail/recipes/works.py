"""Works: the kinds of work that units do, where each is, and which version of it.

A new kind is one file with a `Work` called ``WORK``, and one line here. Whoever changes what a work gives raises its
version (a test compares with a stored row of each kind), so that results of the old one are not taken for those of the
new one: they are still shown, marked as older, until the units are done again.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import unknown_name

if TYPE_CHECKING:
    import torch

WORKS = {
    "maxent/specialists": ("maxent.specialists", 1),
    "maxent/generalists": ("maxent.generalists", 1),
    "sculpt/trials": ("sculpt.trials", 3),
    "cluster/networks": ("cluster.networks", 1),
    "cluster/foreign": ("cluster.foreign", 1),
    "beyond/composite-clusters": ("beyond.composite_clusters", 1),
    "beyond/heads": ("beyond.heads", 1),
    "beyond/from-scratch": ("beyond.from_scratch", 1),
    "beyond/forgetting": ("beyond.forgetting", 1),
    "beyond/growing": ("beyond.growing", 1),
    "beyond/owning": ("beyond.owning", 1),
    "beyond/known-networks": ("beyond.known_networks", 1),
    "beyond/zoo": ("beyond.zoo_audits", 1),
    "beyond/function": ("beyond.function_profiles", 1),
}
"""The file of each work, from this folder, and its version. Works need torch and are imported when they are needed."""


@dataclass(frozen=True)
class Workload:
    """How much work a unit is, whatever it runs on; `costs` makes seconds and bytes of it.

    Attributes
    ----------
    net : str
        Spec of the networks that train; empty if none do, and so no GPU is of use.
    input_shape : tuple of int
        Shape of one sample.
    outputs : int
        Outputs of a network.
    members : int
        How many networks train together.
    steps : int
        Optimizer steps of each.
    batch_size : int
        Samples a step.
    core_seconds : float
        Seconds of one CPU core for all that a GPU does not help with.
    """

    net: str = ""
    input_shape: tuple[int, ...] = ()
    outputs: int = 0
    members: int = 0
    steps: int = 0
    batch_size: int = 0
    core_seconds: float = 0.0


@dataclass(frozen=True)
class Work:
    """How a unit of some kind is done, and how much work it is.

    Attributes
    ----------
    run : callable
        Takes a unit's settings and the device, and returns its row. The same settings give the same row.
    workload : callable
        Takes a unit's settings and returns its `Workload`, an estimate, without reading any data.
    label : callable
        Takes a unit's settings and returns in a few words what tells it from others.
    """

    run: Callable[[Mapping[str, Any], torch.device], dict[str, Any]]
    workload: Callable[[Mapping[str, Any]], Workload]
    label: Callable[[Mapping[str, Any]], str]


def version_of(name: str) -> int:
    """Return the version of a work.

    Examples
    --------
    >>> version_of("maxent/specialists") >= 1
    True
    """
    return _home(name)[1]


def find_work(name: str) -> Work:
    """Return the work of a name."""
    work: Work = importlib.import_module(f".{_home(name)[0]}", __package__).WORK
    return work


def _home(name: str) -> tuple[str, int]:
    if name not in WORKS:
        raise unknown_name("work", name, WORKS)
    return WORKS[name]
