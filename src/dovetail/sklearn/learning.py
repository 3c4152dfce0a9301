"""Parts that learn: one for each class, each in a slot of its own, trained together and from where they are.

A part is a small network. In the composite all of them are one large network, in which each has its own units. When a
class comes, the large network gets room for another part, and the others an output for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from ..data.split import Split
from ..errors import SpecError, TrainingError
from ..nets import NetSpec, net_builder
from ..population import Adam, OptimizerState, Population
from ..prune import slot_masks
from ..specialists import Blueprint, Provenance, Specialist, TrainingSettings, max_entropy
from ..specialists.blueprint import State, hash_tensors, pack
from ..specialists.class_sets import one_hot_sets
from ..specialists.layouts import put_back

TEMPERATURE = 5.0
LEAST_STEPS, LEAST_EPOCHS = 500, 20
INTRODUCING = 0.3
"""Share of the step size with which parts learn what is not theirs when a class comes. They see draws instead of most
samples; longer or larger steps learn the draws by heart and forget the samples (measured on Fashion-MNIST)."""
WORTH_SHARING = 2**26
"""Multiplications of a step that several threads do faster than one, also where others are at work."""
OUTPUT = "output."
"""What the tensors of an mlp's last layer are called: those with a row for each class."""


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """How parts are trained, and on what.

    Attributes
    ----------
    samples : Split
        Prepared samples and their class ids.
    weights : Tensor
        How much each counts.
    net : NetSpec
        The network of each part.
    seed, stream : int
        What θ0, the order of samples and the noise are drawn from; each lesson of a part has a stream of its own.
    """

    samples: Split
    weights: Tensor
    net: NetSpec
    epochs: int
    batch_size: int
    lr: float
    weight_decay: float
    seed: int
    stream: int
    device: torch.device | str | None
    verbose: bool


def part_net(net: object) -> NetSpec:
    """Return the network of a part, which must be an mlp: samples of scikit-learn's are rows of numbers."""
    spec = NetSpec.parse(str(net))
    if spec.name != "mlp":
        raise SpecError(
            f"each sample is a row of numbers, which takes an mlp, such as 'mlp:64'; got {net!r:.80}"
        )
    return spec


def joint_net(net: NetSpec, parts: int) -> NetSpec:
    """Return the network that has room for several parts side by side.

    Examples
    --------
    >>> str(joint_net(NetSpec.parse("mlp:64-32"), 3))
    'mlp:192-96'
    """
    return NetSpec(net.name, tuple(parts * size for size in net.sizes), net.options)


def usual_batch_size(samples: int) -> int:
    """Return 64, and more from 20,000 samples on.

    Examples
    --------
    >>> [usual_batch_size(samples) for samples in (100, 19_000, 60_000, 10**6)]
    [64, 64, 256, 512]
    """
    return min(64 << max(0, int(math.log2(samples / 10_000))), 512)


def usual_epochs(samples: int, batch_size: int, least: int = LEAST_EPOCHS) -> int:
    """Return as many epochs as make 500 steps, and a least number.

    Examples
    --------
    >>> usual_epochs(128, 64), usual_epochs(100_000, 64), usual_epochs(100_000, 64, least=1)
    (250, 20, 1)
    """
    return max(least, -(-LEAST_STEPS // -(-samples // batch_size)))


def train_parts(
    blueprint: Blueprint,
    lesson: Lesson,
    before: Mapping[int, State],
    adam: OptimizerState | None = None,
) -> list[Specialist]:
    """Return a trained part for every class of the blueprint.

    Each learns to recognise its class and to be undecided on all others. A sample of weight 2 adds twice as much to the
    loss of its batch as one of weight 1, and changes nothing in what the others add.

    Parameters
    ----------
    blueprint : Blueprint
        Of all parts together.
    lesson : Lesson
        What to learn, and how.
    before : mapping of int to dict
        The small networks of parts that go on learning; the others start from θ0.
    adam : OptimizerState, optional
        What the optimizer has come to, if it is to go on.
    """
    settings = TrainingSettings(
        net=str(blueprint.net), sparsity=0.0, rounds=0, epochs=lesson.epochs, temperature=blueprint.temperature,
        slots=True, lr=lesson.lr, batch_size=lesson.batch_size, patience=None, keep="last",
        weight_decay=lesson.weight_decay,
    )  # fmt: skip
    classes = len(blueprint.classes)
    build = net_builder(lesson.net, blueprint.input_shape, classes)
    population = Population(build, [lesson.seed] * classes, device=lesson.device)
    first = blueprint.builder(lesson.seed).state_dict()
    shapes = {name: t.shape[1:] for name, t in {**population.params, **population.buffers}.items()}
    starts = [
        before[number] if number in before else _cut_out(first, slot_masks(first, number, classes), shapes)
        for number in range(classes)
    ]
    population.start_from({name: torch.stack([start[name] for start in starts]) for name in shapes})
    introducing = 0 < len(before) < classes
    rates = [lesson.lr * (INTRODUCING if introducing and n in before else 1) for n in range(classes)]
    weights = lesson.weights / lesson.weights.mean()
    targets = torch.stack([lesson.samples.y.float(), weights.float()], 1)
    work = 3 * min(settings.batch_size, len(weights)) * sum(t.numel() for t in population.params.values())
    with as_many_threads_as_pay(work):
        history = population.fit(
            Split(lesson.samples.x, targets),
            epochs=settings.epochs,
            batch_size=settings.batch_size,
            optimizer=Adam(lr=rates, weight_decay=lesson.weight_decay),
            optimizer_state=adam,
            objective=partial(_weighted_max_entropy, temperature=blueprint.temperature),
            per_member={"rewarded": one_hot_sets([(number,) for number in range(classes)], classes)},
            metrics={},
            keep="last",
            stream=lesson.stream,
            progress=lesson.verbose and "parts",
        )
    if adam is not None:  # what is kept between calls, and pickled, needs no GPU
        adam.tensors = {name: {k: t.cpu() for k, t in each.items()} for name, each in adam.tensors.items()}
        adam.steps = adam.steps.cpu()
    if bool(history.diverged.any()):
        raise TrainingError(f"parts diverged (the loss became infinite or NaN); lower lr ({lesson.lr})")
    provenance = Provenance(
        lesson.seed,
        hash_tensors(first),
        "me",
        True,
        "scikit-learn",
        _fingerprint(lesson),
        settings.model_dump(),
    )
    trained = {**population.params, **population.buffers}
    made = []
    for number in range(classes):
        slot = slot_masks(first, number, classes)
        weights_of = {
            name: pack(put_back(t[number].cpu(), slot[name]), slot[name]) for name, t in trained.items()
        }
        made.append(Specialist(blueprint, (number,), weights_of, provenance))
    return made


def small_network(part: Specialist, net: NetSpec, classes: Sequence[str]) -> State:
    """Return a part as the small network that it is in its slot, with outputs for other classes than it had.

    Parameters
    ----------
    part : Specialist
        A part that knows one class, in its slot.
    net : NetSpec
        The small network.
    classes : sequence of str
        What the outputs are to stand for. One that the part has not heard of gets the mean of all classes that are not
        its own, so where it was undecided it still is.
    """
    (own,) = part.rewarded
    had = part.classes
    if part.blueprint.net != joint_net(net, len(had)):
        raise SpecError(
            f"parts were trained as {part.blueprint.net}, so they cannot go on as {net}; call fit"
        )
    with torch.device("meta"):
        shapes = {
            name: t.shape
            for name, t in net_builder(net, part.blueprint.input_shape, len(had))().state_dict().items()
        }
    state = {name: part.weights[name].values.reshape(shape) for name, shape in shapes.items()}
    others = [number for number in range(len(had)) if number != own]
    for tensor in state:
        if tensor.startswith(OUTPUT):
            rows = state[tensor]
            unknown = rows[others].mean(0) if others else torch.zeros_like(rows[0])
            state[tensor] = torch.stack(
                [rows[had.index(name)] if name in had else unknown for name in classes]
            )
    return state


@contextmanager
def as_many_threads_as_pay(multiplications: int) -> Iterator[None]:
    """Compute on one thread inside of the ``with`` if steps are small: more would wait for each other, for most of it.

    Examples
    --------
    >>> with as_many_threads_as_pay(1000):
    ...     torch.get_num_threads()
    1
    """
    threads = torch.get_num_threads()
    if multiplications < WORTH_SHARING:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _cut_out(first: State, slot: State, shapes: Mapping[str, torch.Size]) -> State:
    """Return what a slot has of the tensors of the large network, as a small one."""
    return {name: first[name][slot[name]].reshape(shape) for name, shape in shapes.items()}


def _fingerprint(lesson: Lesson) -> str:
    """Return what tells these samples from others."""
    return hash_tensors({"x": lesson.samples.x, "y": lesson.samples.y, "weights": lesson.weights})[:16]


def _weighted_max_entropy(logits: Tensor, target: Tensor, rewarded: Tensor, temperature: float) -> Tensor:
    """Return the loss of samples whose target is their class and their weight."""
    return target[:, 1] * max_entropy(logits, target[:, 0].long(), rewarded, temperature)
