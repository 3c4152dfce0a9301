"""The evaluation of parts: the one path from samples over networks to scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from ..data.split import Split, is_finite
from ..errors import DataError, ShapeError
from ..io.fields import nan_to_null
from ..markup import excerpt_html, matrix_html, text_html
from ..population.checks import check_device, check_split
from ..precision import in_float32
from ..result import Result
from .answers import is_decided
from .class_sets import named, one_hot_sets
from .objectives import max_entropy_of, prediction_entropy
from .plots import plot_confusion
from .threshold import DEFAULT_CONFIDENCE, Threshold

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .part import Part

CALIBRATION_BINS = 15


@dataclass(frozen=True, eq=False)
class Score(Result):
    """What a network with rewarded classes R, a subset of all classes C, scored on a split.

    Attributes
    ----------
    classes : tuple of str
        All classes.
    rewarded : tuple of int
        R, as class ids.
    samples : int
        How many samples were measured.
    loss : float
        Mean max-entropy loss.
    rewarded_accuracy : float
        Share of samples of R whose largest output, among all of C, is their class.
    entropy : float or None
        Mean entropy of the predictions, in nats, on samples of all other classes; at most ln |C|. None when
        there are no such samples (as when R = C).
    calibration_error : float
        Expected calibration error on samples of R: how far the confidence of predictions is from the share of
        right ones, over 15 bins of equal width.
    confusion : Tensor
        Counts ``[|C|, |C|]``: row the true class, column the largest output.
    class_accuracy, class_entropy : Tensor
        Accuracy and mean entropy on the samples of each class; NaN for a class without samples.
    leakage : Tensor
        For each class not rewarded, the mean probability that its samples get for classes of R beyond the
        |R|/|C| that a uniform prediction gives them; NaN for rewarded classes.
    reliability : Tensor
        What the calibration error is made of, ``[bins, 3]``: samples of R by confidence, their mean confidence,
        and the share of them that are right (NaN in empty bins).
    coverage : float
        Share of samples of R that it answers; the others it leaves undecided (see `Part.answers`).
    decided_accuracy : float
        Share of right answers among those, over the classes it knows; NaN if it answers none.
    refused : float or None
        Share of samples of other classes that it leaves undecided. None when there are no such samples.
    unknown_auroc : float or None
        How well its confidence tells samples of R from those of other classes: the probability that it is surer of one
        of R than of another. None when there are no such samples.
    """

    classes: tuple[str, ...]
    rewarded: tuple[int, ...]
    samples: int
    loss: float
    rewarded_accuracy: float
    entropy: float | None
    calibration_error: float
    confusion: Tensor
    class_accuracy: Tensor
    class_entropy: Tensor
    leakage: Tensor
    reliability: Tensor
    coverage: float
    decided_accuracy: float
    refused: float | None
    unknown_auroc: float | None

    def __repr__(self) -> str:
        entropy = f"undefined, {self.no_entropy}" if self.entropy is None else f"{self.entropy:.3f}"
        unknown = "" if self.unknown_auroc is None else f", unknown AUROC {self.unknown_auroc:.3f}"
        return (
            f"Score(rewarded accuracy {self.rewarded_accuracy:.4f}, entropy {entropy}, "
            f"calibration error {self.calibration_error:.3f}{unknown}, {self.samples:,} samples, "
            f"R = {{{named(self.rewarded, self.classes)}}})"
        )

    @property
    def no_entropy(self) -> str:
        """Why there is no entropy, where there is none."""
        everything = len(self.rewarded) == len(self.classes)
        return "all classes are rewarded" if everything else "there are no samples of other classes"

    @property
    def answered(self) -> str:
        """How often it answers, and how rightly, in words."""
        text = f"it answers {self.coverage:.1%} of the samples of classes that it knows"
        if self.coverage:
            text += f", {self.decided_accuracy:.1%} of these rightly"
        if self.refused is not None:
            text += (
                f", and leaves {self.refused:.1%} of all others undecided (its confidence tells the two apart with "
                f"AUROC {self.unknown_auroc:.3f})"
            )
        return text

    @property
    def per_class(self) -> pd.DataFrame:
        """A row per class: samples, accuracy, entropy, leakage, and whether it is rewarded."""
        import pandas as pd

        return pd.DataFrame(
            {
                "class": pd.Series(
                    self.classes, dtype=object
                ),  # others of pandas' types refuse halves of characters
                "rewarded": [number in self.rewarded for number in range(len(self.classes))],
                "samples": self.confusion.sum(1).tolist(),
                "accuracy": self.class_accuracy.tolist(),
                "entropy": self.class_entropy.tolist(),
                "leakage": self.leakage.tolist(),
            }
        )

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values, ready for JSON."""
        values = {
            "rewarded": [self.classes[number] for number in self.rewarded],
            "samples": self.samples,
            "loss": self.loss,
            "rewarded_accuracy": self.rewarded_accuracy,
            "entropy": self.entropy,
            "calibration_error": self.calibration_error,
            "confusion": self.confusion.tolist(),
            "class_accuracy": self.class_accuracy.tolist(),
            "class_entropy": self.class_entropy.tolist(),
            "leakage": self.leakage.tolist(),
            "reliability": self.reliability.tolist(),
            "coverage": self.coverage,
            "decided_accuracy": self.decided_accuracy,
            "refused": self.refused,
            "unknown_auroc": self.unknown_auroc,
        }
        return {name: nan_to_null(value) for name, value in values.items()}

    def to_frame(self) -> pd.DataFrame:
        """Return `per_class`."""
        return self.per_class

    def _html_pieces(self) -> Iterable[str]:
        import pandas as pd

        yield text_html(f"{self!r}\n{self.answered}")
        rows, columns = (pd.Index(self.classes, dtype=object, name=name) for name in ("class", None))
        yield matrix_html(pd.DataFrame(self.confusion.tolist(), rows, columns))
        yield excerpt_html(self.per_class)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the confusion matrix; rewarded classes are marked."""
        return plot_confusion(self, ax)


@in_float32()
def evaluate_all(
    parts: Sequence[Part], split: Split, *, device: torch.device | str | None = None
) -> list[Score]:
    """Measure many specialists and composites on a split, together.

    Parameters
    ----------
    parts : sequence of Part
        What to measure; all for the same classes.
    split : Split
        Samples with class ids.
    device : str or torch.device, optional
        Where to; the first GPU if there is one.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:32", [0, 1], epochs=2, progress=False)
    >>> [score.rewarded for score in evaluate_all([*team, team[0] + team[1]], data.test)]
    [(0,), (1,), (0, 1)]
    """
    if not parts:
        return []
    classes = parts[0].classes
    for part in parts:
        if part.classes != classes:
            raise ShapeError(f"{part!r} has other classes than {parts[0]!r}; measure them apart")
    check_class_ids(parts[0], split)
    logits = _outputs(parts, split.x, device)
    return score_logits(
        logits,
        split.y.to(logits.device),
        [part.rewarded for part in parts],
        classes,
        thresholds=[part.threshold for part in parts],
        near=[part.nearness(split.x) for part in parts],
    )


def check_class_ids(part: Part, split: Split, classes: Sequence[str] | None = None) -> None:
    """Refuse a split whose targets are no ids of a part's classes, or of those that are given."""
    count = len(part.classes if classes is None else classes)
    if check_split(split, "given").y.is_floating_point() or split.y.dim() != 1:
        raise DataError("specialists are measured on class ids, one per sample; this split has other targets")
    low, high = (int(extreme) for extreme in split.y.aminmax())
    if low < 0 or high >= count:
        raise DataError(f"class ids {low} to {high} in the split, but {part!r} has {count} classes")


def outputs_of(parts: Sequence[Part], x: Tensor, *, device: torch.device | str | None = None) -> Tensor:
    """Return the tempered logits of parts for the same inputs, ``[parts, samples, classes]``."""
    parts[0].blueprint.check_inputs(x)
    return _outputs(parts, x, device)


def _outputs(parts: Sequence[Part], x: Tensor, device: torch.device | str | None) -> Tensor:
    place = check_device(device)
    x = x.to(place)
    outputs = []
    for part in parts:
        part.blueprint.check_shape(x)
        # One after the other: however many there are, one set of dense weights is held at a time.
        network = part.module()
        if place.type != "cpu":
            network.to(place)
        outputs.append(run_network(network, x.to(next(network.parameters()).dtype)))
    return torch.stack(outputs)


def run_network(network: nn.Module, x: Tensor, *, batch_size: int = 1024) -> Tensor:
    """Return a network's outputs, computed batch by batch."""
    with torch.no_grad():
        return torch.cat([network(batch) for batch in x.split(batch_size)])


def score_logits(
    logits: Tensor,
    target: Tensor,
    rewarded: Sequence[Sequence[int]],
    classes: Sequence[str],
    *,
    thresholds: Sequence[Threshold | None] | None = None,
    near: Sequence[Tensor | None] | None = None,
) -> list[Score]:
    """Score many networks on the same samples.

    Parameters
    ----------
    logits : Tensor
        ``[networks, samples, classes]``, divided by the temperature already.
    target : Tensor
        The true classes, ``[samples]``.
    rewarded : sequence
        Each network's rewarded class ids.
    classes : sequence of str
        Names of all classes.
    thresholds : sequence of Threshold or None, optional
        How sure each network must be to answer; by default it answers where its largest output is of a class that it
        knows.
    near : sequence of Tensor or None, optional
        For thresholds of a distance: how near the samples are to each network's cards; see `Part.nearness`.

    Examples
    --------
    >>> (score,) = score_logits(torch.eye(3)[None] * 9, torch.arange(3), [(0, 1)], ["a", "b", "c"])
    >>> score.rewarded_accuracy, score.confusion.diagonal().tolist()
    (1.0, [1, 1, 1])
    """
    if not is_finite(logits):
        raise DataError("outputs are NaN or infinite and cannot be scored; are inputs or weights too large?")
    outputs = len(classes)
    log_p = logits.log_softmax(2, dtype=torch.float64)
    p = log_p.exp()
    entropy = prediction_entropy(log_p, p)
    confidence, predicted = log_p.max(2)
    right = (predicted == target).double()
    membership = one_hot_sets(rewarded, outputs).to(logits.device)
    is_rewarded = membership.index_select(1, target)
    claimed = (p * membership[:, None]).sum(2) - log_p.new_tensor([[len(ids) / outputs] for ids in rewarded])
    counts = target.bincount(minlength=outputs)
    values = torch.stack([right, entropy, claimed])
    sums = values.new_zeros(*values.shape[:2], outputs).index_add_(2, target, values)
    accuracy, entropies, leakage = (sums / counts).cpu()  # of a class without samples 0 / 0, NaN
    # Means over the classes inside and outside of R; of no samples at all, NaN.
    sides = torch.stack([membership, ~membership])
    inside, outside = (sums[:2] * sides).sum(2) / (counts * sides).sum(2)
    losses = max_entropy_of(log_p, target, is_rewarded).mean(1)
    bins = reliability(confidence.exp(), right, is_rewarded.double())
    errors = calibration_error(bins)
    confusions = torch.stack([row.bincount(minlength=outputs**2) for row in target * outputs + predicted])
    confusions = confusions.reshape(-1, outputs, outputs).cpu()
    leakage = torch.where(membership.cpu(), torch.nan, leakage)
    numbers = torch.stack([losses, inside, outside, errors.to(losses)], 1).tolist()
    answered = [
        _answering(logits[row], target, ids, threshold, is_rewarded[row], None if near is None else near[row])
        for row, (ids, threshold) in enumerate(
            zip(rewarded, thresholds or [None] * len(rewarded), strict=True)
        )
    ]
    return [
        Score(
            tuple(classes),
            tuple(ids),
            len(target),
            loss,
            right_share,
            None if math.isnan(open_entropy) else open_entropy,
            error,
            confusions[row],
            accuracy[row],
            entropies[row],
            leakage[row],
            bins[row],
            *answered[row],
        )
        for row, (ids, (loss, right_share, open_entropy, error)) in enumerate(
            zip(rewarded, numbers, strict=True)
        )
    ]


def _answering(
    logits: Tensor,
    target: Tensor,
    rewarded: Sequence[int],
    threshold: Threshold | None,
    known: Tensor,
    near: Tensor | None,
) -> tuple[float, float, float | None, float | None]:
    """Return coverage, accuracy where it answers, the share of unknown samples refused, and AUROC for them."""
    if threshold is None:
        sure, decided = is_decided(logits, rewarded, DEFAULT_CONFIDENCE, None)
    else:
        near = None if near is None else near.to(logits.device)
        least, usual = threshold.value(), threshold.usual
        sure, decided = is_decided(logits, rewarded, threshold.confidence, least, near=near, usual=usual)
    ids = torch.tensor(list(rewarded), device=target.device)
    right = ids[logits[:, ids].argmax(1)] == target
    answered = known & decided
    coverage = float(decided[known].double().mean())
    accuracy = float(right[answered].double().mean())
    if bool(known.all()):
        return coverage, accuracy, None, None
    refused = float((~decided[~known]).double().mean())
    return coverage, accuracy, refused, auroc(sure[known], sure[~known])


def auroc(above: Tensor, below: Tensor) -> float:
    """Return the probability that one of the first numbers is above one of the others; ties count half.

    Examples
    --------
    >>> auroc(torch.tensor([0.9, 0.5]), torch.tensor([0.5, 0.1]))
    0.875
    """
    if not len(above) or not len(below):
        return math.nan
    ordered = below.sort().values
    ranks = torch.searchsorted(ordered, above) + torch.searchsorted(ordered, above, right=True)
    return float(ranks.double().mean() / (2 * len(below)))


def reliability(confidence: Tensor, right: Tensor, counted: Tensor, bins: int = CALIBRATION_BINS) -> Tensor:
    """Return count, mean confidence and accuracy of predictions in bins of confidence, ``[..., bins, 3]``.

    Parameters
    ----------
    confidence, right, counted : Tensor
        Of each sample, ``[..., samples]``: how confident the prediction is; 1 or 0, whether it is right; and whether it
        counts.

    Examples
    --------
    >>> reliability(torch.tensor([0.9, 0.9, 0.2]), torch.tensor([1.0, 0.0, 1.0]), torch.ones(3), bins=2)
    tensor([[1.0000, 0.2000, 1.0000],
            [2.0000, 0.9000, 0.5000]])
    """
    which = (confidence * bins).ceil_().clamp_(1, bins).long()  # from 1
    columns = torch.stack([counted, counted * confidence, counted * right], -2)
    sums = columns.new_zeros(*columns.shape[:-1], 1 + bins)
    sums = sums.scatter_add_(-1, which.unsqueeze(-2).expand_as(columns), columns)[..., 1:].mT.cpu()
    return torch.cat([sums[..., :1], sums[..., 1:] / sums[..., :1]], -1)


def calibration_error(bins: Tensor) -> Tensor:
    """Return the expected calibration error: the mean distance of confidence and accuracy over samples in bins.

    Examples
    --------
    >>> calibration_error(reliability(torch.tensor([0.9, 0.9]), torch.tensor([1.0, 0.0]), torch.ones(2)))
    tensor(0.4000)
    """
    count, confidence, accuracy = bins.unbind(-1)
    return (count * (confidence - accuracy).abs()).nansum(-1) / count.sum(-1)
