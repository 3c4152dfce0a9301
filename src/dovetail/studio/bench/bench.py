"""All that the bench remembers between requests, and what it answers from it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from torch import Tensor

from ...errors import DovetailError
from ...specialists import Composite, Part, Score, Specialist
from ...specialists.composing import clash_in
from ...specialists.evaluate import score_logits
from ...specialists.fitting import data_note
from ...specialists.merge import Method
from ..cache import Cache
from ..folder import StudioFolder
from ..held_data import DataCache, HeldData
from ..studio import Studio
from .composing import (
    FIRST_SAMPLES,
    TIMED_SAMPLES,
    Compatibilities,
    Cost,
    Fits,
    cost_of,
    first_fit,
    key_of,
    put_together,
)
from .logits import Outputs
from .parts import FolderParts, Inventory

PATIENCE = 0.05
"""Seconds of computing after which an answer goes out with what is known; the page asks again for the rest."""

_MOST_FITTED, _MOST_SCORES = 64, 1000


@dataclass(frozen=True)
class Measured:
    """A part, and what it scored on the first ``samples`` of all test samples.

    Attributes
    ----------
    part : Part
        What was measured.
    score : Score or None
        None where its data is not on this machine.
    samples, total : int
        How many test samples were looked at, and how many there are.
    data : str
        Name of the data it was trained on.
    note : str
        What to know about the measurement, or why there is none; may be empty.
    """

    part: Part
    score: Score | None
    samples: int
    total: int
    data: str
    note: str


class Bench:
    """The specialists of a folder, what was read and computed of them.

    Requests come from several threads; logits are computed for one of them at a time.
    """

    def __init__(self, folder: StudioFolder, data: DataCache | None = None) -> None:
        self.folder = folder
        self._parts = FolderParts(folder)
        self._data = data or DataCache()
        self._outputs = Outputs()
        self._fits = Compatibilities()
        self._fitted = Cache[Composite](_MOST_FITTED)
        self._begun = Cache[bool](_MOST_SCORES)
        self._scores = Cache[Score](_MOST_SCORES)
        self._clashes = Cache[str](_MOST_SCORES)
        self._lock = threading.Lock()

    def inventory(self) -> Inventory:
        """Return what the folder has now."""
        return self._parts.inventory()

    def gather(self, files: list[str], method: Method) -> tuple[list[Specialist], Composite]:
        """Return the specialists of some files, and what they give together."""
        members = self._parts.specialists(files)
        if method != "calibrated":
            return members, put_together(members, method, None)
        data, _ = self.data_of(members[0])
        # Fitting takes a second or more.
        key = _members(members)
        return members, self._fitted.get(key, lambda: put_together(members, method, data))

    def data_of(self, part: Part) -> tuple[HeldData | None, str]:
        """Return the data to measure a part on, or None and why there is none."""
        try:
            return self._data.of_part(part), ""
        except DovetailError as error:
            return None, str(error)

    def test_logits(self, part: Part, data: HeldData, seconds: float = PATIENCE) -> Tensor:
        """Return a part's logits for the first test samples, as many as are known after ``seconds``."""
        with self._lock:
            rows = self._outputs.logits(part, data)
            rows.advance(seconds)
            return rows.up_to(rows.done)

    def measure(self, files: list[str], method: Method, seconds: float = PATIENCE) -> Measured:
        """Measure the composite of some files, for about as long as is given; again for the rest."""
        if method == "calibrated" and (first := self._first_fitted(files)):
            return first
        _, composite = self.gather(files, method)
        return self._measured(composite, seconds)

    def cost(self, files: list[str], method: Method) -> Cost:
        """Return what computing with the composite of some files costs; one at a time, so that times mean something."""
        _, composite = self.gather(files, method)
        data, _ = self.data_of(composite)
        with self._lock:
            return cost_of(composite, None if data is None else data.test.x[:TIMED_SAMPLES])

    def look(self, file: str, seconds: float = PATIENCE) -> Measured:
        """Measure what one file holds, as it is."""
        return self._measured(self._parts.part(file), seconds)

    def scores(self, files: list[str], seconds: float = PATIENCE) -> dict[str, Score | None]:
        """Measure some files each for itself, for about as long as is given; return those that are done.

        None is for those that cannot be measured.
        """
        until = time.perf_counter() + seconds
        found: dict[str, Score | None] = {}
        for file in dict.fromkeys(files):
            try:
                measured = self.look(file, max(0.0, until - time.perf_counter()))
            except DovetailError:  # a damaged file says why when it is ticked
                found[file] = None
                continue
            if measured.samples == measured.total:
                found[file] = measured.score
            if time.perf_counter() > until:
                break
        return found

    def compatibility(self, files: list[str], seconds: float = PATIENCE) -> Fits:
        """Compare any two of some files' specialists, for about as long as is given; again for the rest."""
        return self._fits.table(self._parts.specialists(files), seconds)

    def clash(self, files: list[str], method: Method) -> str:
        """Return what `dovetail.compose` warns of: why some files' specialists get in each other's way, or nothing."""
        _, composite = self.gather(files, method)
        data = self.data_of(composite)[0] if method == "calibrated" else None
        # Large networks take seconds; nobody else waits for them.
        return self._clashes.get(
            key_of(composite), lambda: clash_in(composite, None if data is None else data.inputs) or ""
        )

    def save(self, files: list[str], method: Method, name: str) -> Path:
        """Save the composite of some files under a name that is free.

        Raises
        ------
        DovetailError
            When the name is taken or cannot be used, or the files do not fit together.
        """
        path = self.folder.resolve(name)
        if path.suffix != ".safetensors":
            raise DovetailError(f"{name!r:.100} does not end in .safetensors; add it")
        _, composite = self.gather(files, method)
        with self._lock:
            if path.exists():
                raise DovetailError(f"{name!r:.100} is there already; choose another name")
            return composite.save(path)

    def _first_fitted(self, files: list[str]) -> Measured | None:
        """Return what a first fit gives, once for each composite; None where there is no need of one."""
        members = self._parts.specialists(files)
        data, _ = self.data_of(members[0])
        key = _members(members)
        if data is None or self._begun.find(key) or self._fitted.find(key) is not None:
            return None
        self._begun.keep(key, True)
        part = first_fit(members, data)
        if part is None:
            return None
        with self._lock:
            logits = self._outputs.logits(part, data).up_to(min(FIRST_SAMPLES, len(data.test) // 2))
        return _measured_on(part, _score(part, logits, data), data)

    def _measured(self, part: Part, seconds: float) -> Measured:
        data, why_not = self.data_of(part)
        if data is None:
            return Measured(part, None, 0, 0, part.specialists[0].provenance.data, why_not)
        key = (key_of(part), data.fingerprint)
        score = self._scores.find(key)
        if score is None:
            score = _score(part, self.test_logits(part, data, seconds), data)
            if score.samples == len(data.test):
                self._scores.keep(key, score)
        return _measured_on(part, score, data)


def _score(part: Part, logits: Tensor, data: HeldData) -> Score:
    """Return what a part scores on the first samples, those that its logits are for."""
    return score_logits(logits[None], data.test.y[: len(logits)], [part.rewarded], part.classes)[0]


def _measured_on(part: Part, score: Score, data: HeldData) -> Measured:
    note = data_note(part.specialists[0].provenance, data)
    return Measured(part, score, score.samples, len(data.test), data.name, note)


def _members(specialists: list[Specialist]) -> frozenset[str]:
    return frozenset(member.digest for member in specialists)


def bench_of(studio: Studio) -> Bench:
    """Return a studio's bench, for ``studio.shared``."""
    # Charts load plotly when the first is made, which takes longer than all the rest of an answer.
    threading.Thread(target=import_module, args=("plotly.graph_objects",), daemon=True).start()
    return Bench(studio.folder, studio.data)
