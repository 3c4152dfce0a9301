"""Exports: a part as a file for other programs, ONNX or torch.export, checked against the part itself."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from ..data.preparation import Features, Texts
from ..errors import DovetailError, SpecError
from ..importing import failed
from ..io.write import check_place, write_whole

if TYPE_CHECKING:
    from ..data.preparation.features import FrozenTrunk
    from .part import Part

ENDINGS = (".onnx", ".pt2")

_MOST_DIFFERENT = 1e-5
"""Between the outputs of a part and those of its export, as a share of the largest output or of 1."""
_TRIED = 3
"""Samples that both are asked for, another number than they were recorded with."""


@dataclass(frozen=True)
class Export:
    """A file for other programs.

    Attributes
    ----------
    path : Path
        The file.
    inputs : tuple of int
        Shape of a sample as it takes it, float32; any number of samples at a time.
    outputs : tuple of str
        The class of each output.
    difference : float
        The largest difference to the part's own outputs that was found on random samples.
    """

    path: Path
    inputs: tuple[int, ...]
    outputs: tuple[str, ...]
    difference: float

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, ready for JSON."""
        return {
            "file": str(self.path),
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "difference": self.difference,
        }

    def __str__(self) -> str:
        shape = ", ".join(map(str, self.inputs))
        return (
            f"{self.path}: takes float32 [samples, {shape}], gives logits of {len(self.outputs)} classes; differs from "
            f"the part by at most {self.difference:.1e} (computed just now)"
        )


def check_ending(path: Path) -> None:
    """Refuse a file whose ending says nothing of what to write.

    Examples
    --------
    >>> check_ending(Path("ten.txt"))
    Traceback (most recent call last):
    dovetail.errors.SpecError: an export is a file .onnx or .pt2, by its ending; got 'ten.txt'
    """
    if path.suffix.lower() not in ENDINGS:
        raise SpecError(f"an export is a file {' or '.join(ENDINGS)}, by its ending; got {path.name!r:.80}")


def export(
    part: Part,
    path: str | Path,
    *,
    trunk: FrozenTrunk | None = None,
    known_only: bool = True,
    raw: bool = True,
) -> Export:
    """Write a part as a file for other programs, and check that the file does the same.

    Parameters
    ----------
    part : Specialist or Composite
        The part.
    path : path
        ``.onnx``, or ``.pt2`` for `torch.export.load`.
    trunk, known_only, raw
        As for `Part.module`; raw samples are taken where they are numbers.

    Raises
    ------
    DovetailError
        When it cannot be written, or when what was written gives other outputs.

    Examples
    --------
    >>> import tempfile, dovetail as dt
    >>> (three,) = dt.train_specialists(dt.load("digits"), "mlp:16", [3], epochs=1, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(three, f"{folder}/three.pt2").outputs
    ('3',)
    """
    path = Path(path)
    check_ending(path)
    check_place(path)
    if trunk is not None:
        part = part.with_trunk(trunk)
    preparation = part.preparation
    if isinstance(preparation, Features) and isinstance(preparation.before, Texts) and raw:
        raise SpecError(
            f"{part!r} reads texts, and no such file can; leave raw out (--prepared), and the file takes features"
        )
    takes_raw = raw and preparation is not None and preparation.layer_shape is not None
    shape = part.blueprint.input_shape
    if takes_raw and preparation is not None and preparation.layer_shape is not None:
        shape = preparation.layer_shape
    network = part.module(known_only=known_only, raw=takes_raw).requires_grad_(False)
    # With a single sample in it, the number of samples would be taken for fixed.
    example = torch.rand(2, *shape)
    write = _write_onnx if path.suffix.lower() == ".onnx" else _write_torch
    names = part.known if known_only else part.classes
    differences: list[float] = []

    def write_checked(temporary: Path) -> None:
        try:
            run = write(network, example, temporary, names)
            given = torch.rand(_TRIED, *shape)
            inputs = (
                _computed(preparation, given) if takes_raw and isinstance(preparation, Features) else None
            )
            with torch.no_grad():
                wanted = network(given) if inputs is None else part.module(known_only=known_only)(inputs)
                differences.append(_difference(run(given), wanted))
        except (DovetailError, OSError):
            raise
        except Exception as error:
            raise failed(f"exporting to {path.name}", error) from error

    write_whole(path, write_checked)
    return Export(path, shape, tuple(names), differences[0])


def _computed(features: Features, given: Tensor) -> Tensor:
    """Return features as they are computed for predictions: by the trunk that is cut, not by the layer made of it."""
    first = None if features.before is None else features.before.layer()
    samples = given if first is None else first(given)
    return features.scaled(features.trunk_at_hand().compute(samples, device="cpu"))


def _difference(found: Tensor, wanted: Tensor) -> float:
    """Return by how much outputs differ at most, or refuse them."""
    difference = float((found - wanted).abs().max())
    if not difference <= _MOST_DIFFERENT * max(1.0, float(wanted.abs().max())):
        raise DovetailError(
            f"the file gave outputs that differ by {difference:.2g} from those of the part, so it was not kept; some "
            "layer of the network is exported as another one"
        )
    return difference


def _write_torch(
    network: nn.Module, example: Tensor, path: Path, names: tuple[str, ...]
) -> Callable[[Tensor], Tensor]:
    program = torch.export.export(network, (example,), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    with path.open("wb") as file:
        torch.export.save(program, file, extra_files={"classes": "\n".join(names)})
    with path.open("rb") as file:
        module: nn.Module = torch.export.load(file).module()
    return lambda x: torch.as_tensor(module(x))


def _write_onnx(
    network: nn.Module, example: Tensor, path: Path, names: tuple[str, ...]
) -> Callable[[Tensor], Tensor]:
    onnx, runtime = _library("onnx"), _library("onnxruntime")
    _library("onnxscript")
    with warnings.catch_warnings(), redirect_stdout(StringIO()), _quiet("torch.onnx"), _quiet("onnxscript"):
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            network, (example,), input_names=["samples"], output_names=["logits"],
            dynamic_shapes=({0: torch.export.Dim.DYNAMIC},), dynamo=True, verbose=False,
        )  # fmt: skip
    assert program is not None
    model = program.model_proto
    onnx.helper.set_model_props(model, {"classes": "\n".join(names)})
    path.write_bytes(model.SerializeToString())
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return lambda x: torch.from_numpy(session.run(None, {"samples": x.numpy()})[0])


class _quiet:  # noqa: N801 (reads like a function)
    """Lets a logger say nothing but errors inside of a ``with``."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)
        self._level = self._logger.level

    def __enter__(self) -> None:
        self._logger.setLevel(logging.ERROR)

    def __exit__(self, *reason: object) -> None:
        self._logger.setLevel(self._level)


def _library(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise DovetailError(
            f"exporting to ONNX needs {name}, not installed: pip install 'dovetail-nn[onnx]'; or export to .pt2"
        ) from None
