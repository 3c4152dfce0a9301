"""The code blocks of a page, and how they are run: as a reader would, in order, in one folder.

- ```` ```python ```` blocks share one namespace.
- ```` ```console ```` blocks: every line that starts with ``$`` is a command. ``dovetail`` runs in this process,
  ``ray start`` starts a node on this machine that ends with the test.
- ```` ```text ```` right after one of these is what it prints: the same words, whatever the numbers.
- A comment ``<!-- setup`` ... ``-->`` holds Python that a page needs and its readers have already: a model of theirs.
- A comment ``<!-- not run: REASON -->`` right before a block leaves it out.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

_BLOCK = re.compile(
    r"^<!-- (?P<kind>setup)\n(?P<setup>.*?)^-->$|^```(?P<language>[^\n]*)\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_NOT_RUN = re.compile(r"<!-- not run: (?P<reason>.+?) -->\s*\Z")


@dataclass(frozen=True)
class Block:
    """A code block, or a hidden setup.

    Attributes
    ----------
    language : str
        ``python``, ``console``, ``text``, ``setup``, or what else the fence says.
    code : str
        What is in it.
    line : int
        Where it starts in its page.
    reason : str
        Why it is not run; empty if it is.
    answers : bool
        Whether nothing but white space lies between the block before and this one.
    """

    language: str
    code: str
    line: int
    reason: str
    answers: bool


def all_pages() -> list[Path]:
    """Return the README files and all of docs."""
    readmes = [ROOT / "README.md", ROOT / "src/dovetail/population/README.md"]
    return [*readmes, *sorted((ROOT / "docs").rglob("*.md"))]


def pages() -> list[Path]:
    """Return every page with code."""
    return [page for page in all_pages() if blocks(page)]


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end = 0
    for match in _BLOCK.finditer(text):
        before = text[end : match.start()]
        marked = _NOT_RUN.search(before)
        found.append(
            Block(
                language=(match["kind"] or match["language"]).strip(),
                code=match["setup"] or match["code"] or "",
                line=text.count("\n", 0, match.start()) + 2,
                reason=marked["reason"] if marked else "",
                answers=not before.strip() and bool(found),
            )
        )
        end = match.end()
    return found


def run_page(page: Path, ray_start: Callable[[list[str]], str]) -> None:
    """Run all blocks of a page in the current folder.

    Parameters
    ----------
    page : path
        The page.
    ray_start : callable
        Starts a node of a Ray cluster with these options, and returns the port that stands for 6379.
    """
    namespace: dict[str, Any] = {"__name__": f"page_{page.stem.replace('-', '_')}"}
    runner = Runner(page, namespace, ray_start)
    printed: str | None = None
    for block in blocks(page):
        if block.language == "text" and block.answers and printed is not None:
            assert words(block.code) == words(printed), (
                f"{page}:{block.line} is not what the block before it prints, which is:\n{printed}"
            )
        elif not block.reason and block.language in ("python", "setup", "console"):
            printed = runner.run(block)
        else:
            printed = None


class Runner:
    """Runs blocks of one page, one after the other."""

    def __init__(self, page: Path, namespace: dict[str, Any], ray_start: Callable[[list[str]], str]) -> None:
        self._page, self._namespace, self._ray_start = page, namespace, ray_start
        self._ports: Mapping[str, str] = {}

    def run(self, block: Block) -> str:
        """Run a block and return what it printed."""
        with redirect_stdout(StringIO()) as printed:
            if block.language != "console":
                # Empty lines before it, so that errors name the line of the page.
                code = compile("\n" * (block.line - 1) + block.code, str(self._page), "exec")
                exec(code, self._namespace)
            else:
                for command in commands(block.code):
                    self._command(command, f"{self._page}:{block.line}: {shlex.join(command)}")
        return printed.getvalue()

    def _command(self, command: list[str], where: str) -> None:
        if command[:2] == ["ray", "start"]:
            self._ports = {"6379": self._ray_start(command[2:])}
            return
        assert command[0] == "dovetail", f"{where}: mark it as not run, or teach the tests to run it"
        for ours, real in self._ports.items():
            command = [word.replace(ours, real) for word in command]
        status, said = run_command(command[1:])
        assert status == 0, f"{where} failed: {said}"


def run_command(arguments: list[str]) -> tuple[int, str]:
    """Run ``dovetail`` with these arguments; return its status, and what it said about errors."""
    from dovetail.cli import main

    before, sys.argv = sys.argv, ["dovetail", *arguments]
    with redirect_stderr(StringIO()) as said:
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0), said.getvalue()
        finally:
            sys.argv = before
    return 0, said.getvalue()


def commands(code: str) -> Iterator[list[str]]:
    """Yield the commands of a console block as words; comments are left out, and patterns become file names.

    Examples
    --------
    >>> list(commands("$ dovetail sculpt '[4,2,4]' -o xor/   # a task\\nsome output\\n$ dovetail data list"))
    [['dovetail', 'sculpt', '[4,2,4]', '-o', 'xor/'], ['dovetail', 'data', 'list']]
    """
    for line in code.splitlines():
        if line.startswith("$ "):
            words = shlex.split(line[2:], comments=True)
            yield [name for word in words for name in (_files(word) if "*" in word else [word])]


def _files(pattern: str) -> list[str]:
    found = sorted(str(path) for path in Path().glob(pattern))
    assert found, f"no file is called {pattern}"
    return found


def words(text: str) -> list[str]:
    """Return the words of a text, with every number replaced.

    Examples
    --------
    >>> words("accuracy 0.95, p = 1e-3\\n  NaN")
    ['accuracy', '#,', 'p', '=', '#', '#']
    """
    return re.sub(r"[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?|\bNaN\b", "#", text).split()
