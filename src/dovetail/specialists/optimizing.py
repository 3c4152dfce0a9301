"""The optimizer of a training: what settings leave open about it, and the optimizer itself."""

from __future__ import annotations

from ..errors import SpecError
from ..population import SGD, Adam, AdamW
from ..population.optim import Optimizer
from .settings import TrainingSettings


def optimizer_settings(settings: TrainingSettings) -> dict[str, float | None]:
    """Return step size, momentum and weight decay: what was said, and torch's usual values for the rest.

    Raises
    ------
    SpecError
        For options of another optimizer.

    Examples
    --------
    >>> optimizer_settings(TrainingSettings(optimizer="sgd", lr=0.05))
    {'lr': 0.05, 'momentum': 0.9, 'weight_decay': 0.0}
    """
    sgd = settings.optimizer == "sgd"
    if not sgd and (settings.momentum is not None or settings.nesterov):
        raise SpecError(
            f"momentum and nesterov are options of optimizer='sgd', not of {settings.optimizer!r}; leave them out"
        )
    if sgd and settings.adam == "carried":
        raise SpecError(
            "adam='carried' carries Adam's moments through all rounds, and optimizer='sgd' has none; leave one out"
        )
    usual = {
        "lr": 0.1 if sgd else 1e-3,
        "momentum": 0.9 if sgd else None,
        "weight_decay": 0.01 if settings.optimizer == "adamw" else 0.0,
    }
    said = {name: getattr(settings, name) for name in usual}
    return {name: usual[name] if value is None else value for name, value in said.items()}


def optimizer_of(settings: TrainingSettings) -> Optimizer:
    """Return the optimizer that settings name.

    Examples
    --------
    >>> optimizer_of(TrainingSettings(optimizer="adamw")).weight_decay
    0.01
    """
    found = optimizer_settings(settings)
    lr, weight_decay = found["lr"] or 0.0, found["weight_decay"] or 0.0
    if settings.optimizer == "sgd":
        return SGD(lr, found["momentum"] or 0.0, weight_decay, settings.nesterov)
    kind = AdamW if settings.optimizer == "adamw" else Adam
    return kind(lr, weight_decay=weight_decay)
