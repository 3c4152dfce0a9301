"""Real and generated data, loaded by name as train, validation and test tensors.

A data set is one function: its file says how to read or make it, ``@register`` gives it a name, and its
keyword-only parameters are its options. Official files are found or downloaded in ``sources.py``; nothing is
read before its form has been checked.
"""

from __future__ import annotations

# Importing these enters their data sets in the registry.
from . import (  # noqa: F401
    averaged,
    cifar10,
    digits,
    har,
    idx,
    lines,
    mixture,
    noise,
    pairs,
    polynomials,
    side_by_side,
    yeast,
)
from .boolean import BooleanTask, boolean_task
from .dataset import Dataset, Split
from .local import Presence, load_here, presence
from .registry import DataInfo, catalogue, get, load
from .text import load_text

__all__ = [
    "BooleanTask",
    "DataInfo",
    "Dataset",
    "Presence",
    "Split",
    "boolean_task",
    "catalogue",
    "get",
    "load",
    "load_here",
    "load_text",
    "presence",
]
