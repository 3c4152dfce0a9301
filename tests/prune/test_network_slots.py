"""Slots of any network: found by what it does, and refused where its units meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

from dovetail.errors import DovetailError, ShapeError, SpecError
from dovetail.nets import build_net
from dovetail.prune import slot_masks
from dovetail.prune.network_slots import NetworkSlots


class Net(nn.Module):
    """What the networks below have in common: a function of layers."""

    def __init__(self, body: Callable[[Any, Tensor], Tensor], **layers: nn.Module) -> None:
        super().__init__()
        self.body = body
        for name, layer in layers.items():
            self.add_module(name, layer)

    def forward(self, x: Tensor) -> Tensor:
        return self.body(self, x)


def conv(a: int, b: int, **options: int) -> nn.Conv2d:
    return nn.Conv2d(a, b, 3, padding=1, **options)  # type: ignore[arg-type]


def residual(n: Any, x: Tensor) -> Tensor:
    h = n.norm(n.stem(x)).relu()
    h = (h + n.second(h)).relu()
    h = torch.cat([n.side(h).relu(), h], 1)
    logits: Tensor = n.head(h.mean((2, 3)))
    return logits


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "residual sum and concatenation": lambda: Net(
        residual, stem=conv(1, 12), norm=nn.BatchNorm2d(12), second=conv(12, 12), side=conv(12, 7),
        head=nn.Linear(19, 5),
    ),
    "group norm with groups inside of slots": lambda: nn.Sequential(
        conv(1, 12), nn.GroupNorm(6, 12), nn.ReLU(), conv(12, 9), nn.Flatten(), nn.Linear(9 * 36, 5)
    ),
    "depthwise convolution and prelu": lambda: nn.Sequential(
        conv(1, 9), nn.PReLU(9), conv(9, 9, groups=9), nn.PReLU(9), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(9, 5),
    ),
    "layers defined in another order": lambda: Net(
        lambda n, x: n.last(n.first(x.flatten(1)).tanh()), last=nn.Linear(7, 5, bias=False), first=nn.Linear(36, 7)
    ),
    "two heads": lambda: Net(
        lambda n, x: n.a(n.h(x.flatten(1)).relu()) + n.b(n.h(x.flatten(1)).sigmoid()),
        h=nn.Linear(36, 6), a=nn.Linear(6, 5), b=nn.Linear(6, 5),
    ),
    "a scale of one's own": lambda: Scaled(),
    "heads of attention": lambda: Attends(),
    "heads of attention, fused": lambda: Attends(fused=True),
    "layer norms of shares, and a softmax over places": lambda: Net(
        lambda n, x: n.last(
            (nn.functional.layer_norm(n.first(x).unflatten(1, (6, 2)), (2, 6, 6)).flatten(1, 2).flatten(2).softmax(2))
            .mul(n.first(x).flatten(2)).sum(2)
        ),
        first=conv(1, 12), last=nn.Linear(12, 5),
    ),
    "a transformer of ours with groups": lambda: build_net("vit:24,patch=3,depth=2,heads=12,groups=6", (1, 6, 6), 5),
}  # fmt: skip


def attended(query: Tensor, key: Tensor, value: Tensor, heads: int) -> Tensor:
    """Return what attention with heads side by side gives."""
    q, k, v = (some.unflatten(2, (heads, -1)).transpose(1, 2) for some in (query, key, value))
    taken: Tensor = (q @ k.transpose(2, 3) / 2).softmax(-1) @ v
    return taken.transpose(1, 2).flatten(2)


class Attends(nn.Module):
    """Tokens, each a row of the image, that attend: queries, keys and values of one layer, and six heads."""

    def __init__(self, fused: bool = False) -> None:
        super().__init__()
        self.tokens, self.norm, self.packed = nn.Linear(6, 12), nn.GroupNorm(6, 12), nn.Linear(12, 36)
        self.bias = nn.Parameter(torch.rand(6, 1, 6))
        self.together, self.last = nn.Linear(12, 12), nn.Linear(12, 5)
        self.fused = fused

    def forward(self, x: Tensor) -> Tensor:
        h = self.tokens(x[:, 0])
        q, k, v = (
            self.packed(self.norm(h.flatten(0, 1)).view_as(h)).unflatten(2, (3, 6, 2)).permute(2, 0, 3, 1, 4)
        )
        if self.fused:
            taken = nn.functional.scaled_dot_product_attention(q, k, v)
        else:
            taken = (q @ k.transpose(2, 3) + self.bias).softmax(-1) @ v
        logits: Tensor = self.last((h + self.together(taken.transpose(1, 2).flatten(2))).relu().mean(1))
        return logits


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = conv(1, 6), nn.Linear(6, 5)
        self.gamma = nn.Parameter(torch.rand(6, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.last((self.first(x) * self.gamma).relu().mean((2, 3)))
        return logits


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("owners", [2, 3])
def test_networks_in_slots_add_up(name: str, owners: int) -> None:
    torch.manual_seed(0)
    network = NETWORKS[name]().eval()
    slots = NetworkSlots(network, torch.zeros(1, 1, 6, 6), owners)
    x = torch.rand(4, 1, 6, 6)
    state = {
        key: tensor + torch.rand(tensor.shape) if tensor.is_floating_point() else tensor
        for key, tensor in network.state_dict().items()
    }
    masks = [slots.masks([owner]) for owner in range(owners)]
    parts = [
        {key: torch.where(mask[key], t, torch.zeros_like(t)) for key, t in state.items()} for mask in masks
    ]
    added = {
        key: sum(part[key] for part in parts) if t.is_floating_point() else t for key, t in state.items()
    }
    with torch.no_grad():
        outputs = [functional_call(network, part, (x,)) for part in parts]
        torch.testing.assert_close(functional_call(network, added, (x,)), sum(outputs))  # type: ignore[arg-type]
        assert not torch.allclose(outputs[0], outputs[1])
    hidden = [
        key
        for key in masks[0]
        if masks[0][key].dim() and not key.startswith(("head", "last", "output", "a.", "b."))
    ]
    shared = [key for key in hidden if bool((masks[0][key] & masks[1][key]).any())]
    assert set(shared) <= {"6.bias", "5.bias"}, "outputs' biases alone may be everybody's"


@pytest.mark.parametrize(
    "spec", ["mlp:12-9", "mlp:12,batch_norm=true", "lenet:6-9-12", "resnet18:7", "vgg11:5"]
)
def test_it_finds_what_shapes_tell_of_our_own_networks(spec: str) -> None:
    shape = (3, 32, 32) if spec.startswith(("resnet", "vgg")) else (1, 28, 28)
    network = build_net(spec, shape, 3, seed=0).eval()
    slots = NetworkSlots(network, torch.zeros(1, *shape), 3)
    for owner in ({0}, {1, 2}):
        by_shape = slot_masks(network.state_dict(), owner, 3)
        found = slots.masks(owner)
        for name, mask in by_shape.items():
            if mask.dim():
                assert torch.equal(found[name], mask), name


class Own(nn.Module):
    def __init__(self, what: str) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(36, 6), nn.Linear(6, 5)
        self.norm, self.groups, self.prelu = nn.LayerNorm(6), nn.GroupNorm(1, 6), nn.PReLU()
        self.square, self.mix = nn.Linear(36, 36), nn.MultiheadAttention(6, 2, batch_first=True)
        self.steps, self.places = nn.LSTM(6, 6, batch_first=True), nn.Linear(6, 6)
        self.what = what

    def forward(self, x: Tensor) -> Tensor:
        x = x.flatten(1)
        h = self.first(x)
        match self.what:
            case "layer norm":
                h = self.norm(h)
            case "group norm":
                h = self.groups(h)
            case "softmax":
                h = h.softmax(1)
            case "one number":
                h = self.prelu(h)
            case "maximum":
                h = h - h.amax(1, keepdim=True)
            case "inputs":
                h = self.first(x + self.square(x))
            case "attention":
                h = self.mix(h[:, None], h[:, None], h[:, None])[0][:, 0]
            case "fused attention":
                h = nn.functional.scaled_dot_product_attention(h[:, None], h[:, None], h[:, None])[:, 0]
            case "heads of several owners":
                h = attended(h[:, None], h[:, None], h[:, None], 3)[:, 0]
            case "values of other owners":
                h = attended(h[:, None], h[:, None], h[:, None].flip(2), 2)[:, 0]
            case "values of other owners, fused":
                q, v = (some[:, None].unflatten(2, (2, 3)).transpose(1, 2) for some in (h, h.flip(1)))
                h = nn.functional.scaled_dot_product_attention(q, q, v).flatten(1)
            case "scores of all heads":
                q = h.unflatten(1, (2, 1, 3))
                h = (h.unflatten(1, (2, 3)) * (q @ q.transpose(2, 3)).mean(1)).flatten(1)
            case "softmax over heads":
                q = h.unflatten(1, (2, 1, 3))
                h = ((q @ q.transpose(2, 3)).softmax(1) @ q).flatten(1)
            case "recurrent":
                h = self.steps(h[:, None])[0][:, 0]
            case "mixed places":
                h = self.places(h[..., None].expand(-1, -1, 6)).mean(-1)
            case "weights":
                h = h @ (self.last.weight.T @ self.last.weight)
            case "hidden":
                h = h * (torch.linalg.vector_norm(h.detach(), dim=1, keepdim=True) + 1).detach()
        logits: Tensor = self.last(h.relu())
        return logits


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("layer norm", "layer_norm in module 'norm'.*brings units of all owners together"),
        ("group norm", "group_norm in module 'groups'.*brings units"),
        ("softmax", "softmax.*brings units"),
        ("one number", "prelu.*belongs to units of several owners"),
        ("maximum", "torch.Tensor.amax.*brings units of all owners together"),
        ("inputs", "adds its units to the network's inputs"),
        ("attention", "layer 'mix.query' .*a piece of a parameter, in module 'mix' .MultiheadAttention"),
        ("fused attention", "scaled_dot_product_attention.*its heads bring units of all owners together"),
        ("heads of several owners", "matmul.*its heads bring units of all owners together"),
        ("values of other owners", "matmul.*its heads bring units of all owners together"),
        ("values of other owners, fused", "scaled_dot_product.*its heads bring units of all owners together"),
        ("scores of all heads", "torch.Tensor.mean.*brings units of all owners together"),
        ("softmax over heads", "softmax.*brings units of all owners together"),
        ("recurrent", "lstm in module 'steps'.*only dense layers and convolutions can be shared out"),
        ("mixed places", "linear in module 'places'.*its weights are those of all units"),
        ("weights", "computes its weights"),
        ("hidden", "cannot follow"),
    ],
)
def test_what_stands_in_the_way_is_named(what: str, says: str) -> None:
    with pytest.raises(SpecError, match=says) as refused:
        NetworkSlots(Own(what).eval(), torch.zeros(1, 36), 2)
    assert "method 'logits'" in str(refused.value)


def test_a_layer_with_too_few_units_is_named() -> None:
    with pytest.raises(ShapeError, match="layer 'first' has only 6"):
        NetworkSlots(Own("").eval(), torch.zeros(1, 36), 7)


def test_what_no_rule_notices_is_noticed_by_trying(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.prune.network_slots._NORMS", set())
    with pytest.raises(DovetailError, match=r"do not add up.*tried with random weights"):
        NetworkSlots(Own("layer norm").eval(), torch.zeros(1, 36), 2)


def test_tensors_that_nothing_depends_on_are_nobodys() -> None:
    masks = NetworkSlots(Own("").eval(), torch.zeros(1, 36), 2).masks({0})
    assert not masks["norm.weight"].any()
    assert masks["last.bias"].all()
