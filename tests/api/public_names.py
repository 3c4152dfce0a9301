"""The public surface as text: every public name with its signature, and those of a class's public methods."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

LISTED = Path(__file__).with_name("public_names.txt")
_FOLDERS = (
    "data",
    "nets",
    "prune",
    "population",
    "specialists",
    "sculpting",
    "cluster",
    "recipes",
    "engine",
    "report",
)


def public_names() -> str:
    """Return a line for each public name, in the order of the folders and then of the alphabet."""
    lines: list[str] = []
    for module in ("dovetail", *(f"dovetail.{folder}" for folder in _FOLDERS)):
        home = importlib.import_module(module)
        for name in sorted(home.__all__):
            lines += _lines(f"{module}.{name}", getattr(home, name), in_full=module != "dovetail")
    return "".join(line + "\n" for line in lines)


def _lines(name: str, value: object, *, in_full: bool) -> Iterator[str]:
    """Yield how something is called; methods of a class only at home, not again where it is passed on."""
    if inspect.isclass(value):
        yield f"{name}: class{_signature(value)}"
        if in_full:
            for member, what in sorted(vars(value).items()):
                if not member.startswith("_"):
                    yield f"{name}.{member}{_kind(what)}"
    elif callable(value):
        yield f"{name}{_signature(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


def _kind(what: object) -> str:
    if isinstance(what, classmethod | staticmethod):
        return _signature(what.__func__)
    return _signature(what) if inspect.isfunction(what) else ""


def _signature(value: object) -> str:
    """Return names and defaults of the parameters; not their types, which may be written in several ways."""
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # built in
        return "(...)"
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()
    ]
    text = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    return re.sub(r" at 0x[0-9a-f]+", "", text)  # where a default lies in memory


if __name__ == "__main__":
    LISTED.write_text(public_names(), encoding="utf-8")
