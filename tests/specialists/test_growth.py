from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import dovetail as dt
from dovetail.errors import DataError, MisfitError, SpecError
from dovetail.specialists import Composite, Team, add_class, data_beside, introduce
from dovetail.specialists.cards import Card
from dovetail.specialists.data_for import over_list
from dovetail.specialists.growth import draw_split, roomier, train_beside

from .helpers import CLASSES, inputs, make_specialist
from .test_cards import split_of, team_with_cards

HOW = {"epochs": 30, "lr": 3e-3, "progress": False}


def only(data: dt.Dataset, names: str) -> dt.Dataset:
    """The samples of some digits."""
    place = torch.full((len(data.classes),), -1)
    place[[data.classes.index(name) for name in names]] = torch.arange(len(names))

    def some(split: dt.Split) -> dt.Split:
        return dt.Split(split.x[place[split.y] >= 0], place[split.y][place[split.y] >= 0])

    train, val, test = (some(split) for split in data.splits.values())
    return replace(data, train=train, val=val, test=test, classes=tuple(names))


@pytest.fixture(scope="module")
def digits() -> dt.Dataset:
    return dt.load("digits")


@pytest.fixture(scope="module")
def team(digits: dt.Dataset) -> Team:
    return dt.train_specialists(only(digits, "0123456"), "mlp:140,dropout=0", slots=True, **HOW)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def more(digits: dt.Dataset, team: Team) -> Team:
    return dt.train_specialists(only(digits, "789"), beside=team, **HOW)  # type: ignore[arg-type]


def test_new_specialists_fit_beside_others(digits: dt.Dataset, team: Team, more: Team) -> None:
    assert [part.known for part in more] == [("7",), ("8",), ("9",)]
    assert {part.classes for part in more} == {tuple("0123456789")}
    assert {str(part.blueprint.net) for part in more} == {"mlp:200,dropout=0"}
    assert all(part.provenance.slots and part.blueprint.temperature == 5 for part in more)
    assert more[0].cards["7"].count == int((digits.train.y == 7).sum())  # draws are in no card
    whole = dt.compose([*team, *more])
    assert whole.evaluate(digits.test).rewarded_accuracy > 0.85
    assert whole.without("7", "8", "9") == dt.compose(team)


def test_introduction_keeps_what_was_known_and_makes_room_for_what_is_new(
    digits: dt.Dataset, team: Team, more: Team
) -> None:
    old = team.introduce(more, progress=False)
    assert isinstance(old, Team)
    assert [part.known for part in old] == [part.known for part in team]
    whole, plain = dt.compose([*old, *more]), dt.compose([*team, *more])
    assert whole.classes == tuple("0123456789")
    changed = [after for before, after in zip(team, old, strict=True) if after is not before]
    assert changed
    assert {part.blueprint for part in changed} == {more[0].blueprint}  # one network, each class in its slot
    accuracy = {
        name: part.evaluate(digits.test).rewarded_accuracy
        for name, part in (("with", whole), ("without", plain))
    }
    assert accuracy["with"] > 0.93
    assert accuracy["with"] > accuracy["without"]
    # On samples of new classes old ones claim less than before; on those of their own they say what they said.
    new = digits.test.x[digits.test.y >= 7]
    claims = [
        sum(float(part(new).softmax(1)[:, part.rewarded].mean()) for part in parts) for parts in (old, team)
    ]
    assert claims[0] < claims[1]
    for before, after in zip(team, old, strict=True):
        own = digits.test.x[digits.test.y == int(before.knows)]
        number = after.classes.index(before.knows)
        sure = after(own).softmax(1)[:, number], before(own).softmax(1)[:, before.rewarded[0]]
        assert float((sure[0] - sure[1]).abs().mean()) < 0.1
        assert after.cards[before.knows].count == before.cards[before.knows].count


def test_who_claims_nothing_of_the_new_is_not_changed(team: Team, more: Team) -> None:
    assert all(
        after is before
        for before, after in zip(team, team.introduce(more, claimed=1e9, progress=False), strict=True)
    )
    changed = team.introduce(more, claimed=-1.0, progress=False)
    assert all(part.provenance.metrics["introduced"] == 3 for part in changed)


def test_samples_and_cards_both_introduce(digits: dt.Dataset, team: Team, more: Team) -> None:
    by_samples = team.introduce(more, only(digits, "789"), progress=False)
    by_cards = team.introduce(more, progress=False)
    assert any(a != b for a, b in zip(by_samples, by_cards, strict=True))
    accuracy = dt.compose([*by_samples, *more]).evaluate(digits.test).rewarded_accuracy
    assert accuracy > 0.93
    assert team.introduce(more, progress=False).to_dict()["specialists"] == by_cards.to_dict()["specialists"]
    assert all(
        a == b for a, b in zip(team.introduce(more, progress=False), by_cards, strict=True)
    )  # by its seed


def test_parts_outside_of_slots_grow_for_averaged_logits(digits: dt.Dataset) -> None:
    old = dt.train_specialists(only(digits, "012"), "mlp:30,dropout=0", sparsity=0.5, **HOW)  # type: ignore[arg-type]
    new = dt.train_specialists(only(digits, "3"), beside=old, sparsity=0.5, **HOW)  # type: ignore[arg-type]
    assert str(new[0].blueprint.net) == "mlp:30,dropout=0"
    introduced = old.introduce(new, progress=False)
    assert any(before is not after for before, after in zip(old, introduced, strict=True))
    for before, after in zip(old, introduced, strict=True):
        kept = before.masks["dense1.weight"]
        assert torch.equal(after.masks["dense1.weight"], kept)
        assert not after.state["dense1.weight"][~kept].any()
    whole = dt.compose([*introduced, *new], "logits")
    assert whole.evaluate(only(digits, "0123").test).rewarded_accuracy > 0.9
    with pytest.raises(MisfitError, match="class lists"):
        dt.compose([*old, *new])


def test_a_class_is_added_to_a_composite(digits: dt.Dataset, team: Team) -> None:
    whole = dt.compose(team)
    eight = add_class(whole, only(digits, "7"), progress=False)
    assert eight.known == tuple("01234567")
    assert eight.evaluate(only(digits, "01234567").test).rewarded_accuracy > 0.9
    (part,) = [one for one in eight.specialists if one.known == ("7",)]
    assert part.provenance.training["lr"] == 3e-3  # as the others were
    assert eight.without("7") == dt.compose(one for one in eight.specialists if one.known != ("7",))
    bare = add_class(whole, only(digits, "7"), introduction=False, progress=False)
    assert bare.without("7") == whole
    average = add_class(dt.compose(team, "logits", weights=range(1, 8)), only(digits, "7"), progress=False)
    assert sorted(average.weights) == [1, 2, 3, 4, 4, 5, 6, 7]


def test_samples_of_known_classes_take_the_place_of_draws(digits: dt.Dataset, team: Team) -> None:
    found = train_beside(only(digits, "06789"), team, None, None, 0)
    assert found.rewarded == [["7"], ["8"], ["9"]]
    counts = found.data.train.y.bincount()
    real = digits.train.y.bincount()
    assert counts[[0, 6, 7, 8, 9]].tolist() == real[[0, 6, 7, 8, 9]].tolist()
    assert len(set(counts[1:6].tolist())) == 1
    assert found.data.classes == tuple("0123456789")
    assert found.drawn == int(counts[1:6].sum())
    assert found.weights(None) is None


def test_few_draws_of_many_classes_count_more() -> None:
    cards = [Card.of(inputs(50, seed=n), directions=2) for n in range(5)]
    parts = []
    for start in range(0, 300, 5):
        names = tuple(f"c{n}" for n in range(start, start + 5))
        one = make_specialist((0, 1, 2, 3, 4), "mlp:5", classes=names, slots=True)
        parts.append(
            dt.specialists.Specialist(one.blueprint, one.rewarded, one.weights, one.provenance, cards=cards)
        )
    split = dt.Split(inputs(40, seed=8), torch.zeros(40).long())
    data = dt.Dataset("new", split, split, split, ("new",))
    found = train_beside(data, parts, None, None, 0)
    assert len(found.data.train) == 40 + 300 * 10  # the least
    weights = found.weights(None)
    assert weights is not None
    assert float(weights[40:].sum()) == pytest.approx(40 * 300)  # as much as 40 of each class
    doubled = found.weights(torch.full((40,), 2.0))
    assert doubled is not None
    torch.testing.assert_close(doubled, 2 * weights)
    assert found.net is not None
    assert str(found.net) == "mlp:301"


def test_draws_have_the_moments_of_their_cards() -> None:
    cards = {name: Card.of(inputs(400, seed=n) * (n + 1), directions=6) for n, name in enumerate(("b", "a"))}
    split = draw_split(cards, ("a", "x", "b"), 20_000, seed=3)
    assert split is not None
    for number, name in ((0, "a"), (2, "b")):
        own = split.x[split.y == number].double().numpy()
        np.testing.assert_allclose(own.mean(0), cards[name].mean.numpy(), atol=0.06)
        np.testing.assert_allclose(np.cov(own.T), cards[name].covariance().numpy(), atol=0.15)


def test_draws_are_a_whole_number_from_a_seed() -> None:
    card = Card.of(inputs(20))
    given: list[Any] = [(-1, 0, "count"), (2.5, 0, "count"), (3, "a", "seed"), (3, -1, "seed")]
    for count, seed, name in given:
        with pytest.raises(SpecError, match=f"{name} is a whole number from 0; got"):
            card.draw(count, seed=seed)
    assert card.draw(0).shape == (0, len(card.mean))


def test_over_a_list_names_stay_what_they_are(digits: dt.Dataset) -> None:
    classes = ("zero", *reversed(digits.classes))
    found = over_list(digits, classes)
    for name, split in found.splits.items():
        before = [digits.classes[n] for n in digits.splits[name].y.tolist()]
        assert [classes[n] for n in split.y.tolist()] == before


def test_what_is_missing_is_named(digits: dt.Dataset, team: Team, more: Team) -> None:
    bare = [part.without_cards() for part in team]
    with pytest.raises(DataError, match=r"no card of 0, 1, 2, 3, 4, 5, 6, and no sample of it"):
        dt.train_specialists(only(digits, "7"), beside=bare, **HOW)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no samples of a class that is not known yet"):
        dt.train_specialists(only(digits, "12"), beside=team, **HOW)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="not prepared like"):
        dt.train_specialists(dt.Dataset.from_arrays(inputs(40).numpy(), ["a", "b"] * 20), beside=team, **HOW)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="no class among the new ones"):
        team.introduce(team, progress=False)
    with pytest.raises(SpecError, match="no specialists to grow beside"):
        introduce([], more)
    with pytest.raises(SpecError, match="have no sizes"):
        roomier(make_specialist((0,), "small-cnn", shape=(1, 8, 8)).blueprint.net, 5, 6)
    odd = make_specialist((0,), classes=CLASSES, temperature=2.0)
    with pytest.raises(MisfitError, match="different inputs or temperatures"):
        introduce([*team_with_cards(1), odd], more)
    normed = make_specialist((0,), "mlp:10,batch_norm=true", slots=True)
    card = Card.of(split_of().x)
    normed = dt.specialists.Specialist(
        normed.blueprint, (0,), normed.weights, normed.provenance, cards=[card]
    )
    with pytest.raises(SpecError, match="has batch norm"):
        introduce(normed, [part.rename({"bee": "wasp"}) for part in team_with_cards(2)[1:]])


@pytest.mark.filterwarnings("ignore::dovetail.errors.TrainingWarning")
def test_the_temperature_is_that_of_the_others_and_another_is_refused(digits: dt.Dataset) -> None:
    new, how = only(digits, "7"), {"epochs": 1, "progress": False}
    old = dt.train_specialists(only(digits, "01"), "mlp:8", temperature=2.0, **how)  # type: ignore[arg-type]
    for given in ({}, {"temperature": 2.0}):
        found = dt.train_specialists(new, beside=old, **given, **how)  # type: ignore[arg-type]
        assert found[0].blueprint.temperature == 2
    with pytest.raises(SpecError, match=r"temperature=1\.0, and those that are there have 2"):
        dt.train_specialists(new, beside=old, temperature=1.0, **how)  # type: ignore[arg-type]


class Wide(nn.Sequential):
    def __init__(self, classes: int = 3) -> None:
        super().__init__(nn.Flatten(), nn.Linear(64, 30), nn.ReLU(), nn.Linear(30, classes))


@pytest.mark.filterwarnings("ignore::dovetail.errors.TrainingWarning")
def test_own_networks_in_slots_serve_a_list_that_does_not_grow(digits: dt.Dataset) -> None:
    few = only(digits, "012")
    own = dt.train_specialists(few, Wide, ["0", "1"], slots=True, epochs=1, progress=False)
    (third,) = dt.train_specialists(few, beside=own, epochs=1, progress=False)
    assert third.known == ("2",)
    assert third.blueprint.net == own[0].blueprint.net
    assert third.provenance.slots
    assert dt.compose([*own, third]).known == ("0", "1", "2")
    new = only(digits, "34")
    with pytest.raises(SpecError, match=r"grow from 3 classes to 5; give .* \(net=\) and compose .*'logits'"):
        dt.train_specialists(new, beside=own, epochs=1, progress=False)
    # What the message says to do works.
    more = dt.train_specialists(new, partial(Wide, 5), beside=own, epochs=1, progress=False)
    assert dt.compose([*own, *more], method="logits").known == ("0", "1", "3", "4")
    with pytest.raises(SpecError, match=r"a network of your own, .*; train it anew"):
        own.introduce(more, progress=False)


def test_what_is_no_part_is_refused_with_what_to_give(digits: dt.Dataset, team: Team, more: Team) -> None:
    for odd in (3, "parts/", [team[0], 3], None):
        with pytest.raises(SpecError, match="more takes a team, a part or a list of parts"):
            team.introduce(odd)  # type: ignore[arg-type]
    for samples in (digits, digits.train):
        with pytest.raises(SpecError, match=r"samples of new classes are data=.*introduce\(more, data=new\)"):
            team.introduce(samples)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="Split"):
        team.introduce(more, digits.train)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match=r"beside= takes a team, .*; got 3"):
        dt.train_specialists(digits, beside=3, **HOW)  # type: ignore[arg-type]


def test_tables_are_read_like_those_of_others_with_names_that_are_new(tmp_path: Path) -> None:
    for name, kinds in (("old", "ab"), ("new", "c")):
        rows = [f"{n % 7},{n % 3 + place},{kind}" for place, kind in enumerate(kinds) for n in range(30)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["width,height,kind", *rows]))
    old = dt.read(tmp_path / "old.csv", target="kind")
    team = dt.train_specialists(old, "mlp:8,dropout=0", slots=True, epochs=1, progress=False)
    new = data_beside(team[0], f"{tmp_path}/new.csv:target=kind")
    assert new.classes == ("a", "b", "c")
    assert new.preparation == old.preparation
    (third,) = dt.train_specialists(new, beside=team, epochs=1, progress=False)
    assert third.known == ("c",)
    assert Composite([*team, third]).known == ("a", "b", "c")
