"""A plain PyTorch training loop, as anyone would write it: what a population must agree with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from dovetail.data import Split
from dovetail.population import SGD, Adam, AdamW, epoch_order, member_keys

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


def torch_optimizer(network: nn.Module, optimizer: Adam | SGD, lr: float) -> torch.optim.Optimizer:
    """Return torch's own optimizer."""
    if isinstance(optimizer, SGD):
        return torch.optim.SGD(
            network.parameters(), lr, optimizer.momentum, weight_decay=optimizer.weight_decay,
            nesterov=optimizer.nesterov,
        )  # fmt: skip
    kind = torch.optim.AdamW if isinstance(optimizer, AdamW) else torch.optim.Adam
    return kind(
        network.parameters(), lr, optimizer.betas, optimizer.eps, optimizer.weight_decay, foreach=False
    )


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
    schedule: Callable[[torch.optim.Optimizer, int], LRScheduler] | None = None,
    clip: float | None = None,
    autocast: bool = False,
    step: torch.optim.Optimizer | None = None,
    stream: int = 0,
) -> nn.Module:
    """Train one network alone on the batches that a population's member of this seed sees.

    ``schedule(optimizer, steps)`` returns one of torch's; ``step`` goes on with an optimizer that has taken steps.
    """
    network.train()
    step = step or torch_optimizer(network, optimizer, lr)
    for group in step.param_groups:
        group["lr"] = lr  # where the schedule of an earlier training left another
    samples = len(split) if indices is None else len(indices)
    scheduler = None if schedule is None else schedule(step, epochs * -(-samples // batch_size))
    for epoch in range(epochs):
        order = epoch_order(member_keys([seed], stream, device=split.x.device), epoch, samples)[0]
        if indices is not None:
            order = indices[order]
        for batch in order.split(batch_size):
            step.zero_grad()
            with torch.autocast(split.x.device.type, torch.bfloat16, enabled=autocast):
                logits = network(split.x[batch])
            loss(logits.float() if autocast else logits, split.y[batch]).backward()
            if clip is not None:
                for name, parameter in network.named_parameters():
                    if masks and name in masks:
                        assert parameter.grad is not None
                        parameter.grad.mul_(masks[name])
                nn.utils.clip_grad_norm_(network.parameters(), clip)
            step.step()
            if scheduler is not None:
                scheduler.step()
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
