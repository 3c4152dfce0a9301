"""Networks without some of their units, many such variants in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..data.dataset import Split
from ..errors import ShapeError, SpecError
from ..graph.graph import Floats
from .readers import Readers

_VARIANTS_AT_ONCE = 16
"""Variants in a pass, as long as there are samples for it; how many makes little difference."""
_MOST_ROWS = 4096
_MOST_VALUES = 2**24
"""Inputs of the largest layer in a pass: few enough for the caches of a CPU and the memory of any machine."""


def check_fits(network: nn.Module, split: Split) -> None:
    """Refuse samples that the network cannot take, and classes that it has no outputs for."""
    with _evaluating(network), torch.no_grad():
        outputs = _logits(network, split.x[:2].to(next(network.parameters()))).shape[1]
    low, high = int(split.y.min()), int(split.y.max())
    if low < 0 or high >= outputs:
        raise ShapeError(f"class ids from {low} to {high}, but the network has {outputs} outputs")


def correct_by_class(
    network: nn.Module,
    readers: Readers,
    keep: NDArray[np.bool_],
    split: Split,
    *,
    rows: int | None,
    advance: Callable[[int], object],
) -> tuple[Floats, Floats]:
    """Count the samples that variants of a network classify correctly.

    Parameters
    ----------
    network : nn.Module
        Its modules get hooks and are put into evaluation mode while this runs; afterwards all is as before.
    readers : dict
        Layers and the nodes at their inputs, from `readers_of`.
    keep : bool array
        ``[variants, nodes]``: the nodes that each variant still has.
    split : Split
        Samples and their classes.
    rows : int or None
        Samples times variants in one pass; None: as many as make good use of the memory.
    advance : callable
        Is told how many rows are done.

    Returns
    -------
    correct : float array
        ``[variants, classes]``.
    samples : float array
        ``[classes]``.
    """
    like = next(network.parameters())
    # A last node that all variants keep: -1 leads there.
    masks = nn.functional.pad(torch.from_numpy(keep).to(like), (0, 1), value=1)
    correct: list[Tensor] | None = None
    counts: Tensor | int = 0
    with _evaluating(network), _masked_inputs(network, readers) as mask, torch.no_grad():
        if rows is None:
            mask.begin(masks[:1])
            _logits(network, split.x[:1].to(like))
            rows = min(_MOST_ROWS, _MOST_VALUES // mask.largest + 1)
        samples = max(1, min(len(split), rows // _VARIANTS_AT_ONCE))
        variants = max(1, rows // samples)
        for x, y in zip(split.x.split(samples), split.y.split(samples), strict=True):
            x, y = x.to(like), y.to(like.device)
            found = []
            for part in masks.split(variants):
                mask.begin(part)
                logits = _logits(network, x.expand(len(part), *x.shape).flatten(0, 1))
                mask.end()
                right = logits.argmax(1).unflatten(0, (len(part), -1)) == y
                classes = nn.functional.one_hot(y, logits.shape[1]).double()
                found.append(right.double() @ classes)
                advance(len(part) * len(x))
            correct = found if correct is None else [a + b for a, b in zip(correct, found, strict=True)]
            counts = counts + classes.sum(0)
    assert correct is not None
    assert isinstance(counts, Tensor)
    return torch.cat(correct).cpu().numpy(), counts.cpu().numpy()


class _Mask:
    """Which nodes the variants in a batch keep, and what is left of a layer's inputs then.

    A unit is ablated where it is read: every input that comes from it is 0, whatever activation, batch norm, sum or
    concatenation led there. Rows of a batch are sorted by variant.
    """

    def __init__(self, readers: Readers) -> None:
        self._readers = {name: [torch.from_numpy(use) for use in uses] for name, uses in readers.items()}
        self._keep = torch.ones(1, 1)
        self.largest = 1  # values that one layer read in a pass, at most
        self._uses: Counter[str] = Counter()

    def begin(self, keep: Tensor) -> None:
        """Start a pass in which each variant keeps some nodes, ``[variants, nodes]``."""
        self._keep = keep
        self._uses.clear()

    def apply(self, name: str, layer: nn.Module, x: Tensor) -> Tensor:
        """Return the inputs of a layer without those that come from ablated nodes."""
        uses = self._readers[name]
        inputs = uses[self._uses[name] % len(uses)]
        self._uses[name] += 1
        self.largest = max(self.largest, x.numel())
        keep = self._keep[:, inputs]
        shape = [len(keep), *[1] * x.dim()]
        shape[-1 if isinstance(layer, nn.Linear) else 2] = len(inputs)
        masked: Tensor = x.unflatten(0, (len(keep), -1)) * keep.view(shape)
        return masked.flatten(0, 1)

    def end(self) -> None:
        """Refuse a network that goes around its own layers."""
        for name, uses in self._readers.items():
            if self._uses[name] != len(uses):
                raise SpecError(
                    f"the weights of {name!r} are used {len(uses)} times, but the module is called "
                    f"{self._uses[name]} times, so not all of its inputs can be set to 0; call it as a module"
                )


@contextmanager
def _masked_inputs(network: nn.Module, readers: Readers) -> Iterator[_Mask]:
    mask = _Mask(readers)

    def hook_of(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], tuple[Tensor, ...]]:
        return lambda layer, inputs: (mask.apply(name, layer, inputs[0]), *inputs[1:])

    modules = dict(network.named_modules())
    hooks = []
    try:
        for name in readers:
            if name in modules:
                hooks.append(modules[name].register_forward_pre_hook(hook_of(name)))
        yield mask
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def _evaluating(network: nn.Module) -> Iterator[None]:
    training = {module: module.training for module in network.modules()}
    network.eval()
    try:
        yield
    finally:
        for module, was in training.items():
            module.training = was


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
