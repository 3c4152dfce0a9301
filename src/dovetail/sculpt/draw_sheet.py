"""The sheet that a network is drawn on: how large it is, where things are on it, and what is written around them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .draw_labels import LINE, NAME_SIZE, SPACE, Labels, group_labels, text_width, unit_labels
from .hierarchy import Hierarchy
from .layout import Block, Layout
from .layout_rows import PAD
from .module_style import composition, is_ring, layer_name, module_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEP = 30.0
"""Points for a step, where there is space enough."""
WIDEST, HIGHEST = 936.0, 792.0
"""Of a new figure, in points."""
NARROWEST, LOWEST = 200.0, 130.0
_LARGE, _SMALL, _TINY = 11.0, 7.5, 7.0  # sizes of text other than names
_FAINT = "#60646C"
_TITLE = 28.0  # points that a title takes
_MARK = 30.0  # points that a mark in the legend takes, with the space around it


class Sheet:
    """A sheet for one drawing: `open` it with a layout, draw, and `write` on it.

    Parameters
    ----------
    hierarchy : Hierarchy
        What is drawn.
    direction : str
        Where the outputs are: "up" or "right".
    names : three lists of str
        Of all inputs, outputs and modules.
    note : str
        What to write in the corner.
    title : str or None
        What to write above.
    legend : bool or None
        Whether there is a list of modules; None: when their names do not fit elsewhere.

    Attributes
    ----------
    scale : float
        Points for a step, once it is open.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        direction: str,
        names: tuple[list[str], list[str], list[str]],
        note: str,
        title: str | None,
        legend: bool | None,
    ) -> None:
        self.hierarchy, self.up, self.names = hierarchy, direction == "up", names
        self.note, self.title, self.legend = note, title, legend
        self.scale = STEP
        self._labels = [Labels((), False, 0.0)] * 2  # of the inputs, and of the outputs
        self._with_layer_names = self._with_legend = False

    def xy(self, along: float, across: float) -> tuple[float, float]:
        """Return a place on the sheet."""
        return (along, across) if self.up else (across, -along)

    def points(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return places on the sheet, ``[..., 2]``."""
        return places if self.up else places[..., ::-1] * np.array([1.0, -1.0])

    def rooms(self, layout: Layout) -> list[float]:
        """Return how much room along a layer the name of each module needs, given a layout without such rooms."""
        wide, high = self._size(layout)
        scale = min(STEP, (WIDEST - 100) / wide, (HIGHEST - 100) / high)
        sizes = [text_width(name, bold=True) if self.up else LINE - 2 for name in self.names[2]]
        return [(size + 2) / scale for size in sizes]

    def open(self, layout: Layout, ax: Axes | None) -> Axes:
        """Choose what is written and how large a step is; return axes with the limits to draw within."""
        wide, high = self._size(layout)
        if ax is None:
            self._choose(layout, WIDEST, HIGHEST - _TITLE * bool(self.title), STEP)
        else:
            extent, point = ax.get_window_extent(), ax.figure.dpi / 72
            self._choose(layout, extent.width / point, extent.height / point, 1.5 * STEP)
        left, right, bottom, top = self._margins([labels.depth for labels in self._labels])
        if ax is None:
            ax = self._new_axes(wide * self.scale + left + right, high * self.scale + bottom + top)
        low = 0.0 if self.up else -layout.length
        ax.set_xlim(-left / self.scale, wide + right / self.scale)
        ax.set_ylim(low - bottom / self.scale, low + high + top / self.scale)
        ax.set_aspect("equal", adjustable="datalim")
        ax.set_axis_off()
        return ax

    def write(self, ax: Axes, layout: Layout) -> None:
        """Write all names, the legend, the note in the corner and the title."""
        self._write_labels(ax, layout.depth)
        for block in layout.blocks:
            if self._is_named(block):
                self._write_module_name(ax, block)
        if self._with_layer_names:
            self._write_layer_names(ax, layout)
        if self._with_legend:
            self._write_legend(ax)
        if self.note:
            _text(
                ax,
                (1, 0),
                self.note,
                va="bottom",
                ha="right",
                size=_TINY,
                color=_FAINT,
                transform=ax.transAxes,
            )
        if not layout.blocks:
            _text(ax, (0.5, 0.5), "no unit is used", va="center", ha="center", transform=ax.transAxes)
        if self.title:
            ax.set_title(self.title, fontsize=_LARGE, parse_math=False)

    def _size(self, layout: Layout) -> tuple[float, float]:
        """Return width and height of the network, in steps."""
        length, depth = max(layout.length, 1.0), max(layout.depth, 1.0)
        return (length, depth) if self.up else (depth, length)

    def _choose(self, layout: Layout, width: float, height: float, largest: float) -> None:
        """Choose what is written: as much as fits into so many points. Then choose how many a step has."""
        self._with_layer_names = self.up and self._layer_names_width() < 0.22 * width
        self._with_legend = bool(self.legend)
        self._fit(layout, width, height, largest)
        if self.legend is None and not self._all_modules_named(layout):
            self._with_legend = True
            self._fit(layout, width, height, largest)
        if not self.up:
            across = [middle for _, middle in _layer_middles(layout)]
            nearest = min((b - a for a, b in zip(across, across[1:], strict=False)), default=math.inf)
            self._with_layer_names = nearest * self.scale > self._layer_names_width()

    def _fit(self, layout: Layout, width: float, height: float, largest: float) -> None:
        """Find the most telling names of inputs and outputs that fit, and the scale that they leave."""
        wide, high = self._size(layout)
        hows, depths = [0, 0], [0.0, 0.0]
        while True:
            left, right, bottom, top = self._margins(depths)
            room = (width - left - right) / wide, (height - bottom - top) / high
            self.scale = max(1.0, min(largest, *room))
            self._labels = [self._end_labels(layout, end, how) for end, how in enumerate(hows)]
            better = [
                how + (how < 2 and not labels.complete)
                for how, labels in zip(hows, self._labels, strict=True)
            ]
            if better != hows:
                hows, depths = better, [0.0, 0.0]
            elif all(labels.depth <= depth for labels, depth in zip(self._labels, depths, strict=True)):
                return
            else:
                depths = [
                    max(labels.depth, depth) for labels, depth in zip(self._labels, depths, strict=True)
                ]

    def _end_labels(self, layout: Layout, end: int, how: int) -> Labels:
        """Return the names of the inputs or of the outputs: flat, upright, or only a count for each module."""
        layer = 0 if end == 0 else len(layout.pitch) - 1
        blocks = [block for block in layout.blocks if block.layer == layer]
        single = layout.lines[layer] == 1 and not (layout.picture and end == 0)
        if how < 2 and single:
            return unit_labels(blocks, self.names[end], self.scale, along=self.up and how == 0)
        if how < 2:
            return Labels((), False, 0.0, complete=False)
        what = "output" if end else "input"
        return group_labels(blocks, self.names[2], what, self.scale, layout.length, along=self.up)

    def _margins(self, depths: list[float]) -> tuple[float, float, float, float]:
        """Return the points needed at the left, right, bottom and top of the network."""
        legend = self._with_legend * self._legend_width()
        note = LINE * bool(self.note)
        inputs, outputs = (depth + 2 * SPACE for depth in depths)
        if self.up:
            left = SPACE + self._with_layer_names * self._layer_names_width()
            return left, SPACE + legend, inputs + note, outputs
        return inputs, outputs + legend, LINE + 2 * SPACE + note, 2 * SPACE

    def _layer_names_width(self) -> float:
        layers = len(self.hierarchy.sizes)
        return max(text_width(layer_name(layer, layers), _SMALL) for layer in range(layers)) + 3 * SPACE

    def _legend_width(self) -> float:
        return max((text_width(text) for text in self._legend_texts()), default=0.0) + _MARK

    def _legend_texts(self) -> list[str]:
        layers = len(self.hierarchy.sizes)
        return [
            f"{name}: {composition(module, layers)}"
            for name, module in zip(self.names[2], self.hierarchy.modules, strict=True)
        ]

    def _is_named(self, block: Block) -> bool:
        """Return whether the name of a block's module stands in it."""
        if block.module < 0 or not block.room:
            return False
        width = text_width(self.names[2][block.module], bold=True)
        if self.up:
            return width < (block.room + PAD / 2) * self.scale
        return block.room * self.scale > LINE - 3 and width < (2 * PAD + 0.6) * self.scale

    def _all_modules_named(self, layout: Layout) -> bool:
        named = {block.module for block in layout.blocks if self._is_named(block)}
        for labels in self._labels:
            named |= {label.module for label in labels.labels if label.group}
        return named.issuperset(range(len(self.hierarchy.modules)))

    def _new_axes(self, width: float, height: float) -> Axes:
        """Return axes that fill a new figure, below its title."""
        import matplotlib.pyplot as plt

        title = _TITLE if self.title else 0.0
        least = text_width(self.title, _LARGE) + 4 * SPACE if self.title else 0.0
        width, height = max(width, NARROWEST, min(least, WIDEST)), max(height, LOWEST)
        figure = plt.figure(figsize=(width / 72, (height + title) / 72))
        return figure.add_axes((0, 0, 1, height / (height + title)))

    def _write_labels(self, ax: Axes, depth: float) -> None:
        for end, labels in enumerate(self._labels):
            edge, outwards = (depth, 1) if end else (0.0, -1)
            for label in labels.labels:
                place = self.xy(label.along, edge + outwards * (SPACE + label.line * LINE) / self.scale)
                if self.up:
                    sides = {"va": "bottom" if end else "top", "ha": "center"}
                else:
                    sides = {"va": "center", "ha": "left" if end else "right"}
                _text(ax, place, label.text, rotation=90 if labels.upright else 0, **sides)

    def _write_module_name(self, ax: Axes, block: Block) -> None:
        start, _, low, high = block.box
        place = self.xy(start + 2.5 / self.scale, (low + high) / 2)
        sides = {"va": "center", "ha": "left"} if self.up else {"va": "top", "ha": "center"}
        _text(ax, place, self.names[2][block.module], weight="bold", color=_dark(block.module), **sides)

    def _write_layer_names(self, ax: Axes, layout: Layout) -> None:
        layers = len(self.hierarchy.sizes)
        for layer, middle in _layer_middles(layout):
            place = self.xy(-2 * SPACE / self.scale, middle)
            sides = {"va": "center", "ha": "right"}
            if not self.up:
                place, sides = (
                    self.xy(layout.length + SPACE / self.scale, middle),
                    {"va": "top", "ha": "center"},
                )
            _text(ax, place, layer_name(layer, layers), size=_SMALL, color=_FAINT, **sides)

    def _write_legend(self, ax: Axes) -> None:
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], linestyle="none", marker="o", markersize=7, markeredgewidth=2, color=module_colour(module),
                   markerfacecolor="white" if is_ring(module) else module_colour(module), label=text)
            for module, text in enumerate(self._legend_texts())
        ]  # fmt: skip
        legend = ax.legend(
            handles=handles, loc="center right", frameon=False, fontsize=NAME_SIZE, handletextpad=0.4,
            borderaxespad=0.2, handlelength=1.2,
        )  # fmt: skip
        for text in legend.get_texts():
            text.set_parse_math(False)


def _text(ax: Axes, place: tuple[float, float], text: str, **options: Any) -> None:
    """Write text as it stands (a name may have a $ in it), readable on top of lines."""
    from matplotlib.patheffects import withStroke

    options = {"size": NAME_SIZE, "zorder": 6, "clip_on": False, **options}
    halo = [withStroke(linewidth=2, foreground="white", alpha=0.8)]
    ax.text(*place, text, parse_math=False, path_effects=halo, **options)


def _dark(module: int) -> tuple[float, ...]:
    """Return the colour of a module, dark enough for text."""
    from matplotlib.colors import to_rgb

    return tuple(0.62 * part for part in to_rgb(module_colour(module)))


def _layer_middles(layout: Layout) -> list[tuple[int, float]]:
    """Return the layers that have something in them, and the middle of each across the drawing."""
    boxes = {block.layer: block.box for block in layout.blocks}
    return [(layer, (box[2] + box[3]) / 2) for layer, box in sorted(boxes.items())]
