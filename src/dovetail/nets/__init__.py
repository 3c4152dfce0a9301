"""Architectures: plain ``torch.nn`` networks from a short text such as ``mlp:512-256,dropout=0.2``.

A network maps a batch to logits. Its last layer is always called ``output``; every activation is a module of
its own, used once, so that hooks and tracers see each of them. A new architecture is one file and one line in
``spec.py``.
"""

from __future__ import annotations

from .build import NetBuilder, build_net, net_builder
from .own import Net, OwnNet, builder_of, net_of
from .seeding import keep_random_state, seeded_build
from .spec import ARCHITECTURES, NetSpec

__all__ = [
    "ARCHITECTURES",
    "Net",
    "NetBuilder",
    "NetSpec",
    "OwnNet",
    "build_net",
    "builder_of",
    "keep_random_state",
    "net_builder",
    "net_of",
    "seeded_build",
]
