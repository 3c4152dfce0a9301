"""What is no samples, though it holds some: data sets and loaders, which have labels too."""

from __future__ import annotations

from torch.utils.data import DataLoader, Dataset

from ...errors import DataError
from ..split import Split


def refuse_data_set(raw: object) -> None:
    """Refuse data sets in place of raw samples, and say how to get at their samples; do nothing about anything else.

    Raises
    ------
    DataError
        For data sets of torch, of Hugging Face and of Dovetail, and for loaders.

    Examples
    --------
    >>> refuse_data_set(DataLoader([(1.0, 0)]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dovetail.errors.DataError: raw samples without labels are wanted, and this is a DataLoader; write torch.cat(...
    """
    if isinstance(raw, DataLoader):
        way = "torch.cat([x for x, y in loader]), or for pictures and texts [x for x, y in loader.dataset]"
    elif isinstance(raw, Dataset):
        way = "torch.stack([x for x, y in dataset]), or for pictures and texts [x for x, y in dataset]"
    elif hasattr(raw, "column_names") and hasattr(raw, "features"):
        way = "dataset['image'] or dataset['text'], whatever the column of samples is called, or dataset.to_pandas()"
    elif isinstance(getattr(raw, "test", None), Split):
        way = "data.test, a split whose samples are prepared already"
    else:
        return
    raise DataError(f"raw samples without labels are wanted, and this is a {type(raw).__name__}; write {way}")
