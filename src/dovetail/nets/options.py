"""The options of an architecture: a name, a default, and how the text of a value is read and written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import SpecError

OptionValue = float | bool | str

# Stricter than float(), which also takes "nan", "1_0" and digits of other scripts.
_DECIMAL = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?", re.IGNORECASE)


@dataclass(frozen=True)
class Option:
    """One option: what it is called, what holds when it is left out, and which values it takes."""

    name: str
    default: OptionValue
    allowed: str
    parse: Callable[[str], OptionValue | None]

    def read(self, value: object) -> OptionValue:
        """Return the value that a text (or the value itself) stands for, or raise `SpecError`."""
        text = write_value(value)
        parsed = self.parse(text)
        if parsed is None:
            raise SpecError(f"option {self.name!r} must be {self.allowed}; got {text[:80]!r}")
        return parsed


def write_value(value: object) -> str:
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


def rate(name: str, default: float) -> Option:
    """Return an option for a share in [0, 1)."""

    def parse(text: str) -> float | None:
        if not _DECIMAL.fullmatch(text):
            return None
        number = float(text)
        return number if number < 1 else None

    return Option(name, float(default), "a number from 0 up to, not including, 1", parse)


def flag(name: str, default: bool) -> Option:
    """Return an option that is on or off."""
    return Option(name, default, "true or false", {"true": True, "false": False}.get)


def choice(name: str, default: str, choices: tuple[str, ...]) -> Option:
    """Return an option that takes one of a few words."""
    return Option(name, default, "one of " + ", ".join(choices), {word: word for word in choices}.get)
