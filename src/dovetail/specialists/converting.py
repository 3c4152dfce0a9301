"""Converting: an ordinary classifier that was trained somewhere becomes a part, undecided on what is not its own.

It keeps its weights and goes on from them, with the loss of specialists. Its last layer is scaled by the temperature
first, so that it begins with the answers it had. A classifier for a few classes gets outputs for the others as well,
which begin as the mean of its own: as sure as of nothing.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from ..data.dataset import Dataset
from ..data.split import is_finite
from ..errors import DataError, ShapeError, SpecError, unknown_name
from ..nets import Net, OwnNet, net_of
from ..nets.output import output_layer
from ..nets.own import Build
from ..population import Population
from ..population.step import Augment
from ..precision import in_float32
from .blueprint import Blueprint, State, hash_tensors
from .cards import class_cards
from .class_sets import ClassName, class_id, class_sets, named, one_hot_sets
from .layouts import WholeNetworks
from .learned import warn_of_what_cannot_be_learned, warn_of_what_was_not_learned
from .manifest import GIVEN, Provenance
from .objectives import Loss
from .own_functions import function_name
from .rounds import train_rounds
from .settings import Loss as LossName
from .settings import TrainingSettings
from .specialist import Specialist
from .train import check_samples, last_metrics, settled

TRAINING = (
    "optimizer", "lr", "momentum", "nesterov", "weight_decay", "schedule", "warmup", "label_smoothing", "clip_gradient",
    "autocast", "batch_size", "patience", "monitor", "keep",
)  # fmt: skip
"""Settings of `train_specialists` that also make sense for a network that is trained already."""

_SAMPLES = 8
_CLOSE = 1e-3


@in_float32()
def as_part(
    model: nn.Module,
    data: Dataset,
    rewarded: ClassName | Iterable[ClassName],
    *,
    build: str | Callable[[], nn.Module] | None = None,
    loss: LossName | Loss = "me",
    epochs: int = 5,
    temperature: float = 5.0,
    seed: int = 0,
    augment: Augment | None = None,
    device: torch.device | str | None = None,
    progress: bool = True,
    **training: Any,
) -> Specialist:
    """Make a part of an ordinary classifier: trained on from where it is, to be undecided on all other classes.

    Parts that began so are put together with others by averaging logits (``dt.compose(parts, "logits")``): their
    weights did not start where those of others did, and they keep to no slot.

    Parameters
    ----------
    model : nn.Module
        The classifier, which is left as it is. It gives logits over all classes of the data, or over the rewarded ones
        only, in the order in which these are given.
    data : Dataset
        With samples of its classes, and of others to be undecided on.
    rewarded : int, str or iterable
        The class or classes that it is to speak for, by id or name.
    build : callable or str, optional
        What makes a network like it, with an output for each class of the data: a class or function without arguments
        (``functools.partial`` for one with settings), its name, or a spec as for `build_net`. Files name it, as those
        of `train_specialists`. Default: the model's own class, where that takes no arguments.
    loss : {"me", "qme"} or callable
        As for `train_specialists`.
    epochs : int
        For how long it is trained on.
    temperature : float
        What logits are divided by. Parts that are put together have the same.
    seed : int
        What the order of samples and the noise are drawn from.
    augment : callable, optional
        ``augment(x, noise) -> x`` changes training inputs, as for `train_specialists`.
    device : str or torch.device, optional
        Where to train; the first GPU if there is one.
    progress : bool
        Show progress (on terminals only).
    **training
        Further settings of `train_specialists`, such as ``lr=1e-4`` or ``optimizer="sgd"``; not those of pruning and
        of slots.

    Returns
    -------
    Specialist
        The part. Its provenance says that it began with weights that were given: ``start`` is ``given:`` and a hash.

    Raises
    ------
    SpecError
        Where nothing makes such a network, or what makes it makes another one.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> model = dt.build_net("mlp:64,dropout=0", data.input_shape, 10, seed=0)  # trained by whoever, however
    >>> dt.as_part(model, data, [0, 1, 2], build="mlp:64,dropout=0", epochs=2, progress=False)
    Specialist(0, 1, 2, digits, mlp:64,dropout=0, 0.0 % sparse, seed 0)
    """
    _check_arguments(model, data, loss, training)
    data.check_trainable()
    own = [rewarded] if isinstance(rewarded, str) or not isinstance(rewarded, Iterable) else list(rewarded)
    (ids,) = class_sets([own], data.classes)
    check_samples(data, [ids])
    net = _network_of(model, build)
    given: dict[str, Any] = {
        "net": str(net),
        "loss": loss if isinstance(loss, str) else function_name(loss, "loss"),
        "augment": None if augment is None else function_name(augment, "augment"),
        "epochs": epochs,
        "temperature": temperature,
        "sparsity": 0.0,
    }
    settings = settled(TrainingSettings(**given, **training))
    blueprint = Blueprint(net, data.input_shape, data.classes, settings.temperature, data.preparation)
    state = _start(model, blueprint, [class_id(name, data.classes) for name in own], data.val.x[:_SAMPLES])
    population = Population(blueprint.builder, [seed], device=device)
    population.start_from(
        {name: state[name].unsqueeze(0) for name in (*population.params, *population.buffers)}
    )
    warn_of_what_cannot_be_learned([ids], data)
    start = GIVEN + hash_tensors({name: state[name] for name in population.params})
    histories = train_rounds(
        population, data, one_hot_sets([ids], data.outputs), settings, loss=loss, augment=augment,
        progress=progress and "part",
    )  # fmt: skip
    metrics = last_metrics(histories[-1], 0)
    warn_of_what_was_not_learned(
        {(seed, ids): metrics.get("loss", float("nan"))}, data, loss, lambda *_: None, settings
    )
    provenance = Provenance(
        seed, start, settings.loss, False, data.name, data.fingerprint, settings.model_dump(), metrics
    )
    cards = class_cards(data.train, set(ids))
    weights = WholeNetworks(blueprint).packed(population, 0, ids)
    return Specialist(blueprint, ids, weights, provenance, cards=[cards[one] for one in ids] if cards else [])


def _check_arguments(model: object, data: object, loss: object, training: dict[str, Any]) -> None:
    if not isinstance(model, nn.Module):
        raise SpecError(
            f"give the trained network, a torch.nn.Module, not {type(model).__name__}; train_specialists trains parts "
            "from a spec or a class"
        )
    if not isinstance(data, Dataset) or data.task != "classes":
        raise DataError(
            "give a Dataset with classes, such as dovetail.load('digits') or dovetail.read('photos/')"
        )
    if loss == "xe":
        raise SpecError(
            "loss 'xe' looks at no sample of other classes, so nothing would become undecided; use 'me'"
        )
    for name in training:
        if name not in TRAINING:
            raise unknown_name("setting of as_part", name, TRAINING)


def _network_of(model: nn.Module, build: str | Build | None) -> Net:
    """Return what files are to name: how a network like the model is made."""
    if build is not None:
        return net_of(build)
    kind = type(model)
    try:
        inspect.signature(kind).bind()
    except TypeError:
        raise SpecError(
            f"a file of this part must name what makes its network, and {kind.__name__} takes arguments; pass build=, "
            f"a function without any, such as functools.partial({kind.__name__}, ...), or a spec"
        ) from None
    return OwnNet.of(kind)


def _start(model: nn.Module, blueprint: Blueprint, own: list[int], x: Tensor) -> State:
    """Return the tensors that training goes on from: the model's, with an output for each class of the data.

    Parameters
    ----------
    model : nn.Module
        The classifier.
    blueprint : Blueprint
        Of the part.
    own : list of int
        The rewarded classes as they were given, which is the order of outputs where there are only theirs.
    x : Tensor
        A few samples.
    """
    given = copy.deepcopy(model).float().cpu().eval()
    like = blueprint.builder(0).eval()
    state = {name: tensor.detach() for name, tensor in given.state_dict().items()}
    if odd := [
        name for name, tensor in state.items() if tensor.is_floating_point() and not is_finite(tensor)
    ]:
        raise SpecError(
            f"the weights of the model are not finite: {odd[0]!r} holds NaN or infinity; give one whose training went "
            "well"
        )
    shapes = {name: tensor.shape for name, tensor in like.state_dict().items()}
    if missing := [name for name in {**shapes, **state} if name not in shapes or name not in state]:
        where = "the model" if missing[0] in shapes else "what it makes"
        raise SpecError(
            f"what makes its network ({blueprint.net}) makes another one: there is no {missing[0]!r} in {where}; pass "
            "as build= what makes the same"
        )
    logits, classes = _logits(given, x), len(blueprint.classes)
    outputs, made = logits.shape[1], _logits(like, x).shape[1]
    if outputs not in (classes, len(own)):
        raise ShapeError(
            f"{type(model).__name__} gives {outputs} logits; it must give one for each of the {classes} classes of the "
            f"data, or for each of the {len(own)} rewarded ones ({named(own, blueprint.classes)})"
        )
    if made != classes:
        raise SpecError(
            f"what makes its network ({blueprint.net}) gives {made} outputs; pass as build= what makes one like it, "
            f"with an output for each of the {classes} classes of the data"
        )
    wanted = logits
    if outputs < classes:
        wanted = _widened(logits.T, own, classes).T
        state = {
            name: _widened(tensor, own, classes)
            if shapes[name] == (classes, *tensor.shape[1:]) and len(tensor) == outputs
            else tensor
            for name, tensor in state.items()
        }
    if differ := [name for name, tensor in state.items() if tensor.shape != shapes[name]]:
        raise SpecError(
            f"what makes its network ({blueprint.net}) makes another one, in which {differ[0]!r} is "
            f"{tuple(shapes[differ[0]])} and not {tuple(state[differ[0]].shape)}; pass as build= what makes the same"
        )
    found = _loaded_logits(like, state, x)
    scaled = _scaled(like, state, blueprint.temperature, x)
    if not _close(found, wanted):
        raise SpecError(
            f"what makes its network ({blueprint.net}) makes another one, which gives other answers with the weights "
            "of the model; pass as build= what makes the same"
        )
    # Where its last layer is not what gives the logits, it begins with answers that are less sure than they were.
    return scaled if _close(_loaded_logits(like, scaled, x), blueprint.temperature * wanted) else state


def _widened(rows: Tensor, own: list[int], classes: int) -> Tensor:
    """Return a row for each class, given those of the rewarded ones.

    The others begin as the mean of these, which is never the largest. A single output, which tells its class from all
    else, is above them where it is above 0.
    """
    others = rows.mean(0, keepdim=True) if len(rows) > 1 else torch.zeros_like(rows)
    places = [own.index(number) if number in own else len(own) for number in range(classes)]
    return torch.cat([rows, others])[places]


def _scaled(network: nn.Module, state: State, temperature: float, x: Tensor) -> State:
    """Return tensors of which those of the last layer are multiplied by the temperature."""
    last = output_layer(network, x)
    layer = network.get_submodule(last)
    names = {f"{last}.{name}" if last else name for name, _ in layer.named_parameters(recurse=False)}
    return {name: temperature * tensor if name in names else tensor for name, tensor in state.items()}


def _loaded_logits(network: nn.Module, state: State, x: Tensor) -> Tensor:
    network.load_state_dict(state)
    return _logits(network, x)


def _logits(network: nn.Module, x: Tensor) -> Tensor:
    """Return what a network gives for samples, if that is a row of logits for each."""
    name = type(network).__name__
    try:
        with torch.no_grad():
            found = network(x.float())
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
        reason = (str(error).strip().splitlines() or [""])[0][:200]
        raise ShapeError(f"{name} does not take samples of shape {tuple(x.shape[1:])} ({reason})") from error
    if not isinstance(found, Tensor) or found.dim() != 2 or len(found) != len(x):
        given = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise ShapeError(f"{name} gives {given} for {len(x)} samples; it must give a row of logits for each")
    return found


def _close(found: Tensor, wanted: Tensor) -> bool:
    return found.shape == wanted.shape and bool(
        (found - wanted).abs().max() <= _CLOSE * wanted.abs().max().clamp(min=1)
    )
