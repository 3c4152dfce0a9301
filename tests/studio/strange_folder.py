"""A folder with good parts, and with all that a studio may meet and must not trip over."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import warnings
import zipfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

import dovetail as dt

from .audits import planted
from .run_folders import RECIPE, write_run

SECRET = "a-secret-that-no-answer-may-hold"

RUN_FILES = ("config.yaml", "results.jsonl", "table.md", "figures", "errors.log", ".lock")
"""All that a run writes."""


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
    sculpture = dt.sculpt("y1 = x1 & x2", [4], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    (root / "sculpture").mkdir()
    sculpture.save(root / "sculpture" / "seed0.safetensors")
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
    _write_strange_tensors(root)
    _write_links(root, beside / "outside")
    (root / ".hidden").mkdir()
    (root / ".hidden" / "secret.json").write_text(SECRET)
    return root


def _write_audits(root: Path) -> None:
    """Write a good audit, and ones with each of its values replaced by something else."""
    save_file(planted(), root / "planted.safetensors")
    found = dt.clusterability(planted(), k=3, shuffles=3, progress=False).to_dict()
    audit = {"checkpoint": "planted.safetensors", "layers_read": [], "sorted_by_name": False, "lesions": None}
    variants: dict[str, object] = {"good": found}
    for key in found:
        for kind, value in enumerate((None, "text", [[None]], {"a": 1}, -1e308)):
            variants[f"{key}-{kind}"] = {**found, key: value}
    for name, content in variants.items():
        folder = root / "audits" / name
        folder.mkdir(parents=True)
        (folder / "audit.json").write_text(json.dumps({**audit, "clusterability": content}))


def _write_strange_tensors(root: Path) -> None:
    """Write files whose tensors are no plain ones, and a manifest that is deeper than Python's stack."""
    odd = {
        "meta": torch.ones(3, 2, device="meta"),
        "uint16": torch.ones(3, 2, dtype=torch.uint16),
        "bits": torch.ones(3, 2, dtype=torch.uint8).view(torch.bits8),
        "complex": torch.ones(3, 2, dtype=torch.complex64),
        "repeated": torch.ones(1, 1).expand(10**6, 10**6),
        "sparse": torch.sparse_coo_tensor(
            torch.zeros(2, 1), torch.ones(1), (10**6, 10**6), check_invariants=True
        ),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch itself advises against these
        odd["nested"] = torch.nested.nested_tensor([torch.ones(2, 2), torch.ones(3, 2)])
        odd["quantised"] = torch.quantize_per_tensor(torch.ones(3, 2), 0.1, 0, torch.qint8)
        for name, tensor in odd.items():
            torch.save({"fc.weight": tensor}, root / f"{name}.pt")
    masked = {"fc.weight_orig": torch.ones(10**6, 1), "fc.weight_mask": torch.ones(1, 10**6)}
    save_file(masked, root / "terabytes.safetensors")
    save_file({**masked, "fc.weight_mask": torch.ones(7)}, root / "mismatched.safetensors")
    deep = {"dovetail": "[" * 100_000 + "]" * 100_000}
    save_file({"fc.weight": torch.ones(3, 2)}, root / "deep-manifest.safetensors", deep)
    damaged_archive(root / "damaged.pt")


def damaged_archive(path: Path) -> Path:
    """Write a file of PyTorch whose end is whole and whose list of entries is not."""
    torch.save(torch.nn.Linear(3, 2).state_dict(), path)
    path.write_bytes(path.read_bytes().replace(b"PK\x01\x02", b"PK\xff\xff"))
    assert zipfile.is_zipfile(path)
    return path


def _write_links(root: Path, outside: Path) -> None:
    """Write runs and an audit whose files are links to files outside, one by one."""
    outside.mkdir()
    (outside / "file").write_text(f'recipe: "{SECRET}"\nscale: "smoke"\n')
    (outside / f"{SECRET}.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    for name in RUN_FILES:
        run = root / "linked-runs" / name.strip(".")
        run.mkdir(parents=True)
        if name != "config.yaml":
            (run / "config.yaml").write_text(f'recipe: "{RECIPE}"\nscale: "smoke"\n')
        (run / name).symlink_to(outside if name == "figures" else outside / "file")
    audit = root / "audits" / "linked"
    shutil.copytree(root / "audits" / "good", audit)
    for name in ("null.png", "clusters.png", "embedding.png", "lesions.png"):
        (audit / name).symlink_to(outside / "file")


def what_is_outside(root: Path) -> dict[str, bytes | None]:
    """Return what is beside the folder, with what is in it: bytes of files, None for folders."""
    return {
        path.relative_to(root.parent).as_posix(): path.read_bytes() if path.is_file() else None
        for beside in root.parent.iterdir()
        if beside != root
        for path in (beside, *beside.rglob("*"))
    }
