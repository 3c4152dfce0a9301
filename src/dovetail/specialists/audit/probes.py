"""Probes: how well a linear classifier on a network's last hidden layer tells a class from all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from ...data.split import Split
from ...errors import DataError
from ...nets.output import output_layer
from ...threads import one_blas_thread
from ..closed_form.combined import CombinedNetwork
from ..merge import LogitAverage

MOST_SAMPLES = 6000


def hidden_activations(network: nn.Module, x: Tensor, *, batch_size: int = 1024) -> Tensor:
    """Return what a network's output layer reads, ``[samples, units]``; of several networks, side by side.

    Examples
    --------
    >>> import dovetail as dt
    >>> hidden_activations(dt.build_net("mlp:7", (3,), 2, seed=0), torch.zeros(5, 3)).shape
    torch.Size([5, 7])
    """
    outputs = [each.get_submodule(output_layer(each, x[:1])) for each in _single_networks(network)]
    seen: list[list[Tensor]] = [[] for _ in outputs]
    hooks = [
        layer.register_forward_pre_hook(lambda _, inputs, kept=kept: kept.append(inputs[0].detach()))
        for layer, kept in zip(outputs, seen, strict=True)
    ]
    try:
        network.eval()
        with torch.no_grad():
            for batch in x.split(batch_size):
                network(batch)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.cat([torch.cat(kept) for kept in seen], 1)


def _single_networks(network: nn.Module) -> Iterator[nn.Module]:
    """Yield the networks whose logits are added up; a network that is one by itself is yielded as it is."""
    if isinstance(network, LogitAverage | CombinedNetwork):
        for each in network.networks:
            yield from _single_networks(each)
    else:
        yield network


def sample(split: Split, most: int = MOST_SAMPLES) -> Split:
    """Return at most so many samples of a split, always the same, from all over it."""
    order = torch.randperm(len(split), generator=torch.Generator().manual_seed(0))
    return split if len(split) <= most else split.where(order[:most])


def of_classes(split: Split, ids: Sequence[int]) -> Split:
    """Return the samples of some classes."""
    return split.where(torch.isin(split.y, torch.tensor(list(ids), device=split.y.device)))


def probe_accuracy(train: Split, test: Split, target: int) -> float:
    """Return how well a linear probe tells one class from all others, as balanced accuracy (chance is .5).

    A logistic regression on standardised features, fitted on at most `MOST_SAMPLES` training samples, with both
    sides weighing the same.

    Parameters
    ----------
    train, test : Split
        Activations and class ids.
    target : int
        The class to tell from the others.

    Examples
    --------
    >>> split = Split(torch.tensor([[0.0], [0.1], [5.0], [5.1]]), torch.tensor([0, 2, 1, 1]))
    >>> probe_accuracy(split, split, target=1)
    1.0
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    some = sample(train)
    for name, split in (("training", some), ("test", test)):
        if len((split.y == target).unique()) < 2:
            raise DataError(
                f"a probe needs samples of the class and of others; the {name} samples have one side only"
            )
    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000, C=0.1, class_weight="balanced"))
    # Small products, thousands of times: more threads only wait for each other, for minutes when cores are busy.
    with one_blas_thread():
        probe.fit(some.x.flatten(1).numpy(), (some.y == target).numpy())
        found = probe.predict(test.x.flatten(1).numpy())
    return float(balanced_accuracy_score((test.y == target).numpy(), found))
