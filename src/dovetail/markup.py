"""HTML of tables and pictures, for notebooks and for pages: every text in it is escaped, and nothing needs a script."""

from __future__ import annotations

import numbers
from base64 import b64encode
from collections.abc import Iterable, Mapping
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from .display import format_value, printable

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Marks = Mapping[tuple[int, int], str]
"""Classes of cells, by row and column from 0."""
Shades = Mapping[tuple[int, int], float]
"""How dark cells are, from 0 to 1, by row and column from 0."""

MOST_ROWS, MOST_COLUMNS = 60, 40
"""Of a table in a notebook."""

_NAMES_IN_DIGITS = ("seed",)
"""Columns of whole numbers that are names and no counts."""

# No colour of text and none of paper, which are the notebook's, light or dark. Grey and blue let either shine through.
_STYLE = """
.dovetail-result table { border-collapse: collapse; border: 0; margin: 0.4em 0; }
.dovetail-result th, .dovetail-result td { border: 0; border-bottom: 1px solid rgba(127, 127, 127, 0.35);
  padding: 0.15em 0.6em; text-align: left; vertical-align: top; white-space: normal; }
.dovetail-result .number { text-align: right; font-variant-numeric: tabular-nums; }
.dovetail-result p { margin: 0.4em 0; max-width: 60em; }
.dovetail-result .wide { overflow-x: auto; }
.dovetail-result img { background: white; max-width: 100%; }
"""


def table_html(
    table: pd.DataFrame, digits: int = 4, marks: Marks | None = None, shades: Shades | None = None
) -> str:
    """Return a table with numbers to the right and, where the index has names, these in front.

    Parameters
    ----------
    table : DataFrame
        What to show.
    digits : int
        Decimals of numbers that are not whole.
    marks : mapping of (int, int) to str, optional
        Classes for single cells; numbers that come as text can be put to the right so.
    shades : mapping of (int, int) to float, optional
        How dark the paper of single cells is, from 0 to 1.

    Examples
    --------
    >>> import pandas as pd
    >>> print(table_html(pd.DataFrame({"part": ["<3>"], "entropy": [2.30259]}), digits=2))
    <table>
    <thead>
    <tr><th scope="col">part</th><th scope="col" class="number">entropy</th></tr>
    </thead>
    <tbody>
    <tr><td>&lt;3&gt;</td><td class="number">2.30</td></tr>
    </tbody>
    </table>
    """
    import pandas as pd

    named = table.index.name is not None or not table.index.equals(pd.RangeIndex(len(table)))
    marks, shades = marks or {}, shades or {}
    kinds = [
        "number" if pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) else ""
        for kind in table.dtypes
    ]
    counts = [str(name) not in _NAMES_IN_DIGITS for name in table.columns]
    # A heading stands where the numbers below it do.
    heads = [
        kind or ("number" if "number" in marks.get((0, place), "") else "")
        for place, kind in enumerate(kinds)
    ]
    head = [f'<th scope="col">{_label(list(table.index.names))}</th>'] if named else []
    head += [
        f'<th scope="col"{_classed(kind)}>{_label(name)}</th>'
        for name, kind in zip(table.columns, heads, strict=True)
    ]
    rows = []
    for row, (name, values) in enumerate(
        zip(table.index, table.itertuples(index=False, name=None), strict=True)
    ):
        cells = [f'<th scope="row">{_label(name)}</th>'] if named else []
        cells += [
            f"<td{_classed(marks.get((row, place), kind))}{_shaded(shades.get((row, place), 0.0))}>"
            f"{escape(_cell(value, digits, apart=apart))}</td>"
            for place, (value, kind, apart) in enumerate(zip(values, kinds, counts, strict=True))
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(rows)
    return f"<table>\n<thead>\n<tr>{''.join(head)}</tr>\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _cell(value: object, digits: int, *, apart: bool) -> str:
    """Return a value as a table has it: the thousands of a count are set apart."""
    if apart and isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return f"{int(value):,}"
    return format_value(value, digits)


def excerpt_html(
    table: pd.DataFrame, digits: int = 4, marks: Marks | None = None, shades: Shades | None = None
) -> str:
    """Return a table as a notebook shows it: its first rows and columns, and how many more there are.

    Examples
    --------
    >>> import pandas as pd
    >>> excerpt_html(pd.DataFrame({"step": range(100)})).splitlines()[-1]
    '<p>and 40 more rows</p>'
    """
    rows, columns = table.shape
    shown = table.iloc[:MOST_ROWS, :MOST_COLUMNS]
    more = [
        f"{count - most:,} more {what}{'s' * (count - most > 1)}"
        for count, most, what in ((rows, MOST_ROWS, "row"), (columns, MOST_COLUMNS, "column"))
        if count > most
    ]
    text = f'<div class="wide">\n{table_html(shown, digits, marks, shades)}\n</div>'
    return text + (f"\n<p>and {' and '.join(more)}</p>" if more else "")


def matrix_html(counts: pd.DataFrame) -> str:
    """Return counts by row and column, as of a confusion matrix: the darker, the more of its row; 0 is left empty.

    Examples
    --------
    >>> import pandas as pd
    >>> counts = pd.DataFrame([[3, 1], [0, 4]], pd.Index(["cat", "dog"], name="true"), ["cat", "dog"])
    >>> matrix_html(counts).count("background"), matrix_html(counts).count(">0<")
    (3, 0)
    """
    import numpy as np
    import pandas as pd

    values = counts.to_numpy()
    shares = values / np.maximum(values.sum(1, keepdims=True), 1)
    cells = list(np.ndindex(*values[:MOST_ROWS, :MOST_COLUMNS].shape))
    texts = pd.DataFrame(np.where(values == 0, "", values.astype(str)), counts.index, counts.columns)
    return excerpt_html(
        texts, marks=dict.fromkeys(cells, "number"), shades={cell: float(shares[cell]) for cell in cells}
    )


def text_html(text: str) -> str:
    """Return text as paragraphs, one for each line.

    Examples
    --------
    >>> text_html("cats & dogs")
    '<p>cats &amp; dogs</p>'
    """
    return "\n".join(f"<p>{escape(printable(line))}</p>" for line in text.splitlines() if line.strip())


def facts_html(facts: Mapping[str, object], digits: int = 4) -> str:
    """Return names and what there is to say about each, one below the other.

    Examples
    --------
    >>> print(facts_html({"samples": 360}))
    <table>
    <tbody>
    <tr><th scope="row">samples</th><td>360</td></tr>
    </tbody>
    </table>
    """
    rows = "\n".join(
        f'<tr><th scope="row">{escape(printable(name))}</th><td>{escape(format_value(value, digits))}</td></tr>'
        for name, value in facts.items()
    )
    return f"<table>\n<tbody>\n{rows}\n</tbody>\n</table>"


def picture_html(ax: Axes, what: str) -> str:
    """Return the figure of some axes as a picture that stands in the text itself, and close it.

    Closed, because a notebook would show it a second time, and pyplot would keep it for ever.

    Parameters
    ----------
    ax : Axes
        What is drawn.
    what : str
        What it shows, for those who cannot see it.
    """
    from matplotlib import pyplot as plt
    from matplotlib.figure import Figure

    figure, file = ax.get_figure(), BytesIO()
    assert isinstance(figure, Figure)
    try:
        figure.savefig(file, format="svg")
    finally:
        plt.close(figure)
    # As an image, it can run nothing, and its names cannot meet those of another picture on the same page.
    content = b64encode(file.getvalue()).decode()
    return f'<img alt="{escape(printable(what))}" src="data:image/svg+xml;base64,{content}">'


def notebook_html(pieces: Iterable[str]) -> str:
    """Return pieces of HTML, one below the other, with the style that notebooks need for them."""
    body = "\n".join(pieces)
    return f'<div class="dovetail-result">\n<style>{_STYLE}</style>\n{body}\n</div>'


def _classed(name: str) -> str:
    return f' class="{name}"' if name else ""


def _shaded(share: float) -> str:
    """Return the style of a cell; at most so dark that black text, or white on black, can be read on it."""
    return f' style="background: rgba(0, 114, 178, {0.65 * share:.2f})"' if share > 0 else ""


def _label(name: object) -> str:
    """Return the name of a row or column; several levels of names become one."""
    levels = name if isinstance(name, tuple | list) else [name]
    return escape(printable(", ".join(str(level) for level in levels if level is not None)))
