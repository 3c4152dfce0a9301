"""A Boolean task: a function of bits as a truth table, with its graph and its planted structure if known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike
from torch import Tensor

from ...errors import DataError, SpecError
from ..dataset import Dataset
from ..split import Split
from .families import bracket_name, find_family, read_bracket
from .formulas import ends_of, graph_of, read_formulas
from .graph import FunctionGraph, evaluate_graph
from .planted import Planted
from .table import input_table, read_table

_WRITE = "write a list such as [4, 2, 4], or formulas such as 'y1 = x1 ^ x2'"


@dataclass(frozen=True, eq=False, repr=False)
class BooleanTask:
    """A function of bits, row by row.

    Attributes
    ----------
    name : str
        The family with its numbers, "formulas" or "table".
    x, y : Tensor
        The truth table, ``[2**inputs, inputs]`` and ``[2**inputs, outputs]``, float32. Rows count up, with x1
        as the most significant bit. NaN stands for what does not matter.
    graph : networkx.DiGraph or None
        The function graph: inputs "x1", ..., gates "g1", ... and outputs "y1", ..., whatever they are called; None for
        a bare table.
    planted : Planted or None
        The modules that a network for this task should show, where they are known.
    input_names, output_names : tuple of str or None
        What inputs and outputs are called; None for x1, x2, ... and y1, y2, ...

    Examples
    --------
    >>> task = boolean_task([4, 2, 4])
    >>> task
    BooleanTask('[4,2,4]', inputs=4, outputs=4, gates=6, modules=2)
    >>> print(task.describe())
    [4,2,4]
      table    16 rows, 4 inputs, 4 outputs
      graph    6 gates (4 and, 2 or), 16 edges
      planted  a {x1, x2, y1, y2}
               b {x3, x4, y3, y4}
    """

    name: str
    x: Tensor
    y: Tensor
    graph: FunctionGraph | None = None
    planted: Planted | None = None
    input_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None

    @classmethod
    def from_table(cls, y: ArrayLike | Tensor, *, name: str = "table") -> BooleanTask:
        """Return the task of a truth table, ``[2**inputs, outputs]`` of 0 and 1, rows in counting order.

        What does not matter is NaN: whole rows, or single bits.

        Examples
        --------
        >>> BooleanTask.from_table([[0], [1], [1], [0]])
        BooleanTask('table', inputs=2, outputs=1)
        """
        outputs = read_table(name, y)
        return cls(name, input_table(len(outputs).bit_length() - 1), outputs)

    @property
    def inputs(self) -> int:
        """Number of input bits."""
        return self.x.shape[1]

    @property
    def outputs(self) -> int:
        """Number of output bits."""
        return self.y.shape[1]

    @property
    def rows_that_matter(self) -> Split:
        """The rows of the table without those in which no output matters."""
        matters = ~self.y.isnan().all(1)
        return Split(self.x[matters], self.y[matters])

    def dataset(self) -> Dataset:
        """Return the task as data: the whole table, to train, validate and test on.

        Rows that do not matter are left out.

        Raises
        ------
        DataError
            Where a bit does not matter in a row in which others do, which data cannot say; `sculpt` takes the task.
        """
        table = self.rows_that_matter
        if bool(table.y.isnan().any()):
            raise DataError(
                f"{self.name} has rows of which only some outputs matter, which a data set cannot say; sculpt the task "
                "itself"
            )
        names = self.output_names or tuple(f"y{number}" for number in range(1, self.outputs + 1))
        return Dataset(self.name, table, table, table, classes=names, task="bits")

    def describe(self) -> str:
        """Return a few lines that say what the task is."""
        rows = f"{len(self.x):,} rows"
        if len(self.rows_that_matter) < len(self.x):
            rows = f"{len(self.rows_that_matter):,} of {rows}"
        lines = [self.name, f"  table    {rows}, {self.inputs} inputs, {self.outputs} outputs"]
        if self.graph is not None:
            gates = _gates(self.graph)
            kinds = ", ".join(f"{count} {gate}" for gate, count in sorted(gates.items()))
            edges = self.graph.number_of_edges()
            lines.append(f"  graph    {gates.total()} gates{f' ({kinds})' if kinds else ''}, {edges} edges")
        for what, names in (("inputs", self.input_names), ("outputs", self.output_names)):
            if names is not None:
                lines.append(f"  {what:<7}  {', '.join(names)}")
        for place, module in enumerate(self.planted or ()):
            lines.append(f"  {'' if place else 'planted':<7}  {module}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        gates = f", gates={_gates(self.graph).total()}" if self.graph is not None else ""
        modules = f", modules={len(self.planted)}" if self.planted is not None else ""
        return f"BooleanTask({self.name!r}, inputs={self.inputs}, outputs={self.outputs}{gates}{modules})"


def boolean_task(
    *what: str | Sequence[int], inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None
) -> BooleanTask:
    """Return a Boolean task, by the name of its family or from formulas.

    Parameters
    ----------
    *what : list of int, or str
        A family with its numbers, ``[4, 2, 4]`` or ``"[4,2,4]"``: one of [4,2,4], [4,1,4], [6,3,3,3],
        [4,1,2,m], [8,2,m], [7,3,2,m], [6,3,2,m], [5,3,2,m], [4,1,2,2,m] and [8,2,1,2,m], with m even.
        Or formulas ``"name = expression"`` with ``& | ^ ~``, ``and or not``, 0, 1 and parentheses, which bind
        as in Python: x1, x2, ... are inputs, y1, y2, ... outputs, other names are parts for use in formulas. Without
        any x1, x2, ... all names that nothing defines are inputs; without any y1, y2, ... all that nothing else uses
        are outputs. ``s[0..3] = a[0..3] ^ b[0..3]`` stands for a formula for each bit, s0 to s3.
    inputs, outputs : sequence of str, optional
        The names of all inputs, and of all outputs, in the order that they are to have.

    Returns
    -------
    BooleanTask
        With its function graph; a family also has its planted structure.

    Examples
    --------
    >>> boolean_task("[4,1,2,8]")
    BooleanTask('[4,1,2,8]', inputs=4, outputs=8, gates=5, modules=3)
    >>> majority = boolean_task("y1 = both | (x3 & (x1 | x2))", "both = x1 & x2")
    >>> majority.y.flatten().tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    >>> adder = boolean_task("carry = a0 & b0; s0 = a0 ^ b0; s1 = a1 ^ b1 ^ carry")
    >>> adder.input_names, adder.output_names
    (('a0', 'b0', 'a1', 'b1'), ('s0', 's1'))
    """
    for part in what:
        if not isinstance(part, str | list | tuple) or (len(what) > 1 and not isinstance(part, str)):
            raise SpecError(
                f"a Boolean task cannot be read from a value of type {type(part).__name__}; {_WRITE}"
            )
    formulas = [part for part in what if isinstance(part, str)]
    if len(what) == 1 and (not formulas or formulas[0].lstrip().startswith("[")):
        if inputs is not None or outputs is not None:
            raise SpecError(
                f"{bracket_name(read_bracket(what[0]))} has names already: x1, x2, ... and y1, y2, ..."
            )
        numbers = read_bracket(what[0])
        family = find_family(numbers)
        return _from_formulas(bracket_name(numbers), family.formulas, family.planted)
    if not formulas:
        raise SpecError(f"no Boolean task given; {_WRITE}")
    return _from_formulas("formulas", formulas, None, inputs, outputs)


def _gates(graph: FunctionGraph) -> Counter[str]:
    return Counter(data["gate"] for _, data in graph.nodes(data=True) if data["kind"] == "gate")


def _from_formulas(
    name: str,
    texts: Sequence[str],
    planted: Planted | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
) -> BooleanTask:
    formulas = read_formulas(texts)
    ends = ends_of(formulas, inputs, outputs)
    graph = graph_of(formulas, ends)
    x = input_table(len(ends.inputs))
    return BooleanTask(
        name,
        x,
        evaluate_graph(graph, x),
        graph,
        planted,
        own_names(ends.inputs, "x"),
        own_names(ends.outputs, "y"),
    )


def own_names(names: Sequence[str], letter: str) -> tuple[str, ...] | None:
    """Return names as a task has them: None for x1, x2, ... or, with another letter, for y1, y2, ...

    Examples
    --------
    >>> own_names(["x1", "x2"], "x"), own_names(["sum"], "y")
    (None, ('sum',))
    """
    usual = all(name == f"{letter}{number}" for number, name in enumerate(names, 1))
    return None if usual else tuple(names)
