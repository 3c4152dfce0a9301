"""Specs: a name with sizes and options as people type it, ``mlp:512-256,dropout=0.2`` or ``har:features=time``.

Networks and data sets are named in this one grammar: a name; after a colon or a comma the items, separated by commas.
Sizes, whole numbers joined by ``-``, come first where there are any; every other item is ``option=value``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real

from .errors import SpecError, unknown_name

Value = bool | int | float | str

_MOST_CHARACTERS = 1000
_FORM = re.compile(r"(?P<name>[^:,]*)(?P<mark>[:,]?)(?P<items>.*)", re.DOTALL)
_SIZES = re.compile(r"[0-9]{1,12}(-[0-9]{1,12})*")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
# Stricter than float(), which also takes "nan", "1_0" and digits of other scripts.
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?", re.IGNORECASE)
_WORDS = {"true": True, "false": False}


@dataclass(frozen=True)
class Spec:
    """What a text says: a known name, sizes, and options with their values as numbers, true, false or text."""

    name: str
    sizes: tuple[int, ...] = ()
    options: dict[str, Value] = field(default_factory=dict)


def read_spec(text: object, what: str, known: Collection[str]) -> Spec:
    """Return what a text says.

    Parameters
    ----------
    text : str
        A name, and after it sizes and options.
    what : str
        What is named, for messages: "data set", "architecture".
    known : collection of str
        The names there are.

    Raises
    ------
    SpecError
        For a text that is not of this form, or a name that is not known.

    Examples
    --------
    >>> read_spec("mlp:512-256,dropout=0.2,output_bias=true", "architecture", ["mlp", "lenet"])
    Spec(name='mlp', sizes=(512, 256), options={'dropout': 0.2, 'output_bias': True})
    >>> read_spec("har:features=time,classes=5", "data set", ["har"]).options
    {'features': 'time', 'classes': 5}
    """
    if isinstance(text, str) and len(text) > _MOST_CHARACTERS:
        raise SpecError(
            f"the name and options of a {what} have at most {_MOST_CHARACTERS} characters, not {len(text)}"
        )
    form = _FORM.fullmatch(text) if isinstance(text, str) else None
    if form is None or form["name"].strip() not in known:
        raise unknown_name(what, form["name"].strip() if form else text, known)
    items = [item.strip() for item in form["items"].split(",")] if form["items"].strip() else []
    if not items and form["mark"] == ",":
        items = [""]
    sizes: tuple[int, ...] = ()
    if items and _SIZES.fullmatch(items[0]):
        sizes = tuple(int(size) for size in items.pop(0).split("-"))
    options: dict[str, Value] = {}
    for item in items:
        option, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise SpecError(
                f"{item!r:.40} in {text!r:.80} is neither an option, written name=value, nor sizes, whole numbers "
                f"joined by '-' right after the name, such as 512-256"
            )
        if option in options:
            raise SpecError(f"option {option!r:.40} is given twice in {text!r:.80}")
        options[option] = _read_value(value)
    return Spec(form["name"].strip(), sizes, options)


def _read_value(text: str) -> Value:
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text


def write_value(value: Value) -> str:
    """Return the shortest text that reads back as the same value.

    Examples
    --------
    >>> write_value(0.0), write_value(0.25), write_value(True), write_value("default")
    ('0', '0.25', 'true', 'default')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


@dataclass(frozen=True)
class Rule:
    """Which values an option takes.

    Attributes
    ----------
    allowed : str
        The allowed values, for people: "an option must be ...".
    read : callable
        Returns the plain Python value that an allowed value stands for, and None for any other.
    """

    allowed: str
    read: Callable[[object], Value | None]


@dataclass(frozen=True)
class Option:
    """An option: its name, what holds when it is left out, and which values it takes."""

    name: str
    default: Value
    rule: Rule


def whole(least: int, most: int | None = None) -> Rule:
    """Return the rule for a whole number."""

    def read(value: object) -> int | None:
        if not isinstance(value, Integral) or isinstance(value, bool):
            return None
        number = int(value)
        return number if least <= number and (most is None or number <= most) else None

    words = f"{least} or more" if most is None else f"from {least} to {most:,}"
    return Rule(f"a whole number, {words}", read)


def share(*, zero: bool) -> Rule:
    """Return the rule for a share below 1 that may or may not be 0."""

    def read(value: object) -> float | None:
        found = _as_float(value)
        return found if found is not None and (found >= 0 if zero else found > 0) and found < 1 else None

    return Rule("a number from 0 up to, not including, 1" if zero else "a number above 0 and below 1", read)


def number(*, above: float | None = None) -> Rule:
    """Return the rule for a finite number, above another if that is given.

    Examples
    --------
    >>> number(above=0).read(2), number(above=0).read(0.0)
    (2.0, None)
    """

    def read(value: object) -> float | None:
        found = _as_float(value)
        return found if found is not None and (above is None or found > above) else None

    return Rule("a number" if above is None else f"a number above {above:g}", read)


def _as_float(value: object) -> float | None:
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    try:
        found = float(value)
    except OverflowError:  # a whole number that no float can hold
        return None
    return found if math.isfinite(found) else None


def choice(*choices: Value) -> Rule:
    """Return the rule for one of a few values.

    Examples
    --------
    >>> choice("same", "diff").allowed
    "'same' or 'diff'"
    """

    def read(value: object) -> Value | None:
        return next((one for one in choices if type(one) is type(value) and one == value), None)

    return Rule(" or ".join(repr(one) for one in choices), read)


FLAG = Rule("true or false", lambda value: value if isinstance(value, bool) else None)


def settle_options(
    owner: str, given: Iterable[tuple[str, object]], known: Mapping[str, Option]
) -> dict[str, Value]:
    """Return all options with their values, defaults included, or say which one is wrong and what is allowed.

    Parameters
    ----------
    owner : str
        What has the options, for messages.
    given : pairs of str and value
        Those that are not left out.
    known : mapping
        All options by name, in the order in which they are returned.

    Examples
    --------
    >>> settle_options("lines", [("seed", 3)], {"seed": Option("seed", 0, whole(0))})
    {'seed': 3}
    """
    found: dict[str, Value] = {}
    for name, value in given:
        if not known:
            raise SpecError(f"{owner} takes no options; got {name!r:.40}")
        if name not in known:
            raise unknown_name(f"option of {owner}", name, known)
        if name in found:
            raise SpecError(f"option {name!r} of {owner} is given twice")
        read = known[name].rule.read(value)
        if read is None:
            raise SpecError(
                f"option {name!r} of {owner} must be {known[name].rule.allowed}; got {value!r:.40}"
            )
        found[name] = read
    return {name: found.get(name, option.default) for name, option in known.items()}
