"""Explaining a perceptron: all its values on samples, the signals between its modules, and formulas for what is a bit.

What a module tells a unit of another module is what its units add to that unit: one number a sample. The sum is often a
bit where none of its terms is one, as in ``relu(a + b) - 2 relu(a + b - 1)``, which is ``a ^ b``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ...data.boolean.expression import Bits, Expression, written_name
from ...data.boolean.shortest import shortest_formula
from ...errors import DataError, ShapeError, SpecError
from ..modules.detect import detect_modules
from ..modules.hierarchy import Hierarchy, Unit
from ..pruning.start import outputs_of, weights_and_biases
from .explanation import Explanation, Function, Kind, recomputed, unit_name
from .two_groups import TwoGroups, two_groups

Answers = Literal["bits", "classes"]

MOST_SAMPLES = 2**17
"""Of more, as many are taken evenly."""
MOST_UNITS = 4_000
"""Hidden units that are explained; no sculpture has as many."""
_MOST_TOGETHER = 10
"""Variables of which the fewest that decide are found by trying all sets; of more, one after the other goes first."""
_MOST_BITS = 20
"""Variables that a function may be tried to be written in."""
_MOST_TERMS = 6
"""That are written out of what a unit adds up."""


def explain(
    network: nn.Module,
    x: Tensor,
    *,
    hierarchy: Hierarchy | None = None,
    answers: Answers = "bits",
    whole: bool = False,
) -> Explanation:
    """Find out what each output, each module and each hidden unit of a perceptron computes, on given samples.

    Parameters
    ----------
    network : nn.Module
        Dense layers with ReLUs between them.
    x : Tensor
        Samples, ``[samples, inputs]``. Inputs that take two values are bits for formulas, the larger one for 1.
    hierarchy : Hierarchy, optional
        Its modules, and the names of inputs and outputs; those that `detect_modules` finds when not given.
    answers : {"bits", "classes"}
        What outputs say: each a bit, 1 above 0; or a class each, of which the largest wins, and is 1.
    whole : bool
        Whether the samples are all inputs that there can be.

    Returns
    -------
    Explanation
        Every formula in it was computed on all samples, and has there the values of the network.

    Examples
    --------
    >>> first, last = nn.Linear(2, 2), nn.Linear(2, 1)
    >>> with torch.no_grad():
    ...     _ = first.weight.copy_(torch.ones(2, 2)), first.bias.copy_(torch.tensor([0.0, -1.0]))
    ...     _ = last.weight.copy_(torch.tensor([[2.0, -4.0]])), last.bias.fill_(-1.0)
    >>> table = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> print(explain(nn.Sequential(first, nn.ReLU(), last), table, whole=True))
    what it computes, on all 4 inputs
      M1    of x1, x2
            y1 = x1 ^ x2
              h1_1, a number (3 levels; two groups have 67 % of its variance): relu(x1 + x2), above 0 where x1 | x2
              h1_2 = x1 & x2
      These formulas alone give all outputs of the network on 4 of 4 inputs.
    """
    found = detect_modules(network) if hierarchy is None else hierarchy
    whole = whole and len(x) <= MOST_SAMPLES
    return _Explaining(network, _samples(x, found), found, answers, whole).explanation()


def _samples(x: Tensor, hierarchy: Hierarchy) -> Tensor:
    if x.dim() != 2 or x.shape[1] != hierarchy.sizes[0]:
        raise ShapeError(f"samples are [samples, {hierarchy.sizes[0]}], not {tuple(x.shape)}")
    if not len(x) or not bool(x.isfinite().all()):
        raise DataError(
            f"an explanation needs samples of finite numbers; these are {len(x):,}"
            + (", some not finite" if len(x) else "")
        )
    if len(hierarchy.sizes) > 2 and sum(hierarchy.sizes[1:-1]) > MOST_UNITS:
        raise SpecError(f"{sum(hierarchy.sizes[1:-1]):,} hidden units are too many to explain; sculpt first")
    if len(x) > MOST_SAMPLES:
        x = x[torch.linspace(0, len(x) - 1, MOST_SAMPLES).long()]
    return x.detach().cpu().float()


class _Column(NamedTuple):
    """Something that is a bit on all samples, and what it is called."""

    name: str
    bits: Bits


@dataclass(eq=False)
class _Signal:
    """What a module tells units of others.

    Attributes
    ----------
    source, layer : int
        The module, and the layer of the units that say it.
    units : list of int
        These units.
    groups : TwoGroups
        Its values.
    bits : array of bool
        Its values as bits, 0 where most are.
    to : list of (int, int)
        Who is told.
    name : str
        What it is called.
    """

    source: int
    layer: int
    units: list[int]
    groups: TwoGroups
    bits: Bits
    to: list[Unit]
    name: str = ""

    def says_the_same(self, other: _Signal) -> bool:
        """Whether another one of the module is this bit, or its negation, again."""
        if not (self.groups.boolean and other.groups.boolean and self.source == other.source):
            return False
        return bool((self.bits == other.bits).all() or (self.bits != other.bits).all())


class _Explaining:
    """All values of a network on samples, and what can be said of them."""

    def __init__(
        self, network: nn.Module, x: Tensor, hierarchy: Hierarchy, answers: Answers, whole: bool
    ) -> None:
        weights, biases = weights_and_biases(network)
        self.weights = [weight.double().numpy() for weight in weights]
        self.biases = [
            np.zeros(len(weight)) if bias is None else bias.double().numpy()
            for weight, bias in zip(self.weights, biases, strict=True)
        ]
        self.hierarchy, self.rows, self.kind, self.whole = hierarchy, len(x), answers, whole
        self.last = len(self.weights)
        if tuple(map(len, self.weights)) != hierarchy.sizes[1:]:
            raise ShapeError(
                f"the modules are those of a network of {'-'.join(map(str, hierarchy.sizes))} units, not of this one"
            )
        self.values = [x.double().numpy()]
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True), 1):
            out = self.values[-1] @ weight.T + bias
            self.values.append(out if layer == self.last else out.clip(0))
        logits = outputs_of(network, x).double().numpy()
        if logits.shape != self.values[-1].shape or not np.allclose(logits, self.values[-1], 1e-3, 1e-4):
            raise SpecError(
                "the network is not a plain perceptron: dense layers with ReLUs between them give other outputs than "
                "it does, and nothing else can be explained"
            )
        # What the network says by its own forward pass: formulas are held against this.
        self.answers: Bits = logits > 0
        if answers == "classes":
            self.answers = np.eye(logits.shape[1], dtype=bool)[logits.argmax(1)]
        self.used = [np.flatnonzero(members >= 0).tolist() for members in hierarchy.membership]
        self.inputs = self._input_bits()
        self.reached = [np.eye(hierarchy.sizes[0], dtype=bool)]
        for edges in hierarchy.used_edges:
            self.reached.append(edges.astype(np.float32) @ self.reached[-1].astype(np.float32) > 0)

    def explanation(self) -> Explanation:
        """Return all of it."""
        told = self._told()
        signals = [self._signal(signal, self._heard(signal.source, signal.layer, told)) for signal in told]
        outputs = [self._output(number, told) for number in range(self.hierarchy.sizes[-1])]
        units = [self._unit(layer, number) for layer in range(1, self.last) for number in self.used[layer]]
        given = {column.name: column.bits for column in self.inputs if column is not None}
        alone = recomputed([*signals, *outputs], given, self.rows)
        reproduced = None
        if all(output.expression is not None and output.name in alone for output in outputs):
            same = [alone[output.name] == self.answers[:, place] for place, output in enumerate(outputs)]
            reproduced = int(np.logical_and.reduce(same).sum())
        return Explanation(
            self.hierarchy, tuple(outputs), tuple(signals), tuple(units), self.rows, self.whole, reproduced
        )

    def _module(self, unit: Unit) -> int:
        layer, number = unit
        return int(self.hierarchy.membership[layer][number])

    def _name(self, unit: Unit) -> str:
        layer, number = unit
        ends = {0: self.hierarchy.end_names[0], self.last: self.hierarchy.end_names[1]}
        return ends[layer][number] if layer in ends else unit_name(layer, number)

    def _input_bits(self) -> list[_Column | None]:
        """Return inputs that take two values as bits; None for numbers, and for what never changes."""
        found: list[_Column | None] = []
        for name, column in zip(self.hierarchy.end_names[0], self.values[0].T, strict=True):
            low, high = column.min(), column.max()
            two = low < high and bool(((column == low) | (column == high)).all())
            found.append(_Column(name, column == high) if two else None)
        return found

    def _bits(self, inputs: Iterable[int]) -> list[_Column] | None:
        """Return inputs as bits, without those that never change; None where one is a number."""
        changing = [number for number in inputs if np.ptp(self.values[0][:, number]) > 0]
        found = [column for number in changing if (column := self.inputs[number]) is not None]
        return found if len(found) == len(changing) else None

    def _bits_reaching(self, layer: int, units: list[int]) -> list[_Column] | None:
        """Return the inputs that reach any of some units as bits; None where one is a number."""
        return self._bits(np.flatnonzero(self.reached[layer][units].any(0)).tolist())

    def _told(self) -> list[_Signal]:
        """Return what modules tell others, layer by layer, each bit of a module once."""
        found: list[_Signal] = []
        for layer in range(1, self.last):
            edges, weight = self.hierarchy.used_edges[layer], self.weights[layer]
            for target in self.used[layer + 1]:
                sources: defaultdict[int, list[int]] = defaultdict(list)
                for unit in np.flatnonzero(edges[target]).tolist():
                    sources[self._module((layer, unit))].append(unit)
                sources.pop(self._module((layer + 1, target)), None)
                for source, units in sorted(sources.items()):
                    groups = two_groups(self.values[layer][:, units] @ weight[target, units])
                    if groups.constant:
                        continue
                    bits = groups.high if groups.high.mean() <= 0.5 else ~groups.high
                    new = _Signal(source, layer, units, groups, bits, [(layer + 1, target)])
                    known = next((signal for signal in found if signal.says_the_same(new)), None)
                    if known is None:
                        found.append(new)
                        continue
                    known.to.append((layer + 1, target))
                    if groups.share < known.groups.share:  # of several, what is least a bit counts
                        known.groups = groups
        for module, several in Counter(signal.source for signal in found).items():
            own = [signal for signal in found if signal.source == module]
            for number, signal in enumerate(own, 1):
                signal.name = f"M{module + 1}" + (f"_{number}" if several > 1 else "")
        return found

    def _heard(self, module: int, layer: int, told: list[_Signal]) -> list[_Column]:
        """Return the bits that a module hears in layers up to one; none if it hears numbers of data."""
        inputs = set(self.hierarchy.inputs_of(module))
        for after in self.used[1]:
            if self._module((1, after)) == module:
                inputs |= set(np.flatnonzero(self.hierarchy.used_edges[0][after]).tolist())
        signals = [
            signal
            for signal in told
            if any(unit[0] <= layer and self._module(unit) == module for unit in signal.to)
        ]
        for signal in signals:
            if not signal.groups.boolean:  # what it is made of stands for a number
                inputs |= set(np.flatnonzero(self.reached[signal.layer][signal.units].any(0)).tolist())
        bits = self._bits(sorted(inputs))
        # On some samples what is heard besides may seem to decide by chance; on all inputs it does decide.
        if bits is None and not self.whole:
            return []
        return [*(bits or []), *(_Column(one.name, one.bits) for one in signals if one.groups.boolean)]

    def _signal(self, signal: _Signal, heard: list[_Column]) -> Function:
        groups, to = signal.groups, tuple(map(self._name, signal.to))
        if not groups.boolean:
            return Function(
                kind="signal", name=signal.name, module=signal.source, to=to, boolean=False, share=groups.share,
                levels=groups.levels,
            )  # fmt: skip
        inputs = self._bits_reaching(signal.layer, signal.units)
        found = self._function("signal", signal.name, signal.source, signal.bits, heard, inputs)
        return replace(found, to=to, share=groups.share, levels=groups.levels)

    def _output(self, number: int, told: list[_Signal]) -> Function:
        module = self._module((self.last, number))
        heard = self._heard(module, self.last, told) if module >= 0 else []
        # Which class wins hangs on all of them.
        units = [number] if self.kind == "bits" else list(range(self.hierarchy.sizes[-1]))
        inputs = self._bits_reaching(self.last, units)
        name = self._name((self.last, number))
        return self._function("output", name, max(module, -1), self.answers[:, number], heard, inputs)

    def _unit(self, layer: int, number: int) -> Function:
        values = self.values[layer][:, number]
        groups = two_groups(values)
        inputs = self._bits_reaching(layer, [number])
        read: list[_Column] = []
        if inputs is None and layer > 1:  # then of the units before it, where they are bits
            before = np.flatnonzero(self.hierarchy.used_edges[layer - 1][number]).tolist()
            columns = [two_groups(self.values[layer - 1][:, unit]) for unit in before]
            if all(column.boolean for column in columns):
                read = [
                    _Column(unit_name(layer - 1, unit), column.high)
                    for unit, column in zip(before, columns, strict=True)
                ]
        bits = groups.high if groups.boolean else values > 0
        module = self._module((layer, number))
        found = self._function("unit", unit_name(layer, number), module, bits, read, inputs)
        return replace(
            found, boolean=groups.boolean, share=groups.share, levels=groups.levels,
            weighted=self._weighted(layer, number),
        )  # fmt: skip

    def _weighted(self, layer: int, number: int) -> str:
        """Return what a unit adds up, as text."""
        reads = np.flatnonzero(self.hierarchy.used_edges[layer - 1][number]).tolist()
        if len(reads) > _MOST_TERMS:
            return f"relu of a sum of {len(reads):,}"
        terms = [
            (float(self.weights[layer - 1][number, unit]), f" {written_name(self._name((layer - 1, unit)))}")
            for unit in reads
        ]
        terms.append((float(self.biases[layer - 1][number]), ""))
        pieces = [
            f"{'-' if weight < 0 else '+'} {f'{abs(weight):.2g}{name}'.removeprefix('1 ')}"
            for weight, name in terms
            if name or f"{abs(weight):.2g}" != "0"
        ]
        text = " ".join(pieces)
        return f"relu({text[2:] if text.startswith('+') else f'-{text[2:]}'})"

    def _function(
        self,
        kind: Kind,
        name: str,
        module: int,
        bits: Bits,
        heard: list[_Column],
        inputs: list[_Column] | None,
    ) -> Function:
        """Return bits as a formula of what is heard, or else of network inputs; and of these alone."""
        on_inputs = None if inputs is None else _formula(bits, inputs)
        found = (_formula(bits, heard) if heard else None) or on_inputs
        function = Function(kind=kind, name=name, module=module)
        if on_inputs is not None:
            function = replace(function, on_inputs=on_inputs.expression, of_inputs=on_inputs.names)
        if found is None:
            return function
        return replace(
            function, expression=found.expression, of=found.names, table=found.table, right=found.right,
            shortest=found.shortest,
        )  # fmt: skip


class _Formula(NamedTuple):
    """A formula, the names in it, its values by these ("-" for what no sample has), and how many samples are right."""

    expression: Expression
    names: tuple[str, ...]
    table: str
    right: int
    shortest: bool


def _formula(bits: Bits, columns: Sequence[_Column]) -> _Formula | None:
    """Return bits as a formula of columns; None where these do not decide them, or too many do."""
    if len(columns) > _MOST_BITS or _table(bits, columns) is None:
        return None
    place = 0
    while len(columns) > _MOST_TOGETHER and place < len(columns):
        fewer = [*columns[:place], *columns[place + 1 :]]
        if _table(bits, fewer) is None:
            place += 1
        else:
            columns = fewer
    table = _table(bits, columns) if len(columns) <= _MOST_TOGETHER else None
    found = None if table is None else shortest_formula(*table)
    if found is None:
        return None
    named = [columns[number] for number in found.expression.variables]
    places = {number: place for place, number in enumerate(found.expression.variables)}
    expression = found.expression.renumbered(places)
    small = _table(bits, named)
    assert small is not None  # the formula decides
    text = "".join(
        str(int(value)) if seen else "-" for value, seen in zip(*map(np.ndarray.tolist, small), strict=True)
    )
    right = int((np.broadcast_to(expression.values([one.bits for one in named]), bits.shape) == bits).sum())
    if right < len(bits):
        raise AssertionError(f"a formula that is right on {right} of {len(bits)} samples")
    return _Formula(expression, tuple(one.name for one in named), text, right, found.proved)


def _table(bits: Bits, columns: Sequence[_Column]) -> tuple[Bits, Bits] | None:
    """Return bits by the rows of a truth table, and which rows there are; None where a row has both values."""
    codes = np.zeros(len(bits), np.int64)
    for column in columns:
        codes = 2 * codes + column.bits
    size = 2 ** len(columns)
    seen, true = np.bincount(codes, minlength=size), np.bincount(codes[bits], minlength=size)
    return None if ((true > 0) & (true < seen)).any() else (true > 0, seen > 0)
