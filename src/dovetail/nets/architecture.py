"""An architecture: its options, what its sizes mean, and how to build it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from ..spec import Option, choice, number
from .init import INITS


@dataclass(frozen=True)
class Architecture:
    """An architecture that a spec can name.

    Attributes
    ----------
    name
        The word at the start of a spec.
    build
        Called as ``build(sizes, input_shape, outputs, **options)``; gives the network with PyTorch's own
        initial values.
    own_options
        Options passed to `build`, in the order in which a spec is written.
    sizes_mean
        What the numbers after the colon are; empty for an architecture without any.
    default_sizes
        The sizes when the spec gives none.
    most_sizes
        How many sizes there may be; None for any number.
    shapes_tell
        Whether the shapes of its tensors tell which layer reads which; else one has to follow what it computes.
    shared
        Options that count what all slots together have; in each it is a share, as of the sizes.
    default_init
        The initialisation when the spec names none.
    """

    name: str
    build: Callable[..., nn.Module]
    own_options: tuple[Option, ...]
    sizes_mean: str = ""
    default_sizes: tuple[int, ...] = ()
    most_sizes: int | None = None
    shapes_tell: bool = True
    shared: tuple[str, ...] = ()
    default_init: str = "default"

    @property
    def options(self) -> tuple[Option, ...]:
        """All options in the order in which a spec is written; the last three are the same for all architectures."""
        return (
            *self.own_options,
            Option("init", self.default_init, choice(*INITS)),
            Option("shift", 0.0, number()),
            Option("scale", 1.0, number(above=0)),
        )
