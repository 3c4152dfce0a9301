"""What `docs/stability.md` promises about files and versions is what the code and its metadata say."""

from __future__ import annotations

import re
import tomllib

from packaging.requirements import Requirement

from .source import PACKAGE, ROOT

PAGE = (ROOT / "docs/stability.md").read_text("utf-8")
RELEASED = ROOT / "tests/packaging/released"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SCHEMA = r"dovetail(?:\.[a-z]+)?/\d+"


def test_every_schema_is_on_the_page_and_has_a_file_that_is_kept() -> None:
    sources = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    written = set(re.findall(f'"({SCHEMA})"', sources))
    kept = b"\n".join(path.read_bytes() for path in RELEASED.rglob("*.*"))
    assert written == set(re.findall(f"`({SCHEMA})`", PAGE))
    assert written == set(re.findall(f'"({SCHEMA})\\\\?"', kept.decode("latin-1")))


def test_the_pythons_and_the_torch_on_the_page_are_those_of_the_metadata() -> None:
    pythons = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    (line,) = re.findall(r"^- \*\*Python\*\* (.*?)\.\s", PAGE, re.MULTILINE)
    assert re.findall(r"3\.\d+", line) == pythons
    (torch,) = (one for one in map(Requirement, PROJECT["dependencies"]) if one.name == "torch")
    (oldest,) = re.findall(r"^- \*\*torch\*\* (\S+) or later", PAGE, re.MULTILINE)
    assert str(torch.specifier) == f">={oldest}"
