"""The public surface as text: every public name with its signature, and all that a class has, inherited or not."""

from __future__ import annotations

import dis
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from dovetail import __version__

LISTED = Path(__file__).with_name("public_names.txt")
FOLDERS = (
    "data",
    "nets",
    "graph",
    "prune",
    "population",
    "planted",
    "trunks",
    "specialists",
    "sculpting",
    "cluster",
    "recipes",
    "engine",
    "report",
    "studio",
    "sklearn",
    "errors",
)


def public_names() -> str:
    """Return a line for each public name, in the order of the folders and then of the alphabet."""
    lines: list[str] = []
    for module in ("dovetail", *(f"dovetail.{folder}" for folder in FOLDERS)):
        home = importlib.import_module(module)
        for name in sorted(_exported(home)):
            lines += _lines(f"{module}.{name}", getattr(home, name), in_full=module != "dovetail")
    return "".join(line + "\n" for line in lines)


def _exported(home: ModuleType) -> list[str]:
    """Return ``__all__``, or a file's own classes where there is none: ``dovetail.errors``, as in the reference."""
    own = [
        name for name, value in inspect.getmembers(home, inspect.isclass) if value.__module__ == home.__name__
    ]
    return getattr(home, "__all__", own)


def _lines(name: str, value: object, *, in_full: bool) -> Iterator[str]:
    """Yield how something is called; methods of a class only at home, not again where it is passed on."""
    if inspect.isclass(value):
        yield f"{name}: class{_signature(value)}"
        if in_full:
            for member, what in sorted(_members(value).items()):
                yield f"{name}.{member}{_kind(what)}"
    elif callable(value):
        yield f"{name}{_signature(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


def _members(value: type) -> dict[str, object]:
    """Return what a class has of Dovetail's: attributes without a value on the class stand with none."""
    found: dict[str, object] = {}
    for owner in reversed(value.__mro__):
        if owner.__module__.startswith("dovetail"):
            found |= dict.fromkeys([*inspect.get_annotations(owner), *_set_at_start(owner)])
            found |= vars(owner)
    return {member: what for member, what in found.items() if _is_public(member, what)}


def _set_at_start(owner: type) -> list[str]:
    """Return the attributes that ``__init__`` sets."""
    start = vars(owner).get("__init__")
    code = dis.get_instructions(start) if inspect.isfunction(start) else ()
    return [step.argval for step in code if step.opname == "STORE_ATTR"]


def _is_public(member: str, what: object) -> bool:
    """Tell what the reference shows: names without an underscore, and special methods that have a docstring."""
    special = member.endswith("__") and inspect.isfunction(what) and what.__module__.startswith("dovetail")
    return not member.startswith("_") or (special and bool(what.__doc__))


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
    text = text.replace(repr(__version__), "<version>")  # a release changes no name
    return re.sub(r" at 0x[0-9a-f]+", "", text)  # where a default lies in memory


if __name__ == "__main__":
    LISTED.write_text(public_names(), encoding="utf-8")
