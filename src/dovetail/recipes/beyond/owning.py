"""Owning: the work of owners who each have some of the samples, and what can be made of what they send.

With parts an owner sends the cards of its classes, gets those of the others, and sends the part of each class of which
it has the most samples; or it sends sums, and gets nothing. Features have mean 0 and variance 1 of all training
samples, which follow from the cards of all: they add up.
"""

from __future__ import annotations

import copy
import math
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ...data.dataset import Dataset
from ...data.split import Split
from ...errors import TrainingWarning, unknown_name
from ...specialists import Part, Specialist, combine, sums, train_specialists
from ...specialists.cards import Card, pooled
from ...specialists.closed_form.sums import Sums, add_sums
from ...specialists.composite import compose_quietly
from ..data import DATA_SIZES
from ..unit import Row, Settings
from ..works import Work, Workload
from .known_trunks import features_of
from .yardsticks import accuracy_of, joined, new_head, train_head

DRAWS = 1000
"""Of a class whose samples others have, at most; they count as much as these samples."""


def owners_of(splits: Sequence[Split], shares: Tensor, seed: int) -> list[Tensor]:
    """Return who has each sample of some splits.

    Parameters
    ----------
    splits : sequence of Split
        Samples with class ids. What an owner has of a class is about the same share of each split.
    shares : Tensor
        ``[classes, owners]``: which share of a class each owner has.
    seed : int
        What is drawn from.

    Examples
    --------
    >>> split = Split(torch.zeros(4, 1), torch.tensor([0, 0, 1, 1]))
    >>> owners_of([split], torch.tensor([[0.5, 0.5], [0.0, 1.0]]), seed=0)[0].sort().values
    tensor([0, 1, 1, 1])
    """
    generator = torch.Generator().manual_seed(seed)
    found = []
    for split in splits:
        owner = torch.empty_like(split.y)
        for number, own in enumerate(shares):
            rows = (split.y == number).nonzero().squeeze(1)
            rows = rows[torch.randperm(len(rows), generator=generator)]
            ends = (own.cumsum(0) * len(rows)).round().long()
            owner[rows] = torch.bucketize(torch.arange(len(rows)), ends, right=True).clamp(max=len(own) - 1)
        found.append(owner)
    return found


def shares_of(kind: str, classes: int, owners: int, seed: int) -> Tensor:
    """Return which share of each class every owner has, ``[classes, owners]``.

    Parameters
    ----------
    kind : {"classes", "dirichlet"}
        Each class with one owner, as many with each; or shares drawn from a Dirichlet distribution of concentration .1.
    classes, owners, seed : int
        How many there are, and what is drawn from.

    Examples
    --------
    >>> shares_of("classes", 4, 2, seed=0).sum(0)
    tensor([2., 2.])
    """
    generator = np.random.default_rng(seed)
    if kind == "classes":
        owner = torch.from_numpy(generator.permutation(classes) * owners // classes)
        return nn.functional.one_hot(owner, owners).float()
    if kind != "dirichlet":
        raise unknown_name("way to share out classes", kind, ("classes", "dirichlet"))
    return torch.from_numpy(generator.dirichlet([0.1] * owners, classes)).float()


@dataclass(frozen=True)
class _Owned:
    """A data set in the hands of several.

    Attributes
    ----------
    data : Dataset
        All of it, which nobody has; on its test split all is measured.
    train, val : list of Split
        What each owner has.
    """

    data: Dataset
    train: list[Split]
    val: list[Split]

    @classmethod
    def of(cls, settings: Settings) -> _Owned:
        """Share features out as settings say."""
        data = features_of(settings["trunk"], settings["data"])
        data = replace(data, preparation=None)
        count, seed = settings["owners"], settings["seed"]
        shares = shares_of(settings["shares"], data.outputs, count, seed)
        train, val = owners_of([data.train, data.val], shares, seed)
        return cls(
            data,
            [data.train.where(train == owner) for owner in range(count)],
            [data.val.where(val == owner) for owner in range(count)],
        )


def run(settings: Settings, device: torch.device) -> Row:
    """Let owners learn, put together what they send, and measure it.

    Returns
    -------
    dict
        ``methods``: for each ``accuracy`` on test and ``validation`` samples of all classes, and ``sent``, the bytes
        that an owner sends, in the mean; None where it would have to send its samples.
    """
    if settings["kind"] not in _KINDS:
        raise unknown_name("kind of sharing", settings["kind"], _KINDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        found = _KINDS[settings["kind"]](_Owned.of(settings), settings, device)
    return {
        "methods": {
            name: {"accuracy": round(test, 6), "validation": round(val, 6), "sent": sent}
            for name, (val, test, sent) in found.items()
        }
    }


_Found = dict[str, tuple[float, float, float | None]]


def _parts(owned: _Owned, settings: Settings, device: torch.device) -> _Found:
    """Compose the specialists of owners, add their sums, and combine both."""
    data = owned.data
    net = f"mlp:{settings['units'] * data.outputs},dropout=0"
    how: dict[str, Any] = {
        "slots": True, "seed": settings["seed"], "device": device, "progress": False, **settings["training"],
    }  # fmt: skip
    cards = [_cards_of(own, data.outputs) for own in owned.train]
    most = torch.stack([own.y.bincount(minlength=data.outputs) for own in owned.train]).argmax(0)
    specialists: list[Specialist] = []
    for owner in range(len(cards)):
        if mine := (most == owner).nonzero().squeeze(1).tolist():
            seen, weights = _beside_cards(owned, owner, cards, settings["seed"])
            specialists += train_specialists(seen, net, mine, sample_weights=weights, **how)
    specialists.sort(key=lambda part: part.rewarded)
    whole = compose_quietly(specialists)
    of_owners = [_sums_of(replace(data, train=own), settings) for own in owned.train if len(own)]
    added = add_sums(of_owners)
    both = combine([whole, added], data.val, device=device)
    part, summed = _bytes_of(specialists) / len(cards), _bytes_of(of_owners) / len(cards)
    sent: dict[str, tuple[Part, float]] = {
        "specialists": (whole, part),
        "sums": (added, summed),
        "both": (both, part + summed),
    }

    def score(one: Part, split: Split) -> float:
        return one.evaluate(split, device=device).rewarded_accuracy

    return {name: (score(one, data.val), score(one, data.test), size) for name, (one, size) in sent.items()}


def _cards_of(own: Split, classes: int) -> dict[int, Card]:
    """Return the cards of the classes of which an owner has samples."""
    return {
        number: Card.of(own.x[own.y == number]) for number in range(classes) if bool((own.y == number).any())
    }


def _beside_cards(
    owned: _Owned, owner: int, cards: Sequence[Mapping[int, Card]], seed: int
) -> tuple[Dataset, Tensor]:
    """Return an owner's samples and draws of what the others have, and what each training sample counts."""
    train, val = [owned.train[owner]], [owned.val[owner]]
    weights = [torch.ones(len(train[0]))]
    for number in range(owned.data.outputs):
        theirs = [own[number] for place, own in enumerate(cards) if place != owner and number in own]
        if not theirs:
            continue
        card = pooled(theirs)
        count = min(round(card.count), DRAWS)
        held = max(1, count // 5)
        drawn = card.draw(count + held, seed * 1_000_003 + owner * 1009 + number)
        ids = torch.full((len(drawn),), number)
        train.append(Split(drawn[:count], ids[:count]))
        val.append(Split(drawn[count:], ids[count:]))
        weights.append(torch.full((count,), card.count / count))
    return replace(owned.data, train=joined(train), val=joined(val)), torch.cat(weights)


def _sums_of(data: Dataset, settings: Settings) -> Sums:
    """Return the sums of an owner."""
    present = data.train.y.unique().tolist()
    return add_sums(sums(data, present, features=settings["features"], seed=settings["seed"]))


def _bytes_of(parts: Sequence[Part]) -> float:
    """Return the bytes of the files of parts."""
    with tempfile.TemporaryDirectory() as folder:
        return float(sum(part.save(Path(folder) / "part.safetensors").stat().st_size for part in parts))


def _federated(owned: _Owned, settings: Settings, device: torch.device) -> _Found:
    """Average heads of owners by `federated`, and their logits; beside a head of all samples."""
    data, head = owned.data, settings["head"]
    size, outputs = data.train.x.shape[1], data.outputs
    first = new_head(size, head["hidden"], outputs, settings["seed"])
    joint = copy.deepcopy(first)
    train_head(joint, data.train, outputs=outputs, epochs=head["epochs"], lr=head["lr"],
               batch_size=head["batch_size"], seed=settings["seed"])  # fmt: skip
    once = 4.0 * sum(weights.numel() for weights in first.parameters())
    local = [own for own in owned.train if len(own)]
    made: dict[str, tuple[nn.Module, float | None]] = {"joint head": (joint, None)}
    for rounds, epochs in settings["rounds"]:
        heads = federated(
            first, local, rounds=rounds, epochs=epochs, lr=settings["lr"], batch_size=head["batch_size"],
            seed=settings["seed"],
        )  # fmt: skip
        made[f"FedAvg, {rounds} round{'s' * (rounds > 1)}"] = (heads.average, rounds * once)
        if rounds == 1:
            made["averaged logits"] = (_MeanLogits(heads.owners), once)
    return {
        name: (accuracy_of(one, data.val, outputs), accuracy_of(one, data.test, outputs), sent)
        for name, (one, sent) in made.items()
    }


@dataclass(frozen=True)
class Federated:
    """What `federated` ends with: the average, and the heads of the last round that it is of."""

    average: nn.Module
    owners: list[nn.Module]


def federated(
    first: nn.Module,
    owned: Sequence[Split],
    *,
    rounds: int,
    epochs: int,
    lr: float,
    batch_size: int,
    seed: int,
) -> Federated:
    """Return what federated averaging gives: in each round every owner trains the average on, and all are averaged.

    Owners train by plain gradient descent, and count by their samples (McMahan et al., 2017).

    Parameters
    ----------
    first : Module
        What they begin with; it stays as it is.
    owned : sequence of Split
        What each owner has.
    rounds, epochs : int
        How often is averaged, and how long owners train in each round.
    lr, batch_size, seed
        How they train.
    """
    average = copy.deepcopy(first)
    share = torch.tensor([len(own) for own in owned], dtype=torch.float32)
    share /= share.sum()
    generator = torch.Generator().manual_seed(seed)
    heads: list[nn.Module] = []
    for _ in range(rounds):
        heads = [copy.deepcopy(average) for _ in owned]
        for head, own in zip(heads, owned, strict=True):
            optimizer = torch.optim.SGD(head.parameters(), lr=lr)
            for _ in range(epochs):
                for rows in torch.randperm(len(own), generator=generator).split(batch_size):
                    loss = nn.functional.cross_entropy(head(own.x[rows]), own.y[rows])
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
        with torch.no_grad():
            for weights, *theirs in zip(
                average.parameters(), *(head.parameters() for head in heads), strict=True
            ):
                weights.copy_(torch.einsum("o,o...->...", share, torch.stack(list(theirs))))
    return Federated(average, heads)


class _MeanLogits(nn.Module):
    """Heads whose logits are averaged."""

    def __init__(self, heads: Sequence[nn.Module]) -> None:
        super().__init__()
        self.heads = nn.ModuleList(heads)

    def forward(self, x: Tensor) -> Tensor:
        return torch.stack([head(x) for head in self.heads]).mean(0)


_KINDS: Mapping[str, Callable[[_Owned, Settings, torch.device], _Found]] = {
    "parts": _parts,
    "federated": _federated,
}


def workload(settings: Settings) -> Workload:
    """Return how much work it is, in samples that pass through networks and products of features."""
    size, head = DATA_SIZES[settings["data"]["name"]], settings["head"]
    inputs, outputs = settings["inputs"], settings["outputs"]
    epochs = head["epochs"] + sum(rounds * local for rounds, local in settings["rounds"])
    heads = epochs * head["hidden"] * (inputs + outputs)
    parts = settings["training"]["epochs"] * settings["units"] * outputs * (inputs + outputs) * 2
    passes = {"federated": heads, "parts": parts + settings["features"] ** 2 / 3}[settings["kind"]]
    steps = epochs * math.ceil(size.training / head["batch_size"]) if settings["kind"] == "federated" else 0
    return Workload(core_seconds=5 + 6 * size.training * passes / 0.03e12 + 4e-4 * steps)


def label(settings: Settings) -> str:
    """Return whose samples these are, and what is made of them."""
    return (
        f"{settings['data']['name']}, {settings['trunk']}, {settings['owners']} owners, {settings['shares']}, "
        f"{settings['kind']}, seed {settings['seed']}"
    )


WORK = Work(run, workload, label)
