"""Pictures: files, Pillow images or arrays of any size, brought to one size and scaled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, model_validator
from torch import Tensor

from ...errors import DataError
from .base import Floats, Preparation, Scales
from .not_samples import refuse_data_set

if TYPE_CHECKING:
    from PIL import Image

MOST_PIXELS = 50_000_000
"""Of a picture that is decoded; its header is asked first."""

MOST_ON_A_SIDE = 1024
"""Pixels of a picture as a network sees it."""

FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
"""Formats that are read, as Pillow calls them: no others, since some start foreign programs."""

Side = Annotated[int, Field(ge=1, le=MOST_ON_A_SIDE)]


class Pictures(Preparation):
    """Pictures brought to one size, ``(bytes - shift) / scale``.

    A picture is scaled so that it covers the size, and its middle is cut out. Cameras' notes on which side is up are
    obeyed. Raw pictures are paths, open files, Pillow images or arrays, one or a list of them; or one array
    ``[pictures, height, width]`` with channels last, first or none. Numbers in arrays are bytes from 0 to 255, or
    fractions from 0 to 1.

    Attributes
    ----------
    size : (int, int)
        Height and width.
    channels : {1, 3}
        Grey or colour.
    resize : {"cover"}
        How a picture of another size is brought to this one.
    shift, scale : tuple of float
        One number for all channels, or one for each.

    Examples
    --------
    >>> small = Pictures(size=(4, 4), channels=1)
    >>> small(np.full((2, 4, 4), 255, dtype=np.uint8)).max()
    tensor(1.)
    >>> small.input_shape
    (1, 4, 4)
    """

    kind: Literal["pictures"] = "pictures"
    size: tuple[Side, Side]
    channels: Literal[1, 3]
    resize: Literal["cover"] = "cover"
    shift: Floats = (0.0,)
    scale: Scales = (255.0,)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not {len(self.shift), len(self.scale)} <= {1, self.channels}:
            raise ValueError(
                f"{len(self.shift)} shifts and {len(self.scale)} scales for {self.channels} channels"
            )
        return self

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Channels, height and width."""
        return (self.channels, *self.size)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Nothing: pixels have no names."""
        return ()

    def __call__(self, raw: object) -> Tensor:
        """Return raw pictures as a network sees them."""
        if isinstance(raw, np.ndarray | Tensor):
            pictures = self._batch(_numpy(raw))
            if pictures.shape[1:] == (*self.size, self.channels):  # nothing to resize, so all at once
                return self.scaled(np.moveaxis(pictures, 3, 1))
            raw = list(pictures)
        refuse_data_set(raw)
        several = raw if isinstance(raw, Sequence) and not isinstance(raw, str | bytes) else [raw]
        done = np.empty((len(several), *self.input_shape), np.uint8)
        for number, picture in enumerate(several):
            done[number] = self.resized(picture)
        return self.scaled(done)

    def resized(self, picture: object) -> NDArray[np.uint8]:
        """Return one raw picture as bytes ``[channels, height, width]``."""
        height, width = self.size
        with opened(picture) as image:
            from PIL import Image, ImageOps

            if image is not picture:  # what a user holds stays as it is
                # A JPEG can be decoded at a half, a quarter or an eighth of its size, many times as fast.
                image.draft(None, (2 * max(self.size), 2 * max(self.size)))
            image = _eight_bits(ImageOps.exif_transpose(image)).convert("RGB" if self.channels == 3 else "L")
            if image.size != (width, height):
                image = ImageOps.fit(image, (width, height), Image.Resampling.BILINEAR)
            pixels = np.asarray(image, dtype=np.uint8)
        return np.moveaxis(pixels.reshape(height, width, self.channels), 2, 0)

    def scaled(self, pixels: NDArray[np.uint8]) -> Tensor:
        """Return bytes ``[..., channels, height, width]`` as a network sees them."""
        x = torch.from_numpy(np.ascontiguousarray(pixels, dtype=np.float32))
        shift, scale = (torch.tensor(values).reshape(-1, 1, 1) for values in (self.shift, self.scale))
        return (x - shift) / scale

    def describe(self) -> str:
        """Return what is done."""
        kind = "colour" if self.channels == 3 else "grey"
        plain = self.shift == (0.0,) and self.scale == (255.0,)
        scaling = "bytes from 0 to 1" if plain else "bytes shifted and scaled by channel"
        return f"{kind} pictures of {self.size[0]} × {self.size[1]} pixels, {scaling}"

    def _batch(self, array: NDArray[Any]) -> NDArray[np.uint8]:
        """Return an array of several pictures as bytes with channels last."""
        alone = array.ndim == 3 and (
            (array.shape[2] in (3, 4) and array.shape[1:] != self.size)
            or (self.channels == 3 and array.shape[0] in (1, 3))
        )
        if array.ndim not in (3, 4) or alone:
            raise DataError(
                "an array of pictures is [pictures, height, width], with channels last, first or none; got one of "
                f"shape {array.shape}. A single picture is picture[None]"
            )
        return _bytes(array[..., None] if array.ndim == 3 else _channels_last(array))


def check_pillow() -> None:
    """Refuse to go on where the package that reads pictures is not installed."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError as error:
        raise DataError(
            "reading pictures needs the package pillow, which is not installed; install it, or dovetail-nn[vision]"
        ) from error


@contextmanager
def opened(picture: object) -> Iterator[Image.Image]:
    """Open a raw picture without decoding it, once its header says that it is not too large.

    Raises
    ------
    DataError
        For one that cannot be read, now or while it is being decoded, naming it.
    """
    check_pillow()
    from PIL import Image

    name = _name(picture)
    try:
        with _source(picture, name) as source:
            image = source if isinstance(source, Image.Image) else Image.open(source, formats=FORMATS)
            width, height = image.size
            if width * height > MOST_PIXELS:
                raise DataError(_too_large(name, f"{width:,} × {height:,}"))
            yield image
    except DataError:
        raise
    except Image.DecompressionBombError:
        raise DataError(_too_large(name, "far more")) from None
    except Exception as error:  # decoders of damaged files raise errors of all kinds
        reason = getattr(error, "strerror", None) or str(error).partition(" <")[0] or type(error).__name__
        raise DataError(
            f"{name} cannot be read as a picture ({reason}); replace it or take it out"
        ) from error


@contextmanager
def _source(picture: object, name: str) -> Iterator[Image.Image | IO[bytes]]:
    """Open what a picture is read from."""
    from PIL import Image

    if isinstance(picture, str | Path):
        if not Path(picture).is_file():
            raise DataError(f"there is no picture {name}; check the path")
        with Path(picture).open("rb") as file:
            yield file
    elif isinstance(picture, np.ndarray | Tensor):
        yield Image.fromarray(_one(_numpy(picture)))
    elif isinstance(picture, Image.Image):
        yield picture
    elif hasattr(picture, "read"):
        yield cast(IO[bytes], picture)
    else:
        raise DataError(
            f"a picture is a path, an open file, a Pillow image or an array, not {type(picture).__name__}"
        )


def is_grey(image: Image.Image) -> bool:
    """Return whether a picture has no colours, by its header."""
    return image.mode in ("1", "L", "LA", "La", "F") or image.mode.startswith("I")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Return a picture of 16 bits as one of 8, which Pillow would cut off at 255; and one of indices as colours."""
    from PIL import Image

    if image.mode.startswith("I"):
        return Image.fromarray(np.clip(np.asarray(image) // 257, 0, 255).astype(np.uint8))
    if image.mode == "F":
        raise ValueError("it holds measured values, not colours")
    return image.convert("RGBA") if image.mode == "P" else image


def _numpy(array: NDArray[Any] | Tensor) -> NDArray[Any]:
    return array.detach().cpu().numpy() if isinstance(array, Tensor) else array


def _one(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Return an array that is one picture as Pillow takes it."""
    if array.ndim not in (2, 3):
        raise DataError(
            f"a picture is an array [height, width] with channels last or first; got {array.shape}"
        )
    pixels = _bytes(array if array.ndim == 2 else _channels_last(array[None])[0])
    return pixels[..., 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels


def _channels_last(array: NDArray[Any]) -> NDArray[Any]:
    """Return pictures ``[pictures, height, width, channels]``, whichever place the channels have."""
    if array.shape[3] in (1, 3, 4):
        return array
    if array.shape[1] in (1, 3, 4):
        return np.moveaxis(array, 1, 3)
    raise DataError(f"pictures have 1, 3 or 4 channels, last or first; got an array of shape {array.shape}")


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Return pixels as bytes: whole numbers from 0 to 255, fractions from 0 to 1, or truth values."""
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind not in "buif" or not array.size:
        raise DataError(f"a picture holds numbers; got an array of type {array.dtype}, shape {array.shape}")
    most = 255 if array.dtype.kind in "ui" else 1
    low, high = array.min(), array.max()
    if not (low >= 0 and high <= most):  # NaN fails both
        raise DataError(
            f"pixels go from {low} to {high}; give bytes from 0 to 255 (as uint8), or fractions from 0 to 1"
        )
    pixels: NDArray[np.uint8] = np.rint(array.astype(np.float32) * (255 / most)).astype(np.uint8)
    return pixels


def _name(picture: object) -> str:
    """Return what messages call a picture."""
    if isinstance(picture, str | Path):
        return str(picture)
    name = getattr(picture, "filename", None) or getattr(picture, "name", None)
    return str(name) if name else "a picture"


def _too_large(name: str, size: str) -> str:
    return f"{name} has {size} pixels, and {MOST_PIXELS:,} are the most; make it smaller or take it out"
