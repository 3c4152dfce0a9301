"""Networks without some of their units, many such variants in one pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..data.split import Split
from ..errors import ShapeError, SpecError
from ..graph.graph import Floats, Indices
from ..graph.intercept import changed_inputs
from ..graph.layers import Reading, WeightedLayer
from ..graph.trace import evaluating

_VARIANTS_AT_ONCE = 16
"""Variants in a pass, as long as there are samples for it; how many makes little difference."""
_MOST_ROWS = 4096
_MOST_VALUES = 2**24
"""Inputs of the largest layer in a pass: few enough for the caches of a CPU and the memory of any machine."""


def check_fits(network: nn.Module, split: Split) -> None:
    """Refuse samples that the network cannot take, and classes that it has no outputs for."""
    with evaluating(network), torch.no_grad():
        outputs = _logits(network, as_inputs(split.x[:2], next(network.parameters()))).shape[1]
    low, high = int(split.y.min()), int(split.y.max())
    if low < 0 or high >= outputs:
        raise ShapeError(f"class ids from {low} to {high}, but the network has {outputs} outputs")


def is_right(logits: Tensor, y: Tensor) -> Tensor:
    """Return 1 for each sample that is classified correctly, 0 for the others, ``[variants, samples]``."""
    return (logits.argmax(2) == y).double()


def log_likelihood(logits: Tensor, y: Tensor) -> Tensor:
    """Return the logarithm of the probability of each sample's class, ``[variants, samples]``."""
    return logits.double().log_softmax(2).gather(2, y.expand(len(logits), -1)[..., None])[..., 0]


def scores_by_class(
    network: nn.Module,
    reading: Reading,
    node_of: Indices,
    keep: NDArray[np.bool_],
    split: Split,
    *,
    score: Callable[[Tensor, Tensor], Tensor] = is_right,
    rows: int | None,
    advance: Callable[[int], object],
) -> tuple[Floats, Floats]:
    """Add up, class by class, how variants of a network do on each sample.

    Parameters
    ----------
    network : nn.Module
        It is put into evaluation mode while this runs; afterwards all is as before.
    reading : Reading
        Its layers, from `read_network`.
    node_of : int array
        The node of each unit, from `nodes_of_units`.
    keep : bool array
        ``[variants, nodes]``: the nodes that each variant still has.
    split : Split
        Samples and their classes.
    score : callable
        Takes logits ``[variants, samples, classes]`` and classes, and returns how well each sample is done.
    rows : int or None
        Samples times variants in one pass; None: as many as make good use of the memory.
    advance : callable
        Is told how many rows are done.

    Returns
    -------
    scores : float array
        Sums over the samples of each class, ``[variants, classes]``.
    samples : float array
        ``[classes]``.
    """
    like = next(network.parameters())
    # A last node that all variants keep: -1 leads there.
    mask = UnitMask(
        reading, node_of, nn.functional.pad(torch.from_numpy(keep).to(like.device), (0, 1), value=True)
    )
    sums: list[Tensor] | None = None
    counts: Tensor | int = 0
    with evaluating(network), torch.no_grad():

        def logits_of(x: Tensor, variants: slice) -> Tensor:
            together = x.expand(variants.stop - variants.start, *x.shape).flatten(0, 1)
            mask.begin(variants, len(together))
            with changed_inputs(reading.layers, mask):
                return _logits(network, together)

        if rows is None:
            logits_of(as_inputs(split.x[:1], like), slice(0, 1))
            rows = min(_MOST_ROWS, _MOST_VALUES // mask.largest + 1)
        samples = max(1, min(len(split), rows // _VARIANTS_AT_ONCE))
        at_once = max(1, rows // samples)
        for x, y in zip(split.x.split(samples), split.y.split(samples), strict=True):
            x, y = as_inputs(x, like), y.to(like.device)
            found = []
            for start in range(0, len(keep), at_once):
                variants = slice(start, min(start + at_once, len(keep)))
                logits = logits_of(x, variants).unflatten(0, (-1, len(x)))
                classes = nn.functional.one_hot(y, logits.shape[2]).double()
                found.append(score(logits, y) @ classes)
                advance(len(logits) * len(x))
            sums = found if sums is None else [a + b for a, b in zip(sums, found, strict=True)]
            counts = counts + classes.sum(0)
    assert sums is not None
    assert isinstance(counts, Tensor)
    return torch.cat(sums).cpu().numpy(), counts.cpu().numpy()


class UnitMask:
    """Which nodes the variants in a batch keep, and what is left of a layer's inputs then.

    A unit is ablated where it is read: every input that comes from it is 0, whatever activation, batch norm, sum or
    concatenation led there. Rows of a batch are sorted by variant.
    """

    def __init__(self, reading: Reading, node_of: Indices, keep: Tensor) -> None:
        self._nodes = {
            layer.call: torch.from_numpy(node_of[layer.inputs]) for layer in reading.layers if layer.call
        }
        self._keep = keep
        self._variants = slice(0, 1)
        self._rows = 0
        self.largest = 1  # values that one layer read in a pass, at most

    def begin(self, variants: slice, rows: int) -> None:
        """Start a pass of some variants, with this many samples times variants."""
        self._variants, self._rows = variants, rows

    def __call__(self, layer: WeightedLayer, x: Tensor) -> Tensor:
        """Return the inputs of a layer without those that come from ablated nodes."""
        if len(x) % self._rows:
            raise SpecError(
                f"layer {layer.name!r} reads a tensor {tuple(x.shape)} for {self._rows} samples: its units can only be "
                "ablated where samples lie along the first dimension"
            )
        self.largest = max(self.largest, x.numel())
        assert layer.call is not None
        keep = self._keep[self._variants, self._nodes[layer.call]].to(x)
        shape = [len(keep), *[1] * x.dim()]
        shape[layer.axis] = keep.shape[1]
        masked: Tensor = x.unflatten(0, (len(keep), -1)) * keep.view(shape)
        return masked.flatten(0, 1)


def as_inputs(x: Tensor, like: Tensor) -> Tensor:
    """Return samples as a network with such weights takes them; numbers of tokens stay whole."""
    return x.to(like.device) if x.dtype in (torch.int32, torch.int64) else x.to(like)


def _logits(network: nn.Module, x: Tensor) -> Tensor:
    try:
        logits = network(x)
    except RuntimeError as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise ShapeError(
            f"the network cannot take samples of shape {tuple(x.shape[1:])}: {reason}"
        ) from error
    if not isinstance(logits, Tensor) or logits.dim() != 2 or len(logits) != len(x):
        what = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise ShapeError(f"the network must give a row of logits for each of {len(x)} samples; got {what}")
    return logits
