"""Options that several commands have: the same name and meaning in each."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from ..errors import SpecError
from ..settings import Settings, choices

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of a table.")]
Explain = Annotated[
    bool,
    typer.Option("--explain", help="Say what modules and units compute, as formulas where they are Boolean."),
]
DATA = (
    "a data set by name (mnist, har:features=time), a file or folder of yours (wine.csv, photos/, "
    "wine.csv:target=quality), or package.module:function"
)
"""What can be named wherever data is asked for, in the words of the help."""
DataName = Annotated[str, typer.Argument(metavar="DATA", help=f"{DATA[0].upper()}{DATA[1:]}.")]
TrunkName = Annotated[
    str | None,
    typer.Option(
        metavar="TRUNK",
        help="A frozen network whose features parts stand on: timm:NAME, sentence:FOLDER, transformers:FOLDER or "
        "package.module:builder, with options such as :weights=FILE,size=224.",
    ),
]
Device = Annotated[
    str | None,
    typer.Option(help="Where to compute: cpu, cuda, cuda:1.", show_default="the first GPU, if any"),
]
Yes = Annotated[bool, typer.Option("--yes", help="Begin also what would take more than four hours.")]
Seeds = Annotated[int, typer.Option(help="How many seeds, each with networks of its own.")]
FirstSeed = Annotated[int, typer.Option(help="The first seed.")]
ReportFile = Annotated[Path, typer.Option("--output", "-o", help="File for the page.")]
ReplaceFile = Annotated[
    bool, typer.Option("--force", help="Also replace a file that is no page of dovetail's.")
]

MOST_SEEDS = 10_000
"""Of one command: a slip of the keyboard should not be taken for years of work."""


def seed_range(first: int, count: int) -> range:
    """Return the seeds that were asked for, by the first and how many."""
    if not 1 <= count <= MOST_SEEDS:
        raise SpecError(f"--seeds is how many seeds to use, 1 to {MOST_SEEDS:,}; got {count!r:.40}")
    return range(first, first + count)


Command = TypeVar("Command", bound=Callable[..., None])


def with_settings(settings: type[Settings], *, before: str) -> Callable[[Command], Command]:
    """Return a decorator that gives a command an option for each field of settings.

    The command takes them as ``**options``, which hold what was typed. Fields of several values are typed as one text.

    Parameters
    ----------
    settings : type of Settings
        What is declared.
    before : str
        The parameter of the command before which the options stand in its help.
    """

    def decorate(command: Command) -> Command:
        named = inspect.signature(command, eval_str=True)
        parameters = [one for one in named.parameters.values() if one.kind is not one.VAR_KEYWORD]
        at = next(place for place, one in enumerate(parameters) if one.name == before)
        parameters[at:at] = [
            _parameter(name, field)
            for name, field in settings.model_fields.items()
            if name not in named.parameters and _extra(field).get("command_line", True)
        ]
        keyword = [one.replace(kind=one.KEYWORD_ONLY) for one in parameters]
        command.__signature__ = named.replace(parameters=keyword)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in keyword} | {"return": None}
        return command

    return decorate


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    extra = _extra(field)
    usual, help_text = extra.get("default_text"), str(extra.get("help", field.description))
    names = choices(field.annotation)
    if names:
        said = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        help_text = f"{help_text.rstrip('.')}: {said}."
    plain = _plain(field.annotation)
    several = plain is tuple
    option = typer.Option(
        help=help_text, metavar="NAME" if names else None, show_default=str(usual) if usual else True
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if several else field.default,
        annotation=Annotated[(str | None) if several else plain, option],
    )


def _extra(field: FieldInfo) -> dict[str, Any]:
    return field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}


def _plain(annotation: Any) -> Any:
    """Return a type without its bounds; ``tuple`` for several values, whatever they are."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _plain(get_args(annotation)[0])
    if origin in (Union, UnionType):
        parts = [_plain(part) for part in get_args(annotation) if part is not NoneType]
        plain = str if str in parts else parts[0]  # a few names, or any text
        return plain | None if NoneType in get_args(annotation) else plain
    if origin is Literal:
        return annotation
    return origin or annotation
