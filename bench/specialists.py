"""How long it takes to add ten specialists in slots and to evaluate their sum on the test split of digits.

Run ``python bench/specialists.py``. Every call adds anew; the time is that of the processor, on one thread, and the
median of many calls, so that other programs on the machine disturb it little.
"""

from __future__ import annotations

import statistics
import time

import torch

import dovetail as dt

NETS = ("mlp:500", "mlp:512")
CALLS = 100


def main() -> None:
    """Print a line for each network."""
    torch.set_num_threads(1)
    data = dt.load("digits")
    for net in NETS:
        team = dt.train_specialists(data, net, slots=True, epochs=1, progress=False, device="cpu")
        times = []
        for _ in range(CALLS):
            begun = time.process_time()
            sum(team).evaluate(data.test, device="cpu")  # type: ignore[union-attr]
            times.append(time.process_time() - begun)
        print(f"sum(team).evaluate, ten of {net}: {1000 * statistics.median(times):.2f} ms")


if __name__ == "__main__":
    main()
