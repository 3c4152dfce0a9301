"""A sculpted network as one ``.safetensors`` file: its weights, its masks, and how it came about."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import torch
from safetensors import SafetensorError, safe_open

from .._version import __version__
from ..errors import FileFormatError
from ..io.fields import number, parse, refuse_newer, take, whole
from ..io.header import KEY
from ..io.write import write_tensors
from .pruning.search import Accepted
from .pruning.start import builder_of
from .sculpture import Outcome, Sculpture

SCHEMA = "dovetail.sculpture/1"
_MASK = "masks/"


def save_sculpture(sculpture: Sculpture, path: str | Path) -> Path:
    """Write a sculpted network to a file, all of it or nothing."""
    tensors = {name: tensor.contiguous() for name, tensor in sculpture.network.state_dict().items()}
    tensors |= {f"{_MASK}{name}": mask.to(torch.uint8) for name, mask in sculpture.masks.items()}
    content = {
        "schema": SCHEMA, "dovetail": __version__, "widths": sculpture.widths, "task": sculpture.task,
        "seed": sculpture.seed,
        "outcome": sculpture.outcome, "accuracy": sculpture.accuracy, "threshold": sculpture.threshold,
        "history": [asdict(step) for step in sculpture.history], "unit_step": sculpture.unit_step,
        "edge_step": sculpture.edge_step, "grid": None if sculpture.grid is None else sculpture.grid.tolist(),
        "tied": sculpture.tied, "modularity_threshold": sculpture.modularity_threshold,
        "merge_threshold": sculpture.merge_threshold, "image_shape": sculpture.image_shape,
        "output_names": sculpture.output_names,
    }  # fmt: skip
    return write_tensors(path, tensors, {KEY: json.dumps(content)})


def open_sculpture(path: str | Path) -> Sculpture:
    """Read a sculpted network back.

    Raises
    ------
    FileFormatError
        For a file that is missing, damaged, or something else.

    Examples
    --------
    >>> import dovetail as dt
    >>> from tempfile import TemporaryDirectory
    >>> sculpture = dt.sculpt("y1 = x1 & x2", [4], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    >>> with TemporaryDirectory() as folder:
    ...     again = open_sculpture(sculpture.save(f"{folder}/and.safetensors"))
    >>> again.edges == sculpture.edges, again.hierarchy == sculpture.hierarchy, again.history == sculpture.history
    (True, True, True)
    """
    path = Path(path)
    if not path.is_file():
        raise FileFormatError(f"there is no file {str(path)!r}")
    try:
        with safe_open(path, framework="pt") as file:
            content = parse((file.metadata() or {}).get(KEY, "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if isinstance(content, dict):
            refuse_newer(content, SCHEMA)
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA!r}; dovetail inspect says what it is")
        if content["outcome"] not in get_args(Outcome):
            raise ValueError(f"unknown outcome {content['outcome']!r:.40}")
        masks = {n.removeprefix(_MASK): t.bool() for n, t in tensors.items() if n.startswith(_MASK)}
        state = {name: tensor for name, tensor in tensors.items() if not name.startswith(_MASK)}
        build = builder_of(content["widths"])
        # A short file may claim any widths: nothing is allocated before it bears them out.
        with torch.device("meta"):
            shapes = {name: tensor.shape for name, tensor in build().state_dict().items()}
        if shapes != {name: tensor.shape for name, tensor in state.items()}:
            raise ValueError("its weights do not fit its widths")
        network = build().eval()
        network.load_state_dict(state)
        if set(masks) != set(state) or any(masks[name].shape != state[name].shape for name in state):
            raise ValueError("its masks do not fit its weights")
        order = list(network.state_dict())
        return Sculpture(
            take(content, "task", str), whole(content["seed"]), network, {name: masks[name] for name in order},
            content["outcome"], number(content["accuracy"]), number(content["threshold"]),
            tuple(Accepted(**step) for step in content["history"]), content["unit_step"], content["edge_step"],
            None if content["grid"] is None else torch.tensor(content["grid"]), whole(content["tied"]),
            number(content["modularity_threshold"]), number(content["merge_threshold"]),
            *(None if content[key] is None else tuple(content[key]) for key in ("image_shape", "output_names")),
        )  # fmt: skip
    except (
        SafetensorError,
        OSError,
        ValueError,
        KeyError,
        TypeError,
        RuntimeError,
        FileFormatError,
    ) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise FileFormatError(f"{str(path)!r} cannot be read as a sculpted network: {reason}") from error
