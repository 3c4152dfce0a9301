"""Parquet: tables of typed columns, read by pyarrow once their metadata say that memory holds them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from ...errors import DataError
from ..preparation.base import MOST_FEATURES
from .csv_file import MOST_MEMORY

_FIRST_SAFE = 15
"""Versions of pyarrow before let files run code, or may."""


def read_parquet(path: Path) -> pd.DataFrame:
    """Return the table in a ``.parquet`` file.

    Raises
    ------
    DataError
        Without pyarrow, or for a file that is damaged or comes to more than memory holds.
    """
    try:
        version = str(import_module("pyarrow").__version__)
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise DataError(
            f"reading {path} needs the package pyarrow, which is not installed; install it, or save the table as .csv"
        ) from error
    if int(version.partition(".")[0]) < _FIRST_SAFE:
        raise DataError(f"pyarrow {version} is too old to read {path} safely; install {_FIRST_SAFE} or newer")
    try:
        with parquet.ParquetFile(path) as file:
            _check(path, file.metadata)
        # Texts that are written once in the file stay so in memory.
        texts = [column.path for column in _columns(file.schema) if column.physical_type == "BYTE_ARRAY"]
        with parquet.ParquetFile(path, read_dictionary=texts) as file:
            frame: pd.DataFrame = file.read().to_pandas(ignore_metadata=True)
    except DataError:
        raise
    except Exception as error:  # errors of damaged files are of many kinds
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path} cannot be read as a parquet file ({reason}); write it again") from error
    return pd.DataFrame(
        {
            place: column.astype(object) if isinstance(column.dtype, pd.CategoricalDtype) else column
            for place, column in enumerate(frame.iloc[:, place] for place in range(frame.shape[1]))
        }
    ).set_axis(frame.columns, axis=1)


def _columns(schema: Any) -> list[Any]:
    return [schema.column(place) for place in range(len(schema))]


def _check(path: Path, metadata: Any) -> None:
    columns, rows = metadata.num_columns, metadata.num_rows
    if columns > MOST_FEATURES:
        raise DataError(f"{path} has {columns:,} columns, and {MOST_FEATURES:,} are the most")
    groups = (metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))
    if max(8 * columns * rows, sum(groups)) > MOST_MEMORY:
        raise DataError(
            f"{path} holds {rows:,} rows of {columns:,} columns, which take more than {MOST_MEMORY / 2**30:g} GiB of "
            "memory; read it in parts, or make arrays of it (.npy), which may be larger than memory"
        )
