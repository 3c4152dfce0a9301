"""The draw view's answers: drawings and test images, asked of specialists and their composite."""

from __future__ import annotations

import threading

from torch import Tensor

from ...errors import DataError
from ...specialists import Composite, Specialist
from ...specialists.composite import Method
from ...specialists.suitable_data import data_note
from ..bench.bench import Bench, bench_of
from ..held_data import HeldData
from ..recent import Recent
from ..studio import Studio
from .answers import Drawn, Hard, HardList, Said, said
from .asking import Asker
from .pad import read_ink
from .pictures import Range, check_image, picture_of, range_of
from .preparations import prepared
from .ranking import Ranking, rank

_MOST_RANKINGS = 8


class Board:
    """What is drawn and looked at; specialists and data are the bench's."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._asker = Asker()
        self._rankings = Recent[Ranking](_MOST_RANKINGS)
        self._ranges = Recent[Range](2)
        self._lock = threading.Lock()

    def drawn(self, files: list[str], method: Method, ink: str) -> Drawn:
        """Return what specialists and their composite say to a drawing."""
        members, composite = self.bench.gather(files, method)
        data = members[0].record.data
        check_image(data, composite.basis.input_shape)
        x = prepared(read_ink(ink), data)
        if x.shape[1:] != composite.basis.input_shape:
            raise DataError(
                f"these specialists take inputs of {tuple(composite.basis.input_shape)}, not {data}'s; draw for others"
            )
        together, each = self._ask(members, composite, x)
        return Drawn(seen=picture_of(x[0]), composite=together, specialists=each)

    def hardest(
        self, files: list[str], method: Method, *, place: int, number: int | None, only_mistakes: bool
    ) -> HardList:
        """Return a test image by its place among those chosen, the worst first.

        The first answers may know only part of the test images, where it takes long; ask again for the rest.
        """
        members, composite = self.bench.gather(files, method)
        check_image(members[0].record.data, composite.basis.input_shape)
        data, why_not = self.bench.data_of(composite)
        if data is None:
            raise DataError(why_not)
        ranking = self._ranked(composite, data)
        chosen = ranking.chosen(number, only_mistakes)
        place = min(place, max(len(chosen) - 1, 0))
        return HardList(
            place=place,
            count=len(chosen),
            mistakes=int(ranking.mistaken.sum()),
            samples=len(ranking.order),
            total=len(data.test),
            note=data_note(members[0].record, data),
            image=self._hard(members, composite, data, ranking, int(chosen[place])) if len(chosen) else None,
        )

    def _ranked(self, composite: Composite, data: HeldData) -> Ranking:
        logits = self.bench.test_logits(composite, data)
        key = (composite.digest, data.fingerprint, len(logits))
        target = data.test.y[: len(logits)]
        with self._lock:
            return self._rankings.get(key, lambda: rank(logits, target, composite.rewarded))

    def _hard(
        self, members: list[Specialist], composite: Composite, data: HeldData, ranking: Ranking, at: int
    ) -> Hard:
        with self._lock:
            ends = self._ranges.get(data.fingerprint, lambda: range_of(data.test.x))
        x, truth = data.test.x[at : at + 1], int(data.test.y[at])
        together, each = self._ask(members, composite, x)
        return Hard(
            picture=picture_of(x[0], ends),
            truth=truth,
            known=truth in composite.rewarded,
            loss=round(float(ranking.loss[at]), 4),
            composite=together,
            specialists=each,
        )

    def _ask(self, members: list[Specialist], composite: Composite, x: Tensor) -> tuple[Said, list[Said]]:
        together, *each = self._asker.ask(members, composite, x)
        sharpness = 1 / max(composite.shares) if composite.method == "logits" else 1.0
        return said(together, sharpness), [said(row) for row in each]


def board_of(studio: Studio) -> Board:
    """Return a studio's board, for ``studio.only``."""
    return Board(studio.only(bench_of))
