"""The parts of the site that are made, not written: the reference, links out of docs/, formulas."""

from __future__ import annotations

import importlib.util
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import dovetail

from ..api.public_names import FOLDERS
from ..test_help import COMMANDS
from .pages import ROOT

pytest.importorskip("mkdocs")
griffe = pytest.importorskip("griffe")


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "docs/site_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def package() -> Any:
    return griffe.load("dovetail", search_paths=[ROOT / "src"])


def test_every_folder_that_exports_names_has_a_page(hooks: ModuleType) -> None:
    folders = {path.parent.name for path in (ROOT / "src/dovetail").glob("*/__init__.py")}
    assert folders - set(hooks.FOLDERS) == {
        "commands",  # these are on the page of the command line
        "io",  # exports nothing
    }
    assert set(FOLDERS) == set(hooks.FOLDERS)  # what has a page is also in the list of public names
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for folder in hooks.FOLDERS:
        assert f"reference/{folder}.md" in nav


def test_a_page_has_every_name_that_its_folder_exports(hooks: ModuleType, package: Any) -> None:
    for folder in hooks.FOLDERS:
        page = hooks.folder_page(package, folder)
        module = importlib.import_module(f"dovetail.{folder}")
        for name in getattr(module, "__all__", ["DovetailError", "SpecError"]):
            assert f".{name}\n" in page


def test_a_function_is_told_from_the_file_of_its_name(hooks: ModuleType, package: Any) -> None:
    assert hooks.home(package, "dovetail.clusterability") == "dovetail.cluster.audit.clusterability"
    assert hooks.home(package, "dovetail.open") == "dovetail.opening.open_saved"


def test_the_list_of_names(hooks: ModuleType, package: Any) -> None:
    page = hooks.names_page(package)
    for name in dovetail.__all__:
        assert f"`{name}`" in page


def test_the_page_of_commands(hooks: ModuleType) -> None:
    page = hooks.commands_page()
    assert page.startswith("# Commands\n")
    for verb in COMMANDS:
        assert f"## `dovetail {verb}`\n" in page


@pytest.mark.parametrize(
    ("page", "written", "made"),
    [
        ("results.md", "![a](../results/k/figures/a.png)", "![a](results/k/figures/a.png)"),
        ("how-it-works/x.md", "[a](../../results/k/figures/a.png)", "[a](../results/k/figures/a.png)"),
        ("results.md", "see [`results/`](../results).", "see `results/`."),
        ("tutorials/x.md", "[guide](../specialists.md)", "[guide](../specialists.md)"),
    ],
)
def test_links_out_of_docs(hooks: ModuleType, page: str, written: str, made: str) -> None:
    files = SimpleNamespace(get_file_from_path={"results/k/figures/a.png": object()}.get)
    found = SimpleNamespace(file=SimpleNamespace(src_uri=page))
    assert hooks.on_page_markdown(written, page=found, config=None, files=files) == made


def test_a_page_has_one_title(hooks: ModuleType) -> None:
    page = "# A\n```console\n# no heading\n```\n# B\n## C\n"
    assert hooks.one_title(page) == "# A\n```console\n# no heading\n```\n## B\n### C\n"
    assert hooks.one_title("# A\n## B\n") == "# A\n## B\n"


def test_formulas_become_mathml(hooks: ModuleType) -> None:
    marked = (
        r'<p>so <span class="arithmatex">\(a &lt; b\)</span></p><div class="arithmatex">\[\frac{1}{2}\]</div>'
    )
    made = hooks.on_page_content(marked, page=None, config=None, files=None)
    assert 'display="inline"' in made
    assert "&#x0003C;" in made
    assert "<mfrac>" in made
    assert "arithmatex" not in made


def test_the_site_needs_no_network() -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in config
    for path in (ROOT / "docs/assets").iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/", "")
        assert "http" not in text, path
