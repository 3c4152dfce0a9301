from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from scipy.spatial.distance import cdist

import dovetail as dt
from dovetail.errors import DataError, DovetailWarning, FileFormatError, MisfitError, ShapeError, SpecError
from dovetail.io.header import KEY
from dovetail.specialists import Card, Specialist, open_file
from dovetail.specialists import cards as cards_module
from dovetail.specialists.cards import class_cards, nearness, pooled, with_shared_covariance
from dovetail.specialists.composite import Composite

from .helpers import CLASSES, inputs, make_specialist, make_team


def split_of(count: int = 60, shape: tuple[int, ...] = (6,), seed: int = 5) -> dt.Split:
    """Samples of five classes, each around a mean of its own."""
    y = torch.randint(len(CLASSES), (count,), generator=torch.Generator().manual_seed(seed))
    x = inputs(count, shape, seed=seed) + 2 * inputs(len(CLASSES), shape, seed=seed + 1)[y]
    return dt.Split(x, y)


def with_cards(part: Specialist, split: dt.Split) -> Specialist:
    found = class_cards(split, part.rewarded)
    cards = [found[number] for number in part.rewarded]
    return Specialist(part.blueprint, part.rewarded, part.weights, part.provenance, cards=cards)


def team_with_cards(count: int = 5, *, slots: bool = False) -> list[Specialist]:
    return [with_cards(part, split_of(300)) for part in make_team(count, slots=slots)]


def joined(parts: list[Specialist]) -> Composite:
    return Composite(parts)


@settings(max_examples=30)
@given(st.integers(5, 200), st.integers(0, 10**6), st.sampled_from([(6,), (1, 2, 3)]))
def test_cards_are_numpys_means_and_variances(count: int, seed: int, shape: tuple[int, ...]) -> None:
    split = split_of(count, shape, seed)
    found = class_cards(split, [0, 3])
    x, y = split.x.flatten(1).double().numpy(), split.y.numpy()
    assert set(found) == {0, 3} & set(y.tolist())
    for number, card in found.items():
        own = x[y == number]
        assert card.count == len(own)
        np.testing.assert_allclose(card.mean.numpy(), own.mean(0), atol=1e-6)
        np.testing.assert_allclose(card.variance.numpy(), own.var(0), rtol=1e-5, atol=1e-7)


def test_cards_are_the_same_however_many_samples_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    split = split_of(300)
    whole = class_cards(split, range(5))
    monkeypatch.setattr(cards_module, "_ROWS", 7)
    for number, card in class_cards(split, range(5)).items():
        torch.testing.assert_close(card.mean, whole[number].mean)
        torch.testing.assert_close(card.variance, whole[number].variance)
    few_at_once = nearness(list(whole.values()), split.x)
    monkeypatch.undo()
    torch.testing.assert_close(nearness(list(whole.values()), split.x), few_at_once)


@settings(max_examples=30)
@given(st.integers(10, 200), st.integers(0, 10**6))
def test_cards_of_parts_add_up_to_the_card_of_all_samples(count: int, seed: int) -> None:
    split = split_of(count, seed=seed)
    found = list(class_cards(split, range(5)).values())
    x = split.x.double().numpy()
    one_by_one = sum(found[1:], start=found[0])
    for total in (pooled(found), one_by_one, sum(reversed(found))):
        assert isinstance(total, Card)
        assert total.count == count
        np.testing.assert_allclose(total.mean.numpy(), x.mean(0), atol=1e-5)
        np.testing.assert_allclose(total.variance.numpy(), x.var(0), rtol=1e-4)


@settings(max_examples=30)
@given(st.integers(1, 5), st.integers(0, 10**6))
def test_nearness_is_a_difference_of_mahalanobis_distances(classes: int, seed: int) -> None:
    split, other = split_of(200, seed=seed), 5 * inputs(20, seed=seed + 7)
    found = class_cards(split, range(classes))
    x, y, samples = (t.double().numpy() for t in (split.x, split.y, other))
    own = np.isin(y, list(found))
    x, y = x[own], y[own].astype(int)
    means = np.stack([x[y == number].mean(0) for number in found])
    rows = np.searchsorted(list(found), y)
    within = (x - means[rows]).var(0)  # each class around its own mean
    between = x.var(0) - within
    ridge = 0.03 * x.var(0).mean()
    nearest = cdist(samples, means, "seuclidean", V=within + ridge).min(1) ** 2
    wanted = -nearest
    if (k := len(found)) > 1:
        unseen = within + ridge + between * (k + 1) / (k - 1)
        wanted = cdist(samples, x.mean(0)[None], "mahalanobis", VI=np.diag(1 / unseen))[:, 0] ** 2 - nearest
    np.testing.assert_allclose(nearness(list(found.values()), other).numpy(), wanted, rtol=1e-4, atol=1e-3)


def test_numbers_that_never_vary_and_far_samples_give_finite_distances() -> None:
    card = Card(3, torch.zeros(2), torch.zeros(2))
    assert nearness([card], torch.zeros(1, 2)).item() == 0
    assert torch.isfinite(nearness([card, card], torch.tensor([[1e3, 1.0]]))).all()
    cards = [Card(3, torch.tensor([m, 0.0]), torch.tensor([1.0, 0.0])) for m in (0.0, 4.0)]
    near, odd, far = nearness(cards, torch.tensor([[0.0, 0.0], [0.0, 1.0], [1e30, 0.0]])).tolist()
    assert near > odd > far > -np.inf


def test_samples_of_too_many_numbers_have_no_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards_module, "MOST_NUMBERS", 5)
    assert class_cards(split_of(), range(5)) == {}


def test_training_gives_cards_that_do_not_depend_on_who_else_is_trained() -> None:
    data = dt.load("digits")
    team = dt.train_specialists(data, "mlp:20", [3, (0, 8)], epochs=1, progress=False)
    (eight,) = dt.train_specialists(data, "mlp:20", [8], epochs=1, progress=False)
    assert list(team[1].cards) == ["0", "8"]
    own = data.train.x[data.train.y == 8].flatten(1)
    for card in (team[1].cards["8"], eight.cards["8"]):
        assert card.count == len(own)
        torch.testing.assert_close(card.mean, own.mean(0))
        torch.testing.assert_close(card.variance, own.var(0, correction=0))
    assert torch.equal(team[1].cards["8"].mean, eight.cards["8"].mean)
    assert set(dt.compose(team).cards) == {"0", "3", "8"}


@pytest.mark.parametrize("slots", [False, True])
def test_a_composite_without_a_class_is_the_one_that_never_had_it(slots: bool) -> None:
    a, b, c, *_ = team_with_cards(slots=slots)
    less = joined([a, b, c]).without("bee")
    never = joined([c, a])
    assert less == never
    split, samples = split_of(100), inputs(30)
    for confidence in ("distance", "both"):
        chosen, wanted = (part.with_threshold(split, confidence=confidence) for part in (less, never))
        assert chosen.threshold == wanted.threshold
        np.testing.assert_array_equal(chosen.answers(samples).confidence, wanted.answers(samples).confidence)


def test_files_hold_cards_and_checksums_cover_them(tmp_path: Path) -> None:
    pair = joined(team_with_cards(2)).with_threshold(split_of(100), confidence="both")
    path = pair.save(tmp_path / "pair.safetensors")
    opened = dt.open(path, Composite)
    assert opened == pair
    assert opened.digest != pair.without_cards().digest
    for name, card in pair.cards.items():
        assert opened.cards[name].count == card.count
        assert torch.equal(opened.cards[name].mean, card.mean)
        assert torch.equal(opened.cards[name].variance, card.variance)
    np.testing.assert_array_equal(opened.answers(inputs(9)).confidence, pair.answers(inputs(9)).confidence)
    assert "0/cards/mean" in load_file(path)


def rewritten(path: Path, tensors: dict[str, torch.Tensor]) -> Path:
    with safe_open(path, framework="pt") as file:
        text = file.metadata()[KEY]
    save_file(tensors, path, {KEY: text})
    return path


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("mean", torch.zeros(1, 6), "checksum"),
        ("mean", torch.full((1, 6), torch.nan), "finite"),
        ("variance", -torch.ones(1, 6), "0 or more"),
        ("variance", torch.ones(1, 7), "not of its inputs"),
        ("variance", torch.ones(1, 6).double(), "not of its inputs"),
        ("count", torch.zeros(1, dtype=torch.int64), "at least one sample"),
        ("count", None, "not complete"),
    ],
)
def test_damaged_cards_are_refused(
    tmp_path: Path, name: str, value: torch.Tensor | None, message: str
) -> None:
    path = team_with_cards(1)[0].save(tmp_path / "one.safetensors")
    tensors = load_file(path)
    del tensors[f"0/cards/{name}"]
    if value is not None:
        tensors[f"0/cards/{name}"] = value
    with pytest.raises(FileFormatError, match=message):
        dt.open(rewritten(path, tensors))


def test_files_without_the_cards_of_their_threshold_are_refused(tmp_path: Path) -> None:
    part = team_with_cards(1)[0].with_threshold(split_of(100), confidence="distance")
    path = part.save(tmp_path / "one.safetensors")
    kept = {name: tensor for name, tensor in load_file(path).items() if "/cards/" not in name}
    with pytest.raises(FileFormatError, match="distances to cards"):
        dt.open(rewritten(path, kept))


def test_cards_can_be_left_out(tmp_path: Path) -> None:
    pair = joined(team_with_cards(2))
    by_cards, by_entropy = (pair.with_threshold(split_of(100), confidence=c) for c in ("both", "entropy"))
    assert by_cards.without_cards().threshold is None
    assert by_entropy.without_cards().threshold == by_entropy.threshold
    bare = pair.without_cards()
    assert bare.cards == {}
    assert not bare.has_cards
    assert bare == joined(make_team(2))  # as if there had never been any
    torch.testing.assert_close(bare(inputs()), pair(inputs()))
    assert not [name for name in load_file(bare.save(tmp_path / "bare.safetensors")) if "cards" in name]
    assert team_with_cards(1)[0].without_cards() == make_team(1)[0]


def test_without_cards_entropy_takes_the_place_of_distances_and_says_so() -> None:
    mixed = joined([*team_with_cards(2), make_specialist((2,))])
    assert not mixed.has_cards
    with pytest.warns(DovetailWarning, match="no cards of cat, so entropy takes the place of 'distance'"):
        chosen = mixed.with_threshold(split_of(100), confidence="distance")
    assert chosen.threshold == mixed.with_threshold(split_of(100), confidence="entropy").threshold
    assert mixed.with_threshold(split_of(100)).threshold == chosen.threshold  # by default nobody asked
    default = joined(team_with_cards(2)).with_threshold(split_of(100)).threshold
    assert default is not None
    assert default.confidence == "both"


def test_scores_and_answers_are_of_the_same_distances() -> None:
    pair = joined(team_with_cards(2))
    split = split_of(400, seed=5)
    for confidence in ("distance", "both"):
        chosen = pair.with_threshold(split, "20%", confidence=confidence)
        known = np.isin(split.y.numpy(), [0, 1])
        answers = chosen.answers(split)
        score = chosen.evaluate(split)
        assert score.coverage == pytest.approx(0.8, abs=0.02)
        assert score.coverage == answers.decided[known].mean()
        assert score.refused == pytest.approx(1 - answers.decided[~known].mean())
        assert score.unknown_auroc is not None
    # These networks are random, so only distances can tell.
    by_distance = pair.with_threshold(split, confidence="distance").evaluate(split).unknown_auroc
    assert by_distance is not None
    assert by_distance > 0.9


def test_specialists_with_cards_can_be_copied_and_pickled() -> None:
    part = team_with_cards(1)[0]
    assert copy.deepcopy(part) == part
    assert pickle.loads(pickle.dumps(part)).cards["ant"].count == part.cards["ant"].count
    assert json.loads(part.manifest.to_text())["digest"] == part.digest


def test_what_is_no_card_is_refused() -> None:
    with pytest.raises(DataError, match="at least one sample"):
        Card(0, torch.zeros(2), torch.zeros(2))
    with pytest.raises(DataError, match="for each number"):
        Card(1, torch.zeros(2), torch.zeros(3))
    with pytest.raises(ShapeError, match="of 2 and of 3 numbers"):
        Card(1, torch.zeros(2), torch.zeros(2)) + Card(1, torch.zeros(3), torch.zeros(3))
    plain = make_specialist((0, 1))
    with pytest.raises(DataError, match="1 cards for 2 classes"):
        Specialist(
            plain.blueprint,
            (0, 1),
            plain.weights,
            plain.provenance,
            cards=[Card(1, torch.zeros(6), torch.zeros(6))],
        )


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 6), st.booleans(), st.integers(0, 10**6))
def test_full_cards_add_up_to_numpys_covariance(
    first: int, second: int, numbers: int, weighted: bool, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    x = generator.normal(generator.normal(size=numbers) * 3, 2, (first + second, numbers))
    weights = generator.uniform(0.5, 2, len(x)) if weighted else np.ones(len(x))
    samples, counts = torch.from_numpy(x), torch.from_numpy(weights)
    card = Card.of(samples[:first], counts[:first], directions=numbers) + Card.of(
        samples[first:], counts[first:], directions=numbers
    )
    covariance = np.cov(x.T, aweights=weights, ddof=0).reshape(numbers, numbers)
    assert card.count == pytest.approx(weights.sum())
    np.testing.assert_allclose(card.mean.numpy(), np.average(x, axis=0, weights=weights), atol=1e-5)
    np.testing.assert_allclose(card.variance.numpy(), covariance.diagonal(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(card.covariance().numpy(), covariance, atol=2e-4)
    drawn = card.draw(20_000, seed).double().numpy()
    spread = covariance.diagonal().max() + 1e-12
    assert np.abs(drawn.mean(0) - card.mean.numpy()).max() < 0.05 * np.sqrt(spread)
    assert np.abs(np.cov(drawn.T).reshape(numbers, numbers) - covariance).max() < 0.1 * spread


@settings(max_examples=20, deadline=None)
@given(st.integers(20, 300), st.integers(1, 5), st.integers(0, 10**6))
def test_few_directions_are_the_nearest_and_variances_stay_whole(count: int, most: int, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(count, 12)) @ np.diag(np.linspace(0.1, 3, 12))
    card = Card.of(torch.from_numpy(x), directions=most)
    covariance = np.cov(x.T, ddof=0)
    sizes, turns = np.linalg.eigh(covariance)
    nearest = (turns[:, -most:] * sizes[-most:]) @ turns[:, -most:].T
    main = card.directions.double().numpy()
    np.testing.assert_allclose(main.T @ main, nearest, atol=1e-4 * sizes[-1])
    np.testing.assert_allclose(card.covariance().diagonal().numpy(), covariance.diagonal(), rtol=1e-4)
    both = card + card  # of the same samples twice everything stays
    torch.testing.assert_close(both.covariance(), card.covariance(), rtol=1e-3, atol=1e-4)
    assert len(both.directions) == most


def test_directions_of_large_inputs_are_found_by_projection() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(400, 10)) * np.linspace(5, 15, 10) @ generator.normal(size=(10, 600))
    x += generator.normal(size=x.shape)
    main = Card.of(torch.from_numpy(x), directions=10).directions.double().numpy()
    sizes = np.linalg.svd(x - x.mean(0), compute_uv=False)[:10] / np.sqrt(400)
    np.testing.assert_allclose(np.linalg.norm(main, axis=1), sizes, rtol=1e-3)


def test_a_shared_covariance_is_that_within_all_classes() -> None:
    split = split_of(400)
    cards = list(class_cards(split, range(5), directions=6).values())
    x, y = split.x.double().numpy(), split.y.numpy()
    within = sum(np.cov(x[y == n].T, ddof=0) * (y == n).sum() for n in range(5)) / len(x)
    for share in (0.0, 0.3, 1.0):
        for number, card in enumerate(with_shared_covariance(cards, share)):
            own = np.cov(x[y == number].T, ddof=0)
            np.testing.assert_allclose(
                card.covariance().numpy(), (1 - share) * own + share * within, atol=1e-4
            )
            assert torch.equal(card.mean, cards[number].mean)
    with pytest.raises(SpecError, match="from 0 to 1"):
        with_shared_covariance(cards, 2)


def test_cards_of_other_trunks_are_not_added(tmp_path: Path) -> None:
    data = dt.load("digits")
    torch.manual_seed(0)
    teams: list[Specialist] = []
    for number in range(2):
        trunk = dt.trunk(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 8)), cut="output")
        features = trunk.features(data, folder=tmp_path / f"{number}", progress=False)
        teams += dt.train_specialists(features, "mlp:8", [3], epochs=1, progress=False)
    one, two = (part.cards["3"] for part in teams)
    assert teams[0].preparation is not None
    assert one.inputs == teams[0].preparation.digest != two.inputs
    with pytest.raises(MisfitError, match=r"different trunks, or scaled otherwise"):
        one + two
    opened = open_file(teams[0].save(tmp_path / "three.safetensors"))
    assert opened.cards["3"].inputs == one.inputs
    assert torch.equal(opened.cards["3"].directions, one.directions)
    assert torch.equal(opened.cards["3"].draw(5, seed=1), one.draw(5, seed=1))
    assert (opened.cards["3"] + one).count == 2 * one.count


@pytest.mark.parametrize("directions", [0, 3, None, 64])
def test_a_part_keeps_as_many_directions_as_it_is_told(directions: int | None, tmp_path: Path) -> None:
    (part,) = dt.train_specialists(
        dt.load("digits"), "mlp:8", [3], epochs=1, card_directions=directions, progress=False
    )
    card = part.cards["3"]
    some = {0: 0, 3: 3, None: 16}
    # Of 64 pixels some are always 0, so there is no such direction.
    assert len(card.directions) == some[directions] if directions in some else 40 < len(card.directions) < 64
    opened = open_file(part.save(tmp_path / "3.safetensors"))
    assert opened == part
    assert torch.equal(opened.cards["3"].directions, card.directions)
    if directions == 64:
        x = dt.load("digits").train.x[dt.load("digits").train.y == 3].flatten(1).double().numpy()
        np.testing.assert_allclose(card.covariance().numpy(), np.cov(x.T, ddof=0), atol=1e-5)
