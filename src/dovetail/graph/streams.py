"""Residual streams that connections pass through: what writes into one is connected with what reads it later.

A stream is units that several layers add to, with no weights of their own. Without them as nodes, a layer that writes
into the stream and one that reads it are connected by the product of their matrices. Its magnitude is the strength of a
connection; where convolutions take part, the product of the kernels' strengths is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SpecError
from .graph import Floats, Indices
from .layers import Norm, Reading

_MOST = 300_000_000
"""Connections that a graph may have in this way: a few GiB."""


class Path(NamedTuple):
    """Connections from the units that one layer reads to those that another makes."""

    name: str
    outputs: Indices
    inputs: Indices
    weights: Floats


class _Written(NamedTuple):
    """What of some units comes into units of streams: by which weights, ``[units of streams, units]``."""

    units: Indices
    weights: Floats


def through_streams(reading: Reading, streams: NDArray[np.bool_], norm: Norm) -> Iterator[Path]:
    """Yield the connections that lead through streams, from the layers that write to those that read.

    Parameters
    ----------
    reading : Reading
        A network that was run: which layer comes into what another reads is known only then.
    streams : bool array
        Which units are those of streams.
    norm : str
        Strength of a kernel.
    """
    if any(layer.fed_by is None for layer in reading.layers):
        raise SpecError(
            "residual='through' needs the module itself with example_input: weights alone do not say which layer adds "
            "to what another reads"
        )
    members = np.flatnonzero(streams)
    roots = np.unique(reading.units.find(members))
    signed = not any(layer.convolutional for layer in reading.layers)
    written: list[dict[int, _Written]] = []
    total = 0
    for number, layer in enumerate(reading.layers):
        outputs, inputs = (_places(reading, units, roots) for units in (layer.outputs, layer.inputs))
        weights = layer.signed() if signed else layer.strengths(norm)
        arriving: dict[int, _Written] = {}
        if (inputs >= 0).any():
            for writer in sorted(layer.fed_by or ()):
                for origin, piece in written[writer].items() if writer >= 0 else ():
                    arriving[origin] = _sum(arriving.get(origin), _passed(piece, weights, inputs))
        into: dict[int, _Written] = {}
        if (outputs >= 0).any():
            own = np.flatnonzero(inputs < 0)
            if len(own):
                into[number] = _into_streams(
                    _Written(layer.inputs[own], weights[:, own]), outputs, len(roots)
                )
            for origin, piece in arriving.items():
                into[origin] = _sum(into.get(origin), _into_streams(piece, outputs, len(roots)))
        written.append(into)
        rows = np.flatnonzero(outputs < 0)
        for origin, piece in arriving.items() if len(rows) else ():
            total += len(rows) * len(piece.units)
            if total > _MOST:
                raise SpecError(
                    f"with residual='through' the graph would have more than {_MOST:,} connections; use "
                    "residual='nodes'"
                )
            name = f"{reading.layers[origin].name} -> {layer.name}"
            yield Path(name, layer.outputs[rows], piece.units, np.abs(piece.weights[rows]))


def _places(reading: Reading, units: Indices, roots: Indices) -> Indices:
    """Return the place of each unit among those of streams, -1 for a unit that is none of them."""
    found = reading.units.find(units)
    place = np.searchsorted(roots, found).clip(max=len(roots) - 1)
    return np.where(roots[place] == found, place, -1)


def _passed(piece: _Written, weights: Floats, inputs: Indices) -> _Written:
    """Return what of the units in a stream comes to the outputs of a layer that reads the stream."""
    reads = inputs >= 0
    return _Written(piece.units, weights[:, reads] @ piece.weights[inputs[reads]])


def _into_streams(piece: _Written, outputs: Indices, count: int) -> _Written:
    """Return what a layer's outputs bring into streams, by unit."""
    writes = outputs >= 0
    weights = np.zeros((count, len(piece.units)))
    np.add.at(weights, outputs[writes], piece.weights[writes])
    return _Written(piece.units, weights)


def _sum(one: _Written | None, other: _Written) -> _Written:
    return other if one is None else _Written(other.units, one.weights + other.weights)
