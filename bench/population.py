"""How fast a population trains, against a plain PyTorch loop in the same run.

Run ``make bench``, or ``python bench/population.py --markdown`` for the table of docs/performance.md. Every
line trains the same networks twice: one after another in the loop that anyone would write (its tensors
already on the device, `torch.optim.Adam` as it comes), and as a population. The floor is the larger of two
times that no program with products and optimizer as separate steps can beat: the bytes that must move at the
measured copy bandwidth, and the operations that must be done at the measured rate of large float32 products
(convolutions run in TF32 where cuDNN may, which can be faster than that).
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from dovetail.data import Split
from dovetail.nets import net_builder
from dovetail.population import Population


@dataclass(frozen=True)
class Case:
    """One line of the table: a network, its data, and how many of them."""

    title: str
    spec: str
    input_shape: tuple[int, ...]
    outputs: int
    batch_size: int
    members: int
    steps: int
    plain_steps: int
    wanted: float | None = None
    masked: bool = False


MLP = ("784-512-10", "mlp:512,dropout=0", (1, 28, 28), 10, 64)
TINY = ("4-24-4", "mlp:24,dropout=0,output_bias=true", (4,), 4, 8)
DROPOUT = ("784-4×256-10, dropout", "mlp:256-256-256-256,dropout=0.5,output_bias=true", (1, 28, 28), 10, 128)
LENET = ("lenet", "lenet", (1, 28, 28), 10, 64)

CASES = {
    "cpu": [
        Case(*MLP, members=1, steps=400, plain_steps=400),
        Case(*MLP, members=20, steps=100, plain_steps=400, wanted=1.2),
        Case(*MLP, members=20, steps=100, plain_steps=400, masked=True),
        Case(*MLP, members=100, steps=60, plain_steps=400),
        Case(*TINY, members=50, steps=2000, plain_steps=1000),
        Case(*TINY, members=500, steps=1000, plain_steps=1000, wanted=80),
        Case(*TINY, members=5000, steps=200, plain_steps=1000),
        Case(*LENET, members=6, steps=20, plain_steps=60),
    ],
    "cuda": [
        Case(*MLP, members=1, steps=2000, plain_steps=400),
        Case(*MLP, members=10, steps=2000, plain_steps=400),
        Case(*MLP, members=50, steps=2000, plain_steps=400, wanted=100),
        Case(*MLP, members=50, steps=2000, plain_steps=400, masked=True),
        Case(*MLP, members=300, steps=1000, plain_steps=400, wanted=100),
        Case(*MLP, members=300, steps=1000, plain_steps=400, masked=True),
        Case(*MLP, members=1000, steps=300, plain_steps=400),
        Case(*TINY, members=500, steps=4000, plain_steps=400),
        Case(*TINY, members=20000, steps=1000, plain_steps=400),
        Case(*DROPOUT, members=10, steps=2000, plain_steps=400),
        Case(*LENET, members=1, steps=300, plain_steps=400),
        Case(*LENET, members=10, steps=300, plain_steps=400),
        Case(*LENET, members=50, steps=200, plain_steps=400, wanted=20),
        Case("small-cnn", "small-cnn", (1, 28, 28), 10, 64, members=10, steps=50, plain_steps=200),
        Case("vgg16", "vgg16", (3, 32, 32), 10, 128, members=1, steps=400, plain_steps=100),
    ],
}


def synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def seconds(device: torch.device, work: Callable[[], object]) -> float:
    synchronise(device)
    begun = time.perf_counter()
    work()
    synchronise(device)
    return time.perf_counter() - begun


def data_of(case: Case, batches: int) -> Split:
    generator = torch.Generator().manual_seed(0)
    samples = case.batch_size * batches
    x = torch.rand(samples, *case.input_shape, generator=generator)
    return Split(x, torch.randint(case.outputs, (samples,), generator=generator))


def plain_step(case: Case, device: torch.device) -> float:
    """Seconds of one step of one network in a plain loop."""
    batches = 20
    split = data_of(case, batches).to(device)
    network = net_builder(case.spec, case.input_shape, case.outputs)().to(device)
    optimizer = torch.optim.Adam(network.parameters())

    def train(steps: int) -> None:
        done = 0
        while done < steps:
            for index in torch.randperm(len(split), device=device).split(case.batch_size):
                optimizer.zero_grad()
                F.cross_entropy(network(split.x[index]), split.y[index]).backward()
                optimizer.step()
                done += 1

    train(batches)
    rounds = -(-case.plain_steps // batches) * batches
    return min(seconds(device, lambda: train(rounds)) for _ in range(3)) / rounds


def population_step(case: Case, device: torch.device) -> tuple[float, float]:
    """Seconds of one step of one member, and seconds to get going (tracing, capturing)."""
    batches = min(20, case.steps)
    split = data_of(case, batches)
    build = net_builder(case.spec, case.input_shape, case.outputs)
    population = Population(build, range(case.members), device=device)
    if case.masked:
        population.set_masks(
            {name: torch.rand_like(param) > 0.5 for name, param in population.params.items()}
        )

    def fit(epochs: int) -> float:
        def work() -> object:
            return population.fit(split, epochs=epochs, batch_size=case.batch_size, progress=False)

        return seconds(device, work)

    fit(2)
    epochs = max(1, case.steps // batches)
    short, long = (min(fit(e) for _ in range(3)) for e in (2, 2 + epochs))
    step = (long - short) / (epochs * batches * case.members)
    return step, max(0.0, short - 2 * batches * case.members * step)


def ceilings(device: torch.device) -> tuple[float, float]:
    """Measured bytes per second of a large copy, and operations per second of a large float32 product."""
    big = 2**28 if device.type == "cuda" else 2**25
    source = torch.randn(big, device=device)
    target = torch.empty_like(source)
    size = 8192 if device.type == "cuda" else 2048
    a, b = (torch.randn(size, size, device=device) for _ in range(2))
    for _ in range(3):
        target.copy_(source)
        a @ b
    copy = min(seconds(device, lambda: target.copy_(source)) for _ in range(5))
    product = min(seconds(device, lambda: a @ b) for _ in range(5))
    return 2 * big * 4 / copy, 2 * size**3 / product


def floor_step(case: Case, bandwidth: float, rate: float) -> tuple[float, str]:
    """Return the least seconds of one step of one network, and which of the two ceilings sets it.

    Bytes: the weights are read forward, read backward for all but the first layer, and their gradient is
    written; Adam reads four tensors and writes three; each layer's output, pooled if pooling follows, is written and
    read in both directions, as is the input. A mask adds a byte per weight.
    """
    network = net_builder(case.spec, case.input_shape, case.outputs)()
    sizes: list[int] = []
    for module in network.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            module.register_forward_hook(lambda _m, _i, out: sizes.append(out[0].numel()))
        elif isinstance(module, nn.MaxPool2d):
            module.register_forward_hook(lambda _m, _i, out: sizes.__setitem__(-1, out[0].numel()))
    x = torch.zeros(case.batch_size, *case.input_shape)
    with FlopCounterMode(display=False) as counter:
        network(x).sum().backward()
    weights = sum(p.numel() for p in network.parameters())
    first = next(network.parameters()).numel()
    moved = 4 * (weights * (1 + 1 + 7) + (weights - first)) + (weights if case.masked else 0)
    moved += 4 * case.batch_size * (4 * sum(sizes) + 3 * x[0].numel())
    by_bytes, by_operations = moved / bandwidth, counter.get_total_flops() / rate
    return max(by_bytes, by_operations), "bytes" if by_bytes > by_operations else "operations"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--markdown", action="store_true", help="print the table as markdown")
    parser.add_argument("--only", default="", help="only cases whose title contains this")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    name = (
        torch.cuda.get_device_name(device) if device.type == "cuda" else f"{torch.get_num_threads()} threads"
    )
    bandwidth, rate = ceilings(device)
    print(f"{name}, {platform.machine()}, torch {torch.__version__}, Python {platform.python_version()}")
    print(f"ceilings: copy {bandwidth / 1e9:,.0f} GB/s, float32 product {rate / 1e12:,.2f} TFLOP/s\n")
    heads = [
        "network",
        "M",
        "mask",
        "plain loop µs",
        "population µs",
        "ratio",
        "wanted",
        "floor µs",
        "÷ floor",
        "start s",
    ]
    rows = []
    plain: dict[str, float] = {}
    for case in CASES[device.type]:
        if arguments.only not in case.title:
            continue
        if case.title not in plain:
            plain[case.title] = plain_step(case, device)
        loop = plain[case.title]
        step, start = population_step(case, device)
        floor, kind = floor_step(case, bandwidth, rate)
        wanted = "" if case.wanted is None else f"≥ {case.wanted:g}×"
        rows.append([
            case.title, f"{case.members}", "yes" if case.masked else "no", f"{loop * 1e6:,.0f}", f"{step * 1e6:,.2f}",
            f"{loop / step:,.1f}×", wanted, f"{floor * 1e6:,.2f} ({kind})", f"{step / floor:,.1f}", f"{start:.2f}",
        ])  # fmt: skip
        print_row(heads if len(rows) == 1 else None, rows[-1], markdown=arguments.markdown)


def print_row(heads: list[str] | None, row: list[str], *, markdown: bool) -> None:
    left, between, right = ("| ", " | ", " |") if markdown else ("", "  ", "")
    widths = [10, 5, 4, 13, 13, 8, 7, 18, 7, 7]
    for cells in [heads, row] if heads else [row]:
        print(
            left
            + between.join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
            + right,
            flush=True,
        )
        if cells is heads and markdown:
            print("|" + "|".join(["---"] * len(widths)) + "|")


if __name__ == "__main__":
    main()
