"""Evaluation: all members of a stack measured on a split in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.func import vmap

from ..data.split import Split
from ..result import Result
from .forward import Forward, over_members
from .objectives import Objective, one_per_sample, with_per_member
from .stack import Tensors
from .trace import ONE_AT_A_TIME, clear_errors, traced

if TYPE_CHECKING:
    import pandas as pd


class Evaluator:
    """Means of per-sample functions for every member of a stack.

    Parameters
    ----------
    network : nn.Module
        The networks' code.
    functions : mapping of str to Objective
        What to measure; NaN marks a sample that a function does not count.
    batch_size : int
        Samples per pass.
    """

    def __init__(self, network: nn.Module, functions: Mapping[str, Objective], batch_size: int) -> None:
        self._forward = Forward(network, "eval")
        self._functions, self.batch_size = dict(functions), batch_size
        self._sums = traced(self._batch_sums)

    def __call__(
        self,
        params: Tensors,
        buffers: Tensors,
        split: Split,
        per_member: Tensors,
        targets: Tensor | None = None,
        weights: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """Return ``{name: [members]}`` in float64; NaN where a function counted no sample.

        ``per_member`` holds the members' own parameters for the functions; ``targets``, if given, ``[members, samples,
        ...]``, stand in for the split's. ``weights``, ``[samples]`` or ``[members, samples]``, say how much samples
        count in the loss. Inputs may be elsewhere and of another type than the members are.
        """
        total: Tensor | int = 0
        like = next(iter(params.values()))
        for start in range(0, len(split), self.batch_size):
            part = slice(start, start + self.batch_size)
            target = split.y[part] if targets is None else targets[:, part]
            weight = None if weights is None else weights[..., part].expand(len(like), -1)
            x = split.x[part].to(like.device, like.dtype)
            total = total + self._sums(params, buffers, x, target, per_member, weight, targets is not None)
        assert isinstance(total, Tensor)
        sums, counts = total
        return dict(zip(self._functions, sums / counts, strict=True))

    def _batch_sums(
        self,
        params: Tensors,
        buffers: Tensors,
        x: Tensor,
        target: Tensor,
        per_member: Tensors,
        weight: Tensor | None,
        own_target: bool,
    ) -> Tensor:
        """Return sums and counts, ``[2, functions, members]``."""
        is_loss = torch.tensor([[name == "loss"] for name in self._functions], device=x.device)

        def one(
            params: Tensors, buffers: Tensors, target: Tensor, per_member: Tensors, weight: Tensor | None
        ) -> Tensor:
            logits = self._forward(params, buffers, x)
            values = torch.stack([self._values(name, logits, target, per_member) for name in self._functions])
            # Metrics leave samples out by NaN; a loss that is NaN must stay NaN.
            counted = ~values.isnan() | is_loss
            if weight is None:
                return torch.stack(
                    [torch.where(counted, values, 0).sum(1, dtype=torch.float64), counted.sum(1).double()]
                )
            counts = torch.where(is_loss, weight, counted.to(weight.dtype)).double()
            return torch.stack([(torch.where(counts > 0, values, 0) * counts).sum(1), counts.sum(1)])

        with torch.no_grad():
            members = len(next(iter(params.values())))
            in_dims = (0, 0, 0 if own_target else None, 0, None if weight is None else 0)
            mapped = over_members(one, members, in_dims, out_dim=2, device=x.device)
            return mapped(params, buffers, target, per_member, weight)

    def _values(self, name: str, logits: Tensor, target: Tensor, per_member: Tensors) -> Tensor:
        values = with_per_member(self._functions[name], per_member)(logits, target, per_member)
        return one_per_sample(values, len(logits), f"{name!r}")


@dataclass(frozen=True)
class Scores(Result):
    """What a population scored, one value per member.

    Attributes
    ----------
    values : dict of str to Tensor
        ``{name: [members]}``, float64.
    seeds : tuple of int
        The members' seeds.

    Examples
    --------
    >>> scores = Scores({"accuracy": torch.tensor([0.5, 1.0])}, (0, 1))
    >>> scores["accuracy"].mean().item()
    0.75
    >>> scores.to_frame().loc[1].to_dict()
    {'seed': 1.0, 'accuracy': 1.0}
    """

    values: dict[str, Tensor]
    seeds: tuple[int, ...]

    def __getitem__(self, name: str) -> Tensor:
        return self.values[name]

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per member."""
        import pandas as pd

        columns = {name: value.tolist() for name, value in self.values.items()}
        return pd.DataFrame({"seed": self.seeds, **columns}).rename_axis("member")


def predict(network: nn.Module, params: Tensors, buffers: Tensors, x: Tensor, batch_size: int) -> Tensor:
    """Return the outputs of every member for every sample, ``[members, samples, outputs]``."""
    forward = vmap(Forward(network, "eval"), in_dims=(0, 0, None))
    like = next(iter(params.values()))
    with ONE_AT_A_TIME, torch.no_grad(), clear_errors():
        parts = (part.to(like.device, like.dtype) for part in x.split(batch_size))
        return torch.cat([forward(params, buffers, part) for part in parts], 1)
