"""Introduction: specialists learn to stay undecided on classes that came after them.

Only those are changed that claim samples of a new class; all others stay, to the bit, what they are. What is changed
learns two things at once: to be uniform on the new samples, and to say on draws of all classes that were there,
its own above all, what it said before. The second keeps what a card does not know of its class.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from ..data.dataset import Dataset
from ..data.given import check_dataset
from ..data.split import Split
from ..errors import DataError, SpecError, TrainingError
from ..nets import NetSpec, builder_of
from ..population import Adam, Population
from ..population.batch_norm import has_batch_norm
from ..precision import in_float32
from .blueprint import Blueprint, Packed, pack
from .cards import Card
from .class_lists import Places, joined_list
from .growth import cards_of, check_like, draw_split, roomier, specialists_of
from .side_by_side import Small, go_side_by_side, has_sizes, in_slot_of, side_by_side

if TYPE_CHECKING:
    from .part import Part
    from .specialist import Specialist

CLAIMED = 0.02
"""Nats above those of a uniform answer, on average over samples of a class, from which on it is claimed."""
KEEPING = 0.1
"""What a squared change of the logits on draws counts beside the loss on new samples, in nats."""
STEPS, BATCH, LR = 100, 256, 1e-3
DRAWS, OF_ITS_OWN = (30, 500), 200
"""Draws of each class that was there, least and most; and of a specialist's own."""
_ALL_DRAWS, _AT_ONCE, _ROWS = 5000, 32, 256


@dataclass(frozen=True)
class _Lesson:
    """What all specialists of a call learn from."""

    classes: tuple[str, ...]
    new: Split
    cards: Mapping[str, Card]
    seed: int


@in_float32()
def introduce(
    parts: Iterable[Part] | Part,
    more: Iterable[Part] | Part,
    data: Dataset | None = None,
    *,
    steps: int = STEPS,
    lr: float = LR,
    keeping: float = KEEPING,
    claimed: float = CLAIMED,
    seed: int = 0,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> list[Specialist]:
    """Return specialists that stay undecided on classes of others.

    Those that claim samples of new classes are changed, over a class list that has these; others come back as they are.

    Parameters
    ----------
    parts : iterable of Part, or one
        Those that were there; they need cards.
    more : iterable of Part, or one
        Those that recognise the new classes; they need cards where there are no samples.
    data : Dataset, optional
        Samples of the new classes. By default they are drawn from their cards.
    steps : int
        Steps of training.
    lr : float
        Step size of Adam.
    keeping : float
        What a squared change of logits on draws counts beside the loss on new samples. More keeps more.
    claimed : float
        A specialist is changed when, for some new class, its loss is so far above that of a uniform answer (in nats).
    seed : int
        What is drawn from.
    device : str or torch.device, optional
        Where to train; the first GPU if there is one.
    progress : bool
        Show progress (on terminals only).

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> old = dt.train_specialists(data, "mlp:40", [3, 8], slots=True, epochs=2, progress=False)
    >>> new = [part.rename({"3": "three"}) for part in old[:1]]
    >>> [part.knows for part in introduce(old[1:], new, progress=False)]
    ['8']
    """
    members, others = specialists_of(parts), specialists_of(more, "more")
    known = {name for member in members for name in member.known}
    fresh = sorted({name for member in others for name in member.known} - known)
    if not fresh:
        raise SpecError("there is no class among the new ones that is not known already")
    if data is not None:
        check_dataset(data)
    for member in members:
        _check_can_learn(member)
    classes = joined_list(member.classes for member in (*members, *others))
    cards = cards_of(members, known)
    lesson = _Lesson(classes, _samples_of(fresh, classes, members, others, data, seed), cards, seed)
    target = _blueprint_for(members, others, classes)
    smalls = [_widened(member, classes) for member in members]
    groups: dict[NetSpec, list[int]] = {}
    for place, (member, small) in enumerate(zip(members, smalls, strict=True)):
        groups.setdefault(_net_of(member, small), []).append(place)
    changed: dict[int, Small] = {}
    for net, places in groups.items():
        found = _taught(
            net, [members[n] for n in places], [smalls[n] for n in places], lesson, steps=steps, lr=lr, keeping=keeping,
            claimed=claimed, device=device, progress=progress,
        )  # fmt: skip
        changed |= {places[n]: small for n, small in found.items()}
    made = []
    for place, member in enumerate(members):
        blueprint = target if member.provenance.slots else replace(member.blueprint, classes=classes)
        if place not in changed:
            made.append(member)
            continue
        small = changed[place]
        metrics = dict(member.provenance.metrics)
        metrics["introduced"] = metrics.get("introduced", 0.0) + len(fresh)  # to so many classes, all in all
        provenance = replace(member.provenance, metrics=metrics)
        own = tuple(sorted(classes.index(name) for name in member.known))
        card_of = dict(zip(member.known, member.own_cards, strict=False))
        made.append(
            type(member)(
                blueprint, own, _packed(small, member, blueprint, own), provenance,
                cards=[card_of[classes[number]] for number in own] if card_of else (),
            )
        )  # fmt: skip
    return made


def _samples_of(
    fresh: Sequence[str],
    classes: Sequence[str],
    members: Sequence[Specialist],
    others: Sequence[Specialist],
    data: Dataset | None,
    seed: int,
) -> Split:
    """Return samples of the new classes, or draws, with ids in the joined list."""
    if data is None:
        cards = cards_of(others, fresh)
        counts = [min(max(round(card.count), DRAWS[0]), DRAWS[1]) for card in cards.values()]
        drawn = draw_split(cards, classes, max(counts), seed + 1)
        assert drawn is not None
        return drawn
    check_like(members, data)
    missing = [name for name in fresh if name not in data.classes]
    if missing:
        raise DataError(f"{data.name} has no class {missing[0]}; leave the data out to draw from its card")
    place = torch.full((len(data.classes),), -1)
    place[[data.classes.index(name) for name in fresh]] = torch.tensor(
        [classes.index(name) for name in fresh]
    )
    ids = place[data.train.y.cpu()]
    if not bool((ids >= 0).any()):
        raise DataError(f"{data.name} has no training samples of the new classes")
    return Split(data.train.x.cpu().flatten(1)[ids >= 0], ids[ids >= 0])


def _blueprint_for(
    members: Sequence[Specialist], others: Sequence[Specialist], classes: tuple[str, ...]
) -> Blueprint:
    """Return the blueprint of those in slots: that of the new ones, if their slots are large enough."""
    first = members[0].blueprint
    # Networks of the others that cannot grow stand on their own; those of the members have to.
    sized = [other for other in others if has_sizes(other.blueprint.net)]
    in_slots = [member for member in (*members, *sized) if member.provenance.slots]
    if not any(member.provenance.slots for member in members):
        return first
    nets = [roomier(member.blueprint.net, len(member.classes), len(classes)) for member in in_slots]
    alike = [net for net in nets if go_side_by_side(net, nets[0])]
    sizes = tuple(max(each) for each in zip(*(net.sizes for net in alike), strict=True))
    return replace(first, net=NetSpec(nets[0].name, sizes, nets[0].options), classes=classes)


def _check_can_learn(member: Specialist) -> None:
    """Refuse specialists that cannot be taught what came after them."""
    if not isinstance(member.blueprint.net, NetSpec):
        raise SpecError(
            f"{member!r} is a network of your own, whose number of outputs is its own affair; train it anew for more "
            "classes"
        )
    if has_batch_norm(member.blueprint.network()):
        raise SpecError(
            f"{member!r} has batch norm, whose statistics cannot be had from cards; train it anew"
        )


def _widened(member: Specialist, classes: tuple[str, ...]) -> Small:
    """Return the network of a specialist, the small one where it has a slot, over a wider class list."""
    assert isinstance(member.blueprint.net, NetSpec)
    small = (
        member.small
        if member.provenance.slots
        else Small(member.state, dict(member.masks), member.blueprint.net.sizes)
    )
    places = Places(member.classes, member.rewarded, classes)
    return Small(*side_by_side([small], [places]), small.sizes)


def _net_of(member: Specialist, small: Small) -> NetSpec:
    net = member.blueprint.net
    assert isinstance(net, NetSpec)
    options = tuple((name, 0.0 if name == "dropout" else value) for name, value in net.options)
    return NetSpec(net.name, small.sizes, options)


def _packed(small: Small, member: Specialist, blueprint: Blueprint, own: Sequence[int]) -> dict[str, Packed]:
    if member.provenance.slots:
        return in_slot_of(small, Places(blueprint.classes, own, blueprint.classes), blueprint, own)
    return {name: pack(tensor, small.masks[name]) for name, tensor in small.state.items()}


def _taught(
    net: NetSpec,
    members: Sequence[Specialist],
    smalls: Sequence[Small],
    lesson: _Lesson,
    *,
    steps: int,
    lr: float,
    keeping: float,
    claimed: float,
    device: torch.device | str | None,
    progress: bool,
) -> dict[int, Small]:
    """Return the networks of those that claim new samples, changed."""
    first = members[0].blueprint
    shape, temperature = first.input_shape, first.temperature
    build = builder_of(net, shape, len(lesson.classes))
    new = Split(lesson.new.x.reshape(-1, *shape), lesson.new.y)
    every = _population(build, smalls, device)
    claims = _claims(every, new, temperature)
    chosen = [place for place in range(len(members)) if claims[place] > claimed]
    known = len(lesson.cards)
    count = min(max(_ALL_DRAWS // known, DRAWS[0]), DRAWS[1])
    drawn = draw_split(dict(lesson.cards), lesson.classes, count, lesson.seed)
    assert drawn is not None
    changed = {}
    for start in range(0, len(chosen), _AT_ONCE):
        together = chosen[start : start + _AT_ONCE]
        own = [_own_draws(members[n], lesson) for n in together]
        x = torch.cat([new.x, *(one.reshape(-1, *shape) for one in (drawn.x, *own))])
        population = _population(build, [smalls[n] for n in together], device)
        said = population(x).cpu() / temperature
        # Which of the samples each sees: the new ones, draws of all, and those of its own classes.
        begin, seen, weights = len(new) + len(drawn), [], torch.zeros(len(together), len(x))
        weights[:, : len(new)] = 1 / len(new)
        weights[:, len(new) : begin] = keeping / 2 / len(drawn)
        for row, draws in enumerate(own):
            seen.append(
                torch.cat([torch.arange(len(new) + len(drawn)), torch.arange(begin, begin + len(draws))])
            )
            weights[row, begin : begin + len(draws)] = keeping / 2 / len(draws)
            begin += len(draws)
        is_new = torch.zeros(len(x)).index_fill_(0, torch.arange(len(new)), 1.0).expand(len(together), -1)
        history = population.fit(
            Split(x, torch.zeros(len(x))),
            targets=torch.cat([is_new.unsqueeze(2), said], 2),
            subsets=seen,
            weights=weights * len(seen[0]),
            epochs=max(1, math.ceil(steps / math.ceil(len(seen[0]) / BATCH))),
            batch_size=BATCH,
            optimizer=Adam(lr=lr),
            objective=partial(_uniform_or_as_before, temperature=temperature),
            metrics={},
            keep="last",
            progress=progress and "introducing",
        )
        if bool(history.diverged.any()):
            raise TrainingError(f"specialists diverged while they were introduced; lower lr ({lr})")
        for row, place in enumerate(together):
            state = {name: tensor[row].cpu() for name, tensor in population.params.items()}
            changed[place] = smalls[place]._replace(state=state)
    return changed


def _population(build: object, smalls: Sequence[Small], device: torch.device | str | None) -> Population:
    population = Population(build, [0] * len(smalls), device=device)  # type: ignore[arg-type]
    population.start_from(
        {name: torch.stack([small.state[name] for small in smalls]) for name in population.params}
    )
    masks = {name: torch.stack([small.masks[name] for small in smalls]) for name in population.params}
    if not all(bool(mask.all()) for mask in masks.values()):
        population.set_masks(masks)
    return population


def _claims(population: Population, new: Split, temperature: float) -> list[float]:
    """Return each member's loss on the new class that it claims most, above that of a uniform answer."""
    ids, of = new.y.unique(return_inverse=True)
    sums = torch.zeros(len(population), len(ids))
    for x, rows in zip(new.x.split(_ROWS), of.split(_ROWS), strict=True):  # logits of all members take room
        log_p = (population(x).cpu() / temperature).log_softmax(2)
        sums.index_add_(1, rows, -log_p.mean(2) - math.log(log_p.shape[2]))
    claimed: list[float] = (sums / of.bincount()).amax(1).tolist()
    return claimed


def _own_draws(member: Specialist, lesson: _Lesson) -> Tensor:
    count = -(-OF_ITS_OWN // len(member.known))
    own = draw_split(
        {name: lesson.cards[name] for name in member.known}, lesson.classes, count, lesson.seed + 2
    )
    assert own is not None
    return own.x


def _uniform_or_as_before(logits: Tensor, target: Tensor, temperature: float) -> Tensor:
    """Return the loss of samples whose target is whether they are new, and what was said to them."""
    is_new, said = target[:, 0], target[:, 1:]
    logits = logits / temperature
    uniform = -F.log_softmax(logits, 1).mean(1)
    change = (logits - logits.mean(1, keepdim=True)) - (said - said.mean(1, keepdim=True))
    return torch.where(is_new > 0, uniform, change.square().sum(1))
