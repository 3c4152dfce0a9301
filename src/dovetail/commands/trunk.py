"""Trunks that commands are given by name, and data seen through them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from .own_data import say_what_was_read

if TYPE_CHECKING:
    from ..data import Dataset
    from ..specialists import Part
    from ..trunks import Trunk


Kind = TypeVar("Kind", bound="Part")


def open_trunk(text: str | None) -> Trunk | None:
    """Return the trunk that was named, if one was."""
    if text is None:
        return None
    from ..trunks import trunk

    return trunk(text)


def open_through(
    trunk: Trunk | None,
    text: str,
    *,
    device: str | None = None,
    quiet: bool = False,
    scale: bool | None = None,
) -> Dataset:
    """Return data, or the features that a trunk makes of it; what was read is told.

    Parameters
    ----------
    trunk : Trunk, optional
        The trunk.
    text : str
        What was typed to name the data.
    device : str, optional
        Where to compute features.
    quiet : bool
        Whether to tell nothing.
    scale : bool, optional
        Whether features are scaled, as for `Trunk.features`.
    """
    from ..data import open_data

    data = open_data(text, texts="raw" if trunk is not None and trunk.takes_texts else "words")
    if not quiet:
        say_what_was_read(data, text)
    return data if trunk is None else trunk.features(data, device=device, scale=scale, progress=not quiet)


def on_trunk(parts: list[Kind], trunk: Trunk | None) -> list[Kind]:
    """Return parts with their trunk at hand, if one was named."""
    return parts if trunk is None else [part.with_trunk(trunk) for part in parts]
