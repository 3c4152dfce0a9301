"""The wheel and the sdist: what is in them, and what they say about themselves."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

from dovetail import __version__

from .source import ROOT, package_files

pytestmark = pytest.mark.slow

_KINDS = {".py", ".css", ".csv", ".html", ".js", ".md", ".svg", ".typed"}
_BESIDE = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", ".gitignore"}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sdist, and the wheel that is made from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> dict[str, bytes]:
    """Return the files of the wheel."""
    (path,) = dist.glob("*.whl")
    assert path.name == f"dovetail_nn-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def metadata(wheel: dict[str, bytes]) -> Metadata:
    """Return what the wheel says about itself."""
    return Metadata.from_email(wheel[f"dovetail_nn-{__version__}.dist-info/METADATA"])


def test_the_wheel_has_the_package_and_nothing_else(wheel: dict[str, bytes]) -> None:
    inside = {name.removeprefix("dovetail/") for name in wheel if name.startswith("dovetail/")}
    beside = {name.removeprefix(f"dovetail_nn-{__version__}.dist-info/") for name in wheel} - {
        f"dovetail/{name}" for name in inside
    }
    assert inside == package_files()
    assert beside == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


def test_the_wheel_has_the_files_that_the_code_reads(wheel: dict[str, bytes]) -> None:
    names = (
        "py.typed",
        "studio/static/index.html",
        "report/browser/page.js",
        "recipes/published/maxent_table1.csv",
    )
    assert {f"dovetail/{name}" for name in names} <= wheel.keys()
    assert {Path(name).suffix for name in wheel if name.startswith("dovetail/")} == _KINDS


def test_the_sdist_has_what_a_wheel_is_made_from(dist: Path) -> None:
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {member.name.split("/", 1)[1] for member in archive.getmembers() if member.isfile()}
    package = {name for name in names if name.startswith("src/dovetail/")}
    assert {name.removeprefix("src/dovetail/") for name in package} == package_files()
    assert names - package == _BESIDE


def test_the_metadata_are_those_of_this_version(metadata: Metadata, wheel: dict[str, bytes]) -> None:
    assert (metadata.name, str(metadata.version)) == ("dovetail-nn", __version__)
    assert metadata.summary
    assert metadata.license_expression == "Apache-2.0"
    assert b"Apache License" in wheel[f"dovetail_nn-{__version__}.dist-info/licenses/LICENSE"]
    assert metadata.description == (ROOT / "README.md").read_text("utf-8")
    assert metadata.description_content_type == "text/markdown"
    assert metadata.provides_extra == [
        "dev",
        "docs",
        "leiden",
        "onnx",
        "ray",
        "studio",
        "tables",
        "text",
        "vision",
    ]
    script = wheel[f"dovetail_nn-{__version__}.dist-info/entry_points.txt"].decode()
    assert re.fullmatch(r"\[console_scripts\]\s+dovetail = dovetail\.cli:main\s+", script)


def test_the_named_pythons_are_those_that_may_install_it(metadata: Metadata) -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(metadata.classifiers or []))
    assert named == ["3.11", "3.12", "3.13"]
    assert metadata.requires_python is not None
    assert list(metadata.requires_python.filter(["3.9", "3.10", *named])) == named
