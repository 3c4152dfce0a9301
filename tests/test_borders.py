"""The borders of the house: each folder imports only from those above it, and imports stand at the top of a file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[1] / "src" / "dovetail"

ORDER: list[set[str]] = [
    {
        "_version",
        "errors",
        "importing",
        "io",
        "lazy",
        "settings",
        "precision",
        "spec",
        "statistics",
        "threads",
    }
    | {"display", "markup", "plotting", "result"},
    {"data"},
    {"nets"},
    {"graph"},
    {"prune"},
    {"population"},
    {"planted"},
    {"trunks"},
    {"specialists"},
    {"sculpting"},
    {"cluster"},
    {"recipes"},
    {"engine"},
    {"opening"},
    {"report"},
    {"demo"},
    {"studio"},
    {"commands", "sklearn"},
    {"cli"},
    {"", "__main__"},
]
"""The rooms, from the first; rooms of one line may import from each other. "" is the package itself."""

STARTS_FAST = {"", "__main__", "cli", "commands", "demo", "recipes", "engine"}
"""Rooms that may import inside of functions, because the command line lists what there is without loading torch."""

ONLY_WHERE_NEEDED = ("population.kernels", "engine.ray_cluster")
"""Modules that need a package which may not be there (triton, ray)."""


class Import(NamedTuple):
    """One import of a module of dovetail's own."""

    file: str
    line: int
    module: str
    target: str
    in_function: bool
    for_types: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.target}"

    @property
    def room(self) -> str:
        """The folder or file right below dovetail that imports."""
        return self.module.split(".")[0]


def own_imports(path: Path, source: Path = SOURCE) -> Iterator[Import]:
    """Yield all imports of dovetail's own modules in a file, those for type checkers and in functions too."""
    parts = path.relative_to(source).with_suffix("").parts
    module = parts[:-1] if parts[-1] == "__init__" else parts
    package = parts[:-1]
    tree = ast.parse(path.read_text())
    inside, for_types = _under(tree, _is_function), _under(tree, _is_for_types)
    for node in ast.walk(tree):
        found: list[tuple[str, ...]] = []
        if isinstance(node, ast.ImportFrom) and (
            node.level or (node.module or "").split(".")[0] == "dovetail"
        ):
            base = package[: len(package) - (node.level - 1)] if node.level else ()
            named = (*base, *(node.module or "").split(".")[0 if node.level else 1 :])
            named = tuple(part for part in named if part)
            # `from .files import Files` is of a module, `from . import files` too.
            found = [
                (*named, alias.name) if _is_module(source, (*named, alias.name)) else named
                for alias in node.names
            ]
        elif isinstance(node, ast.Import):
            names = (tuple(alias.name.split(".")) for alias in node.names)
            found = [name[1:] for name in names if name[0] == "dovetail"]
        for target in dict.fromkeys(found):
            yield Import(
                str(path.relative_to(source)),
                getattr(node, "lineno", 0),
                ".".join(module),
                ".".join(target),
                node in inside,
                node in for_types,
            )


def _is_module(source: Path, module: tuple[str, ...]) -> bool:
    path = source.joinpath(*module)
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _under(tree: ast.AST, chosen: Callable[[ast.AST], bool]) -> set[ast.AST]:
    """Return all nodes inside of those that are chosen."""
    return {node for outer in ast.walk(tree) if chosen(outer) for node in ast.walk(outer)}


def level_of(room: str) -> int:
    return next(level for level, rooms in enumerate(ORDER) if room in rooms)


def all_imports() -> list[Import]:
    return [one for path in sorted(SOURCE.rglob("*.py")) for one in own_imports(path)]


def listed(lines: list[str]) -> str:
    return f"{len(lines)} places:\n" + "\n".join(lines)


def test_every_room_has_its_place_in_the_order() -> None:
    rooms = {
        path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert rooms - {"__init__"} - set().union(*ORDER) == set()


def test_rooms_import_only_from_those_above_them() -> None:
    wrong = [
        str(one)
        for one in all_imports()
        if (target := one.target.split(".")[0]) != one.room
        and (target not in set().union(*ORDER) or level_of(target) > level_of(one.room))
    ]
    assert not wrong, listed(wrong)


def test_imports_in_functions_have_a_reason() -> None:
    wrong = [
        str(one)
        for one in all_imports()
        if one.in_function and one.room not in STARTS_FAST and not one.target.startswith(ONLY_WHERE_NEEDED)
    ]
    assert not wrong, listed(wrong)


def test_no_import_in_a_function_breaks_a_cycle() -> None:
    imports = all_imports()
    reached: dict[str, set[str]] = {}
    for one in imports:
        if not one.in_function and not one.for_types:
            reached.setdefault(one.module, set()).add(one.target)
    wrong = [
        str(one)
        for one in imports
        if one.in_function
        and one.module in everything_from(one.target, reached)
        and not one.target.startswith(ONLY_WHERE_NEEDED)
    ]
    assert not wrong, listed(wrong)


def everything_from(module: str, reached: dict[str, set[str]]) -> set[str]:
    """Return a module and all that it imports when it is imported itself."""
    found, waiting = set[str](), [module]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += reached.get(one, ())
    return found


def test_violations_are_seen(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "nets.py").touch()
    file = tmp_path / "data" / "a.py"
    file.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from ..nets import x\n"
        "def f():\n    from .. import nets\n    import dovetail.studio.app\n    from dovetail.errors import y\n"
    )
    found = {(one.target, one.in_function, one.for_types) for one in own_imports(file, tmp_path)}
    assert found == {
        ("nets", False, True),
        ("nets", True, False),
        ("studio.app", True, False),
        ("errors", True, False),
    }
