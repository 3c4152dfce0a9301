"""The tasks that networks are sculpted for, as units name them: truth tables by family, or pairs of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ...data import BooleanTask, Dataset
    from ...data.boolean import Planted

TaskSettings = Sequence[int] | Mapping[str, Any]
"""A family such as ``[4, 2, 4]``, or a set of image pairs with its options."""

IMAGES = {"mnist": (28, 28), "digits": (8, 8)}
"""Height and width of the images that pairs are made of."""

_CLASSES = {"two-digits": 10, "digit-xor": 8}
_OUTPUTS = {"two-digits": 20, "digit-xor": 3}


class Size(NamedTuple):
    """How large a task is."""

    inputs: int
    outputs: int
    samples: int


def pair_settings(name: str, base: str, pairs: int) -> dict[str, Any]:
    """Return what a unit's settings say about pairs of images."""
    return {"data": name, "base": base, "pairs": pairs, "seed": 0}


def task_name(task: TaskSettings) -> str:
    """Return what a task is called.

    Examples
    --------
    >>> task_name([4, 2, 4]), task_name(pair_settings("two-digits", "mnist", 1_000))
    ('[4,2,4]', 'two-digits')
    """
    return task["data"] if isinstance(task, Mapping) else f"[{','.join(map(str, task))}]"


def task_size(task: TaskSettings) -> Size:
    """Return how large a task is, without making its samples.

    Examples
    --------
    >>> task_size([4, 2, 4])
    Size(inputs=4, outputs=4, samples=16)
    >>> task_size(pair_settings("two-digits", "mnist", 1_000))
    Size(inputs=1568, outputs=20, samples=80000)
    """
    if not isinstance(task, Mapping):
        return Size(task[0], task[-1], 2 ** task[0])
    height, width = IMAGES[task["base"]]
    training = task["pairs"] - task["pairs"] // 5
    return Size(2 * height * width, _OUTPUTS[task["data"]], training * _CLASSES[task["data"]] ** 2)


def load_task(task: TaskSettings) -> tuple[BooleanTask | Dataset, Planted]:
    """Return a task and the structure that is planted in it."""
    from ...data import boolean_task, load
    from ...sculpting import planted_digits

    if isinstance(task, Mapping):
        height, width = IMAGES[task["base"]]
        options = {name: value for name, value in task.items() if name != "data"}
        return load(task["data"], **options), planted_digits(task["data"], height=height, width=width)
    made = boolean_task(list(task))
    assert made.planted is not None  # all families have one
    return made, made.planted
