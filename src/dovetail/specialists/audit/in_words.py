"""The audit of a dropped class in words: what its numbers say, a sentence or two for each question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .drop import DropAudit

_SAME_AS = {
    "composite": "is, bit for bit, the composite to which it was never added",
    "sums": "are, bit for bit, what the data without its samples gives",
    "combination": "is made of parts that are, bit for bit, those to which it was never added",
}
_OTHERS = {"composite": "specialists", "sums": "sums", "combination": "parts"}


def in_words(audit: DropAudit) -> str:
    """Return what an audit shows, in words."""
    sentences = [_output(audit), _probes(audit), *_relearning(audit), *_membership(audit), *_samples(audit)]
    return " ".join(sentences)


def _output(audit: DropAudit) -> str:
    left = audit.accuracy_on_it(audit.without) or 0.0
    what = "its specialist" if audit.kind == "composite" else "it"
    are = "are" if audit.kind == "sums" else "is"
    same = (
        _SAME_AS[audit.kind]
        if audit.same_as_never_added
        else f"{are} not the same as one to which it was never added"
    )
    return (
        f"Without {what} the {audit.kind} {are} right on {_percent(left)} of the samples of {audit.names}, and {same}. "
        "That is about the output."
    )


def _probes(audit: DropAudit) -> str:
    words = {
        audit.unseen: f"from {_OTHERS[audit.kind]} that never saw a sample of it",
        "untrained network": "from an untrained network",
        "raw inputs": "from the raw inputs",
        "the trunk's features": "from the trunk's features as they are",
    }
    others = [
        f"; {text}, with {_percent(audit.probes[name])}"
        for name, text in words.items()
        if name in audit.probes
    ]
    return (
        f"From the hidden layer a linear probe still tells {audit.names} from the others with "
        f"{_percent(audit.probes[audit.without])} balanced accuracy{''.join(others)}."
    )


def _relearning(audit: DropAudit) -> Iterator[str]:
    words = {
        audit.without: "",
        audit.unseen: f"by {_OTHERS[audit.kind]} that never saw it ",
        "untrained network": "by an untrained network ",
    }
    if not {audit.without, audit.unseen} <= set(audit.relearning):
        return
    level, told = audit.level, []
    for name, text in words.items():
        if name in audit.relearning:
            found = audit.relearning[name]
            steps = found.steps_until(level)
            told.append(f"{text}{f'not in {found.steps[-1]}' if steps is None else f'in {steps}'} steps")
    most = audit.relearning[audit.without].samples[-1]
    yield f"From {most} samples of it, or all there are, it is learnt again {'; '.join(told)}."


def _membership(audit: DropAudit) -> Iterator[str]:
    words = {
        audit.whole: f"on the {audit.kind} with it",
        audit.without: "without it",
        audit.unseen: f"on {_OTHERS[audit.kind]} that never saw it",
    }
    if not set(words) <= set(audit.membership):
        return
    told = [
        f"{text} with {audit.membership[name].confidence:.3f} and {audit.membership[name].neural:.3f}"
        for name, text in words.items()
    ]
    any_of = audit.membership[audit.without]
    (low, high), (lowest, highest) = any_of.chance, any_of.neural_chance
    yield (
        "Attacks, one by confidence and a neural one, tell its training samples from its test samples (AUROC) "
        f"{'; '.join(told)}. Chance is {low:.3f} to {high:.3f} for the first, {lowest:.3f} to {highest:.3f} for the "
        "second."
    )
    if any_of.shadow is not None:
        told = [f"{text} with {audit.membership[name].shadow:.3f}" for name, text in words.items()]
        yield (
            "An attack that learned from shadows, made by itself in the same way from half of the samples each, tells "
            f"them {'; '.join(told)}; chance is {low:.3f} to {high:.3f}."
        )


def _samples(audit: DropAudit) -> Iterator[str]:
    left = f"The {_OTHERS[audit.kind]} that are left"
    if audit.seen:
        yield (
            f"{left} saw its samples in training, unlabelled: leaving one out is no proof that nothing of it is left."
        )
    else:
        yield f"{left} never saw a sample of it."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
