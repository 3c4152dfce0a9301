"""State dictionaries of known families say as much as the networks themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import dovetail as dt
from dovetail.errors import ShapeError
from dovetail.graph import network_graph
from dovetail.graph.matrices import family_of

from .networks import randomise

IDS = torch.zeros(1, 4, dtype=torch.long)
WIDTH, HEADS = 6, 2


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    heads = (x.unflatten(-1, (HEADS, -1)).transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)


def in_order(parts: nn.Module) -> list[Any]:
    """Return the blocks of a network, whose parts go by names that mypy cannot know."""
    return list(parts.children())


def named(**parts: nn.Module) -> nn.ModuleDict:
    """Return modules by names with dots in them, written with two underscores."""
    whole = nn.ModuleDict()
    for name, part in parts.items():
        *folders, last = name.split("__")
        here = whole
        for folder in folders:
            if folder not in here:
                here[folder] = nn.ModuleDict()
            here = here[folder]  # type: ignore[assignment]
        here[last] = part
    return whole


class Bert(nn.Module):
    """Blocks as in BERT: the norm comes after the sum."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = named(word_embeddings=nn.Embedding(9, WIDTH), LayerNorm=nn.LayerNorm(WIDTH))
        blocks = [
            named(
                attention__self__query=nn.Linear(WIDTH, WIDTH), attention__self__key=nn.Linear(WIDTH, WIDTH),
                attention__self__value=nn.Linear(WIDTH, WIDTH), attention__output__dense=nn.Linear(WIDTH, WIDTH),
                attention__output__LayerNorm=nn.LayerNorm(WIDTH), intermediate__dense=nn.Linear(WIDTH, 8),
                output__dense=nn.Linear(8, WIDTH), output__LayerNorm=nn.LayerNorm(WIDTH),
            )
            for _ in range(2)
        ]  # fmt: skip
        self.encoder = named(layer=nn.ModuleList(blocks))
        self.pooler = named(dense=nn.Linear(WIDTH, WIDTH))
        self.position = nn.Parameter(torch.rand(4, WIDTH))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embeddings["LayerNorm"](self.embeddings["word_embeddings"](ids) + self.position)
        for block in in_order(self.encoder["layer"]):
            own, out = block["attention"]["self"], block["attention"]["output"]
            mixed = attend(own["query"](x), own["key"](x), own["value"](x))
            x = out["LayerNorm"](out["dense"](mixed) + x)
            inner = F.gelu(block["intermediate"]["dense"](x))
            x = block["output"]["LayerNorm"](block["output"]["dense"](inner) + x)
        pooled: Tensor = self.pooler["dense"](x[:, 0])
        return pooled


class BertInTraining(Bert):
    """BERT with both heads of its training: masked words, by way of a dense layer and a norm, and the next sentence."""

    def __init__(self) -> None:
        super().__init__()
        heads: Any = named(
            seq_relationship=nn.Linear(WIDTH, 2),
            predictions__transform__dense=nn.Linear(WIDTH, WIDTH),
            predictions__transform__LayerNorm=nn.LayerNorm(WIDTH),
            predictions__decoder=nn.Linear(WIDTH, 9),
        )
        heads["predictions"]["decoder"].weight = self.embeddings["word_embeddings"].weight
        self.cls = heads

    def forward(self, ids: Tensor) -> Any:
        stream: list[Tensor] = []
        last = in_order(self.encoder["layer"])[-1]["output"]["LayerNorm"]
        hook = last.register_forward_hook(lambda *given: stream.append(given[2]))
        follows = self.cls["seq_relationship"](super().forward(ids))
        hook.remove()
        predictions: Any = self.cls["predictions"]
        inner = F.gelu(predictions["transform"]["dense"](stream[0]))
        return follows, predictions["decoder"](predictions["transform"]["LayerNorm"](inner))


class Turned(nn.Module):
    """A dense layer whose weight is ``[inputs, outputs]``."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.rand(inputs, outputs)), nn.Parameter(torch.rand(outputs))

    def forward(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bias, x.reshape(-1, x.shape[-1]), self.weight).view(*x.shape[:-1], -1)


class Gpt(nn.Module):
    """Blocks as in GPT-2: one matrix for queries, keys and values, the norm before, weights turned, tokens tied."""

    def __init__(self) -> None:
        super().__init__()
        blocks = [
            named(
                ln_1=nn.LayerNorm(WIDTH), attn__c_attn=Turned(WIDTH, 3 * WIDTH), attn__c_proj=Turned(WIDTH, WIDTH),
                ln_2=nn.LayerNorm(WIDTH), mlp__c_fc=Turned(WIDTH, 8), mlp__c_proj=Turned(8, WIDTH),
            )
            for _ in range(2)
        ]  # fmt: skip
        self.transformer = named(
            wte=nn.Embedding(9, WIDTH), h=nn.ModuleList(blocks), ln_f=nn.LayerNorm(WIDTH)
        )
        self.lm_head = nn.Linear(WIDTH, 9, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.transformer["wte"](ids)
        for block in in_order(self.transformer["h"]):
            q, k, v = block["attn"]["c_attn"](block["ln_1"](x)).chunk(3, -1)
            x = x + block["attn"]["c_proj"](attend(q, k, v))
            x = x + block["mlp"]["c_proj"](F.gelu(block["mlp"]["c_fc"](block["ln_2"](x))))
        logits: Tensor = self.lm_head(self.transformer["ln_f"](x))
        return logits


class Llama(nn.Module):
    """Blocks with gated dense layers."""

    def __init__(self) -> None:
        super().__init__()
        blocks = [
            named(
                input_layernorm=nn.RMSNorm(WIDTH), post_attention_layernorm=nn.RMSNorm(WIDTH),
                self_attn__q_proj=nn.Linear(WIDTH, WIDTH), self_attn__k_proj=nn.Linear(WIDTH, WIDTH),
                self_attn__v_proj=nn.Linear(WIDTH, WIDTH), self_attn__o_proj=nn.Linear(WIDTH, WIDTH),
                mlp__gate_proj=nn.Linear(WIDTH, 8), mlp__up_proj=nn.Linear(WIDTH, 8),
                mlp__down_proj=nn.Linear(8, WIDTH),
            )
        ]  # fmt: skip
        self.model = named(
            embed_tokens=nn.Embedding(9, WIDTH), layers=nn.ModuleList(blocks), norm=nn.RMSNorm(WIDTH)
        )
        self.lm_head = nn.Linear(WIDTH, 9, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.model["embed_tokens"](ids)
        for block in in_order(self.model["layers"]):
            y, own, mlp = block["input_layernorm"](x), block["self_attn"], block["mlp"]
            x = x + own["o_proj"](attend(own["q_proj"](y), own["k_proj"](y), own["v_proj"](y)))
            y = block["post_attention_layernorm"](x)
            x = x + mlp["down_proj"](F.silu(mlp["gate_proj"](y)) * mlp["up_proj"](y))
        logits: Tensor = self.lm_head(self.model["norm"](x))
        return logits


@pytest.mark.parametrize("build", [Bert, BertInTraining, Gpt, Llama])
@pytest.mark.parametrize("prefix", ["", "model."])
def test_transformers_are_read_as_through_their_forward(build: Callable[[], nn.Module], prefix: str) -> None:
    torch.manual_seed(0)
    network = build()
    randomise(network, 0)
    ours = network_graph({prefix + name: tensor for name, tensor in network.state_dict().items()})
    theirs = network_graph(network, IDS)
    assert [group.size for group in ours.groups] == [group.size for group in theirs.groups]
    assert [block.name.removeprefix(prefix) for block in ours.blocks] == [
        block.name.replace("embeddings.word_embeddings#2", "cls.predictions.decoder")
        for block in theirs.blocks
    ]
    np.testing.assert_allclose(ours.adjacency.toarray(), theirs.adjacency.toarray(), rtol=1e-6)
    assert "a transformer whose blocks are named" in str(family_of(network.state_dict()))


class Block(nn.Module):
    """Two convolutions and a shortcut, with or without weights."""

    def __init__(self, before: int, after: int, *, padded: bool) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after)
        self.conv2, self.bn2 = nn.Conv2d(after, after, 3, padding=1), nn.BatchNorm2d(after)
        self.more = (after - before) // 2 if padded else 0
        if before != after and not padded:
            self.downsample = nn.Sequential(nn.Conv2d(before, after, 1), nn.BatchNorm2d(after))

    def forward(self, x: Tensor) -> Tensor:
        y = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        if hasattr(self, "downsample"):
            x = self.downsample(x)
        elif self.more:
            x = F.pad(x, (0, 0, 0, 0, self.more, self.more))
        out: Tensor = (x + y).relu()
        return out


class Residual(nn.Module):
    """A residual network that is named as torchvision's are."""

    def __init__(self, *, padded: bool) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
        self.layer1 = nn.Sequential(Block(4, 4, padded=padded), Block(4, 4, padded=padded))
        self.layer2 = nn.Sequential(Block(4, 8, padded=padded), Block(8, 8, padded=padded))
        self.fc = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.layer2(self.layer1(self.bn1(self.conv1(x)).relu()))
        out: Tensor = self.fc(x.mean((2, 3)))
        return out


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("convention", ["mlp", "cnn"])
def test_residual_networks_are_read_as_through_their_forward(padded: bool, convention: str) -> None:
    network = Residual(padded=padded)
    randomise(network, 0)
    ours, theirs = (
        network_graph(each, x, convention=convention)  # type: ignore[arg-type]
        for each, x in ((network.state_dict(), None), (network, torch.zeros(1, 3, 8, 8)))
    )
    assert [group.size for group in ours.groups] == [group.size for group in theirs.groups]
    np.testing.assert_allclose(ours.adjacency.toarray(), theirs.adjacency.toarray(), rtol=1e-5)


def test_weights_that_have_no_place_in_a_family_are_not_passed_over() -> None:
    state = Residual(padded=False).state_dict()
    state["attention.weight"] = torch.zeros(8, 8)
    assert family_of(state) is None
    with pytest.raises(ShapeError, match="form a chain"):
        network_graph(state)
    tokens = Bert().state_dict()
    tokens["encoder.layer.1.adapter.weight"] = torch.zeros(6, 6)
    assert family_of(tokens) is None


def test_a_chain_is_no_family() -> None:
    assert family_of(dt.build_net("mlp:8-8", (4,), 3).state_dict()) is None


@pytest.mark.filterwarnings("ignore")  # PyTorch advises against its own way to quantise
def test_quantised_modules_are_read_as_the_numbers_they_stand_for() -> None:
    class Static(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()
            self.conv, self.relu, self.fc = nn.Conv2d(2, 4, 3, groups=2), nn.ReLU(), nn.Linear(16, 3)

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.dequant(self.fc(self.relu(self.conv(self.quant(x))).flatten(1)))
            return out

    torch.manual_seed(0)
    x = torch.rand(4, 2, 4, 4)
    network = Static().eval()
    network.qconfig = torch.ao.quantization.get_default_qconfig("x86")
    prepared = torch.ao.quantization.prepare(network)
    prepared(x)
    quantised = torch.ao.quantization.convert(prepared)
    graphs = [network_graph(each, x, convention="mlp") for each in (network, quantised)]
    assert graphs[0].groups == graphs[1].groups
    np.testing.assert_allclose(graphs[0].adjacency.toarray(), graphs[1].adjacency.toarray(), atol=0.05)
    dense = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2))
    dynamic = torch.ao.quantization.quantize_dynamic(dense, {nn.Linear}, dtype=torch.qint8)
    ours, theirs = network_graph(dense), network_graph(dynamic, torch.zeros(1, 6))
    np.testing.assert_allclose(ours.adjacency.toarray(), theirs.adjacency.toarray(), atol=5e-3)
