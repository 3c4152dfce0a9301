"""Recordings: what a function does to tensors, as a list of operations that can be run again without the function.

On the CPU a function runs once, on copies of its inputs, and every operation is written down, below `vmap` and
autograd. What was written is then made shorter: what changes nothing is left out, and what depends on no input is
computed once for all. torch's own `make_fx` writes the same list, but takes longer and imports torch's compiler, which
takes a second: as much as all else that a first training needs.

On CUDA, where memory is short and Triton imports as much anyway, `make_fx` writes, on stand-ins without data.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import getitem
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, GraphModule, Node
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
from torch.utils._pytree import tree_flatten, tree_map_only
from torch.utils.weak import WeakTensorKeyDictionary

_SMALL_PRODUCT = 2**21
"""Multiplications of a product that is done twice for one member, where threads would split it."""

_MOST_KEPT = 2**22
"""Numbers of a tensor that is computed once and kept, at most."""

_aten = torch.ops.aten
_SAME_AGAIN = {
    _aten.detach.default, _aten.alias.default, _aten.expand.default, _aten.reshape.default, _aten.view.default,
    _aten._unsafe_view.default,
}  # fmt: skip
"""What gives its input back where the shape is what it was."""
_IN_PLACE = {_aten.scatter_add.default: _aten.scatter_add_.default, _aten.scatter.src: _aten.scatter_.src}


def record(function: Callable[..., Any], tensors: Sequence[Any]) -> GraphModule:
    """Return the operations of a function of these tensors, as a module that takes all tensors among them in order.

    No input is changed. Values that are no tensors are fixed; tensors from outside are read anew every time.

    Parameters
    ----------
    function : callable
        From tensors, or mappings and sequences of such, to the same.
    tensors : sequence
        Arguments of the shapes that it will run on.

    Raises
    ------
    RuntimeError
        When what it does depends on values.

    Examples
    --------
    >>> doubled = record(lambda x, factor: x * factor, (torch.ones(3), 2))
    >>> doubled(torch.arange(3.0))
    tensor([0., 2., 4.])
    """
    given, structure = tree_flatten(tuple(tensors))
    if any(isinstance(one, Tensor) and one.is_cuda for one in given):
        return _on_stand_ins(lambda inputs: function(*structure.unflatten(inputs)), given)
    writing = _Writing()
    inputs = [
        writing.input(one.detach().clone(memory_format=torch.preserve_format))
        if isinstance(one, Tensor)
        else one
        for one in given
    ]
    with writing, _NoValues():
        result = function(*structure.unflatten(inputs))
    writing.graph.output(tree_map_only(Tensor, writing.node_of, result))
    del inputs, result
    graph, held = writing.graph, writing.held
    graph.eliminate_dead_code()
    _shorten(graph)
    held |= _computed_once(graph, held)
    graph.eliminate_dead_code()
    for node in graph.nodes:
        node.meta.clear()
    return GraphModule(held, graph)


def _on_stand_ins(function: Callable[[list[Any]], Any], given: Sequence[Any]) -> GraphModule:
    """Record without computing anything."""
    from torch.fx.experimental.proxy_tensor import make_fx

    places = [place for place, one in enumerate(given) if isinstance(one, Tensor)]

    def of_tensors(*tensors: Tensor) -> Any:
        inputs = list(given)
        for place, tensor in zip(places, tensors, strict=True):
            inputs[place] = tensor
        return function(inputs)

    with _quiet("torch._subclasses.fake_tensor"):
        write = make_fx(of_tensors, tracing_mode="fake", _allow_non_fake_inputs=True)
        recording = write(*[given[place] for place in places])
    recording.graph.eliminate_dead_code()
    for node in recording.graph.nodes:
        _do_better(node)
    for node in recording.graph.nodes:
        node.meta.clear()  # stand-ins, which another thread would free later, while it or a third one records
    recording.recompile()
    return recording


def is_recording() -> bool:
    """Whether what is computed now, in this thread, is written down."""
    if torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.PROXY) is not None:
        return True  # by make_fx
    return any(isinstance(mode, _Writing) for mode in _get_current_dispatch_mode_stack())


class _NoValues(TorchFunctionMode):
    """Refuses what takes values out of tensors by other ways than operations."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func in _TO_VALUES:
            raise _depends_on_values(func.__name__)
        return func(*args, **(kwargs or {}))


_TO_VALUES = {Tensor.numpy, Tensor.__array__, Tensor.tolist, Tensor.data_ptr}


def _depends_on_values(name: str) -> RuntimeError:
    return RuntimeError(
        f"{name} makes it data-dependent: values of tensors are not known while it is recorded"
    )


class _Writing(TorchDispatchMode):
    """Writes down every operation.

    Attributes
    ----------
    graph : torch.fx.Graph
        What is written; each node knows the shape of its tensor.
    held : dict of str to Tensor
        Tensors that were there before, by the names that they have in the graph.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.graph = Graph()
        self.held: dict[str, Any] = {}
        # Tensors are freed as they are where nothing is written, so it needs no more memory.
        self._nodes: Any = WeakTensorKeyDictionary()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # torch's compiler would be imported, only to be told to stay out

    def input(self, tensor: Tensor) -> Tensor:
        """Take a tensor as the next input."""
        return self._is(tensor, self.graph.placeholder(f"input_{len(self.graph.nodes)}"))

    def node_of(self, tensor: Tensor) -> Node:
        """Return where a tensor comes from."""
        node: Node | None = self._nodes.get(tensor)
        if node is None:
            name = f"held_{len(self.held)}"
            self.held[name] = tensor
            node = self.graph.get_attr(name)
            self._is(tensor, node)
        return node

    def _is(self, tensor: Tensor, node: Node) -> Tensor:
        self._nodes[tensor] = node
        node.meta["shape"] = tensor.shape
        return tensor

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func.namespace != "prim" and func._can_decompose():
            with self:  # made of others, which are written
                found = func.decompose(*args, **kwargs)
            if found is not NotImplemented:
                return found
        if func is _aten.lift_fresh.default:  # a tensor that is written out in the code, every time a new one
            func = _aten.lift_fresh_copy.default
        given = tree_map_only(Tensor, self.node_of, (tuple(args), kwargs))
        if {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape} & {*func.tags}:
            inputs, _ = tree_flatten(given)
            if any(isinstance(node, Node) and _depends_on_input(node) for node in inputs):
                raise _depends_on_values(str(func))
        found = func(*args, **kwargs)
        tensors, _ = tree_flatten(found)
        if not any(isinstance(tensor, Tensor) for tensor in tensors):
            return found
        node = self.graph.call_function(func, *given)
        if isinstance(found, Tensor):
            return self._is(found, node)
        for place, tensor in enumerate(found):
            if isinstance(tensor, Tensor):
                self._is(tensor, self.graph.call_function(getitem, (node, place)))
        return found


def _depends_on_input(node: Node) -> bool:
    waiting, seen = [node], {node}
    while waiting:
        one = waiting.pop()
        if one.op == "placeholder":
            return True
        fresh = [source for source in one.all_input_nodes if source not in seen]
        seen.update(fresh)
        waiting += fresh
    return False


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Keep a logger silent: it logs a traceback for what is reported as an error anyway."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _shorten(graph: Graph) -> None:
    """Leave out what changes nothing, and do the rest better; as for many members what rounds otherwise for one."""
    for node in list(graph.nodes):
        if node.target in _SAME_AGAIN and node.meta["shape"] == node.args[0].meta["shape"]:
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
        elif not _do_better(node) and _depends_on_company(node):
            _do_beside_a_copy(graph, node)


def _do_better(node: Node) -> bool:
    """Scatter into fresh zeros in place, and view tensors whatever their strides are."""
    if node.target in _IN_PLACE and isinstance(node.args[0], Node) and _is_fresh(node.args[0]):
        node.target = _IN_PLACE[node.target]
    elif node.target is _aten.view.default:
        # Stand-ins may have other strides than what convolutions of one channel really give.
        node.target = _aten.reshape.default
    else:
        return False
    return True


def _depends_on_company(node: Node) -> bool:
    """Whether an operation for one member may round otherwise than for one of several."""
    if node.target not in (_aten.sum.dim_IntList, _aten.mean.dim, _aten.bmm.default):
        return False
    first, second = node.args[:2]
    assert isinstance(first, Node)
    shape = first.meta["shape"]
    if len(shape) < 2 or shape[0] != 1:
        return False
    if node.target is _aten.bmm.default:
        assert isinstance(second, Node)
        return torch.get_num_threads() > 1 and shape.numel() * second.meta["shape"][2] <= _SMALL_PRODUCT
    dims: Any = second
    return all(dim % len(shape) != 0 for dim in dims)


def _do_beside_a_copy(graph: Graph, node: Node) -> None:
    """Do an operation for the first member of a stack of two that are the same."""
    with graph.inserting_before(node):
        inputs = [given for given in node.args if isinstance(given, Node)]
        doubled = {given: graph.call_function(_aten.cat.default, ([given, given],)) for given in inputs}
    with graph.inserting_after(node):
        first = graph.call_function(_aten.slice.Tensor, (node, 0, 0, 1))
    node.replace_all_uses_with(first, delete_user_cb=lambda user: user is not first)
    node.args = tuple(doubled[given] if isinstance(given, Node) else given for given in node.args)
    first.meta = dict(node.meta)


def _is_fresh(node: Node) -> bool:
    """Whether a node is zeros, or a view of zeros, that nothing else uses."""
    while len(node.users) == 1 and node.target in (_aten.view.default, _aten.reshape.default):
        source = node.args[0]
        assert isinstance(source, Node)
        node = source
    return len(node.users) == 1 and node.target in (_aten.new_zeros.default, _aten.zeros.default)


def _computed_once(graph: Graph, held: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Compute what depends on no input and is not written to, and return it by the names that it has from then on."""
    written = _written_to(graph)
    values: dict[Node, Tensor] = {}
    for node in graph.nodes:
        if node.target is _aten.lift_fresh_copy.default and node not in written:
            values[node] = held[str(node.args[0].target)]
        elif _is_same_every_time(node, values) and node not in written:
            args, kwargs = torch.fx.map_arg((node.args, node.kwargs), values.__getitem__)
            with torch.no_grad():
                values[node] = node.target(*args, **kwargs)
    kept: dict[str, Tensor] = {}
    for node, value in values.items():
        if any(user not in values for user in node.users):
            name = f"once_{len(kept)}"
            kept[name] = value
            with graph.inserting_before(node):
                node.replace_all_uses_with(
                    graph.get_attr(name), delete_user_cb=lambda user: user not in values
                )
    return kept


def _is_same_every_time(node: Node, values: Mapping[Node, Tensor]) -> bool:
    """Whether a node is an operation on what is known, which gives one tensor, and draws nothing."""
    operation: Any = node.target
    if not _is_operation(node) or operation.namespace != "aten":
        return False
    if torch.Tag.nondeterministic_seeded in operation.tags or "shape" not in node.meta:
        return False
    known = all(given in values for given in node.all_input_nodes)
    return known and bool(node.meta["shape"].numel() <= _MOST_KEPT)


def _written_to(graph: Graph) -> set[Node]:
    """Return all nodes whose memory is changed after them, through themselves or a view."""
    found: set[Node] = set()
    waiting = [node for node in graph.nodes if _is_operation(node) and node.target._schema.is_mutable]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += _seen_through(node)
    return found


def _seen_through(node: Node) -> list[Node]:
    """Return the inputs of an operation that its result may be a view of, or that it writes to."""
    if not _is_operation(node):
        return node.all_input_nodes
    if node.target in _SAME_AGAIN:
        return node.all_input_nodes[:1]
    arguments = node.target._schema.arguments  # type: ignore[union-attr]
    given = [
        node.args[place] if place < len(node.args) else node.kwargs.get(one.name)
        for place, one in enumerate(arguments)
    ]
    return [
        value
        for one, value in zip(arguments, given, strict=True)
        if one.alias_info and isinstance(value, Node)
    ]


def _is_operation(node: Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload)
