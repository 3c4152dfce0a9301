"""What the package imports is what it asks for, and what was tested is what it allows."""

from __future__ import annotations

import ast
import re
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dovetail as dt
from dovetail.errors import SpecError

from .source import PACKAGE, ROOT

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
_EXTRAS: dict[str, list[str]] = _PROJECT["optional-dependencies"]
_IMPORTED_AS = {
    "scikit-learn": "sklearn",
    "sentence-transformers": "sentence_transformers",
    "markdown-it-py": "markdown_it",
    "pillow": "PIL",
}
_BY_NAME = re.compile(r'_library\("(\w+)"')
"""How packages are imported that only some features need."""
_NOT_TESTED = {"dovetail-nn", "timm", "sentence-transformers", "transformers"}
"""Tests use none of their networks, as they never download weights."""
_WITH_TORCH = {"triton"}
_BEHIND_PANDAS = {"pyarrow"}


def _imports() -> set[str]:
    """Return the packages of others that the code imports anywhere."""
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.split(".")[0])
        found |= set(_BY_NAME.findall(path.read_text("utf-8")))
    return found - sys.stdlib_module_names


def test_what_is_imported_is_asked_for_and_what_is_asked_for_is_imported() -> None:
    asked = [*_PROJECT["dependencies"]]
    for extra in _EXTRAS.keys() - {"dev", "docs"}:
        asked += _EXTRAS[extra]
    names = {Requirement(line).name for line in asked}
    wanted = {_IMPORTED_AS.get(name, name) for name in names}
    assert wanted - _BEHIND_PANDAS == _imports() - _WITH_TORCH - _BEHIND_PANDAS


def test_what_was_tested_is_what_may_be_installed() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    tested = {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}
    asked = [*_PROJECT["dependencies"], *(line for lines in _EXTRAS.values() for line in lines)]
    for one in map(Requirement, asked):
        if one.name not in _NOT_TESTED:
            assert one.specifier.contains(tested[canonicalize_name(one.name)]), one


def test_extras_that_texts_name_are_there() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *PACKAGE.rglob("*.py")]
    named = {
        extra
        for page in pages
        for extras in re.findall(r"(?:dovetail-nn|\.)\[([a-z]+(?:,[a-z]+)*)\]", page.read_text("utf-8"))
        for extra in extras.split(",")
    }
    assert named == _EXTRAS.keys() - {"dev", "docs"}


def test_no_text_tells_to_install_the_package_of_somebody_else() -> None:
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
        *PACKAGE.rglob("*.py"),
    ]
    wrong = re.compile(r"install (?:--?\w[\w-]* )*'?dovetail(?!-nn)\b|dovetail\[[a-z]")
    assert [str(page) for page in pages if wrong.search(page.read_text("utf-8"))] == []


def test_communities_without_their_extra_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "leidenalg", None)
    network = dt.build_net("mlp:8", (4,), 3, seed=0)
    with pytest.raises(SpecError, match=r"pip install 'dovetail-nn\[leiden\]'"):
        dt.clusterability(network, k=2, shuffles=0, method="leiden", progress=False)
