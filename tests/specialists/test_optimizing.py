"""Specialists trained with each optimizer, schedule and other option are what a plain loop gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, LRScheduler, OneCycleLR

import dovetail as dt
from dovetail.errors import DovetailError, SpecError
from dovetail.population import SGD, Adam, AdamW
from dovetail.specialists import Specialist, TrainingSettings, audit_drop, max_entropy
from dovetail.specialists.objectives import objective
from dovetail.specialists.train import settled

from ..population.helpers import plain_loop

DATA = dt.load("digits")
TRAINING: dict[str, Any] = {
    "net": "mlp:16,dropout=0", "rewarded": [3, (0, 8)], "sparsity": 0.5, "rounds": 1, "epochs": 3, "patience": None,
    "keep": "last", "temperature": 2.0, "progress": False, "device": "cpu",
}  # fmt: skip
NETWORKS = {
    "mlp": "mlp:16,dropout=0",
    "normed": "lenet:4-12,batch_norm=true",
}


def cosine(optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
    return CosineAnnealingLR(optimizer, steps)


def linear(optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
    return LinearLR(optimizer, 1, 0, steps)


def one_cycle(optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
    return OneCycleLR(optimizer, optimizer.param_groups[0]["lr"], steps, cycle_momentum=False)


def loss_of(part: Specialist, smoothing: float) -> Callable[[Tensor, Tensor], Tensor]:
    """Return the loss in torch's words: soft targets, and no share of any loss of ours."""
    known = torch.zeros(DATA.outputs, dtype=torch.bool)
    known[list(part.rewarded)] = True
    others = torch.full((DATA.outputs,), 1 / DATA.outputs)

    def loss(logits: Tensor, y: Tensor) -> Tensor:
        labels = (1 - smoothing) * F.one_hot(y, DATA.outputs) + smoothing * others
        targets = torch.where(known[y][:, None], labels, others)
        return F.cross_entropy(logits / part.blueprint.temperature, targets)

    return loss


def alone(part: Specialist, options: dict[str, Any], **loop: Any) -> torch.nn.Module:
    """Return its network, trained again from θ0 by a plain loop on what pruning left of it."""
    network = dt.build_net(str(part.blueprint.net), DATA.input_shape, DATA.outputs, seed=part.seed)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.mul_(part.masks[name])
    return plain_loop(
        network, DATA.train, part.seed, epochs=options["epochs"], batch_size=64, masks=part.masks, stream=1, **loop
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*learned nothing")
@pytest.mark.parametrize("net", NETWORKS)
@pytest.mark.parametrize(
    ("options", "optimizer", "loop"),
    [
        ({"lr": 3e-3, "weight_decay": 0.01}, Adam(3e-3, weight_decay=0.01), {}),
        ({"optimizer": "adamw", "lr": 5e-3, "schedule": "cosine"}, AdamW(5e-3), {"schedule": cosine}),
        ({"optimizer": "sgd", "schedule": "linear"}, SGD(0.1), {"schedule": linear}),
        (
            {"optimizer": "sgd", "lr": 0.2, "momentum": 0.8, "nesterov": True, "weight_decay": 1e-3,
             "schedule": "one-cycle", "clip_gradient": 0.05},
            SGD(0.2, 0.8, 1e-3, nesterov=True), {"schedule": one_cycle, "clip": 0.05},
        ),
        ({"label_smoothing": 0.2, "clip_gradient": 0.1}, Adam(), {"clip": 0.1}),
    ],
    ids=["adam", "adamw cosine", "sgd linear", "sgd one-cycle clipped", "smoothed"],
)  # fmt: skip
def test_a_specialist_is_what_a_plain_loop_gives(
    net: str, options: dict[str, Any], optimizer: Adam | SGD, loop: dict[str, Any]
) -> None:
    training = {**TRAINING, "net": NETWORKS[net], **options}
    plain = dt.train_specialists(DATA, **{**TRAINING, "net": NETWORKS[net]})
    for part, usual in zip(dt.train_specialists(DATA, **training), plain, strict=True):
        assert isinstance(optimizer.lr, float)
        network = alone(
            part, training, optimizer=optimizer, lr=optimizer.lr, **loop,
            loss=loss_of(part, training.get("label_smoothing", 0.0)),
        )  # fmt: skip
        for name, parameter in network.named_parameters():
            torch.testing.assert_close(part.state[name], parameter.detach(), rtol=2e-3, atol=2e-4)
        assert any(
            not torch.allclose(part.state[n], usual.state[n], rtol=1e-2, atol=1e-3) for n in part.masks
        )


def test_in_bfloat16_it_is_nearly_what_torch_computes_so() -> None:
    (part,) = dt.train_specialists(DATA, **{**TRAINING, "rewarded": [3]}, autocast="bfloat16")
    (exact,) = dt.train_specialists(DATA, **{**TRAINING, "rewarded": [3]})
    network = alone(part, TRAINING, optimizer=Adam(), lr=1e-3, loss=loss_of(part, 0), autocast=True)
    for name, parameter in network.named_parameters():
        wanted = parameter.detach()
        assert float((part.state[name] - wanted).norm()) < 0.02 * float(wanted.norm())
        assert part.state[name].dtype == torch.float32
    assert any(not torch.equal(part.state[name], exact.state[name]) for name in part.state)


def test_validation_losses_are_measured_without_smoothing() -> None:
    (part,) = dt.train_specialists(DATA, **{**TRAINING, "rewarded": [3]}, label_smoothing=0.5)
    rewarded = torch.zeros(DATA.outputs).index_fill(0, torch.tensor([3]), 1)
    wanted = max_entropy(2 * part(DATA.val.x), DATA.val.y, rewarded, 2.0).mean()
    assert part.provenance.metrics["loss"] == pytest.approx(float(wanted), rel=1e-4)


@pytest.mark.parametrize("loss", ["me", "qme", "xe"])
def test_a_smoothed_loss_is_torchs_on_rewarded_samples_and_the_usual_on_others(loss: str) -> None:
    logits, y = torch.randn(40, 5), torch.randint(0, 5, (40,))
    rewarded = torch.tensor([1, 0, 1, 0, 0])
    found = objective(loss, 2.0, 0.3)(logits, y, rewarded)
    own = rewarded[y].bool()
    wanted = F.cross_entropy(logits / 2, y, reduction="none", label_smoothing=0.3)
    torch.testing.assert_close(found[own], wanted[own])
    torch.testing.assert_close(found[~own], objective(loss, 2.0)(logits, y, rewarded)[~own])


def test_files_hold_how_it_was_trained_and_folders_go_on(tmp_path: Path) -> None:
    options = {
        **TRAINING, "folder": tmp_path, "optimizer": "sgd", "schedule": "cosine", "warmup": 5, "clip_gradient": 1.0,
        "label_smoothing": 0.1, "autocast": "bfloat16",
    }  # fmt: skip
    first = dt.train_specialists(DATA, **options)
    opened = dt.open(tmp_path / "digits-3-seed0.safetensors", Specialist)
    said = opened.provenance.training
    assert [said[name] for name in ("optimizer", "lr", "momentum", "schedule", "warmup", "autocast")] == [
        "sgd", 0.1, 0.9, "cosine", 5, "bfloat16",
    ]  # fmt: skip
    again = dt.train_specialists(DATA, **options)
    assert not again.histories
    assert list(again) == list(first)
    with pytest.raises(DovetailError, match=r"trained otherwise: warmup 5, not 0\.25"):
        dt.train_specialists(DATA, **{**options, "warmup": 0.25})
    renewed = dt.train_specialists(DATA, rewarded=[3], progress=False, device="cpu", **said)  # type: ignore[arg-type]
    assert renewed[0] == opened


def test_files_from_before_there_was_a_choice_were_trained_with_adam() -> None:
    older = {
        "net": "mlp:8",
        "lr": 0.001,
        "weight_decay": 0.0,
        "sparsity": 0.99,
        "rounds": 2,
        "round_epochs": 10,
    }
    assert settled(TrainingSettings.from_provenance(older)) == settled(TrainingSettings(net="mlp:8"))


def test_the_audit_trains_its_networks_in_the_same_way() -> None:
    options = {
        "slots": True, "net": "mlp:40,dropout=0", "epochs": 12, "optimizer": "sgd", "lr": 0.5, "temperature": 2.0,
        "schedule": "cosine", "label_smoothing": 0.1, "device": "cpu", "progress": False,
    }  # fmt: skip
    team = dt.train_specialists(DATA, rewarded=[3, 8], **options)  # type: ignore[arg-type]
    found = audit_drop(dt.compose(team), 8, DATA, device="cpu", progress=False)
    assert found.same_as_never_added
    assert found.scores["generalist"].rewarded_accuracy > 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimizer": "adagrad"}, "unknown optimizer 'adagrad'"),
        ({"momentum": 0.9}, "momentum and nesterov are options of optimizer='sgd', not of 'adam'"),
        ({"optimizer": "adamw", "nesterov": True}, "not of 'adamw'"),
        ({"optimizer": "sgd", "adam": "carried"}, "optimizer='sgd' has none"),
        ({"optimizer": "sgd", "momentum": 1.0}, "momentum must be from 0 to below 1"),
        ({"optimizer": "sgd", "momentum": 0.0, "nesterov": True}, "nesterov looks ahead along the momentum"),
        ({"schedule": "step"}, "unknown schedule 'step'"),
        (
            {"schedule": "cosine", "warmup": 1.0},
            "warmup must be a share of all steps below 1, or a whole number",
        ),
        ({"warmup": True}, "warmup must be"),
        ({"warmup": -1}, "warmup must be"),
        ({"warmup": 10_000}, "a warm-up of 10000 steps, but the fit takes"),
        (
            {"label_smoothing": 1.5},
            "label_smoothing must be from 0.0 to 1.0|label_smoothing must be from 0 to 1",
        ),
        (
            {"label_smoothing": 0.1, "loss": lambda logits, y, rewarded: logits.sum(1)},
            "smooth the labels in your own",
        ),
        ({"clip_gradient": 0.0}, "clip_gradient must be above 0"),
        ({"autocast": "float16"}, "unknown autocast 'float16'"),
    ],
)
def test_what_does_not_go_together_is_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        dt.train_specialists(DATA, **{**TRAINING, **options})


def test_a_whole_number_from_a_command_line_is_a_number_of_steps() -> None:
    found = [TrainingSettings(warmup=warmup).warmup for warmup in (0.25, 500.0, 3, 0)]
    assert found == [0.25, 500, 3, 0]
    assert [type(one) for one in found] == [float, int, int, int]
    with pytest.raises(SpecError, match=r"not 1\.0"):
        TrainingSettings(warmup=1.0)


def test_one_adam_goes_through_all_rounds_with_decay_apart() -> None:
    fresh, carried = (
        dt.train_specialists(DATA, **TRAINING, optimizer="adamw", weight_decay=0.1, adam=adam)[0]
        for adam in ("fresh", "carried")
    )
    assert fresh.masks.keys() == carried.masks.keys()
    assert any(not torch.equal(fresh.state[name], carried.state[name]) for name in fresh.state)
