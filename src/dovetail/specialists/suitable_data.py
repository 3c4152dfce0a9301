"""Whether specialists can be measured on some data, and what to say where it is not what they were trained on."""

from __future__ import annotations

from typing import Protocol

from ..data.dataset import Task
from ..errors import DataError
from .basis import Basis
from .class_sets import named
from .specialist import Record


class DataFacts(Protocol):
    """What must be known of data; a `Dataset` has all of it."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def task(self) -> Task: ...  # noqa: D102
    @property
    def classes(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def input_shape(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def fingerprint(self) -> str: ...  # noqa: D102


def check_data(basis: Basis, data: DataFacts) -> None:
    """Refuse data whose numbers would mean nothing: other classes, or samples of another shape.

    Raises
    ------
    DataError
        With the way out.
    """
    if data.task != "classes":
        raise DataError(f"{data.name} has no classes to measure on; choose data with classes")
    if data.classes != basis.classes or data.input_shape != basis.input_shape:
        raise DataError(
            f"{data.name} here has other classes or samples of another shape than these specialists were trained for "
            f"({_facts(data.classes, data.input_shape)} and not {_facts(basis.classes, basis.input_shape)}), so they "
            "cannot be measured on it; it needs the options of their training"
        )


def _facts(classes: tuple[str, ...], shape: tuple[int, ...]) -> str:
    names = named(range(len(classes)), classes, most=5)
    return f"{len(classes)} classes, {names}, of samples {' × '.join(map(str, shape))}"


def data_note(record: Record, data: DataFacts) -> str:
    """Return what to know about numbers on data that fits; empty where it is just what they were trained on.

    Numbers that are looked at may come from other data of the same kind, as long as that is said beside them.
    """
    if record.fingerprint == data.fingerprint:
        return ""
    return (
        f"{data.name} here ({data.fingerprint}) is not what they were trained on ({record.fingerprint}), perhaps for "
        "other options; some of these test samples may have been used in training"
    )
