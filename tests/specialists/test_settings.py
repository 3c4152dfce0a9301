from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import typer

import dovetail as dt
from dovetail.cli import app
from dovetail.specialists import TrainingSettings

DOCS = Path(__file__).parents[2] / "docs" / "specialists.md"


def test_the_signature_has_every_setting_with_its_default() -> None:
    parameters = inspect.signature(dt.train_specialists).parameters
    for name, field in TrainingSettings.model_fields.items():
        assert parameters[name].default == field.default


def test_every_setting_is_documented() -> None:
    page = DOCS.read_text()
    for name in TrainingSettings.model_fields:
        assert re.search(rf"\b{name}\b", inspect.getdoc(dt.train_specialists) or ""), name
        assert f"`{name}`" in page, name


def test_the_command_line_has_every_setting() -> None:
    found = typer.main.get_command(app).commands["train"]  # type: ignore[attr-defined]
    options: dict[str, Any] = {option.name: option for option in found.params}
    for name, field in TrainingSettings.model_fields.items():
        if name == "sample_weights":  # a hash, which files hold; nobody types one
            assert name not in options
            continue
        assert f"--{name.replace('_', '-')}" in options[name].opts
        assert options[name].help
        assert options[name].default == field.default


def test_a_file_holds_every_setting(tmp_path: Path) -> None:
    (part,) = dt.train_specialists(dt.load("digits"), "mlp:8", [3], epochs=1, progress=False)
    opened = dt.open(part.save(tmp_path / "3.safetensors"))
    assert isinstance(opened, dt.Specialist)
    assert list(opened.provenance.training) == list(TrainingSettings.model_fields)
    assert TrainingSettings.from_provenance(opened.provenance.training).sparsity == 0.99
