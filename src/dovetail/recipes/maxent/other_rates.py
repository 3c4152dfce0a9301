"""CNNs pruned at other rates than that of the tables: several figures of the paper have them at 99 %."""

from __future__ import annotations

from ..recipe import Scale
from .condition import Condition

FEW_PAIRS = 4
"""Pairs of larger sets at other rates, of the ten in the tables: a hundred CNNs take minutes."""

CNN_DATA: dict[Scale, tuple[str, ...]] = {"paper": ("mnist", "fashion-mnist"), "smoke": ("digits",)}


def cnn_pruned_at(scale: Scale, data: str, size: int, sparsity: float) -> Condition:
    """Return CNN specialists pruned at some rate: those of the tables where it is their rate.

    Examples
    --------
    >>> cnn_pruned_at("paper", "mnist", 2, 0.6) == Condition("paper", "mnist", "cnn", 2)
    True
    """
    tables = Condition(scale, data, "cnn", size)
    if tables.train["sparsity"] == sparsity:
        return tables
    return Condition(scale, data, "cnn", size, sparsity=sparsity, pairs=FEW_PAIRS if size > 1 else None)


def drawn_cnns(scale: Scale) -> list[Condition]:
    """Return the pruned CNNs of the paper's figures: at 99 %, for single classes and larger sets."""
    sizes, data = ((1, 2, 5), "fashion-mnist") if scale == "paper" else ((2,), "digits")
    return [cnn_pruned_at(scale, data, size, 0.99) for size in sizes]


def as_drawn(condition: Condition) -> bool:
    """Whether the paper draws these specialists: networks as in its tables, but pruned CNNs at 99 %.

    Examples
    --------
    >>> as_drawn(Condition("paper", "mnist", "cnn")), as_drawn(Condition("paper", "mnist", "cnn", sparsity=0.99))
    (False, True)
    """
    return condition.as_printed != (condition.model == "cnn" and condition.pruned)
