"""An ONNX file as a module: its forward does what the file's graph says, operation by operation.

So it is read like any other network. Only numbers come from the file; what its operations do is written here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..errors import FileFormatError, SpecError
from ..io.plain import check_plain

_UNNAMED = ("onnx::", "val_", "_val_", "tmp_")
"""How exporters name weights that they have computed or cannot name."""


def onnx_network(path: Path) -> OnnxNetwork:
    """Return the network in an ONNX file.

    Raises
    ------
    SpecError
        Without the package onnx, and for operations that are not known.
    FileFormatError
        For a file that is damaged or no ONNX file.
    """
    try:
        import onnx
    except ImportError:
        raise SpecError(
            "ONNX files need the package onnx; install it with pip install 'dovetail-nn[onnx]'"
        ) from None
    check_plain(path)
    try:
        model = onnx.load(os.fspath(path))
        values = [(one.name, _numbers(one)) for one in model.graph.initializer]
    except Exception as error:  # protobuf, numpy and the disk fail in ways of their own
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise FileFormatError(f"{str(path)!r} is damaged, or no ONNX file: {reason:.200}") from error
    given = {name for name, _ in values}
    inputs = [one for one in model.graph.input if one.name not in given]
    if len(inputs) != 1:
        raise SpecError(f"{str(path)!r} has {len(inputs)} inputs; only networks with one are read")
    kind = inputs[0].type.tensor_type
    shape = [size.dim_value for size in kind.shape.dim]
    nodes = [
        _Node(
            node.op_type, node.name, list(node.input), list(node.output),
            {one.name: _attribute(onnx.helper.get_attribute_value(one)) for one in node.attribute},
        )
        for node in model.graph.node
    ]  # fmt: skip
    unknown = sorted({node.kind for node in nodes} - set(_OPERATIONS) - {"Constant"})
    if unknown:
        raise SpecError(f"{str(path)!r} has operations that are not known here: {', '.join(unknown)}")
    tokens = kind.elem_type in (onnx.TensorProto.INT64, onnx.TensorProto.INT32)
    outputs = [one.name for one in model.graph.output]
    known_shape = tuple(shape[1:]) if len(shape) > 1 and all(shape[1:]) else None
    return OnnxNetwork(nodes, dict(values), inputs[0].name, outputs, known_shape, tokens=tokens)


class _Node:
    """One operation of the graph."""

    def __init__(
        self, kind: str, name: str, inputs: list[str], outputs: list[str], attributes: dict[str, Any]
    ) -> None:
        self.kind, self.name, self.inputs, self.outputs = kind, name, inputs, outputs
        self.attributes = attributes


class OnnxNetwork(nn.Module):
    """A network that an ONNX file describes.

    Attributes
    ----------
    input_shape : tuple of int or None
        Shape of one sample, where the file tells.
    tokens : bool
        Whether its inputs are whole numbers.
    """

    def __init__(
        self,
        nodes: list[_Node],
        values: dict[str, Tensor],
        given: str,
        outputs: list[str],
        input_shape: tuple[int, ...] | None,
        *,
        tokens: bool,
    ) -> None:
        super().__init__()
        self.input_shape, self.tokens = input_shape, tokens
        self._nodes, self._input, self._outputs = nodes, given, outputs
        self._places: dict[str, tuple[nn.Module, str]] = {}
        users: dict[str, str] = {}
        for node in nodes:
            if node.kind == "Constant":
                values[node.outputs[0]] = torch.as_tensor(next(iter(node.attributes.values())))
            for name in node.inputs:
                users.setdefault(name, node.name)
        for name, tensor in values.items():
            unnamed = name.startswith(_UNNAMED) and users.get(name)
            path = f"{users[name]}/weight".strip("/").replace("/", ".") if unnamed else name
            self._put(name, path, tensor)

    def _put(self, name: str, path: str, tensor: Tensor) -> None:
        """Keep a tensor as a parameter or buffer, in modules of the names in its path."""
        *folders, own = path.split(".")
        place: nn.Module = self
        for folder in folders:
            if not isinstance(getattr(place, folder or "_", None), nn.Module):
                if hasattr(place, folder or "_"):
                    folder = f"{folder}_"
                place.add_module(folder or "_", nn.Module())
            place = getattr(place, folder or "_")
        while hasattr(place, own or "_"):
            own = f"{own}_"
        own = own or "_"
        if tensor.is_floating_point():
            place.register_parameter(own, nn.Parameter(tensor, requires_grad=False))
        else:
            place.register_buffer(own, tensor)
        self._places[name] = place, own

    def forward(self, x: Tensor) -> Any:
        """Return the outputs of the graph: a tensor, or a tuple of several."""
        values: dict[str, Any] = {name: getattr(place, own) for name, (place, own) in self._places.items()}
        values[""] = None
        values[self._input] = x
        for node in self._nodes:
            if node.kind == "Constant":
                continue
            results = _OPERATIONS[node.kind](node.attributes, *(values[name] for name in node.inputs))
            if not isinstance(results, tuple):
                results = (results,)
            values.update(zip(node.outputs, results, strict=False))
        found = tuple(values[name] for name in self._outputs)
        return found[0] if len(found) == 1 else found


def _numbers(tensor: Any) -> Tensor:
    from onnx import numpy_helper

    return torch.from_numpy(numpy_helper.to_array(tensor).copy())


def _attribute(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return _numbers(value) if hasattr(value, "data_type") else value


Attributes = dict[str, Any]


def _whole(values: Tensor | Sequence[int] | None) -> list[int]:
    if values is None:
        return []
    return [int(value) for value in (values.tolist() if isinstance(values, Tensor) else values)]


def _gemm(how: Attributes, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    x = x.T if how.get("transA") else x
    alpha, beta = how.get("alpha", 1.0), how.get("beta", 1.0)
    if alpha != 1:
        weight = weight * alpha
    found = F.linear(x, weight) if how.get("transB") else x @ weight
    return found if bias is None else found + (bias if beta == 1 else bias * beta)


def _pads(how: Attributes, x: Tensor, value: float = 0.0) -> Tensor:
    """Return an input with its places padded, as the attribute ``pads`` says: all beginnings, then all ends."""
    if how.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise SpecError(f"padding by {how['auto_pad']} is not read; export with pads that are written out")
    pads = how.get("pads", [])
    half = len(pads) // 2
    order = [pads[place] for dim in reversed(range(half)) for place in (dim, dim + half)]
    return F.pad(x, order, value=value) if any(order) else x


def _convolution(how: Attributes, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    dims = weight.dim() - 2
    found: Tensor = (F.conv1d, F.conv2d, F.conv3d)[dims - 1](
        _pads(how, x), weight, bias, how.get("strides", [1] * dims), 0, how.get("dilations", [1] * dims),
        how.get("group", 1),
    )  # fmt: skip
    return found


def _transposed(how: Attributes, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    dims = weight.dim() - 2
    pads = how.get("pads", [0] * 2 * dims)
    if pads[:dims] != pads[dims:]:
        raise SpecError("a transposed convolution with pads that differ on both sides is not read")
    found: Tensor = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[dims - 1](
        x, weight, bias, how.get("strides", [1] * dims), pads[:dims], how.get("output_padding", [0] * dims),
        how.get("group", 1), how.get("dilations", [1] * dims),
    )  # fmt: skip
    return found


def _batch_norm(
    how: Attributes, x: Tensor, scale: Tensor, shift: Tensor, mean: Tensor, variance: Tensor
) -> Tensor:
    return F.batch_norm(x, mean, variance, scale, shift, False, 0.0, how.get("epsilon", 1e-5))


def _pool(kind: str) -> Callable[..., Tensor]:
    def pooled(how: Attributes, x: Tensor) -> Tensor:
        size = how["kernel_shape"]
        x = _pads(how, x, -float("inf") if kind == "max" else 0.0)
        function = getattr(F, f"{kind}_pool{len(size)}d")
        found: Tensor = function(
            x, size, how.get("strides", [1] * len(size)), ceil_mode=bool(how.get("ceil_mode"))
        )
        return found

    return pooled


def _reduction(name: str) -> Callable[..., Tensor]:
    def reduced(how: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
        dims = _whole(how.get("axes", axes)) or list(range(x.dim()))
        found: Tensor = getattr(x, name)(dim=dims, keepdim=bool(how.get("keepdims", 1)))
        return found

    return reduced


def _elementwise(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda _, *values: function(*values)


def _folded(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    def folded(_: Attributes, first: Tensor, *others: Tensor) -> Tensor:
        for other in others:
            first = function(first, other)
        return first

    return folded


def _clip(how: Attributes, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    least, most = (
        how.get(name, None if one is None else one.item()) for name, one in (("min", low), ("max", high))
    )
    return x if least is None and most is None else x.clamp(least, most)


def _reshape(_: Attributes, x: Tensor, shape: Tensor) -> Tensor:
    sizes = [x.shape[place] if size == 0 else size for place, size in enumerate(_whole(shape))]
    return x.reshape(sizes)


def _flatten(how: Attributes, x: Tensor) -> Tensor:
    axis = how.get("axis", 1)
    return x.flatten(axis) if axis == 1 else x.reshape(int(torch.Size(x.shape[:axis]).numel()), -1)


def _squeeze(how: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
    dims = _whole(how.get("axes", axes))
    return x.squeeze(tuple(dims)) if dims else x.squeeze()


def _unsqueeze(how: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
    dims = _whole(how.get("axes", axes))
    rank = x.dim() + len(dims)
    for dim in sorted(dim % rank for dim in dims):
        x = x.unsqueeze(dim)
    return x


def _split(how: Attributes, x: Tensor, sizes: Tensor | None = None) -> tuple[Tensor, ...]:
    axis, given = how.get("axis", 0), _whole(how.get("split", sizes))
    return tuple(x.split(given, axis)) if given else tuple(x.chunk(how.get("num_outputs", 2), axis))


def _slice(how: Attributes, x: Tensor, *given: Tensor | None) -> Tensor:
    starts, ends, axes, steps = (
        _whole(how.get(name, given[place] if place < len(given) else None))
        for place, name in enumerate(("starts", "ends", "axes", "steps"))
    )
    index = [slice(None)] * x.dim()
    for place, axis in enumerate(axes or range(len(starts))):
        step = steps[place] if steps else 1
        if step < 0:
            raise SpecError("slices that run backwards are not read")
        index[axis] = slice(starts[place], ends[place], step)
    return x[tuple(index)]


def _gather(how: Attributes, x: Tensor, indices: Tensor) -> Tensor:
    axis = how.get("axis", 0)
    if axis == 0 and x.dim() == 2 and x.is_floating_point():
        return F.embedding(indices, x)
    if indices.dim() == 0:
        return x.select(axis, int(indices))
    found = x.index_select(axis, indices.reshape(-1) % x.shape[axis])  # they may count from the end
    return found.unflatten(axis, indices.shape) if indices.dim() > 1 else found


def _pad(
    how: Attributes, x: Tensor, pads: Tensor | None = None, value: Tensor | None = None, *_: Any
) -> Tensor:
    if how.get("mode", "constant") != "constant":
        raise SpecError(f"padding by {how['mode']} is not read")
    widths = _whole(how.get("pads", pads))
    return _pads({"pads": widths}, x, float(value) if value is not None else how.get("value", 0.0))


def _layer_norm(how: Attributes, x: Tensor, scale: Tensor, shift: Tensor | None = None) -> Tensor:
    axis = how.get("axis", -1)
    return F.layer_norm(x, x.shape[axis:], scale, shift, how.get("epsilon", 1e-5))


def _cast(how: Attributes, x: Tensor) -> Tensor:
    kinds = {
        1: torch.float32,
        6: torch.int32,
        7: torch.int64,
        9: torch.bool,
        10: torch.float16,
        11: torch.float64,
    }
    if how["to"] not in kinds:
        raise SpecError(f"numbers of ONNX kind {how['to']} are not read")
    return x.to(kinds[how["to"]])


def _triangle(how: Attributes, x: Tensor, diagonal: Tensor | None = None) -> Tensor:
    first = 0 if diagonal is None else int(diagonal)
    return x.triu(first) if how.get("upper", 1) else x.tril(first)


def _full(how: Attributes, shape: Tensor) -> Tensor:
    value = how.get("value", torch.zeros(1))
    return torch.full(_whole(shape), value.reshape(()).item(), dtype=value.dtype)


def _range(_: Attributes, start: Tensor, limit: Tensor, step: Tensor) -> Tensor:
    return torch.arange(start.item(), limit.item(), step.item(), dtype=start.dtype)


def _expand(_: Attributes, x: Tensor, shape: Tensor) -> Tensor:
    return x.expand(torch.broadcast_shapes(tuple(x.shape), tuple(_whole(shape))))


def _softmax(name: str) -> Callable[..., Tensor]:
    return lambda how, x: getattr(x, name)(how.get("axis", -1))


def _dequantise(how: Attributes, x: Tensor, scale: Tensor, zero: Tensor | None = None) -> Tensor:
    def along(one: Tensor) -> Tensor:
        return one.reshape([-1 if dim == how.get("axis", 1) % x.dim() else 1 for dim in range(x.dim())])

    if scale.dim():
        scale, zero = along(scale), None if zero is None else along(zero)
    return (x.float() - (0 if zero is None else zero.float())) * scale


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "Gemm": _gemm, "MatMul": _elementwise(torch.matmul), "Conv": _convolution, "ConvTranspose": _transposed,
    "BatchNormalization": _batch_norm, "LayerNormalization": _layer_norm, "DequantizeLinear": _dequantise,
    "InstanceNormalization": lambda how, x, scale, shift: F.instance_norm(x, None, None, scale, shift),
    "MaxPool": _pool("max"), "AveragePool": _pool("avg"),
    "GlobalAveragePool": lambda _, x: x.mean(tuple(range(2, x.dim())), keepdim=True),
    "GlobalMaxPool": lambda _, x: x.amax(tuple(range(2, x.dim())), keepdim=True),
    "ReduceMean": _reduction("mean"), "ReduceSum": _reduction("sum"), "ReduceMax": _reduction("amax"),
    "ReduceMin": _reduction("amin"),
    "Add": _elementwise(torch.add), "Sub": _elementwise(torch.sub), "Mul": _elementwise(torch.mul),
    "Div": lambda _, x, y: x / y if x.is_floating_point() else x // y, "Pow": _elementwise(torch.pow),
    "Max": _folded(torch.maximum), "Min": _folded(torch.minimum), "Sum": _folded(torch.add),
    "Where": _elementwise(torch.where), "Equal": _elementwise(torch.eq), "Greater": _elementwise(torch.gt),
    "Less": _elementwise(torch.lt), "Not": _elementwise(torch.logical_not), "And": _elementwise(torch.logical_and),
    "Relu": _elementwise(torch.relu), "Sigmoid": _elementwise(torch.sigmoid), "Tanh": _elementwise(torch.tanh),
    "Erf": _elementwise(torch.erf), "Exp": _elementwise(torch.exp), "Log": _elementwise(torch.log),
    "Sqrt": _elementwise(torch.sqrt), "Neg": _elementwise(torch.neg), "Abs": _elementwise(torch.abs),
    "Reciprocal": _elementwise(torch.reciprocal), "Sin": _elementwise(torch.sin), "Cos": _elementwise(torch.cos),
    "Softplus": _elementwise(F.softplus), "HardSwish": _elementwise(F.hardswish), "Mish": _elementwise(F.mish),
    "Gelu": lambda how, x: F.gelu(x, approximate=how.get("approximate", "none")),
    "LeakyRelu": lambda how, x: F.leaky_relu(x, how.get("alpha", 0.01)),
    "Elu": lambda how, x: F.elu(x, how.get("alpha", 1.0)), "Selu": _elementwise(F.selu),
    "HardSigmoid": lambda how, x: (x * how.get("alpha", 0.2) + how.get("beta", 0.5)).clamp(0, 1),
    "PRelu": lambda _, x, slope: x.clamp(min=0) + slope * x.clamp(max=0), "Clip": _clip,
    "Softmax": _softmax("softmax"), "LogSoftmax": _softmax("log_softmax"),
    "Reshape": _reshape, "Flatten": _flatten, "Squeeze": _squeeze, "Unsqueeze": _unsqueeze, "Split": _split,
    "Transpose": lambda how, x: x.permute(how.get("perm", list(range(x.dim()))[::-1])),
    "CastLike": lambda _, x, like: x.to(like.dtype), "Trilu": _triangle, "IsNaN": _elementwise(torch.isnan),
    "Concat": lambda how, *values: torch.cat(values, how["axis"]), "Slice": _slice, "Gather": _gather,
    "Tile": lambda _, x, times: x.repeat(_whole(times)), "Expand": _expand, "Pad": _pad,
    "Identity": lambda _, x: x, "Dropout": lambda _, x, *__: x, "Cast": _cast,
    "Shape": lambda _, x: torch.tensor(list(x.shape)), "ConstantOfShape": _full, "Range": _range,
}  # fmt: skip
"""By the names of ONNX: attributes and inputs in, outputs out."""
