"""Every code block in the README and in docs runs as it stands; the few that cannot say why."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ..engine.ray_nodes import Node, free_port
from .pages import ROOT, all_pages, blocks, pages, run_page

FAST = {
    "docs/clusterability.md",
    "docs/index.md",
    "docs/sculpting.md",
    "docs/studio.md",
    "docs/tutorials/my-networks-structure.md",
    "src/dovetail/population/README.md",
}
"""Pages that take a few seconds. All others are marked slow."""

NOT_RUN = 15
"""Blocks that are marked as not run: a number to be changed deliberately."""

LANGUAGES = {"python", "console", "text", "setup", ""}


def named(page: Path) -> object:
    path = page.relative_to(ROOT).as_posix()
    return pytest.param(page, id=path, marks=[] if path in FAST else [pytest.mark.slow])


@pytest.fixture
def ray_start() -> Iterator[Callable[[list[str]], str]]:
    """Start nodes of a Ray cluster that end with the test, on a port that nobody uses."""
    nodes: list[Node] = []
    port = str(free_port())
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:

        def start(options: list[str]) -> str:
            pytest.importorskip("ray")
            if "--head" in options:
                options = [*options, f"--temp-dir={folder}", "--include-dashboard=false"]
            nodes.append(Node(*(option.replace("6379", port) for option in options), "--num-gpus=0"))
            return port

        yield start
        for node in nodes:
            node.kill()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Be in an empty folder, whose modules can be imported, and are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        own = vars(sys.modules[name])  # not getattr: some modules of torch's have any name one asks for
        places = [*(own.get("__path__") or ()), own.get("__file__")]
        if any(str(place).startswith(str(tmp_path)) for place in places):
            del sys.modules[name]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", [named(page) for page in pages()])
def test_the_blocks_of_a_page_run(
    page: Path, monkeypatch: pytest.MonkeyPatch, ray_start: Callable[[list[str]], str]
) -> None:
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    monkeypatch.setenv("COLUMNS", "160")
    run_page(page, ray_start)
    plt.close("all")


def test_few_blocks_are_not_run_and_they_say_why() -> None:
    marked = [
        (page.name, block.line, block.reason) for page in pages() for block in blocks(page) if block.reason
    ]
    assert len(marked) == NOT_RUN, marked


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_nothing_escapes(page: Path) -> None:
    """All fences and marks are seen, languages are those that are run, and what is printed follows what prints it."""
    found, text = blocks(page), page.read_text(encoding="utf-8")
    fences = re.findall(r"^\s*(?:>\s*)*(?:```|~~~)", text, re.MULTILINE)
    assert len(fences) == 2 * sum(block.language != "setup" for block in found)
    marks = re.findall(r"<!--\s*(?:setup|not run)", text, re.IGNORECASE)
    assert len(marks) == sum(block.language == "setup" or bool(block.reason) for block in found)
    before = None
    for block in found:
        where = f"{page}:{block.line}"
        assert block.language in LANGUAGES, where
        if block.language == "console":
            assert "$ " in block.code, where
        if block.language == "text":
            assert block.answers, where
            assert before is not None, where
            assert before.language in ("python", "console"), where
            assert not before.reason, where
        if block.language == "":
            assert not block.code.startswith(("dovetail ", "ray ", "pip ", "$ ", "import ", ">>> ")), where
        before = block
