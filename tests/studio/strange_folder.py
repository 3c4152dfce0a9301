"""A folder with good parts, and with all that a studio may meet and must not trip over."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

import dovetail as dt

from .audits import planted
from .run_folders import write_run

SECRET = "a-secret-that-no-answer-may-hold"


class _Evil:
    """What makes a folder called ``tripped`` when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self._target),)


def make_strange_folder(beside: Path, parts: Path) -> Path:
    """Return a folder in a folder: there is a secret beside it, and ``tripped`` if a pickle was run."""
    (beside / "secret.safetensors").write_text(SECRET)
    (beside / "secret.json").write_text(f'{{"secret": "{SECRET}"}}')
    root = beside / "root"
    shutil.copytree(parts, root)
    good = root / "digits-0-seed0.safetensors"
    content = good.read_bytes()
    (root / "truncated.safetensors").write_bytes(content[: len(content) // 2])
    (root / "header-only.safetensors").write_bytes(content[:9])
    (root / "long-header.safetensors").write_bytes((2**62).to_bytes(8, "little") + b"{}")
    (root / "empty.safetensors").touch()
    for name in ("large.safetensors", "large.pt"):
        with (root / name).open("wb") as large:
            large.truncate(2**30)  # a hole: no disk is used
    (root / "foreign.pt").write_bytes(pickle.dumps(_Evil(beside / "tripped")))
    torch.save({"model": _Evil(beside / "tripped")}, root / "foreign-zip.pt")
    torch.save(torch.nn.Linear(3, 2).state_dict(), root / "linear.pt")
    torch.save(torch.nn.Conv2d(3, 2, 3).state_dict(), root / "convolution.pt")
    save_file(
        {"fc.weight": torch.full((3, 2), float("nan")), "fc.bias": torch.ones(3)}, root / "nan.safetensors"
    )
    save_file({"scalar": torch.tensor(1.0), "none": torch.ones(0, 3)}, root / "no-layers.safetensors")
    save_file({"a": torch.ones(2, 3), "b": torch.ones(7, 5)}, root / "misfit.safetensors")
    save_file({"fc.weight": torch.ones(3, 2)}, root / "manifest.safetensors", {"dovetail": "{"})
    np.save(root / "array.npy", np.ones(3))
    statue = dt.sculpt("y1 = x1 & x2", [4], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    (root / "statue").mkdir()
    statue.save(root / "statue" / "seed0.safetensors")
    (root / "folder.safetensors").mkdir()
    os.mkfifo(root / "pipe.safetensors")
    (root / "link.safetensors").symlink_to("../secret.safetensors")
    (root / "round.safetensors").symlink_to("round.safetensors")
    for name, lines in (("damaged", "{"), ("list", "[]"), ("binary", "\0\1"), ("deep", "[" * 100_000)):
        run = root / "runs" / name
        run.mkdir(parents=True)
        for file in ("config.yaml", "results.jsonl", "audit.json", "hierarchy.json"):
            (run / file).write_text(lines)
    write_run(root / "runs" / "good", drawn=True)
    _write_audits(root)
    (root / ".hidden").mkdir()
    (root / ".hidden" / "secret.json").write_text(SECRET)
    return root


def _write_audits(root: Path) -> None:
    """Write a good audit, and ones with each of its values replaced by something else."""
    save_file(planted(), root / "planted.safetensors")
    found = dt.clusterability(planted(), k=3, shuffles=3, progress=False).to_json()
    audit = {"checkpoint": "planted.safetensors", "layers_read": [], "sorted_by_name": False, "lesions": None}
    variants: dict[str, object] = {"good": found}
    for key in found:
        for kind, value in enumerate((None, "text", [[None]], {"a": 1}, -1e308)):
            variants[f"{key}-{kind}"] = {**found, key: value}
    for name, content in variants.items():
        folder = root / "audits" / name
        folder.mkdir(parents=True)
        (folder / "audit.json").write_text(json.dumps({**audit, "clusterability": content}))


def what_is_outside(root: Path) -> list[str]:
    """Return what is beside the folder."""
    return sorted(path.name for path in root.parent.iterdir())
