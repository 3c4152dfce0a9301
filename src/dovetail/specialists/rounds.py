"""Iterative magnitude pruning with rewinding, for a whole population (Algorithm 1 of the paper)."""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from ..data.dataset import Dataset
from ..errors import SpecError, TrainingError
from ..population import Adam, History, OptimizerState, Population
from ..population.batch_norm import has_batch_norm
from ..prune import prune_by_magnitude, rate_per_round
from .objectives import objective, other_entropy, rewarded_accuracy
from .settings import TrainingSettings


def train_rounds(
    population: Population,
    data: Dataset,
    rewarded: Tensor,
    settings: TrainingSettings,
    *,
    at_once: int | None = None,
    progress: bool = True,
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

    Returns
    -------
    list of History
        One for each round, the last training included.
    """
    histories = []
    stages = settings.rounds + 1
    subsets = None
    if settings.loss == "xe":
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
            optimizer=Adam(lr=settings.lr),
            optimizer_state=moments,
            objective=objective(settings.loss, settings.temperature),
            per_member={"rewarded": rewarded},
            subsets=subsets,
            metrics={
                "rewarded_accuracy": rewarded_accuracy,
                "entropy": partial(other_entropy, temperature=settings.temperature),
            },
            monitor=settings.monitor,
            keep=settings.keep,
            patience=settings.patience,
            stream=stage,
            at_once=at_once,
            progress=progress and (f"round {stage + 1}/{stages}" if stages > 1 else "training"),
        )
        if bool(history.diverged.any()):
            raise TrainingError(
                f"{int(history.diverged.sum())} of {len(population)} networks diverged in round {stage + 1} of "
                f"{stages} (the loss became infinite or NaN); lower lr ({settings.lr})"
            )
        if settings.loss == "xe":
            # Samples of other classes counted as 0 in the mean.
            counted = rewarded[:, data.val.y].double().mean(1).cpu()
            history.values["loss"] /= counted
        histories.append(history)
        if not last:
            population.set_masks(_pruned(population, settings))
    return histories


def _pruned(population: Population, settings: TrainingSettings) -> dict[str, Tensor]:
    """Return masks with the weights and biases of least magnitude pruned."""
    names = prunable(population.member(0))
    assert settings.sparsity is not None  # filled in
    rate = rate_per_round(settings.sparsity, settings.rounds)
    weights = {name: population.params[name] for name in names}
    if settings.scope == "global":
        return prune_by_magnitude(weights, population.masks, rate=rate, scope="global", population=True)
    return prune_by_magnitude(
        weights,
        population.masks,
        rate=rate,
        output=[name for name in names if name.startswith("output.")],
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
    layers = (nn.Linear, nn.modules.conv._ConvNd)
    return [
        f"{place}.{name}" if place else name
        for place, module in network.named_modules()
        if isinstance(module, layers)
        for name, _ in module.named_parameters(recurse=False)
    ]
