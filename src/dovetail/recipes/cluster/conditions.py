"""What the Clusterability paper trained: networks, regularisation, and the same in small."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .lines import Line
from .networks_unit import networks_unit, per_seed

DENSE: Mapping[str, Any] = {"net": "mlp:256-256-256-256"}
"""784-256-256-256-256-10; all else is as `networks_unit` has it by default."""

SMALL_CNN: Mapping[str, Any] = {
    "net": "small-cnn",
    "epochs": 10,
    "pruning_epochs": 10,
    "batch_size": 64,
    "measures": [{"norm": "induced"}, {"norm": "l1"}],
}
"""Three convolutions of 64 channels; first the norm that was used for the printed numbers, then that of the text."""

VGG: Mapping[str, Any] = {
    "net": "vgg16",
    "epochs": 5,
    "pruning_epochs": 2,
    "augment": True,
    "measures": SMALL_CNN["measures"],
}
"""VGG-16 for CIFAR-10, for as many epochs as half an hour of an H200 had room for.

The paper's 200 and 50 should take 2.7 hours: change them here for that. Tables say what was run."""

DENSE_IN_SMALL: Mapping[str, Any] = {
    "net": "mlp:64-64-64",
    "seeds": [0, 1, 2],
    "epochs": 15,
    "pruning_epochs": 15,
    "batch_size": 64,
    "measures": [{"k": 8, "shuffles": 20, "starts": 100}],
}
"""As large as it must be for digits to be learned in spite of pruning; in small graphs k-means needs many starts."""

CNN_IN_SMALL: Mapping[str, Any] = {
    "net": "small-cnn",
    "seeds": [0, 1],
    "samples": 400,
    "epochs": 3,
    "pruning_epochs": 3,
    "batch_size": 16,
    "measures": [{"k": 6, "shuffles": 20, "norm": "induced"}, {"k": 6, "shuffles": 20}],
}
"""Few samples, in small batches: on a CPU, convolutions cost by the sample and learning goes by the step."""

REGULARISATION: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    "dropout": {"dropout": 0.5},
    "l1": {"l1": 5e-5},
    "l2": {"l2": 5e-5},
}
"""By its published name; dropout is .5 in dense layers, less in convolutions."""


def line(
    data: str,
    network: Mapping[str, Any],
    changes: Mapping[str, Any],
    *,
    labels: Mapping[str, str],
    printed: Mapping[str, str] | None = None,
    apart: bool = False,
) -> Line:
    """Return the line of a table for networks that train on some data.

    Parameters
    ----------
    data : str
        What they learn, as `dovetail.load` takes it.
    network, changes : mapping
        Settings of `networks_unit`: those of a kind of networks, and what this line changes.
    labels, printed : mapping
        As in `Line`.
    apart : bool
        Make each network a unit of its own.
    """
    unit = networks_unit(**{"data": data, **network, **changes})
    return Line(tuple(per_seed(unit)) if apart else (unit,), labels, printed or {})
