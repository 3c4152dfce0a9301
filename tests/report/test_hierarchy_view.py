"""The page of a hierarchy: one file, all names as they stand, every module, unit and edge in it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.errors import ShapeError
from dovetail.report import hierarchy_fragment, hierarchy_html
from dovetail.report.browser_files import FOLDER
from dovetail.sculpting.drawing.style import module_colour
from dovetail.sculpting.modules.hierarchy import Hierarchy

NASTY = """</script ><script>alert(1)</script><img src=x onerror="alert(2)"><!-- <script & 'it'"""


class Reader(HTMLParser):
    """What a browser would see: elements with their attributes, text, and the content of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, dict[str, str | None], str]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self.raw.append((tag, dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            tag, attributes, before = self.raw.pop()
            self.raw.append((tag, attributes, before + data))
        else:
            self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def data(self) -> dict[str, Any]:
        (found,) = (
            text for tag, attributes, text in self.raw if attributes.get("type") == "application/json"
        )
        content: dict[str, Any] = json.loads(found)
        return content


def crossed() -> Hierarchy:
    """Return three layers, two input modules, two output modules fed by both, one unused unit with edges."""
    first = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]], bool)
    second = np.array([[1, 1, 0], [1, 1, 0]], bool)
    modules = (
        frozenset({(0, 0), (0, 1), (1, 0)}),
        frozenset({(0, 2), (0, 3), (1, 1)}),
        frozenset({(2, 0)}),
        frozenset({(2, 1)}),
    )
    return Hierarchy((first, second), (), modules, frozenset({(1, 2)}))


def chain(modules: int) -> Hierarchy:
    """Return as many modules side by side, each with 40 inputs that lead to an output."""
    edges = np.repeat(np.eye(modules, dtype=bool), 40, 1)
    inside = [{(0, unit) for unit in range(40 * m, 40 * m + 40)} | {(1, m)} for m in range(modules)]
    return Hierarchy((edges,), (), tuple(map(frozenset, inside)))


def test_every_module_unit_and_edge_is_in_the_page() -> None:
    hierarchy = crossed()
    data = Reader(hierarchy_html(hierarchy)).data()
    units = data["units"]
    found = {
        (layer, number): module
        for layer, number, module in zip(units["layer"], units["number"], units["module"], strict=True)
    }
    assert len(units["layer"]) == len(found) == 8
    assert found == {unit: number for number, module in enumerate(hierarchy.modules) for unit in module}
    assert [module["name"] for module in data["modules"]] == ["M1", "M2", "M3", "M4"]
    assert [module["units"] for module in data["modules"]] == [3, 3, 1, 1]
    assert [module["colour"] for module in data["modules"]] == [module_colour(m) for m in range(4)]
    assert data["modules"][0]["text"] == "2 inputs, 1 hidden"
    place = list(zip(units["layer"], units["number"], strict=True))
    edges = {(place[a], place[b]) for a, b in zip(data["edges"][::2], data["edges"][1::2], strict=True)}
    expected = {
        ((layer, int(start)), (layer + 1, int(end)))
        for layer, links in enumerate(hierarchy.used_edges)
        for end, start in np.argwhere(links)
    }
    assert edges == expected
    assert len(data["edges"]) == 2 * len(expected) == 16


def test_inputs_are_at_the_bottom_and_all_is_inside_the_drawing() -> None:
    for hierarchy in (crossed(), chain(3), chain(40)):
        read = Reader(hierarchy_html(hierarchy))
        data = read.data()
        (svg,) = read.named("svg")
        assert svg["viewbox"] == f"0 0 {data['width']:g} {data['height']:g}"
        assert data["heights"] == sorted(data["heights"], reverse=True)
        assert all(0 < x < data["width"] for x in data["units"]["x"])
        assert all(0 < y < data["height"] for y in data["units"]["y"])
        centres = [(*module["centre"], module["radius"]) for module in data["modules"]]
        for number, (x, y, radius) in enumerate(centres):
            assert radius <= x <= data["width"] - radius
            for x1, y1, other in centres[:number]:
                assert np.hypot(x - x1, y - y1) > radius + other  # closed modules do not touch


def test_larger_modules_are_drawn_larger() -> None:
    first, _, last, _ = Reader(hierarchy_html(crossed())).data()["modules"]
    assert first["radius"] > last["radius"]


def test_nothing_comes_from_elsewhere() -> None:
    html = hierarchy_html(crossed(), title="Crossed")
    read = Reader(html)
    for tag, attributes in read.elements:
        assert not {"src", "srcset", "action", "xlink:href"} & set(attributes), tag
        assert str(attributes.get("href", "#")).startswith(("#", "data:")), tag
    assert not re.search(r"https?:|//cdn|url\(|@import|@font-face|fetch\(|XMLHttp|import\(", html)
    (policy,) = (m["content"] for m in read.named("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert str(policy).startswith("default-src 'none';")
    assert len(html) < 60_000  # without plotly


def test_names_are_shown_as_they_stand() -> None:
    html = hierarchy_html(
        crossed(), title=NASTY, input_names=[NASTY] * 4, output_names=["a", NASTY], module_names=[NASTY] * 4
    )
    plain, read = Reader(hierarchy_html(crossed())), Reader(html)
    assert [tag for tag, _ in read.elements] == [
        tag for tag, _ in plain.elements
    ]  # nothing became an element
    assert read.text.count(NASTY) == 2  # the heading and the name of the tab
    block = html.split('<script type="application/json">')[1].split("</script>")[0]
    assert not re.search("[<>&]", block)  # so that nothing in it can end the element
    data = read.data()
    assert data["units"]["name"] == [NASTY] * 4 + [""] * 2 + ["a", NASTY]
    assert [module["name"] for module in data["modules"]] == [NASTY] * 4
    own = "\n".join(path.read_text("utf-8") for path in FOLDER.glob("hierarchy_*.js"))
    script = read.raw[-1][2]
    for line in own.splitlines():
        assert line.startswith("import ") or line.removeprefix("export ") in script
    assert not re.search("^(import|export)", script, re.MULTILINE)  # nothing that a page alone could not load
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|DOMParser", own)


def test_everything_can_be_reached_without_a_mouse() -> None:
    read = Reader(hierarchy_html(crossed()))
    assert read.named("button") == [{"type": "button"}]
    (svg,) = read.named("svg")
    assert svg["aria-label"] == "Modules of a network"
    script = read.raw[-1][2]
    for needed in (
        "tabindex: 0",
        'role: "button"',
        "aria-expanded",
        "aria-label",
        '"Enter"',
        '"Escape"',
        '"Arrow',
    ):
        assert needed in script, needed


def test_a_fragment_has_all_it_needs_and_two_fit_into_one_page() -> None:
    one = hierarchy_fragment(crossed())
    read = Reader(one)
    assert [tag for tag, *_ in read.raw] == ["style", "script", "script"]
    assert "1 unused unit left out" in read.text
    assert not re.search(r'\bid="', one)  # nothing that two could share


def test_wrong_numbers_of_names_are_errors() -> None:
    with pytest.raises(ShapeError, match="1 names for 4 inputs"):
        hierarchy_html(crossed(), input_names=["a"])
    with pytest.raises(ShapeError, match="3 names for 2 outputs"):
        hierarchy_html(crossed(), output_names=["a", "b", "c"])


def test_networks_with_nothing_in_them_or_with_loose_units() -> None:
    dead = Hierarchy((np.zeros((1, 2), bool),), (), (), frozenset({(0, 0), (0, 1), (1, 0)}))
    data = Reader(hierarchy_html(dead)).data()
    assert (data["modules"], data["edges"], data["units"]["x"]) == ([], [], [])
    loose = Hierarchy((np.ones((1, 2), bool),), (), (frozenset({(0, 0), (1, 0)}),))
    assert Reader(hierarchy_html(loose)).data()["units"]["module"] == [0, -1, 0]


def test_a_page_of_many_units_stays_small() -> None:
    hierarchy = chain(40)  # 1,640 units
    assert len(hierarchy_html(hierarchy)) < 250_000


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_script_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "page.js"
    path.write_text(Reader(hierarchy_html(crossed())).raw[-1][2])
    assert subprocess.run(["node", "--check", str(path)], capture_output=True).returncode == 0
