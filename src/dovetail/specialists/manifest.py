"""The JSON text in a file's header: what a specialist or composite is, and how it is read back with care."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from .._version import __version__
from ..errors import DovetailError, FileFormatError, SpecError
from ..io.fields import number, parse, refuse_newer, take, whole
from ..nets import NetSpec
from .basis import Basis
from .composite import METHODS, Composite
from .merge import check_keep, check_weights
from .objectives import LOSSES
from .part import Part
from .specialist import Record

SCHEMA = "dovetail/1"


@dataclass(frozen=True)
class Manifest:
    """What a file says about itself, checked; of each specialist its classes, where it comes from, and its sparsity."""

    kind: str
    basis: Basis
    specialists: list[tuple[tuple[int, ...], Record]]
    sparsities: list[float]
    method: str
    coefficients: tuple[float, ...] | None
    keep: float
    digest: str


def write_manifest(part: Part) -> str:
    """Return the manifest of a specialist or composite as JSON."""
    content: dict[str, object] = {
        "schema": SCHEMA,
        "kind": "composite" if isinstance(part, Composite) else "specialist",
        "dovetail": __version__,
        "net": str(part.basis.net),
        "input_shape": list(part.basis.input_shape),
        "classes": list(part.basis.classes),
        "temperature": part.basis.temperature,
        "specialists": [
            {"rewarded": list(s.rewarded), "sparsity": round(s.sparsity, 6), **s.record.to_json()}
            for s in part.specialists
        ],
        "digest": part.digest,
    }
    if isinstance(part, Composite):
        coefficients = None if part.coefficients is None else list(part.coefficients)
        content |= {"method": part.method, "coefficients": coefficients, "keep": part.keep}
    return json.dumps({**content, "checksum": _checksum(content)})


def read_manifest(text: str) -> Manifest:
    """Return what a manifest says.

    Raises
    ------
    FileFormatError
        When it is of another kind or version, or anything in it is missing or not as it should be.
    """
    try:
        content = parse(text)
    except FileFormatError as error:
        raise FileFormatError(f"its manifest cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise FileFormatError("its manifest is not a JSON object")
    schema = content.get("schema")
    if schema == "dovetail.sculpture/1":
        raise FileFormatError(
            "it is a sculpted network, no specialist or composite; dovetail.sculpting.open_sculpture reads it, "
            "dovetail inspect shows it"
        )
    refuse_newer(content, SCHEMA)
    if schema != SCHEMA:
        raise FileFormatError(f"its schema is {schema!r:.40}, not {SCHEMA!r}")
    checksum = content.pop("checksum", None)
    if checksum != _checksum(content):
        raise FileFormatError("its manifest does not match its checksum: it was altered or damaged")
    kind = take(content, "kind", str)
    if kind not in ("specialist", "composite"):
        raise FileFormatError(f"it is a {kind!r:.40}, neither a specialist nor a composite")
    basis = _basis(content)
    entries = take(content, "specialists", list)
    specialists = [_specialist(entry, basis) for entry in entries]
    sparsities = [number(entry.get("sparsity")) for entry in entries]
    if not specialists or (kind == "specialist" and len(specialists) > 1):
        raise FileFormatError(f"a {kind} with {len(specialists)} specialists")
    method, coefficients, keep = "sum", None, 1.0
    if kind == "composite":
        method = take(content, "method", str)
        if method not in METHODS:
            raise FileFormatError(f"unknown method {method!r:.40}")
        if content.get("coefficients") is not None:
            coefficients = tuple(number(value) for value in take(content, "coefficients", list))
            if len(coefficients) != len(specialists):
                raise FileFormatError(f"{len(coefficients)} coefficients for {len(specialists)} specialists")
        elif method == "calibrated":
            raise FileFormatError("a calibrated composite without coefficients")
        keep = number(content.get("keep"))
        _check_merge(method, coefficients, keep)
    digest = take(content, "digest", str)
    return Manifest(kind, basis, specialists, sparsities, method, coefficients, keep, digest)


def _check_merge(method: str, coefficients: tuple[float, ...] | None, keep: float) -> None:
    """Refuse numbers that no composite is made with, and that would fail only when its weights are merged."""
    try:
        check_keep(keep)
        if method == "logits" and coefficients is not None:
            check_weights(coefficients, len(coefficients))
    except SpecError as error:
        raise FileFormatError(str(error)) from None


def _checksum(content: Mapping[str, object]) -> str:
    """Return a hash of everything in a manifest, the hash of the weights included."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def _basis(content: Mapping[str, object]) -> Basis:
    try:
        net = NetSpec.parse(take(content, "net", str))
        shape = tuple(whole(size) for size in take(content, "input_shape", list))
        classes = tuple(take(content, "classes", list))
        if not classes or not all(isinstance(name, str) for name in classes):
            raise FileFormatError("its classes are not a list of names")
        basis = Basis(net, shape, classes, number(content.get("temperature")))
        if basis.temperature <= 0:
            raise FileFormatError(f"temperature {basis.temperature} is not above 0")
        basis.builder  # noqa: B018 (proves that such a network can be built)
    except FileFormatError:
        raise
    except DovetailError as error:
        raise FileFormatError(f"it describes a network that cannot be built: {error}") from None
    return basis


def _specialist(entry: object, basis: Basis) -> tuple[tuple[int, ...], Record]:
    if not isinstance(entry, dict):
        raise FileFormatError("an entry under 'specialists' is not an object")
    rewarded = tuple(whole(number) for number in take(entry, "rewarded", list))
    if not rewarded or list(rewarded) != sorted(set(rewarded)) or rewarded[-1] >= len(basis.classes):
        raise FileFormatError(f"rewarded classes {list(rewarded)!r:.80} of {len(basis.classes)} classes")
    loss = take(entry, "loss", str)
    if loss not in LOSSES:
        raise FileFormatError(f"unknown loss {loss!r:.40}")
    metrics = {str(name): number(value) for name, value in take(entry, "metrics", dict).items()}
    return rewarded, Record(
        whole(entry.get("seed")),
        take(entry, "start", str),
        loss,
        take(entry, "slots", bool),
        take(entry, "data", str),
        take(entry, "fingerprint", str),
        take(entry, "training", dict),
        metrics,
    )
