"""What ``--help`` says: every verb has an example that can be typed, and reads well on a narrow terminal."""

from __future__ import annotations

import re
import shlex

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from dovetail.cli import app

PROGRAM = get_command(app)


def commands() -> dict[str, object]:
    """Return all verbs with the words that call them."""
    found: dict[str, object] = {}
    for name, command in PROGRAM.commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        found |= {name: command} if inner is None else {f"{name} {verb}": one for verb, one in inner.items()}
    return found


COMMANDS = commands()


def shown(name: str) -> str:
    done = CliRunner().invoke(app, [*name.split(), "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_is_a_command_line_of_this_verb(name: str) -> None:
    (example,) = re.findall(r"Example:\s+(dovetail .*?)\s*\n", shown(name))
    words = shlex.split(example)
    assert words[: 1 + len(name.split())] == ["dovetail", *name.split()]
    COMMANDS[name].make_context(name, words[1 + len(name.split()) :])  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_broken_at_80_columns(name: str) -> None:
    text = shown(name)
    assert max(map(len, text.splitlines())) <= 80
    for line in text.splitlines():
        assert line.count("<") == line.count(">"), f"choices are broken: {line}"


def test_the_same_thing_is_called_the_same_everywhere() -> None:
    meanings: dict[str, set[tuple[object, ...]]] = {}
    for command in COMMANDS.values():
        for option in command.params:  # type: ignore[attr-defined]
            if option.name in ("as_json", "output", "device", "force"):
                meanings.setdefault(option.name, set()).add(tuple(option.opts))
    assert meanings == {
        "as_json": {("--json",)},
        "output": {("--output", "-o")},
        "device": {("--device",)},
        "force": {("--force",)},
    }
