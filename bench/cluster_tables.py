"""Train the networks of the Clusterability paper's tables, and measure them.

``python bench/cluster_tables.py A.5 A.13:mnist --out FOLDER`` trains conditions and saves all weights, one file each.
A condition is ``A.5:none``; a table alone means all of its conditions. Conditions that differ only in what is added to
the loss or in their initial weights train as one population.

``python bench/cluster_tables.py --measure FOLDER --published clusterability_tables.csv`` measures the saved networks
and prints the tables beside the published ones; with ``--out FILE`` it keeps the numbers, and ``--measure FILE`` prints
their tables again.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import torch

import dovetail as dt
from cluster_conditions import CONDITIONS, Condition, Setting, chosen
from dovetail.cluster.graph.weighted import Norm
from dovetail.cluster.promote import Stage, train_networks

Row = dict[str, object]
Weights = dict[str, np.ndarray]


def load(spec: str, samples: int | None) -> dt.Dataset:
    name, _, text = spec.partition(":")
    data = dt.load(name, **dict(part.split("=") for part in text.split(",") if part))
    if samples is None:
        return data
    kept = slice(samples)
    return replace(data, train=data.train.where(kept), val=data.val.where(kept), test=data.test.where(kept))  # type: ignore[arg-type]


def graph_weights(stage: Stage, place: int) -> Weights:
    """Return the weights of one network that its graph is made of: all, or those of convolutions if there are any."""
    params = {name: param for name, param in stage.population.params.items() if param.dim() > 2}
    if any(param.dim() > 3 for param in params.values()):
        params = {name: param for name, param in params.items() if param.dim() > 3}
    return {name: param[place].cpu().numpy() for name, param in params.items()}


def train(setting: Setting, group: dict[str, Condition], arguments: argparse.Namespace) -> None:
    """Train all conditions of one setting as one population, and save them."""
    begun = time.perf_counter()
    per_network = [made for made in group.values() for _ in range(arguments.seeds)]
    seeds = [seed for _ in group for seed in range(arguments.seeds)]
    epochs = setting.epochs if arguments.epochs is None else arguments.epochs
    trained = train_networks(
        load(setting.data, arguments.samples), setting.net, seeds=seeds, epochs=epochs, pruning_epochs=epochs,
        batch_size=setting.batch_size, dropout=setting.dropout, l1=[made.l1 for made in per_network],
        l2=[made.l2 for made in per_network], init_beta=[made.beta for made in per_network],
        clusterability=[made.clusterability for made in per_network], k=setting.k or 4,
        device=arguments.device, progress=False,
    )  # fmt: skip
    seconds = time.perf_counter() - begun
    for number, name in enumerate(group):
        places = range(number * arguments.seeds, (number + 1) * arguments.seeds)
        row: Row = {"condition": name, "seeds": arguments.seeds, "seconds": seconds, "networks": len(seeds)}
        arrays: Weights = {}
        for what, stage in trained.stages():
            for place in places:
                for layer, weight in graph_weights(stage, place).items():
                    arrays[f"{what}/{seeds[place]}/{layer}"] = weight
            row[what] = {
                "train_acc": stage.train["accuracy"][list(places)].tolist(),
                "test_acc": stage.test["accuracy"][list(places)].tolist(),
                "sparsity": stage.sparsity[list(places)].tolist(),
            }
        np.savez_compressed(arguments.out / f"{name.replace(':', '-')}.npz", **arrays)  # type: ignore[arg-type]
        with (arguments.out / "train.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{name}: {summary(row)}, {seconds:.0f} s for {len(seeds)} networks", flush=True)


def summary(row: Row) -> str:
    """Return a trained condition in a few words."""
    texts = []
    for what in ("unpruned", "pruned"):
        scores = row[what]
        assert isinstance(scores, dict)
        texts.append(
            f"{what} train {np.mean(scores['train_acc']):.4f} test {np.mean(scores['test_acc']):.4f} "
            f"sparsity {np.mean(scores['sparsity']):.3f}"
        )
    return ", ".join(texts)


def measure_one(weights: Weights, norm: Norm, shuffles: int) -> dict[str, float]:
    """Return one network's n-cut, and the mean, deviation and p-value of its shuffled copies'."""
    tensors = {layer: torch.from_numpy(weight) for layer, weight in weights.items()}
    found = dt.clusterability(tensors, k=12, shuffles=shuffles, norm=norm, stability=0, progress=False)
    return {
        "ncut": found.ncut,
        "dist_ncut": found.null_mean,
        "dist_sd": found.null_std,
        "p_value": found.p_value,
        "components": found.components,
    }


def measure(folder: Path, norm: Norm, shuffles: int, jobs: int) -> list[Row]:
    """Measure all saved networks; return the lines of their training with the n-cuts added."""
    rows: dict[str, Row] = {}
    for line in (folder / "train.jsonl").open():
        row = json.loads(line)
        rows[row["condition"]] = row
    with ProcessPoolExecutor(jobs) as pool:
        waiting = []
        for name, row in rows.items():
            networks: defaultdict[tuple[str, int], Weights] = defaultdict(dict)
            with np.load(folder / f"{name.replace(':', '-')}.npz", allow_pickle=False) as file:
                for key in file.files:
                    what, seed, layer = key.split("/")
                    networks[what, int(seed)][layer] = file[key]
            for (what, _), weights in sorted(networks.items()):
                waiting.append((row[what], pool.submit(measure_one, weights, norm, shuffles)))
        for scores, result in waiting:
            assert isinstance(scores, dict)
            for key, value in result.result().items():
                scores.setdefault(key, []).append(value)
    return list(rows.values())


def read_published(path: Path | None) -> dict[tuple[str, ...], str]:
    if path is None:
        return {}
    with path.open() as file:
        return {
            (r["table"], r["dataset"], r["regularisation"], r["pruning"], r["metric"]): (
                r["fraction"] or r["value"] + (f" ({r['sd']})" if r["sd"] else "")
            )
            for r in csv.DictReader(file)
        }


def tables(rows: list[Row], published: dict[tuple[str, ...], str]) -> Iterable[str]:
    """Yield a markdown table of what was measured, the published values beside it."""
    yield (
        "| condition | pruned | n-cut (sd) | published | shuffled (sd) | published | p < 0.02 | published "
        "| train | published | test | published | components |"
    )
    yield "|---" * 13 + "|"
    for row in rows:
        made = CONDITIONS[str(row["condition"])]
        for what, pruning in (("unpruned", "no"), ("pruned", "yes")):
            scores = row[what]
            assert isinstance(scores, dict)
            ours = {
                "ncut": f"{np.mean(scores['ncut']):.3f} ({np.std(scores['ncut']):.3f})",
                "dist_ncut": f"{np.mean(scores['dist_ncut']):.3f} ({np.mean(scores['dist_sd']):.3f})",
                "prop_p_lt_0.02": f"{sum(p < 0.02 for p in scores['p_value'])}/{len(scores['p_value'])}",
                "train_acc": f"{np.mean(scores['train_acc']):.4f}",
                "test_acc": f"{np.mean(scores['test_acc']):.4f}",
            }
            key = (made.table, made.dataset, made.regularisation, pruning)
            cells = [f"{value} | {published.get((*key, metric), '–')}" for metric, value in ours.items()]
            parts = np.mean(scores["components"])
            yield f"| {row['condition']} | {pruning} | {' | '.join(cells)} | {parts:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("conditions", nargs="*")
    parser.add_argument(
        "--out", type=Path, help="where trained weights go; with --measure, a file for the numbers"
    )
    parser.add_argument("--device")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--epochs", type=int, help="before pruning and while pruning, in place of the paper's"
    )
    parser.add_argument("--samples", type=int, help="use only so many of each split")
    parser.add_argument(
        "--measure", type=Path, metavar="FOLDER", help="with trained networks, or a file with numbers"
    )
    parser.add_argument(
        "--norm", choices=get_args(Norm), default="l1", help="of a convolution's kernel slices"
    )
    parser.add_argument("--shuffles", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=1, help="processes that measure")
    parser.add_argument("--published", type=Path)
    arguments = parser.parse_args()
    if arguments.measure:
        if arguments.measure.is_file():
            rows = [json.loads(line) for line in arguments.measure.open()]
        else:
            rows = measure(arguments.measure, arguments.norm, arguments.shuffles, arguments.jobs)
        if arguments.out:
            arguments.out.write_text("".join(json.dumps(row) + "\n" for row in rows))
        print(*tables(rows, read_published(arguments.published)), sep="\n")
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    groups: defaultdict[Setting, dict[str, Condition]] = defaultdict(dict)
    for name, made in chosen(arguments.conditions).items():
        groups[made.setting][name] = made
    for setting, group in groups.items():
        train(setting, group, arguments)


if __name__ == "__main__":
    main()
