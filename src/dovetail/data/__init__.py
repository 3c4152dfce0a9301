"""Data: real and generated, loaded by name as train, validation and test tensors.

A data set is one function in a file of ``sets/``, which says how to read or make it: ``@register`` gives it a name,
and its keyword-only parameters are its options. Official files are found or downloaded in ``sources.py``; nothing is
used before its form has been checked.
"""

from __future__ import annotations

from . import sets  # noqa: F401 (enters all data sets in the registry)
from .boolean import BooleanTask, boolean_task
from .dataset import Dataset, Split
from .registry import DataInfo, Presence, catalogue, data_spec, get, load, load_here, presence

__all__ = [
    "BooleanTask",
    "DataInfo",
    "Dataset",
    "Presence",
    "Split",
    "boolean_task",
    "catalogue",
    "data_spec",
    "get",
    "load",
    "load_here",
    "presence",
]
