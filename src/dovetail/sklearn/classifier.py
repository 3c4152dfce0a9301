"""A classifier for scikit-learn, made of one part for each class: parts can be added, forgotten and left undecided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from torch import Tensor

from ..data.preparation import Numbers, Preparation
from ..data.split import Split
from ..errors import MisfitError, SpecError, unknown_name
from ..population import OptimizerState
from ..specialists import Blueprint, Card, Composite, Specialist, Threshold
from ..specialists.threshold import least_confidence
from .labels import joined_labels, label_for_undecided
from .learning import (
    TEMPERATURE,
    Lesson,
    joint_net,
    part_net,
    small_network,
    train_parts,
    usual_batch_size,
    usual_epochs,
)
from .samples import InputError, Samples

DIRECTIONS = 64
"""Of a card: as many as a part has units by default, so that it is about as large as its part."""
LEAST_DRAWS, MOST_DRAWS = 100, 5000
"""How many samples are drawn for a class of which none are at hand, when another class comes."""
BATCH = 4096
"""Samples that are answered at a time."""


class PartsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier made of parts: a small network for each class, which knows it and is undecided on all others.

    Parts are trained together and sit side by side in one network, in slots. So a class is forgotten by leaving its
    part out (`forget`), and one that comes later gets a part beside the others (`partial_fit`). No old sample is needed
    for that: of each class the classifier keeps a card, the mean and covariance of its features, to draw from.

    Features are scaled to mean 0 and variance 1 of the samples of the first fit. Equal samples count as one, with their
    weights added, and their order does not matter. On one machine the same call gives the same classifier, to the bit.

    The defaults were chosen on held-out samples of breast cancer, iris, yeast, human activity, Fashion-MNIST and
    generated tables, none of which ``bench/beside_sklearn.py`` reports.

    Parameters
    ----------
    net : str
        The network of each part: an ``mlp`` with its hidden units and options, as for `dovetail.build_net`.
    epochs : int, optional
        Passes over the samples. By default 20, or as many as make 500 steps; when a class comes to others, those steps
        are enough.
    lr : float
        Step size of Adam.
    batch_size : int, optional
        Samples per step. By default 64, and more from 20,000 samples on, up to 512.
    weight_decay : float
        An L2 term in the gradient.
    class_weight : "balanced" or dict, optional
        What the samples of each class count; ``"balanced"`` makes all classes count the same.
    undecided : str or float, optional
        When `predict` does not answer. ``"5%"``: where it is less sure than of 95 of 100 samples; to find out, a tenth
        of the samples is held back from training. A number: where its confidence, from 0 to 1, is below that. By
        default it always answers. `score` counts what is left undecided as wrong.
    undecided_label : object, optional
        What `predict` gives then. By default ``"undecided"`` among texts, and -1 among numbers. A label of another type
        than the classes makes an array of objects.
    random_state : int, RandomState or None
        What parts start from, and the order of samples. None: something else each time.
    device : str, optional
        Where to train; the first GPU if there is one.
    verbose : bool
        Show progress (on terminals only).

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    composite_ : Composite
        The parts together. It takes raw rows, and ``composite_.save(path)`` writes it without pickle.
    cards_ : dict
        A `dovetail.specialists.Card` for each label that there have been samples of, in scaled features. It is data
        about the samples: who may not see those may not see it either. ``composite_`` and its file have none.
    threshold_ : Threshold or None
        What ``undecided`` as a share comes to. It stays as it is when a class is forgotten.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array
        Their names, where the samples came with names.

    Examples
    --------
    A new class comes without samples of the old ones, and an old one goes:

    >>> from sklearn.datasets import load_iris
    >>> x, y = load_iris(return_X_y=True)
    >>> model = PartsClassifier().fit(x[y < 2], y[y < 2])
    >>> model.partial_fit(x[y == 2], y[y == 2]).classes_
    array([0, 1, 2])
    >>> model.score(x, y) > 0.9
    True
    >>> model.forget(1).classes_
    array([0, 2])
    """

    classes_: NDArray[Any]
    composite_: Composite
    cards_: dict[Any, Card]
    threshold_: Threshold | None
    _adam: OptimizerState | None

    def __init__(
        self,
        net: str = "mlp:64,dropout=0",
        *,
        epochs: int | None = None,
        lr: float = 3e-3,
        batch_size: int | None = None,
        weight_decay: float = 0.0,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        undecided: str | float | None = None,
        undecided_label: object = None,
        random_state: int | np.random.RandomState | None = 0,
        device: str | None = None,
        verbose: bool = False,
    ) -> None:
        self.net = net
        self.epochs = epochs
        self.lr = lr
        self.batch_size = batch_size
        self.weight_decay = weight_decay
        self.class_weight = class_weight
        self.undecided = undecided
        self.undecided_label = undecided_label
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Train a part for each class; what was learned before is given up.

        Parameters
        ----------
        X : array
            ``[samples, features]``, numbers.
        y : array
            Labels: texts, whole numbers or truth values.
        sample_weight : array, optional
            How much each sample counts. One of weight 2 counts as if it were there twice, one of 0 as if it were not.

        Returns
        -------
        PartsClassifier
            Itself.
        """
        return self._begin(*self._checked(X, y, sample_weight, reset=True), None)

    def partial_fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on learning, from samples of known classes or of new ones.

        Samples of known classes are gone through once. Where there is a new class among them, it gets a part, and all
        parts train for ``epochs``: the new one to know its class, the others to be undecided on it. Known classes of
        which a call has no samples are stood in for by draws from their cards. Those are normally distributed, which
        costs accuracy where a class is not; old samples help, if there are any to give along.

        Parameters
        ----------
        X, y, sample_weight : array
            As for `fit`.
        classes : array, optional
            Labels that there will be, as other classifiers want them in the first call. Here new ones may come without.

        Returns
        -------
        PartsClassifier
            Itself.
        """
        if not hasattr(self, "composite_"):
            return self._begin(*self._checked(X, y, sample_weight, reset=True), classes)
        rows, labels, weights = self._checked(X, y, sample_weight, reset=False)
        wanted = joined_labels(joined_labels(self.classes_, labels), classes)
        samples = Samples.distinct(rows, np.searchsorted(wanted, labels), weights)
        parts = {part.known[0]: part for part in self.composite_.specialists}
        return self._learn(samples, wanted, self.composite_.preparation, parts, self.cards_)

    def forget(self, name: object) -> Self:
        """Leave the part of a class out, and its card.

        What is left is, to the bit, what the other parts are together: a composite that never had this part. The other
        parts have seen its samples in training, as ones to be undecided on; `dovetail.specialists.audit_drop` measures
        what that left in them.

        Parameters
        ----------
        name : label
            The class.

        Returns
        -------
        PartsClassifier
            Itself.
        """
        check_is_fitted(self)
        labels = self.classes_.tolist()
        if name not in labels:
            raise unknown_name("class", name, map(str, labels))
        if len(labels) == 1:
            raise MisfitError(f"nothing is left without class {name}; a classifier needs one")
        place = labels.index(name)
        self.composite_ = self.composite_.without(str(labels[place]))
        self.cards_ = {label: card for label, card in self.cards_.items() if label != name}
        self.classes_ = np.delete(self.classes_, place)
        self._adam = None
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Return the label of each sample; with ``undecided``, ``undecided_label`` where it is not sure enough."""
        rows = self._rows(X)
        found: NDArray[Any] = self.classes_[self._logits(rows).argmax(1).numpy()]
        if self.undecided is None:
            return found
        if isinstance(self.undecided, str) and self.threshold_ is None:
            raise SpecError(
                f"fit finds out what undecided={self.undecided!r:.40} comes to; fit again with it"
            )
        least = least_confidence(self.undecided, self.threshold_)
        if least is None or least <= 0:  # nothing is less sure
            return found
        decided = self.composite_.answers(rows, undecided=least, device="cpu").decided
        label = np.asarray(label_for_undecided(self.undecided_label, self.classes_))
        kinds = {found.dtype.kind, label.dtype.kind}
        kind = np.result_type(found, label) if len(kinds) == 1 or kinds <= set("iuf") else np.dtype(object)
        return np.where(decided, found.astype(kind), label.astype(kind))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """Return the probability of each class of ``classes_``; rows add up to 1."""
        probabilities: NDArray[np.float64] = self._logits(self._rows(X)).softmax(1).numpy()
        return probabilities

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """Return the logit of each class; of two classes, how far the second is above the first."""
        logits: NDArray[np.float64] = self._logits(self._rows(X)).numpy()
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def _checked(
        self, samples: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool
    ) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[np.float64]]:
        """Return the rows that count, their labels and their weights."""
        rows, labels = validate_data(self, samples, y, reset=reset, dtype=np.float64)
        joined_labels(labels, None)  # refuses what cannot be sorted, and the check below would not say so
        check_classification_targets(labels)
        weights = _check_sample_weight(sample_weight, rows, dtype=np.float64)
        counts = weights > 0
        if (weights < 0).any() or not counts.any():
            wrong = "are all zero" if not weights.any() else f"go down to {weights.min():g}"
            raise InputError(f"sample weights {wrong}; they are 0 or more, and some of them more")
        return (rows, labels, weights) if counts.all() else (rows[counts], labels[counts], weights[counts])

    def _rows(self, samples: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        rows: NDArray[np.float64] = validate_data(self, samples, reset=False, dtype=np.float64)
        return rows

    @torch.no_grad()
    def _logits(self, rows: NDArray[np.float64]) -> Tensor:
        """Return the logits of all classes, in double precision, so that they do not depend on the rest of a batch."""
        network = self.composite_.module(known_only=True).double()
        prepared = self.composite_.blueprint.prepared(rows)
        return torch.cat([network(some.double()) for some in prepared.split(BATCH)])

    def _begin(
        self,
        rows: NDArray[np.float64],
        labels: NDArray[Any],
        weights: NDArray[np.float64],
        more: ArrayLike | None,
    ) -> Self:
        """Learn from the first samples, which also tell how features are scaled."""
        wanted = joined_labels(labels, more)
        samples = Samples.distinct(rows, np.searchsorted(wanted, labels), weights)
        scaling = samples.scaling(tuple(map(str, getattr(self, "feature_names_in_", ()))))
        self._seed, self._lessons, self._adam, self.threshold_ = seed_of(self.random_state), 0, None, None
        return self._learn(samples, wanted, scaling, {}, {})

    def _learn(
        self,
        samples: Samples,
        labels: NDArray[Any],
        scaling: Preparation | None,
        parts: Mapping[str, Specialist],
        cards: Mapping[Any, Card],
    ) -> Self:
        """Learn from samples, and from cards where there is no sample of a class.

        Parameters
        ----------
        samples : Samples
            Raw ones.
        labels : array
            All classes that there are to be, sorted; ids of samples are places in it.
        scaling : Numbers
            How features are scaled.
        parts : mapping
            What there is already, by the names of classes.
        cards : mapping
            Of the labels that there have been samples of.
        """
        if self.undecided is not None:
            label_for_undecided(self.undecided_label, labels)  # refused now rather than when it is needed
        everyone = labels.tolist()
        assert isinstance(scaling, Numbers)
        net, names = part_net(self.net), tuple(map(str, everyone))
        blueprint = Blueprint(joint_net(net, len(names)), scaling.input_shape, names, TEMPERATURE, scaling)
        samples = samples.scaled(scaling)
        own = {everyone[number]: _card_of(*samples.of(number)) for number in np.unique(samples.ids)}
        # The part of a class that was only announced has learned to be undecided on everything; with the first samples
        # it starts anew.
        before = {
            number: small_network(parts[name], net, names)
            for number, (name, label) in enumerate(zip(names, everyone, strict=True))
            if name in parts and (label in cards or label not in own)
        }
        comes_new = bool(own.keys() - cards.keys())
        absent = {n: cards[label] for n, label in enumerate(everyone) if label in cards and label not in own}
        training, held = samples.joined(*self._drawn(absent, samples, comes_new)), None
        if comes_new and isinstance(self.undecided, str):
            training, held = training.held_out(self._seed)

        size = usual_batch_size(len(training)) if self.batch_size is None else self.batch_size
        usual = usual_epochs(len(training), size, least=1) if before else usual_epochs(len(training), size)
        passes = usual if self.epochs is None else self.epochs
        lesson = Lesson(
            samples=Split(torch.from_numpy(training.x), torch.from_numpy(training.ids)),
            weights=torch.from_numpy(training.weights * self._class_weights(training, everyone)),
            net=net,
            epochs=passes if comes_new else 1,
            batch_size=size,
            lr=self.lr,
            weight_decay=self.weight_decay,
            seed=self._seed,
            stream=self._lessons,
            device=self.device,
            verbose=self.verbose,
        )
        adam = None
        if not comes_new:
            adam = self._adam if self._adam is not None and len(parts) == len(labels) else OptimizerState()
        composite = Composite(train_parts(blueprint, lesson, before, adam))
        if held is not None:
            split = Split(torch.from_numpy(held.x), torch.from_numpy(held.ids))
            composite = composite.with_threshold(split, str(self.undecided), device="cpu")
            self.threshold_ = composite.threshold
        self.composite_, self.classes_, self._adam = composite, labels, adam
        self.cards_ = {
            **cards,
            **{label: cards[label] + card if label in cards else card for label, card in own.items()},
        }
        self._lessons += 1
        return self

    def _drawn(self, cards: Mapping[int, Card], samples: Samples, comes_new: bool) -> Iterator[Samples]:
        """Yield draws from cards, of each as many as there are samples of a class at hand."""
        generator = np.random.default_rng([self._seed, self._lessons])
        count = -(-len(samples) // len(np.unique(samples.ids)))
        count = min(max(count, LEAST_DRAWS if comes_new else 1), MOST_DRAWS)
        weights = np.full(count, samples.weights.mean())
        for number, card in cards.items():
            drawn = card.draw(count, int(generator.integers(2**31))).numpy()
            yield Samples(drawn, np.full(count, number), weights)

    def _class_weights(self, samples: Samples, labels: Sequence[Any]) -> NDArray[np.float64]:
        """Return what each sample counts for its class."""
        asked = self.class_weight
        if asked is None:
            return np.ones(len(samples))
        if isinstance(asked, Mapping):
            if odd := [label for label in asked if label not in labels]:
                raise SpecError(f"class_weight has a weight for {odd[0]!r:.80}, which is none of the classes")
            each = np.array([float(asked.get(label, 1)) for label in labels])
            if not (each >= 0).all() or not (each[samples.ids] > 0).any():
                raise InputError("class weights are 0 or more, and some of them more")
            return each[samples.ids]
        if asked != "balanced":
            raise SpecError(f"class_weight is 'balanced' or a weight for each label, not {asked!r:.80}")
        return 1 / np.bincount(samples.ids, samples.weights)[samples.ids]


def _card_of(x: NDArray[np.float64], weights: NDArray[np.float64]) -> Card:
    return Card.of(torch.from_numpy(x), torch.from_numpy(weights), directions=DIRECTIONS)


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed: the number itself, or what is drawn by scikit-learn's rules.

    Examples
    --------
    >>> seed_of(7)
    7
    """
    state = check_random_state(random_state)
    return int(random_state) if isinstance(random_state, Integral) else int(state.randint(2**31 - 1))
