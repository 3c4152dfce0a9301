from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import dovetail as dt
from dovetail.errors import DataError, MisfitError, SpecError
from dovetail.nets import NetSpec
from dovetail.sklearn import PartsClassifier
from dovetail.sklearn.learning import small_network
from dovetail.sklearn.samples import Samples
from dovetail.specialists import Composite, Specialist

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
TRAIN, TEST = train_test_split(np.arange(len(Y)), test_size=0.4, stratify=Y, random_state=0)


def quick(**settings: Any) -> PartsClassifier:
    """One that is the same in kind, and learns next to nothing."""
    return PartsClassifier(**{"net": "mlp:4,dropout=0", "epochs": 2, **settings})


@cache
def _learned() -> PartsClassifier:
    return quick(epochs=30, lr=0.02).fit(X, Y)


def learned(**settings: Any) -> PartsClassifier:
    """Return one that has learned the numbers of all classes, for the test to go on with."""
    return copy.deepcopy(_learned()).set_params(epochs=2, **settings)  # type: ignore[no-any-return]


@pytest.mark.slow
@parametrize_with_checks([PartsClassifier()])  # type: ignore[untyped-decorator]
def test_scikit_learns_own_checks(estimator: PartsClassifier, check: Callable[[object], None]) -> None:
    check(estimator)


def test_it_is_as_good_as_logistic_regression() -> None:
    plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[TRAIN], Y[TRAIN])
    model = PartsClassifier().fit(X[TRAIN], Y[TRAIN])
    assert model.score(X[TEST], Y[TEST]) >= plain.score(X[TEST], Y[TEST]) - 0.02
    assert model.score(X[TEST], Y[TEST]) > 0.9


def test_answers_are_those_of_the_sum_of_all_parts() -> None:
    model = quick(epochs=30).fit(X, NAMES)
    assert model.classes_.tolist() == sorted(set(NAMES))
    scaled = torch.from_numpy((X - X.mean(0)) / X.std(0)).float()
    by_hand = np.sum([part(scaled).double().numpy() for part in model.composite_.specialists], axis=0)
    np.testing.assert_allclose(model.decision_function(X), by_hand, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), softmax(by_hand, axis=1), atol=1e-5)
    assert model.predict(X).tolist() == model.classes_[by_hand.argmax(1)].tolist()
    two = quick().fit(X[Y < 2], Y[Y < 2])
    odds = np.log(two.predict_proba(X)[:, 1] / two.predict_proba(X)[:, 0])
    np.testing.assert_allclose(two.decision_function(X), odds, atol=1e-12)


@pytest.mark.slow
@settings(max_examples=3)
@given(st.lists(st.integers(0, 3), min_size=len(Y), max_size=len(Y)), st.randoms(use_true_random=False))
def test_weights_are_repeated_samples_and_order_is_nothing(counts: list[int], random: Any) -> None:
    counts[0] = 1
    repeated = np.repeat(np.arange(len(Y)), counts)
    random.shuffle(shuffled := repeated.tolist())
    weighted = quick().fit(X, Y, sample_weight=counts)
    assert quick().fit(X[repeated], Y[repeated]).composite_ == weighted.composite_
    assert quick().fit(X[shuffled], Y[shuffled]).composite_ == weighted.composite_


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 1), st.sampled_from([0.1, 0.2, 0.7])), min_size=1),
    st.randoms(use_true_random=False),
)
def test_equal_samples_are_put_together(rows: list[tuple[int, int, float]], random: Any) -> None:
    random.shuffle(shuffled := list(rows))
    found, again = (
        Samples.distinct(np.array([[-0.0 if r[0] == 0 and r[2] == 0.1 else r[0]] for r in some], dtype=float),
                         np.array([r[1] for r in some]), np.array([r[2] for r in some]))
        for some in (rows, shuffled)
    )  # fmt: skip
    wanted: dict[tuple[float, int], float] = {}
    for value, number, weight in rows:
        wanted[value, number] = wanted.get((value, number), 0) + weight
    assert dict(zip(zip(found.x[:, 0], found.ids, strict=True), found.weights, strict=True)) == pytest.approx(
        wanted
    )
    for mine, theirs in ((found.x, again.x), (found.ids, again.ids), (found.weights, again.weights)):
        np.testing.assert_array_equal(mine, theirs)


def test_a_seed_gives_the_same_again() -> None:
    same = [quick(random_state=3).fit(X, Y).composite_ for _ in range(2)]
    assert same[0] == same[1]
    assert same[0] != quick(random_state=4).fit(X, Y).composite_
    assert quick(random_state=None).fit(X, Y).composite_ != quick(random_state=None).fit(X, Y).composite_
    drawn = [quick(random_state=np.random.RandomState(1)).fit(X, Y).composite_ for _ in range(2)]
    assert drawn[0] == drawn[1]
    numpys = quick(random_state=np.int64(3), epochs=np.int64(2), batch_size=np.int32(64))
    assert numpys.fit(X, Y).composite_ == same[0]


def test_what_is_forgotten_was_never_there() -> None:
    model = quick(epochs=10).fit(X, NAMES)
    parts = {part.known[0]: part for part in model.composite_.specialists}
    assert model.forget("versicolor") is model
    never = dt.compose([parts["virginica"], parts["setosa"]])
    assert model.composite_ == never
    assert all(
        torch.equal(mine, theirs)
        for mine, theirs in zip(
            model.composite_.state_dict().values(), never.state_dict().values(), strict=True
        )
    )
    assert model.classes_.tolist() == ["setosa", "virginica"]
    np.testing.assert_array_equal(model.predict_proba(X).argmax(1), never.predict_proba(X).argmax(1))
    assert set(model.predict(X)) <= {"setosa", "virginica"}
    assert set(model.cards_) == {"setosa", "virginica"}


def test_what_cannot_be_forgotten() -> None:
    model = learned()
    with pytest.raises(SpecError, match="unknown class 7"):
        model.forget(7)
    model.forget(0).forget(1)
    assert set(model.predict(X)) == {2}
    with pytest.raises(MisfitError, match="nothing is left"):
        model.forget(2)


def test_a_new_class_comes_without_samples_of_the_old_ones() -> None:
    x, y = make_blobs([40] * 4, 5, centers=None, cluster_std=2.5, random_state=2)
    names = np.array(["dog", "cow", "ant", "bee"])[y]
    train, test = train_test_split(np.arange(len(y)), random_state=0, stratify=y)
    model = PartsClassifier(epochs=40, lr=0.01)
    joint = clone(model).fit(x[train], names[train]).score(x[test], names[test])
    for some in (["dog", "cow"], ["ant"], ["bee"]):
        mine = train[np.isin(names[train], some)]
        model.partial_fit(x[mine], names[mine])
    assert model.classes_.tolist() == ["ant", "bee", "cow", "dog"]
    assert joint > 0.85
    assert model.score(x[test], names[test]) > joint - 0.06


def test_known_classes_go_on_from_where_they_are() -> None:
    model = learned(lr=0.003)
    before = model.score(X, Y)
    for some in np.array_split(TRAIN, 3):
        model.partial_fit(X[some], Y[some])
        assert model.score(X, Y) > before - 0.08
    for _ in range(3):  # the others are drawn, or they would be forgotten
        model.partial_fit(X[Y == 0], Y[Y == 0])
    assert model.score(X, Y) > before - 0.08


@pytest.mark.slow
def test_a_stream_of_samples_is_learned() -> None:
    model = PartsClassifier(epochs=1, lr=0.02, batch_size=8)
    order = np.random.default_rng(0).permutation(len(Y))
    for some in np.array_split(order, 3) * 3:
        model.partial_fit(X[some], Y[some], classes=[0, 1, 2])
    assert model.score(X, Y) > 0.9
    assert model.cards_[0].count == 50 * 3
    scaled = model.composite_.blueprint.prepared(X[Y == 0]).numpy()
    np.testing.assert_allclose(model.cards_[0].mean, scaled.mean(0), atol=1e-5)


def test_announced_classes_may_come_later() -> None:
    model = quick(epochs=40, lr=0.02).partial_fit(X[Y != 1], Y[Y != 1], classes=[0, 1, 2])
    assert model.predict_proba(X).shape == (150, 3)
    for classes in (None, [0, 3]):  # one more; samples of those that are known train all parts for an epoch
        model.partial_fit(X[Y == 2], Y[Y == 2], classes=classes)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert set(model.cards_) == {0, 2}
    model.set_params(epochs=100).partial_fit(X[Y == 1], Y[Y == 1])
    assert model.score(X, Y) > 0.8


def test_what_was_forgotten_may_come_back() -> None:
    model = learned(lr=0.01).forget(2)
    assert model.score(X, Y) < 0.7
    model.set_params(epochs=60).partial_fit(X[Y == 2], Y[Y == 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(X, Y) > 0.85


def test_an_output_more_leaves_the_others_as_they_are() -> None:
    model = quick(net="mlp:6-5,output_bias=true", epochs=5).fit(X, NAMES)
    part = model.composite_.specialists[1]
    assert isinstance(part, Specialist)
    same = small_network(part, NetSpec.parse(model.net), part.classes)
    wider = small_network(part, NetSpec.parse(model.net), ["aster", *part.classes])
    for name, tensor in wider.items():
        if name.startswith("output."):
            torch.testing.assert_close(tensor[1:], same[name], rtol=0, atol=0)
            torch.testing.assert_close(tensor[0], (same[name][0] + same[name][2]) / 2)
        else:
            torch.testing.assert_close(tensor, same[name], rtol=0, atol=0)


def test_where_parts_cannot_go_on() -> None:
    with pytest.raises(SpecError, match="call fit"):
        learned(net="mlp:5").partial_fit(X, Y)
    with pytest.raises(DataError, match="side by side"):
        learned().partial_fit(X, NAMES)
    with pytest.raises(ValueError, match="3 features"):
        learned().partial_fit(X[:, :3], Y)
    with pytest.raises(SpecError, match="takes an mlp"):
        quick(net="lenet").fit(X, Y)


def test_undecided_is_a_share_of_samples() -> None:
    x, y = make_blobs(1500, 5, centers=3, cluster_std=4.0, random_state=1)
    model = PartsClassifier(undecided="20%", epochs=10).fit(x[:1000], y[:1000])
    plain = clone(model).set_params(undecided=None).fit(x[:1000], y[:1000])
    found = model.predict(x[1000:])
    left = found == -1
    assert found.dtype == y.dtype
    assert 0.1 < left.mean() < 0.32
    decided = (found == y[1000:])[~left].mean()
    assert decided > plain.score(x[1000:], y[1000:])
    assert model.threshold_ is not None
    assert model.threshold_.samples == 100
    assert (model.set_params(undecided="60%").predict(x) == -1).mean() > 0.4
    assert (model.set_params(undecided="0%").predict(x) != -1).all()
    assert (model.set_params(undecided=1.0).predict(x) == -1).all()
    threshold = model.threshold_
    assert model.forget(1).threshold_ is threshold
    assert set(model.set_params(undecided="20%").predict(x)) == {-1, 0, 2}


@pytest.mark.parametrize(
    ("labels", "label", "wanted", "kind"),
    [
        (NAMES, None, "undecided", "U"),
        (NAMES.astype(object), None, "undecided", "O"),
        (NAMES, 7, 7, "O"),
        (Y, None, -1, "i"),
        (Y.astype(np.uint8), None, -1, "i"),
        (Y.astype(float), None, -1.0, "f"),
        (Y, "?", "?", "O"),
        (Y > 0, "?", "?", "O"),
    ],
)
def test_what_stands_for_undecided(labels: NDArray[Any], label: object, wanted: object, kind: str) -> None:
    model = learned(undecided=1.0, undecided_label=label)
    model.classes_ = np.unique(labels)[
        [0, 1, -1]
    ]  # three where there are two, which makes no difference here
    assert model.predict(X[:2]).tolist() == [wanted] * 2
    assert model.predict(X[:2]).dtype.kind == kind
    found = model.set_params(undecided=0.0).predict(X).tolist()
    assert found == model.classes_[model.predict_proba(X).argmax(1)].tolist()


def test_what_cannot_stand_for_undecided() -> None:
    with pytest.raises(SpecError, match="truth values"):
        quick(undecided="5%").fit(X, Y > 0)
    with pytest.raises(SpecError, match="-1 is a class"):
        quick(undecided="5%").fit(X, Y - 1)
    with pytest.raises(SpecError, match="fit again"):
        learned(undecided="5%").predict(X)
    with pytest.raises(SpecError, match="from 0 to 1"):
        learned(undecided=5).predict(X)
    with pytest.raises(SpecError, match="such as '5%'"):
        quick(undecided="5").fit(X, Y)


def test_weights_of_classes() -> None:
    x, y = make_blobs([900, 30], 2, centers=[[0, 0], [1.5, 1.5]], random_state=0)
    counts = np.where(y == 0, 1 / 900, 1 / 30)
    balanced = PartsClassifier(class_weight="balanced", epochs=8, lr=0.02).fit(x, y)
    plain = PartsClassifier(epochs=8, lr=0.02).fit(x, y)
    assert recall_score(y, balanced.predict(x)) > recall_score(y, plain.predict(x)) + 0.2
    weighted = PartsClassifier(epochs=8, lr=0.02).fit(x, y, sample_weight=counts)
    assert recall_score(y, weighted.predict(x)) > recall_score(y, plain.predict(x)) + 0.2
    named = PartsClassifier(class_weight={0: 1 / 900, 1: 1 / 30}, epochs=8, lr=0.02).fit(x, y)
    np.testing.assert_allclose(named.predict_proba(x), balanced.predict_proba(x), atol=1e-3)


def test_what_nothing_can_be_learned_from() -> None:
    with pytest.raises(ValueError, match="zero"):
        quick().fit(X, Y, sample_weight=np.zeros(150))
    with pytest.raises(DataError, match="go down to -1"):
        quick().fit(X, Y, sample_weight=np.linspace(-1, 1, 150))
    with pytest.raises(SpecError, match="'balanced' or"):
        quick(class_weight="even").fit(X, Y)
    with pytest.raises(SpecError, match="has a weight for 9"):
        quick(class_weight={9: 1.0}).fit(X, Y)
    with pytest.raises(DataError, match="0 or more"):
        quick(class_weight=dict.fromkeys(range(3), 0)).fit(X, Y)
    with pytest.raises(DataError, match="too large"):
        quick().fit(X * 1e31, Y)
    with pytest.raises(DataError, match="of different types"):
        quick().fit(X, np.array(["a", 1] * 75, dtype=object))
    with pytest.raises(SpecError, match="epochs"):
        quick(epochs=0).fit(X, Y)


def test_features_of_any_size_are_scaled() -> None:
    sizes = np.array([1e-6, 1.0, 1e9, 1e20])
    constant = np.full((150, 1), 3.7)
    model = PartsClassifier().fit(np.hstack([X * sizes, constant]), Y)
    assert model.score(np.hstack([X * sizes, constant]), Y) > 0.95


@pytest.mark.slow
def test_it_works_with_scikit_learns_tools() -> None:
    piped = make_pipeline(MinMaxScaler(), quick(epochs=20, lr=0.05))
    assert cross_val_score(piped, X, NAMES, cv=2).mean() > 0.85
    search = GridSearchCV(quick(lr=0.05), {"epochs": np.array([1, 20])}, cv=2).fit(X, Y)
    assert search.best_params_ == {"epochs": 20}
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()
    model = learned().partial_fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.partial_fit(X, Y).composite_ == model.partial_fit(X, Y).composite_


def test_names_of_features_are_kept_and_files_take_raw_rows(tmp_path: Path) -> None:
    table = pd.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
    model = quick(epochs=20).fit(table, pd.Series(NAMES, dtype="category"))
    assert model.feature_names_in_.tolist() == list(table)
    opened = dt.open(model.composite_.save(tmp_path / "iris.safetensors"), Composite)
    assert opened.preparation is not None
    assert opened.preparation.feature_names == tuple(table)
    assert opened.predict(table, undecided=0.0).tolist() == model.predict(table).tolist()
    assert len(opened.specialists) == 3
