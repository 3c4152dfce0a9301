"""All that is written on the drawing of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .draw_labels import LINE, NAME_SIZE, SPACE
from .draw_sheet import LARGE, SMALL, TINY, Sheet, layer_middles
from .layout import Block, Layout
from .module_style import is_ring, layer_name, module_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAINT = "#60646C"


def write_texts(ax: Axes, sheet: Sheet, layout: Layout) -> None:
    """Write all names that the sheet has space for, the legend, the note in the corner and the title."""
    _write_ends(ax, sheet, layout.depth)
    for block in layout.blocks:
        if sheet.is_named(block):
            _write_module_name(ax, sheet, block)
    if sheet.with_layer_names:
        _write_layer_names(ax, sheet, layout)
    if sheet.with_legend:
        _write_legend(ax, sheet)
    if sheet.note:
        ax.annotate(sheet.note, (1, 0), xycoords="axes fraction", xytext=(-SPACE, SPACE), textcoords="offset points",
                    va="bottom", ha="right", size=TINY, color=_FAINT)  # fmt: skip
    if not layout.blocks:
        _text(ax, (0.5, 0.5), "no unit is used", va="center", ha="center", transform=ax.transAxes)
    if sheet.title:
        ax.set_title(sheet.title, fontsize=LARGE, parse_math=False)


def _write_ends(ax: Axes, sheet: Sheet, depth: float) -> None:
    """Write beside the inputs and the outputs."""
    for end, labels in enumerate(sheet.labels):
        edge, outwards = (depth, 1) if end else (0.0, -1)
        for label in labels.labels:
            place = sheet.xy(label.along, edge + outwards * (SPACE + label.line * LINE) / sheet.scale)
            options: dict[str, Any] = {"va": "center", "ha": "left" if end else "right"}
            if sheet.up:
                options = {"va": "bottom" if end else "top", "ha": "center", "rotation": 90 * labels.upright}
            if label.group:
                options["color"] = _dark(label.module)
            _text(ax, place, label.text, **options)


def _write_module_name(ax: Axes, sheet: Sheet, block: Block) -> None:
    from matplotlib.patheffects import withStroke

    start, _, low, high = block.box
    place = sheet.xy(start + 2.5 / sheet.scale, (low + high) / 2)
    options = {"va": "center", "ha": "left"} if sheet.up else {"va": "top", "ha": "center"}
    halo = [withStroke(linewidth=2, foreground="white", alpha=0.8)]  # readable on top of lines
    name = sheet.names[2][block.module]
    _text(ax, place, name, weight="bold", color=_dark(block.module), path_effects=halo, **options)


def _write_layer_names(ax: Axes, sheet: Sheet, layout: Layout) -> None:
    layers = len(sheet.hierarchy.sizes)
    for layer, middle in layer_middles(layout):
        place = sheet.xy(-2 * SPACE / sheet.scale, middle)
        options = {"va": "center", "ha": "right"}
        if not sheet.up:
            place = sheet.xy(layout.length + SPACE / sheet.scale, middle)
            options = {"va": "top", "ha": "center"}
        _text(ax, place, layer_name(layer, layers), size=SMALL, color=_FAINT, **options)


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
