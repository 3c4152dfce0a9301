"""How fast the studio's bench answers, request to response, against plain ``Composite.evaluate`` in the same run.

``python bench/studio.py`` makes ten specialists (784-512-10, 99 % pruned, random weights) for `lines`, which has images
of MNIST's size and as many to test on, and asks a running studio for composites of 8 or 9 of them, each only once.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import combinations
from pathlib import Path
from typing import Any

import torch
import uvicorn

import dovetail as dt
from dovetail.data import Dataset
from dovetail.nets import NetSpec
from dovetail.specialists import Blueprint, Provenance, Specialist
from dovetail.specialists.blueprint import pack
from dovetail.specialists.composite import compose_quietly
from dovetail.specialists.merge import Method
from dovetail.studio import create_app
from dovetail.studio.serve import compute_politely, listen, server_config

NET, KEPT, TOKEN = "mlp:512", 0.01, "speed"
REQUESTS = 20
METHODS: tuple[Method, ...] = ("sum", "logits", "ties", "calibrated")

Ask = Callable[[str, str, object], Any]


def make_parts(folder: Path, data: Dataset, net: str, kept: float) -> list[Specialist]:
    """Save a specialist per class with random weights, which take as long as learnt ones."""
    blueprint = Blueprint(NetSpec.parse(net), data.input_shape, data.classes, 5.0)
    draw = torch.Generator().manual_seed(0)
    state = blueprint.builder(0).state_dict()
    team = []
    for number in range(data.outputs):
        weights = {name: pack(t, torch.rand(t.shape, generator=draw) < kept) for name, t in state.items()}
        provenance = Provenance(0, "one start", "me", False, data.name, data.fingerprint)
        team.append(Specialist(blueprint, (number,), weights, provenance))
        team[-1].save(folder / f"{number}.safetensors")
    return team


@contextmanager
def studio(folder: Path) -> Iterator[Ask]:
    """Run a studio as `serve` does, and yield how to ask it."""
    with listen(0) as listening:
        port = listening.getsockname()[1]
        server = uvicorn.Server(server_config(create_app(folder, token=TOKEN, port=port)))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        while not server.started:
            time.sleep(0.01)
        connection = HTTPConnection("127.0.0.1", port)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}

        def ask(method: str, path: str, body: object = None) -> Any:
            connection.request(method, path, json.dumps(body), headers)
            answer = connection.getresponse()
            content = json.loads(answer.read())
            assert answer.status == 200, content
            return content

        try:
            yield ask
        finally:
            connection.close()
            server.should_exit = True
            thread.join()


def milliseconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)


def line(name: str, times: list[float], beside: list[float] | None = None) -> None:
    plain = f"{statistics.median(beside):9.1f} ms" if beside else ""
    print(f"{name:58s} {statistics.median(times):8.1f} ms  {max(times):8.1f} ms  {plain}", flush=True)


def until_whole(ask: Ask, body: object) -> None:
    while (answer := ask("POST", "/api/bench/measure", body))["samples"] < answer["total"]:
        pass


def composites(ask: Ask, team: list[Specialist], data: Dataset, method: Method, requests: int) -> None:
    """Time the first answer and the whole one, and the library's own evaluation of the same composites."""
    chosen = [*combinations(range(10), 9), *combinations(range(10), 8)][:requests]
    first, whole, plain, seen = [], [], [], []
    for numbers in chosen:
        body = {"files": [f"{n}.safetensors" for n in numbers], "method": method}
        begun = time.perf_counter()
        answer = ask("POST", "/api/bench/measure", body)
        first.append(1000 * (time.perf_counter() - begun))
        seen.append(answer["samples"])
        if answer["samples"] < answer["total"]:
            until_whole(ask, body)
        whole.append(1000 * (time.perf_counter() - begun))
        members = [team[number] for number in numbers]
        inputs = data.train.x if method == "calibrated" else None
        begun = time.perf_counter()
        compose_quietly(members, method, inputs=inputs).evaluate(data.test)
        plain.append(1000 * (time.perf_counter() - begun))
    line(f"{method}: first answer, on {statistics.median(seen):,.0f} images", first)
    line(f"{method}: whole test split", whole, plain)


def main() -> None:
    data = dt.load("lines")
    compute_politely()
    print(f"{os.cpu_count()} cores, {torch.get_num_threads()} threads; {NET}, {len(data.test):,} test images")
    print(f"{'':58s}   median      longest      Composite.evaluate")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        team = make_parts(folder, data, NET, KEPT)
        files = [f"{number}.safetensors" for number in range(10)]
        with studio(folder) as ask:
            line("list the folder, first", [milliseconds(lambda: ask("GET", "/api/bench/parts", None))])
            line(
                "list the folder, again",
                [milliseconds(lambda: ask("GET", "/api/bench/parts", None)) for _ in range(REQUESTS)],
            )
            warm = time.perf_counter()
            while len(ask("POST", "/api/bench/scores", {"files": files})) < 10:
                pass
            line("load the data and measure ten specialists, once", [1000 * (time.perf_counter() - warm)])
            for method in METHODS:
                composites(ask, team, data, method, REQUESTS)
            again = {"files": files[:9], "method": "sum"}
            line(
                "sum: dropped and added back",
                [milliseconds(lambda: ask("POST", "/api/bench/measure", again)) for _ in range(REQUESTS)],
            )
            steps, done = [], 0
            while done < 45:
                begun = time.perf_counter()
                done = len(ask("POST", "/api/bench/compatibility", {"files": files})["pairs"])
                steps.append(1000 * (time.perf_counter() - begun))
            line(f"compatibility of 45 pairs, in {len(steps)} answers", steps)


if __name__ == "__main__":
    main()
