from __future__ import annotations

import pytest
import torch
from torch.func import functional_call

import dovetail as dt
from dovetail.errors import MisfitError, SpecError
from dovetail.specialists import incremental_connectivity, max_entropy

from .helpers import inputs, make_specialist, make_team

pytestmark = pytest.mark.filterwarnings("ignore::dovetail.errors.CompatibilityWarning")
SPLIT = dt.Split(inputs(40), torch.arange(40) % 5)


def plain_loss(net: str, state: dict[str, torch.Tensor], rewarded: list[int]) -> float:
    network = dt.build_net(net, (6,), 5).eval()
    membership = torch.zeros(5, dtype=torch.bool).index_fill(0, torch.tensor(rewarded), True)
    with torch.no_grad():
        logits = functional_call(network, state, (SPLIT.x,))
    return float(max_entropy(logits.double(), SPLIT.y, membership, temperature=5.0).mean())


def test_the_path_is_equation_4() -> None:
    a, b = make_specialist((0,)), make_specialist((1, 2))
    found = dt.connectivity([a, b], SPLIT)
    assert found.t.tolist() == pytest.approx([n / 20 for n in range(11)] + [0.5 + n / 20 for n in range(11)])
    ends = [plain_loss("mlp:12", part.state, [0, 1, 2]) for part in (a, b)]
    for t, loss, relative in zip(found.t.tolist(), found.loss.tolist(), found.relative.tolist(), strict=True):
        u, v = (1.0, 2 * t) if t <= 0.5 else (2 * (1 - t), 1.0)
        state = {name: u * tensor + v * b.state[name] for name, tensor in a.state.items()}
        assert loss == pytest.approx(plain_loss("mlp:12", state, [0, 1, 2]), rel=1e-5)
        line = (1 - t) * ends[0] + t * ends[1]
        assert relative == pytest.approx(100 * (loss - line) / line, abs=1e-3)
    assert found.barrier == float(found.relative.max())
    assert found.connected == (found.barrier <= 2)
    assert found.to_frame().shape == (22, 3)
    assert "ant → bee, cat" in repr(found)


def test_every_step_of_a_merge() -> None:
    team = make_team(4)
    steps = incremental_connectivity(team, SPLIT)
    assert [step.first for step in steps] == ["ant", "ant, bee", "ant, bee, cat"]
    alone = dt.connectivity([team[0] + team[1], team[2]], SPLIT)
    assert torch.equal(steps[1].loss, alone.loss)


def test_what_has_no_path_is_refused() -> None:
    a, b = make_team(2)
    with pytest.raises(SpecError, match="two points"):
        dt.connectivity([a, b], SPLIT, points=1)
    with pytest.raises(SpecError, match="several networks"):
        dt.connectivity([dt.compose([a, b], "logits"), make_specialist((2,))], SPLIT)
    with pytest.raises(MisfitError, match="both have class"):
        dt.connectivity([a, a], SPLIT)


def test_batch_norm_is_recomputed_at_every_point() -> None:
    a, b = (make_specialist((n,), "mlp:10,batch_norm=true") for n in (0, 1))
    middle = dt.connectivity([a, b], SPLIT).loss[10]
    merged = dt.compose([a, b], inputs=SPLIT.x)
    assert float(middle) == pytest.approx(
        plain_loss("mlp:10,batch_norm=true", merged.state_dict(), [0, 1]), rel=1e-4
    )
