from __future__ import annotations

import copy
import pickle
import warnings
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import dovetail as dt
from dovetail.errors import CompatibilityWarning, DataError, MisfitError, ShapeError, SpecError
from dovetail.specialists import Composite, Part
from dovetail.specialists.merge import METHODS

from .helpers import CLASSES, inputs, make_specialist, make_team

pytestmark = pytest.mark.filterwarnings("ignore::dovetail.errors.CompatibilityWarning")

NETS = {"mlp:12": (6,), "lenet:10-10-5": (1, 6, 6), "mlp:10-10,batch_norm=true": (6,)}


def bits(part: Part) -> dict[str, bytes]:
    return {name: tensor.numpy().tobytes() for name, tensor in part.state_dict().items()}


def test_any_order_of_adding_gives_the_same_bits() -> None:
    team = make_team(4)
    first = bits(team[0] + team[1] + team[2] + team[3])
    for order in permutations(team):
        total = order[0] + (order[1] + order[2]) + order[3]
        assert bits(total) == first
        assert total == sum(team)
        assert hash(total) == hash(sum(team))


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(5)), st.integers(1, 4), st.sampled_from(METHODS))
def test_taking_out_gives_the_same_bits_as_never_adding(order: list[int], gone: int, method: str) -> None:
    team = make_team(5)
    x = inputs(30)
    whole = dt.compose([team[n] for n in order], method, inputs=x)  # type: ignore[call-overload]
    less = whole
    for number in order[:gone]:
        less = less - team[number]
    never = dt.compose([team[n] for n in reversed(order[gone:])], method, inputs=x)  # type: ignore[call-overload]
    assert bits(less) == bits(never)
    assert less == never == whole.without(*order[:gone])
    assert torch.equal(less(x), never(x))


@pytest.mark.parametrize("net", NETS)
def test_the_sum_adds_every_weight_and_bias(net: str) -> None:
    a, b = (make_specialist((n,), net, shape=NETS[net]) for n in (0, 3))
    x = inputs(40, NETS[net])
    pair = dt.compose([a, b], inputs=x)
    merged = pair.state_dict()
    for name in a.blueprint.parameter_names:
        assert torch.equal(merged[name], a.state[name] + b.state[name])
    plain = dt.build_net(net, NETS[net], 5)
    plain.load_state_dict(merged)
    plain.eval()
    torch.testing.assert_close(pair(x), plain(x).detach() / 5, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(pair.module()(x), pair(x), rtol=1e-4, atol=1e-5)
    assert pair.rewarded == (0, 3)
    assert pair.knows == "ant, dog"


@pytest.mark.parametrize("net", NETS)
def test_in_slots_the_sum_computes_the_sum_of_logits(net: str) -> None:
    team = [make_specialist((n,), net, shape=NETS[net], slots=True, seed=n) for n in range(5)]
    x = inputs(9, NETS[net])
    together = dt.compose(team)  # other θ0, and batch norm without inputs: neither matters in slots
    torch.testing.assert_close(
        together(x), torch.stack([part(x) for part in team]).sum(0), rtol=1e-4, atol=1e-4
    )
    assert float(together(x).std()) > 1e-3
    for other in (
        dt.compose(team, "ties"),
        dt.compose(team, "calibrated", inputs=x),
    ):  # nothing to mend in slots
        torch.testing.assert_close(other(x), together(x), rtol=1e-3, atol=1e-3)


def test_batch_norm_statistics_are_those_of_the_merged_network() -> None:
    net = "mlp:10,batch_norm=true"
    a, b = (make_specialist((n,), net) for n in (0, 1))
    with pytest.raises(SpecError, match=r"batch norm.*inputs="):
        a + b
    x = inputs(64)
    state = dt.compose([a, b], inputs=x).state_dict()
    hidden = x @ state["dense1.weight"].T
    torch.testing.assert_close(state["dense1_norm.running_mean"], hidden.mean(0), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(state["dense1_norm.running_var"], hidden.var(0), rtol=1e-4, atol=1e-5)
    fitted = dt.compose([a, b], "calibrated", inputs=x)
    assert fitted.coefficients != (1.0, 1.0)
    assert torch.equal(
        fitted(x), dt.Composite([a, b], "calibrated", coefficients=fitted.coefficients, inputs=x)(x)
    )
    third = make_specialist((2,), net)
    assert dt.compose([a, b], inputs=x) + third == dt.compose([a, b, third], inputs=x)


def test_parts_are_frozen() -> None:
    """What was hashed once cannot change afterwards."""
    a, b = make_team(2)
    pair = a + b
    before = hash(pair)
    for part, name in (
        (pair, "inputs"),
        (pair, "method"),
        (pair, "anything"),
        (a, "weights"),
        (a, "provenance"),
    ):
        with pytest.raises(AttributeError, match=f"frozen.*{name}"):
            setattr(part, name, None)
        with pytest.raises(AttributeError, match=f"frozen.*{name}"):
            delattr(part, name)
    assert hash(pair) == before
    assert copy.deepcopy(pair) == pair == pickle.loads(pickle.dumps(pair))


def test_weights_are_read_only(tmp_path: Path) -> None:
    """Those of copies as well, whichever way they were made."""
    x = inputs(64)
    a, b = (make_specialist((i,), "mlp:10-10,batch_norm=true") for i in range(2))
    pair = dt.compose([a, b], inputs=x)
    assert pair(x).shape == (64, len(CLASSES))  # the network that runs is not part of copies
    reopened = dt.open(pair.save(tmp_path / "pair.safetensors"))
    copies: list[Any] = [pair, copy.deepcopy(pair), pickle.loads(pickle.dumps(pair)), reopened]
    for part in copies:
        assert part == pair
        for mapping in (part.specialists[0].weights, part.statistics):
            name = next(iter(mapping))
            with pytest.raises(TypeError):
                mapping[name] = None
            with pytest.raises(TypeError):
                del mapping[name]
        assert part.digest == pair.digest
    assert copy.deepcopy(a) == a == pickle.loads(pickle.dumps(a))


def test_averaged_logits() -> None:
    team = make_team(3)
    x = inputs()
    apart = torch.stack([part(x) for part in team])
    torch.testing.assert_close(dt.compose(team, "logits")(x), apart.mean(0), rtol=1e-5, atol=1e-6)
    weighted = dt.compose(team[::-1], "logits", weights=[3, 2, 1])
    torch.testing.assert_close(weighted(x), (apart * torch.tensor([1, 2, 3.0])[:, None, None]).sum(0) / 6)
    torch.testing.assert_close(weighted.module()(x), weighted(x), rtol=1e-5, atol=1e-6)
    less = weighted.without("bee")
    torch.testing.assert_close(less(x), (apart[0] + 3 * apart[2]) / 4, rtol=1e-5, atol=1e-6)
    assert weighted.replace(team[0], make_specialist((3,))).weights == (
        2,
        3,
        1,
    )  # its weight stays in its place


def test_coefficients_bring_the_sum_nearer_to_the_summed_logits() -> None:
    team = make_team(3)
    x = inputs(200)
    wanted = torch.stack([part(x) for part in team]).sum(0).log_softmax(1)

    def distance(part: Part) -> float:
        return float(
            nn.functional.kl_div(part(x).log_softmax(1), wanted, log_target=True, reduction="batchmean")
        )

    plain, fitted = dt.compose(team), dt.compose(team, "calibrated", inputs=x)
    assert distance(fitted) < 0.9 * distance(plain)
    slots = make_team(3, "mlp:15", slots=True)
    factors = dt.compose(slots, "calibrated", inputs=x).coefficients
    assert factors == pytest.approx([1, 1, 1], abs=1e-3)  # nothing to mend
    with pytest.raises(SpecError, match="inputs="):
        dt.compose(team, "calibrated")


def test_replacing_a_member() -> None:
    team = make_team(3)
    other = make_specialist((1,), density=0.9)
    assert sum(team).replace(team[1], other) == team[0] + other + team[2]  # type: ignore[union-attr]
    with pytest.raises(MisfitError, match="is not in"):
        (team[0] + team[2]).replace(team[1], other)
    with pytest.raises(MisfitError, match="both have class ant"):
        (team[0] + team[2]).replace(team[2], make_specialist((0,), density=0.9))


def test_taking_out_what_is_not_there_or_not_alone() -> None:
    a, both = make_specialist((0,)), make_specialist((1, 2))
    pair = a + both
    with pytest.raises(MisfitError, match=r"no specialist of .* has class dog"):
        pair.without(3)
    with pytest.raises(MisfitError, match="has class bee together with cat"):
        pair.without("bee")
    with pytest.raises(MisfitError, match="nothing is left"):
        pair.without(0, 1, 2)
    with pytest.raises(MisfitError, match="is not in"):
        pair - make_specialist((4,))
    with pytest.raises(MisfitError, match=r"is not in .* as often as that"):
        pair - dt.compose([a, a], force=True)
    assert pair.without(1, 2) == Composite([a])
    assert pair - (pair - a) == Composite([a])


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"net": "mlp:13"}, r"different networks, mlp:12 and mlp:13"),
        ({"shape": (7,)}, r"different input shapes, \(6,\) and \(7,\)"),
        ({"classes": (*CLASSES[:4], "elk")}, "different class lists"),
        ({"temperature": 1.0}, r"different temperatures, 5\.0 and 1\.0"),
    ],
)
def test_what_cannot_be_added_cannot_be_forced(other: dict[str, object], message: str) -> None:
    parts = [make_specialist((0,)), make_specialist((1,), **other)]  # type: ignore[arg-type]
    for force in (False, True):
        with pytest.raises(MisfitError, match=message) as caught:
            dt.compose(parts, force=force)
        assert repr(parts[0]) in str(caught.value)
        assert repr(parts[1]) in str(caught.value)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({}, {"seed": 1}, "different initial weights"),
        ({"rewarded": (0, 1)}, {}, "both have class bee"),
        ({"net": "mlp:15", "slots": True}, {"net": "mlp:15"}, "keeps to no slot"),
        (
            {"rewarded": (0, 1), "net": "mlp:15", "slots": True},
            {"net": "mlp:15", "slots": True},
            "class and slot bee",
        ),
    ],
)
def test_what_is_unwise_can_be_forced(
    first: dict[str, object], second: dict[str, object], message: str
) -> None:
    parts = [make_specialist(**{"rewarded": (0,), **first}), make_specialist(**{"rewarded": (1,), **second})]  # type: ignore[arg-type]
    with pytest.raises(MisfitError, match=message + r".*force=True"):
        dt.compose(parts)
    with pytest.raises(MisfitError, match=message):
        parts[0] + parts[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert dt.compose(parts, force=True).specialists


def test_composites_of_different_methods_are_not_mixed() -> None:
    a, b, c, d = make_team(4)
    with pytest.raises(SpecError, match="methods 'ties' and 'logits'"):
        dt.compose([a, b], "ties") + dt.compose([c, d], "logits")
    with pytest.raises(SpecError, match=r"keep 0\.5 and 1\.0"):
        dt.compose([a, b], "ties", keep=0.5) + dt.compose([c, d], "ties")
    one, two = (
        dt.compose(pair, "calibrated", inputs=inputs(30, seed=n)) for n, pair in enumerate([(a, b), (c, d)])
    )
    with pytest.raises(SpecError, match="with other inputs"):
        one + two


def test_a_plain_sum_takes_on_the_method_of_what_it_is_added_to() -> None:
    a, b, c, d = make_team(4)
    trimmed = dt.compose([c, d], "ties", keep=0.5)
    for total in ((a + b) + trimmed, trimmed + (a + b), a + trimmed + b, b + (a + trimmed)):
        assert total == dt.compose([a, b, c, d], "ties", keep=0.5)
    left, right = dt.compose([a, b], "logits", weights=[1, 2]), dt.compose([c, d], "logits", weights=[3, 4])
    assert left + right == right + left == dt.compose([a, b, c, d], "logits", weights=[1, 2, 3, 4])


def test_wrong_arguments_are_named() -> None:
    team = make_team(2)
    with pytest.raises(MisfitError, match="nothing to put together"):
        dt.compose([])
    with pytest.raises(SpecError, match="unknown method 'tie'; did you mean 'ties'"):
        dt.compose(team, "tie")  # type: ignore[call-overload]
    with pytest.raises(SpecError, match="not of int"):
        dt.compose([1])  # type: ignore[list-item]
    with pytest.raises(SpecError, match="weights are for method 'logits'"):
        dt.compose(team, weights=[1, 2])
    with pytest.raises(SpecError, match="keep is for method 'ties'"):
        dt.compose(team, keep=0.5)
    with pytest.raises(SpecError, match="above 0 and at most 1; got 3"):
        dt.compose(team, "ties", keep=3)
    with pytest.raises(MisfitError, match="nothing to put together"):
        Composite([])
    with pytest.raises(SpecError, match="unknown layout 'dens'"):
        (team[0] + team[1]).state_dict(layout="dens")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="NaN"):
        dt.compose(team, "calibrated", inputs=torch.full((3, 6), torch.nan))
    with pytest.raises(ShapeError, match="takes samples of shape"):
        dt.compatibility(team, inputs=torch.zeros(3, 7))
    with pytest.raises(DataError, match="not ndarray"):
        dt.compose(team, "calibrated", inputs=np.zeros((3, 6)))  # type: ignore[call-overload]
    for weights in ([1], [0, 0], [-1, 2]):
        with pytest.raises(SpecError, match="2 numbers from 0"):
            dt.compose(team, "logits", weights=weights)
    with pytest.raises(TypeError):
        team[0] + 1
    with pytest.raises(SpecError, match="unknown class"):
        sum(team).without("owl")  # type: ignore[union-attr]


def test_compose_warns_of_what_will_clash_and_plus_does_not() -> None:
    crowded = make_team(5, "mlp:5")
    with pytest.warns(CompatibilityWarning, match=r"paths through these 5 specialists"):
        dt.compose(crowded)
    with pytest.warns(CompatibilityWarning, match=r"says what its 5 specialists say on \d+ % only"):
        dt.compose(crowded, inputs=inputs(50))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sum(crowded)
        dt.compose(crowded, "logits")
        dt.compose(make_team(5, "mlp:15", slots=True))


@pytest.mark.parametrize("method", METHODS)
def test_modules_compile_and_export(method: str) -> None:
    x = inputs(8)
    composite: dt.Composite = dt.compose(make_team(3), method, inputs=x)  # type: ignore[call-overload]
    module = composite.module()
    assert not module.training
    exported = torch.export.export(module, (x,)).module()
    torch.testing.assert_close(exported(x), module(x))
    torch.testing.assert_close(torch.compile(module, backend="aot_eager")(x), module(x))


def test_sparse_export_holds_what_was_kept() -> None:
    a, b = make_team(2)
    for part in (a, a + b, dt.compose([a, b], "logits")):
        dense, sparse = part.state_dict(), part.state_dict(layout="sparse")
        assert list(dense) == list(sparse)
        for name, tensor in sparse.items():
            whole = tensor.to_dense() if tensor.is_sparse else tensor
            assert torch.equal(whole, dense[name])
        assert sparse[next(iter(sparse))].is_sparse
    entries = int((a.masks["dense1.weight"] | b.masks["dense1.weight"]).sum())
    assert (a + b).state_dict(layout="sparse")["dense1.weight"]._nnz() == entries


def test_names_say_what_a_part_is() -> None:
    team = make_team(3)
    assert repr(team[2]).startswith("Specialist(cat, none, mlp:12, ")
    assert repr(team[0] + team[1]) == "Composite(ant, bee: sum of 2 specialists, mlp:12)"
    assert repr(Composite([team[0]])) == "Composite(ant: sum of 1 specialist, mlp:12)"
    kept = sum(int(mask.sum()) for mask in team[0].masks.values())
    assert team[0].sparsity == pytest.approx(1 - kept / (6 * 12 + 12 + 12 * 5))


def test_networks_share_neither_hooks_nor_modules() -> None:
    a = make_specialist((0,))
    one, two = a.blueprint.network(a.state), a.blueprint.network(a.state)
    seen: list[nn.Module] = []
    for module in one.modules():
        module.register_forward_hook(lambda module, _inputs, _outputs: seen.append(module))
    two(inputs())
    assert not seen
    one(inputs())
    assert seen
    one.train()
    assert not two.training
    assert all(tensor.is_meta for tensor in a.blueprint.network().state_dict().values())


@pytest.mark.parametrize("parts", [5, [5], "parts"])
def test_what_is_no_list_of_parts_is_refused(parts: object) -> None:
    with pytest.raises(SpecError, match="give a list of specialists or composites"):
        dt.compose(parts)  # type: ignore[call-overload]
    with pytest.raises(SpecError, match="give a list of specialists or composites"):
        dt.compatibility(parts)  # type: ignore[arg-type]
