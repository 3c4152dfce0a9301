"""Known networks: the work of making networks whose modules are known, and of having every finder look for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ...planted import (
    KnownNetwork,
    Program,
    agreement_with,
    block_network,
    compile_programs,
    draw_program,
    named_programs,
    task_networks,
)
from ..unit import Row, Settings, plain_numbers
from ..works import Work, Workload
from .finders import find, shuffled_network


def run(settings: Settings, device: torch.device) -> Row:
    """Make the networks of a unit, and have finders look at them.

    Returns
    -------
    dict
        ``units``: hidden units that have a module and connections, of each network; ``modules``: how many modules. By
        finder, with an entry for each network: ``rand`` and ``information``, agreement with the modules, and
        ``p_values`` (None without copies); empty for a finder that cannot look at such networks. Of networks that are
        shuffled copies themselves, ``shuffled: true``, agreement says nothing.
    """
    found: dict[str, dict[str, list[float | None]]] = {
        name: {"rand": [], "information": [], "p_values": []} for name in settings["finders"]
    }
    units, modules = [], []
    for seed, known in zip(settings["seeds"], _networks(settings), strict=True):
        if settings["shuffled"]:
            known = replace(known, network=shuffled_network(known.network, (seed, 17)))
        graph = known.graph(settings["residual"])
        owners = known.labels(graph, ends=False)
        counted = np.diff(graph.adjacency.indptr) > 0
        units.append(int(np.count_nonzero((owners >= 0) & counted)))
        modules.append(len(known.modules))
        for name, columns in found.items():
            shuffles = settings["shuffles"] if name in settings["tested"] else 0
            finding = find(name, known, graph, len(known.modules), shuffles, seed)
            if finding is not None:
                agreement = agreement_with(owners, finding.labels, counted)
                columns["rand"].append(agreement.rand)
                columns["information"].append(agreement.information)
                columns["p_values"].append(finding.p_value)
    return {
        "units": units,
        "modules": modules,
        "finders": {
            name: {column: plain_numbers(values) for column, values in columns.items()}
            for name, columns in found.items()
        },
    }


def _networks(settings: Mapping[str, Any]) -> Iterator[KnownNetwork]:
    family, options, seeds = settings["family"], settings["options"], settings["seeds"]
    if family == "blocks":
        yield from (block_network(seed=seed, **options) for seed in seeds)
    elif family == "tasks":
        yield from task_networks(seeds=seeds, **options)
    else:
        for seed in seeds:
            programs = _programs(options, seed)
            compiled = compile_programs(programs, turn=seed if options["turned"] else None)
            yield compiled if len(programs) == 1 else compiled.by_program()


def _programs(options: Mapping[str, Any], seed: int) -> list[Program]:
    """Return the programs of one network: that of a number among the named ones, or random ones."""
    if options["programs"] == "named":
        named = list(named_programs(length=options["length"]).values())
        return [named[seed % len(named)]]
    return [
        draw_program(
            options["together"] * seed + number, operations=options["operations"], length=options["length"]
        )
        for number in range(options["together"])
    ]


_SECONDS = {"spectral": 0.003, "leiden": 0.07, "paths": 0.005, "lesions": 0.02, "sculpted": 0.007}
"""Of one core, for a look of each finder at one network."""


def workload(settings: Settings) -> Workload:
    """Return how much work it is: looks at networks and at their copies."""
    looks = {name: 1 + settings["shuffles"] * (name in settings["tested"]) for name in settings["finders"]}
    each = sum(_SECONDS[name] * count for name, count in looks.items())
    training = 0.3 if settings["family"] == "tasks" else 0.05
    return Workload(core_seconds=len(settings["seeds"]) * (each + training))


def label(settings: Settings) -> str:
    """Return which networks these are."""
    options = ", ".join(f"{name} {value}" for name, value in settings["options"].items())
    kind = (
        f"{settings['family']}{', shuffled' if settings['shuffled'] else ''}, stream {settings['residual']}"
    )
    return f"{kind}, {options}, {len(settings['seeds'])} seeds"


WORK = Work(run, workload, label)
