"""Checks at the border: what could only fail later is refused, naming the value."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, get_args

import torch
from torch import Tensor

from ..data.split import Split, Task, is_finite
from ..errors import ShapeError, SpecError, TrainingError, unknown_name
from .feed import FeedName
from .history import Keep
from .objectives import Objective
from .schedules import ONE_CYCLE_WARMUP, Schedule, ScheduleName
from .stack import Tensors

if TYPE_CHECKING:
    from .fit import FitPlan
    from .step import Penalty


def check_fit(plan: FitPlan, *, batch_norm: bool, subsets: Sequence[Tensor] | None) -> None:
    """Refuse a fit that cannot work."""
    for name, value in (("epochs", plan.epochs), ("batch_size", plan.batch_size)):
        check_count(name, value)
    if plan.val is None and (plan.patience is not None or plan.goal is not None or plan.monitor != "loss"):
        raise TrainingError("patience, goal and monitor need a validation split; pass val=")
    if plan.patience is not None:
        check_count("patience", plan.patience)
    if plan.keep not in get_args(Keep):
        raise unknown_name("epoch to keep", plan.keep, get_args(Keep))
    if plan.monitor not in {"loss", *plan.metrics}:
        raise unknown_name("score to monitor", plan.monitor, ["loss", *plan.metrics])
    if plan.schedule is not None and isinstance(plan.schedule.warmup, int):
        for member, samples in enumerate([len(plan.train)] if subsets is None else map(len, subsets)):
            steps = plan.epochs * -(-samples // plan.batch_size)
            if plan.schedule.warmup >= steps:
                whose = "the fit" if subsets is None else f"member {member}"
                raise TrainingError(
                    f"a warm-up of {plan.schedule.warmup} steps, but {whose} takes {steps} in all; give fewer, or a "
                    "share such as warmup=0.1"
                )
    if batch_norm and subsets is not None:
        raise TrainingError(
            "subsets fill up short batches, which would enter batch-norm statistics; leave one out"
        )
    if batch_norm and (plan.batch_size == 1 or len(plan.train) % plan.batch_size == 1):
        raise TrainingError(
            f"{len(plan.train)} samples in batches of {plan.batch_size} leave a batch of one, on which batch norm is "
            "undefined; use another batch_size"
        )


def check_schedule(name: ScheduleName | None, warmup: float | int | None) -> Schedule | None:
    """Return the schedule of a fit, None if all steps are alike."""
    if name is not None and name not in get_args(ScheduleName):
        raise unknown_name("schedule", name, get_args(ScheduleName))
    if warmup is None:
        return None if name is None else Schedule(name, ONE_CYCLE_WARMUP if name == "one-cycle" else 0)
    if not _is_number(warmup) or not 0 <= warmup < (1 if isinstance(warmup, float) else math.inf):
        raise TrainingError(
            "warmup must be a share of all steps from 0.0 up to, not including, 1.0, or a whole number of steps, not "
            f"{warmup!r}"
        )
    return None if name is None and not warmup else Schedule(name, warmup)


def check_autocast(autocast: torch.dtype | str | None, dtype: torch.dtype) -> torch.dtype | None:
    """Return the type in which layers are to compute, None for that of the weights."""
    if autocast is None:
        return None
    if autocast not in ("bfloat16", torch.bfloat16):
        raise TrainingError(
            f"autocast must be 'bfloat16' or None, not {autocast!r}; float16 would need losses that are scaled"
        )
    if dtype != torch.float32:
        raise TrainingError(
            f"autocast keeps weights in float32, but those of the population are {dtype}; leave it out, or use "
            "Population(..., dtype=torch.float32)"
        )
    return torch.bfloat16


def check_label_smoothing(smoothing: float, task: Task, objective: Objective | None) -> float:
    """Refuse a smoothing that is no share, and one for other losses than the cross-entropy of classes."""
    if not _is_number(smoothing) or not 0 <= smoothing <= 1:
        raise TrainingError(f"label_smoothing must be a number from 0 to 1, not {smoothing!r}")
    if smoothing and objective is not None:
        raise TrainingError(
            f"label_smoothing={smoothing} belongs to the default objective; smooth the labels in your own, or leave "
            "one out"
        )
    if smoothing and task != "classes":
        raise TrainingError(
            f"label_smoothing={smoothing} is for classes, but the targets are {task}; leave it out"
        )
    return smoothing


def check_clip_gradient(most: float | None) -> float | None:
    """Refuse a length that gradients cannot be clipped to."""
    if most is not None and not (_is_number(most) and 0 < most < math.inf):
        raise TrainingError(f"clip_gradient must be a finite number above 0, or None, not {most!r}")
    return most


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_metrics(metrics: Mapping[str, Objective]) -> Mapping[str, Objective]:
    """Refuse metrics that bear the objective's names."""
    for name in {"loss", "train_loss"} & set(metrics):
        raise TrainingError(f"a metric cannot be called {name!r}, which is what the objective gives")
    return metrics


def check_task(task: Task | None, target: Tensor) -> Task | None:
    """Refuse a task that targets of this kind cannot be."""
    if task is None:
        return None
    if task not in get_args(Task):
        raise unknown_name("task", task, get_args(Task))
    if (task == "classes") == target.is_floating_point():
        kind = "need class ids, whole numbers (y.long())" if task == "classes" else "need numbers (y.float())"
        raise TrainingError(f"targets of task {task!r} {kind}; these are {target.dtype}")
    return task


def check_feed(feed: FeedName) -> FeedName:
    """Refuse a feed that there is not."""
    if feed not in get_args(FeedName):
        raise unknown_name("feed", feed, get_args(FeedName))
    return feed


def check_count(name: str, value: int) -> None:
    """Refuse what is not a whole number from 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise TrainingError(f"{name} must be a whole number of at least 1, not {value!r}")


def check_per_member(
    functions: Mapping[str, Objective], per_member: Mapping[str, object], penalty: Penalty | None = None
) -> None:
    """Refuse own parameters that no function takes, and functions whose own parameters are missing."""
    taken: set[str] = set()
    # An objective or metric starts with outputs and targets, a penalty with the parameters.
    first_own = [(what, function, 2) for what, function in functions.items()]
    for what, function, first in first_own + ([] if penalty is None else [("the penalty", penalty, 1)]):
        parameters = list(inspect.signature(function).parameters.values())[first:]
        named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        taken |= {p.name for p in named} | (
            set(per_member) if any(p.kind is p.VAR_KEYWORD for p in parameters) else set()
        )
        for parameter in named:
            if parameter.default is parameter.empty and parameter.name not in per_member:
                given = f"per_member has {', '.join(per_member)}" if per_member else "per_member is empty"
                raise SpecError(f"{what!r} needs {parameter.name!r}, a value for each member; {given}")
    for name in per_member:
        if name not in taken:
            takes = f"they take {', '.join(sorted(taken))}" if taken else "they take none"
            raise SpecError(
                f"no objective, metric or penalty takes {name!r}, which per_member gives; {takes}"
            )


def check_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    """Return seeds as whole numbers that torch takes."""
    try:
        given = list(seeds)
        checked = tuple(operator.index(seed) for seed in given)
    except TypeError as error:
        raise TrainingError(
            f"seeds must be a sequence of whole numbers, one per member; got {seeds!r:.80}"
        ) from error
    if not checked:
        raise TrainingError("a population needs at least one seed")
    for seed in checked:
        if not 0 <= seed < 2**63:
            raise TrainingError(f"a seed must be a whole number from 0 to 2**63 - 1; got {seed}")
    return checked


def check_device(device: torch.device | str | None) -> torch.device:
    """Return the device, the first GPU if none is named."""
    if device == "cpu":  # asking for GPUs takes longer than a small network
        return torch.device("cpu")
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    try:
        chosen = torch.device(("cuda" if gpus else "cpu") if device is None else device)
    except RuntimeError as error:
        raise TrainingError(f"there is no device {device!r}; use 'cpu' or 'cuda'") from error
    if (chosen.index or 0) >= {"cpu": 1, "cuda": gpus}.get(chosen.type, 0):
        raise TrainingError(f"device {str(chosen)!r} cannot be used here; use 'cpu' or, with a GPU, 'cuda'")
    return chosen


def check_split(split: Split, what: str) -> Split:
    """Refuse an empty split and inputs that are not numbers."""
    if not isinstance(split, Split):
        raise TrainingError(
            f"the {what} data must be a dovetail.Split(x, y), such as data.test, not {type(split).__name__}"
        )
    if not len(split):
        raise TrainingError(f"the {what} split has no samples")
    if not (split.x.is_floating_point() or split.x.dtype == torch.uint8):
        raise TrainingError(
            f"inputs must be floating point, or bytes (uint8), not {split.x.dtype}; scale them first"
        )
    if split.x.is_floating_point() and not is_finite(split.x):
        raise TrainingError(f"inputs of the {what} split hold NaN or infinity; clean them first")
    if split.y.is_floating_point() and not is_finite(split.y):
        raise TrainingError(f"targets of the {what} split hold NaN or infinity; clean them first")
    return split


def check_fits_outputs(target: Tensor, outputs: int) -> None:
    """Refuse targets that a network with this many outputs cannot have."""
    if target.is_floating_point():
        if target.dim() != 2 or target.shape[1] != outputs:
            raise ShapeError(
                f"targets of shape {tuple(target.shape)}, but the network has {outputs} outputs; they need one value "
                "for each (y[:, None] for a single one), or class ids as whole numbers (y.long())"
            )
        return
    if target.dim() != 1:
        raise ShapeError(f"class ids must be a vector, one per sample, not {tuple(target.shape)}")
    low, high = (int(extreme) for extreme in target.aminmax())
    if low < 0 or high >= outputs:
        raise ShapeError(f"class ids from {low} to {high}, but the network has {outputs} outputs")


def check_masks(masks: Mapping[str, Tensor], params: Mapping[str, Tensor]) -> Tensors:
    """Return masks as bool tensors stacked like the parameters."""
    checked = {}
    for name, mask in masks.items():
        if name not in params:
            raise unknown_name("parameter", name, params)
        param, mask = params[name], torch.as_tensor(mask)
        if mask.shape not in (param.shape, param.shape[1:]):
            raise ShapeError(
                f"mask of {name!r} has shape {tuple(mask.shape)}; it must be {tuple(param.shape)}, "
                f"or {tuple(param.shape[1:])} for all members alike"
            )
        kept = mask.to(param.device)
        if not bool(((kept == 0) | (kept == 1)).all()):
            raise ShapeError(f"mask of {name!r} must hold only 0 and 1")
        checked[name] = kept.bool().expand(param.shape).clone(memory_format=torch.contiguous_format)
    return checked


def check_member_values(values: Mapping[str, Tensor], members: int, device: torch.device) -> Tensors:
    """Return per-member values as tensors on the device, one row per member."""
    checked = {}
    for name, value in values.items():
        tensor = torch.as_tensor(value).to(device)
        if tensor.dim() == 0 or len(tensor) != members:
            raise ShapeError(
                f"{name!r} has shape {tuple(tensor.shape)}; it needs a first dimension of {members}, one row per member"
            )
        checked[name] = tensor
    return checked


def check_targets(
    targets: Tensor | None, split: Split | None, members: int, device: torch.device
) -> Tensor | None:
    """Return the members' own targets on the device, one per member and sample."""
    if targets is None:
        return None
    if split is None:
        raise TrainingError("val_targets need a validation split; pass val=")
    if targets.dim() < 2 or tuple(targets.shape[:2]) != (members, len(split)):
        raise ShapeError(
            f"targets have shape {tuple(targets.shape)}; they need {members} members × {len(split)} samples"
        )
    return targets.to(device) if targets.is_floating_point() else targets.to(device).long()


def check_weights(
    weights: Tensor | None,
    split: Split | None,
    members: int,
    dtype: torch.dtype,
    subsets: Sequence[Tensor] | None = None,
) -> Tensor | None:
    """Return weights of samples where targets are, one for each or one per member and sample, some of them above 0."""
    if weights is None:
        return None
    if split is None:
        raise TrainingError("val_weights need a validation split; pass val=")
    checked = torch.as_tensor(weights)
    if tuple(checked.shape) not in {(len(split),), (members, len(split))}:
        raise ShapeError(
            f"weights have shape {tuple(checked.shape)}; they need one for each of {len(split)} samples, or "
            f"{members} members × {len(split)} samples"
        )
    checked = checked.to(split.y.device, torch.promote_types(dtype, torch.float32))
    low, high = (float(extreme) for extreme in checked.aminmax())
    if not (low >= 0 and math.isfinite(high)):
        wrong = low if low < 0 else high
        raise TrainingError(f"weights must be finite and not negative; one is {wrong:g}")
    for member in range(members if subsets is not None or checked.dim() == 2 else 1):
        own = checked if checked.dim() == 1 else checked[member]
        if not bool((own if subsets is None else own[subsets[member]]).any()):
            raise TrainingError(f"all samples of member {member} have weight 0; it would learn nothing")
    return checked


def check_subsets(
    subsets: Sequence[Tensor] | None, samples: int, members: int, device: torch.device
) -> list[Tensor] | None:
    """Return each member's sample numbers on the device."""
    if subsets is None:
        return None
    if len(subsets) != members:
        raise ShapeError(f"{len(subsets)} subsets for {members} members")
    checked = [torch.as_tensor(subset).to(device) for subset in subsets]
    for member, subset in enumerate(checked):
        if subset.dtype == torch.bool or subset.is_floating_point() or subset.dim() != 1:
            raise ShapeError(
                f"subset of member {member} must be a vector of sample numbers; use mask.nonzero().flatten()"
            )
        if not len(subset):
            raise TrainingError(f"member {member} has no samples to train on")
        if int(subset.min()) < 0 or int(subset.max()) >= samples:
            raise ShapeError(f"subset of member {member} names a sample outside 0 to {samples - 1}")
    return checked
