"""Files for other people's machines say what the package says: the workflow, the container and the conda recipe."""

from __future__ import annotations

import os
import re
import tomllib

from packaging.requirements import Requirement

from .source import ROOT

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
_PYTHONS = re.findall(r"Python :: (3\.\d+)", "\n".join(_PROJECT["classifiers"]))
_ON_CONDA_FORGE = {"torch": "pytorch", "matplotlib": "matplotlib-base"}


def test_the_workflow_runs_what_ci_runs_on_every_python() -> None:
    text = (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    (matrix,) = re.findall(r"python: \[(.*)\]", text)
    assert re.findall(r'"([^"]+)"', matrix) == _PYTHONS
    assert re.findall(r"- run: (.+)", text) == [".ci/run"]
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_the_container_has_a_python_that_is_tested_and_what_is_made_here() -> None:
    text = (ROOT / "Containerfile").read_text("utf-8")
    (python,) = re.findall(r"^FROM python:(\S+)-slim$", text, re.MULTILINE)
    assert python in _PYTHONS
    (copied,) = re.findall(r"^COPY (.+) /tmp/$", text, re.MULTILINE)
    assert copied.split() == ["constraints.txt", "dist/*.whl"]
    (extra,) = re.findall(r"\.whl\)\[(\w+)\]", text)
    assert extra in _PROJECT["optional-dependencies"]


def test_the_conda_recipe_asks_for_the_same() -> None:
    text = (ROOT / "conda/meta.yaml").read_text("utf-8")
    run = text.partition("  run:\n")[2].partition("\n\n")[0]
    asked = [line.removeprefix("    - ").split(" ") for line in run.splitlines()]
    expected = [["python", _PROJECT["requires-python"]]]
    for one in map(Requirement, _PROJECT["dependencies"]):
        expected.append([_ON_CONDA_FORGE.get(one.name, one.name), str(one.specifier)])
    assert asked == expected
    assert f"name: {_PROJECT['name']}\n" in text
    ((script, function),) = _PROJECT["scripts"].items()
    assert f"- {script} = {function}\n" in text
    (version,) = re.findall(r"regex_pattern='(.+)'\)", text)
    assert re.search(version, (ROOT / "src/dovetail/_version.py").read_text("utf-8"))
