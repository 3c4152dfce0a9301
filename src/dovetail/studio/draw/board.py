"""The draw view's answers: drawings and test images, asked of specialists and their composite, the hardest first."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ...data.split import is_finite
from ...errors import DataError
from ...specialists import Composite, Part, Specialist, max_entropy, mix_logits
from ...specialists.fitting import data_note
from ...specialists.merge import Method
from ..bench.bench import Bench, bench_of
from ..bench.composing import key_of
from ..bench.logits import state_bytes
from ..cache import Cache
from ..held_data import HeldData
from ..studio import Studio
from .answers import Drawn, Hard, HardList, Range, Said, check_image, picture_of, range_of, said
from .pad import read_ink
from .preparations import prepared

_MOST_BYTES = 512 * 2**20

_MOST_RANKINGS = 8


@dataclass(frozen=True, eq=False)
class Ranking:
    """Samples from the worst to the best.

    Attributes
    ----------
    order : Tensor
        Their places in the split.
    loss : Tensor
        By place: for classes that the composite knows, how far it is from the true class; for others, how far it is
        from undecided.
    mistaken : Tensor
        By place: whether the class is known and another one was said.
    target : Tensor
        By place: the true class.
    """

    order: Tensor
    loss: Tensor
    mistaken: Tensor
    target: Tensor

    def chosen(self, number: int | None, only_mistakes: bool) -> Tensor:
        """Return the places of samples of one class, or of mistakes only, in order."""
        keep = torch.ones(len(self.order), dtype=torch.bool)
        if number is not None:
            keep &= self.target[self.order] == number
        if only_mistakes:
            keep &= self.mistaken[self.order]
        return self.order[keep]


def rank(logits: Tensor, target: Tensor, rewarded: tuple[int, ...]) -> Ranking:
    """Return samples by their max-entropy loss, the largest first.

    Examples
    --------
    Right, wrong, undecided as it should be, and sure where it should not:

    >>> logits = torch.tensor([[9.0, 0, 0], [0, 9.0, 0], [0, 0, 0], [9.0, 0, 0]])
    >>> ranking = rank(logits, torch.tensor([0, 0, 2, 2]), (0, 1))
    >>> ranking.order.tolist(), ranking.mistaken.tolist()
    ([1, 3, 0, 2], [False, True, False, False])
    """
    known = torch.zeros(logits.shape[1], dtype=torch.bool)
    known[list(rewarded)] = True
    loss = max_entropy(logits.double(), target, known)
    mistaken = known[target] & (logits.argmax(1) != target)
    return Ranking(loss.argsort(descending=True, stable=True), loss, mistaken, target)


class Board:
    """What is drawn and looked at; specialists and data are the bench's."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._networks = Cache[nn.Module](_MOST_BYTES, state_bytes)
        self._rankings = Cache[Ranking](_MOST_RANKINGS)
        self._ranges = Cache[Range](2)

    def drawn(self, files: list[str], method: Method, ink: str) -> Drawn:
        """Return what specialists and their composite say to a drawing."""
        members, composite = self.bench.gather(files, method)
        data = members[0].provenance.data
        check_image(data, composite.blueprint.input_shape)
        x = prepared(read_ink(ink), data)
        if x.shape[1:] != composite.blueprint.input_shape:
            raise DataError(
                f"these specialists take inputs of {composite.blueprint.input_shape}, not {data}'s; draw for others"
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
        check_image(members[0].provenance.data, composite.blueprint.input_shape)
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
            note=data_note(members[0].provenance, data),
            image=self._hard(members, composite, data, ranking, int(chosen[place])) if len(chosen) else None,
        )

    def _ranked(self, composite: Composite, data: HeldData) -> Ranking:
        logits = self.bench.test_logits(composite, data)
        key = (key_of(composite), data.fingerprint, len(logits))
        target = data.test.y[: len(logits)]
        return self._rankings.get(key, lambda: rank(logits, target, composite.rewarded))

    def _hard(
        self, members: list[Specialist], composite: Composite, data: HeldData, ranking: Ranking, at: int
    ) -> Hard:
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
        """Return what is said to one input, by the composite and by each member."""
        with torch.no_grad():
            each = [self._logits(member, x) for member in members]
            if composite.method == "logits":
                own = dict(zip(members, each, strict=True))
                ordered = torch.stack([own[member] for member in composite.specialists])
                together, sharpness = mix_logits(ordered, composite.shares), 1 / max(composite.shares)
            else:
                together, sharpness = self._logits(composite, x), 1.0
            rows = torch.stack([together, *each])
        if not is_finite(rows):
            raise DataError(
                "these networks give NaN or infinity for this input; leave out those with huge weights"
            )
        first, *others = rows.double().log_softmax(1)
        return said(first, sharpness), [said(row) for row in others]

    def _logits(self, part: Part, x: Tensor) -> Tensor:
        logits: Tensor = self._networks.get(key_of(part), part.module)(x)
        return logits[0]


def board_of(studio: Studio) -> Board:
    """Return a studio's board, for ``studio.shared``."""
    return Board(studio.shared(bench_of))
