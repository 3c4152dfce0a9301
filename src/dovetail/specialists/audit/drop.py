"""The drop audit: what dropping a class really does, beside networks that never had the class.

The part is measured before and after: at its outputs, by a linear probe on its hidden layer, by how fast it learns the
class again, and by attacks that ask whether samples of the class were in its training. Beside that stands what is
proven, and what is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from ...data.dataset import Dataset
from ...data.preparation import Features
from ...errors import MisfitError
from ...markup import excerpt_html, text_html
from ...population.checks import check_device
from ...result import Result, plain
from ..class_sets import ClassName, ClassSet, class_sets, named
from ..closed_form.combined import Combined
from ..closed_form.sums import Sums
from ..composite import Composite
from ..evaluate import Score
from ..merge import MOST_INPUTS
from ..part import Part
from ..plots import plot_probes, plot_relearning
from .in_words import in_words
from .measuring import Measuring
from .membership import MembershipAttack
from .proven import claims_of
from .relearning import Relearning
from .retraining import (
    Compared,
    Droppable,
    check_trained_on,
    generalist,
    marks,
    retrained,
    untrained,
    without_classes,
)
from .shadows import Shadow, ShadowAttack, check_shadows, shadow_attack, shadow_data

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


GENERALIST, LESS = "generalist", "generalist retrained without it"
UNTRAINED, RAW, OF_TRUNK = "untrained network", "raw inputs", "the trunk's features"
_WHOLE_NUMBERS = _STEPS, _SAMPLES = "steps to relearn", "samples to relearn"


@dataclass(frozen=True, eq=False)
class DropAudit(Result):
    """What is left of a class, or several, after their parts were taken out.

    Attributes
    ----------
    dropped : tuple of str
        Names of the classes.
    scores : dict of str to Score
        By network, on the test split: the part before and after, one that never saw a sample of the classes, and for
        specialists generalists with and without them.
    probes : dict of str to float
        By network, balanced accuracy with which a linear probe on the last hidden layer tells the classes from the
        others (chance .5); also for an untrained network and the inputs, which know nothing of any class.
    same_as_never_added : bool
        Whether the part without the classes is, bit for bit, one to which they were never added.
    seen : bool
        Whether parts that are left saw samples of the classes in training, unlabelled.
    relearning : dict of str to Relearning
        By network that does not know the classes, how fast it learns them.
    membership : dict of str to MembershipAttack
        By network that was trained, how well attacks tell training samples of the classes from test samples.
    proven, not_proven : tuple of str
        What follows for this kind of part without measuring, and what does not, in words.
    kind : str
        What was audited: ``"composite"``, ``"sums"`` or ``"combination"``.
    """

    learnt: ClassVar[float] = 0.9
    """A class is learnt again at this share of the mean accuracy, on it and on the others, of what has it."""

    dropped: tuple[str, ...]
    scores: dict[str, Score]
    probes: dict[str, float]
    same_as_never_added: bool
    seen: bool
    relearning: dict[str, Relearning] = field(default_factory=dict)
    membership: dict[str, MembershipAttack] = field(default_factory=dict)
    proven: tuple[str, ...] = ()
    not_proven: tuple[str, ...] = ()
    kind: str = "composite"

    @property
    def names(self) -> str:
        """Names of the classes, for messages."""
        return named(range(len(self.dropped)), self.dropped)

    @property
    def whole(self) -> str:
        """What the part with the classes is called among the networks."""
        return f"{self.kind} with it"

    @property
    def without(self) -> str:
        """What the part without the classes is called among the networks."""
        return f"{self.kind} without it"

    @property
    def unseen(self) -> str:
        """What the part that never saw a sample of the classes is called among the networks."""
        return f"{self.kind} that never saw it"

    @property
    def level(self) -> float:
        """At which mean accuracy, on the classes and on the others, they count as learnt again."""
        score = self.scores[self.whole]
        gone, kept = self._sides(score)
        return self.learnt * (_accuracy(score, gone) + _accuracy(score, kept)) / 2

    def to_frame(self) -> pd.DataFrame:
        """Return a row per network.

        Accuracy and entropy on what was dropped, accuracy on the others, the probe; in how many steps with the most
        samples, and with how few samples, it is learnt again; AUROC of the attacks. Empty where there is none, as
        where a class was not learnt again.
        """
        import pandas as pd

        frame = pd.DataFrame(self._rows())
        whole = [name for name in _WHOLE_NUMBERS if name in frame]
        return frame.astype(dict.fromkeys(whole, "Int64"))

    def _rows(self) -> list[dict[str, object]]:
        return [{"network": name, **self._row(name)} for name in self.probes]

    def _row(self, name: str) -> dict[str, float | None]:
        row: dict[str, float | None] = {
            "accuracy on it": None, "entropy on it": None, "accuracy on the others": None, "probe": self.probes[name]
        }  # fmt: skip
        if (score := self.scores.get(name)) is not None:
            gone, kept = self._sides(score)
            row["accuracy on it"], row["entropy on it"] = _accuracy(score, gone), _entropy(score, gone)
            row["accuracy on the others"] = _accuracy(score, kept)
        if self.relearning:
            again = self.relearning.get(name)
            row[_STEPS] = None if again is None else again.steps_until(self.level)
            row[_SAMPLES] = None if again is None else again.samples_until(self.level)
        if self.membership:
            attack = self.membership.get(name)
            row["confidence attack"] = None if attack is None else attack.confidence
            row["neural attack"] = None if attack is None else attack.neural
            if any(one.shadow is not None for one in self.membership.values()):
                row["shadow attack"] = None if attack is None else attack.shadow
        return row

    def _sides(self, score: Score) -> tuple[list[int], list[int]]:
        gone = [score.classes.index(dropped) for dropped in self.dropped]
        return gone, [number for number in score.rewarded if number not in gone]

    def accuracy_on_it(self, name: str) -> float | None:
        """Return how many of the test samples of the classes a network is right on; None if it was not scored."""
        score = self.scores.get(name)
        return None if score is None else _accuracy(score, self._sides(score)[0])

    @property
    def finding(self) -> str:
        """What the audit shows, in words."""
        return in_words(self)

    def __repr__(self) -> str:
        frame = self.to_frame().round(4)
        shown = frame.astype(object).where(frame.notna(), "–").to_string(index=False)
        return f"DropAudit({self.names})\n{shown}"

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values, ready for JSON."""
        return {
            "dropped": list(self.dropped),
            "kind": self.kind,
            "networks": plain(self._rows()),
            "same_as_never_added": self.same_as_never_added,
            "relearning": plain(self.relearning),
            "membership": plain(self.membership),
            "proven": list(self.proven),
            "not_proven": list(self.not_proven),
            "finding": self.finding,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what the probe reads from each network."""
        return plot_probes(self, ax)

    def plot_relearning(self, ax: Axes | None = None) -> Axes:
        """Draw how fast each network learns the classes again."""
        return plot_relearning(self, ax)

    def _html_pieces(self) -> Iterable[str]:
        yield text_html(f"What is left of class {self.names}")
        yield excerpt_html(self.to_frame())
        yield text_html(self.finding)
        for title, texts in (("Proven", self.proven), ("Not proven", self.not_proven)):
            yield from (text_html(f"{title}: {text[:1].lower()}{text[1:]}") for text in texts)


def audit_drop(
    part: Droppable,
    dropped: ClassName | Sequence[ClassName],
    data: Dataset,
    *,
    shadows: int = 0,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> DropAudit:
    """Take a class, or several, out of a part and say what is proven of what is left, what not, and what is found.

    Makes, in the way and with the settings that the part was made with, one without any sample of what is dropped:
    specialists are trained again (and with them a generalist on everything, and one without), sums are summed again,
    and of a combination each part is made again and weighed anew. Then all of them are probed, learn the class again
    from few samples, and are attacked.

    Parameters
    ----------
    part : Composite, Sums or Combined
        With specialists that have no other classes than these, or none of them.
    dropped : int, str or sequence
        The class or classes, by id or name.
    data : Dataset
        What it was made of; on a trunk, its features.
    shadows : int
        How many more parts an attack may make, each as long to train as this one, to learn from what samples that were
        in training look like (`MembershipAttack.shadow`). Two are the fewest in which every sample is once in and once
        out.
    device : str or torch.device, optional
        Where to train; the first GPU if there is one.
    progress : bool
        Show progress (on terminals only).

    Raises
    ------
    MisfitError
        When classes cannot be taken out of it.
    DataError
        When it was made of other data.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:20", [0, 1, 2], slots=True, epochs=2, progress=False)
    >>> found = audit_drop(dt.compose(team), 2, data, progress=False)
    >>> found.same_as_never_added, list(found.probes)[:2]
    (True, ['composite with it', 'composite without it'])
    >>> found = audit_drop(dt.compose(dt.sums(data, features=50)), 2, data, progress=False)
    >>> found.relearning[found.without] == found.relearning[found.unseen]  # the same network
    True
    """
    kind = next((name for cls, name in _KINDS.items() if isinstance(part, cls)), None)
    if kind is None:
        raise MisfitError(
            f"classes are taken out of composites, sums and combinations, not of {_said(part)}; put parts together "
            "with dovetail.compose"
        )
    names = [dropped] if isinstance(dropped, int | str) else list(dropped)
    (ids,) = class_sets([names], part.classes)
    after: Droppable = part.without(*ids)
    check_trained_on(part, data)
    check_shadows(shadows)
    claims = claims_of(part, after, ids, data)
    unseen = without_classes(data, ids)
    made = retrained(after, unseen, device, progress)
    audit = DropAudit(
        tuple(part.classes[number] for number in ids), {}, {}, claims.same_as_never_added, claims.seen,
        proven=claims.proven, not_proven=claims.not_proven, kind=kind,
    )  # fmt: skip
    networks = {
        audit.whole: Compared(part.module(), part.rewarded),
        audit.without: Compared(after.module(), after.rewarded),
        audit.unseen: Compared(made.module(), made.rewarded),
    }
    if isinstance(part, Composite) and isinstance(after, Composite):
        networks |= {
            GENERALIST: Compared(generalist(part, data, device, progress), part.rewarded),
            LESS: Compared(generalist(after, unseen, device, progress), after.rewarded),
            UNTRAINED: Compared(untrained(part, data.train.x[:MOST_INPUTS]), ()),
        }
    ask = Measuring(data, ids, after.rewarded, device=check_device(device))
    attacks: dict[str, ShadowAttack] = {}
    if shadows:
        with_it, without_it = _shadow_attacks(part, ids, data, shadows, device, progress)
        attacks = {audit.whole: with_it, audit.without: without_it, audit.unseen: without_it}
    for name, (network, rewarded) in networks.items():
        audit.probes[name] = ask.probe(network)
        if rewarded:
            audit.scores[name] = ask.score(network, rewarded)
            audit.membership[name] = ask.membership(network, attacks.get(name))
        if not set(ids) <= set(rewarded):
            audit.relearning[name] = ask.relearning(network)
    audit.probes[OF_TRUNK if isinstance(part.preparation, Features) else RAW] = ask.probe_inputs()
    return audit


def _shadow_attacks(
    part: Droppable,
    ids: ClassSet,
    data: Dataset,
    count: int,
    device: torch.device | str | None,
    progress: bool,
) -> tuple[ShadowAttack, ShadowAttack]:
    """Return attacks that have learned from shadows of a part, with the classes and after they were taken out."""
    shadows: tuple[list[Shadow], list[Shadow]] = ([], [])
    for samples, inside, outside in shadow_data(data, marks(data.outputs, ids).bool(), count):
        made: Any = retrained(part, samples, device, progress)
        for of_kind, one in zip(shadows, (made, made.without(*ids)), strict=True):
            of_kind.append(Shadow(one.module(), inside, outside))
    with_it, without_it = (shadow_attack(of_kind) for of_kind in shadows)
    return with_it, without_it


_KINDS: dict[type[Droppable], str] = {Composite: "composite", Sums: "sums", Combined: "combination"}


def _said(one: object) -> str:
    return repr(one) if isinstance(one, Part) else f"a value of type {type(one).__name__}"


def _accuracy(score: Score, ids: Sequence[int]) -> float:
    """Return the accuracy on the samples of some classes."""
    rows = list(ids)
    counts = score.confusion[rows]
    return float(counts[range(len(rows)), rows].sum() / counts.sum().clamp(min=1))


def _entropy(score: Score, ids: Sequence[int]) -> float:
    """Return the mean entropy on the samples of some classes."""
    rows = list(ids)
    counts = score.confusion[rows].sum(1)
    return float((score.class_entropy[rows].nan_to_num() * counts).sum() / counts.sum().clamp(min=1))
