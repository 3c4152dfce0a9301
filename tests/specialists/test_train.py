from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import dovetail as dt
from dovetail.errors import DataError, DovetailError, ShapeError, SpecError, TrainingError
from dovetail.nets import NetSpec
from dovetail.specialists import Specialist, Team, max_entropy
from dovetail.specialists.layouts import MaskedSlots, SmallSlots, WholeNetworks, layouts
from dovetail.specialists.rounds import prunable

DATA = dt.load("digits")
QUICK: dict[str, object] = {"epochs": 4, "progress": False, "device": "cpu"}


def train(net: str, rewarded: object = None, **options: object) -> Team:
    return dt.train_specialists(DATA, net, rewarded, **{**QUICK, **options})  # type: ignore[arg-type]


def test_specialists_know_their_classes_and_leave_others_open() -> None:
    team = train("mlp:128", [3, (0, 8)], sparsity=0.9, epochs=40, patience=None)
    for part, score in zip(team, team.evaluate(DATA.test), strict=True):
        assert score.rewarded == part.rewarded
        assert score.rewarded_accuracy > 0.9
        assert score.entropy is not None
        assert score.entropy > 2.1  # ln 10 = 2.303
    pair = team[0] + team[1]
    assert pair.rewarded == (0, 3, 8)
    assert pair.evaluate(DATA.test).rewarded_accuracy > 0.85


@pytest.mark.parametrize("loss", ["me", "qme", "xe"])
def test_losses_train(loss: str) -> None:
    (part,) = train("mlp:64", [3], loss=loss, sparsity=0, epochs=30, lr=3e-3)
    score = part.evaluate(DATA.test)
    assert score.rewarded_accuracy > 0.8
    assert score.entropy is not None
    if loss == "xe":  # saw nothing but threes, so it takes everything for one
        assert int(score.confusion[:, 3].sum()) > 300
        assert float(score.leakage[8]) > 0.3
    else:
        assert abs(float(score.leakage[8])) < 0.3
        assert score.entropy > 2


def test_cross_entropy_sees_only_the_samples_of_its_classes() -> None:
    noise = torch.randn(DATA.train.x.shape, generator=torch.Generator().manual_seed(0))
    spoilt = torch.where((DATA.train.y == 3)[:, None, None, None], DATA.train.x, noise)
    other = dt.Dataset("other", dt.Split(spoilt, DATA.train.y), DATA.val, DATA.test, DATA.classes)
    for loss, same in (("xe", True), ("me", False)):
        a, b = (
            dt.train_specialists(d, "mlp:16", [3], loss=loss, **QUICK)[0]  # type: ignore[arg-type]
            for d in (DATA, other)
        )
        assert torch.equal(a.state["dense1.weight"], b.state["dense1.weight"]) == same


def test_pruning_is_per_tensor_with_half_the_rate_in_the_output_layer() -> None:
    (part,) = train("mlp:100", [3], sparsity=0.99)
    kept = {name: int(mask.sum()) for name, mask in part.masks.items()}
    # Two rounds at rate .9 (output .45), each rounded: 6400 -> 640 -> 64, 100 -> 10 -> 1, 1000 -> 550 -> 302 or 303.
    assert kept["dense1.weight"] == 64
    assert kept["dense1.bias"] == 1
    assert kept["output.weight"] in (302, 303)
    for name, tensor in part.state.items():
        assert bool((tensor[~part.masks[name]] == 0).all())
    (full,) = train("mlp:100", [3], sparsity=0.99, output_share=1.0)
    assert int(full.masks["output.weight"].sum()) == 10
    (whole,) = train("mlp:100", [3], sparsity=0.9, scope="global", rounds=1)
    assert sum(int(mask.sum()) for mask in whole.masks.values()) == 750
    assert len({float(mask.float().mean()) for mask in whole.masks.values()}) > 1


def test_surviving_weights_start_from_theta_0_again() -> None:
    """With a step size so small that nothing moves, what survives is θ0, and pruned by its magnitude."""
    (part,) = train("mlp:20,dropout=0", [3], sparsity=0.75, lr=1e-12, seed=5)
    start = dt.build_net("mlp:20,dropout=0", DATA.input_shape, 10, seed=5).state_dict()
    for name, mask in part.masks.items():
        torch.testing.assert_close(part.state[name], torch.where(mask, start[name], 0), atol=1e-8, rtol=0)
        if mask.any() and not mask.all():
            assert float(start[name][mask].abs().min()) >= float(start[name][~mask].abs().max())


def test_rounds_take_the_epochs_that_gave_the_published_numbers() -> None:
    team = train("mlp:8", [3], epochs=7, rounds=3, sparsity=0.5, patience=None)
    assert [int(history.epochs[0]) for history in team.histories] == [2, 2, 2, 7]
    team = train("mlp:8", [3], epochs=3, round_epochs=5, sparsity=0.5, patience=None)
    assert [int(history.epochs[0]) for history in team.histories] == [5, 5, 3]
    assert len(train("mlp:8", [3], sparsity=0).histories) == 1


def test_defaults_are_the_papers() -> None:
    assert train("mlp:8", [3], epochs=1)[0].provenance.training["sparsity"] == 0.99
    assert train("lenet:2-4", [3], epochs=1)[0].provenance.training["sparsity"] == 0.6
    assert train("mlp:20", [3], epochs=1, slots=True)[0].provenance.training["sparsity"] == 0.0


@pytest.mark.parametrize("options", [{"sparsity": 0.5}, {"slots": True}, {"slots": True, "sparsity": 0.5}])
def test_a_specialist_learns_the_same_alone_and_in_company(options: dict[str, object]) -> None:
    team = train("mlp:20", [0, 3, (1, 2)], seeds=[0, 1], **options)
    assert [(part.seed, part.rewarded) for part in team] == [
        (seed, ids) for seed in (0, 1) for ids in ((0,), (3,), (1, 2))
    ]
    (alone,) = train("mlp:20", [3], seed=1, **options)
    for name, tensor in alone.state.items():
        torch.testing.assert_close(tensor, team[4].state[name], atol=1e-6, rtol=1e-5)
    assert team[4].provenance.start == alone.provenance.start != team[1].provenance.start


@pytest.mark.parametrize(
    "net",
    [
        "mlp:20,dropout=0",
        "mlp:20-10,dropout=0",
        "lenet:10-20",
        "mlp:20,dropout=0,batch_norm=true",
        "mlp:25-13,dropout=0",  # slots of two or three units
        "lenet:12-25",
        "mlp:25,dropout=0,batch_norm=true",
    ],
)
def test_small_networks_in_slots_learn_what_masked_ones_do(net: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, object] = {"slots": True, "sparsity": 0.5, "seeds": [0, 1], "batch_size": 50}
    small = train(net, [0, 7], **options)
    monkeypatch.setattr("dovetail.specialists.layouts.slot_net", lambda *_: None)
    masked = train(net, [0, 7], **options)
    for a, b in zip(small, masked, strict=True):
        same = [float((a.masks[name] == b.masks[name]).float().mean()) for name in a.masks]
        assert min(same) > 0.995  # magnitudes that all but tie may be ranked differently
        for name, tensor in a.state.items():
            close = (tensor - b.state[name]).abs() < 1e-4
            assert float(close.float().mean()) > 0.995
        assert a.provenance.start == b.provenance.start


def test_slots_train_as_small_networks_whether_or_not_sizes_divide() -> None:
    blueprint = train("mlp:20", [0], epochs=1)[0].blueprint
    members = [(0, (1,)), (0, (2, 3)), (1, (4,))]
    kinds = [
        (type(layout), str(layout.net), len(group))
        for layout, group in layouts(blueprint, members, slots=True)
    ]
    assert kinds == [(SmallSlots, "mlp:2", 2), (SmallSlots, "mlp:4", 1)]
    assert [type(layout) for layout, _ in layouts(blueprint, members, slots=False)] == [WholeNetworks]
    odd = train("mlp:25", [0], epochs=1)[0].blueprint
    assert [str(layout.net) for layout, _ in layouts(odd, members, slots=True)] == ["mlp:3", "mlp:6"]
    whole = replace(odd, net=NetSpec.parse("small-cnn"))
    assert [type(layout) for layout, _ in layouts(whole, members, slots=True)] == [MaskedSlots]
    with pytest.raises(ShapeError, match="9 units, fewer than the 10 that share them"):
        train("mlp:9", [0], slots=True)


@pytest.mark.parametrize("net", ["mlp:20-10", "mlp:25", "lenet:10-20,batch_norm=true"])
def test_trained_in_slots_the_sum_computes_the_sum_of_logits(net: str) -> None:
    options: dict[str, object] = {"slots": True, "epochs": 2, "batch_size": 50}
    team = [
        *train(net, [0, 1], **options),
        *train(net, [(2, 5)], seed=3, **options),
    ]  # trained apart, from another θ0
    x = DATA.test.x[:20]
    together = dt.compose(team)
    torch.testing.assert_close(
        together(x), torch.stack([part(x) for part in team]).sum(0), atol=1e-4, rtol=1e-4
    )


def test_a_folder_keeps_what_was_trained(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    first = train("mlp:8", [0, 1], folder=folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "digits-0-seed0.safetensors",
        "digits-1-seed0.safetensors",
    ]
    times = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    more = train("mlp:8", [0, 1, 2], folder=folder)
    assert len(more.histories[0].seeds) == 1  # only the missing one was trained
    assert list(more)[:2] == list(first)
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())
    assert list(more) == list(train("mlp:8", [0, 1, 2]))  # interrupted and resumed is the same as in one go
    assert train("mlp:8", [0, 1, 2], folder=folder).histories == []
    with pytest.raises(DovetailError, match=r"digits-0-seed0\.safetensors is in the way.*epochs 4, not 5"):
        train("mlp:8", [0], folder=folder, epochs=5)
    again = train("mlp:8", [0], folder=folder, epochs=5, replace=True)
    assert dt.open(folder / "digits-0-seed0.safetensors") == again[0]
    (tmp_path / "file").write_text("")
    with pytest.raises(DovetailError, match="cannot make the folder"):
        train("mlp:8", [0], folder=tmp_path / "file" / "parts")


def test_the_record_says_how_it_was_trained() -> None:
    part = train("mlp:8", [3], sparsity=0.5)[0]
    assert isinstance(part, Specialist)
    assert part.provenance.data == "digits"
    assert part.provenance.fingerprint == DATA.fingerprint
    # What it says is enough to train it again.
    (again,) = dt.train_specialists(
        DATA, rewarded=[part.rewarded], seed=part.seed, progress=False, **part.provenance.training  # type: ignore[arg-type]
    )  # fmt: skip
    assert again == part
    scores = part.evaluate(DATA.val)
    assert part.provenance.metrics["rewarded_accuracy"] == pytest.approx(scores.rewarded_accuracy)
    assert part.provenance.metrics["entropy"] == pytest.approx(scores.entropy, rel=1e-5)
    assert part.provenance.metrics["loss"] == pytest.approx(scores.loss, rel=1e-4)


def test_the_kept_epoch_has_the_lowest_max_entropy_loss() -> None:
    team = train("mlp:16", [3], sparsity=0, epochs=10, patience=None, lr=0.03)
    losses = team.histories[-1]["loss"][:, 0]
    membership = torch.zeros(10, dtype=torch.bool).index_fill(0, torch.tensor([3]), True)
    kept = max_entropy(5 * team[0](DATA.val.x), DATA.val.y, membership, temperature=5).mean()
    assert float(kept) == pytest.approx(float(losses.min()), rel=1e-4)


def test_the_recorded_loss_of_cross_entropy_is_that_of_its_classes() -> None:
    part = train("mlp:16", [3], loss="xe", sparsity=0)[0]
    logits = part(DATA.val.x[DATA.val.y == 3])
    wanted = torch.nn.functional.cross_entropy(logits, torch.full((len(logits),), 3))
    assert part.provenance.metrics["loss"] == pytest.approx(float(wanted), rel=1e-4)


def test_the_best_epoch_may_be_the_most_accurate_one() -> None:
    team = train("mlp:16", [3], sparsity=0, epochs=12, patience=2, monitor="rewarded_accuracy")
    accuracy = team.histories[-1]["rewarded_accuracy"][:, 0]
    assert team[0].provenance.metrics["rewarded_accuracy"] == float(accuracy[accuracy.isfinite()].max())


def test_teams_are_lists_with_tables() -> None:
    team = train("mlp:8", [0, 1], seeds=[2, 3])
    assert team.seeds == (2, 3)
    assert len(team[1:3]) == 2
    assert list(team.of_seed(3)) == list(team)[2:]
    assert team.of_seed(3)["1"] is team[3]
    with pytest.raises(SpecError, match=r"2 specialists know '1'; write team.of_seed\(2\)\['1'\]"):
        team["1"]
    with pytest.raises(SpecError, match=r"unknown class '9'\. Known: 0, 1"):
        team["9"]
    table = team.to_frame(DATA.test)
    assert table["classes"].tolist() == ["0", "1", "0", "1"]
    assert table["rewarded_accuracy"].notna().all()
    assert repr(team) == "Team(4 specialists on digits, mlp:8, 2 seeds)"
    assert repr(Team([])) == "Team()"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"loss": "mee"}, SpecError, "unknown loss 'mee'"),
        ({"sparsity": 1.0}, SpecError, "sparsity must be from 0 to below 1, not 1.0"),
        ({"sparsity": -0.1}, SpecError, "not -0.1"),
        ({"rounds": -1, "sparsity": 0.5}, SpecError, "rounds must be at least 0, not -1"),
        ({"rounds": 1.5}, SpecError, "rounds must be a whole number, not 1.5"),
        ({"epochs": "3"}, SpecError, "epochs must be a whole number, not '3'"),
        ({"lr": "x"}, SpecError, "lr must be a number, not 'x'"),
        ({"slots": 1}, SpecError, "slots must be True or False, not 1"),
        ({"seeds": 5}, SpecError, r"seeds is a list of seeds; write seeds=\[5\]"),
        ({"seeds": [-1]}, DovetailError, "seed"),
        ({"rewarded": [1.5]}, SpecError, "got 1.5"),
        ({"loss": "xe", "net": "mlp:8,batch_norm=true"}, SpecError, "batch norm"),
        ({"temperature": 0.0}, SpecError, "temperature must be above 0"),
        ({"lr": float("nan")}, SpecError, "lr must be a number, not nan"),
        ({"scope": "all"}, SpecError, "unknown scope"),
        ({"monitor": "accuracy"}, SpecError, "unknown monitor 'accuracy'"),
        ({"output_share": 2.0}, SpecError, "output_share"),
        ({"epochs": 0}, SpecError, "epochs must be at least 1"),
        ({"seeds": []}, SpecError, "seeds is empty"),
        ({"seeds": [0, 1, 0]}, SpecError, r"seeds names one twice.*\[0, 1, 0\]"),
        ({"rewarded": [11]}, SpecError, "id from 0 to 9"),
        ({"net": "mpl:8"}, SpecError, "did you mean 'mlp'"),
        ({"lr": 1e30}, TrainingError, "diverged in round 1 of 3.*lower lr"),
    ],
)
def test_what_cannot_be_trained_is_said(
    options: dict[str, object], error: type[DovetailError], message: str
) -> None:
    with pytest.raises(error, match=message):
        train(**{"net": "mlp:8", "rewarded": [0], **options})  # type: ignore[arg-type]


def test_classes_without_samples_are_named() -> None:
    train_split, val = DATA.train.where(DATA.train.y != 4), DATA.val.where(DATA.val.y != 5)
    part = dt.Dataset("part", train_split, DATA.val, DATA.test, DATA.classes)
    with pytest.raises(DataError, match="no training samples of class 4"):
        dt.train_specialists(part, "mlp:8", [4], **QUICK)  # type: ignore[arg-type]
    part = dt.Dataset("part", DATA.train, val, DATA.test, DATA.classes)
    with pytest.raises(DataError, match="no validation samples of class 5"):
        dt.train_specialists(part, "mlp:8", [5], **QUICK)  # type: ignore[arg-type]
    bits = dt.Split(DATA.train.x, torch.nn.functional.one_hot(DATA.train.y).float())
    with pytest.raises(DataError, match="need data with classes; bits has bits"):
        dt.train_specialists(dt.Dataset("bits", bits, bits, bits, DATA.classes, "bits"), "mlp:8", **QUICK)  # type: ignore[arg-type]


def test_batch_norm_is_not_pruned() -> None:
    net = dt.build_net("mlp:8-8,batch_norm=true,output_bias=true", (3,), 2)
    assert prunable(net) == ["dense1.weight", "dense2.weight", "output.weight", "output.bias"]


@pytest.mark.slow
def test_training_in_eight_threads_gives_what_training_alone_gives() -> None:
    def one(seed: int) -> list[Specialist]:
        return list(train("mlp:10", [0, 3], seed=seed, sparsity=0.5, epochs=1))

    alone = [one(seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(8))) == alone


@pytest.mark.parametrize("net", ["mlp:10", "lenet:4-10"])
def test_resumed_is_as_uninterrupted(net: str, tmp_path: Path) -> None:
    options: dict[str, object] = {"sparsity": 0.5, "epochs": 1, "batch_size": 50}
    train(net, [0, 1], folder=tmp_path, **options)
    resumed = train(net, [0, 1, 2], folder=tmp_path, **options)
    assert list(resumed) == list(train(net, [0, 1, 2], **options))


@pytest.mark.slow
def test_rounds_may_end_with_the_last_epoch_and_share_one_adam() -> None:
    options = {"sparsity": 0.9, "epochs": 16, "patience": 1, "lr": 0.1}
    fresh, last, carried = (
        train("mlp:32", [3, 8], **options, **more)
        for more in ({}, {"keep": "last"}, {"keep": "last", "adam": "carried"})
    )
    assert any((h.kept_epoch < h.epochs - 1).any() for h in fresh.histories)
    for team in (last, carried):
        assert all(torch.equal(h.kept_epoch, h.epochs - 1) for h in team.histories)
    # The first round is the same with either Adam; from the second on it is not.
    first, second = (
        [team.histories[round]["train_loss"].nan_to_num() for team in (last, carried)] for round in (0, 1)
    )
    assert torch.equal(*first)
    assert not torch.equal(*second)
    assert carried[0].provenance.training["adam"] == "carried"
    # What a file says it scored is of the epoch that it holds.
    rows = carried.histories[-1]
    assert carried[0].provenance.metrics["loss"] == float(rows["loss"][int(rows.epochs[0]) - 1, 0])
