"""The conditions of the Clusterability paper's tables: data, network, and what is done to make it clusterable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Setting:
    """What a condition shares with those that can train beside it."""

    data: str
    net: str
    dropout: float = 0.0
    epochs: int = 20
    batch_size: int = 128
    k: int = 0  # of the clusterability penalty; networks without it would only wait for its eigenvectors


@dataclass(frozen=True)
class Condition:
    """A row of a published table."""

    setting: Setting
    table: str
    network: str
    dataset: str
    regularisation: str
    l1: float = 0.0
    l2: float = 0.0
    beta: float = 1.0
    clusterability: float = 0.0


MLP, SMALL_MLP, CNN = "mlp:256-256-256-256", "mlp:64-64-64", "small-cnn"
IMAGES = ("mnist", "fashion-mnist")


def _dense(data: str) -> Setting:
    return Setting(data, MLP)


def _convolutional(data: str) -> Setting:
    return Setting(data, CNN, epochs=10, batch_size=64)


def _conditions() -> dict[str, Condition]:
    found = {}
    for table, network, base, data in (
        ("A.5", "mlp", _dense, "mnist"),
        ("A.6", "mlp", _dense, "fashion-mnist"),
        ("A.8", "small-cnn", _convolutional, "mnist"),
        ("A.9", "small-cnn", _convolutional, "fashion-mnist"),
    ):
        plain = Condition(base(data), table, network, data, "none")
        dropped = replace(base(data), dropout=0.5)
        found[f"{table}:none"] = plain
        found[f"{table}:dropout"] = replace(plain, setting=dropped, regularisation="dropout")
        found[f"{table}:l1"] = replace(plain, regularisation="l1", l1=5e-5)
        found[f"{table}:l2"] = replace(plain, regularisation="l2", l2=5e-5)
    for table, network, base, kind in (
        ("A.7", "mlp", _dense, "halves"),
        ("A.12", "small-cnn", _convolutional, "stack"),
    ):
        for image in IMAGES:
            for variant in ("same", "diff"):
                name = f"{image}-{kind}-{variant}"
                setting = base(f"{kind}:base={image},variant={variant}")
                found[f"{table}:{name}"] = Condition(setting, table, network, name, "none")
    for table, network, base, beta in (
        ("A.13", "mlp", _dense, 0.6),
        ("A.14", "small-cnn", _convolutional, 0.8),
    ):
        for image in IMAGES:
            made = Condition(base(image), table, network, image, "clusterable-init", beta=beta)
            found[f"{table}:{image.removesuffix('-mnist')}"] = made
    small = Setting("mnist-7x7", SMALL_MLP, epochs=10)
    found["table1:none"] = Condition(small, "1", "small-mlp", "mnist-7x7", "none")
    found["table1:l1"] = replace(found["table1:none"], regularisation="l1", l1=5e-5)
    penalised = replace(
        found["table1:none"],
        setting=replace(small, k=4),
        regularisation="clusterability",
        clusterability=0.05,
    )
    found["table1:regularised"] = penalised
    # With weights kept from growing, which rescaling alone lets them do; and with as many eigenvalues as clusters.
    found["table1:regularised-l1"] = replace(penalised, clusterability=0.1, l1=5e-5)
    found["table1:regularised-l2"] = replace(penalised, clusterability=0.2, l2=1e-4)
    found["table1:regularised-l1-k12"] = replace(
        penalised, setting=replace(small, k=12), clusterability=0.1, l1=5e-5
    )
    return found


CONDITIONS = _conditions()


def chosen(names: Iterable[str]) -> dict[str, Condition]:
    """Return the named conditions; a table's name stands for all of its conditions."""
    found: dict[str, Condition] = {}
    for name in names:
        matching = {key: made for key, made in CONDITIONS.items() if name in (key, key.partition(":")[0])}
        if not matching:
            raise SystemExit(f"unknown condition {name!r}; known: {', '.join(CONDITIONS)}")
        found |= matching
    return found
