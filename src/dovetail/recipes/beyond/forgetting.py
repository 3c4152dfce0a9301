"""Forgetting: the work of training with a class, of taking it away in some ways, and of attacking what is left."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch
from torch import nn

from ...data.dataset import Dataset
from ...errors import unknown_name
from ...nets import NetSpec, net_builder
from ...population import SGD, Adam, Population
from ...population.optim import Optimizer
from ...specialists import Composite, Sums, compose, train_specialists
from ...specialists.audit.measuring import Measuring
from ...specialists.audit.membership import taken_for_unseen
from ...specialists.audit.probes import of_classes
from ...specialists.audit.retraining import without_classes
from ...specialists.closed_form.certificate import fresh_sums
from ...specialists.closed_form.making import sums
from ...specialists.closed_form.sums import add_sums
from ...specialists.evaluate import Score
from ...specialists.layouts import slot_net
from ..cluster.augmentation import turned_shifted_mirrored
from ..data import DATA_SIZES, load_named
from ..unit import Row, Settings, plain_numbers
from ..works import Work, Workload
from .heads import seconds_now
from .known_trunks import features_of

LEARNT = 0.9
"""The class is learnt again at this share of the mean accuracy, on it and on the others, of what has it."""


@dataclass
class Way:
    """A way to be without a class.

    Attributes
    ----------
    network : nn.Module
        What it gives.
    seconds : float
        How long it took.
    """

    network: nn.Module
    seconds: float


Ways = dict[str, Way]


def run(settings: Settings, device: torch.device) -> Row:
    """Train with all classes, be without one in some ways, and measure each.

    Returns
    -------
    dict
        By measure, and then by way: accuracy on the test samples of the class (``forgotten``) and of the others
        (``rest``), on training samples of both (``forgotten_training``, ``rest_training``), the share of the class's
        training samples that the literature's attack takes for unseen (``taken_for_unseen``), ``entropy`` on the class,
        the linear ``probe``, ``steps`` and ``samples`` until the class is learnt again (None if it is not), AUROC of
        the ``confidence`` and ``neural`` attacks, and ``seconds``.
    """
    data = _data(settings)
    gone = (int(settings["forget"]),)
    kept = [number for number in range(data.outputs) if number not in gone]
    if settings["kind"] not in _KINDS:
        raise unknown_name("kind of part", settings["kind"], _KINDS)
    ways = _KINDS[settings["kind"]](data, without_classes(data, gone), gone, settings, device)
    ask = Measuring(data, gone, kept, **settings["relearning"], device=device)
    found = {name: _measured(ask, way, knows=name == WITH_IT) for name, way in ways.items()}
    level = LEARNT * fmean([found[WITH_IT]["forgotten"], found[WITH_IT]["rest"]])
    for name, way in ways.items():
        if name != WITH_IT:
            again = ask.relearning(way.network)
            found[name] |= {"steps": again.steps_until(level), "samples": again.samples_until(level)}
    measures = dict.fromkeys(name for values in found.values() for name in values)
    return {
        measure: {name: plain_numbers([values.get(measure)])[0] for name, values in found.items()}
        for measure in measures
    }


WITH_IT, LEFT_OUT, RETRAINED, FINE_TUNED = "with it", "left out", "retrained", "fine-tuned"


def _measured(ask: Measuring, way: Way, *, knows: bool) -> dict[str, Any]:
    """Return what is measured of a network that was trained, but how fast it learns again."""
    (gone,), network = ask.gone, way.network
    known = sorted([*ask.kept, gone]) if knows else ask.kept
    test = ask.score(network, known)
    training = ask.score(network, known, ask.some_training)
    seen, unseen = of_classes(ask.some_training, ask.kept), of_classes(ask.data.test, ask.kept)
    attack = ask.membership(network)
    return {
        "forgotten": float(test.class_accuracy[gone]),
        "rest": _rest(test, ask.kept),
        "forgotten_training": float(training.class_accuracy[gone]),
        "rest_training": _rest(training, ask.kept),
        "taken_for_unseen": taken_for_unseen(network, seen, unseen, of_classes(ask.some_training, [gone])),
        "entropy": float(test.class_entropy[gone]),
        "probe": ask.probe(network),
        "confidence": attack.confidence,
        "neural": attack.neural,
        "seconds": way.seconds,
    }


def _rest(score: Score, kept: Sequence[int]) -> float:
    counts = score.confusion[list(kept)]
    return float(score.confusion.diagonal()[list(kept)].sum() / counts.sum())


def _data(settings: Settings) -> Dataset:
    """Return pictures, or what a trunk makes of them; for sums as the trunk gives it, scaled by no sample."""
    if not settings["trunk"]:
        return load_named(settings["data"])
    return features_of(
        settings["trunk"], settings["data"], scale=False if settings["kind"] == "sums" else None
    )


def _timed(make: Callable[[], nn.Module], device: torch.device) -> Way:
    begun = seconds_now(device)
    network = make()
    return Way(network, seconds_now(device) - begun)


def _network(
    data: Dataset, rest: Dataset, gone: tuple[int, ...], settings: Settings, device: torch.device
) -> Ways:
    """Return an ordinary network; the same trained on without the class; and one trained without it from the start."""
    training = dict(settings["training"])
    finetuning = training | dict(settings["finetuning"])
    whole = _timed(lambda: _trained(data, None, training, settings, device), device)
    return {
        WITH_IT: whole,
        FINE_TUNED: _timed(lambda: _trained(rest, whole.network, finetuning, settings, device), device),
        RETRAINED: _timed(lambda: _trained(rest, None, training, settings, device), device),
    }


def _trained(
    data: Dataset,
    start: nn.Module | None,
    training: Mapping[str, Any],
    settings: Settings,
    device: torch.device,
) -> nn.Module:
    options = dict(training)
    optimizer = _OPTIMIZERS[options.pop("optimizer")](options)
    build = net_builder(settings["net"], data.input_shape, data.outputs)
    population = Population(build, [settings["seed"]], device=device)
    if start is not None:
        state = start.state_dict()
        names = [*population.params, *population.buffers]
        population.start_from({name: state[name].unsqueeze(0).to(device) for name in names})
    augment = turned_shifted_mirrored if settings["augment"] else None
    population.fit(data, optimizer=optimizer, augment=augment, monitor="accuracy", progress=False, **options)
    return population.member(0).eval()


def _sgd(options: dict[str, Any]) -> Optimizer:
    return SGD(options.pop("lr"), options.pop("momentum"), options.pop("weight_decay"))


_OPTIMIZERS: Mapping[str, Callable[[dict[str, Any]], Optimizer]] = {
    "adam": lambda options: Adam(options.pop("lr")),
    "sgd": _sgd,
}


def _slots(
    data: Dataset, rest: Dataset, gone: tuple[int, ...], settings: Settings, device: torch.device
) -> Ways:
    """Return the sum of specialists in slots; without the one of the class; and of others that never saw it."""

    def train(samples: Dataset) -> nn.Module:
        classes = [number for number in range(data.outputs) if samples is data or number not in gone]
        team = train_specialists(
            samples, settings["net"], classes, slots=True, seed=settings["seed"], device=device, progress=False,
            augment=turned_shifted_mirrored if settings["augment"] else None, **settings["training"],
        )  # fmt: skip
        made.append(compose(team))
        return made[-1].module()

    made: list[Composite] = []
    whole = _timed(lambda: train(data), device)
    left = _timed(lambda: made[0].without(*gone).module(), device)
    return {WITH_IT: whole, LEFT_OUT: left, RETRAINED: _timed(lambda: train(rest), device)}


def _sums(
    data: Dataset, rest: Dataset, gone: tuple[int, ...], settings: Settings, device: torch.device
) -> Ways:
    """Return sums of all classes; without the class; and made anew of the data without it."""
    made: list[Sums] = []

    def add() -> nn.Module:
        made.append(add_sums(sums(data, seed=settings["seed"], **settings["training"])))
        return made[0].module()

    def leave_out() -> nn.Module:
        made.append(made[0].without(*gone))
        return made[1].module()

    whole, left = _timed(add, device), _timed(leave_out, device)
    return {
        WITH_IT: whole,
        LEFT_OUT: left,
        RETRAINED: _timed(lambda: fresh_sums(made[1], rest).module(), device),
    }


_KINDS: Mapping[str, Callable[[Dataset, Dataset, tuple[int, ...], Settings, torch.device], Ways]] = {
    "network": _network,
    "slots": _slots,
    "sums": _sums,
}


def workload(settings: Settings) -> Workload:
    """Return how much work training is, twice; attacks and probes are of one core."""
    size, training, kind = DATA_SIZES[settings["data"]["name"]], settings["training"], settings["kind"]
    shape = (settings["features"],) if settings["trunk"] else size.input_shape
    if kind == "sums":
        width = training["features"]
        numbers = 2 * size.training * width * (math.prod(shape) + width)
        return Workload(core_seconds=2 * 2 * numbers / 0.05e12 + _ATTACKS)
    spec, members = NetSpec.parse(settings["net"]), 1
    if kind == "slots":
        spec, members = slot_net(spec, 1, size.outputs) or spec, size.outputs
    epochs = 2 * training["epochs"] + (settings["finetuning"].get("epochs", 0) if kind == "network" else 0)
    return Workload(
        net=str(spec),
        input_shape=shape,
        outputs=size.outputs,
        members=members,
        steps=epochs * math.ceil(size.training / training["batch_size"]),
        batch_size=training["batch_size"],
        core_seconds=_ATTACKS,
    )


_ATTACKS = 60.0


def label(settings: Settings) -> str:
    """Return what forgets what."""
    where = f", {settings['trunk']}" if settings["trunk"] else ""
    net = settings["net"] or f"{settings['training']['features']} features"
    return f"{settings['data']['name']}{where}, {settings['kind']} {net}, seed {settings['seed']}"


WORK = Work(run, workload, label)
