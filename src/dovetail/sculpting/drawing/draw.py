"""Pictures of networks and the modules in them, with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ShapeError
from ...markup import picture_html
from ...plotting import GREY
from .layout import Layout, Pixels, Stretch, best_order, lay_out, rounded
from .sheet import LARGE, LINE, NAME_SIZE, SMALL, SPACE, TINY, Sheet
from .style import (
    CROSSING_COLOUR,
    NO_MODULE,
    UNUSED,
    checked_names,
    composition,
    is_ring,
    layer_name,
    module_colour,
    unused_note,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..modules.hierarchy import Hierarchy

MOST_VECTOR_EDGES = 20_000
"""Edges up to which they stay lines in SVG and PDF files; more become an image, or the file could not be opened."""
MOST_AT_ONCE = 1000
"""Edges up to which a notebook shows a network without being asked: drawing them takes half a second."""
_PALE_PIXEL = "#EEF0F2"


def draw_hierarchy(
    hierarchy: Hierarchy,
    *,
    ax: Axes | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    module_names: Sequence[str] | None = None,
    module_texts: Sequence[str] | None = None,
    image_shape: tuple[int, int] | None = None,
    legend: bool | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a network layer by layer, its units grouped and coloured by module, with the edges that are left.

    Inputs are at the bottom, outputs at the top. Edges within a module have its colour, those between modules are grey.
    Units stand in an order in which few edges cross. Names are left out where they do not fit; then there are
    counts for each module.

    Parameters
    ----------
    hierarchy : Hierarchy
        What to draw.
    ax : Axes, optional
        Where to draw; a new figure that is as large as the network needs when there is none.
    input_names, output_names : sequence of str, optional
        Names for all inputs and all outputs, unused ones included; those of the hierarchy when not given.
    module_names : sequence of str, optional
        Names for the modules; M1, M2, ... when not given.
    module_texts : sequence of str, optional
        What the list of modules says of each, in one line or several; how many units it has when not given.
    image_shape : (int, int), optional
        For inputs that are the pixels of an image: its height and width. They are drawn as that image, each pixel in
        the colour of its module.
    legend : bool, optional
        Whether there is a list of the modules. When not given, there is one if not all of their names fit, or if there
        is something to say of them.
    title : str, optional
        What to write above.

    Returns
    -------
    Axes
        With the drawing in it. Nothing is shown or saved.

    Raises
    ------
    ShapeError
        When there are more or fewer names, or pixels, than units.

    Examples
    --------
    >>> import numpy as np
    >>> from dovetail.sculpting import Hierarchy
    >>> edges = (np.array([[1, 1, 0, 0], [0, 0, 1, 1]], bool), np.eye(2, dtype=bool))
    >>> left = frozenset({(0, 0), (0, 1), (1, 0), (2, 0)})
    >>> right = frozenset({(0, 2), (0, 3), (1, 1), (2, 1)})
    >>> ax = draw_hierarchy(Hierarchy(edges, (), (left, right)), title="two modules")
    >>> sorted(text.get_text() for text in ax.texts if text.get_text().startswith("x"))
    ['x1', 'x2', 'x3', 'x4']
    """
    sizes = hierarchy.sizes
    names = (
        hierarchy.end_names[0]
        if input_names is None
        else checked_names(input_names, "x", sizes[0], "inputs"),
        hierarchy.end_names[1]
        if output_names is None
        else checked_names(output_names, "y", sizes[-1], "outputs"),
        checked_names(module_names, "M", len(hierarchy.modules), "modules"),
    )
    pixels = None if image_shape is None else _pixels(image_shape, sizes[0])
    texts = [composition(module, len(sizes)) for module in hierarchy.modules]
    if module_texts is not None:
        texts = checked_names(module_texts, "", len(texts), "modules")
        legend = True if legend is None else legend
    sheet = Sheet(hierarchy, names, texts, unused_note(hierarchy), title, legend, ax)
    order = best_order(hierarchy, pixels)
    plain = lay_out(hierarchy, pixels=pixels, order=order)
    layout = lay_out(hierarchy, pixels=pixels, order=order, rooms=sheet.rooms(plain))
    ax = sheet.open(layout)
    _draw_areas(ax, layout, len(hierarchy.modules))
    _draw_edges(ax, layout, hierarchy)
    _draw_units(ax, sheet, layout)
    if image_shape is not None:
        _draw_pixels(ax, layout, hierarchy.membership[0], image_shape)
    write_texts(ax, sheet, layout)
    return ax


def drawing_html(hierarchy: Hierarchy, **options: Any) -> str:
    """Return a picture for a notebook, with options of `draw_hierarchy`; empty if there is none, or it takes long."""
    if not 0 < sum(hierarchy.edges_between.values()) <= MOST_AT_ONCE:
        return ""
    return picture_html(draw_hierarchy(hierarchy, **options), repr(hierarchy))


def _pixels(shape: tuple[int, int], inputs: int) -> Pixels:
    """Return the places of pixels along and across; the image stands upright."""
    height, width = shape
    if height < 1 or width < 1 or height * width != inputs:
        raise ShapeError(
            f"an image of {height} × {width} pixels for {inputs} inputs; image_shape is its height and width"
        )
    row, column = np.divmod(np.arange(inputs, dtype=np.float64), width)
    return column, height - 1 - row


def _draw_areas(ax: Axes, layout: Layout, modules: int) -> None:
    """Draw a soft area behind the units of each module."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    for module in range(modules):
        colour = module_colour(module)
        for corners in layout.areas(module):
            curves = np.concatenate(rounded(corners, 0.3))
            codes = [Path.LINETO, Path.CURVE3, Path.CURVE3] * len(corners)
            path = Path([*curves, curves[0]], [Path.MOVETO, *codes[1:], Path.CLOSEPOLY])
            ax.add_patch(
                PathPatch(
                    path,
                    facecolor=to_rgba(colour, 0.13),
                    edgecolor=to_rgba(colour, 0.45),
                    linewidth=0.8,
                    zorder=1,
                    gid=f"area-{module + 1}",
                )
            )


def _draw_edges(ax: Axes, layout: Layout, hierarchy: Hierarchy) -> None:
    """Draw all edges as one artist: the more there are, the thinner and fainter."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    members, places = hierarchy.membership, layout.places(hierarchy.sizes)
    lines, owners = [], []
    for layer, edges in enumerate(hierarchy.used_edges):
        end, start = np.nonzero(edges)
        lines.append(np.stack([places[layer][start], places[layer + 1][end]], 1))
        inside = members[layer][start] == members[layer + 1][end]
        owners.append(np.where(inside, members[layer][start], NO_MODULE))
    segments, owner = np.concatenate(lines), np.concatenate(owners)
    order = np.argsort(owner >= 0, kind="stable")  # grey ones below
    across, inside = np.bincount(owner >= 0, minlength=2)
    palette = [to_rgba(CROSSING_COLOUR, _alpha(across))]
    palette += [to_rgba(module_colour(module), _alpha(inside)) for module in range(len(hierarchy.modules))]
    ax.add_collection(
        LineCollection(
            list(segments[order]),
            colors=np.array(palette)[owner[order] + 1],
            linewidths=min(1.3, max(0.25, 1.3 * (100 / max(len(owner), 1)) ** 0.25)),
            rasterized=len(owner) > MOST_VECTOR_EDGES,
            zorder=2,
            gid="edges",
        ),
        autolim=False,
    )


def _alpha(lines: int) -> float:
    """Return how opaque lines are: the more, the less."""
    return float(min(0.9, max(0.05, (120 / max(lines, 1)) ** 0.3)))


def _draw_units(ax: Axes, sheet: Sheet, layout: Layout) -> None:
    """Draw the units of each module in each layer as circles that cannot touch, however large the axes are."""
    from matplotlib.collections import EllipseCollection

    for stretch in layout.stretches:
        if layout.picture and stretch.layer == 0:
            continue
        size = stretch.pitch * 0.56
        colour = GREY if stretch.module == NO_MODULE else module_colour(stretch.module)
        fine = size * sheet.scale < 6  # points; a border would hide the circle
        ax.add_collection(
            EllipseCollection(
                size,
                size,
                0,
                units="xy",
                offsets=np.stack([stretch.along, stretch.across], 1),
                offset_transform=ax.transData,
                facecolors="white" if is_ring(stretch.module) else colour,
                edgecolors=colour if is_ring(stretch.module) else "none" if fine else "white",
                linewidths=(size * sheet.scale / 6 if is_ring(stretch.module) else 0.0 if fine else 0.8),
                zorder=3,
                gid=f"units-{stretch.layer}-{stretch.module + 1}",
            ),
            autolim=False,
        )


def _draw_pixels(ax: Axes, layout: Layout, members: NDArray[np.int64], shape: tuple[int, int]) -> None:
    """Draw inputs as an image, each in the colour of its module."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    assert layout.picture is not None
    palette = [to_rgb(_PALE_PIXEL), to_rgb(GREY)]  # unused, in no module
    palette += [to_rgb(module_colour(number)) for number in range(members.max() + 1)]
    left, right, bottom, top = layout.picture
    ax.imshow(
        np.array(palette)[members - UNUSED].reshape(*shape, 3),
        extent=(left, right, bottom, top),
        interpolation="nearest",
        aspect="equal",
        zorder=4,
        gid="pixels",
    )
    ax.add_patch(
        Rectangle(
            (left, bottom), right - left, top - bottom, fill=False, edgecolor=GREY, linewidth=0.8, zorder=5
        )
    )


_FAINT = "#60646C"


def write_texts(ax: Axes, sheet: Sheet, layout: Layout) -> None:
    """Write all names that the sheet has space for, the legend, the note in the corner and the title."""
    _write_ends(ax, sheet, layout.depth)
    for stretch in layout.stretches:
        if sheet.is_named(stretch):
            _write_module_name(ax, sheet, stretch)
    if sheet.with_layer_names:
        _write_layer_names(ax, sheet, layout)
    if sheet.with_legend:
        _write_legend(ax, sheet)
    if sheet.note:
        ax.annotate(sheet.note, (1, 0), xycoords="axes fraction", xytext=(-SPACE, SPACE), textcoords="offset points",
                    va="bottom", ha="right", size=TINY, color=_FAINT)  # fmt: skip
    if not layout.stretches:
        _text(ax, (0.5, 0.5), "no unit is used", va="center", ha="center", transform=ax.transAxes)
    if sheet.title:
        ax.set_title(sheet.title, fontsize=LARGE, parse_math=False)


def _write_ends(ax: Axes, sheet: Sheet, depth: float) -> None:
    """Write beside the inputs and the outputs."""
    for end, labels in enumerate(sheet.labels):
        edge, outwards = (depth, 1) if end else (0.0, -1)
        for label in labels.labels:
            place = label.along, edge + outwards * (SPACE + label.line * LINE) / sheet.scale
            colour = {"color": _dark(label.module)} if label.group else {}
            _text(ax, place, label.text, va="bottom" if end else "top", ha="center", rotation=90 * labels.upright,
                  **colour)  # fmt: skip


def _write_module_name(ax: Axes, sheet: Sheet, stretch: Stretch) -> None:
    from matplotlib.patheffects import withStroke

    start, _, low, high = stretch.box
    place = start + 2.5 / sheet.scale, (low + high) / 2
    halo = [withStroke(linewidth=2, foreground="white", alpha=0.8)]  # readable on top of lines
    name = sheet.names[2][stretch.module]
    _text(
        ax, place, name, weight="bold", color=_dark(stretch.module), path_effects=halo, va="center", ha="left"
    )


def _write_layer_names(ax: Axes, sheet: Sheet, layout: Layout) -> None:
    layers = len(sheet.hierarchy.sizes)
    for layer, middle in layout.middles.items():
        place = -2 * SPACE / sheet.scale, middle
        _text(ax, place, layer_name(layer, layers), size=SMALL, color=_FAINT, va="center", ha="right")


def _write_legend(ax: Axes, sheet: Sheet) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="none", marker="o", markersize=7, markeredgewidth=2, color=module_colour(module),
               markerfacecolor="white" if is_ring(module) else module_colour(module), label=text)
        for module, text in enumerate(sheet.legend_texts())
    ]  # fmt: skip
    legend = ax.legend(
        handles=handles, loc="center right", frameon=False, fontsize=NAME_SIZE, handletextpad=0.4, borderaxespad=0.2,
        handlelength=1.2,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)


def _text(ax: Axes, place: tuple[float, float], text: str, **options: Any) -> None:
    """Write text as it stands: a name may have a $ in it."""
    ax.text(*place, text, parse_math=False, **{"size": NAME_SIZE, "zorder": 6, **options})


def _dark(module: int) -> tuple[float, ...]:
    """Return the colour of a module, dark enough for text."""
    from matplotlib.colors import to_rgb

    return tuple(0.62 * part for part in to_rgb(module_colour(module)))
