"""Every data set by name: what it is, which options it takes, where its files are, and loading it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args, get_origin, get_type_hints

from ..errors import DataError, SpecError
from ..spec import Option, Rule, Spec, choice, read_spec, settle_options, share, whole
from .content import Content
from .dataset import Dataset
from .files import Files
from .own.path_options import in_python
from .sources import Source, fetch, find, open_source

Kind = Literal["embedded", "files", "generated"]
"""How a data set gets here: with a package, as official files, or made on the spot."""

# What an option of a data set may be annotated with, beside a Literal.
Seed = Annotated[int, whole(0)]
Samples = Annotated[int, whole(10, 1_000_000)]
"""How many samples to make. Ten is the least that leaves every split something; more than a million fill memory."""
Pairs = Annotated[int, whole(10, 10_000)]
"""How many pairs to make of each combination of classes, of which there are a hundred."""
Fraction = Annotated[float, share(zero=False)]
ImageSet = Annotated[
    str,
    Rule(
        "the name of a set of one-channel images, such as mnist",
        lambda value: value if isinstance(value, str) else None,
    ),
]


LoadBase = Callable[[str], Dataset]
"""Loads a data set that another is built on, from the same folders."""


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
    description: str
    options: dict[str, Option] = field(default_factory=dict)

    @property
    def base(self) -> str | None:
        """The data set that it is built on by default."""
        return str(self.options["base"].default) if "base" in self.options else None


_ENTRIES: dict[str, _Entry] = {}

Made = TypeVar("Made", bound=Callable[..., Content])


def register(name: str, kind: Kind, source: Source | None = None) -> Callable[[Made], Made]:
    """Enter the decorated function as the data set ``name``.

    Its keyword-only parameters are the data set's options, each annotated with what it allows, and the first line of
    its docstring is the description. A function with a ``source`` takes the `Files`; one with an option ``base``, which
    builds on another data set, takes the function that loads that.
    """

    def enter(make: Made) -> Made:
        hints = get_type_hints(make, include_extras=True)
        options = [
            Option(one.name, one.default, _rule_for(hints[one.name]))
            for one in inspect.signature(make).parameters.values()
            if one.kind is one.KEYWORD_ONLY
        ]
        description = (inspect.getdoc(make) or "").partition("\n")[0].rstrip(".")
        _ENTRIES[name] = _Entry(make, kind, source, description, {option.name: option for option in options})
        return make

    return enter


def _rule_for(annotation: object) -> Rule:
    if get_origin(annotation) is Literal:
        return choice(*get_args(annotation))
    rules = [extra for extra in get_args(annotation) if isinstance(extra, Rule)]
    if len(rules) != 1:
        raise TypeError(f"an option needs a Literal or an annotation with one Rule, not {annotation!r}")
    return rules[0]


def data_spec(text: str) -> Spec:
    """Return the name and the options in a text such as ``"har:features=time,classes=5"``.

    Examples
    --------
    >>> spec = data_spec("har:features=time,classes=5")
    >>> spec.name, spec.options
    ('har', {'features': 'time', 'classes': 5})
    """
    spec = read_spec(text, "data set", _ENTRIES)
    if spec.sizes:
        raise SpecError(f"a data set has no sizes, only options, written name=value; got {text!r:.80}")
    return spec


def load(name: str, root: str | Path | None = None, *, shortened: bool = False, **options: object) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        One of the names in ``dovetail.data.catalogue()``; options can be part of it, as in
        ``"har:features=time,classes=5"``.
    root : path, optional
        Data folder to use in place of ``$DOVETAIL_DATA``. Official files are looked for in ``root/name``,
        then in the cache (``$DOVETAIL_CACHE``), and downloaded into the cache if they are in neither.
    shortened : bool
        Whether to take files of the official form that hold other numbers of samples, such as a few rows to try
        something with. They are refused otherwise, because they are most likely damaged.
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
    >>> load("lines:train_samples=100,test_samples=20,seed=1").fingerprint == data.fingerprint
    True
    """
    spec = _spec_to_load(name)
    entry = _ENTRIES[spec.name]
    used = settle_options(spec.name, [*spec.options.items(), *options.items()], entry.options)
    inputs: list[object] = []
    if entry.source:
        inputs.append(Files(open_source(spec.name, entry.source, root), shortened))
    elif entry.base:
        inputs.append(lambda base: load(base, root, shortened=shortened))
    content = entry.make(*inputs, **used)
    return Dataset.from_content(spec.name, content, dict(used))


def _spec_to_load(name: str) -> Spec:
    """Return the name and the options in a text; of a path, the error says what reads it."""
    try:
        return data_spec(name)
    except SpecError:
        call = in_python(str(name)) if isinstance(name, str | Path) else None
        if call is None or re.split("[:,]", str(name), maxsplit=1)[0].strip() in _ENTRIES:
            raise
        raise SpecError(
            f"unknown data set {str(name)!r:.200}: load takes names, and this is a file or folder; write {call}"
        ) from None


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
            {option.name: option.default for option in entry.options.values()},
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
    spec = data_spec(name)
    entry = _ENTRIES[spec.name]
    used = settle_options(spec.name, spec.options.items(), entry.options)
    if entry.source:
        return fetch(spec.name, entry.source, root)
    return get(str(used["base"]), root) if entry.base else None


@dataclass(frozen=True)
class Presence:
    """Whether a data set can be loaded without a download; else ``note`` says why not and what to do."""

    name: str
    here: bool
    note: str = ""


def presence(name: str, **options: object) -> Presence:
    """Return whether a data set can be loaded without a download: looking at something must never start one.

    Parameters
    ----------
    name : str
        What it is called. Often a file says so, so it can be any text.
    **options
        As for `load`; they can name another set that it is built on.

    Examples
    --------
    >>> presence("digits")
    Presence(name='digits', here=True, note='')
    >>> presence("my own").note
    "'my own' is no data set that dovetail loads by name"
    """
    try:
        known = {info.name: info for info in catalogue()}
    except DataError as error:  # a folder for data that cannot be looked into
        return Presence(name, False, str(error))
    if name not in known:
        return Presence(name, False, f"{name!r:.100} is no data set that dovetail loads by name")
    missing = _missing_files(known[name], known, options.get("base"))
    if missing is None:
        return Presence(name, True)
    return Presence(
        name,
        False,
        f"the files of {missing} are not on this machine; get them with: dovetail data get {missing}",
    )


def load_here(name: str, **options: object) -> Dataset:
    """Load a data set that is on this machine.

    Parameters
    ----------
    name : str
        What it is called.
    **options
        As for `load`.

    Raises
    ------
    DataError
        When it is not here, with the way out.

    Examples
    --------
    >>> load_here("digits").name
    'digits'
    """
    there = presence(name, **options)
    if not there.here:
        raise DataError(there.note)
    return load(name, None, **options)  # type: ignore[arg-type]


def _missing_files(info: DataInfo, known: dict[str, DataInfo], base: object = None) -> str | None:
    """Return the data set whose files are not here, of one and those that it is built on."""
    if info.kind == "files":
        return None if info.found else info.name
    # A base that does not exist is refused by the data set itself, in better words.
    below = known.get(str(base or info.needs))
    return _missing_files(below, known) if below else None
