"""Through which layers a positive factor passes unchanged, so that rescaling keeps what a network computes."""

from __future__ import annotations

from torch import nn

from ...errors import ShapeError

_HOMOGENEOUS = (
    nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ReLU, nn.LeakyReLU, nn.Identity, nn.Flatten, nn.Unflatten,
    nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d,
    nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d,
    nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d,
    nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d,
)  # fmt: skip
"""Layers between which a positive factor may move."""


def check_homogeneous(model: nn.Module) -> None:
    """Refuse a network with a layer that does not let a factor through; functions in its code are not seen.

    Examples
    --------
    >>> check_homogeneous(nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)))
    """
    for name, module in model.named_modules():
        if not list(module.children()) and not isinstance(module, _HOMOGENEOUS):
            raise ShapeError(
                f"{name or 'the network'} is {type(module).__name__}, which does not let a factor through; rescaling "
                "keeps what a network computes only if its activations are ReLU and there is no normalisation"
            )
