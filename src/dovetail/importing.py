"""Code of users, ``package.module:name``: imported because somebody typed its name, never because a file says so."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from .errors import DovetailError, SpecError, unknown_name

TRUSTED: set[str] = set()
"""Packages whose code may be imported because a file names it: those that were typed after ``dovetail --trust``."""

_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_IN_A_FILE = re.compile(r"(.+)\.py:([A-Za-z_][\w.]*)")


def is_code(text: str, what: str = "function") -> bool:
    """Return whether a text has the form ``package.module:name``.

    Parameters
    ----------
    text : str
        What was typed.
    what : str
        What is named, for messages.

    Raises
    ------
    SpecError
        For a name in a file, ``models.py:build``, with the name of its module.

    Examples
    --------
    >>> is_code("models.small:build"), is_code("wine.csv:target=quality"), is_code("mlp")
    (True, False, False)
    """
    in_a_file = _IN_A_FILE.fullmatch(text)
    if in_a_file:
        module = in_a_file[1].removeprefix("./").replace("/", ".")
        raise SpecError(
            f"{text!r:.200} names a file; a {what} is named by its module: {module}:{in_a_file[2]}"
        )
    return bool(_NAME.fullmatch(text))


def found(text: str, what: str) -> Any:
    """Return what ``package.module:name`` stands for; the module is imported for it.

    Parameters
    ----------
    text : str
        The name. Modules are looked for in the current folder too.
    what : str
        What is named, for messages: "builder", "loss".

    Raises
    ------
    SpecError
        When there is no such module, or no such name in it.
    DovetailError
        When importing fails, with the reason.

    Examples
    --------
    >>> found("math:sqrt", "function")(9)
    3.0
    """
    module_name, _, path = text.partition(":")
    # What that code prints is not part of our answer, which may be JSON.
    with _here_first(), redirect_stdout(sys.stderr):
        try:
            one: Any = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name is None or not (
                module_name == error.name or module_name.startswith(f"{error.name}.")
            ):
                raise failed(f"importing {module_name!r}", error) from error
            raise SpecError(
                f"there is no module {error.name!r} in this folder or installed, and no file {text!r}"
            ) from error
        except (Exception, SystemExit) as error:
            raise failed(f"importing {module_name!r}", error) from error
        for name in path.split("."):
            if not hasattr(one, name):
                known = [key for key, value in vars(one).items() if callable(value) and key[0] != "_"]
                raise unknown_name(f"{what} in {module_name!r}", name, known)
            one = getattr(one, name)
    return one


def made_by(text: str, what: str, ready: type) -> Any:
    """Return what ``package.module:name`` gives when it is called without arguments; the module is imported for it.

    Parameters
    ----------
    text : str
        The name. Modules are looked for in the current folder too.
    what : str
        What is named, for messages: "builder", "function".
    ready : type
        What needs no call: if the name stands for one of these, it is returned itself.

    Raises
    ------
    SpecError
        When there is no such module, or no such name in it.
    DovetailError
        When importing or calling fails, with the reason.

    Examples
    --------
    >>> made_by("collections:OrderedDict", "function", ready=list)
    OrderedDict()
    """
    one = found(text, what)
    if isinstance(one, ready):
        return one
    if not callable(one):
        raise SpecError(f"{text!r} is a {type(one).__name__}; a {what} is needed that can be called")
    with _here_first(), redirect_stdout(sys.stderr):
        try:
            return one()
        except (Exception, SystemExit) as error:
            raise failed(f"calling {text!r} without arguments", error) from error


def failed(what: str, error: BaseException) -> DovetailError:
    """Return the error for code of others that failed, with the first line of why.

    Examples
    --------
    >>> str(failed("calling 'm:f'", ValueError("no such thing")))
    "calling 'm:f' failed: ValueError: no such thing"
    """
    reason = (str(error).strip().splitlines() or ["no message"])[0][:200]
    return DovetailError(f"{what} failed: {type(error).__name__}: {reason}")


@contextmanager
def _here_first() -> Iterator[None]:
    """Look for modules in the current folder too, as ``python -m`` does; an installed command does not by itself."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        if here in sys.path:
            sys.path.remove(here)
