"""Iterative magnitude pruning with rewinding, for a whole population (Algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn

from ..data.dataset import Dataset
from ..errors import SpecError, TrainingError
from ..nets.output import LAYERS, output_layer
from ..population import History, OptimizerState, Population
from ..population.batch_norm import has_batch_norm
from ..population.fit import Done
from ..population.step import Augment
from ..prune import prune_by_magnitude, rate_per_round
from .objectives import Loss, objective, other_entropy, rewarded_accuracy
from .optimizing import optimizer_of
from .own_functions import told
from .settings import TrainingSettings


def train_rounds(
    population: Population,
    data: Dataset,
    rewarded: Tensor,
    settings: TrainingSettings,
    *,
    loss: str | Loss,
    augment: Augment | None = None,
    weights: Tensor | None = None,
    val_weights: Tensor | None = None,
    when_done: Callable[[Done], None] | None = None,
    at_once: int | None = None,
    progress: bool | str = True,
) -> list[History]:
    """Train, prune and rewind as often as the settings say, then train what is left.

    Masks that the population has already (slots) are what pruning starts from.

    Parameters
    ----------
    population : Population
        The networks at θ0; trained in place.
    data : Dataset
        What to train and validate on. With ``"xe"`` members see only the samples of their classes.
    rewarded : Tensor
        Each member's rewarded classes, 0/1, ``[members, classes]``.
    settings : TrainingSettings
        How to train, all of it filled in.
    loss, augment
        What settings only name: the loss, by name or as a function, and what changes inputs.
    weights : Tensor, optional
        How much training samples count.
    val_weights : Tensor, optional
        How much validation samples count, ``[members, samples]``.
    when_done : callable, optional
        Called with networks that are done with the last round.

    Returns
    -------
    list of History
        One for each round, the last training included.
    """
    histories = []
    stages = settings.rounds + 1
    subsets = None
    if loss == "xe":
        if has_batch_norm(population.member(0)):
            raise SpecError(
                f"loss 'xe' trains on rewarded classes only, in batches that are often short, which upsets the batch "
                f"norm of {settings.net}; use loss 'me', or a network without batch norm"
            )
        subsets = [member[data.train.y].nonzero().squeeze(1) for member in rewarded]
    moments = OptimizerState() if settings.adam == "carried" else None
    for stage in range(stages):
        last = stage == stages - 1
        population.rewind()
        history = population.fit(
            data,
            epochs=settings.epochs if last else settings.round_epochs or settings.epochs,
            batch_size=settings.batch_size,
            optimizer=optimizer_of(settings),
            optimizer_state=moments,
            objective=objective(loss, settings.temperature),
            training_objective=objective(loss, settings.temperature, settings.label_smoothing),
            per_member={"rewarded": rewarded},
            subsets=subsets,
            weights=weights,
            val_weights=val_weights,
            augment=augment and told(augment, "augment(x, noise)"),
            when_done=when_done if last else None,
            metrics={
                "rewarded_accuracy": rewarded_accuracy,
                "entropy": partial(other_entropy, temperature=settings.temperature),
            },
            monitor=settings.monitor,
            keep=settings.keep,
            patience=settings.patience,
            schedule=settings.schedule,
            warmup=settings.warmup,
            clip_gradient=settings.clip_gradient,
            autocast=settings.autocast,
            stream=stage,
            at_once=at_once,
            progress=progress and _title(progress, stage, stages),
        )
        if bool(history.diverged.any()):
            raise TrainingError(
                f"{int(history.diverged.sum())} of {len(population)} networks diverged in round {stage + 1} of "
                f"{stages} (the loss became infinite or NaN); lower lr ({settings.lr})"
            )
        histories.append(history)
        if not last:
            population.set_masks(_pruned(population, data.train.x[:2], settings))
    return histories


def _title(progress: bool | str, stage: int, stages: int) -> str:
    what = f"round {stage + 1}/{stages}" if stages > 1 else "training"
    return f"{progress}, {what}" if isinstance(progress, str) else what


def _pruned(population: Population, example: Tensor, settings: TrainingSettings) -> dict[str, Tensor]:
    """Return masks with the weights and biases of least magnitude pruned."""
    names = prunable(population.member(0))
    assert settings.sparsity is not None  # filled in
    rate = rate_per_round(settings.sparsity, settings.rounds)
    weights = {name: population.params[name] for name in names}
    if settings.scope == "global":
        return prune_by_magnitude(weights, population.masks, rate=rate, scope="global", population=True)
    network = population.member(0)
    last = output_layer(network, example.to(next(network.parameters())))
    return prune_by_magnitude(
        weights,
        population.masks,
        rate=rate,
        output=[name for name in names if name.rpartition(".")[0] == last],
        output_rate=rate * settings.output_share,
        population=True,
    )


def prunable(network: nn.Module) -> list[str]:
    """Return the names of weights and biases of dense layers and convolutions.

    Examples
    --------
    >>> prunable(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))
    ['0.weight', '0.bias']
    """
    return [
        f"{place}.{name}" if place else name
        for place, module in network.named_modules()
        if isinstance(module, LAYERS)
        for name, _ in module.named_parameters(recurse=False)
    ]
