"""Perceptrons in a stack, with their gradients written out, for training that is too short to trace.

Sculpting trains the same small ReLU networks for a few epochs of a few steps, dozens of times, with other masks
each time. There `Population` spends most of its time on what makes it general: a trace for every fit, Python for
every epoch. Here the one architecture is known, so forward and backward pass are a dozen batched products; all of
a member's numbers lie in one row, so an optimizer step, a mask and a checkpoint are one operation each; and
nothing asks the device for a value before a training is over, so on CUDA a whole epoch is one captured graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from ...errors import ShapeError

Head = Literal["bits", "some bits", "classes"]
"""What targets are: a bit for each output, or NaN for those of "some bits" that do not matter; or a class."""


def count_edges(widths: Sequence[int]) -> int:
    """Return how many weights fully connected layers have.

    Examples
    --------
    >>> count_edges([4, 24, 4])
    192
    """
    return sum(before * units for before, units in pairwise(widths))


@dataclass
class Perceptrons:
    """M perceptrons with ReLU hidden layers, in rows: first all weights, layer by layer, then all biases.

    Attributes
    ----------
    widths : tuple of int
        Units of each layer, inputs first.
    values : Tensor
        All weights and biases, ``[members, numbers]``.
    kept : Tensor
        Which of them may be other than 0, bool.
    head : {"bits", "some bits", "classes"}
        What logits mean: independent bits, of which some may not matter, or one of several classes.

    Examples
    --------
    >>> stack = Perceptrons.from_matrices([torch.ones(1, 2, 3)], [torch.zeros(1, 2)])
    >>> stack.widths, stack.logits(torch.ones(4, 3)).shape
    ((3, 2), torch.Size([1, 4, 2]))
    """

    widths: tuple[int, ...]
    values: Tensor
    kept: Tensor
    head: Head = "bits"

    @classmethod
    def from_matrices(
        cls, weights: Sequence[Tensor], biases: Sequence[Tensor], head: Head = "bits"
    ) -> Perceptrons:
        """Stack networks, given the weights ``[members, units, units before]`` and biases of each layer."""
        widths = (weights[0].shape[2], *(weight.shape[1] for weight in weights))
        for place, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            if weight.shape[1:] != (widths[place + 1], widths[place]) or bias.shape != weight.shape[:2]:
                raise ShapeError(
                    f"layer {place + 1} has weights {tuple(weight.shape)} and biases {tuple(bias.shape)}; "
                    f"after {widths[place]} units they must be [members, units, {widths[place]}] and [members, units]"
                )
        values = torch.cat([tensor.flatten(1) for tensor in (*weights, *biases)], 1).contiguous()
        return cls(widths, values, torch.ones_like(values, dtype=torch.bool), head)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def edges(self) -> int:
        """How many weights a network has, kept or not."""
        return count_edges(self.widths)

    def weights(self, rows: Tensor | None = None) -> list[Tensor]:
        """Return views of each layer's weights ``[members, units, units before]``, or of rows like `values`."""
        rows, found, start = self.values if rows is None else rows, [], 0
        for before, units in pairwise(self.widths):
            found.append(rows[:, start : start + units * before].view(len(rows), units, before))
            start += units * before
        return found

    def biases(self, rows: Tensor | None = None) -> list[Tensor]:
        """Return views of each layer's biases ``[members, units]``, or of rows like `values`."""
        rows, found, start = self.values if rows is None else rows, [], self.edges
        for units in self.widths[1:]:
            found.append(rows[:, start : start + units])
            start += units
        return found

    def select(self, members: Tensor) -> Perceptrons:
        """Return copies of some members."""
        return replace(self, values=self.values[members], kept=self.kept[members])

    def copy(self) -> Perceptrons:
        """Return a copy of all members."""
        return replace(self, values=self.values.clone(), kept=self.kept.clone())

    def repeated(self, times: int) -> Perceptrons:
        """Return every member several times."""
        return self.select(torch.arange(len(self), device=self.values.device).repeat_interleave(times))

    def to(self, device: torch.device, dtype: torch.dtype) -> Perceptrons:
        """Return the stack on a device, with numbers of a type."""
        return replace(self, values=self.values.to(device, dtype), kept=self.kept.to(device))

    def clear(self) -> None:
        """Set to 0 what is not kept."""
        self.values.masked_fill_(~self.kept, 0)

    def logits(self, x: Tensor) -> Tensor:
        """Return every member's logits for inputs ``[samples, inputs]``, or for each member's own."""
        return self._activations(x)[-1]

    def _activations(self, x: Tensor) -> list[Tensor]:
        """Return the inputs, what each hidden layer gives, and the logits."""
        found = [x if x.dim() == 3 else x.expand(len(self), *x.shape)]
        last = len(self.widths) - 2
        for place, (weight, bias) in enumerate(zip(self.weights(), self.biases(), strict=True)):
            out = torch.baddbmm(bias.unsqueeze(1), found[-1], weight.transpose(1, 2))
            found.append(out if place == last else out.relu_())
        return found

    def _slopes(self, logits: Tensor, y: Tensor) -> Tensor:
        """Return the derivative of the mean loss with respect to the logits."""
        if self.head != "classes":
            slopes = torch.sigmoid(logits).sub_(y).mul_(1 / (logits.shape[1] * logits.shape[2]))
            return slopes.masked_fill_(y.isnan(), 0) if self.head == "some bits" else slopes
        wrong = torch.softmax(logits, 2).sub_(F.one_hot(y, logits.shape[2]))
        return wrong.mul_(1 / logits.shape[1])

    def gradients(self, x: Tensor, y: Tensor, out: Tensor) -> None:
        """Write the gradient of the mean loss over a batch into rows like `values`."""
        *found, logits = self._activations(x)
        slopes = self._slopes(logits, y)
        weights, into, sums = self.weights(), self.weights(out), self.biases(out)
        for place in reversed(range(len(weights))):
            _write_product(slopes.transpose(1, 2), found[place], into[place])
            torch.sum(slopes, 1, out=sums[place])
            if place:
                slopes = torch.bmm(slopes, weights[place])
                # The derivative of a ReLU, in one operation.
                slopes = torch.ops.aten.threshold_backward(slopes, found[place], 0)

    def sensitivity(self, x: Tensor, y: Tensor) -> list[Tensor]:
        """Return for each hidden layer the mean over samples of ``abs(∂L/∂a · a)``, ``[members, units]``."""
        *found, logits = self._activations(x)
        slopes, scores = self._slopes(logits, y), []
        weights = self.weights()
        for place in reversed(range(1, len(weights))):
            slopes = torch.bmm(slopes, weights[place])
            scores.append((slopes * found[place]).abs_().mean(1))
            slopes = torch.ops.aten.threshold_backward(slopes, found[place], 0)
        return scores[::-1]

    def measure(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return how many bits (or classes) each member gets wrong, and its mean loss.

        A member whose loss is not a number gets everything wrong.
        """
        logits = self.logits(x)
        if self.head != "classes":
            target = y.expand_as(logits)
            losses = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
            errors = (logits > 0) != (target > 0.5)
            if self.head == "some bits":
                losses, errors = losses.masked_fill_(target.isnan(), 0), errors & ~target.isnan()
            loss, wrong = losses.mean((1, 2)), errors.sum((1, 2))
            everything = logits.shape[1] * logits.shape[2]
        else:
            target = y.expand(len(self), -1)
            loss = F.cross_entropy(logits.transpose(1, 2), target, reduction="none").mean(1)
            wrong = (logits.argmax(2) != target).sum(1)
            everything = logits.shape[1]
        return torch.where(loss.isfinite(), wrong, everything), loss


def _write_product(left: Tensor, right: Tensor, out: Tensor) -> None:
    """Write the product of two stacks of matrices into one whose matrices lie apart in memory."""
    if out.is_cuda:
        torch.bmm(left, right, out=out)  # saves the copy
    else:  # the CPU is slow at that: a small product and a copy take a third of the time
        out.copy_(torch.bmm(left, right))
