"""The task families of Neural Sculpting, named by their numbers of inputs, sub-functions and outputs.

References
----------
.. [1] Patil, Michael, Dovrolis, "Neural Sculpting: Uncovering hierarchically modular task structure in neural
   networks through pruning and network analysis", NeurIPS 2023, section 5 and appendix A.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from ...errors import SpecError, unknown_name
from .formulas import shortened
from .planted import Planted, PlantedModule
from .table import MAX_OUTPUTS


class Family(NamedTuple):
    """What a task of a family computes, as formulas, and the structure planted in it."""

    formulas: list[str]
    planted: Planted


_Make: TypeAlias = Callable[[int], Family]

_BRACKET = re.compile(r"\s*\[\s*[0-9]{1,9}(\s*,\s*[0-9]{1,9})*\s*\]\s*")


def find_family(bracket: Sequence[int]) -> Family:
    """Return the formulas and the planted structure of a task such as ``[4, 2, 4]``.

    Examples
    --------
    >>> find_family([4, 2, 4]).formulas
    ['a = x1 ^ x2', 'b = x3 ^ x4', 'y1 = a', 'y2 = ~a', 'y3 = b', 'y4 = ~b']
    """
    name, pattern = bracket_name(bracket), bracket_name([*bracket[:-1], "m"])
    if name in _FAMILIES:
        return _FAMILIES[name](bracket[-1])
    if pattern not in _FAMILIES:
        raise unknown_name("Boolean task", shortened(name), _FAMILIES)
    if bracket[-1] % 2 or not 2 <= bracket[-1] <= MAX_OUTPUTS:
        raise SpecError(f"{name}: m, the number of outputs in {pattern}, is even, from 2 to {MAX_OUTPUTS}")
    return _FAMILIES[pattern](bracket[-1])


def read_bracket(what: str | Sequence[int]) -> list[int]:
    """Return the numbers of a task's name, given as text or as a sequence.

    Examples
    --------
    >>> read_bracket("[4, 2,4]"), read_bracket((4, 2, 4))
    ([4, 2, 4], [4, 2, 4])
    """
    if isinstance(what, str):
        if not _BRACKET.fullmatch(what):
            raise unknown_name("Boolean task", shortened(what), _FAMILIES)
        return [int(digits) for digits in re.findall("[0-9]+", what)]
    for place, part in enumerate(what, 1):
        if not isinstance(part, int) or isinstance(part, bool) or not 0 <= part < 10**9:
            problem = f"entry {place}, of type {type(part).__name__}, is not one"
            raise SpecError(f"a Boolean task is named by whole numbers from 0, as in [4, 2, 4]: {problem}")
    return list(what)


def bracket_name(bracket: Iterable[object]) -> str:
    """Return the name as it is written: ``[4,2,4]``."""
    return f"[{','.join(str(part) for part in bracket)}]"


def _f(a: str, b: str, c: str, d: str) -> list[str]:
    return [
        f"g1 = {a} & {b} & ~{c} & ~{d}",
        f"g2 = {a} & ~{b} & {c} & ~{d}",
        f"g3 = ~{a} & ~{b} & {c} & {d}",
        "F = g1 | g2 | g3",
    ]


def _h(a: str, b: str, c: str, d: str) -> str:
    return f"H = {d} & ({a} & {b} & {c} | {a} & ~{b} & ~{c} | ~{a} & {b} & ~{c})"


def _alternating(m: int, odd: str, even: str) -> list[str]:
    return [f"y{number} = {odd if number % 2 else even}" for number in range(1, m + 1)]


def _module(
    name: str, inputs: Iterable[int] = (), outputs: Iterable[int] = (), feeds: str = ""
) -> PlantedModule:
    return PlantedModule(name, frozenset(inputs), frozenset(outputs), tuple(feeds.split()))


def _two_outputs(m: int) -> tuple[PlantedModule, PlantedModule]:
    return _module("odd", outputs=range(0, m, 2)), _module("even", outputs=range(1, m, 2))


def _input_separable(_: int) -> Family:
    formulas = ["a = x1 ^ x2", "b = x3 ^ x4", "y1 = a", "y2 = ~a", "y3 = b", "y4 = ~b"]
    return Family(formulas, Planted((_module("a", {0, 1}, {0, 1}), _module("b", {2, 3}, {2, 3}))))


def _single(m: int) -> Family:
    formulas = [*_f("x1", "x2", "x3", "x4"), *_alternating(m, "F", "F")]
    return Family(formulas, Planted((_module("F", range(4), range(m)),)))


def _separable_and_reused(_: int) -> Family:
    formulas = ["a = x1 & x2", "b = x3 & x4", "c = x5 & x6", "y1 = a | b", "y2 = a | c", "y3 = b | c"]
    inputs = (
        _module("a", {0, 1}, feeds="y1 y2"),
        _module("b", {2, 3}, feeds="y1 y3"),
        _module("c", {4, 5}, feeds="y2 y3"),
    )
    outputs = (_module(f"y{unit + 1}", outputs={unit}) for unit in range(3))
    return Family(formulas, Planted((*inputs, *outputs)))


def _reused(m: int) -> Family:
    formulas = [*_f("x1", "x2", "x3", "x4"), *_alternating(m, "g1 | g2", "g2 | g3")]
    modules = (_module("g", range(4), feeds="odd even"), *_two_outputs(m))
    # The terms and the outputs made of them need a layer each; with one layer the terms cannot be reused.
    collapsed = Planted((_module("all", range(4), range(m)),))
    return Family(formulas, Planted(modules, hidden_layers=2, shallower=collapsed))


def _separate(m: int) -> Family:
    modules = (_module("F", range(4), range(0, m, 2)), _module("H", range(4, 8), range(1, m, 2)))
    return Family(_overlapping_formulas(8, m), Planted(modules))


def _overlapping(inputs: int) -> _Make:
    def make(m: int) -> Family:
        first_shared, past_shared = inputs - 4, 4
        shared = _module("shared", range(first_shared, past_shared), feeds="odd even")
        own = (
            _module("own F", range(first_shared), feeds="odd"),
            _module("own H", range(past_shared, inputs), feeds="even"),
        )
        modules = (shared,) if inputs == 4 else (own[0], shared, own[1])
        return Family(_overlapping_formulas(inputs, m), Planted((*modules, *_two_outputs(m))))

    return make


def _overlapping_formulas(inputs: int, m: int) -> list[str]:
    x = [f"x{number}" for number in range(1, inputs + 1)]
    return [*_f(*x[:4]), _h(*x[-4:]), *_alternating(m, "F", "H")]


def _five_levels(m: int) -> Family:
    formulas = [*_f("x1", "x2", "x3", "x4"), _h("x5", "x6", "x7", "x8"), *_alternating(m, "F & ~H", "~F & H")]
    inputs = (_module("F", range(4), feeds="middle"), _module("H", range(4, 8), feeds="middle"))
    modules = (*inputs, _module("middle", feeds="odd even"), *_two_outputs(m))
    # Below three layers there is no room for a middle of its own: it and the outputs are one module.
    collapsed = Planted((*inputs, _module("middle", outputs=range(m))))
    return Family(formulas, Planted(modules, hidden_layers=3, shallower=collapsed))


_FAMILIES: dict[str, _Make] = {
    "[4,2,4]": _input_separable,
    "[4,1,4]": _single,
    "[6,3,3,3]": _separable_and_reused,
    "[4,1,2,m]": _reused,
    "[8,2,m]": _separate,
    "[7,3,2,m]": _overlapping(7),
    "[6,3,2,m]": _overlapping(6),
    "[5,3,2,m]": _overlapping(5),
    "[4,1,2,2,m]": _overlapping(4),
    "[8,2,1,2,m]": _five_levels,
}
