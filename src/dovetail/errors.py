"""Errors: one base class, so that ``except DovetailError`` catches every foreseen problem."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_MOST_CHARACTERS = 80
_MOST_LISTED = 800


class DovetailError(Exception):
    """A problem that Dovetail foresaw.

    The message names the value that was wrong and the way out. The command line prints it as one line and
    exits with status 1.
    """


class DataError(DovetailError):
    """Data that is missing, damaged, or cannot be used as asked."""


class SpecError(DovetailError):
    """A name, option or description that Dovetail does not understand."""


class ShapeError(DovetailError):
    """Tensors, masks or members whose shapes do not fit together."""


class TrainingError(DovetailError):
    """Training that cannot start or cannot go on."""


class MisfitError(DovetailError):
    """Specialists that do not fit together."""


class FileFormatError(DovetailError):
    """A file that is not ours, is damaged, or was altered."""


class DovetailWarning(UserWarning):
    """Something that works, and not as one would expect; the command line prints it as one line."""


class CompatibilityWarning(DovetailWarning):
    """Specialists that can be added up but will get in each other's way."""


class TrainingWarning(DovetailWarning):
    """A training that came to its end and did not do what it was for."""


def unknown_name(what: str, name: object, known: Iterable[str]) -> SpecError:
    """Return the error for a name that is not known, with the nearest names and the whole list.

    Examples
    --------
    >>> str(unknown_name("data set", "MNST", ["mnist", "digits"]))
    "unknown data set 'MNST'; did you mean 'mnist'? Known: digits, mnist"
    """
    known = sorted(known)
    shown = str(name)[:_MOST_CHARACTERS]  # comparing takes time and memory, and the message is one line
    quoted = repr(name) if len(shown) < _MOST_CHARACTERS else f"{shown!r}…"
    in_small_letters = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(shown.casefold(), in_small_letters, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(repr(in_small_letters[one]) for one in near)}?" if near else "."
    listed = ", ".join(known)
    if len(listed) > _MOST_LISTED:
        listed = f"{listed[:_MOST_LISTED]}, …"
    return SpecError(f"unknown {what} {quoted}{hint} Known: {listed}")


@contextmanager
def explained(what: str, way_out: str = "") -> Iterator[None]:
    """Say what could not be done, and the way out, where the system only says why.

    Examples
    --------
    >>> with explained("cannot read the list", "look again"):
    ...     raise PermissionError(13, "Permission denied")
    Traceback (most recent call last):
    dovetail.errors.DovetailError: cannot read the list: Permission denied; look again
    """
    try:
        yield
    except OSError as error:
        raise DovetailError(f"{what}: {error.strerror or error}{way_out and '; '}{way_out}") from error


_CPU_SIGN = "can't allocate memory"
"""In what torch says when a CPU's memory is full; it has no class of its own for that error."""

_GPU_CLASS = "OutOfMemoryError"
"""Its class for GPUs, by name: the command line asks before anybody has imported torch."""


def memory_is_full(error: BaseException) -> bool:
    """Return whether an error says that memory is full, of a CPU or a GPU.

    Examples
    --------
    >>> memory_is_full(RuntimeError("DefaultCPUAllocator: can't allocate memory")), memory_is_full(RuntimeError("size"))
    (True, False)
    """
    return isinstance(error, MemoryError) or type(error).__name__ == _GPU_CLASS or _CPU_SIGN in str(error)
