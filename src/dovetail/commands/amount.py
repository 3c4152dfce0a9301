"""The amount of work that a command was asked for: hours of it are not begun by a slip of the keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import SpecError

if TYPE_CHECKING:
    from ..data import Dataset
    from ..specialists.settings import TrainingSettings

_ASKED_FROM = 4 * 3600.0
"""Seconds above which a command wants to hear that they are meant: four hours."""
_STEP = 2e-4
"""Seconds that a step of training takes at the least, on any device."""
_COPY, _DRAW, _START = 1e-3, 1e-4, 1e-5
"""Seconds for a shuffled copy, a random set and a start of k-means, at the least: for networks of a few units."""
_USUAL = 10_000_000
"""Steps of all networks together up to which nothing is worked out: nothing of the kind takes hours."""


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(42), duration(600), duration(9000), duration(1e6), duration(1e12)
    ('42 s', '10 min', '2.5 h', '12 days', '31,688 years')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    days = seconds / 86_400
    if days < 3:
        return f"{seconds / 3600:.1f} h"
    return f"{days:.0f} days" if days < 1000 else f"{days / 365.25:,.0f} years"


def check_amount(seconds: float, what: str, *, yes: bool) -> None:
    """Refuse what would take more than four hours, unless somebody said that this is meant.

    Parameters
    ----------
    seconds : float
        What it would take at the least.
    what : str
        What takes so long.
    yes : bool
        Whether it is meant.

    Examples
    --------
    >>> check_amount(1e6, "1,000,000,000 shuffled copies", yes=False)
    Traceback (most recent call last):
    dovetail.errors.SpecError: 1,000,000,000 shuffled copies take 12 days or more; ask for less, or say --yes
    """
    if seconds > _ASKED_FROM and not yes:
        raise SpecError(f"{what} take {duration(seconds)} or more; ask for less, or say --yes")


def check_training(data: Dataset, settings: TrainingSettings, networks: int, *, device: str | None) -> None:
    """Refuse trainings of specialists that would take more than four hours; for who has not said --yes.

    Parameters
    ----------
    data : Dataset
        What is learned.
    settings : TrainingSettings
        How.
    networks : int
        How many are trained.
    device : str, optional
        Where.
    """
    import torch

    from ..engine.costs import workload_seconds
    from ..nets.own import NAME
    from ..recipes.works import Workload

    round_epochs = settings.round_epochs or max(1, settings.epochs // max(1, settings.rounds))
    epochs = settings.rounds * round_epochs + settings.epochs
    batch_size = min(settings.batch_size, len(data.train))
    steps = epochs * -(-len(data.train) // batch_size)
    if steps * networks <= _USUAL:
        return
    seconds = steps * _STEP
    if not NAME.fullmatch(settings.net):  # one of your own is built when it is trained
        on_gpu = (device or ("cuda" if torch.cuda.is_available() else "cpu")).startswith("cuda")
        amount = Workload(settings.net, data.input_shape, data.outputs, networks, steps, batch_size)
        seconds = max(seconds, workload_seconds(amount, "cuda" if on_gpu else "cpu"))
    check_amount(
        seconds, f"{networks:,} networks with {epochs:,} epochs of {len(data.train):,} samples", yes=False
    )


def check_sculpting(epochs: int, batches: int, seeds: int, together: int, *, yes: bool) -> None:
    """Refuse sculpting that would take more than four hours: each seed trains before its searches and in them."""
    stacks = -(-seeds // together)
    check_amount(
        2 * stacks * epochs * batches * _STEP,
        f"{seeds:,} seeds with trainings of {epochs:,} epochs",
        yes=yes,
    )


def check_audit(shuffles: int, starts: int, stability: int, k: int, draws: int | None, *, yes: bool) -> None:
    """Refuse an audit that would take more than four hours: by the first of its numbers that does."""
    check_amount(shuffles * _COPY, f"{shuffles:,} shuffled copies", yes=yes)
    check_amount(stability * _COPY, f"{stability:,} more clusterings", yes=yes)
    runs = 1 + shuffles + stability
    check_amount(starts * runs * _START, f"{runs:,} clusterings with {starts:,} starts each", yes=yes)
    if draws is not None:
        check_amount(draws * k * _DRAW, f"{draws:,} random sets for each of {k:,} clusters", yes=yes)
