"""Turn the lines of ``bench/specialists.py`` into the tables of ``docs/results.md``.

``python bench/specialists_tables.py RESULTS.jsonl [...] --published maxent_table4.csv``
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy import stats

from dovetail.specialists import welch

Row = dict[str, object]
MODELS = {"shallow": "shallow", "deep": "deep", "cnn": "CNN"}


def numbers(row: Row, key: str) -> list[float]:
    values = row[key]
    assert isinstance(values, list)
    return [float(value) for value in values if value is not None]


def cell(values: list[float]) -> str:
    return f"{np.mean(values):.4f} ({np.std(values, ddof=1):.4f})" if values else "–"


def pairwise(rows: list[Row], published: dict[tuple[str, ...], str]) -> Iterable[str]:
    yield "| data | net | \\|R\\| | loss | pairs × seeds | accuracy | published | entropy | published |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        if row["what"] != "pairs":
            continue
        key = (str(row["data"]), str(row["model"]), str(row["size"]), str(row["loss"]))
        accuracy, entropy = (published.get((*key, m), "–") for m in ("rewarded_accuracy", "entropy"))
        values = numbers(row, "accuracy")
        yield (
            f"| {key[0]} | {MODELS[key[1]]} | {key[2]} | {key[3].upper()} | {len(values) // 5} × 5 | {cell(values)} | "
            f"{accuracy} | {cell(numbers(row, 'entropy'))} | {entropy} |"
        )


def tests(rows: list[Row]) -> Iterable[str]:
    yield "| data | net | \\|R\\| | ME − QME | p | QME − XE | p |"
    yield "|---|---|---|---|---|---|---|"
    groups: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for row in rows:
        values = numbers(row, "accuracy")
        if row["what"] == "pairs" and len(values) <= 50:
            group = groups.setdefault((str(row["data"]), str(row["model"]), str(row["size"])), {})
            group[str(row["loss"])] = values
    for (data, model, size), by_loss in groups.items():
        if len(by_loss) < 3:
            continue
        first, second = welch(by_loss["me"], by_loss["qme"]), welch(by_loss["qme"], by_loss["xe"])
        yield (
            f"| {data} | {MODELS[model]} | {size} | {first.difference:+.4f} | {first.p_value:.1e} | "
            f"{second.difference:+.4f} | {second.p_value:.1e} |"
        )


def alone(rows: list[Row]) -> Iterable[str]:
    yield "| data | net | loss | accuracy | entropy | calibration error |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        if row["what"] == "single":
            values = [cell(numbers(row, key)) for key in ("accuracy", "entropy", "calibration")]
            yield f"| {row['data']} | {MODELS[str(row['model'])]} | {str(row['loss']).upper()} | {' | '.join(values)} |"


def full_merges(rows: list[Row]) -> Iterable[str]:
    yield "| data | net | sum | averaged logits | TIES | calibrated sum |"
    yield "|---|---|---|---|---|---|"
    methods = {
        (r["data"], r["model"], r["method"]): cell(numbers(r, "accuracy"))
        for r in rows
        if r["what"] == "method"
    }
    for row in rows:
        if row["what"] == "complete" and not row["slots"]:
            last = steps(row)[:, -1]
            one_per_seed = list(last.reshape(5, -1)[:, 0])
            others = [
                methods.get((row["data"], row["model"], m), "–") for m in ("logits", "ties", "calibrated")
            ]
            yield f"| {row['data']} | {row['net']} | {cell(one_per_seed)} | {' | '.join(others)} |"


def steps(row: Row) -> np.ndarray:
    """Accuracy after each step, a row per seed and order."""
    return np.array(row["accuracy"], dtype=float).reshape(-1, int(str(row["classes"])))


def slots(rows: list[Row]) -> Iterable[str]:
    yield "| data | net | generalist | all classes summed, in slots | share of the generalist |"
    yield "|---|---|---|---|---|"
    generalists = {(r["data"], r["net"]): numbers(r, "accuracy") for r in rows if r["what"] == "generalist"}
    for row in rows:
        if row["what"] == "complete" and row["slots"]:
            full = list(steps(row)[:, -1].reshape(5, -1)[:, 0])
            other = generalists[row["data"], row["net"]]
            share = 100 * float(np.mean(full) / np.mean(other))
            yield f"| {row['data']} | {row['net']} | {cell(other)} | {cell(full)} | {share:.2f} % |"


def curves(rows: list[Row]) -> Iterable[str]:
    complete = [row for row in rows if row["what"] == "complete"]
    most = max(int(str(row["classes"])) for row in complete)
    yield "| data | net | | " + " | ".join(str(n) for n in range(1, most + 1)) + " |"
    yield "|---|---|---|" + "---|" * most
    for row in complete:
        means = [f"{value:.3f}" for value in steps(row).mean(0)]
        means += [""] * (most - len(means))
        yield f"| {row['data']} | {row['net']} | {'slots' if row['slots'] else ''} | {' | '.join(means)} |"


def compatibilities(rows: list[Row]) -> Iterable[str]:
    chosen = [row for row in rows if row["what"] == "compatibility"]
    accuracy = np.concatenate([numbers(row, "accuracy") for row in chosen])
    lost = np.concatenate([numbers(row, "apart") for row in chosen]) - accuracy
    yield f"{len(accuracy)} pairs"
    yield "| | with the merged accuracy | with what merging costs |"
    yield "|---|---|---|"
    for key in ("agreement", "separation", "mask_overlap", "sign_conflicts", "interference"):
        values = np.concatenate([numbers(row, key) for row in chosen])
        found = [stats.spearmanr(values, what).statistic for what in (accuracy, lost)]
        yield f"| {key} | {found[0]:+.3f} | {found[1]:+.3f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--published", type=Path)
    arguments = parser.parse_args()
    rows: list[Row] = [json.loads(line) for path in arguments.results for line in path.open()]
    published: dict[tuple[str, ...], str] = {}
    if arguments.published:
        with arguments.published.open() as file:
            for line in csv.DictReader(file):
                if line["imp"] == "yes" and line["mean"]:
                    key = (line["dataset"], line["model"], line["rewarded"], line["loss"], line["metric"])
                    doubt = " ?" if line["suspect"] == "yes" else ""
                    published[key] = f"{float(line['mean']):.3f} ({float(line['sd']):.3f}){doubt}"
    kinds = {row["what"] for row in rows}
    tables = {
        "Pairs": (pairwise(rows, published), "pairs"),
        "Welch": (tests(rows), "pairs"),
        "Alone": (alone(rows), "single"),
        "Full merges": (full_merges(rows), "complete"),
        "Slots": (slots(rows), "generalist"),
        "Curves": (curves(rows), "complete"),
        "Compatibility": (compatibilities(rows), "compatibility"),
    }
    for title, (lines, needs) in tables.items():
        if needs in kinds:
            print(f"\n## {title}\n", *lines, sep="\n")


if __name__ == "__main__":
    main()
