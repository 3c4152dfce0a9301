"""The trace of a network: it is run once on an example, and every operation on the way is written down.

Running it follows any Python code, whatever it branches on; symbolic tracing would stop at the first branch. What is
written down are PyTorch's functions as the code calls them (``linear``, ``relu``, ``Tensor.view``), before they are
taken apart. Whatever depends on the weights alone (a pruning mask, a parametrisation) is simply computed.
"""

from __future__ import annotations

import linecache
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.weak import WeakTensorKeyDictionary

from ..errors import DovetailError, ShapeError, SpecError, memory_is_full
from ..nets import keep_random_state
from . import expand
from .aliases import Layout, Writes, version

_TORCH = str(Path(torch.__file__).parent)
_HERE = {__file__, expand.__file__}

_SAME_AS = {
    **dict.fromkeys(("iadd", "radd"), "add"),
    **dict.fromkeys(("isub", "subtract"), "sub"),
    **dict.fromkeys(("imul", "rmul", "multiply"), "mul"),
    **dict.fromkeys(("truediv", "itruediv", "divide", "true_divide"), "div"),
    **dict.fromkeys(("rtruediv", "rdiv"), "reciprocal"),
    **dict.fromkeys(("concat", "concatenate"), "cat"),
    **dict.fromkeys(("imatmul", "mm", "bmm"), "matmul"),
    "negative": "neg",
    "clip": "clamp",
    "absolute": "abs",
}

# What leaves PyTorch is lost from sight.
_OUT_OF_SIGHT = {"numpy", "tolist", "array"}

# These read no more of a tensor than its shape and type.
_CONSTANT = {
    *(f"new_{kind}" for kind in ("zeros", "ones", "full", "empty")),
    *(f"{kind}_like" for kind in ("zeros", "ones", "full", "empty", "rand", "randn")),
}


@dataclass(frozen=True)
class Value:
    """A tensor that depends on the network's input.

    Attributes
    ----------
    index : int
        Tensors are numbered as they come about; the input is number 0.
    shape : tuple of int
        Its shape.
    """

    index: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Place:
    """Where in a network an operation is.

    Attributes
    ----------
    module : str
        Path of the innermost module; empty for the network itself.
    kind : str
        The class of that module.
    line : str or None
        File, line and code outside of PyTorch; None when a module of PyTorch calls it and no other code.
    """

    module: str
    kind: str
    line: str | None

    def __str__(self) -> str:
        where = f"in module {self.module!r} ({self.kind})" if self.module else f"in the network ({self.kind})"
        return where if self.line is None else f"{where}, {self.line}"


@dataclass(frozen=True)
class Call:
    """A function of PyTorch that was called with tensors that depend on the input.

    Attributes
    ----------
    name : str
        What it does, in one word, however it was called: ``add`` for ``+``, ``+=``, ``torch.add`` and ``Tensor.add_``.
    function : callable
        The function.
    args, kwargs
        What it was called with; a `Value` stands for each tensor that depends on the input.
    results : tuple of Value
        The tensors that it returned.
    place : Place
        Where.
    number : int
        How many functions of this name were called before it, on whatever. `name` and `number` find the call again
        when the network runs another time.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    results: tuple[Value, ...]
    place: Place
    number: int

    @cached_property
    def operands(self) -> tuple[Value, ...]:
        """The values among the arguments, each once, in order."""
        return tuple(dict.fromkeys(values_in((self.args, self.kwargs))))

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """Return an argument, however it was passed."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[position] if len(self.args) > position else default


@dataclass(frozen=True)
class Trace:
    """What a network did to its input.

    Attributes
    ----------
    source : Value
        The input.
    calls : tuple of Call
        What contributes to the outputs, in order of execution.
    outputs : tuple of Value
        What the network returned.
    users : mapping from int
        How many calls use each value; being an output counts as a use.
    weight_names : mapping from int to str
        Names of the network's parameters and buffers, by ``id``.
    """

    source: Value
    calls: tuple[Call, ...]
    outputs: tuple[Value, ...]
    users: Mapping[int, int]
    weight_names: Mapping[int, str]


def values_in(tree: object) -> list[Value]:
    """Return the values in nested arguments."""
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Value)]


def tensors_in(tree: object) -> list[Tensor]:
    """Return the tensors in nested arguments or results."""
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def contributing(calls: Iterable[Call], outputs: Iterable[Value]) -> tuple[tuple[Call, ...], Counter[int]]:
    """Return the calls that the outputs depend on, and how often each value is used by these or as an output."""
    users = Counter(value.index for value in outputs)
    kept = []
    for call in reversed(list(calls)):
        if any(users[value.index] for value in call.results):
            kept.append(call)
            users.update(value.index for value in call.operands)
    return tuple(reversed(kept)), users


def record(network: nn.Module, example_input: Tensor) -> Trace:
    """Return what a network does to an example of its input, in evaluation mode."""
    # Two samples show as much as many.
    example = example_input[:2].detach().clone()
    weight = next((weight for weight in network.parameters() if weight.is_floating_point()), example)
    example = example.to(weight.device)
    if example.is_floating_point():
        example = example.to(weight.dtype).requires_grad_()
    try:
        try:
            frozen = not example.requires_grad and not any(p.requires_grad for p in network.parameters())
            recorder, outputs = _run(network, example, gradients=True, strict=frozen)
        except RuntimeError as error:
            # Autograd alone minds writing into what chunk, split and unbind return.
            if "function that returns multiple views" not in str(error):
                raise
            recorder, outputs = _run(network, example, gradients=False, strict=True)
    except DovetailError:
        raise
    except Exception as error:
        if memory_is_full(error):
            raise
        raise ShapeError(
            f"the network fails on example_input of shape {tuple(example_input.shape)}: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not outputs:
        raise SpecError("the network returns no tensor that depends on its input")
    calls, users = contributing(recorder.calls, outputs)
    named = [*network.named_parameters(), *network.named_buffers()]
    names = {id(tensor): _plain_path(name) for name, tensor in named}
    return Trace(Value(0, tuple(example.shape)), calls, tuple(outputs), users, names)


def _run(
    network: nn.Module, example: Tensor, *, gradients: bool, strict: bool
) -> tuple[_Recorder, list[Value]]:
    """Run a network once; return what was recorded, and its outputs."""
    recorder = _Recorder(network, strict=strict)
    watching = recorder.watching(network)
    with evaluating(network), keep_random_state(), watching, torch.set_grad_enabled(gradients):
        recorder.add(example)
        with recorder:
            # The copy is no leaf, so the network may change it in place.
            output = network(example.clone())
        return recorder, recorder.up_to_date(tensors_in(output))


class _Recorder(TorchFunctionMode):
    """Sees every function of PyTorch that is called, and keeps those that touch what depends on the input.

    Where it is strict, tensors that came about out of sight are all refused. Else only those with a gradient are, as
    others are mere constants; that takes a run with gradients.
    """

    def __init__(self, network: nn.Module, *, strict: bool) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.values = WeakTensorKeyDictionary()
        self._modules: list[tuple[str, str]] = []
        self._count = 0
        self._called: Counter[str] = Counter()
        self._writes = Writes[tuple[Value, Call]]()
        # Tensors that surely do not depend on the input.
        self._strict = strict
        self._constants = WeakTensorKeyDictionary()
        own = (attribute for module in network.modules() for attribute in vars(module).values())
        for tensor in (*network.parameters(), *network.buffers(), *own):
            if isinstance(tensor, Tensor):
                self._constants[tensor] = True

    def add(self, tensor: Tensor) -> Value:
        value = Value(self._count, tuple(tensor.shape))
        self._count += 1
        self.values[tensor] = value
        return value

    def up_to_date(self, tensors: Iterable[Tensor]) -> list[Value]:
        """Return what tensors hold now, of those that depend on the input.

        A tensor may have changed by what was written through another that shares its memory: a view, or what it is a
        view of. Such writes are calls of the name ``write``.
        """
        found = []
        for tensor in tensors:
            value = self.values.get(tensor)
            time = -1 if value is None else value.index
            for write in self._writes.since(time, tensor) if self._writes else ():
                written, call = write.content
                args = (value, written, Layout.of(tensor), write.layout)
                value = self.add(tensor)
                self.calls.append(Call("write", call.function, args, {}, (value,), call.place, call.number))
            if value is not None:
                found.append(value)
        return found

    @contextmanager
    def watching(self, network: nn.Module) -> Iterator[None]:
        """Keep note of the module that runs."""
        hooks = []
        for path, module in network.named_modules():
            here = (_plain_path(path), type(module).__name__)
            hooks.append(module.register_forward_pre_hook(lambda *_, here=here: self._modules.append(here)))
            hooks.append(module.register_forward_hook(lambda *_: self._leave()))
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def _leave(self) -> None:
        self._modules.pop()

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = one_word(func)
        if (written_out := expand.EXPANSIONS.get(name)) is not None:
            with self:
                result = written_out(*args, **kwargs)
            if result is not NotImplemented:
                return result
        given = tensors_in((args, kwargs))
        number = self._called[name]
        self._called[name] += 1
        followed = self.up_to_date(given) and name not in _CONSTANT
        before = tree_map(self._value, (args, kwargs)) if followed else None
        self._check_origin(func, given)
        if before is None:
            result = func(*args, **kwargs)
            for tensor in tensors_in(result):
                self._constants[tensor] = True
            return result
        versions = [version(tensor) for tensor in given]
        result = func(*args, **kwargs)
        made = tensors_in(result)
        if name in _OUT_OF_SIGHT:
            raise SpecError(
                f"cannot follow {title(func)} {self._place()}: what becomes of the values then cannot be seen"
            )
        changed = [tensor for tensor, was in zip(given, versions, strict=True) if version(tensor) != was]
        # What is changed in place is returned, except by y[...] = x; what shares its memory changes as well.
        written = [tensor for tensor in changed if any(tensor is other for other in made)]
        if changed and not written:
            written = [args[0]] if name == "setitem" else changed
            made += written
        if made:
            results = tuple(self.add(tensor) for tensor in made)
            before[1].pop("out", None)  # what was there does not matter
            call = Call(name, func, before[0], before[1], results, self._place(), number)
            self.calls.append(call)
            for tensor in written:
                value = self.values[tensor]
                self._writes.note(tensor, value.index, (value, call))
        return result

    def _check_origin(self, func: Callable[..., Any], given: list[Tensor]) -> None:
        """Refuse tensors that were computed where nobody saw it: they may well depend on the input."""
        for tensor in given:
            unseen = tensor not in self.values and tensor not in self._constants
            if unseen and (self._strict or tensor.grad_fn is not None):
                raise SpecError(
                    f"cannot follow what {title(func)} reads {self._place()}: it comes from compiled code "
                    "(TorchScript or an extension) or from outside the network; use plain PyTorch there"
                )

    def _value(self, leaf: object) -> object:
        return self.values.get(leaf, leaf) if isinstance(leaf, Tensor) else leaf

    def _place(self) -> Place:
        path, kind = self._modules[-1] if self._modules else ("", "")
        frame = sys._getframe(1)
        while frame.f_back is not None:
            frame = frame.f_back
            file = frame.f_code.co_filename
            if file == __file__ and frame.f_code.co_name == "record":
                break
            if file not in _HERE and not file.startswith(_TORCH):
                code = linecache.getline(file, frame.f_lineno).strip()
                return Place(path, kind, f"{code!r} at {file}:{frame.f_lineno}")
        return Place(path, kind, None)


@lru_cache(maxsize=4096)
def one_word(function: Callable[..., Any]) -> str:
    """Return what a function of PyTorch does, in one word, the same for all ways to call it.

    Examples
    --------
    >>> one_word(torch.Tensor.__iadd__), one_word(torch.relu_), one_word(torch.Tensor.T.__get__)
    ('add', 'relu', 'T')
    """
    parts = title(function).split(".")
    word = parts[-2] if parts[-1] == "__get__" else parts[-1]
    word = word.strip("_")
    return _SAME_AS.get(word, word)


@lru_cache(maxsize=4096)  # PyTorch takes its time
def title(function: Callable[..., Any]) -> str:
    """Return the full name of a function of PyTorch."""
    return resolve_name(function) or str(getattr(function, "__name__", function))


def plain_module(network: nn.Module) -> nn.Module:
    """Return the network itself where ``torch.compile`` has put a wrapper around it."""
    inner = getattr(network, "_orig_mod", network)
    assert isinstance(inner, nn.Module)
    return inner


def as_written() -> AbstractContextManager[None]:
    """Let what ``torch.compile`` has compiled run as it was written: operations inside compiled code cannot be seen."""
    # Whoever has compiled something has loaded this; to load it takes seconds.
    compiled = "torch._dynamo" in sys.modules
    return torch.compiler.set_stance("force_eager") if compiled else nullcontext()


def _plain_path(path: str) -> str:
    """Return a name in a network without the wrappers that ``torch.compile`` puts around modules."""
    return path.replace("._orig_mod", "").removeprefix("_orig_mod.")


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """Put a network into evaluation mode, and leave the mode of each of its modules, and buffers, as they were."""
    modes = [(module, module.training) for module in network.modules()]
    buffers = [(buffer, buffer.detach().clone()) for buffer in network.buffers()]
    try:
        with as_written():
            network.eval()
            yield
    finally:
        for module, mode in modes:
            module.training = mode
        for buffer, value in buffers:
            if not torch.equal(buffer, value):
                with torch.no_grad():
                    buffer.copy_(value)
