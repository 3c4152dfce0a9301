"""A plain PyTorch training loop, as anyone would write it: what a population must agree with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dovetail.data import Split
from dovetail.population import SGD, Adam, epoch_order, member_keys

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 5, bias=False)
    )


def cnn() -> nn.Module:
    """One thin convolution (done by patches) and one that is not."""
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 12, 4, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(12, 5),
    )


def normed_cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(512, 5),
    )


def dropout_mlp() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 5))


def images(samples: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Split:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(samples, 1, 8, 8, generator=generator, dtype=torch.float64)
    # Classes that can be learned: the strongest of five pixels.
    return Split(x.to(dtype), x[:, 0, 0, :5].argmax(1))


def plain_loop(
    network: nn.Module,
    split: Split,
    seed: int,
    *,
    epochs: int,
    batch_size: int,
    optimizer: Adam | SGD,
    lr: float,
    masks: Mapping[str, Tensor] | None = None,
    loss: Callable[[Tensor, Tensor], Tensor] = F.cross_entropy,
    indices: Tensor | None = None,
) -> nn.Module:
    """Train one network alone on the batches that a population's member of this seed sees."""
    network.train()
    step: torch.optim.Optimizer
    if isinstance(optimizer, Adam):
        step = torch.optim.Adam(
            network.parameters(), lr, optimizer.betas, optimizer.eps, optimizer.weight_decay, foreach=False
        )
    else:
        step = torch.optim.SGD(
            network.parameters(), lr, optimizer.momentum, weight_decay=optimizer.weight_decay
        )
    samples = len(split) if indices is None else len(indices)
    for epoch in range(epochs):
        order = epoch_order(member_keys([seed], device=split.x.device), epoch, samples)[0]
        if indices is not None:
            order = indices[order]
        for batch in order.split(batch_size):
            step.zero_grad()
            loss(network(split.x[batch]), split.y[batch]).backward()
            step.step()
            with torch.no_grad():
                for name, parameter in network.named_parameters():
                    if masks and name in masks:
                        parameter.mul_(masks[name])
    return network


def distance(network: nn.Module, params: Mapping[str, Tensor], member: int) -> float:
    """Return the largest relative difference of any tensor."""
    return max(
        float((parameter.detach() - params[name][member]).norm() / parameter.detach().norm())
        for name, parameter in network.named_parameters()
    )
