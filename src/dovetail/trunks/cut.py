"""Cuts: where a network ends early, and what it gives there."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import ShapeError, SpecError
from .takes import is_sentence_transformer

BEFORE = "before "
"""In front of the name of a module whose input is what counts, not its output."""
OUTPUT = "output"
"""The end of the whole network."""

_NAMED_OUTPUTS = ("sentence_embedding", "last_hidden_state", "logits")
"""What to take of outputs with several tensors, first come first served."""


_FIRST_RUN = threading.RLock()
"""Held while a network runs to its end once; a lock in each cut could be neither copied nor pickled."""


class _Reached(Exception):  # noqa: N818 (no error: it ends a network early)
    """What a network gave at its cut."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


def usual_cut(network: nn.Module) -> str:
    """Return where a network is cut if nobody says where: before its last layer, if that is dense or a convolution.

    Networks without such a layer at their end have no head to leave out, and are taken whole. Sentence transformers
    are, too: what they give is what one wants of them; so are networks of transformers without a head (``AutoModel``),
    whose last dense layer is no head but reads only the first token.

    Examples
    --------
    >>> usual_cut(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1), nn.Softmax(1)))
    'before 2'
    """
    if is_whole(network):
        return OUTPUT
    layers = _layers(network)
    if layers and _is_head(layers[-1][1]):
        return f"{BEFORE}{layers[-1][0]}"
    return OUTPUT


def is_whole(network: nn.Module) -> bool:
    """Return whether what a network gives is what one wants of it, whatever its last layer is."""
    return is_sentence_transformer(network) or getattr(network, "base_model", None) is network


def _layers(network: nn.Module) -> list[tuple[str, nn.Module]]:
    """Return the modules with weights of their own, by name, in the order in which they were made."""
    return [
        (name, module)
        for name, module in network.named_modules()
        if name and next(module.parameters(recurse=False), None) is not None
    ]


def _is_head(layer: nn.Module) -> bool:
    return isinstance(layer, nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d)


class Cut:
    """The place where a network ends from now on, whenever it is run by `run`.

    Attributes
    ----------
    where : str
        The name of a module, after which it ends; ``"before NAME"``; or ``"output"``.
    stops : bool
        Whether what comes after it is left out. Programs that record what is computed (``torch.export``) cannot follow
        that; they leave out by themselves what is not needed.
    unsure : bool
        Whether this is the usual cut, and no samples have yet shown that the layer that was made last runs last. The
        first samples then run to the end, and the cut is refused if another layer does.

    Raises
    ------
    SpecError
        When the network has no module of this name.

    Examples
    --------
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    >>> Cut(network, "before 1").run(network, (torch.ones(3, 2, 2),), {}).shape
    torch.Size([3, 4])
    """

    def __init__(self, network: nn.Module, where: str) -> None:
        self.where = where
        self.stops = True
        self.unsure = False
        # Apart from `stops`, which other threads ask to see whether they have to wait for the first run.
        self._in_first_run = False
        self._value: object = None
        if where == OUTPUT:
            return
        name = where.removeprefix(BEFORE)
        modules = {key: module for key, module in network.named_modules() if key}
        if name not in modules:
            near = difflib.get_close_matches(name, modules, n=3) or list(modules)[:5]
            raise SpecError(
                f"{type(network).__name__} has no module {name!r:.80} to cut at; it has {', '.join(near)}, … "
                f"(see dict(model.named_modules())); {BEFORE!r} in front takes what the module reads"
            )
        if where.startswith(BEFORE):
            modules[name].register_forward_pre_hook(self._reads, with_kwargs=True)
        else:
            modules[name].register_forward_hook(self._gives)

    def _reads(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._reached(args[0] if args else next(iter(kwargs.values()), None))

    def _gives(self, module: nn.Module, args: tuple[Any, ...], output: object) -> None:
        self._reached(output)

    def _reached(self, value: object) -> None:
        if self.stops and not self._in_first_run:
            raise _Reached(value)
        # A module may be used several times, and the first is where it would have stopped.
        if self._value is None:
            self._value = _cloned(value)

    def run(self, network: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Tensor:
        """Return the tensor that a network gives at its cut.

        Raises
        ------
        SpecError
            When it never gets there; or when it is the usual cut, and another layer runs last.
        ShapeError
            When what it gives is no tensor.
        """
        if self.unsure and self.stops:
            with _FIRST_RUN:
                if self.unsure:
                    return self._first_run(network, args, kwargs)
        if self.where == OUTPUT:
            return _tensor(network(*args, **kwargs), self.where)
        if not self.stops:
            self._value = None
            network(*args, **kwargs)
            value, self._value = self._value, None
            return _tensor(value, self.where)
        try:
            network(*args, **kwargs)
        except _Reached as end:
            return _tensor(end.value, self.where)
        raise self._missed(network)

    def _missed(self, network: nn.Module) -> SpecError:
        return SpecError(
            f"{type(network).__name__} ran to its end without {self.where.removeprefix(BEFORE)!r}, where it is cut; "
            "cut at a module that it uses"
        )

    def _first_run(self, network: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Tensor:
        """Run to the end, see which layer comes last, and return what there is at the cut."""
        ran: list[str] = []

        def noting(name: str) -> Callable[[nn.Module, tuple[Any, ...]], None]:
            return lambda module, given: ran.append(name)

        hooks = [layer.register_forward_pre_hook(noting(name)) for name, layer in _layers(network)]
        self._in_first_run, self._value, output = True, None, None
        try:
            output = network(*args, **kwargs)
        except Exception:
            # What comes after the cut need not take samples of this size: it will not see any more of them.
            if self._value is None:
                raise
        finally:
            self._in_first_run = False
            value, self._value = self._value, None
            for hook in hooks:
                hook.remove()
        if self.where != OUTPUT and value is None:
            raise self._missed(network)
        self._check_last(network, ran)
        self.unsure = False
        return _tensor(output if self.where == OUTPUT else value, self.where)

    def _check_last(self, network: nn.Module, ran: list[str]) -> None:
        """Refuse the usual cut if layers run in another order than they were made in, so that it is not at the end."""
        if not ran:
            return
        layers = dict(_layers(network))
        name, last = self.where.removeprefix(BEFORE), ran[-1]
        if self.where == OUTPUT:
            right, name = not _is_head(layers[last]), list(layers)[-1]
        else:
            right = ran.index(name) == len(ran) - 1
        if not right:
            way = f"{BEFORE}{last}" if ran.count(last) == 1 else OUTPUT
            raise SpecError(
                f"where {type(network).__name__} ends cannot be told from the order of its layers: {name!r} was made "
                f"last, and {last!r} runs last; say it: cut={way!r}, or any module of dict(model.named_modules())"
            )


def _cloned(value: object) -> object:
    """Return what a module gives with tensors of its own, which no later module changes in place."""
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, Mapping):
        return {name: _cloned(one) for name, one in value.items()}
    return [_cloned(one) for one in value] if isinstance(value, list | tuple) else value


def _tensor(value: object, cut: str) -> Tensor:
    """Return the tensor among what a module gives: outputs with names, dicts, tuples."""
    if isinstance(value, Mapping):
        for name in _NAMED_OUTPUTS:
            if isinstance(value.get(name), Tensor):
                return torch.as_tensor(value[name])
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        value = next((one for one in value if isinstance(one, Tensor)), None)
    if not isinstance(value, Tensor):
        raise ShapeError(
            f"at its cut ({cut}) the network gives {type(value).__name__}, no tensor; cut elsewhere"
        )
    return value
