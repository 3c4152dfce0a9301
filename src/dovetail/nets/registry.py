"""All architectures by name. A new one is a file of its own and a line here."""

from __future__ import annotations

from .architecture import Architecture
from .lenet import LENET
from .mlp import MLP
from .resnet import RESNET18
from .small_cnn import SMALL_CNN
from .vgg import VGG11, VGG16

ARCHITECTURES: dict[str, Architecture] = {
    architecture.name: architecture
    for architecture in (
        MLP,
        LENET,
        SMALL_CNN,
        VGG11,
        VGG16,
        RESNET18,
    )
}
