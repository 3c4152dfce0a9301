from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import torch
from scipy.special import softmax
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dovetail.errors import DataError, TrainingWarning
from dovetail.sculpting import open_sculpture
from dovetail.sklearn import SculptedClassifier

X, Y = load_iris(return_X_y=True, as_frame=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
TRAIN, TEST = train_test_split(np.arange(len(Y)), test_size=0.4, stratify=Y, random_state=0)


@cache
def _fitted() -> SculptedClassifier:
    return SculptedClassifier(device="cpu").fit(X.iloc[TRAIN], NAMES[TRAIN])


@pytest.fixture
def fitted() -> SculptedClassifier:
    return copy.deepcopy(_fitted())


# The usual settings pass as well, in several minutes.
@pytest.mark.slow
@parametrize_with_checks([SculptedClassifier(8, edge_steps=0.2, epochs=40, lr=0.02)])  # type: ignore[untyped-decorator]
@pytest.mark.filterwarnings("ignore::dovetail.errors.TrainingWarning")
def test_scikit_learns_own_checks(estimator: SculptedClassifier, check: Callable[[object], None]) -> None:
    check(estimator)


def test_a_tenth_of_the_weights_is_about_as_good_as_logistic_regression(fitted: SculptedClassifier) -> None:
    plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(X.iloc[TRAIN], NAMES[TRAIN])
    assert fitted.score(X.iloc[TEST], NAMES[TEST]) >= plain.score(X.iloc[TEST], NAMES[TEST]) - 0.05
    assert fitted.density_ == fitted.sculpture_.density < 0.2


def test_answers_are_those_of_the_sculpture_on_scaled_features(fitted: SculptedClassifier) -> None:
    scaled = fitted.preparation_(X.iloc[TEST].to_numpy())
    with torch.no_grad():
        logits = fitted.sculpture_.network(scaled).double().numpy()
    np.testing.assert_allclose(fitted.predict_proba(X.iloc[TEST]), softmax(logits, axis=1), atol=1e-5)
    assert fitted.predict(X.iloc[TEST]).tolist() == fitted.classes_[logits.argmax(1)].tolist()
    assert fitted.predict(X.iloc[TEST[:1]]).dtype == NAMES.dtype


def test_what_is_left_is_no_worse_than_what_it_began_as(fitted: SculptedClassifier) -> None:
    first, *_, last = fitted.sculpture_.history
    assert last.wrong <= first.wrong
    assert fitted.score(X.iloc[TRAIN], NAMES[TRAIN]) == pytest.approx(fitted.sculpture_.accuracy)


def test_the_hierarchy_has_names_of_features_and_classes(fitted: SculptedClassifier) -> None:
    assert fitted.feature_names_in_.tolist() == list(X.columns)
    assert fitted.hierarchy_.end_names == (list(X.columns), ["setosa", "versicolor", "virginica"])
    bare = SculptedClassifier(4, epochs=5, device="cpu").fit(X.to_numpy(), Y)
    assert bare.hierarchy_.end_names == (["x1", "x2", "x3", "x4"], ["0", "1", "2"])


def test_a_feature_that_is_left_out_has_no_say(fitted: SculptedClassifier) -> None:
    unused = [unit for layer, unit in fitted.hierarchy_.unused if layer == 0]
    assert unused
    other = X.copy()
    other.iloc[:, unused] = 1e3
    np.testing.assert_array_equal(fitted.predict_proba(other), fitted.predict_proba(X))


def test_a_seed_gives_the_same_again_also_from_a_pickle_or_a_file(
    fitted: SculptedClassifier, tmp_path_factory: pytest.TempPathFactory
) -> None:
    again = SculptedClassifier(device="cpu").fit(X.iloc[TRAIN], NAMES[TRAIN])
    wanted = fitted.predict_proba(X)
    np.testing.assert_array_equal(again.predict_proba(X), wanted)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X), wanted)
    file = fitted.sculpture_.save(tmp_path_factory.mktemp("iris") / "iris.safetensors")
    assert open_sculpture(file).hierarchy.describe() == fitted.hierarchy_.describe()


def test_what_cannot_be_learned_is_said() -> None:
    with pytest.warns(TrainingWarning, match="nothing was pruned: the dense network gets"):
        model = SculptedClassifier(4, epochs=1, lr=1e-6, device="cpu").fit(X, Y)
    assert model.density_ == 1
    assert set(model.predict(X)) <= {0, 1, 2}
    with pytest.raises(DataError, match="all samples are of one class, 1"):
        SculptedClassifier().fit(X, np.ones(len(X), int))
    with pytest.raises(DataError, match="beyond 1e\\+30"):
        SculptedClassifier().fit(X * 1e31, Y)
