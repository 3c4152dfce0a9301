"""Streamed inputs: training from a file that is mapped into memory, beside the same inputs held on the device.

    python bench/feed.py [--samples 60000] [--members 10] [--net lenet]

Inputs are bytes in a file, as own data beyond a gibibyte is kept. Each line trains the same population for one epoch,
both ways in turns, and prints the median of the ratios of their times.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

import dovetail as dt


def epoch_seconds(net: str, members: int, split: dt.Split, feed: str, device: str) -> float:
    """Train one epoch, after one that is not counted, and return its seconds."""
    build = dt.net_builder(net, tuple(split.x.shape[1:]), 10)
    population = dt.Population(build, seeds=range(members), device=device)
    done: list[float] = []

    def after_step(context: object) -> None:
        # Only the ends of epochs: reading the clock at each step would make the device wait.
        steps = -(-len(split) // 64)
        if context.step % steps == 0:  # type: ignore[attr-defined]
            if device.startswith("cuda"):
                torch.cuda.synchronize()
            done.append(time.perf_counter())

    population.fit(split, epochs=3, feed=feed, after_step=after_step, progress=False)  # type: ignore[arg-type]
    return done[2] - done[1]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=60_000)
    parser.add_argument("--members", type=int, nargs="+", default=[10])
    parser.add_argument("--net", nargs="+", default=["lenet", "mlp:512"])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name() if device == 'cuda' else 'CPU'}")
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "inputs.bin"
        random.integers(0, 256, (options.samples, 1, 28, 28), dtype=np.uint8).tofile(path)
        mapped = np.memmap(path, np.uint8, "r+", shape=(options.samples, 1, 28, 28))
        split = dt.Split(torch.from_numpy(mapped), torch.from_numpy(random.integers(0, 10, options.samples)))
        for net in options.net:
            for members in options.members:
                ratios, held = [], []
                for _ in range(options.repeats):
                    held.append(epoch_seconds(net, members, split, "held", device))
                    ratios.append(epoch_seconds(net, members, split, "streamed", device) / held[-1])
                step = statistics.median(held) / -(-options.samples // 64) / members * 1e6
                print(
                    f"{net:8} M = {members:3}: held {statistics.median(held):6.2f} s an epoch "
                    f"({step:6.1f} µs a network-step), streamed {statistics.median(ratios):.2f} times that "
                    f"({', '.join(f'{ratio:.2f}' for ratio in sorted(ratios))})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
