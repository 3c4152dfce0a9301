"""The data that specialists were trained on, if it is on this machine. Nothing is downloaded for a report."""

from __future__ import annotations

from ..data import Dataset, catalogue, load_text
from ..errors import DataError
from ..specialists import Specialist


def find_data(part: Specialist, text: str | None = None) -> Dataset:
    """Return the data that a specialist was trained on.

    Parameters
    ----------
    part : Specialist
        Whose manifest names the data, and has its fingerprint.
    text : str, optional
        Data to take instead, such as ``"har:features=time"``; it must have the same classes.

    Raises
    ------
    DataError
        When it is not here, or is not the same data, with the way out.
    """
    wanted = text or part.record.data
    name = wanted.partition(":")[0].strip()
    known = {info.name: info for info in catalogue()}
    if name not in known:
        raise DataError(f"there is no data set {name!r} here; name the data with --data")
    info = known[name]
    files = info if info.kind == "files" else known.get(info.needs or "")
    if files is not None and files.kind == "files" and files.found is None:
        raise DataError(
            f"the files of {files.name} are not on this machine; get them with: dovetail data get {files.name}"
        )
    data = load_text(wanted)
    if data.classes != part.classes or data.input_shape != part.basis.input_shape:
        raise DataError(
            f"{wanted} has other classes or inputs than {part!r} was trained for; name the data with --data"
        )
    if text is None and data.fingerprint != part.record.fingerprint:
        raise DataError(
            f"{wanted} here is not the data they were trained on (fingerprint {data.fingerprint}, theirs "
            f"{part.record.fingerprint}), perhaps because of its options; name it with --data NAME:option=value"
        )
    return data
