"""What values an option may have, said once in its annotation and checked before any work starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, Literal, get_args, get_origin

from ..errors import SpecError


@dataclass(frozen=True)
class Rule:
    """Which values an option takes, in code and in words.

    Attributes
    ----------
    accepts : callable
        Whether a value is allowed.
    words : str
        The allowed values, for people.
    store : callable
        Turns an allowed value into the plain Python value that is recorded.
    """

    accepts: Callable[[object], bool]
    words: str
    store: Callable[[Any], object] = lambda value: value


def _whole(least: int, most: int | None = None) -> Rule:
    def accepts(value: object) -> bool:
        if not isinstance(value, Integral) or isinstance(value, bool):
            return False
        return least <= int(value) and (most is None or int(value) <= most)

    words = f"{least} or more" if most is None else f"from {least} to {most:,}"
    return Rule(accepts, f"a whole number, {words}", int)


def _is_fraction(value: object) -> bool:
    try:
        return isinstance(value, Real) and 0 < float(value) < 1
    except OverflowError:  # a whole number that no float can hold
        return False


def _is_text(value: object) -> bool:
    return isinstance(value, str)


Seed = Annotated[int, _whole(0)]
Samples = Annotated[int, _whole(10, 1_000_000)]
"""How many samples to make. Ten is the least that leaves every split something; more than a million fill memory."""
Pairs = Annotated[int, _whole(10, 10_000)]
"""How many pairs to make of each combination of classes, of which there are a hundred."""
Fraction = Annotated[float, Rule(_is_fraction, "a number above 0 and below 1", float)]
ImageSet = Annotated[str, Rule(_is_text, "the name of a set of one-channel images, such as mnist", str)]


def rule_for(annotation: object) -> Rule:
    """Return the rule that an option's annotation stands for: a ``Literal`` or one of the types above.

    Examples
    --------
    >>> rule_for(Literal["same", "diff"]).words
    "'same' or 'diff'"
    """
    if get_origin(annotation) is Literal:
        choices = get_args(annotation)
        return Rule(
            lambda value: any(type(value) is type(choice) and value == choice for choice in choices),
            " or ".join(map(repr, choices)),
        )
    rules = [extra for extra in get_args(annotation) if isinstance(extra, Rule)]
    if len(rules) != 1:
        raise TypeError(f"an option needs a Literal or an annotation with one Rule, not {annotation!r}")
    return rules[0]


def check_options(
    name: str, given: dict[str, object], rules: dict[str, Rule], defaults: dict[str, object]
) -> dict[str, object]:
    """Return the options to use, defaults included, or say which one is wrong and what is allowed.

    Examples
    --------
    >>> check_options("lines", {"seed": 3}, {"seed": rule_for(Seed)}, {"seed": 0})
    {'seed': 3}
    """
    for option, value in given.items():
        if option not in rules:
            allowed = f"it takes {', '.join(rules)}" if rules else "it takes none"
            raise SpecError(f"data set {name!r} has no option {option[:40]}={value!r:.40}; {allowed}")
        if not rules[option].accepts(value):
            raise SpecError(f"data set {name!r} cannot use {option}={value!r:.40}; use {rules[option].words}")
    return {
        option: rules[option].store(given[option]) if option in given else default
        for option, default in defaults.items()
    }
