"""How fast sculpting is, against a plain PyTorch loop with the same rules in the same run.

``python bench/sculpt.py`` sculpts all 36 trials of [4,2,4] (four seeds, three widths, three depths) both ways. The
plain loop runs one seed of each architecture, all 70 searches, and is counted four times; ``--full`` runs all four.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import dovetail as dt
from dovetail.sculpting import sculpt_seeds
from dovetail.sculpting.settings import EDGE_STEPS, UNIT_STEPS, Preset, preset

TASK = [4, 2, 4]
WIDTHS, DEPTHS, SEEDS = (24, 36, 48), (1, 2, 3), range(4)
Masks = list[Tensor]
Network = nn.Sequential


def plain_network(hidden: list[int], inputs: int, outputs: int, seed: int) -> Network:
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for before, units in zip([inputs, *hidden], [*hidden, outputs], strict=True):
        layer = nn.Linear(before, units)
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def linear(network: Network) -> list[nn.Linear]:
    return [layer for layer in network if isinstance(layer, nn.Linear)]


def plain_train(network: Network, masks: Masks, x: Tensor, y: Tensor, how: Preset) -> tuple[bool, Network]:
    """Train as long as the dense network; return whether any epoch did the task, and the best epoch."""
    optimizer = torch.optim.Adam(network.parameters(), lr=how.lr, weight_decay=1e-4)
    best, best_score = network, (x.numel() + y.numel(), float("inf"))
    for _ in range(how.epochs):
        for batch in torch.randperm(len(x)).split(how.batch_size):
            loss = F.binary_cross_entropy_with_logits(
                network(x[batch] + 0.1 * torch.randn(len(batch), x.shape[1])), y[batch]
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                for layer, mask in zip(linear(network), masks, strict=True):
                    layer.weight *= mask
        with torch.no_grad():
            logits = network(x)
            score = (
                int(((logits > 0) != (y > 0.5)).sum()),
                float(F.binary_cross_entropy_with_logits(logits, y)),
            )
        if score < best_score:
            best, best_score = copy.deepcopy(network), score
    return best_score[0] == 0, best


def unit_masks(network: Network, masks: Masks, share: float, x: Tensor, y: Tensor) -> Masks:
    activations = []
    out = x
    for layer in network:
        out = layer(out)
        if isinstance(layer, nn.ReLU):
            out.retain_grad()
            activations.append(out)
    F.binary_cross_entropy_with_logits(out, y).backward()
    scores = [(a.grad * a).abs().mean(0).detach() for a in activations if a.grad is not None]
    threshold = float(np.percentile(torch.cat(scores).numpy(), 100 * share))
    found = [mask.clone() for mask in masks]
    for place, score in enumerate(scores):
        found[place] *= (score > threshold)[:, None]
        found[place + 1] *= (score > threshold)[None, :]
    return found


def edge_masks(network: Network, masks: Masks, share: float, x: Tensor, y: Tensor) -> Masks:
    sizes = [layer.weight.detach().abs() for layer in linear(network)]
    threshold = float(np.percentile(torch.cat([size.flatten() for size in sizes]).numpy(), 100 * share))
    return [mask * (size > threshold) for mask, size in zip(masks, sizes, strict=True)]


def plain_search(
    network: Network, masks: Masks, share: float, step: float, smallest: float, propose: Callable[..., Masks],
    x: Tensor, y: Tensor, how: Preset,
) -> tuple[Network, Masks]:  # fmt: skip
    step = max(step, smallest)
    while True:
        further = min(share + step, 1.0)
        tried = copy.deepcopy(network)
        new = propose(tried, masks, further, x, y)
        with torch.no_grad():
            for layer, mask in zip(linear(tried), new, strict=True):
                layer.weight *= mask
        done, trained = plain_train(tried, new, x, y, how)
        if done:
            network, masks, share = trained, new, further
            if share >= 1:
                return network, masks
        elif step <= smallest:
            return network, masks
        else:
            step = max(step / 2, smallest)


def plain_trial(hidden: list[int], seed: int, how: Preset) -> int:
    """Sculpt one network over the whole grid; return the fewest edges."""
    task = dt.boolean_task(TASK)
    x, y = task.x, task.y
    network = plain_network(hidden, task.inputs, task.outputs, seed)
    masks = [torch.ones_like(layer.weight) for layer in linear(network)]
    done = False
    while not done:
        done, network = plain_train(network, masks, x, y, how)
    total = sum(mask.numel() for mask in masks)
    fewest = total
    for unit_step in UNIT_STEPS:
        fewer = plain_search(network, masks, 0.0, unit_step, 1 / sum(hidden), unit_masks, x, y, how)
        gone = 1 - sum(int(mask.sum()) for mask in fewer[1]) / total
        for edge_step in EDGE_STEPS:
            _, left = plain_search(*fewer, gone, edge_step, 1 / total, edge_masks, x, y, how)
            fewest = min(fewest, sum(int(mask.sum()) for mask in left))
    return fewest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="run the plain loop for all four seeds")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    sculpt_seeds(TASK, [8], [0], unit_steps=[0.5], edge_steps=[0.02], device=arguments.device, progress=False)
    seeds = list(SEEDS) if arguments.full else [0]
    ours = plain = 0.0
    detection: list[float] = []
    print(
        f"{'network':<16}{'ours, 4 seeds':>16}{'plain, 1 seed':>16}{'ratio a trial':>16}   edges (ours; plain)"
    )
    for hidden in [[width] * depth for depth in DEPTHS for width in WIDTHS]:
        begun = time.perf_counter()
        sculptures = sculpt_seeds(TASK, hidden, SEEDS, device=arguments.device, progress=False)
        between = time.perf_counter()
        fewest = [
            plain_trial(hidden, seed, preset("[4,2,4]", len(hidden), 16, boolean=True)) for seed in seeds
        ]
        loop, seconds = (time.perf_counter() - between) / len(seeds), between - begun
        ours, plain = ours + seconds, plain + len(SEEDS) * loop
        begun = time.perf_counter()
        modules = [len(sculpture.hierarchy.modules) for sculpture in sculptures]
        detection += [(time.perf_counter() - begun) / len(modules)]
        edges = [sculpture.edges for sculpture in sculptures]
        name, ratio = "-".join(map(str, [4, *hidden, 4])), len(SEEDS) * loop / seconds
        print(f"{name:<16}{seconds:>14.2f} s{loop:>14.1f} s{ratio:>15.0f}x   {edges}; {fewest}", flush=True)
    begun = time.perf_counter()
    dt.sculpt(TASK, [24], device=arguments.device, progress=False)
    single = time.perf_counter() - begun
    print(f"one trial, 4-24-4, 70 searches: {single:.2f} s")
    print(f"detection of modules: {1000 * np.mean(detection):.1f} ms a network")
    print(f"all 36 trials: {ours:.1f} s against {plain:.0f} s: {plain / ours:.0f}x")


if __name__ == "__main__":
    main()
