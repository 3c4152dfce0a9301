"""Rows of trials: what is written down about a sculpted network."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Literal

from ...data.boolean import Planted
from ...sculpting import (
    Hierarchy,
    Match,
    Sculpture,
    compare,
    detect_modules,
    input_separability,
    path_products,
    units_needed,
)
from ...sculpting.consensus import consensus
from .settings import Choice

_MATCHES = [entry.name for entry in fields(Match) if entry.name != "expected"]
_MOST_PRODUCTS = 256
"""Path products are kept for small tasks only."""


def trial_of(sculpture: Sculpture, planted: Planted, choices: Iterable[Choice]) -> dict[str, Any]:
    """Return one network's entry: what was left of it, and whether that shows what was planted.

    ``at_depth`` says what matches of the structure that networks of this depth can show, ``full`` what of the whole;
    ``some_tied`` has both for some network that is as sparse, ``consensus`` for what this seed's searches agree on. A
    network that does not do the task shows nothing.
    """
    hierarchy = sculpture.hierarchy
    learned = sculpture.outcome != "not learned"
    return {
        "seed": sculpture.seed,
        "outcome": sculpture.outcome,
        "accuracy": round(sculpture.accuracy, 6),
        "edges": sculpture.edges,
        "units": list(sculpture.units),
        "tied": sculpture.tied,
        "cell": [sculpture.unit_step, sculpture.edge_step],
        "modules": _modules(hierarchy),
        "distances_tied": any(clustering.tied for clustering in hierarchy.clusterings),
        "at_depth": _matches(hierarchy, planted, None, learned=learned),
        "full": _matches(hierarchy, planted, "any", learned=learned),
        "some_tied": _some(
            [found for _, found in sculpture.hierarchies()] or [hierarchy], planted, learned=learned
        ),
        "consensus": _some(
            [consensus([sculpture]).hierarchy if sculpture.searches else hierarchy], planted, learned=learned
        ),
        "needed": units_needed(sculpture.network).tolist(),
        "separability": _separability(sculpture, planted),
        "choices": {
            str(choice): learned and compare(_detect(sculpture, choice), planted).whole for choice in choices
        },
    }


def consensus_of(sculptures: Sequence[Sculpture], planted: Planted) -> dict[str, Any] | None:
    """Return what the searches of all seeds agree on, and whether that is what was planted; nothing if none learned."""
    learned = [sculpture for sculpture in sculptures if sculpture.searches]
    if not learned:
        return None
    agreed = consensus(learned)
    numbers = {
        name: _short(value) for name, value in agreed.to_dict().items() if isinstance(value, float | int)
    }
    agreements = {
        kind: {"value": _short(one.value), "p": one.p_value} for kind, one in agreed.agreements.items()
    }
    stability = [_short(share) for share in agreed.stability]  # None for NaN
    matches = _some([agreed.hierarchy], planted, learned=True)
    return {**matches, **numbers, "stability": stability, "agreements": agreements}


def example_of(sculpture: Sculpture) -> dict[str, Any]:
    """Return what pictures of one network need."""
    products = path_products(sculpture.network)
    return {
        "hierarchy": sculpture.hierarchy.to_json() if sculpture.outcome == "sculpted" else None,
        "products": [[_short(value) for value in row] for row in products.tolist()]
        if products.size <= _MOST_PRODUCTS
        else None,
    }


def _matches(
    hierarchy: Hierarchy, planted: Planted, depth: Literal["any"] | None, *, learned: bool
) -> dict[str, bool]:
    match = compare(hierarchy, planted, depth=depth)
    return {name: learned and bool(getattr(match, name)) for name in _MATCHES}


def _some(hierarchies: Sequence[Hierarchy], planted: Planted, *, learned: bool) -> dict[str, dict[str, bool]]:
    """Return for both structures what matches in some of the hierarchies."""
    depths: dict[str, Literal["any"] | None] = {"at_depth": None, "full": "any"}
    found = {
        name: [_matches(hierarchy, planted, depth, learned=learned) for hierarchy in hierarchies]
        for name, depth in depths.items()
    }
    return {
        name: {entry: any(match[entry] for match in matches) for entry in _MATCHES}
        for name, matches in found.items()
    }


def _modules(hierarchy: Hierarchy) -> list[dict[str, Any]]:
    """Return the partition: for each module its inputs, its outputs, and its hidden units by layer."""
    layers = len(hierarchy.sizes)
    return [
        {
            "inputs": sorted(hierarchy.inputs_of(number)),
            "hidden": [sum(at == layer for at, _ in module) for layer in range(1, layers - 1)],
            "outputs": sorted(hierarchy.outputs_of(number)),
        }
        for number, module in enumerate(hierarchy.modules)
    ]


def _separability(sculpture: Sculpture, planted: Planted) -> dict[str, Any] | None:
    """Return the tests for separable inputs, for tasks whose modules go from inputs to outputs of their own."""
    if len(planted) < 2 or not all(module.inputs and module.outputs for module in planted):
        return None
    found = input_separability(sculpture.network, planted)
    return {
        "rejected": found.rejected,
        "t": [_short(test.t) for test in found],
        "p": [_short(test.p_value) for test in found],
        "own": [_short(test.own) for test in found],
        "other": [_short(test.other) for test in found],
    }


def _detect(sculpture: Sculpture, choice: Choice) -> Hierarchy:
    return detect_modules(
        list(sculpture.hierarchy.connections),
        **sculpture.settings.detection(),
        linkage=choice.linkage,  # type: ignore[arg-type]
        distance=choice.distance,  # type: ignore[arg-type]
        score=choice.score,  # type: ignore[arg-type]
    )


def _short(value: float) -> float | None:
    """Return a number with six digits; nothing for infinity, which JSON does not have."""
    return float(f"{value:.6g}") if math.isfinite(value) else None
