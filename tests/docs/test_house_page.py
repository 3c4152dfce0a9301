"""The page for contributors names files and functions that exist, and walks the way that a call takes."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dovetail as dt
from dovetail.specialists.train import _start_hash

from ..test_borders import ORDER, SOURCE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-it-works/house.md").read_text(encoding="utf-8")
STEP = re.compile(r"^\d+\. `([\w/]+\.py)`: `([\w.]+)`", re.MULTILINE)


def walk(title: str) -> list[tuple[str, str]]:
    """Return the steps of a walk: file and function."""
    (section,) = (part for part in PAGE.split("\n## ") if part.startswith(f"A walk: {title}"))
    return STEP.findall(section)


def defined(path: Path) -> Iterator[str]:
    """Yield the functions, classes and methods of a file."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef))


def test_every_file_and_folder_that_is_named_exists() -> None:
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", PAGE))
    assert len(named) > 20
    assert [name for name in named if not (SOURCE / name).exists() and not (ROOT / name).exists()] == []


def test_every_room_is_drawn() -> None:
    drawing = (ROOT / "docs/images/rooms.svg").read_text(encoding="utf-8")
    drawn = {
        name for text in re.findall(r'font-weight="600"[^>]*>([^<]+)<', drawing) for name in text.split(", ")
    }
    rooms = {name for level in ORDER for name in level if name and not name.startswith("_")}
    there = {name for name in rooms if (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").is_file()}
    assert drawn == there - {"demo"}


@pytest.mark.parametrize("title", ["training", "composing and scoring"])
def test_every_step_of_a_walk_is_a_function_of_its_file(title: str) -> None:
    steps = walk(title)
    assert len(steps) > 5
    assert [step for step in steps if step[1] not in set(defined(SOURCE / step[0]))] == []


def test_a_call_walks_as_the_page_says() -> None:
    steps = walk("training") + walk("composing and scoring")
    installed = Path(dt.__file__).parent  # the tree, or the wheel
    wanted = {(str(installed / file), name): (file, name) for file, name in steps}
    seen: list[tuple[str, str]] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            step = wanted.get((frame.f_code.co_filename, frame.f_code.co_qualname))
            if step and (not seen or seen[-1] != step):
                seen.append(step)

    _start_hash.cache_clear()  # another test may have asked for the same network
    sys.setprofile(watch)
    try:
        data = dt.load("digits")
        team = dt.train_specialists(data, "mlp:40", [3, 8], slots=True, epochs=2, progress=False)
        composed = len(seen)
        (team[0] + team[1]).evaluate(data.test)
    finally:
        sys.setprofile(None)
    for title, calls in (("training", seen[:composed]), ("composing and scoring", seen[composed:])):
        assert list(dict.fromkeys(step for step in calls if step in walk(title))) == walk(title)
