"""What is grown: composites of the folder's files, opened once, and their answers to drawings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

import torch
from pydantic import BaseModel
from torch import nn

from ...errors import SpecError
from ...specialists import Composite
from ..bench.answers import SpecialistCard
from ..bench.bench import bench_of
from ..bench.composing import key_of
from ..bench.logits import state_bytes
from ..bench.parts import FolderParts
from ..cache import Cache
from ..draw.answers import Picture, Said, draw_parts_answer, picture_of, said
from ..draw.pad import SIDE, read_ink
from ..draw.preparations import can_draw, prepared
from ..folder import StudioFolder
from ..studio import Studio
from .examples import FEWEST, MOST
from .teaching import TABLES, base_of, drawn_for

_MOST_BYTES = 256 * 2**20

_MOST_BASES = 8

_IMAGES = (".png", ".jpg", ".jpeg")


class Base(BaseModel):
    """What a class can be added to: its files, what it knows, and whether one can draw for it."""

    title: str
    files: list[str]
    classes: list[str]
    pad: bool


class Places(BaseModel):
    """All that can be grown, the data that lies in the folder, and what the page must know of drawings."""

    bases: list[Base]
    data: list[str]
    side: int
    fewest: int
    most: int


class Heard(BaseModel):
    """A drawing as a composite sees it, and what it says."""

    classes: list[str]
    seen: Picture
    said: Said


@dataclass(frozen=True)
class _Asked:
    """A composite with some of its classes left out, ready to be asked."""

    composite: Composite
    network: nn.Module


class Grown:
    """The composites that were asked last."""

    def __init__(self, folder: StudioFolder) -> None:
        self._parts = FolderParts(folder)
        self._asked = Cache[_Asked](_MOST_BYTES, lambda asked: state_bytes(asked.network))
        self._bases = Cache[Composite](_MOST_BASES)

    def ask(self, files: list[str], without: list[str], ink: str) -> Heard:
        """Return what a composite says to a drawing, with some classes left out."""
        asked = self._ready(files, without)
        composite = asked.composite
        x = prepared(read_ink(ink), drawn_for(composite))
        if x.shape[1:] != composite.blueprint.input_shape:
            raise SpecError("these specialists take other inputs than drawings make; choose others")
        with torch.no_grad():
            logits = asked.network(x)[0]
        sharpness = 1 / max(composite.shares) if composite.method == "logits" else 1.0
        return Heard(
            classes=list(composite.classes),
            seen=picture_of(x[0]),
            said=said(logits.double().log_softmax(0), sharpness),
        )

    def _ready(self, files: list[str], without: list[str]) -> _Asked:
        parts = [self._parts.part(file) for file in dict.fromkeys(files)]
        base = self._bases.get(tuple(key_of(part) for part in parts), lambda: base_of(parts))
        gone = [name for name in dict.fromkeys(without) if name in base.known]
        if len(gone) == len(base.known):
            raise SpecError("a composite needs a class; leave fewer out")

        def make() -> _Asked:
            composite = base.without(*gone) if gone else base
            return _Asked(composite, composite.module())

        return self._asked.get((key_of(base), tuple(gone)), make)


def places(studio: Studio) -> Places:
    """Return what can be grown in a studio's folder, and from what."""
    inventory = studio.shared(bench_of).inventory()
    parts = draw_parts_answer(str(studio.folder.root), inventory)
    bases = [
        Base(title=one.group.title, files=one.first, classes=_known(one.first, one.group.specialists), pad=one.pad)
        for one in parts.groups
        if one.first
    ]  # fmt: skip
    for found in inventory.found:
        manifest = found.manifest
        if manifest.kind == "composite":
            names = [manifest.blueprint.classes[number] for ids, _ in manifest.specialists for number in ids]
            pad = any(can_draw(provenance.data) for _, provenance in manifest.specialists)
            bases.append(Base(title=found.file.name, files=[found.file.name], classes=names, pad=pad))
    bases.sort(key=lambda base: not base.pad)
    return Places(bases=bases, data=_data_in(studio.folder), side=SIDE, fewest=FEWEST, most=MOST)


def _known(files: list[str], cards: list[SpecialistCard]) -> list[str]:
    return [name for card in cards if card.file in files for name in card.classes]


def _data_in(folder: StudioFolder) -> list[str]:
    """Return tables, and folders with a folder of images for each class."""
    tables = {file.name for file in folder.find(TABLES).files}
    images = {str(PurePosixPath(file.name).parent.parent) for file in folder.find(_IMAGES).files}
    return sorted(tables | (images - {"."}))


def grown_of(studio: Studio) -> Grown:
    """Return what a studio has grown, for ``studio.shared``."""
    return Grown(studio.folder)
