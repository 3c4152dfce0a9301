"""The manifest of sums: the JSON text in their file's header."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ..._version import __version__
from ...data.preparation import read_preparation
from ...errors import DovetailError, FileFormatError
from ...io.fields import parse, refuse_newer, take, whole
from ..threshold import Threshold, read_threshold
from .basis import Basis
from .blueprint import SumsBlueprint
from .tuning import Tuning

SCHEMA = "dovetail.sums/1"
FORMS = ("samples", "moments")
"""What a file may hold of a class."""

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class SumsManifest:
    """What a file of sums says about itself; of each class what it holds, and of how many samples.

    Attributes
    ----------
    blueprint : SumsBlueprint
        Basis, class list and preparation.
    held : mapping of str to (str, int)
        By class: ``"samples"`` or ``"moments"``, and how many samples there are.
    tuning : Tuning or None
        Regularisation and temperature, where they are not the usual ones.
    digest : str
        Hash of the content.
    threshold : Threshold or None
        How sure it must be to answer.
    """

    blueprint: SumsBlueprint
    held: Mapping[str, tuple[str, int]]
    tuning: Tuning | None
    digest: str
    threshold: Threshold | None = None

    @property
    def kind(self) -> str:
        """What it is."""
        return "sums"

    def to_text(self) -> str:
        """Return it as JSON, with a checksum over all of it."""
        blueprint = self.blueprint
        content: dict[str, object] = {
            "schema": SCHEMA,
            "kind": self.kind,
            "dovetail": __version__,
            "basis": blueprint.basis.model_dump(),
            "basis_digest": blueprint.basis.digest,
            "input_shape": list(blueprint.input_shape),
            "classes": list(blueprint.classes),
            "held": [
                {"class": name, "form": form, "samples": count} for name, (form, count) in self.held.items()
            ],
            "digest": self.digest,
        }
        if blueprint.preparation is not None:
            content["preparation"] = blueprint.preparation.model_dump(mode="json")
        if self.tuning is not None:
            content["tuning"] = self.tuning.model_dump()
        if self.threshold is not None:
            content["threshold"] = self.threshold.model_dump(mode="json")
        return json.dumps({**content, "checksum": checksum(content)})


def is_sums(text: str) -> bool:
    """Whether a manifest is of sums, of this or of another version."""
    return text.startswith('{"schema": "dovetail.sums/')


def read_sums_manifest(text: str) -> SumsManifest:
    """Return what a manifest of sums says.

    Raises
    ------
    FileFormatError
        When it is of another kind or version, or anything in it is missing or not as it should be.
    """
    content = parse(text)
    if not isinstance(content, dict):
        raise FileFormatError("its manifest is not a JSON object")
    refuse_newer(content, SCHEMA)
    if content.get("schema") != SCHEMA:
        raise FileFormatError(f"its schema is {content.get('schema')!r:.40}, not {SCHEMA!r}")
    if content.pop("checksum", None) != checksum(content):
        raise FileFormatError("its manifest does not match its checksum: it was altered or damaged")
    basis = _as(Basis, take(content, "basis", dict))
    if content.get("basis_digest") != basis.digest:
        raise FileFormatError("its features are made in another way than this version of dovetail makes them")
    shape = tuple(whole(size) for size in take(content, "input_shape", list))
    numbers = 1
    for size in shape:
        numbers *= size
    if numbers != basis.inputs:
        raise FileFormatError(
            f"its samples have shape {shape}, and its features are of {basis.inputs} numbers"
        )
    classes = tuple(take(content, "classes", list))
    if not all(isinstance(name, str) for name in classes) or len(set(classes)) < len(classes):
        raise FileFormatError("its classes are not a list of names")
    given = content.get("preparation")
    try:
        preparation = None if given is None else read_preparation(given)
    except DovetailError as error:
        raise FileFormatError(str(error)) from None
    if preparation is not None and preparation.input_shape != shape:
        raise FileFormatError(
            f"its inputs are prepared to {preparation.input_shape}, and its sums are of {shape}"
        )
    tuning = content.get("tuning")
    threshold = content.get("threshold")
    return SumsManifest(
        SumsBlueprint(basis, shape, classes, preparation),
        _held(take(content, "held", list), classes),
        None if tuning is None else _as(Tuning, tuning),
        take(content, "digest", str),
        None if threshold is None else read_threshold(threshold),
    )


def _held(entries: list[object], classes: tuple[str, ...]) -> dict[str, tuple[str, int]]:
    held: dict[str, tuple[str, int]] = {}
    for entry in entries:
        if not isinstance(entry, dict):
            raise FileFormatError("an entry under 'held' is not an object")
        name, form = take(entry, "class", str), take(entry, "form", str)
        if name not in classes or name in held:
            raise FileFormatError(f"it holds class {name!r:.40} twice, or outside of its class list")
        if form not in FORMS:
            raise FileFormatError(
                f"it holds {form!r:.40} of class {name!r:.40}; there are samples and moments"
            )
        held[name] = form, whole(entry.get("samples"))
    if not held:
        raise FileFormatError("it holds no class")
    return held


def _as(kind: type[Model], content: object) -> Model:
    try:
        return kind.model_validate(content, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "content"
        raise FileFormatError(f"its {where} is {first.get('input')!r:.40}: {first['msg']}") from None


def checksum(content: Mapping[str, object]) -> str:
    """Return a hash of plain values, whatever the order of their names."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
