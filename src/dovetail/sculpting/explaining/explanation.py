"""An explanation: what each output, each signal between modules, and each hidden unit of a network computes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...data.boolean.expression import Bits, Expression
from ...markup import excerpt_html, text_html
from ...result import Result, plain
from ..drawing.style import counted
from ..modules.hierarchy import MOST_MODULES, Hierarchy, Unit

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Kind = Literal["output", "signal", "unit"]

MOST_LITERALS = 24
"""Of a formula in a line of text; longer ones are in `to_dict`."""
_LONGEST_LABEL, _MOST_LINES = 48, 6
"""Characters of a line, and lines, of what a module computes in a picture."""
_MOST_UNITS = 200
"""Hidden units that have a line of text."""


@dataclass(frozen=True, kw_only=True)
class Function(Result):
    """What an output, a signal or a hidden unit computes.

    Attributes
    ----------
    kind : {"output", "signal", "unit"}
        An output of the network; what one module tells others; a hidden unit.
    name : str
        What it is called in formulas: an output by its name, a signal by its module (``M1``, or ``M1_1``, ``M1_2``), a
        hidden unit by layer and place, ``h1_3``.
    module : int
        Its module; of a signal the one that it comes from. -1 where it is in none.
    to : tuple of str
        Of a signal: the units that are told it.
    of : tuple of str
        The names in its formula.
    expression : Expression or None
        Its formula, of variables numbered as in `of`; None where it is not Boolean, or hangs on too much.
    shortest : bool
        Whether no shorter formula has the same values on the samples.
    of_inputs : tuple of str
        The names of network inputs in `on_inputs`.
    on_inputs : Expression or None
        The same as a formula of network inputs alone.
    table : str
        Its value for every combination of the names in its formula, in counting order; "-" where no sample has it.
    right : int
        Samples of which the formula gives the value that the network computes: all, or there would be no formula.
    boolean : bool
        Whether its values are those of a bit.
    share : float
        How much of the variance of its values lies between two groups: 1 for a bit, NaN where they are all the same.
    levels : int
        How many values there are.
    weighted : str
        Of a hidden unit: what it adds up.
    """

    kind: Kind
    name: str
    module: int
    to: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    expression: Expression | None = None
    shortest: bool = False
    of_inputs: tuple[str, ...] = ()
    on_inputs: Expression | None = None
    table: str = ""
    right: int = 0
    boolean: bool = True
    share: float = 1.0
    levels: int = 2
    weighted: str = ""

    @property
    def formula(self) -> str | None:
        """Its formula as text: of its module's inputs, which may be signals of other modules."""
        return None if self.expression is None else self.expression.text(self.of)

    @property
    def formula_of_inputs(self) -> str | None:
        """Its formula as text, of network inputs alone."""
        return None if self.on_inputs is None else self.on_inputs.text(self.of_inputs)

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values, formulas as text."""
        names = (
            "kind", "name", "to", "formula", "of", "table", "shortest", "right", "formula_of_inputs", "of_inputs",
            "boolean", "share", "levels", "weighted",
        )  # fmt: skip
        module = None if self.module < 0 else f"M{self.module + 1}"
        return {"module": module, **{name: plain(getattr(self, name)) for name in names}}

    def says(self) -> str:
        """Return in a line what it computes.

        Examples
        --------
        >>> both = Expression("&", (Expression.of_variable(0), Expression.of_variable(1)))
        >>> Function(kind="signal", name="M1", module=0, to=("y1", "y2"), of=("a", "b"), expression=both).says()
        'tells y1, y2 M1 = a & b'
        """
        written = _brief(self.expression, self.of)
        if self.kind == "unit" and not self.boolean:
            return f"{self.name}, {self._number()}: {self.weighted}{f', above 0 where {written}' if written else ''}"
        if self.kind == "signal" and not self.boolean:
            return f"tells {_several(self.to)} {self._number()}"
        if written is None:
            reason = "hangs on too much for a formula"
            if self.expression is not None:
                reason = f"a formula of {self.expression.literals} names"
            return f"{self.name}: {reason}"
        more = ""
        on_inputs = _brief(self.on_inputs, self.of_inputs)
        if on_inputs is not None and (self.of, written) != (self.of_inputs, on_inputs):
            more = f"  [of inputs: {on_inputs}]"
        if self.kind == "signal":
            return f"tells {_several(self.to)} {self.name} = {written}{self._sure()}{more}"
        return f"{self.name} = {written}{self._sure()}{more}"

    def _sure(self) -> str:
        return "" if math.isnan(self.share) or self.share > 0.9995 else f" ({100 * self.share:.1f} %)"

    def _number(self) -> str:
        if math.isnan(self.share):
            return "always the same"
        share = f"two groups have {100 * self.share:.0f} % of its variance"
        return f"a number ({counted(self.levels, 'level')}; {share})"


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """What a network computes, module by module; made by `explain`.

    Attributes
    ----------
    hierarchy : Hierarchy
        The modules that it speaks of.
    outputs, signals, units : tuple of Function
        What outputs compute, what modules tell others, and what hidden units compute.
    samples : int
        On how many samples all of this was computed and checked.
    whole : bool
        Whether these are all inputs that there can be.
    reproduced : int or None
        Samples on which the formulas alone, without the network, give all outputs that the network gives; None if some
        output has no formula.

    Examples
    --------
    >>> import dovetail as dt
    >>> sculpture = dt.sculpt("y1 = x1 & x2; y2 = x3 | x4", [6], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    >>> [output.formula for output in sculpture.explain().outputs]
    ['x1 & x2', 'x3 | x4']
    """

    hierarchy: Hierarchy
    outputs: tuple[Function, ...]
    signals: tuple[Function, ...]
    units: tuple[Function, ...]
    samples: int
    whole: bool
    reproduced: int | None

    def __getitem__(self, name: str) -> Function:
        """Return what something of a name computes."""
        for function in (*self.outputs, *self.signals, *self.units):
            if function.name == name:
                return function
        raise KeyError(name)

    def unit(self, unit: Unit) -> Function | None:
        """Return what a hidden unit or an output computes, by layer and place; None for inputs and unused units."""
        layer, number = unit
        if layer == len(self.hierarchy.sizes) - 1:
            return next((o for o in self.outputs if o.name == self.hierarchy.end_names[1][number]), None)
        return next((one for one in self.units if one.name == unit_name(layer, number)), None)

    def of_module(self, module: int) -> list[str]:
        """Return what a module computes, a line for each output and for each signal to others."""
        return [one.says() for one in (*self.outputs, *self.signals) if one.module == module]

    @property
    def _module_texts(self) -> list[str]:
        """What pictures say of the modules: which inputs they have, and what they compute, shortened."""
        texts = []
        for number in range(len(self.hierarchy.modules)):
            name, lines = self._of(number), self.of_module(number)
            short = [_cut(line.partition("  [")[0]) for line in lines]
            if len(short) > _MOST_LINES:
                short[_MOST_LINES - 1 :] = [f"and {len(short) - _MOST_LINES + 1} more"]
            texts.append("\n".join(filter(None, [name, *short])))
        return texts

    def describe(self) -> str:
        """Return a few lines that say what the modules compute, and what each hidden unit does in that."""
        what = "inputs" if self.whole else "samples"
        lines = [f"what it computes, on {'all ' if self.whole else ''}{self.samples:,} {what}"]
        modules = range(len(self.hierarchy.modules))
        shown = 0
        for number in modules[:MOST_MODULES]:
            lines.append(f"  M{number + 1:<4} {self._of(number)}".rstrip())
            lines += [f"        {line}" for line in self.of_module(number)]
            for function in self.units:
                if function.module == number and shown < _MOST_UNITS:
                    shown += 1
                    lines.append(f"          {function.says()}")
        if len(modules) > MOST_MODULES:
            lines.append(f"  and {len(modules) - MOST_MODULES:,} more modules")
        lines += [f"  unused  {output.says()}" for output in self.outputs if output.module < 0][:MOST_MODULES]
        if shown < len(self.units):
            lines.append(f"  and {len(self.units) - shown:,} more hidden units")
        if self.reproduced is not None:
            lines.append(
                f"  These formulas alone give all outputs of the network on {self.reproduced:,} of {self.samples:,} "
                f"{what}."
            )
        else:
            without = [output.name for output in self.outputs if output.expression is None]
            lines.append(f"  No formula was found for {_several(without)}.")
        return "\n".join(lines)

    def _of(self, module: int) -> str:
        """Return which inputs a module has."""
        inputs = [self.hierarchy.end_names[0][unit] for unit in sorted(self.hierarchy.inputs_of(module))]
        return f"of {_several(inputs)}" if inputs else ""

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each output, signal and hidden unit."""
        import pandas as pd

        rows = [function.to_dict() for function in (*self.outputs, *self.signals, *self.units)]
        names = ["module", "kind", "name", "to", "boolean", "share", "levels", "formula", "formula_of_inputs"]
        return pd.DataFrame(rows, columns=names)

    def to_dict(self) -> dict[str, object]:
        """Return everything but the hierarchy as plain values, ready for JSON."""
        return {
            "samples": self.samples,
            "whole": self.whole,
            "reproduced": self.reproduced,
            "outputs": [output.to_dict() for output in self.outputs],
            "signals": [signal.to_dict() for signal in self.signals],
            "units": [unit.to_dict() for unit in self.units],
        }

    def plot(self, **options: Any) -> Axes:
        """Draw the network, and beside it what its modules compute; options are those of `draw_hierarchy`."""
        return self.hierarchy.plot(**{"module_texts": self._module_texts, **options})

    def _html_pieces(self) -> Iterable[str]:
        yield text_html(repr(self))
        yield excerpt_html(self.to_frame())

    def __repr__(self) -> str:
        return (
            f"Explanation({counted(len(self.outputs), 'output')}, {counted(len(self.signals), 'signal')}, "
            f"{counted(len(self.units), 'hidden unit')}, on {self.samples:,} samples)"
        )

    def __str__(self) -> str:
        return self.describe()


def unit_name(layer: int, number: int) -> str:
    """Return what a hidden unit is called in formulas: layers and units count from 1.

    Examples
    --------
    >>> unit_name(1, 2)
    'h1_3'
    """
    return f"h{layer}_{number + 1}"


def recomputed(functions: Sequence[Function], columns: Mapping[str, Bits], samples: int) -> dict[str, Bits]:
    """Return the values of functions by their formulas alone, each from those before it and the inputs.

    Parameters
    ----------
    functions : sequence of Function
        Each after those in its formula. Those without a formula, or with one of something that has none, are left out.
    columns : mapping of str to array of bool
        The inputs.
    samples : int
        How many values each has.
    """
    found = dict(columns)
    for function in functions:
        if function.expression is not None and all(name in found for name in function.of):
            values = function.expression.values([found[name] for name in function.of])
            found[function.name] = np.broadcast_to(values, samples)
    return found


def _brief(expression: Expression | None, names: Sequence[str]) -> str | None:
    if expression is None or expression.literals > MOST_LITERALS:
        return None
    return expression.text(names)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


def _several(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
