"""The demonstration: ten specialists on data that needs no download, composed, one dropped and added back."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from .report import Page
    from .specialists import Connectivity, DropAudit, MergeCurve, Part, Score, Team

NET = "mlp:500"
EPOCHS, PATIENCE = 60, 10
DROPPED = 3
_WHOLE, _LESS = "sum of ten, in slots", f"in slots, without {DROPPED}"
"""What two of the networks are called."""


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demonstration found.

    Attributes
    ----------
    scores : dict of str to Score
        By network, on the test split.
    curves : dict of str to MergeCurve
        Accuracy over the number of specialists merged, plain and in slots.
    steps : list of Connectivity
        Mode connectivity of each step of the merge in slots.
    audit : DropAudit
        What is left of the dropped class.
    same_bits : bool
        Whether the composite is, bit for bit, what it was after a class was dropped and added back.
    seconds : float
        How long everything took.
    """

    scores: dict[str, Score]
    curves: dict[str, MergeCurve]
    steps: list[Connectivity]
    audit: DropAudit
    same_bits: bool
    seconds: float

    @property
    def table(self) -> pd.DataFrame:
        """A row per network: accuracy on its classes, on the dropped class, and entropy on other classes."""
        import pandas as pd

        return pd.DataFrame(
            {
                "network": list(self.scores),
                "classes": [len(score.rewarded) for score in self.scores.values()],
                "accuracy": [score.rewarded_accuracy for score in self.scores.values()],
                f"accuracy on {DROPPED}": [
                    float(score.class_accuracy[DROPPED]) for score in self.scores.values()
                ],
                f"entropy on {DROPPED}": [
                    float(score.class_entropy[DROPPED]) for score in self.scores.values()
                ],
            }
        )

    def page(self) -> Page:
        """Return the report."""
        from .report import Page
        from .report.charts import confusion_chart, per_class_chart, probe_chart, relearning_chart
        from .report.pages.part_sections import add_confusions, add_merge_curves, add_paths

        page = Page(
            "Ten specialists become one network",
            f"Each of ten networks ({NET}) on scikit-learn's digits was trained to recognise one digit and to be "
            "undecided on all others. Their weights were then added up. Accuracies are on the test split.",
        )
        page.table(
            self.table, "Accuracy on the classes that a network knows; entropy in nats, at most ln 10 = 2.30."
        )
        add_merge_curves(page, self.curves, "How many can be merged")
        add_confusions(page, {_WHOLE: self.scores[_WHOLE], **self.scores}, "What is confused")
        page.heading(f"Dropping {DROPPED} and adding it back")
        same = "the same to the bit" if self.same_bits else "not the same"
        page.text(
            f"Taking out one specialist leaves the others as they were; added back, the network is {same} as before."
        )
        page.chart(confusion_chart(self.scores[_LESS]), f"The same composite without {DROPPED}.")
        page.chart(per_class_chart(self.scores[_LESS], "entropy"), "Entropy by class.")
        page.heading("What is left of it")
        page.text(self.audit.finding)
        page.table(self.audit.to_frame())
        page.chart(probe_chart(self.audit), "Linear probe on the last hidden layer; chance is .5.")
        page.chart(
            relearning_chart(self.audit),
            "From at most 100 samples of it; the dashed line is where it counts as learnt again.",
        )
        add_paths(page, {"in slots": self.steps})
        return page


def run_demo(*, progress: bool = True) -> Demo:
    """Train ten specialists on `digits` twice, plain and in slots, compose them, and compare with a generalist."""
    from .data import load
    from .specialists import (
        audit_drop,
        compose,
        evaluate_all,
        incremental_connectivity,
        merge_curve,
        train_specialists,
    )

    begun = time.perf_counter()
    data = load("digits")
    train = partial(train_specialists, data, NET, epochs=EPOCHS, patience=PATIENCE, progress=progress)
    plain, slots = train(sparsity=0.9), train(slots=True)
    whole = compose(slots)
    less = whole.without(DROPPED)
    again = less + slots[DROPPED]
    audit = audit_drop(whole, DROPPED, data, progress=progress)
    parts: dict[str, Part] = {
        f"one specialist, of {DROPPED}": slots[DROPPED],
        "sum of ten, plain": _sum(plain),
        "averaged logits of ten, plain": compose(plain, "logits"),
        _WHOLE: whole,
        _LESS: less,
        f"in slots, {DROPPED} added back": again,
    }
    scores = dict(zip(parts, evaluate_all(list(parts.values()), data.test), strict=True))
    return Demo(
        {"generalist": audit.scores["generalist"], **scores},
        {
            "plain": merge_curve(plain, data.test, orders=5),
            "in slots": merge_curve(slots, data.test, orders=5),
        },
        incremental_connectivity(slots, data.test),
        audit,
        again == whole,
        time.perf_counter() - begun,
    )


def _sum(team: Team) -> Part:
    total = sum(team)
    assert not isinstance(total, int)
    return total
