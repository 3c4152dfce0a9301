"""Growth: classes that come to others, with draws from cards in the place of samples that nobody has any more.

New specialists learn on samples of their own classes and on draws of all others, over a list that has theirs behind the
names that were there. How old ones learn of the new classes is in `introduction`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from ..data.dataset import Dataset
from ..data.split import Split
from ..errors import DataError, MisfitError, SpecError
from ..nets import Net, NetSpec
from .cards import Card, check_same_inputs, inputs_of, pooled
from .class_lists import joined_list
from .class_sets import ClassName, class_sets, named
from .data_for import over_list
from .side_by_side import has_sizes

if TYPE_CHECKING:
    from .part import Part
    from .specialist import Specialist

LEAST_DRAWS, MOST_DRAWS = 10, 5000
"""How many samples are drawn of each class, for as many as there are of a new one."""
MOST_BESIDE = 20
"""Draws of all classes together for each sample of a new one. Where many classes would give more, there are fewer of
each, and they count more: a single class that comes to hundreds learns in a second."""
VAL_SHARE = 0.2
"""Of the draws, how many stand for validation samples."""


class Beside(NamedTuple):
    """What new specialists are trained with, so that they fit others."""

    data: Dataset
    net: Net | str
    rewarded: list[list[str]]
    slots: bool
    temperature: float
    drawn: int
    weight: float

    def weights(self, own: Tensor | None) -> Tensor | None:
        """Return what samples count, draws behind them; None where all count the same."""
        if own is None and self.weight == 1:
            return None
        if own is None:
            own = torch.ones(len(self.data.train) - self.drawn)
        return torch.cat([own, torch.full((self.drawn,), self.weight * float(own.mean()))])


def train_beside(
    data: Dataset,
    others: Iterable[Part] | Part,
    net: Net | str | None,
    rewarded: Iterable[ClassName | Iterable[ClassName]] | None,
    seed: int,
) -> Beside:
    """Return data of new classes, with draws of the classes of others, and what specialists on it need.

    Parameters
    ----------
    data : Dataset
        Samples of new classes. Where it has samples of classes that the others know, nothing is drawn for these.
    others : iterable of Part, or one
        What the new ones are to stand beside.
    net : Net or str, optional
        Over the joined class list. By default each class gets as many units as a class of the others.
    rewarded : iterable, optional
        Sets of classes of ``data``; by default each class alone that the others do not know.
    seed : int
        What is drawn from.

    Raises
    ------
    DataError
        When the samples are not like those of the others, or there are neither samples nor a card of a class.
    """
    members = specialists_of(others, "beside=")
    first = members[0].blueprint
    check_like(members, data)
    theirs = joined_list(member.classes for member in members)
    classes = tuple(dict.fromkeys((*theirs, *data.classes)))
    known = {name for member in members for name in member.known}
    present = {name for number, name in enumerate(data.classes) if bool((data.train.y == number).any())}
    sets = _new_sets(data, rewarded, known, present)
    cards = cards_of(members, known - present)
    over = over_list(data, classes)
    usual = min(max(len(data.train) / max(1, len(present)), LEAST_DRAWS), MOST_DRAWS)
    count = round(max(LEAST_DRAWS, min(usual, MOST_BESIDE * len(data.train) / max(1, len(cards)))))
    drawn = [draw_split(cards, classes, n, seed) for n in (count, max(2, round(VAL_SHARE * count)))]
    train, val = (_joined(own, more) for own, more in zip((over.train, over.val), drawn, strict=True))
    slots = any(member.provenance.slots for member in members)
    if net is None:
        grows = slots and len(classes) > len(first.classes)
        net = roomier(first.net, len(first.classes), len(classes)) if grows else first.net
    return Beside(
        replace(over, train=train, val=val), net, sets, slots, first.temperature, len(train) - len(over.train),
        1.0 if count >= round(usual) else usual / count,
    )  # fmt: skip


def specialists_of(parts: Iterable[Part] | Part, what: str = "parts") -> list[Specialist]:
    """Return the specialists that parts are made of.

    Parameters
    ----------
    parts : iterable of Part, or one
        What was given.
    what : str
        What it was given as, for messages.
    """
    if isinstance(parts, Dataset | Split):
        raise SpecError(
            f"{what} takes parts, and samples of new classes are data=; train parts on them first: more = "
            "train_specialists(new, beside=team), then team.introduce(more, data=new)"
        )
    given = list(parts) if isinstance(parts, Iterable) and not hasattr(parts, "specialists") else [parts]
    for part in given:
        if not hasattr(part, "specialists"):
            raise SpecError(
                f"{what} takes a team, a part or a list of parts, as train_specialists gives them and dovetail.open "
                f"reads them; got {part!r:.80}"
            )
    members = [member for part in given for member in part.specialists]
    if not members:
        raise SpecError("there are no specialists to grow beside; give a team, or a folder of files")
    for member in members[1:]:
        a, b = members[0].blueprint, member.blueprint
        if (a.input_shape, a.temperature) != (b.input_shape, b.temperature):
            raise MisfitError(
                f"{members[0]!r} and {member!r} have different inputs or temperatures, so nothing can stand beside both"
            )
    return members


def check_like(members: Sequence[Specialist], data: Dataset) -> None:
    """Refuse samples that mean something else than those that others were trained on."""
    first = members[0].blueprint
    ours, theirs = inputs_of(first.preparation), inputs_of(data.preparation)
    if data.input_shape != first.input_shape or ours != theirs:
        way = (
            "those were taken as they are: give tensors that are so too (dt.Dataset(name, train, val, test, classes))"
            if first.preparation is None
            else "read them like these (dt.read(path, like=part), or trunk.features(data, like=part))"
        )
        raise DataError(f"the samples of {data.name} are not prepared like those of {members[0]!r}; {way}")


def cards_of(members: Sequence[Specialist], names: Iterable[str]) -> dict[str, Card]:
    """Return the cards of some classes, by name.

    Raises
    ------
    DataError
        When a class has none.
    """
    found: dict[str, list[Card]] = {}
    for member in members:
        for name, card in member.cards.items():
            found.setdefault(name, []).append(card)
    wanted = sorted(names)
    missing = [name for name in wanted if name not in found]
    if missing:
        raise DataError(
            f"there is no card of {named(range(len(missing)), missing)}, and no sample of it in the data; add samples "
            "of it, or a part with its card"
        )
    cards = {name: pooled(found[name]) if len(found[name]) > 1 else found[name][0] for name in wanted}
    if cards:
        check_same_inputs(cards.values())
    return cards


def draw_split(cards: dict[str, Card], classes: Sequence[str], count: int, seed: int) -> Split | None:
    """Return as many draws from each card, with ids in a class list; None where there are no cards."""
    if not cards:
        return None
    place = {name: number for number, name in enumerate(classes)}
    # What is drawn of a class hangs on nothing but its place and the seed.
    drawn = [card.draw(count, (seed << 32) + 1000003 * count + place[name]) for name, card in cards.items()]
    return Split(torch.cat(drawn), torch.tensor([place[name] for name in cards]).repeat_interleave(count))


def _joined(own: Split, more: Split | None) -> Split:
    if more is None:
        return own
    x = more.x.reshape(len(more), *own.x.shape[1:]).to(own.x)
    return Split(torch.cat([own.x, x]), torch.cat([own.y, more.y.to(own.y)]))


def roomier(net: Net, classes: int, more: int) -> NetSpec:
    """Return a network with slots for more classes, each at least as large as it was.

    Examples
    --------
    >>> from dovetail.nets import NetSpec
    >>> str(roomier(NetSpec.parse("mlp:100-25"), 10, 12))
    'mlp:120-36'
    """
    if not has_sizes(net) or not isinstance(net, NetSpec):
        raise SpecError(
            f"slots of {str(net).partition('#')[0]} have no sizes that could grow from {classes} classes to {more}; "
            f"give new specialists a network with {more} outputs of their own (net=) and compose with method 'logits', "
            "or train all anew together"
        )
    return NetSpec(net.name, tuple(-(-size // classes) * more for size in net.sizes), net.options)


def _new_sets(
    data: Dataset,
    rewarded: Iterable[ClassName | Iterable[ClassName]] | None,
    known: set[str],
    present: set[str],
) -> list[list[str]]:
    """Return the rewarded sets by name, which mean the same in every class list."""
    if rewarded is not None:
        return [[data.classes[number] for number in ids] for ids in class_sets(rewarded, data.classes)]
    fresh = [[name] for name in data.classes if name in present and name not in known]
    if not fresh:
        raise DataError(
            f"{data.name} has no samples of a class that is not known yet; to train classes anew, name them (rewarded=)"
        )
    return fresh
