"""The manifest of a part: the JSON text in its file's header, which says what it is and where it comes from."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Protocol, cast

from .._version import __version__
from ..data.preparation import read_preparation
from ..errors import DovetailError, DovetailWarning, FileFormatError, SpecError
from ..io.fields import number, parse, refuse_newer, take, whole
from ..nets import Net, NetSpec, OwnNet
from ..nets.own import NAME as OWN_NAME_OF_NET
from ..nets.own import Build, OwnBuilder
from .blueprint import Blueprint
from .merge import METHODS, Method, check_keep, check_weights
from .objectives import LOSSES
from .own_functions import OWN_NAME
from .threshold import Threshold, read_threshold

SCHEMA = "dovetail/2"
READ = ("dovetail/1", SCHEMA)
"""The first had one network and class list for all members, and no directions in cards; it is read as what it is."""


_MOST_FACTS = 200
"""Numbers that may be told of a specialist's training; ours are about thirty."""
GIVEN = "given:"
"""What stands before the hash of weights that training began from, where they were no θ0 of a seed."""


@dataclass(frozen=True)
class Provenance:
    """Where a specialist comes from.

    Attributes
    ----------
    seed : int
        What θ0, the order of the data and the noise were drawn from.
    start : str
        Hash of θ0; ``given:`` and the hash of its weights for what was trained elsewhere before (`as_part`).
    loss : str
        ``"me"``, ``"qme"`` or ``"xe"``.
    slots : bool
        Whether it keeps to its own share of every hidden layer.
    data, fingerprint : str
        Name and fingerprint of the data it was trained on.
    training : dict
        All settings of its training.
    metrics : dict
        What it scored on the validation split at the end of training.
    """

    seed: int
    start: str
    loss: str
    slots: bool
    data: str
    fingerprint: str
    training: dict[str, object] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)


class Said(Protocol):
    """What the file of any part says about it."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def digest(self) -> str: ...  # noqa: D102
    def to_text(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Manifest:
    """What a file says about itself; of each specialist its classes, where it comes from, and its sparsity.

    ``members`` are the blueprints of the specialists where these differ from each other. Ids of classes are those of
    the list that is joined from theirs.
    """

    kind: str
    blueprint: Blueprint
    specialists: list[tuple[tuple[int, ...], Provenance]]
    sparsities: list[float]
    method: Method = "sum"
    coefficients: tuple[float, ...] | None = None
    keep: float = 1.0
    digest: str = ""
    threshold: Threshold | None = None
    members: list[Blueprint] | None = None

    def blueprint_of(self, number: int) -> Blueprint:
        """Return the blueprint of one of the specialists."""
        return self.blueprint if self.members is None else self.members[number]

    def rewarded_of(self, number: int) -> tuple[int, ...]:
        """Return the ids of the classes that a specialist recognises, in its own class list."""
        ids, own = self.specialists[number][0], self.blueprint_of(number).classes
        return tuple(sorted(own.index(self.blueprint.classes[one]) for one in ids)) if self.members else ids

    def to_text(self) -> str:
        """Return it as JSON, with a checksum over all of it."""
        content: dict[str, object] = {
            "schema": SCHEMA,
            "kind": self.kind,
            "dovetail": __version__,
            "net": str(self.blueprint.net),
            "input_shape": list(self.blueprint.input_shape),
            "classes": list(self.blueprint.classes),
            "temperature": self.blueprint.temperature,
            "specialists": [
                {"rewarded": list(rewarded), "sparsity": round(sparsity, 6), **asdict(provenance)}
                for (rewarded, provenance), sparsity in zip(self.specialists, self.sparsities, strict=True)
            ],
            "digest": self.digest,
        }
        if self.blueprint.preparation is not None:
            content["preparation"] = self.blueprint.preparation.model_dump(mode="json")
        if self.members is not None:
            content["members"] = [
                {"net": str(member.net), "classes": list(member.classes), **_own_shapes(member)}
                for member in self.members
            ]
        else:
            content |= _own_shapes(self.blueprint)
        if self.threshold is not None:
            content["threshold"] = self.threshold.model_dump(mode="json")
        if self.kind == "composite":
            coefficients = None if self.coefficients is None else list(self.coefficients)
            content |= {"method": self.method, "coefficients": coefficients, "keep": self.keep}
        return json.dumps({**content, "checksum": _checksum(content)})


def read_manifest(text: str, build: Build | None = None, trust: Collection[str] = ()) -> Manifest:
    """Return what a manifest says.

    Parameters
    ----------
    text : str
        The manifest.
    build : callable, optional
        What makes the network, if it is one of the user's own.
    trust : collection of str
        Packages from which it may be imported because the manifest names it.

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
    if str(schema).startswith("dovetail.sums/"):
        raise FileFormatError("it holds sums, no specialist or composite; dovetail.open reads it")
    refuse_newer(content, SCHEMA)
    if schema not in READ:
        raise FileFormatError(f"its schema is {schema!r:.40}, not {SCHEMA!r}")
    checksum = content.pop("checksum", None)
    if checksum != _checksum(content):
        raise FileFormatError("its manifest does not match its checksum: it was altered or damaged")
    kind = take(content, "kind", str)
    if kind not in ("specialist", "composite"):
        raise FileFormatError(f"it is a {kind!r:.40}, neither a specialist nor a composite")
    given = content.get("members")
    members = None if given is None else _members(content, build, trust)
    blueprint = _basis(content, build, trust, joined=members is not None)
    entries = take(content, "specialists", list)
    specialists = [_specialist(entry, blueprint) for entry in entries]
    sparsities = [number(entry.get("sparsity")) for entry in entries]
    if not specialists or (kind == "specialist" and len(specialists) > 1):
        raise FileFormatError(f"a {kind} with {len(specialists)} specialists")
    if members is not None:
        _check_members(members, [ids for ids, _ in specialists], blueprint, kind)
    method: Method = "sum"
    coefficients, keep = None, 1.0
    if kind == "composite":
        named = take(content, "method", str)
        if named not in METHODS:
            raise FileFormatError(f"unknown method {named!r:.40}")
        method = cast(Method, named)
        if content.get("coefficients") is not None:
            coefficients = tuple(number(value) for value in take(content, "coefficients", list))
            if len(coefficients) != len(specialists):
                raise FileFormatError(f"{len(coefficients)} coefficients for {len(specialists)} specialists")
        elif method == "calibrated":
            raise FileFormatError("a calibrated composite without coefficients")
        keep = number(content.get("keep"))
        _check_merge(method, coefficients, keep)
    digest = take(content, "digest", str)
    given = content.get("threshold")
    threshold = None if given is None else read_threshold(given)
    return Manifest(
        kind, blueprint, specialists, sparsities, method, coefficients, keep, digest, threshold, members
    )


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


def _members(content: Mapping[str, object], build: Build | None, trust: Collection[str]) -> list[Blueprint]:
    """Return the blueprints of specialists that have networks and class lists of their own."""
    found = []
    for entry in take(content, "members", list):
        if not isinstance(entry, dict):
            raise FileFormatError("an entry under 'members' is not an object")
        own = {name: entry[name] for name in ("net", "classes", "shapes") if name in entry}
        found.append(_basis({**content, **own}, build, trust))
    return found


def _check_members(
    members: Sequence[Blueprint], ids: Sequence[tuple[int, ...]], blueprint: Blueprint, kind: str
) -> None:
    if kind != "composite" or len(members) != len(ids):
        raise FileFormatError(f"{len(members)} networks of {len(ids)} specialists in a {kind}")
    for member, own in zip(members, ids, strict=True):
        if not {blueprint.classes[number] for number in own} <= set(member.classes):
            raise FileFormatError("a specialist recognises a class that is not in its own list")
        if not set(member.classes) <= set(blueprint.classes):
            raise FileFormatError("a specialist knows of a class that is not in the list of all")


def _basis(
    content: Mapping[str, object], build: Build | None, trust: Collection[str], *, joined: bool = False
) -> Blueprint:
    try:
        net = _net(take(content, "net", str), build, trust)
        shape = tuple(whole(size) for size in take(content, "input_shape", list))
        classes = tuple(take(content, "classes", list))
        if not classes or not all(isinstance(name, str) for name in classes):
            raise FileFormatError("its classes are not a list of names")
        given = content.get("preparation")
        preparation = None if given is None else read_preparation(given)
        if preparation is not None and preparation.input_shape != shape:
            raise FileFormatError(
                f"its inputs are prepared to {preparation.input_shape}, and its network takes {shape}"
            )
        blueprint = Blueprint(net, shape, classes, number(content.get("temperature")), preparation)
        if blueprint.temperature <= 0:
            raise FileFormatError(f"temperature {blueprint.temperature} is not above 0")
        if joined and isinstance(net, OwnNet):
            return blueprint  # members' networks are checked, and there is no other
        if isinstance(net, OwnNet):
            _check_own(blueprint, net, take(content, "shapes", dict))
        else:
            blueprint.builder  # noqa: B018 (proves that such a network can be built)
    except FileFormatError:
        raise
    except DovetailError as error:
        raise FileFormatError(f"it describes a network that cannot be built: {error}") from None
    return blueprint


def _net(text: str, build: Build | None, trust: Collection[str]) -> Net:
    if OWN_NAME_OF_NET.fullmatch(text):
        return OwnNet.named(text, build, trust)
    if build is not None:
        raise SpecError(
            f"its network is {text}, which is not of your own, so build= has nothing to say about it"
        )
    return NetSpec.parse(text)


def _own_shapes(blueprint: Blueprint) -> dict[str, object]:
    return {"shapes": _shapes(blueprint)} if isinstance(blueprint.net, OwnNet) else {}


def _shapes(blueprint: Blueprint) -> dict[str, list[int]]:
    """Return the shapes of a network's tensors, which no spec tells of one of the user's own."""
    return {name: list(tensor.shape) for name, tensor in blueprint.network().state_dict().items()}


def _check_own(blueprint: Blueprint, net: OwnNet, shapes: Mapping[str, object]) -> None:
    """Refuse a network that does not fit, and tell of code that has changed; what cannot be built may be looked at."""
    if net.build is None:
        return
    builder = blueprint.builder
    assert isinstance(builder, OwnBuilder)
    builder.check()
    found = _shapes(blueprint)
    differ = [name for name in {**shapes, **found} if shapes.get(name) != found.get(name)]
    if differ:
        raise FileFormatError(
            f"what makes its network gives another one: {differ[0]!r:.80} is {found.get(differ[0])}, and was "
            f"{shapes.get(differ[0])!r:.80}"
        )
    odd = net.check_code()
    if odd:
        warnings.warn(f"{odd}; its answers may be others", DovetailWarning, stacklevel=2)


def _specialist(entry: object, blueprint: Blueprint) -> tuple[tuple[int, ...], Provenance]:
    if not isinstance(entry, dict):
        raise FileFormatError("an entry under 'specialists' is not an object")
    rewarded = tuple(whole(number) for number in take(entry, "rewarded", list))
    if not rewarded or list(rewarded) != sorted(set(rewarded)) or rewarded[-1] >= len(blueprint.classes):
        raise FileFormatError(f"rewarded classes {list(rewarded)!r:.80} of {len(blueprint.classes)} classes")
    loss = take(entry, "loss", str)
    if loss not in LOSSES and not OWN_NAME.fullmatch(loss):
        raise FileFormatError(f"unknown loss {loss!r:.40}")
    for what in ("metrics", "training"):
        if len(take(entry, what, dict)) > _MOST_FACTS:
            raise FileFormatError(f"a specialist with more than {_MOST_FACTS} {what}")
    metrics = {str(name): number(value) for name, value in take(entry, "metrics", dict).items()}
    return rewarded, Provenance(
        whole(entry.get("seed")),
        take(entry, "start", str),
        loss,
        take(entry, "slots", bool),
        take(entry, "data", str),
        take(entry, "fingerprint", str),
        take(entry, "training", dict),
        metrics,
    )
