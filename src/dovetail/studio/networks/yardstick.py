"""What the outputs of a network are measured by: a truth table, a test split, or how far they move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from ...data import BooleanTask, boolean_task
from ...data.boolean.table import input_table
from ...errors import DovetailError
from ..held_data import HeldData

Measure = Literal["bits", "classes", "movement"]

_MOST_INPUTS, _RANDOM_ROWS = 14, 256
_SEED = 0


@dataclass(frozen=True, eq=False)
class Yardstick:
    """Samples, and what a network should say to them.

    Attributes
    ----------
    measure : {"bits", "classes", "movement"}
        What is told of each output: the share of rows in which its bit is right; the accuracy on its class; or how far
        it moves, against how much it varies from sample to sample.
    text : str
        What is measured, in words.
    x : Tensor
        The samples.
    y : Tensor, optional
        Bits or class ids; where there are none, what the whole network says is taken to be right.
    """

    measure: Measure
    text: str
    x: Tensor
    y: Tensor | None = None


def of_boolean(task: str, inputs: int, accuracy: float) -> Yardstick:
    """Return the truth table that a sculpture was made for.

    A sculpture tells the name of its task. Where that names no family, its own answers stand for the table: they are
    what it was, except for the bits that the sculpture gets wrong.

    Examples
    --------
    >>> of_boolean("[4,2,4]", 4, 1.0).text
    'share of the 16 rows of the truth table of [4,2,4] that are right'
    """
    if inputs > _MOST_INPUTS:
        rows = (
            torch.rand(2**_MOST_INPUTS, inputs, generator=torch.Generator().manual_seed(_SEED)) < 0.5
        ).float()
        what = f"{2**_MOST_INPUTS:,} random rows of its truth table"
    else:
        rows, what = input_table(inputs), f"the {2**inputs:,} rows of its truth table"
    known = _family(task)
    if known is not None and known.inputs == inputs and inputs <= _MOST_INPUTS:
        what = f"the {len(rows):,} rows of the truth table of {task}"
        return Yardstick("bits", f"share of {what} that are right", known.x, known.y)
    right = (
        "right" if accuracy == 1 else f"as in the whole network, which gets {accuracy:.2%} of all bits right"
    )
    return Yardstick("bits", f"share of {what} that are {right}", rows)


def of_data(data: HeldData, note: str = "") -> Yardstick:
    """Return the test split of a data set, and say a note about it.

    Examples
    --------
    >>> from dovetail.studio.held_data import DataShelf
    >>> of_data(DataShelf().get("digits")).text
    'accuracy on each class of the test split of digits'
    """
    if data.task == "values":
        return of_nothing(data.input_shape, f"{data.name} has neither bits nor classes")
    measure: Measure = "bits" if data.task == "bits" else "classes"
    what = "share that is right" if measure == "bits" else "accuracy on each class"
    text = f"{what} of the test split of {data.name}"
    return Yardstick(measure, f"{text} ({note})" if note else text, data.test.x, data.test.y)


def of_nothing(input_shape: tuple[int, ...], why: str = "") -> Yardstick:
    """Return random inputs, for a network that nothing is known of.

    Examples
    --------
    >>> of_nothing((4,)).measure
    'movement'
    """
    x = torch.randn(_RANDOM_ROWS, *input_shape, generator=torch.Generator().manual_seed(_SEED))
    text = f"how far the output moves on {_RANDOM_ROWS} random inputs, as a share of how much it varies over them"
    return Yardstick("movement", f"{text} ({why})" if why else text, x)


def _family(task: str) -> BooleanTask | None:
    try:
        return boolean_task(task) if task.startswith("[") else None
    except DovetailError:
        return None  # a table that somebody gave such a name
