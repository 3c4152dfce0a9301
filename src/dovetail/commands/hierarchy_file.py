"""A hierarchy as a file: for machines, as a picture, or as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import SpecError
from ..io.write import check_folder, write_whole

if TYPE_CHECKING:
    from ..sculpting import Hierarchy

_PICTURES = (".png", ".svg", ".pdf")


def check_output(path: Path) -> None:
    """Refuse a file that cannot be written: of another kind, or in a folder that does not exist."""
    if path.suffix.lower() not in (".json", ".html", *_PICTURES):
        raise SpecError(f"{str(path)!r}: write a .json, .png, .svg, .pdf or .html file")
    check_folder(path)


def write_hierarchy(
    hierarchy: Hierarchy,
    path: Path,
    title: str,
    *,
    image_shape: tuple[int, int] | None = None,
    output_names: Sequence[str] | None = None,
) -> Path:
    """Write a hierarchy in the form that the file's ending says."""
    check_output(path)
    kind = path.suffix.lower()
    if kind in _PICTURES:
        return _draw(hierarchy, path, title, image_shape, output_names)
    if kind == ".json":
        text = hierarchy.to_json()
    else:
        from ..report import hierarchy_html

        text = hierarchy_html(hierarchy, title=title, output_names=output_names)
    return write_whole(path, lambda file: file.write_text(text, encoding="utf-8"))


def _draw(
    hierarchy: Hierarchy,
    path: Path,
    title: str,
    image_shape: tuple[int, int] | None,
    output_names: Sequence[str] | None,
) -> Path:
    from matplotlib import pyplot as plt
    from matplotlib.figure import Figure

    figure = hierarchy.plot(title=title, image_shape=image_shape, output_names=output_names).get_figure()
    assert isinstance(figure, Figure)
    try:
        return write_whole(path, lambda file: figure.savefig(file, format=path.suffix[1:].lower(), dpi=150))
    finally:
        plt.close(figure)
