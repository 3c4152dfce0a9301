"""Names of a package that are imported when first asked for: who needs none of them does not wait for torch."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package; type checkers read its imports under ``TYPE_CHECKING``.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    modules : mapping of str to sequence of str
        Each module below the package, and the public names that it has: ``"name"``, or ``"name as other"`` where
        the package calls it otherwise.

    Examples
    --------
    >>> get, names = lazy_names("dovetail", {"errors": ["DovetailError"]})
    >>> get("DovetailError"), "DovetailError" in names()
    (<class 'dovetail.errors.DovetailError'>, True)
    """
    found = {
        entry.rpartition(" as ")[2]: (module, entry.partition(" as ")[0])
        for module, entries in modules.items()
        for entry in entries
    }

    def get(name: str) -> object:
        if name not in found:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, its_name = found[name]
        value = getattr(importlib.import_module(f"{package}.{module}"), its_name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(sys.modules[package].__all__)
