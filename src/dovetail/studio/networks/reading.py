"""Networks from files: a sculpture, a specialist or composite, modules as JSON, or anybody's weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from torch import Tensor

from ...errors import DataError, FileFormatError, ShapeError
from ...graph.chain import ASSUMED, Layer, foreign_tensor, layer_chain
from ...graph.matrices import read_tensors
from ...io.fields import parse, take, whole
from ...io.header import read_header
from ...opening import kind_of, open_hierarchy
from ...sculpting import Sculpture, open_sculpture
from ...sculpting.modules.hierarchy import Unit
from ...sculpting.modules.reach import used_units
from ...sculpting.pruning.start import perceptron_of
from ...specialists import Composite, Specialist, open_file
from ...specialists.fitting import data_note, in_own_slots
from ...specialists.part import Part
from ..held_data import DataCache
from .limits import (
    MOST_BYTES,
    MOST_TEXT_BYTES,
    MOST_WEIGHTS,
    check_bytes,
    check_part,
    check_shapes,
    dense_shapes,
)
from .network import Network, Slot, matrices_of
from .parts_matrix import parts_matrix
from .yardstick import Yardstick, of_boolean, of_data, of_nothing


def read_network(path: Path) -> Network:
    """Return the network in a file. Nothing in the file is run, and none that is too large is read.

    Raises
    ------
    FileFormatError
        For a file that is damaged, foreign, too large, or holds no network.
    """
    check_bytes(path, MOST_TEXT_BYTES if path.suffix == ".json" else MOST_BYTES)
    if path.suffix == ".json":
        return _of_modules(path)
    readers = {"sculpture": _of_sculpture, "part": _of_part}
    return readers.get(kind_of(path) or "", _of_weights)(path)


def _of_sculpture(path: Path) -> Network:
    widths = [whole(width) for width in take(read_header(path), "widths", list)]
    check_shapes(path.name, dense_shapes(widths))
    sculpture = open_sculpture(path)
    facts = {"made for": sculpture.task, "seed": str(sculpture.seed), "outcome": sculpture.outcome}
    facts["accuracy"] = f"{sculpture.accuracy:.2%} of validation, at least {sculpture.threshold:.2%} asked"
    tensors = sculpture.network.state_dict()
    return Network(
        "sculpture", f"Sculpture for {sculpture.task}, seed {sculpture.seed}", facts, tensors,
        tuple(layer_chain(tensors)),
        sculpture.hierarchy, perceptron_of, partial(_yardstick_of, sculpture), sculpture.output_names,
        doubt="" if sculpture.outcome != "not learned" else "It did not learn its task, so it was not pruned.",
        explanation=sculpture.explanation,
    )  # fmt: skip


def _yardstick_of(sculpture: Sculpture, cache: DataCache) -> Yardstick:
    if sculpture.truth_table:
        return of_boolean(sculpture.task, sculpture.widths[0], sculpture.accuracy)
    try:
        return of_data(cache.get(sculpture.task))
    except DataError as error:
        return of_nothing((sculpture.widths[0],), str(error))


def _of_part(path: Path) -> Network:
    blueprint = check_part(path)
    part = open_file(path)
    facts = {"network": str(blueprint.net), "knows": part.knows, "data": part.specialists[0].provenance.data}
    if isinstance(part, Composite):
        facts["made of"] = f"{len(part)} specialists, by {part.method}"
        if part.method == "logits":
            doubt = "It averages the logits of several networks; open its specialists one by one, or compose a sum."
            return Network(
                "composite",
                repr(part),
                facts,
                {},
                (),
                output_names=part.classes,
                doubt=doubt,
                parts=parts_matrix(part),
            )
    tensors = part.state_dict()
    chain, doubt = _chain(tensors)
    return Network(
        "composite" if isinstance(part, Composite) else "specialist", repr(part), facts, tensors, chain, None,
        blueprint.network, partial(_of_classes, part), part.classes, slots_of(part, chain), doubt,
        parts=parts_matrix(part) if isinstance(part, Composite) else None,
    )  # fmt: skip


def _of_classes(part: Specialist | Composite, cache: DataCache) -> Yardstick:
    provenance = part.specialists[0].provenance
    try:
        data = cache.of_part(part)
    except DataError as error:
        return of_nothing(part.blueprint.input_shape, str(error))
    return of_data(data, data_note(provenance, data))


def _of_modules(path: Path) -> Network:
    try:
        content = parse(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, FileFormatError) as error:
        raise FileFormatError(f"{path.name!r} cannot be read as JSON: {str(error)[:100]}") from error
    if isinstance(content, dict) and isinstance(content.get("sizes"), list):
        check_shapes(path.name, dense_shapes([whole(size) for size in content["sizes"]]))
    doubt = "The file says which edges there are, but not their weights."
    return Network("modules", "Modules of a network", {}, {}, (), open_hierarchy(path), doubt=doubt)


def _of_weights(path: Path) -> Network:
    tensors = read_tensors(path)
    check_shapes(path.name, [tensor.shape for tensor in tensors.values()])
    tensors = {name: _floats(path.name, name, tensor) for name, tensor in tensors.items()}
    weights = sum(tensor.numel() for tensor in tensors.values())
    facts = {"tensors": f"{len(tensors):,}", "numbers": f"{weights:,}"}
    chain, doubt = _chain(tensors)
    if not chain:
        return Network("checkpoint", "Weights from a file", facts, tensors, chain, doubt=doubt)
    foreign = foreign_tensor(tensors, chain)
    if foreign:
        doubt = f"It cannot be run: {foreign!r} is neither the weights nor the bias of a dense layer."
        return Network("checkpoint", "Weights from a file", facts, tensors, chain, doubt=doubt)
    return Network(
        "checkpoint", "Weights from a file", facts, tensors, chain, None,
        perceptron_of, partial(_of_inputs, chain[0].inputs),
        doubt=f"Taken to be {ASSUMED}, because the file does not say.",
    )  # fmt: skip


def _of_inputs(count: int, _: DataCache) -> Yardstick:
    return of_nothing((count,), "the file says nothing of its data")


def _floats(file: str, name: str, tensor: Tensor) -> Tensor:
    """Return a tensor as the rest of the view expects it: dense, and of floats unless its numbers are complex."""
    try:
        return tensor.to_dense() if tensor.is_complex() else tensor.to_dense().float()
    except RuntimeError as error:  # a type that PyTorch itself can only store
        raise FileFormatError(f"{file!r} has numbers of the type {tensor.dtype} in {name!r:.100}") from error


def _chain(tensors: Mapping[str, Tensor]) -> tuple[tuple[Layer, ...], str]:
    """Return layers that read one another in order; or none, and why."""
    try:
        found = tuple(layer_chain(tensors))
    except ShapeError as error:
        return (), f"Its layers cannot be put in order: {error}."
    if not found or any(0 in tensors[layer.weight].shape for layer in found):
        return (), f"There is no layer among its {len(tensors)} tensors."
    if any(tensors[layer.weight].is_complex() for layer in found):
        return (), "Its weights are complex numbers."
    for layer, matrix in zip(found, matrices_of(tensors, found), strict=True):
        if not np.isfinite(matrix).all():
            return (), f"{layer.weight!r} holds numbers that are not finite, or too large."
    return found, ""


def slots_of(part: Part, chain: Sequence[Layer]) -> dict[str, Slot]:
    """Return what belongs to each specialist of a composite in slots, and the inputs as one more.

    Nothing where specialists share hidden units.
    """
    members = part.specialists
    size = sum(layer.inputs * layer.units for layer in chain) * len(members)
    if not isinstance(part, Composite) or len(members) < 2 or not chain or size > MOST_WEIGHTS:
        return {}
    if not in_own_slots(members) or any(member.blueprint != part.blueprint for member in members):
        return {}
    slots: dict[str, Slot] = {}
    for member in members:
        edges = [matrix != 0 for matrix in matrices_of(member.state_dict(), chain)]
        used = used_units(edges)
        hidden = {(layer, unit) for layer in range(1, len(chain)) for unit in used[layer].tolist()}
        units = frozenset(hidden.union((len(chain), number) for number in member.rewarded))
        slots[member.knows] = Slot(units, partial(_tensors_without, part, member))
    different: set[Unit] = set().union(*(slot.units for slot in slots.values()))
    if len(different) < sum(len(slot.units) for slot in slots.values()) or len(slots) < len(members):
        return {}
    return slots | {"inputs": Slot(frozenset((0, unit) for unit in range(chain[0].inputs)))}


def _tensors_without(composite: Composite, member: Specialist) -> Mapping[str, Tensor]:
    return (composite - member).state_dict()
