"""The command line as text: every verb, with a line for each of its arguments and options."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

from ..test_help import COMMANDS, PROGRAM

LISTED = Path(__file__).with_name("command_line.txt")


def command_line() -> str:
    """Return the lines of all verbs, in the order in which ``--help`` has them."""
    verbs = {"dovetail": PROGRAM} | {f"dovetail {verb}": command for verb, command in COMMANDS.items()}
    return "".join(line + "\n" for verb, command in verbs.items() for line in _lines(verb, command))


def _lines(verb: str, command: Any) -> Iterator[str]:
    yield verb
    types = get_type_hints(command.callback)
    for parameter in command.params:
        names = parameter.opts + parameter.secondary_opts if parameter.param_type_name == "option" else []
        words = [", ".join(names), parameter.metavar or ""]
        takes = _choices(types[parameter.name]) + " ..." * (parameter.multiple or parameter.nargs != 1)
        yield f"{verb} {' '.join(filter(None, words))}: {takes}{_default(parameter)}"


def _choices(hint: Any) -> str:
    """Return the values or the types that may be given; not as the help has them, which Typer words."""
    parts = [_choices(part) for part in get_args(hint) if part is not NoneType]
    return "|".join(parts) or getattr(hint, "__name__", str(hint))


def _default(parameter: Any) -> str:
    if parameter.required:
        return ", required"
    told = parameter.show_default  # a text where the default is none that could be given
    return f" = {told if isinstance(told, str) else parameter.default}"


if __name__ == "__main__":
    LISTED.write_text(command_line(), encoding="utf-8")
