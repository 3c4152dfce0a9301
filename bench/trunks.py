"""What parts on a trunk cost to train, beside scikit-learn and a plain loop; and ten narrow ResNets as a population.

Run ``python bench/trunks.py``. Features are generated, of the sizes that MiniLM and EfficientNet-lite0 give, so that it
runs anywhere: an epoch costs the same on any features, how many are needed is for the recipe `trunks` to say. All of a
line is measured in the same run, each the median of a few rounds, taken in turns:

- an epoch of all specialists in slots, as `dovetail.train_specialists` trains them;
- an epoch of as many small networks with the same loss, one after another in the loop that anyone would write, measured
  for a few of them;
- scikit-learn's one-vs-rest logistic regression, all of it (it has no epochs), measured for a few of the classes;
- the floor: the operations of an epoch at the measured rate of a large float32 product.

On a CPU times are of the processor, on one thread, so that other programs disturb them little; on a GPU of the clock
(and scikit-learn's of the processor all the same). ResNets compute in bfloat16 on a GPU.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

import dovetail as dt
from dovetail.data import Split
from dovetail.nets import build_net
from dovetail.population import Population
from dovetail.recipes.beyond.known_trunks import ResNet20

Seconds = Callable[[Callable[[], object]], float]


@dataclass(frozen=True)
class Heads:
    """Specialists on generated features."""

    features: int
    classes: int
    hidden: int
    samples: int
    batch_size: int
    tried: int
    """Networks of the loop, and classes of scikit-learn's, that are measured; times are scaled to all."""


HEADS = (Heads(384, 150, 32, 15_000, 128, 5), Heads(1280, 10, 64, 40_000, 256, 2))
RESNETS, IMAGES, RESNET_BATCH = 10, {"cpu": 64, "cuda": 2560}, {"cpu": 16, "cuda": 128}


def timer(device: torch.device) -> Seconds:
    """Return what measures the seconds of some work on a device."""

    def processor(work: Callable[[], object]) -> float:
        begun = time.process_time()
        work()
        return time.process_time() - begun

    def clock(work: Callable[[], object]) -> float:
        torch.cuda.synchronize(device)
        begun = time.perf_counter()
        work()
        torch.cuda.synchronize(device)
        return time.perf_counter() - begun

    return clock if device.type == "cuda" else processor


def medians(rounds: int, works: Sequence[Callable[[], float]]) -> list[float]:
    """Return the median of what each of some measurements gives, taken in turns."""
    found = [[work() for work in works] for _ in range(rounds)]
    return [statistics.median(own) for own in zip(*found, strict=True)]


def generated(case: Heads) -> dt.Dataset:
    """Return features around a mean for each class, none of them easy."""
    generator = torch.Generator().manual_seed(0)
    means = torch.randn(case.classes, case.features, generator=generator) / 4

    def split(samples: int) -> Split:
        y = torch.arange(samples) % case.classes
        return Split(means[y] + torch.randn(samples, case.features, generator=generator), y)

    few = 2 * case.classes
    names = tuple(f"class {number}" for number in range(case.classes))
    return dt.Dataset("generated", split(case.samples), split(few), split(few), names)


def specialists_epoch(case: Heads, data: dt.Dataset, device: torch.device, seconds: Seconds) -> float:
    """Return the seconds of an epoch of all specialists: what three take more than one, halved."""
    net = f"mlp:{case.hidden * case.classes},dropout=0"

    def train(epochs: int) -> float:
        return seconds(
            lambda: dt.train_specialists(
                data, net, slots=True, epochs=epochs, batch_size=case.batch_size, temperature=1.0, patience=None,
                device=device, progress=False,
            )
        )  # fmt: skip

    return (train(3) - train(1)) / 2


def loop_epoch(case: Heads, data: dt.Dataset, device: torch.device, seconds: Seconds) -> float:
    """Return the seconds of an epoch of all specialists, one after another in a plain loop; a few are measured."""
    train = data.train.to(device)
    uniform = torch.full((case.classes,), 1 / case.classes, device=device)

    def epoch(number: int) -> None:
        network = build_net(f"mlp:{case.hidden},dropout=0", data.input_shape, case.classes).to(device)
        optimizer = torch.optim.Adam(network.parameters())
        for index in torch.randperm(len(train), device=device).split(case.batch_size):
            own = (train.y[index] == number)[:, None]
            target = torch.where(own, F.one_hot(train.y[index], case.classes).float(), uniform)
            optimizer.zero_grad()
            F.cross_entropy(network(train.x[index]), target).backward()
            optimizer.step()

    def several() -> None:
        for number in range(case.tried):
            epoch(number)

    return seconds(several) * case.classes / case.tried


def one_vs_rest(case: Heads, data: dt.Dataset) -> float:
    """Return the seconds of scikit-learn's one-vs-rest logistic regression; a few classes are measured."""
    x, y = data.train.x.numpy(), data.train.y.numpy()
    others = case.tried  # all other classes as one, which is fitted too
    begun = time.process_time()
    OneVsRestClassifier(LogisticRegression(max_iter=200)).fit(x, y.clip(max=others))
    return (time.process_time() - begun) * case.classes / (case.tried + 1)


def product_rate(device: torch.device, seconds: Seconds) -> float:
    """Return the operations a second of a large float32 product."""
    size = 8192 if device.type == "cuda" else 1536
    a, b = (torch.randn(size, size, device=device) for _ in range(2))
    a @ b
    return 2 * size**3 / min(seconds(lambda: a @ b) for _ in range(5))


def operations(network: nn.Module, batch: torch.Tensor) -> int:
    """Return the operations of a step, for each sample."""
    with FlopCounterMode(display=False) as counter:
        network(batch).sum().backward()
    return int(counter.get_total_flops()) // len(batch)


def heads_line(case: Heads, device: torch.device, seconds: Seconds, rounds: int) -> str:
    """Measure one line of specialists on features."""
    data, rate = generated(case), product_rate(device, seconds)
    ours, loop, sklearn = medians(
        rounds,
        [
            partial(specialists_epoch, case, data, device, seconds),
            partial(loop_epoch, case, data, device, seconds),
            partial(one_vs_rest, case, data),
        ],
    )
    one = build_net(f"mlp:{case.hidden},dropout=0", data.input_shape, case.classes)
    floor = operations(one, data.train.x[:2]) * case.classes * case.samples / rate
    return (
        f"{case.classes} specialists of {case.hidden} units on {case.samples:,} × {case.features} features: "
        f"{ours:.2f} s an epoch, {ours / floor:.1f} times the floor ({floor:.2f} s at {rate / 1e9:,.0f} GFLOP/s); "
        f"plain loop {loop:.2f} s, {loop / ours:.1f} times as long; scikit-learn's one-vs-rest, all of it, "
        f"{sklearn:.2f} s, as long as {sklearn / ours:.1f} epochs"
    )


def resnets_line(device: torch.device, seconds: Seconds, rounds: int) -> str:
    """Measure ten ResNets of 16 to 64 channels as a population, and the same one after another."""
    generator = torch.Generator().manual_seed(0)
    samples, size = IMAGES[device.type], RESNET_BATCH[device.type]
    split = Split(
        torch.rand(samples, 3, 32, 32, generator=generator),
        torch.randint(10, (samples,), generator=generator),
    )
    on_device, autocast = split.to(device), torch.bfloat16 if device.type == "cuda" else None

    def population(members: int) -> float:
        made = Population(ResNet20, range(members), device=device)

        def fit(epochs: int) -> float:
            return seconds(
                lambda: made.fit(
                    split, task="classes", epochs=epochs, batch_size=size, autocast=autocast, progress=False
                )
            )

        fit(1)  # what the first one traces and captures is there for the next
        epochs = 2 * RESNETS // members  # as many steps of networks, however many train together
        return (fit(1 + epochs) - fit(1)) / epochs

    def loop() -> float:
        network = ResNet20().to(device)
        optimizer = torch.optim.Adam(network.parameters())

        def epoch() -> None:
            for index in torch.randperm(samples, device=device).split(size):
                optimizer.zero_grad()
                with torch.autocast(device.type, torch.bfloat16, enabled=autocast is not None):
                    loss = F.cross_entropy(network(on_device.x[index]), on_device.y[index])
                loss.backward()
                optimizer.step()

        def epochs() -> None:
            for _ in range(2 * RESNETS):
                epoch()

        epoch()
        return seconds(epochs) / 2

    together, alone, plain = medians(
        rounds, [lambda: population(RESNETS), lambda: RESNETS * population(1), loop]
    )
    rate = product_rate(device, seconds)
    floor = operations(ResNet20(), split.x[:2]) * RESNETS * samples / rate
    return (
        f"{RESNETS} ResNets of 16 to 64 channels, an epoch of {samples:,} pictures in batches of {size}"
        f"{', bfloat16' if autocast else ''}: together {together:.2f} s, {together / floor:.1f} times the floor "
        f"({floor:.2f} s); one after another {alone:.2f} s, {alone / together:.2f} times as long; in a plain loop "
        f"{plain:.2f} s, {plain / together:.2f} times"
    )


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["heads", "resnets"], help="leave the others out")
    given = parser.parse_args()
    device = torch.device(given.device)
    torch.set_num_threads(1)
    seconds = timer(device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "one thread of a CPU"
    print(f"{name}, torch {torch.__version__}, Python {platform.python_version()}", flush=True)
    for case in HEADS if given.only != "resnets" else ():
        print(f"- {heads_line(case, device, seconds, given.rounds)}", flush=True)
    if given.only != "heads":
        print(f"- {resnets_line(device, seconds, given.rounds)}", flush=True)


if __name__ == "__main__":
    main()
