"""Settings: options that are declared once, with their bounds and what they mean.

A subclass of `Settings` is a frozen pydantic model whose fields have descriptions. Checks come from it; command lines
take their options from it (`dovetail.commands.options.with_settings`); files hold what `model_dump` gives; and tests
hold signatures and documentation to it. It imports neither torch nor numpy, so that commands start quickly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from .errors import SpecError, unknown_name


def _number(value: object) -> object:
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError("a number")
    return float(value)


def _whole(value: object) -> object:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ValueError("a whole number")
    return int(value)


Number = Annotated[float, BeforeValidator(_number)]
"""A finite number: no text, no truth value, nothing infinite."""

Whole = Annotated[int, BeforeValidator(_whole)]
"""A whole number: no text, no truth value."""


class Settings(BaseModel):
    """Options with their bounds, checked when made and never changed.

    Raises
    ------
    SpecError
        For an unknown option, or a value that is not allowed; it names the option, the value and what it may be.

    Examples
    --------
    >>> from pydantic import Field
    >>> class Walk(Settings):
    ...     pace: Number = Field(default=1.0, gt=0, le=9, description="Steps in a second.")
    >>> Walk(pace=10.5)
    Traceback (most recent call last):
    dovetail.errors.SpecError: pace must be above 0 and at most 9, not 10.5: steps in a second
    >>> Walk(pase=1)
    Traceback (most recent call last):
    dovetail.errors.SpecError: unknown option 'pase'; did you mean 'pace'? Known: pace
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, **options: Any) -> None:
        try:
            super().__init__(**options)
        except ValidationError as error:
            raise explained(type(self), error.errors()[0]) from None

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, object]) -> Self:
        """Return the settings among the arguments of a function, as its ``locals()`` hold them."""
        return cls(**{name: arguments[name] for name in cls.model_fields if name in arguments})


def choices(annotation: object) -> tuple[str, ...]:
    """Return the names that a field may have; none where it is not one of a few names.

    Examples
    --------
    >>> choices(Literal["up", "down"] | None), choices(int)
    (('up', 'down'), ())
    """
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return next((found for part in get_args(annotation) if (found := choices(part))), ())


def explained(settings: type[BaseModel], error: Mapping[str, Any]) -> SpecError:
    """Return an error that names the option, the value and what it may be; its fields have descriptions."""
    name, value = str(error["loc"][0]) if error["loc"] else "", error["input"]
    if error["type"] == "extra_forbidden":
        return unknown_name("option", name, settings.model_fields)
    if error["type"] == "missing":
        return SpecError(f"{name} is missing: {_meaning(settings.model_fields[name])}")
    if error["type"] == "literal_error":
        return unknown_name(name, value, choices(settings.model_fields[name].annotation))
    field = settings.model_fields[name]
    if error["type"] == "value_error":
        allowed = str(error["ctx"]["error"])
    elif error["type"].startswith(("greater_than", "less_than")):
        allowed = _bounds(field)
    else:
        return SpecError(f"{name}={value!r:.40}: {error['msg'].lower()} ({_meaning(field)})")
    return SpecError(f"{name} must be {allowed}, not {value!r:.40}: {_meaning(field)}")


def _meaning(field: FieldInfo) -> str:
    text = (field.description or "").rstrip(".")
    return text[:1].lower() + text[1:]


def _bounds(field: FieldInfo) -> str:
    """Return the bounds of a field, or of what it holds several of, in words."""
    found: dict[str, object] = {}
    for mark in _marks([*field.metadata, field.annotation]):
        for bound in ("gt", "ge", "lt", "le"):
            if getattr(mark, bound, None) is not None:
                found[bound] = getattr(mark, bound)
    if {"ge", "lt"} <= set(found):
        return f"from {found['ge']} to below {found['lt']}"
    if {"ge", "le"} <= set(found):
        return f"from {found['ge']} to {found['le']}"
    words = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
    return " and ".join(f"{words[bound]} {value}" for bound, value in found.items())


def _marks(parts: list[Any]) -> Iterator[object]:
    """Yield all that is annotated in types, however deep."""
    for part in parts:
        if isinstance(part, FieldInfo):
            yield from part.metadata
        elif get_args(part):
            yield from _marks(list(get_args(part)))
        else:
            yield part
