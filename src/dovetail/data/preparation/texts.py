"""Texts as they are: for trunks, which read them themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from ...errors import DataError
from .base import Preparation
from .not_samples import refuse_data_set

MOST_BYTES = 4096
"""Of a text that are kept: about 700 words, more than a sentence transformer reads."""
_LEAST_BYTES = 512


class Texts(Preparation):
    """Texts as bytes (UTF-8) of one length, the rest zeros: tensors that can be split, hashed and mapped like any.

    No network takes them as they are; a trunk turns them into features.

    Attributes
    ----------
    length : int
        Bytes of each; longer texts are cut.

    Examples
    --------
    >>> texts = Texts.fitted(["turn it up", "louder"])
    >>> x = texts(["quieter"])
    >>> x.shape, x.dtype
    (torch.Size([1, 512]), torch.uint8)
    >>> texts_of(x)
    ['quieter']
    """

    kind: Literal["texts"] = "texts"
    length: Annotated[int, Field(ge=1, le=MOST_BYTES)]

    @classmethod
    def fitted(cls, texts: Sequence[str]) -> Self:
        """Return what holds the longest of these texts and others of twice its length, up to `MOST_BYTES`."""
        longest = max((len(_bytes(text)) for text in texts), default=0)
        return cls(length=min(MOST_BYTES, max(_LEAST_BYTES, 2 * longest)))

    def whole(self, raw: object) -> Tensor:
        """Return texts as bytes like a call, but of the length of the longest, so that only `MOST_BYTES` cut them."""
        given = raw.tolist() if hasattr(raw, "tolist") else raw
        texts = [text for text in given if isinstance(text, str)] if isinstance(given, Sequence) else []
        longest = max((len(_bytes(text)) for text in texts), default=0)
        return self.model_copy(update={"length": min(MOST_BYTES, max(self.length, longest))})(raw)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Bytes of a text."""
        return (self.length,)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Nothing: bytes have no names."""
        return ()

    def __call__(self, raw: object) -> Tensor:
        """Return texts as bytes, a row for each."""
        refuse_data_set(raw)
        if isinstance(raw, str):
            raise DataError("texts are a list of texts; for a single one write [text]")
        given = raw.tolist() if hasattr(raw, "tolist") else raw
        if not isinstance(given, Sequence) or not all(isinstance(text, str) for text in given):
            raise DataError(f"texts are a list of texts, not {type(raw).__name__} of something else")
        rows = np.zeros((len(given), self.length), np.uint8)
        for row, text in zip(rows, given, strict=True):
            own = np.frombuffer(_bytes(text)[: self.length], np.uint8)
            row[: len(own)] = own
        return torch.from_numpy(rows)

    def describe(self) -> str:
        """Return what is done."""
        return f"texts as they are, up to {self.length:,} bytes"


def texts_of(x: Tensor) -> list[str]:
    """Return the texts that rows of bytes hold; a letter that was cut in the middle is left out.

    Examples
    --------
    >>> texts_of(torch.tensor([[104, 105, 0, 0]], dtype=torch.uint8))
    ['hi']
    """
    rows = x.detach().cpu().to(torch.uint8).numpy()
    return [row.tobytes().rstrip(b"\0").decode("utf-8", "ignore") for row in rows]


def _bytes(text: str) -> bytes:
    # Halves of characters, which JSON can spell, have no bytes; zeros mark the end.
    return text.encode("utf-8", "replace").replace(b"\0", b" ")
