"""Every data set by name: what it is, which options it takes, where its files are, and loading it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar, get_type_hints

from ..errors import unknown_name
from .dataset import Dataset, Split, Task
from .options import Rule, check_options, rule_for
from .sources import Source, fetch, find, open_source

Kind = Literal["embedded", "files", "generated"]
"""How a data set gets here: with a package, as official files, or made on the spot."""


class Content(NamedTuple):
    """What a data set's function returns: train, val and test. ``load`` adds the name and the options."""

    splits: Sequence[Split]
    classes: tuple[str, ...]
    task: Task = "classes"


@dataclass(frozen=True)
class DataInfo:
    """One line of the catalogue.

    Attributes
    ----------
    name, description : str
        What to call it, and what it is in one line.
    kind : {"embedded", "files", "generated"}
        Whether it comes with a package, is read from official files, or is made on the spot.
    options : dict
        The options it takes, with their defaults.
    found : Path or None
        For a set of kind "files": the folder with its files, if they are all there.
    needs : str or None
        For a generated set: the data set that it is built on by default.
    """

    name: str
    description: str
    kind: Kind
    options: dict[str, object]
    found: Path | None = None
    needs: str | None = None


@dataclass(frozen=True)
class _Entry:
    make: Callable[..., Content]
    kind: Kind
    source: Source | None
    takes_root: bool
    description: str
    rules: dict[str, Rule] = field(default_factory=dict)
    defaults: dict[str, object] = field(default_factory=dict)

    @property
    def base(self) -> str | None:
        """The data set that it is built on by default."""
        base = self.defaults.get("base")
        return None if base is None else str(base)


_ENTRIES: dict[str, _Entry] = {}

Made = TypeVar("Made", bound=Callable[..., Content])


def register(name: str, kind: Kind, source: Source | None = None) -> Callable[[Made], Made]:
    """Enter the decorated function as the data set ``name``.

    Its keyword-only parameters are the data set's options, each annotated with what it allows (see
    ``options.py``), and the first line of its docstring is the description. A function with a ``source``
    takes the folder with the files; one that builds on another data set takes ``root`` and passes it on.
    """

    def enter(make: Made) -> Made:
        hints = get_type_hints(make, include_extras=True)
        parameters = inspect.signature(make).parameters
        options = {p.name: p.default for p in parameters.values() if p.kind is p.KEYWORD_ONLY}
        _ENTRIES[name] = _Entry(
            make=make,
            kind=kind,
            source=source,
            takes_root="root" in parameters,
            description=(inspect.getdoc(make) or "").partition("\n")[0].rstrip("."),
            rules={option: rule_for(hints[option]) for option in options},
            defaults=options,
        )
        return make

    return enter


def load(name: str, root: str | Path | None = None, **options: object) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        One of the names in ``dovetail.data.catalogue()``.
    root : path, optional
        Data folder to use in place of ``$DOVETAIL_DATA``. Official files are looked for in ``root/name``,
        then in the cache (``$DOVETAIL_CACHE``), and downloaded into the cache if they are in neither.
    **options
        What the data set offers, such as ``val=0.1`` or ``variant="diff"``; the catalogue lists them.

    Returns
    -------
    Dataset
        Its ``options`` hold all options that were used, defaults included.

    Examples
    --------
    >>> data = load("lines", train_samples=100, test_samples=20, seed=1)
    >>> data
    Dataset('lines', 80/20/20, input_shape=(1, 28, 28), outputs=10)
    >>> data.options
    {'train_samples': 100, 'test_samples': 20, 'seed': 1}
    """
    entry = _entry(name)
    used = check_options(name, options, entry.rules, entry.defaults)
    inputs: list[object] = []
    if entry.source:
        inputs.append(open_source(name, entry.source, root))
    elif entry.takes_root:
        inputs.append(root)
    content = entry.make(*inputs, **used)
    train, val, test = content.splits
    return Dataset(name, train, val, test, content.classes, content.task, used)


def catalogue(root: str | Path | None = None) -> tuple[DataInfo, ...]:
    """Return what data sets there are, sorted by name.

    Examples
    --------
    >>> {info.name: info.kind for info in catalogue()}["digits"]
    'embedded'
    """
    return tuple(
        DataInfo(
            name,
            entry.description,
            entry.kind,
            dict(entry.defaults),
            find(name, entry.source, root) if entry.source else None,
            entry.base,
        )
        for name, entry in sorted(_ENTRIES.items())
    )


def get(name: str, root: str | Path | None = None) -> Path | None:
    """Make sure that a data set's files are there, downloading them if need be.

    Returns
    -------
    Path or None
        The folder with the files: the set's own, or those of the set that it is built on. None for a set that
        needs no files.
    """
    entry = _entry(name)
    if entry.source:
        return fetch(name, entry.source, root)
    return get(entry.base, root) if entry.base else None


def _entry(name: str) -> _Entry:
    try:
        return _ENTRIES[name]
    except (KeyError, TypeError):  # TypeError: a name that is not even text
        raise unknown_name("data set", name, _ENTRIES) from None
