"""A data set and its options as one text, for command lines."""

from __future__ import annotations

from pathlib import Path

from ..errors import SpecError
from .dataset import Dataset
from .registry import load


def load_text(text: str, root: str | Path | None = None) -> Dataset:
    """Load the data set that a text such as ``"har:features=time,classes=5"`` stands for.

    Parameters
    ----------
    text : str
        Its name, and after a colon its options.
    root : path, optional
        As for `load`.

    Examples
    --------
    >>> load_text("lines:train_samples=100,test_samples=20").options["test_samples"]
    20
    """
    name, options = read_text(text)
    return load(name, root, **options)


def read_text(text: str) -> tuple[str, dict[str, object]]:
    """Return the name and the options in such a text.

    Examples
    --------
    >>> read_text("har:features=time,classes=5")
    ('har', {'features': 'time', 'classes': 5})
    """
    name, _, rest = text.partition(":")
    options: dict[str, object] = {}
    for pair in rest.split(",") if rest else []:
        option, equals, value = pair.partition("=")
        if not equals:
            raise SpecError(
                f"data is written NAME or NAME:option=value,...; {pair!r:.40} in {text!r:.80} has no '='"
            )
        option = option.strip()
        if option in ("name", "root"):
            raise SpecError(f"{option!r} in {text!r:.80} is no option of a data set")
        if option in options:
            raise SpecError(f"option {option!r:.40} is given twice in {text!r:.80}")
        options[option] = _value(value.strip())
    return name.strip(), options


def _value(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
