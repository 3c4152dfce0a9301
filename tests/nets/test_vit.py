"""The small vision transformer: torch's own blocks compute the same, members train as alone, parts average logits."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LRScheduler

import dovetail as dt
from dovetail.errors import ShapeError, SpecError
from dovetail.nets import build_net
from dovetail.nets.vit import LayerNorms
from dovetail.population import AdamW, Population

from ..population.helpers import DEVICES, distance, images, plain_loop

SMALL = "vit:12,patch=4,depth=2,heads=3"


def torchs_block(tensors: Mapping[str, Tensor], width: int, heads: int) -> nn.Module:
    """Return torch's encoder layer with the weights of one of ours."""
    block = nn.TransformerEncoderLayer(
        width, heads, 4 * width, dropout=0, activation="gelu", batch_first=True, norm_first=True
    )
    ours = {
        "query": "attend.attention.query",
        "key": "attend.attention.key",
        "value": "attend.attention.value",
    }
    weights = [tensors[f"{name}.weight"] for name in ours.values()]
    query_bias, value_bias = (tensors[f"{ours[name]}.bias"] for name in ("query", "value"))
    places = {
        "self_attn.out_proj": "attend.attention.together", "linear1": "dense.dense1", "linear2": "dense.dense2",
        "norm1": "attend.norm", "norm2": "dense.norm",
    }  # fmt: skip
    block.load_state_dict(
        {
            "self_attn.in_proj_weight": torch.cat(weights),
            "self_attn.in_proj_bias": torch.cat([query_bias, torch.zeros(width), value_bias]),
        }
        | {
            f"{to}.{kind}": tensors[f"{of}.{kind}"]
            for to, of in places.items()
            for kind in ("weight", "bias")
        }
    )
    return block.eval()


def test_blocks_are_torchs() -> None:
    net = build_net("vit:12,patch=2,depth=2,heads=3", (2, 8, 6), 5, seed=0).eval()
    tensors = {name: t + 0.1 * torch.randn(t.shape) for name, t in net.state_dict().items()}
    net.load_state_dict(tensors)
    x = torch.randn(4, 2, 8, 6)
    patches = nn.functional.unfold(x, 2, stride=2).transpose(1, 2)  # [samples, tokens, channels of a patch]
    weight, bias = tensors["patches.conv.weight"].flatten(1), tensors["patches.conv.bias"]
    stream = patches @ weight.T + bias + tensors["positions.table"]
    assert stream.shape == (4, 12, 12)
    for number in (1, 2):
        name = f"block{number}."
        own = {key.removeprefix(name): t for key, t in tensors.items() if key.startswith(name)}
        stream = torchs_block(own, 12, 3)(stream)
    normed = nn.functional.layer_norm(stream, (12,), tensors["norm.weight"], tensors["norm.bias"])
    wanted = normed.mean(1) @ tensors["output.weight"].T + tensors["output.bias"]
    with torch.no_grad():
        torch.testing.assert_close(net(x), wanted, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
def test_members_end_like_networks_trained_alone(device: str) -> None:
    def schedule(optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
        return CosineAnnealingLR(optimizer, steps)

    split = images(60, dtype=torch.float64)
    build, seeds = dt.net_builder(SMALL, (1, 8, 8), 5), [0, 3]
    population = Population(build, seeds, device=device, dtype=torch.float64)
    alone = [population.member(number) for number in range(2)]
    population.fit(
        split,
        epochs=2,
        batch_size=16,
        optimizer=AdamW(1e-3),
        schedule="cosine",
        clip_gradient=1.0,
        progress=False,
    )
    for member, network in enumerate(alone):
        plain_loop(
            network, split.to(device), seeds[member], epochs=2, batch_size=16, optimizer=AdamW(), lr=1e-3,
            schedule=schedule, clip=1.0,
        )  # fmt: skip
        assert distance(network, population.params, member) < 1e-9


def test_in_bfloat16_members_end_nearly_like_networks_trained_alone() -> None:
    split = images(60)
    population = Population(dt.net_builder(SMALL, (1, 8, 8), 5), [0, 3], device="cpu")
    alone = population.member(1)
    population.fit(split, epochs=1, batch_size=16, autocast="bfloat16", progress=False)
    plain_loop(
        alone, split, 3, epochs=1, batch_size=16, optimizer=AdamW(weight_decay=0.0), lr=1e-3, autocast=True
    )
    for name, parameter in alone.named_parameters():
        wanted = parameter.detach()
        # Each weight has moved by about 4e-3, four steps of Adam; rounding turns a few of these steps around.
        assert float((population.params[name][1] - wanted).abs().mean()) < 4e-4, name


@pytest.fixture(scope="module")
def data() -> dt.Dataset:
    return dt.load("digits")


@pytest.mark.slow
def test_it_learns_digits_and_its_parts_are_composed_by_their_logits(data: dt.Dataset) -> None:
    team = dt.train_specialists(
        data, "vit:16,patch=2,depth=2", [0, 1, 2], sparsity=0, optimizer="adamw", lr=3e-3, warmup=0.1,
        schedule="cosine", epochs=12, patience=None, device="cpu", progress=False,
    )  # fmt: skip
    whole = dt.compose(team, "logits")
    with torch.no_grad():
        wanted = torch.stack([part(data.test.x) for part in team]).mean(0)
        torch.testing.assert_close(whole(data.test.x), wanted)
    assert whole.evaluate(data.test).rewarded_accuracy > 0.9
    assert whole.without(1) == dt.compose([team[0], team[2]], "logits")


def test_groups_have_layer_norms_of_their_own() -> None:
    torch.manual_seed(0)
    norm, x = LayerNorms(12, 3), torch.randn(2, 5, 12)
    norm.load_state_dict({"weight": torch.rand(12), "bias": torch.rand(12)})
    shares = [
        nn.functional.layer_norm(x[..., part], (4,), norm.weight[part], norm.bias[part])
        for part in torch.arange(12).split(4)
    ]
    torch.testing.assert_close(norm(x), torch.cat(shares, -1))
    assert str(norm).endswith("groups=3)")


GROUPED = "vit:40,patch=4,depth=1,heads=20,groups=10"


@pytest.mark.slow
def test_in_slots_it_is_narrow_transformers_side_by_side(data: dt.Dataset) -> None:
    team = dt.train_specialists(
        data,
        GROUPED,
        [0, 1, (2, 3)],
        slots=True,
        epochs=1,
        lr=3e-3,
        temperature=1.0,
        progress=False,
        device="cpu",
    )
    x = data.test.x[:50]
    with torch.no_grad():
        wanted = sum(part.module()(x) for part in team)
        torch.testing.assert_close(dt.compose(team).module()(x), wanted, atol=1e-5, rtol=1e-4)
    assert dt.compose(team) - team[1] == team[0] + team[2]
    tensors = team[1].state_dict()
    narrow = build_net("vit:4,patch=4,depth=1,heads=2", (1, 8, 8), 10).eval()
    own = slice(4, 8)
    state = {}
    for name, like in narrow.state_dict().items():
        wide = tensors[name]
        if name.startswith("output"):
            state[name] = wide[:, own] if wide.dim() > 1 else wide
        elif name == "positions.table":
            state[name] = wide[:, own]
        elif "dense1" in name:
            state[name] = wide[16:32] if wide.dim() == 1 else wide[16:32, own]
        elif "dense2.weight" in name:
            state[name] = wide[own, 16:32]
        elif wide.dim() == 2:
            state[name] = wide[own, own]
        else:
            state[name] = wide[own]
        assert state[name].shape == like.shape
    narrow.load_state_dict(state)
    with torch.no_grad():
        torch.testing.assert_close(narrow(x), team[1].module()(x), atol=1e-5, rtol=1e-4)


@pytest.mark.slow
def test_narrow_transformers_in_slots_learn_digits(data: dt.Dataset) -> None:
    team = dt.train_specialists(
        data, "vit:160,patch=2,depth=2,heads=20,groups=10", slots=True, optimizer="adamw", lr=3e-3, warmup=0.1,
        schedule="cosine", epochs=15, patience=None, temperature=1.0, device="cpu", progress=False,
    )  # fmt: skip
    assert dt.compose(team).evaluate(data.test).rewarded_accuracy > 0.7


def test_what_stands_in_the_way_of_slots_is_named(data: dt.Dataset) -> None:
    with pytest.raises(
        SpecError, match=r"^vit:20,depth=1 cannot be shared out in slots: .*layer_norm in module"
    ) as no:
        dt.train_specialists(data, "vit:20,depth=1", slots=True, epochs=1, progress=False)
    assert "brings units of all owners together" in str(no.value)
    assert "the method 'logits'" in str(no.value)


def test_images_of_cifars_shape() -> None:
    net = build_net("vit:32,depth=1", (3, 32, 32), 10)
    assert net(torch.zeros(2, 3, 32, 32)).shape == (2, 10)
    assert tuple(net.get_parameter("positions.table").shape) == (64, 32)


def test_what_cannot_be_built_is_said() -> None:
    with pytest.raises(SpecError, match="vit:10 does not divide into 4 heads"):
        dt.net_builder("vit:10", (1, 8, 8), 2)
    with pytest.raises(SpecError, match="vit has 4 heads, which do not divide into 3 groups"):
        dt.net_builder("vit:12,groups=3", (1, 8, 8), 2)
    with pytest.raises(ShapeError, match="patches of 4 x 4 pixels, and 8 x 6 does not divide so"):
        dt.net_builder("vit", (1, 8, 6), 2)
    with pytest.raises(SpecError, match="'depth' of vit must be a whole number"):
        dt.net_builder("vit,depth=0", (1, 8, 8), 2)
