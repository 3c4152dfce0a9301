"""Tables of results: plain ones, and ours beside what was published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from ..display import format_value
from ..markup import excerpt_html, text_html
from ..result import Result, plain

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Quantity:
    """A number with its spread, or a count out of some.

    Attributes
    ----------
    value : float
        A mean, or how often something was the case.
    spread : float, optional
        Standard deviation.
    of : int, optional
        Out of how many, for counts.
    doubt : bool
        Whether a published value is not to be trusted.

    Examples
    --------
    >>> str(Quantity(0.9926, 0.0048)), str(Quantity(11, of=12)), str(Quantity(0.991, doubt=True))
    ('0.993 (0.005)', '11/12', '0.991 ?')
    """

    value: float
    spread: float | None = None
    of: int | None = None
    doubt: bool = False

    @classmethod
    def of_sample(cls, values: Sequence[float | None]) -> Quantity | None:
        """Return mean and standard deviation of those values that are there; nothing if none is.

        Examples
        --------
        >>> str(Quantity.of_sample([1.0, None, 2.0]))
        '1.500 (0.707)'
        """
        found = [float(value) for value in values if value is not None]
        if not found:
            return None
        return cls(fmean(found), stdev(found) if len(found) > 1 else None)

    @property
    def share(self) -> float:
        """The value, or the count as a share of all."""
        return self.value / self.of if self.of else self.value

    def __str__(self) -> str:
        return self.text(3)

    def text(self, digits: int) -> str:
        """Return the quantity with this number of digits after the point."""
        mark = " ?" if self.doubt else ""
        if self.of is not None:
            return f"{self.value:g}/{self.of}{mark}"
        spread = "" if self.spread is None else f" ({self.spread:.{digits}f})"
        return f"{self.value:.{digits}f}{spread}{mark}"


@dataclass(frozen=True)
class Cell:
    """One quantity of ours and the published one.

    Attributes
    ----------
    labels : mapping
        What stands in front of a row, such as ``{"data": "mnist", "net": "shallow"}``; cells with equal labels share
        a row.
    metric : str
        The column.
    ours, published : Quantity, optional
        What there is.
    older : bool
        Whether an older version of the work gave ours; marked with a dagger.
    """

    labels: Mapping[str, object]
    metric: str
    ours: Quantity | None = None
    published: Quantity | None = None
    older: bool = False

    @property
    def difference(self) -> float | None:
        """Ours minus published; for counts, of their shares."""
        if self.ours is None or self.published is None:
            return None
        return self.ours.share - self.published.share


@dataclass(frozen=True)
class Table(Result):
    """A table as it is.

    Attributes
    ----------
    title : str
        What it shows.
    frame : DataFrame
        Its rows.
    note : str
        What a reader must know; markdown.
    digits : int
        Digits after the point.
    """

    title: str
    frame: pd.DataFrame
    note: str = ""
    digits: int = 3

    def wide(self) -> pd.DataFrame:
        """Return what a reader sees."""
        return self.frame

    def to_frame(self) -> pd.DataFrame:
        """Return its rows."""
        return self.frame

    def to_dict(self) -> dict[str, object]:
        """Return title, note and rows as plain values, ready for JSON."""
        return _plain_values(self)

    def _html_pieces(self) -> Iterable[str]:
        return _pieces(self)

    def to_markdown(self) -> str:
        """Return the table with its title, as markdown."""
        return _markdown(self.title, self.frame, self.note, self.digits)

    def __str__(self) -> str:
        return self.to_markdown()


@dataclass(frozen=True)
class Comparison(Result):
    """Ours beside the published, cell by cell.

    Attributes
    ----------
    title : str
        What it shows.
    cells : sequence of Cell
        Quantities, in the order of rows.
    note : str
        What a reader must know; markdown.
    digits : int
        Digits after the point.

    Examples
    --------
    >>> cell = Cell({"data": "mnist"}, "accuracy", Quantity(0.9926), Quantity(0.991))
    >>> print(Comparison("Pairs", [cell]).to_markdown())
    ### Pairs
    <BLANKLINE>
    | data | accuracy | published | Δ |
    |---|---|---|---|
    | mnist | 0.993 | 0.991 | +0.002 |
    <BLANKLINE>
    """

    title: str
    cells: Sequence[Cell]
    note: str = ""
    digits: int = 3

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each cell, with numbers as numbers."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    **cell.labels,
                    "metric": cell.metric,
                    "ours": cell.ours and cell.ours.value,
                    "spread": cell.ours and cell.ours.spread,
                    "of": cell.ours and cell.ours.of,
                    "published": cell.published and cell.published.value,
                    "published spread": cell.published and cell.published.spread,
                    "published of": cell.published and cell.published.of,
                    "doubt": bool(cell.published and cell.published.doubt),
                    "difference": cell.difference,
                }
                for cell in self.cells
            ]
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each cell, with numbers as numbers."""
        return self.frame

    def to_dict(self) -> dict[str, object]:
        """Return title, note and rows as plain values, ready for JSON."""
        return _plain_values(self)

    def _html_pieces(self) -> Iterable[str]:
        return _pieces(self)

    def wide(self) -> pd.DataFrame:
        """Return what a reader sees: for each metric ours, the published and the difference."""
        import pandas as pd

        metrics = list(dict.fromkeys(cell.metric for cell in self.cells))
        printed = {cell.metric for cell in self.cells if cell.published is not None}
        rows: dict[tuple[object, ...], dict[str, str]] = {}
        for cell in self.cells:
            row = rows.setdefault(
                tuple(cell.labels.items()), {n: format_value(v, self.digits) for n, v in cell.labels.items()}
            )
            row[cell.metric] = "–" if cell.ours is None else cell.ours.text(self.digits) + " †" * cell.older
            if cell.metric in printed:
                row[f"{cell.metric} published"] = (
                    "–" if cell.published is None else cell.published.text(self.digits)
                )
                row[f"{cell.metric} Δ"] = (
                    "–" if cell.difference is None else f"{cell.difference:+.{self.digits}f}"
                )
        columns = list(dict.fromkeys(name for cell in self.cells for name in cell.labels))
        for metric in metrics:
            columns += [metric] + ([f"{metric} published", f"{metric} Δ"] if metric in printed else [])
        return pd.DataFrame(list(rows.values()), columns=columns).fillna("–")

    def by_metric(self) -> list[Comparison]:
        """Return a table for each metric, for readers with little room."""
        metrics = dict.fromkeys(cell.metric for cell in self.cells)
        return [
            Comparison(self.title, [cell for cell in self.cells if cell.metric == metric], digits=self.digits)
            for metric in metrics
        ]

    def __str__(self) -> str:
        return self.to_markdown()

    def to_markdown(self) -> str:
        """Return the table with its title, as markdown."""
        wide = self.wide()
        short = [
            name.rpartition(" ")[2] if name.endswith((" published", " Δ")) else name for name in wide.columns
        ]
        return _markdown(self.title, wide.set_axis(short, axis=1), self.note, self.digits)


def _plain_values(table: Table | Comparison) -> dict[str, object]:
    return {"title": table.title, "note": table.note, "rows": plain(table.frame.to_dict("records"))}


def _pieces(table: Table | Comparison) -> list[str]:
    return [text_html(table.title), excerpt_html(table.wide(), table.digits), text_html(table.note)]


def _markdown(title: str, frame: pd.DataFrame, note: str, digits: int) -> str:
    lines = [f"### {title}", ""]
    if note:
        lines += [note, ""]
    cells = [[str(name) for name in frame.columns]]
    cells += [
        [format_value(value, digits) for value in row] for row in frame.itertuples(index=False, name=None)
    ]
    escaped = [[text.replace("|", "\\|").replace("\n", " ") for text in row] for row in cells]
    lines += [f"| {' | '.join(escaped[0])} |", "|" + "---|" * len(escaped[0])]
    lines += [f"| {' | '.join(row)} |" for row in escaped[1:]]
    return "\n".join(lines) + "\n"
