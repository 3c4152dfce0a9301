"""A classifier for scikit-learn that is sculpted: a small network with the fewest units and edges that still do it."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data import Dataset
from ..data.preparation import Preparation
from ..data.split import Split
from ..errors import TrainingWarning
from ..sculpting import Hierarchy, Sculpture, sculpt
from .classifier import seed_of
from .labels import joined_labels
from .learning import usual_epochs
from .samples import LARGEST, InputError

HELD_OUT = 0.2
"""Share of each class that is not trained on, and has a say in what can be pruned."""


class SculptedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose network is pruned to few units and edges, and still gets as many samples right as before.

    It is for seeing which features decide, and which classes hang on the same ones; `hierarchy_` says so and draws it.
    It takes dozens of times as long to fit as a network that is not pruned. A fifth of the samples is not trained on;
    all of them together say how far it can be pruned. So its accuracy on them is no measure: take samples of your own.

    Features are scaled to mean 0 and variance 1. On one machine the same call gives the same classifier, to the bit.

    Parameters
    ----------
    hidden : sequence of int, int or str
        Units of the hidden layers before pruning.
    unit_steps, edge_steps : sequence of float
        Shares of units and of edges to prune at first, as for `dovetail.sculpt`. Each pair of them is a search, and the
        sparsest network of all is taken.
    threshold : float, optional
        The accuracy on the samples of the fit that it may not fall below; by default that of the dense network.
    epochs : int, optional
        Passes over the samples of every training, of which there are dozens. By default 20, or as many as make 500
        steps.
    lr : float
        Step size of Adam.
    batch_size : int
        Samples per step.
    random_state : int, RandomState or None
        What the weights start from, the order of samples, and which are not trained on. None: something else each time.
    device : str, optional
        Where to train; the first GPU if there is one.
    verbose : bool
        Show progress (on terminals only).

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    sculpture_ : Sculpture
        The network, its masks and how it came about. It takes scaled features.
    hierarchy_ : Hierarchy
        Its modules, with the names of features and classes; ``hierarchy_.plot()`` draws them.
    density_ : float
        The share of weights that are left. 1 where nothing could be pruned.
    preparation_ : Preparation
        What scales features.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array
        Their names, where the samples came with names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> x, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SculptedClassifier().fit(x, y)
    >>> model.score(x, y) > 0.9, model.density_ < 0.2
    (True, True)
    """

    classes_: NDArray[Any]
    sculpture_: Sculpture
    hierarchy_: Hierarchy
    density_: float
    preparation_: Preparation

    def __init__(
        self,
        hidden: Sequence[int] | int | str = (24,),
        *,
        unit_steps: Sequence[float] | float = (0.5,),
        edge_steps: Sequence[float] | float = (0.02,),
        threshold: float | None = None,
        epochs: int | None = None,
        lr: float = 0.01,
        batch_size: int = 32,
        random_state: int | np.random.RandomState | None = 0,
        device: str | None = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.unit_steps = unit_steps
        self.edge_steps = edge_steps
        self.threshold = threshold
        self.epochs = epochs
        self.lr = lr
        self.batch_size = batch_size
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Train a network and prune it.

        Parameters
        ----------
        X : array
            ``[samples, features]``, numbers.
        y : array
            Labels of two classes or more: texts, whole numbers or truth values.

        Returns
        -------
        SculptedClassifier
            Itself.
        """
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        wanted = joined_labels(labels, None)
        check_classification_targets(labels)
        if len(wanted) < 2:
            raise InputError(f"all samples are of one class, {wanted[0]}; there is nothing to tell apart")
        if not np.abs(rows).max() < LARGEST:
            raise InputError(f"a number is beyond {LARGEST:g}, too large for float32")
        seed = seed_of(self.random_state)
        data = Dataset.from_arrays(
            rows,
            np.searchsorted(wanted, labels),
            classes=[str(label) for label in wanted.tolist()],
            features=[str(name) for name in getattr(self, "feature_names_in_", ())] or None,
            split=(1 - HELD_OUT, HELD_OUT, 0.0),
            scale="standard",
            seed=seed,
        )
        assert data.preparation is not None
        # Samples of training make the measure finer, others say whether what is left holds beyond them.
        every = Split(torch.cat([data.train.x, data.val.x]), torch.cat([data.train.y, data.val.y]))
        usual = usual_epochs(len(data.train), self.batch_size)
        self.sculpture_ = sculpt(
            replace(data, val=every),
            self.hidden,
            seed=seed,
            unit_steps=self.unit_steps,
            edge_steps=self.edge_steps,
            threshold=self.threshold,
            epochs=usual if self.epochs is None else self.epochs,
            lr=self.lr,
            batch_size=self.batch_size,
            device=self.device,
            progress=self.verbose,
        )
        if self.sculpture_.outcome == "not learned":
            warnings.warn(TrainingWarning(f"nothing was pruned: {self._why_not()}"), stacklevel=2)
        self.classes_, self.preparation_ = wanted, data.preparation
        self.hierarchy_, self.density_ = self.sculpture_.hierarchy, self.sculpture_.density
        return self

    def _why_not(self) -> str:
        return self.sculpture_.describe().partition("\n")[2].strip()

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Return the label of each sample."""
        probabilities = self.predict_proba(X)
        found: NDArray[Any] = self.classes_[probabilities.argmax(1)]
        return found

    @torch.no_grad()
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """Return the probability of each class of ``classes_``; rows add up to 1."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        # In double precision, so that an answer does not depend on the rest of its batch.
        network = copy.deepcopy(self.sculpture_.network).double()
        found: NDArray[np.float64] = network(self.preparation_(rows).double()).softmax(1).numpy()
        return found
