"""Drawings show every used unit once, in its module's colour and area, the surviving edges, and names that fit."""

from __future__ import annotations

import io
import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import PathPatch
from matplotlib.text import Text

from dovetail.errors import ShapeError
from dovetail.plotting import GREY
from dovetail.sculpting.drawing.draw import MOST_VECTOR_EDGES, draw_hierarchy
from dovetail.sculpting.drawing.layout import lay_out
from dovetail.sculpting.drawing.order import order_modules
from dovetail.sculpting.drawing.style import CROSSING_COLOUR, is_ring, module_colour
from dovetail.sculpting.modules.hierarchy import Hierarchy

from .drawable import digits, many_modules, needs_samples, published, two_parts

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def rendered(ax: Axes) -> Axes:
    """Render, so that whatever cannot be drawn fails here; a warning is a failure too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.canvas.draw()
    return ax


def circles(ax: Axes) -> list[EllipseCollection]:
    return [artist for artist in ax.collections if isinstance(artist, EllipseCollection)]


def lines(ax: Axes) -> LineCollection:
    (found,) = (artist for artist in ax.collections if isinstance(artist, LineCollection))
    return found


def spots(artist: EllipseCollection) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.asarray(artist.get_offsets(), float).reshape(-1, 2)


def shades(colours: object) -> list[str]:
    return [to_hex(tuple(row)).upper() for row in np.asarray(colours, float).reshape(-1, 4)]


def colour(artist: EllipseCollection) -> str:
    (face,), (edge,) = shades(artist.get_facecolor()), [*shades(artist.get_edgecolor()), ""][:1]
    return edge if face == "#FFFFFF" else face


def saved(ax: Axes, kind: str) -> bytes:
    file = io.BytesIO()
    assert isinstance(ax.figure, Figure)
    ax.figure.savefig(file, format=kind)
    return file.getvalue()


def written(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def overlapping(ax: Axes) -> list[tuple[str, str]]:
    """Return the pairs of texts that cover each other, or reach out of the figure."""
    texts: list[Text] = [text for text in ax.texts if text.get_text()]
    boxes = [text.get_window_extent().padded(-0.5) for text in texts]
    whole = ax.figure.bbox.padded(0.5)
    pairs = [
        (a.get_text(), b.get_text())
        for (a, one), (b, two) in combinations(zip(texts, boxes, strict=True), 2)
        if one.overlaps(two)
    ]
    outside = [
        (text.get_text(), "the border")
        for text, box in zip(texts, boxes, strict=True)
        if not (whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1)
    ]
    return pairs + outside


def check(ax: Axes, hierarchy: Hierarchy) -> None:
    """Check what holds for every drawing without a picture."""
    rendered(ax)
    drawn = {to_hex(module_colour(m)).upper(): 0 for m in range(len(hierarchy.modules))}
    for artist in circles(ax):
        drawn[colour(artist)] += len(spots(artist))
    expected = dict.fromkeys(drawn, 0)
    for number, module in enumerate(hierarchy.modules):
        expected[to_hex(module_colour(number)).upper()] += len(module)
    assert drawn == expected
    assert len(lines(ax).get_segments()) == sum(int(links.sum()) for links in hierarchy.used_edges)
    assert overlapping(ax) == []
    assert all(float(text.get_fontsize()) >= 7 for text in ax.texts)


def test_units_are_drawn_once_in_the_colour_of_their_module() -> None:
    hierarchy = two_parts()
    ax = draw_hierarchy(hierarchy)
    check(ax, hierarchy)
    assert sum(len(spots(artist)) for artist in circles(ax)) == 8
    names = {"x1", "x2", "x3", "x4", "y1", "y2", "M1", "M2", "inputs", "hidden 1", "outputs"}
    assert set(written(ax)) == names | {"2 unused units left out"}
    assert ax.get_legend() is None  # the names of all modules are in their areas


def test_edges_have_their_modules_colour_and_are_grey_between_modules() -> None:
    ax = draw_hierarchy(two_parts())
    places = {tuple(spot): colour(artist) for artist in circles(ax) for spot in spots(artist).tolist()}
    assert len(lines(ax).get_segments()) == 7
    found = shades(lines(ax).get_colors())
    for segment, shade in zip(lines(ax).get_segments(), found, strict=True):
        start, end = (places[tuple(point)] for point in np.asarray(segment).tolist())
        assert shade == (start if start == end else CROSSING_COLOUR)
    assert found.count(CROSSING_COLOUR) == 1


def test_every_module_has_an_area_around_its_units_alone() -> None:
    for hierarchy in (two_parts(), many_modules(5)):
        ax = draw_hierarchy(hierarchy)
        areas = [patch for patch in ax.patches if isinstance(patch, PathPatch)]
        assert len(areas) == len(hierarchy.modules)
        for area in areas:
            inside = {
                colour(artist)
                for artist in circles(ax)
                if area.get_path().contains_points(spots(artist)).any()
            }
            assert inside == {to_hex(area.get_facecolor()).upper()}


def test_outputs_are_above_the_inputs() -> None:
    ax = rendered(draw_hierarchy(two_parts()))
    at = {text.get_text(): text.get_position() for text in ax.texts}
    assert at["y1"][1] > at["x1"][1] == at["x4"][1]
    assert overlapping(ax) == []


@pytest.mark.parametrize("build", [two_parts, digits, lambda: many_modules(15)])
def test_units_of_a_layer_do_not_touch(build: Callable[[], Hierarchy]) -> None:
    hierarchy = build()
    layout = lay_out(hierarchy)
    for layer in range(len(hierarchy.sizes)):
        stretches = [stretch for stretch in layout.stretches if stretch.layer == layer]
        places = np.concatenate([np.stack([stretch.along, stretch.across], 1) for stretch in stretches])
        radius = np.concatenate([np.full(len(stretch.units), 0.28 * stretch.pitch) for stretch in stretches])
        apart = np.hypot(*(places[:, None] - places).T)
        np.fill_diagonal(apart, np.inf)
        assert (apart > radius[:, None] + radius).all()
        for one, two in combinations(stretches, 2):
            assert one.box[1] <= two.box[0] + 1e-9 or two.box[1] <= one.box[0] + 1e-9


def test_every_unit_has_one_place() -> None:
    hierarchy = digits()
    found = [(stretch.layer, int(unit)) for stretch in lay_out(hierarchy).stretches for unit in stretch.units]
    assert len(found) == len(set(found))
    assert set(found) == set().union(*hierarchy.modules)


def test_modules_stand_where_edges_need_not_cross() -> None:
    swap = (np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]], bool),)
    apart = tuple(frozenset({(layer, unit)}) for layer in (0, 1) for unit in range(3))
    layout = lay_out(Hierarchy(swap, (), apart))
    along = {(stretch.layer, int(stretch.units[0])): float(stretch.along[0]) for stretch in layout.stretches}
    assert all(abs(along[0, unit] - along[1, 2 - unit]) < 1e-3 for unit in range(3))


def test_units_in_a_module_stand_where_edges_need_not_cross() -> None:
    mixed = np.random.default_rng(0).permutation(9)
    edges = (np.eye(9, dtype=bool)[mixed], np.eye(9, dtype=bool)[:, mixed])
    one = frozenset((layer, unit) for layer in range(3) for unit in range(9))
    layout = lay_out(Hierarchy(edges, (), (one,)))
    assert [stretch.units.tolist() for stretch in layout.stretches] == [
        [*range(9)],
        np.argsort(mixed).tolist(),
        [*range(9)],
    ]


def module_crossings(hierarchy: Hierarchy, order: Sequence[int]) -> int:
    """Count pairs of edges that cross when modules, but not the units in them, are in an order: edge by edge."""
    place = np.argsort(order)
    total = 0
    for layer, links in enumerate(hierarchy.used_edges):
        before, after = hierarchy.membership[layer : layer + 2]
        ends = [(place[before[start]], place[after[end]]) for end, start in np.argwhere(links)]
        total += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(ends, 2))
    return total


def test_the_order_of_modules_is_nearly_as_good_as_the_best_of_all() -> None:
    found, best, plain = 0, 0, 0
    for seed in range(12):
        draw = np.random.default_rng(seed)
        edges = (np.eye(5, dtype=bool)[draw.permutation(5)] | (draw.random((5, 5)) < 0.2),)
        modules = (
            *(frozenset({(0, n), (1, n)}) for n in range(2)),
            *(frozenset({(0, n)}) for n in range(2, 5)),
        )
        above = tuple(frozenset({(1, n)}) for n in range(2, 5))
        hierarchy = Hierarchy(edges, (), modules[:4] + above[:2] + ((modules[4] | above[2]),))
        every = [module_crossings(hierarchy, order) for order in permutations(range(7))]
        order = order_modules(hierarchy)
        assert sorted(order) == list(range(7))
        found, best, plain = found + module_crossings(hierarchy, order), best + min(every), plain + every[0]
    assert plain > 1.5 * best
    assert found <= 1.1 * best


def test_names_do_not_take_the_space_of_the_network() -> None:
    ax = plt.figure(figsize=(3, 3)).add_axes((0, 0, 1, 1))
    draw_hierarchy(two_parts(), ax=ax, input_names=["a name that is as long as this"] * 4)
    rendered(ax)
    extents = [patch.get_window_extent() for patch in ax.patches]
    height = max(box.y1 for box in extents) - min(box.y0 for box in extents)
    assert height > 0.5 * ax.figure.bbox.height


def test_long_names_stand_upright_and_too_many_become_counts() -> None:
    names = ["temperature", "pressure in $", "wind", "<b>rain</b>"]
    ax = draw_hierarchy(two_parts(), input_names=names, output_names=["sun", "snow"])
    check(ax, two_parts())
    upright = {text.get_text() for text in ax.texts if text.get_rotation() == 90}
    assert upright == set(names)
    assert {"sun", "snow"} <= set(written(ax))
    big = draw_hierarchy(digits(), module_names=["left", "right"])
    inputs = [len([unit for layer, unit in module if layer == 0]) for module in digits().modules]
    assert {f"left: {inputs[0]} inputs", f"right: {inputs[1]} inputs", "left", "right"} <= set(written(big))
    assert not any(re.fullmatch(r"x\d+", text) for text in written(big))


def test_wrong_numbers_of_names_and_pixels_are_errors() -> None:
    with pytest.raises(ShapeError, match="3 names for 4 inputs"):
        draw_hierarchy(two_parts(), input_names=["a", "b", "c"])
    with pytest.raises(ShapeError, match="one text for 2 outputs"):
        draw_hierarchy(two_parts(), output_names="ab")
    with pytest.raises(ShapeError, match="1 names for 2 modules"):
        draw_hierarchy(two_parts(), module_names=["a"])
    with pytest.raises(ShapeError, match="an image of 3 × 2 pixels for 4 inputs"):
        draw_hierarchy(two_parts(), image_shape=(3, 2))


def test_a_legend_tells_what_each_module_has() -> None:
    ax = rendered(draw_hierarchy(two_parts(), legend=True, module_names=["a $b$", "c"]))
    legend = ax.get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["a $b$: 2 inputs, 1 hidden, 1 output", "c: 2 inputs, 1 hidden, 1 output"]
    assert [to_hex(handle.get_color()).upper() for handle in legend.get_lines()] == [
        module_colour(0).upper(),
        module_colour(1).upper(),
    ]
    network = max(patch.get_window_extent().x1 for patch in ax.patches)
    assert network <= legend.get_window_extent().x0


def test_a_legend_comes_by_itself_when_names_do_not_fit() -> None:
    names = [f"a module with far too long a name, {number}" for number in range(6)]
    ax = rendered(draw_hierarchy(many_modules(3), module_names=names))
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text().split(":")[0] for text in legend.get_texts()] == names
    assert not set(names) & set(written(ax))
    assert draw_hierarchy(many_modules(3), module_names=names, legend=False).get_legend() is None


@pytest.mark.parametrize("number", [3, 6, 12])
def test_many_modules_can_be_told_apart(number: int) -> None:
    hierarchy = many_modules(number)
    ax = draw_hierarchy(hierarchy)
    check(ax, hierarchy)
    looks = {(module_colour(m), is_ring(m)) for m in range(2 * number)}
    assert len(looks) == 2 * number
    rings = sum(shades(artist.get_facecolor()) == ["#FFFFFF"] for artist in circles(ax))
    assert rings == max(0, 2 * number - 12)
    assert {f"M{m + 1}" for m in range(2 * number)} <= set(written(ax))


def test_inputs_can_be_an_image_with_pixels_in_their_modules_colours() -> None:
    hierarchy = digits(density=0.03)
    ax = rendered(draw_hierarchy(hierarchy, image_shape=(28, 56)))
    (image,) = (artist for artist in ax.images if isinstance(artist, AxesImage))
    pixels = np.asarray(image.get_array())
    assert pixels.shape == (28, 56, 3)
    members = hierarchy.membership[0].reshape(28, 56)
    for module in (0, 1):
        assert {to_hex(pixel) for pixel in pixels[members == module]} == {module_colour(module).lower()}
    assert {to_hex(pixel) for pixel in pixels[members < 0]} == {"#eef0f2"}
    assert (members < 0).any()
    left, right, bottom, top = image.get_extent()
    assert right > left
    assert top > bottom  # the first row of pixels is at the top
    assert (right - left) / (top - bottom) == pytest.approx(2)
    starts = np.array([np.asarray(segment)[0] for segment in lines(ax).get_segments()])
    inside = (starts > [left, bottom]).all(1) & (starts < [right, top]).all(1)
    assert inside.sum() == hierarchy.used_edges[0].sum()
    assert (
        sum(len(spots(artist)) for artist in circles(ax))
        == sum(map(len, hierarchy.modules)) - (members >= 0).sum()
    )
    assert overlapping(ax) == []
    assert any(re.fullmatch(r"M1: \d+ inputs", text) for text in written(ax))


def test_a_pixel_and_its_edges_are_at_the_same_place() -> None:
    edges = (np.array([[0, 0, 0, 0, 0, 1]], bool), np.ones((1, 1), bool))
    unused = frozenset((0, unit) for unit in range(5))
    hierarchy = Hierarchy(edges, (), (frozenset({(0, 5), (1, 0), (2, 0)}),), unused)
    ax = draw_hierarchy(hierarchy, image_shape=(2, 3))
    left, right, bottom, top = ax.images[0].get_extent()
    start = np.asarray(lines(ax).get_segments()[0])[0]
    expected = left + (right - left) * 5 / 6, bottom + (top - bottom) / 4
    assert start.tolist() == pytest.approx(expected)  # the last column of the last row


def test_a_large_network_is_drawn_in_time_and_saved() -> None:
    hierarchy = digits()
    assert sum(int(links.sum()) for links in hierarchy.connections) > 4000
    start = time.process_time()
    ax = draw_hierarchy(hierarchy, title="two digits")
    assert saved(ax, "png").startswith(b"\x89PNG")
    assert b"</svg>" in saved(ax, "svg")
    assert time.process_time() - start < 3
    check(ax, hierarchy)
    width, height = ax.figure.get_size_inches()  # type: ignore[union-attr]
    assert width <= 13.01
    assert height <= 11.5
    assert len(ax.collections) < 20  # not an artist for each unit or edge


def test_very_many_edges_are_an_image_in_vector_files() -> None:
    few, many = draw_hierarchy(digits()), draw_hierarchy(digits(density=0.5))
    assert len(lines(few).get_segments()) < MOST_VECTOR_EDGES < len(lines(many).get_segments())
    assert [lines(ax).get_rasterized() for ax in (few, many)] == [False, True]
    files = [saved(ax, "svg") for ax in (few, many)]
    assert [b"<image" in file for file in files] == [False, True]
    assert len(files[1]) < 4_000_000


def test_it_draws_where_it_is_told_to_and_leaves_out_names_that_do_not_fit() -> None:
    figure, axes = plt.subplots(2, 3, figsize=(9, 6))
    for ax in axes.flat:
        assert draw_hierarchy(two_parts(), ax=ax) is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    small = plt.figure(figsize=(1.5, 1.2)).add_subplot()
    draw_hierarchy(many_modules(12), ax=small)
    assert rendered(small).get_legend() is None
    assert overlapping(small) == []
    assert "y1" not in written(small)


def test_figures_grow_with_the_network_and_titles_are_plain_text() -> None:
    ax = draw_hierarchy(two_parts(), title=r"$\nonsense{ and much more than fits above so small a network")
    rendered(ax)
    title = ax.title.get_window_extent()
    assert title.x0 >= 0
    assert title.x1 <= ax.figure.bbox.x1
    widths = [draw_hierarchy(many_modules(n)).figure.get_size_inches()[0] for n in (2, 6)]  # type: ignore[union-attr]
    assert widths[0] < widths[1]


def test_hierarchies_with_nothing_or_with_units_outside_all_modules() -> None:
    dead = Hierarchy((np.zeros((1, 2), bool),), (), (), frozenset({(0, 0), (0, 1), (1, 0)}))
    assert {"no unit is used", "3 unused units left out"} <= set(written(rendered(draw_hierarchy(dead))))
    loose = Hierarchy((np.ones((1, 2), bool),), (), (frozenset({(0, 0), (1, 0)}),))
    assert [colour(artist) for artist in circles(draw_hierarchy(loose))].count(GREY) == 1
    torn = Hierarchy(
        (np.ones((1, 2), bool), np.ones((1, 1), bool)),
        (),
        (frozenset({(0, 0), (2, 0)}), frozenset({(0, 1), (1, 0)})),
    )
    assert len(draw_hierarchy(torn).patches) == 3  # one module is in two pieces


@needs_samples
@pytest.mark.parametrize("task", [[4, 2, 4], [6, 3, 3, 3], [8, 2, 1, 2, 16], [5, 3, 2, 2]])
def test_published_networks_are_drawn_whole(task: list[int]) -> None:
    found = published(task=task)
    assert len(found) >= 3
    for hierarchy in found:
        ax = draw_hierarchy(hierarchy)
        check(ax, hierarchy)
        expected = {f"x{n + 1}" for n in range(task[0])} | {f"y{n + 1}" for n in range(task[-1])}
        used = {f"{'xy'[layer > 0]}{unit + 1}" for module in hierarchy.modules for layer, unit in module
                if layer in (0, len(hierarchy.sizes) - 1)}  # fmt: skip
        assert expected & used == {text for text in written(ax) if re.fullmatch(r"[xy]\d+", text)}
