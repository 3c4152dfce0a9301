"""One declaration of settings: signatures, command lines, files and documentation follow it."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

import dovetail as dt
from dovetail.cli import app
from dovetail.errors import SpecError
from dovetail.sculpting import (
    ChannelSettings,
    DetectionSettings,
    SculptSettings,
    open_sculpture,
    sculpt_seeds,
)
from dovetail.settings import Settings

DOCS = Path(__file__).parents[2] / "docs" / "sculpting.md"
DECLARED = [
    (dt.sculpt, SculptSettings),
    (sculpt_seeds, SculptSettings),
    (dt.sculpt_channels, ChannelSettings),
    (dt.detect_modules, DetectionSettings),
]
FEW = {"unit_steps": [0.5], "edge_steps": [0.1], "progress": False, "device": "cpu"}


@pytest.mark.parametrize(("function", "settings"), DECLARED)
def test_signatures_have_every_setting_with_its_default(
    function: Callable[..., object], settings: type[Settings]
) -> None:
    parameters = inspect.signature(function).parameters
    for name, field in settings.model_fields.items():
        given = parameters[name].default
        assert given == field.default or (function is sculpt_seeds and name == "hidden")
    assert not any(one.kind is one.VAR_KEYWORD for one in parameters.values())


@pytest.mark.parametrize(("function", "settings"), DECLARED)
def test_every_setting_is_documented(function: Callable[..., object], settings: type[Settings]) -> None:
    page = DOCS.read_text()
    for name in settings.model_fields:
        assert re.search(rf"\b{name}\b", inspect.getdoc(function) or ""), name
        assert f"`{name}`" in page or f"`{name}=" in page or f"hidden={name}" in page or name == "hidden", (
            name
        )


@pytest.mark.parametrize(
    ("command", "settings"), [("sculpt", SculptSettings), ("modules", DetectionSettings)]
)
def test_command_lines_have_every_setting(command: str, settings: type[Settings]) -> None:
    found = typer.main.get_command(app).commands[command]  # type: ignore[attr-defined]
    options: dict[str, Any] = {option.name: option for option in found.params}
    for name, field in settings.model_fields.items():
        assert f"--{name.replace('_', '-')}" in options[name].opts
        assert options[name].help
        several = isinstance(field.default, tuple)
        assert options[name].default == (None if several else field.default)


def test_the_command_line_starts_without_torch() -> None:
    code = "import dovetail.cli, sys; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_files_say_how_a_sculpture_was_made(tmp_path: Path) -> None:
    made = dt.sculpt("y1 = x1 & x2", "5", weight_decay=0.0, **FEW)  # type: ignore[arg-type]
    again = open_sculpture(made.save(tmp_path / "and.safetensors"))
    assert again.settings == made.settings
    assert made.settings.model_dump() == {
        "hidden": (5,), "unit_steps": (0.5,), "edge_steps": (0.1,), "threshold": 1.0, "epochs": 60, "lr": 0.05,
        "batch_size": 32, "noise": 0.1, "weight_decay": 0.0, "modularity_threshold": -0.2, "merge_threshold": 0.9,
    }  # fmt: skip
    assert SculptSettings(**json.loads(made.settings.model_dump_json())) == made.settings


def test_settings_of_a_network_are_those_it_has() -> None:
    network = dt.build_net("mlp:6,dropout=0,output_bias=true", (2,), 1, seed=0)
    made = dt.sculpt("y1 = x1 & x2", network=network, **FEW)  # type: ignore[arg-type]
    assert made.settings.hidden == (6,)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"threshold": 5}, r"threshold must be above 0 and at most 1, not 5.*task is done"),
        ({"unit_steps": [0.5, 0]}, r"unit_steps must be above 0 and at most 1, not 0"),
        ({"unit_steps": "many"}, r"unit_steps must be a number, not 'many'"),
        ({"lr": True}, "lr must be a number, not True"),
        ({"lr": float("inf")}, "lr must be a number, not inf"),
        ({"epochs": "10"}, "epochs must be a whole number, not '10'"),
        ({"hidden": "24-many"}, "hidden must be a whole number, not 'many'"),
        ({"hidden": ()}, "needs hidden layers"),
        ({"hidden": None}, "hidden=None"),
        ({"merge_threshold": 1}, "merge_threshold must be from 0 to below 1, not 1"),
        ({"weight_decay": None}, "weight_decay must be a number, not None"),
        ({"epoch": 3}, "unknown option 'epoch'; did you mean 'epochs'"),
    ],
)
def test_wrong_settings_are_explained(options: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        SculptSettings(**options)


def test_settings_are_not_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        SculptSettings().lr = 0.1
