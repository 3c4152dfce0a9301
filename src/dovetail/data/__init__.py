"""Data: real and generated, loaded by name, or read from files of one's own, as train, validation and test tensors.

A data set is one function in a file of ``sets/``, which says how to read or make it: ``@register`` gives it a name,
and its keyword-only parameters are its options. Official files are found or downloaded in ``sources.py``; nothing is
used before its form has been checked. Data of users is read in ``own/``, and what is done to it is a ``preparation/``.
"""

from __future__ import annotations

from . import sets  # noqa: F401 (enters all data sets in the registry)
from .boolean import BooleanTask, boolean_task
from .check import DataCheck, check_data
from .dataset import Dataset
from .open_data import open_data
from .own.read import read
from .own.samples import Samples, read_samples
from .preparation import Preparation
from .registry import DataInfo, Presence, catalogue, data_spec, get, load, load_here, presence
from .split import Split

__all__ = [
    "BooleanTask",
    "DataCheck",
    "DataInfo",
    "Dataset",
    "Preparation",
    "Presence",
    "Samples",
    "Split",
    "boolean_task",
    "catalogue",
    "check_data",
    "data_spec",
    "get",
    "load",
    "load_here",
    "open_data",
    "presence",
    "read",
    "read_samples",
]
