"""The plan of a compiled network: which part stands where, what it reads and writes, and its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Literal, NamedTuple

import numpy as np
import torch

from ..errors import SpecError
from ..graph.graph import Floats, Indices
from .series import Count, Mapped, Picked, Positions, Program, Series, Share, Tokens
from .transformer import Attention, Block, Transformer

_SHARPNESS = 60.0
"""Score of a place that is selected; what is not selected has a share of exp(-30) at most."""

_MOST_WIDTH = 4096
"""Directions of the stream."""

_ROLES = ("query", "key", "value")


@dataclass(frozen=True)
class Part:
    """An operation of a program as a part of the network.

    Attributes
    ----------
    name : str
        Its number and what it does: ``"3 pick"``.
    kind : {"given", "head", "units"}
        Tokens and positions are given.
    block : int
        In which block it is; -1 for what is given.
    stream : range
        The directions of the residual stream that it writes to, and nothing else does.
    units : range
        Its units in the block: of queries, keys and values for a head, dense ones else.
    reads : tuple of int
        The parts that it reads; by weights of 0 where what they say makes no difference, as to a predicate that never
        holds.
    """

    name: str
    kind: Literal["given", "head", "units"]
    block: int
    stream: range
    units: range
    reads: tuple[int, ...]


class Plan:
    """Parts of a network for some programs, which only tokens and positions are shared by.

    Attributes
    ----------
    parts : list of Part
        Each after those that it reads.
    width : int
        Directions of the stream.
    outputs : list of int
        The part that each program's output is read from.
    logits : int
        Of all programs together.
    """

    def __init__(self, programs: Sequence[Program]) -> None:
        self.parts: list[Part] = []
        self.width = 0
        self._series: list[Series] = []  # what each part computes
        self._codes: list[Floats | None] = []  # of each part: what stands for its values, or None for one-hot
        self._ready: list[int] = []  # 2 b + 1 behind the attention of block b, 2 b + 2 behind its dense units
        self._numbers: dict[object, int] = {}
        self._heads: dict[int, list[int]] = {}
        self._dense: dict[int, int] = {}
        for program in programs:
            for series in program.series:
                self._part(series)
        self.outputs = [self._one_hot(program.output) for program in programs]
        self.logits = sum(len(self.parts[output].stream) for output in self.outputs)
        if self.width > _MOST_WIDTH:
            raise SpecError(
                f"these programs need a stream of {self.width} units, {_MOST_WIDTH} at most can be; compile fewer, or "
                "with a smaller alphabet or shorter rows"
            )
        # Heads of a block are equally wide, so where they begin is known only now.
        for heads in self._heads.values():
            width = max(len(self.parts[number].units) for number in heads)
            for place, number in enumerate(heads):
                units = range(place * width, place * width + len(self.parts[number].units))
                self.parts[number] = replace(self.parts[number], units=units)

    @property
    def blocks(self) -> list[tuple[int, int, int]]:
        """Of each block the heads, the units of each, and the dense units."""
        heads = [self._heads.get(block, []) for block in range(1 + max(part.block for part in self.parts))]
        widths = [max((len(self.parts[number].units) for number in own), default=0) for own in heads]
        return [(len(own), widths[block], self._dense.get(block, 0)) for block, own in enumerate(heads)]

    def owners(self) -> dict[str, Indices]:
        """Return by layer the part of each unit."""
        tokens = self._numbers[Tokens]
        found = {
            "tokens:tokens": np.full(len(self.parts[tokens].stream), tokens),
            "tokens": np.full(self.width, -1),
            "readout": np.repeat(self.outputs, [len(self.parts[output].stream) for output in self.outputs]),
        }
        for block, (heads, width, dense) in enumerate(self.blocks):
            for role in _ROLES if heads else ():
                found[f"blocks.{block}.attention.{role}"] = np.full(heads * width, -1)
            if dense:
                found[f"blocks.{block}.up"] = np.full(dense, -1)
        for number, part in enumerate(self.parts):
            found["tokens"][part.stream] = number
            for role in _ROLES if part.kind == "head" else ():
                found[f"blocks.{part.block}.attention.{role}"][part.units] = number
            if part.kind == "units":
                found[f"blocks.{part.block}.up"][part.units] = number
        return found

    def _part(self, series: Series) -> int:
        """Return the part that computes a series, after entering it."""
        key: object = type(series) if isinstance(series, Tokens | Positions) else series
        if key not in self._numbers:
            match series:
                case Tokens() | Positions():
                    self._enter(key, series, ())
                case Mapped():
                    reads = self._read_by(series)
                    dense = dense_units([self._series[read] for read in reads], self._codes[reads[0]], series)
                    self._enter(key, series, reads, units=len(dense.biases))
                case Picked(selector) | Share(selector) | Count(selector):
                    looks_at = [
                        self._one_hot(one) for term in selector.terms for one in (term.keys, term.queries)
                    ]
                    reads = (self._one_hot(_passed_on(series)), *looks_at)
                    queries = sum(len(term.queries.values) for term in selector.terms)
                    self._enter(key, series, reads, units=max(queries, len(_head_values(series)[0])))
        return self._numbers[key]

    def _one_hot(self, series: Series) -> int:
        """Return the part that has a direction for each value of a series; for a number that is a map of it."""
        number = self._part(series)
        if self._codes[number] is None:
            return number
        if ("one-hot", number) not in self._numbers:
            same = Mapped(_unchanged, (series,))
            units = len(dense_units([series], self._codes[number], same).biases)
            self._enter(("one-hot", number), same, (number,), units=units)
        return self._numbers["one-hot", number]

    def _read_by(self, series: Mapped) -> tuple[int, ...]:
        """Return the parts that a map reads. One of a single series can read a number; pairs are made of directions."""
        if len(series.of) == 1:
            return (self._part(series.of[0]),)
        return tuple(self._one_hot(source) for source in series.of)

    def _enter(self, key: object, series: Series, reads: tuple[int, ...], units: int = 0) -> None:
        number, ready = len(self.parts), max((self._ready[read] for read in reads), default=0)
        given, is_head = isinstance(series, Tokens | Positions), isinstance(series, Picked | Share | Count)
        if given:
            block = -1
        elif is_head:
            block = (ready + 1) // 2
            self._heads.setdefault(block, []).append(number)
        else:
            block = ready // 2
        place = 0
        if not given and not is_head:
            place = self._dense.get(block, 0)
            self._dense[block] = place + units
        codes = _codes(series)
        stream = range(self.width, self.width + (len(series.values) if codes is None else 1))
        self.width = stream.stop
        self._numbers[key] = number
        self._series.append(series)
        self._codes.append(codes)
        self._ready.append(0 if given else 2 * block + (1 if is_head else 2))
        self.parts.append(
            Part(
                self._name(series, reads),
                "given" if given else "head" if is_head else "units",
                block,
                stream,
                range(place, place + units),
                tuple(dict.fromkeys(reads)),
            )
        )

    def _name(self, series: Series, reads: Sequence[int]) -> str:
        if isinstance(series, Tokens | Positions):
            return type(series).__name__.lower()
        number = 1 + sum(part.kind != "given" for part in self.parts)
        if isinstance(series, Mapped) and series.function is _unchanged:
            return f"{number} values of {self.parts[reads[0]].name.split()[0]}"
        return f"{number} {_VERBS[type(series)]}"

    def write(self, network: Transformer) -> None:
        """Write the weights of a network that has none yet."""
        for part, series in zip(self.parts, self._series, strict=True):
            stream = torch.tensor(part.stream)
            match series:
                case Tokens():
                    network.tokens.weight[:, stream] = torch.eye(len(stream)).double()
                case Positions():
                    network.positions[:, stream] = torch.eye(len(stream)).double()
                case Mapped():
                    self._write_units(network, part, series)
                case Picked() | Share() | Count():
                    self._write_head(network, part, series)
        row = 0
        for output in self.outputs:
            stream = torch.tensor(self.parts[output].stream)
            network.readout.weight[torch.arange(row, row + len(stream)), stream] = 1
            row += len(stream)

    def _write_units(self, network: Transformer, part: Part, series: Mapped) -> None:
        block = network.blocks[part.block]
        assert isinstance(block, Block)
        assert block.up is not None
        assert block.down is not None
        reads = self._read_by(series)
        dense = dense_units([self._series[read] for read in reads], self._codes[reads[0]], series)
        units, stream = torch.tensor(part.units), torch.tensor(part.stream)
        start = 0
        for read in reads:  # what is read twice counts twice
            inputs = torch.tensor(self.parts[read].stream)
            block.up.weight[units[:, None], inputs] += torch.from_numpy(
                dense.weights[:, start : start + len(inputs)]
            )
            start += len(inputs)
        block.up.bias[units] = torch.from_numpy(dense.biases)
        block.down.weight[stream[:, None], units] = torch.from_numpy(dense.written)
        block.down.bias[stream] = torch.from_numpy(dense.at_first)

    def _write_head(self, network: Transformer, part: Part, series: Picked | Share | Count) -> None:
        block = network.blocks[part.block]
        assert isinstance(block, Block)
        attention = block.attention
        assert isinstance(attention, Attention)
        head, each = part.units.start // attention.head_width, _SHARPNESS**0.5
        terms, start = series.selector.terms, part.units.start
        # The sink comes after places where all terms hold, and before those that lack any; to count, it is one more.
        level = each if isinstance(series, Count) else each * (1 - 0.5 / len(terms))
        for term in terms:
            keys, queries = (
                torch.tensor(self.parts[self._one_hot(one)].stream) for one in (term.keys, term.queries)
            )
            units = torch.arange(start, start + len(queries))
            holds = [
                [bool(term.predicate(key, query)) for key in term.keys.values]
                for query in term.queries.values
            ]
            attention.query.weight[units, queries] = each
            attention.key.weight[units[:, None], keys] = each * torch.tensor(holds).double()
            attention.sink_key[head, 0, units - head * attention.head_width] = level
            start += len(queries)
        values, of_sink = _head_values(series)
        units = torch.arange(part.units.start, part.units.start + len(values))
        source = torch.tensor(self.parts[self._one_hot(_passed_on(series))].stream)
        attention.value.weight[units[:, None], source] = torch.from_numpy(values)
        attention.sink_value[head, 0, : len(values)] = torch.from_numpy(of_sink)
        attention.out.weight[torch.tensor(part.stream), units] = 1


_VERBS = {Mapped: "map", Picked: "pick", Share: "share", Count: "count"}


def _unchanged(value: object) -> object:
    return value


def _codes(series: Series) -> Floats | None:
    """Return the numbers that stand for the values of a share or a count, which are in order; None for others."""
    match series:
        case Share():
            return np.array([float(value) for value in series.values])  # type: ignore[arg-type]
        case Count():
            counts = np.arange(len(series.values))
            return np.asarray(counts / (counts + 1))
    return None


def _passed_on(series: Picked | Share | Count) -> Series:
    """Return the series whose values a head passes on; to count, any does that has a value everywhere."""
    match series:
        case Picked(_, source) | Share(_, source):
            return source
    return series.selector.terms[0].keys


def _head_values(series: Picked | Share | Count) -> tuple[Floats, Floats]:
    """Return what a head passes on for each value of what it reads, ``[units, values]``, and what its sink has."""
    source = _passed_on(series).values
    match series:
        case Picked(_, _, default):
            same = [[one == value for value in source] for one in series.values]
            return np.array(same, dtype=float), np.array(
                [one == default for one in series.values], dtype=float
            )
        case Share():
            return np.array([[bool(value) for value in source]], dtype=float), np.zeros(1)
    return np.ones((1, len(source))), np.zeros(1)


class Dense(NamedTuple):
    """Dense units that compute a map: ``relu(weights @ x + biases)``, then ``written @ units + at_first``."""

    weights: Floats
    biases: Floats
    written: Floats
    at_first: Floats


def dense_units(sources: Sequence[Series], codes: Floats | None, series: Mapped) -> Dense:
    """Return the units for a map of directions, or of one number with these codes."""
    place = {value: at for at, value in enumerate(series.values)}
    if codes is not None:
        return _steps(codes, [place[series.table[value,]] for value in sources[0].values], len(place))
    rows = list(product(*(source.values for source in sources)))
    weights = [[float(own == value) for own, source in zip(row, sources, strict=True) for value in source.values]
               for row in rows]  # fmt: skip
    written = np.zeros((len(place), len(rows)))
    written[[place[series.table[row]] for row in rows], np.arange(len(rows))] = 1
    return Dense(np.array(weights), np.full(len(rows), 1.0 - len(sources)), written, np.zeros(len(place)))


def _steps(codes: Floats, places: Sequence[int], values: int) -> Dense:
    """Return the units for a function of a number: two for each step, which rise one after the other."""
    changes = [at for at, (one, other) in enumerate(pairwise(places)) if one != other]
    weights, biases = np.zeros(2 * len(changes) or 1), np.zeros(2 * len(changes) or 1)
    written, at_first = np.zeros((values, len(weights))), np.zeros(values)
    at_first[places[0]] = 1
    for number, at in enumerate(changes):
        gap, middle = codes[at + 1] - codes[at], (codes[at + 1] + codes[at]) / 2
        for unit, (begins, sign) in enumerate(
            ((middle - gap / 4, 1), (middle + gap / 4, -1)), start=2 * number
        ):
            weights[unit], biases[unit] = 2 / gap, -2 * begins / gap
            written[places[at + 1], unit] = sign
            written[places[at], unit] = -sign
    return Dense(weights[:, None], biases, written, at_first)
