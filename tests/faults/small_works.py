"""Pieces of work that take a moment each, for a folder."""

from __future__ import annotations

from pathlib import Path

from .warm import Work

_TRAINING = (
    "--net",
    "mlp:8",
    "-r",
    "0",
    "-r",
    "1",
    "-r",
    "2,3",
    "--epochs",
    "1",
    "--rounds",
    "1",
    "--device",
    "cpu",
)


def train(folder: Path) -> Work:
    return Work("command", ["train", "digits", *_TRAINING, "-o", str(folder)], folder)


def reproduce(folder: Path) -> Work:
    return Work("reproduce_small", ["--jobs", "1", "--device", "cpu", "-o", str(folder)], folder)


def reproduce_beside_another(folder: Path) -> Work:
    """Do the same, so that two of it are sure to meet."""
    alone = reproduce(folder)
    told = folder.with_name(f"{folder.name}-told")
    return Work("reproduce_beside_another", [str(told), *alone.arguments], folder)


def compose(parts: list[Path], folder: Path) -> Work:
    folder.mkdir(parents=True, exist_ok=True)
    output = str(folder / "composite.safetensors")
    return Work("command", ["compose", *map(str, parts), "-o", output, "--force"], folder)


def save(folder: Path) -> Work:
    folder.mkdir(parents=True, exist_ok=True)
    return Work("save_without_end", [str(folder)], folder)
