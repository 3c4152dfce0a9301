"""Published values: what the papers printed, as it stands in ``published/*.csv``."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from .tables import Quantity

PublishedFile = Literal[
    "maxent_table1",
    "maxent_table4",
    "sculpting_settings",
    "sculpting_success",
    "sculpting_tables",
    "clusterability_tables",
]


@cache
def read_published(name: PublishedFile) -> tuple[Mapping[str, str], ...]:
    """Return the rows of a file.

    Examples
    --------
    >>> read_published("maxent_table1")[0]["dataset"]
    'mnist'
    """
    text = (files(__package__) / "published" / f"{name}.csv").read_text(encoding="utf-8")
    return tuple(MappingProxyType(row) for row in csv.DictReader(text.splitlines()))


def published(name: PublishedFile, **labels: object) -> Quantity | None:
    """Return the quantity whose row has these labels; nothing where the paper has a dash, or no such row.

    Examples
    --------
    >>> str(published("maxent_table4", dataset="mnist", model="shallow", rewarded=1, imp="yes", loss="me",
    ...               metric="rewarded_accuracy"))
    '0.991 (0.005)'
    """
    wanted = {key: str(value) for key, value in labels.items()}
    for row in read_published(name):
        if all(row[key] == value for key, value in wanted.items()):
            return _quantity(row)
    return None


def published_columns(name: PublishedFile, **labels: object) -> dict[str, Quantity | None]:
    """Return by metric all quantities whose rows have these labels; of several for one metric the first.

    Examples
    --------
    >>> str(published_columns("maxent_table1", dataset="mnist", model="cnn", imp="yes")["rewarded_accuracy"])
    '0.994 (0.005)'
    """
    wanted = {key: str(value) for key, value in labels.items()}
    found: dict[str, Quantity | None] = {}
    for row in read_published(name):
        if all(row[key] == value for key, value in wanted.items()):
            found.setdefault(row["metric"], _quantity(row))
    return found


def _quantity(row: Mapping[str, str]) -> Quantity | None:
    doubt = row.get("suspect") == "yes"
    count, _, of = row.get("fraction", "").partition("/")
    if of:
        return Quantity(float(count), of=int(of), doubt=doubt)
    if row.get("trials"):
        return Quantity(float(row["successes"]), of=int(row["trials"]), doubt=doubt)
    value, spread = row.get("mean") or row.get("value"), row.get("sd")
    return Quantity(float(value), float(spread) if spread else None, doubt=doubt) if value else None
