"""Content: what reading or making a data set gives, before it has a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .preparation import Preparation
from .split import Split, Task


class ColumnFacts(NamedTuple):
    """What is in a column of a table: its name, its kind, and how many of its values are missing."""

    name: str
    kind: str
    missing: int


class Content(NamedTuple):
    """Train, validation and test split with what they mean; see `Dataset` for each."""

    splits: Sequence[Split]
    classes: tuple[str, ...]
    task: Task = "classes"
    preparation: Preparation | None = None
    notes: tuple[str, ...] = ()
    columns: tuple[ColumnFacts, ...] = ()
