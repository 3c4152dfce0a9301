"""A composite as a matrix of its parts and its outputs: how strongly each part speaks for and against each class."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pydantic import BaseModel
from torch import Tensor

from ...errors import ShapeError
from ...graph.chain import layer_chain
from ...specialists import Composite, Specialist
from .limits import MOST_WEIGHTS
from .network import Matrix, matrices_of


class PartsMatrix(BaseModel):
    """Rows are parts, by what they know; columns are outputs; ``own`` says which of them a part knows.

    A strength is the root of the summed squares of the weights that lead from a part's last hidden layer to an output,
    less their mean over its outputs: what is the same for all outputs, a softmax does not see.
    """

    parts: list[str]
    outputs: list[str]
    strengths: list[list[float]]
    own: list[list[bool]]


def parts_matrix(composite: Composite) -> PartsMatrix | None:
    """Return the parts of a composite by its outputs; None where their layers are in no order, or far too large.

    An output that a part has never heard of has no weights in it, and strength 0.
    """
    members = composite.specialists
    if sum(packed.shape.numel() for member in members for packed in member.weights.values()) > MOST_WEIGHTS:
        return None
    strengths = [_strengths(member, composite.classes) for member in members]
    if any(row is None for row in strengths):
        return None
    return PartsMatrix(
        parts=[member.knows for member in members],
        outputs=list(composite.classes),
        strengths=[row for row in strengths if row is not None],
        own=[[name in member.known for name in composite.classes] for member in members],
    )


def _strengths(member: Specialist, outputs: tuple[str, ...]) -> list[float] | None:
    last = _last_matrix(member.state_dict())
    if last is None or len(last) != len(member.classes):
        return None
    norms = np.linalg.norm(last - last.mean(0), axis=1)
    by_name = dict(zip(member.classes, norms.tolist(), strict=True))
    return [round(by_name.get(name, 0.0), 4) for name in outputs]


def _last_matrix(tensors: Mapping[str, Tensor]) -> Matrix | None:
    try:
        chain = layer_chain(tensors)
    except ShapeError:
        return None
    return matrices_of(tensors, chain[-1:])[0] if chain else None
