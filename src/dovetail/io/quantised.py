"""Quantised weights, as the numbers that they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

_PACKED = "._packed_params._packed_params"
"""How PyTorch's quantised modules name a weight with its bias."""

_SHORT_FLOATS = {getattr(torch, name) for name in dir(torch) if name.startswith("float8_")}
"""Of eight bits, with which PyTorch stores numbers and does not compute."""

_WHOLE = {torch.int8, torch.uint8, *_SHORT_FLOATS}


def unpacked(content: Mapping[object, object]) -> Iterator[tuple[object, object]]:
    """Yield names and values; a weight and its bias that are packed together come one by one.

    Examples
    --------
    >>> pair = torch.ones(2, 3), torch.ones(2)
    >>> [name for name, _ in unpacked({"fc._packed_params._packed_params": pair})]
    ['fc.weight', 'fc.bias']
    """
    for name, value in content.items():
        if str(name).endswith(_PACKED) and isinstance(value, tuple) and len(value) == 2:
            yield from zip(
                (str(name).removesuffix(_PACKED) + kind for kind in (".weight", ".bias")), value, strict=True
            )
        else:
            yield name, value


def dequantised(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors of plain numbers in place of quantised ones; scales that were used are left out.

    Examples
    --------
    >>> given = {"fc.weight": torch.tensor([[2, 4]], dtype=torch.int8), "fc.weight_scale": torch.tensor([0.5])}
    >>> dequantised(given)
    {'fc.weight': tensor([[1., 2.]])}
    """
    found: dict[str, Tensor] = {}
    scales = {
        f"{name}_scale"
        for name, tensor in tensors.items()
        if tensor.dtype in _WHOLE and _fits(tensor, tensors.get(f"{name}_scale"))
    }
    for name, tensor in tensors.items():
        if tensor.is_quantized:
            if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
                raise ValueError(
                    f"{name!r:.100} repeats few numbers many times; save them one by one, contiguous"
                )
            found[name] = tensor.dequantize()
        elif f"{name}_scale" in scales:
            scale = tensors[f"{name}_scale"].float()
            rows = scale.reshape(-1, *[1] * (tensor.dim() - 1)) if scale.numel() > 1 else scale.reshape(())
            found[name] = tensor.float() * rows
        elif name not in scales:
            found[name] = tensor.float() if tensor.dtype in _SHORT_FLOATS else tensor
    return found


def _fits(tensor: Tensor, scale: Tensor | None) -> bool:
    """Whether a tensor has one scale, or one for each row."""
    return scale is not None and tensor.dim() >= 1 and scale.numel() in (1, len(tensor))
