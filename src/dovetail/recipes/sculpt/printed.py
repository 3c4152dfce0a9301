"""What the paper's Tables 1 to 3 say: words and crosses beside numbers."""

from __future__ import annotations

from ..published_values import read_published


def printed_success(table: int, structure: str, **labels: object) -> str | None:
    """Return the entry of a cell as it is printed; nothing for cells that are not there or were lost.

    Examples
    --------
    >>> printed_success(1, "input separable", hidden_layers=2, width=24)
    'not_rejected'
    >>> printed_success(2, "reused", hidden_layers=3, lr=0.1, batch_size=2)
    'x'
    """
    wanted = {"table": table, "task": structure.replace(" ", "_"), **labels}
    for row in read_published("sculpting_tables"):
        if all(row[key] == str(value) for key, value in wanted.items()):
            return row["success"] or None
    return None
