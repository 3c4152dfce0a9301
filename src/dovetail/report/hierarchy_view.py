"""The modules of a network in a page, to look into: closed at first, each with its units when one clicks on it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..sculpting.drawing.style import checked_names, counted, unused_note
from ..sculpting.modules.hierarchy import Hierarchy
from .browser_files import script, style
from .hierarchy_data import USUAL_WIDTH, hierarchy_data
from .page import Page, json_in_html

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
            hierarchy, input_names=input_names, output_names=output_names, module_names=module_names
        )
    )
    return page.to_html()


def hierarchy_fragment(
    hierarchy: Hierarchy,
    *,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    module_names: Sequence[str] | None = None,
) -> str:
    """Return the modules of a network as a ``<figure>`` for any page, with all that it needs inside.

    Parameters
    ----------
    hierarchy : Hierarchy
        What to show.
    input_names, output_names, module_names : sequence of str, optional
        As for `hierarchy_html`.

    Examples
    --------
    >>> import numpy as np
    >>> one = frozenset({(0, 0), (1, 0)})
    >>> hierarchy_fragment(Hierarchy((np.ones((1, 1), bool),), (), (one,))).startswith('<figure class="hierarchy">')
    True
    """
    names = (
        checked_names(input_names, "x", hierarchy.sizes[0], "inputs"),
        checked_names(output_names, "y", hierarchy.sizes[-1], "outputs"),
        checked_names(module_names, "M", len(hierarchy.modules), "modules"),
    )
    data = hierarchy_data(hierarchy, names)
    note = unused_note(hierarchy, drawn=False)
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
