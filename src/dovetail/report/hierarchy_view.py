"""The modules of a network in a page, to look into: closed at first, each with its units when one clicks on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import combinations
from typing import Any

import numpy as np

from ..plotting import GREY
from ..sculpting.drawing.layout import Stretch, best_order, lay_out, rounded
from ..sculpting.drawing.style import (
    checked_names,
    composition,
    counted,
    is_ring,
    layer_name,
    module_colour,
    unused_note,
)
from ..sculpting.explaining.explanation import Explanation
from ..sculpting.modules.hierarchy import Hierarchy
from .browser_files import script, style
from .page import Page, json_in_html

USUAL_WIDTH = 920.0
"""Pixels up to which most drawings can be kept."""

_LARGEST_STEP, _WIDEST, _HEIGHT = 46.0, 4000.0, 600.0

_LEFT, _RIGHT, _ENDS = 66.0, 14.0, 30.0  # margins: for names of layers, for nothing, for names of units

_LAYERS_APART = 80.0

Names = tuple[list[str], list[str], list[str]]
"""Of all inputs, outputs and modules."""

_SCRIPTS = ("hierarchy_graph.js", "hierarchy_drawing.js", "hierarchy_view.js")

_START = """\
const figure = document.currentScript.closest("figure");
hierarchyView(figure, JSON.parse(figure.querySelector("script[type='application/json']").textContent));
"""

_HINT = (
    "Click on a module to see its units; point at something to see its connections. "
    "Keys: Tab, Enter, arrows, Escape."
)


def hierarchy_html(
    hierarchy: Hierarchy,
    *,
    title: str = "The modules of a network",
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    module_names: Sequence[str] | None = None,
    explanation: Explanation | None = None,
) -> str:
    """Return a page with the modules of a network: one file, which needs no network and no other file.

    It shows how the modules feed one another. Each opens on a click, or all with a button, and shows its units and
    their edges; pointing at a unit shows where it gets from and goes to. The keyboard does all of that too.

    Parameters
    ----------
    hierarchy : Hierarchy
        What to show.
    title : str
        What the page is called.
    input_names, output_names : sequence of str, optional
        Names for all inputs and all outputs, unused ones included; x1, x2, ... and y1, y2, ... when not given.
    module_names : sequence of str, optional
        Names for the modules; M1, M2, ... when not given.
    explanation : Explanation, optional
        What modules and units compute, which is said of those that one points at.

    Raises
    ------
    ShapeError
        When there are more or fewer names than there is to name.

    Examples
    --------
    >>> import numpy as np
    >>> edges = (np.array([[1, 1, 0, 0], [0, 0, 1, 1]], bool), np.eye(2, dtype=bool))
    >>> left = frozenset({(0, 0), (0, 1), (1, 0), (2, 0)})
    >>> right = frozenset({(0, 2), (0, 3), (1, 1), (2, 1)})
    >>> "<h1>Two parts</h1>" in hierarchy_html(Hierarchy(edges, (), (left, right)), title="Two parts")
    True
    """
    sizes = hierarchy.sizes
    modules = counted(len(hierarchy.modules), "module")
    used = sum(sizes) - len(hierarchy.unused)
    edges = counted(int(sum(links.sum() for links in hierarchy.used_edges)), "edge")
    page = Page(title, f"{modules} with {counted(used, 'unit')} and {edges}, in {len(sizes)} layers.")
    page.fragment(
        hierarchy_fragment(
            hierarchy, input_names=input_names, output_names=output_names, module_names=module_names,
            explanation=explanation,
        )
    )  # fmt: skip
    return page.to_html()


def hierarchy_fragment(
    hierarchy: Hierarchy,
    *,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    module_names: Sequence[str] | None = None,
    explanation: Explanation | None = None,
) -> str:
    """Return the modules of a network as a ``<figure>`` for any page, with all that it needs inside.

    Parameters
    ----------
    hierarchy : Hierarchy
        What to show.
    input_names, output_names, module_names, explanation : optional
        As for `hierarchy_html`.

    Examples
    --------
    >>> import numpy as np
    >>> one = frozenset({(0, 0), (1, 0)})
    >>> hierarchy_fragment(Hierarchy((np.ones((1, 1), bool),), (), (one,))).startswith('<figure class="hierarchy">')
    True
    """
    names = (
        checked_names(
            hierarchy.end_names[0] if input_names is None else input_names, "x", hierarchy.sizes[0], "inputs"
        ),
        checked_names(
            hierarchy.end_names[1] if output_names is None else output_names,
            "y",
            hierarchy.sizes[-1],
            "outputs",
        ),
        checked_names(module_names, "M", len(hierarchy.modules), "modules"),
    )
    data = hierarchy_data(hierarchy, names, explanation)
    note = unused_note(hierarchy)
    width, height = data["width"], data["height"]
    kind = ' class="wide"' if width > USUAL_WIDTH else ""  # which scrolls; others shrink, but stay readable
    return (
        '<figure class="hierarchy">\n'
        f"<style>\n{style('hierarchy_view.css')}</style>\n"
        '<div class="hierarchy-tools"><button type="button">All units</button>'
        f"<span>{escape(note)}</span></div>\n"
        f'<p class="hierarchy-about">{escape(_HINT)}</p>\n'
        f'<div class="hierarchy-scroll">\n<svg{kind} role="group" aria-label="Modules of a network" '
        f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'style="min-width: {min(width, 560):g}px"></svg>\n</div>\n'
        "<noscript>The drawing needs JavaScript.</noscript>\n"
        f'<script type="application/json">{json_in_html(data)}</script>\n'
        f"<script>\n{script(*_SCRIPTS, start=_START)}</script>\n</figure>"
    )


def hierarchy_data(
    hierarchy: Hierarchy, names: Names, explanation: Explanation | None = None
) -> dict[str, Any]:
    """Return all that the script in the page needs, with what modules and units compute where that is known.

    Examples
    --------
    >>> import numpy as np
    >>> one = frozenset({(0, 0), (0, 1), (1, 0)})
    >>> data = hierarchy_data(Hierarchy((np.ones((1, 2), bool),), (), (one,)), (["a", "b"], ["c"], ["all"]))
    >>> data["units"]["name"], data["edges"], data["modules"][0]["text"]
    (['a', 'b', 'c'], [0, 2, 1, 2], '2 inputs, 1 output')
    """
    drawing, layers = _Drawing(hierarchy, names[2]), len(hierarchy.sizes)
    layout, middles = drawing.layout, drawing.layout.middles
    modules = [drawing.module(number, name) for number, name in enumerate(names[2])]
    units = drawing.units_and_edges(names)
    if explanation is not None:
        for number, module in enumerate(modules):
            module["says"] = explanation.of_module(number)
        places = zip(units["units"]["layer"], units["units"]["number"], strict=True)
        found = [explanation.unit(place) for place in places]
        units["units"]["says"] = ["" if one is None else one.says() for one in found]
    return {
        "width": round(_LEFT + layout.length * drawing.step + _RIGHT, 1),
        "height": round(2 * _ENDS + layout.depth * drawing.rise, 1),
        "grey": GREY,
        "layers": [layer_name(layer, layers) for layer in range(layers)],
        "heights": [drawing.y(middles.get(layer, 0.0)) for layer in range(layers)],
        "modules": modules,
        **units,
    }


class _Drawing:
    """A layout in pixels: inputs at the bottom, wide enough that closed modules stand apart."""

    def __init__(self, hierarchy: Hierarchy, module_names: list[str]) -> None:
        self.hierarchy = hierarchy
        order = best_order(hierarchy)
        plain = lay_out(hierarchy, order=order)
        across = max(8.0, min(_LARGEST_STEP, (USUAL_WIDTH - _LEFT - _RIGHT) / max(plain.length, 1.0)))
        rooms = [min((8 * len(name) + 10) / across, 4.0) for name in module_names]
        self.layout = lay_out(hierarchy, order=order, rooms=rooms)
        self.stretches = [
            [stretch for stretch in self.layout.stretches if stretch.module == module]
            for module in range(len(hierarchy.modules))
        ]
        self.radii = [
            _radius(stretches, name) for stretches, name in zip(self.stretches, module_names, strict=True)
        ]
        self.step = min(max(across, self._least_step()), _WIDEST / max(self.layout.length, 1.0))
        heights = [middle for _, middle in sorted(self.layout.middles.items())]
        nearest = float(np.diff(heights).min()) if len(heights) > 1 else 1.0
        self.rise = max(
            0.6 * self.step, min(self.step, _HEIGHT / max(self.layout.depth, 1.0)), _LAYERS_APART / nearest
        )

    def x(self, along: float) -> float:
        return round(_LEFT + along * self.step, 1)

    def y(self, across: float) -> float:
        return round(_ENDS + (self.layout.depth - across) * self.rise, 1)

    def centre(self, stretches: list[Stretch]) -> tuple[float, float]:
        """Return the middle of a module, in steps: in its middle layer, or between its two middle layers."""
        half = (len(stretches) - 1) // 2
        middle = stretches[half : len(stretches) - half]
        if len(middle) == 2 and middle[1].layer != middle[0].layer + 1:
            middle = middle[:1]
        along = np.mean([(stretch.along.min() + stretch.along.max()) / 2 for stretch in middle])
        return float(along), float(np.mean([(stretch.box[2] + stretch.box[3]) / 2 for stretch in middle]))

    def _least_step(self) -> float:
        """Return how many pixels a step needs for closed modules side by side not to touch."""
        least = 0.0
        placed = [
            (self.centre(stretches), radius)
            for stretches, radius in zip(self.stretches, self.radii, strict=True)
        ]
        for ((x0, y0), r0), ((x1, y1), r1) in combinations(placed, 2):
            if abs(y0 - y1) < 1 and x0 != x1:
                least = max(least, (r0 + r1 + 12) / abs(x0 - x1))
        return least

    def units_and_edges(self, names: Names) -> dict[str, Any]:
        """Return a list for each thing that is known of a unit, and the edges as units: from, to, from, to."""
        members, places = self.hierarchy.membership, self.layout.places(self.hierarchy.sizes)
        sizes = {stretch.layer: stretch.pitch * 0.28 * self.step for stretch in self.layout.stretches}
        units: dict[str, list[Any]] = {
            key: [] for key in ("layer", "number", "module", "x", "y", "radius", "name")
        }
        numbers = [np.full(size, -1) for size in self.hierarchy.sizes]
        last, count = len(numbers) - 1, 0
        for layer, place in enumerate(places):
            for unit in np.flatnonzero(~np.isnan(place[:, 0])).tolist():
                numbers[layer][unit], count = count, count + 1
                name = names[0][unit] if layer == 0 else names[1][unit] if layer == last else ""
                x, y = self.x(place[unit, 0]), self.y(place[unit, 1])
                module, radius = int(members[layer][unit]), round(sizes[layer], 2)
                for key, value in zip(units, (layer, unit, module, x, y, radius, name), strict=True):
                    units[key].append(value)
        edges: list[int] = []
        for layer, links in enumerate(self.hierarchy.used_edges):
            end, start = np.nonzero(links)
            edges += np.stack([numbers[layer][start], numbers[layer + 1][end]], 1).ravel().tolist()
        return {"units": units, "edges": edges}

    def module(self, number: int, name: str) -> dict[str, Any]:
        """Return what is known of a module."""
        layers, stretches = len(self.hierarchy.sizes), self.stretches[number]
        x, y = self.centre(stretches)
        tagged = next((stretch for stretch in stretches if stretch.room), stretches[0])
        return {
            "name": name,
            "text": composition(self.hierarchy.modules[number], layers),
            "colour": module_colour(number),
            "ink": _ink(number),
            "ring": is_ring(number),
            "units": len(self.hierarchy.modules[number]),
            "centre": [self.x(x), self.y(y)],
            "radius": self.radii[number],
            "beside": round((min(stretch.box[1] for stretch in stretches) - x) * self.step, 1),
            "tag": [self.x(tagged.box[0]) + 5, self.y((tagged.box[2] + tagged.box[3]) / 2)],
            "areas": [
                _rounded([(self.x(along), self.y(across)) for along, across in corners])
                for corners in self.layout.areas(number)
            ],
            "ends": [self._end(stretch) for stretch in stretches if stretch.layer in (0, layers - 1)],
        }

    def _end(self, stretch: Stretch) -> dict[str, Any]:
        """Return where the names of a module's inputs or outputs go."""
        return {
            "layer": stretch.layer,
            "middle": self.x(float(stretch.along.min() + stretch.along.max()) / 2),
            "width": round((stretch.box[1] - stretch.box[0]) * self.step, 1),
            "depth": round((stretch.box[3] - stretch.box[2]) * self.rise, 1),
            "pitch": round(stretch.pitch * self.step, 1),
            "single": self.layout.lines[stretch.layer] == 1,
        }


def _radius(stretches: list[Stretch], name: str) -> float:
    """Return how large a closed module is, in pixels; a short name fits into it."""
    units = sum(len(stretch.units) for stretch in stretches)
    return round(
        max(min(34.0, 11.0 + 2.0 * math.sqrt(units)), 4.0 * len(name) + 4 if len(name) < 5 else 0.0), 1
    )


def _ink(module: int) -> str:
    """Return black or white, whichever is easier to read on the colour of a module."""
    pieces = [int(module_colour(module)[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    light = sum(share * piece**2.2 for share, piece in zip((0.2126, 0.7152, 0.0722), pieces, strict=True))
    return "#000000" if light > 0.3 else "#ffffff"


def _rounded(corners: list[tuple[float, float]], radius: float = 12.0) -> str:
    """Return an SVG path around corners, which it rounds."""
    pieces: list[str] = []
    for (x0, y0), (x, y), (x1, y1) in rounded(corners, radius):
        pieces.append(f"{'L' if pieces else 'M'}{x0:.1f} {y0:.1f}Q{x:.1f} {y:.1f} {x1:.1f} {y1:.1f}")
    return "".join(pieces) + "Z"
