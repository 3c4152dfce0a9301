"""Adding a class to a composite: its specialist is trained beside the members, and they are introduced to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data.dataset import Dataset
from ..errors import MisfitError
from .closed_form.sums import Sums
from .composite import Composite
from .introduction import introduce
from .settings import TrainingSettings
from .train import train_specialists

if TYPE_CHECKING:
    import torch


def add_class(
    composite: Composite,
    data: Dataset,
    *,
    introduction: bool = True,
    seed: int = 0,
    device: torch.device | str | None = None,
    progress: bool = True,
    **training: Any,
) -> Composite:
    """Return a composite that knows the classes of more data, too.

    Parameters
    ----------
    composite : Composite
        What there is; its specialists need cards. It stays as it is.
    data : Dataset
        Samples of a new class, or of several. Of the others nothing is needed.
    introduction : bool
        Teach members that claim the new samples to stay undecided on them. Without it they stay, to the bit, what they
        are.
    seed : int
        What θ0 and draws come from.
    device : str or torch.device, optional
        Where to train; the first GPU if there is one.
    progress : bool
        Show progress (on terminals only).
    **training
        Options of `train_specialists`; by default those that the members were trained with.

    Raises
    ------
    MisfitError
        When it is no composite of specialists. Sums need no more than ``+``.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:60", [0, 1, 2], slots=True, epochs=5, progress=False)
    >>> three = add_class(sum(team[1:], start=team[0]).without(2), data, rewarded=[2], progress=False)
    >>> three.known
    ('0', '1', '2')
    """
    _check_kind(composite)
    had = composite.specialists[0].provenance.training
    settings = TrainingSettings.from_provenance(had).model_dump()
    only_here = ("net", "slots", "temperature", "loss", "augment", "sample_weights")
    usual = {name: value for name, value in settings.items() if name not in only_here}
    more = train_specialists(
        data, beside=composite, seed=seed, device=device, progress=progress, **(usual | training)
    )
    members = list(composite.specialists)
    if introduction:
        members = introduce(members, more, data, seed=seed, device=device, progress=progress)
    weights = None
    if composite.method == "logits" and composite.coefficients:
        # Members keep their order by class, so each keeps its weight.
        weights = [*composite.weights, *[sum(composite.weights) / len(composite)] * len(more)]
    return composite.of([*members, *more], weights=weights)


def _check_kind(composite: object) -> None:
    if isinstance(composite, Sums):
        raise MisfitError(
            f"{composite!r} is made of sums, which need no training to know another class: make its part with "
            "dovetail.sums(data), of the same features and seed, and add it with +"
        )
    if not isinstance(composite, Composite):
        raise MisfitError(
            f"a class is added to a composite of specialists, not to a value of type {type(composite).__name__}; "
            "dovetail.compose(team) makes one"
        )
