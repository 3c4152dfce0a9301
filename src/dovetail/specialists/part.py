"""What specialists and composites have in common: they can be called, measured, saved and added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from ..data.dataset import Split
from ..errors import unknown_name
from .basis import Basis
from .class_sets import named
from .packed import State
from .score import Score

if TYPE_CHECKING:
    from .composite import Composite
    from .specialist import Specialist


def check_layout(layout: str) -> str:
    """Refuse a layout that there is not."""
    if layout not in ("dense", "sparse"):
        raise unknown_name("layout", layout, ["dense", "sparse"])
    return layout


class Part(ABC):
    """A network with rewarded classes that can be put together with others: a `Specialist` or a `Composite`."""

    basis: Basis

    @property
    @abstractmethod
    def specialists(self) -> tuple[Specialist, ...]:
        """The specialists it is made of; of itself, if it is one."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """Hash of everything that decides what it computes."""

    @abstractmethod
    def module(self) -> nn.Module:
        """Return an ordinary network in evaluation mode.

        It gives logits that are divided by the temperature already: ``softmax`` of them is the prediction.
        """

    @abstractmethod
    def state_dict(self, *, layout: Literal["dense", "sparse"] = "dense") -> State:
        """Return the weights by name, as a network of the same spec takes them.

        Parameters
        ----------
        layout : {"dense", "sparse"}
            Ordinary tensors, or torch's sparse COO tensors where entries were pruned.
        """

    @property
    def rewarded(self) -> tuple[int, ...]:
        """Ids of the classes it recognises."""
        return tuple(sorted({number for part in self.specialists for number in part.rewarded}))

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of all classes, rewarded or not."""
        return self.basis.classes

    @property
    def knows(self) -> str:
        """Names of the classes it recognises."""
        return named(self.rewarded, self.classes)

    def __call__(self, x: Tensor) -> Tensor:
        """Return logits, divided by the temperature, for a batch of inputs."""
        from .networks import batched, check_inputs

        return batched(self._module, check_inputs(self.basis, x).to(next(self._module.parameters())))

    @cached_property
    def _module(self) -> nn.Module:
        return self.module()

    def evaluate(self, split: Split, *, device: torch.device | str | None = None) -> Score:
        """Measure it on a split.

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> team = dt.train_specialists(data, "mlp:32", [3, 8], epochs=4, sparsity=0.5, progress=False)
        >>> (team[0] + team[1]).evaluate(data.test).rewarded
        (3, 8)
        """
        from .networks import evaluate_all

        return evaluate_all([self], split, device=device)[0]

    def save(self, path: str | Path) -> Path:
        """Write it to one ``.safetensors`` file; an existing file is replaced only when all is written."""
        from .files import save

        return save(self, path)

    def __add__(self, other: object) -> Composite:
        from .compose import added

        return added(self, other) if isinstance(other, Part) else NotImplemented

    def __radd__(self, other: object) -> Part:
        # sum() starts from 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Part) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)
