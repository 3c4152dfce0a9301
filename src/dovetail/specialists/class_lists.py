"""Class lists: the names that outputs stand for, joined by name where parts know of different classes.

A class that a part has never heard of gets what the part gives to "none of mine": the mean of its logits for the
classes that it does not reward. That is linear in its output layer, so it is a row of weights like any other: the mean
of the rows of those classes. Rows of classes that it has heard of are moved, and stay as they are to the bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from ..errors import SpecError, unknown_name

ClassList = tuple[str, ...]
UNDECIDED = "undecided"
"""The answer that a sample is of none of the classes that are known, or that nobody can tell of which."""


def joined_list(lists: Iterable[ClassList]) -> ClassList:
    """Return one list with every name of several, the same in whatever order they come.

    The longest comes first, as it is, then what the others have beside it; of lists of one length, in the order of the
    alphabet.

    Examples
    --------
    >>> joined_list([("dog", "owl"), ("cat", "dog", "eel")])
    ('cat', 'dog', 'eel', 'owl')
    """
    ordered = sorted(set(lists), key=lambda names: (-len(names), names))
    return tuple(dict.fromkeys(name for names in ordered for name in names))


def renamed(classes: ClassList, names: Mapping[str, str]) -> ClassList:
    """Return a class list with other names for some of its classes.

    Examples
    --------
    >>> renamed(("3", "8"), {"3": "three"})
    ('three', '8')
    """
    for old in names:
        if old not in classes:
            raise unknown_name("class", old, classes)
    found = tuple(names.get(name, name) for name in classes)
    odd = [name for name in names.values() if not isinstance(name, str) or not name]
    if odd:
        raise SpecError(f"names of classes are texts, not {odd[0]!r:.80}")
    check_answer(names.values())
    twice = [name for name, count in Counter(found).items() if count > 1]
    if twice:
        raise SpecError(f"several classes would be called {twice[0]!r:.80}; give each a name of its own")
    return found


def check_answer(names: Iterable[str]) -> None:
    """Refuse to recognise a class whose name is an answer that says there is none.

    Examples
    --------
    >>> check_answer(["three", "undecided"])
    Traceback (most recent call last):
    dovetail.errors.SpecError: a class called 'undecided' could not be told from the answer "none of these"; ...
    """
    if UNDECIDED in names:
        raise SpecError(
            f'a class called {UNDECIDED!r} could not be told from the answer "none of these"; give it another name, '
            "such as 'not sure', or leave it out of what is rewarded"
        )


class Places:
    """Where the outputs of a part go in a wider class list.

    Parameters
    ----------
    classes : sequence of str
        What its outputs stand for.
    rewarded : sequence of int
        Which of them it recognises.
    wanted : sequence of str
        The wider list.

    Examples
    --------
    A part for cats that has heard of dogs and owls, and not of eels:

    >>> places = Places(("cat", "dog", "owl"), (0,), ("dog", "cat", "eel", "owl"))
    >>> places.rows(torch.tensor([5.0, -1.0, -3.0]))
    tensor([-1.,  5., -2., -3.])
    """

    def __init__(self, classes: Sequence[str], rewarded: Sequence[int], wanted: Sequence[str]) -> None:
        place = {name: number for number, name in enumerate(classes)}
        own = set(rewarded)
        # Where it rewards all classes that it knows of, "none of mine" is as much the one as the other.
        self.others = [number for number in range(len(classes)) if number not in own] or sorted(own)
        self.of = [place.get(name, len(classes)) for name in wanted]
        self.same = self.of == list(range(len(classes)))

    def rows(self, tensor: Tensor) -> Tensor:
        """Return a tensor with a row for each class as one with a row for each of the wanted ones."""
        if self.same:
            return tensor
        if max(self.of) == len(tensor):
            tensor = torch.cat([tensor, tensor[self.others].mean(0, keepdim=True)])
        return tensor[self.of]

    def kept(self, mask: Tensor) -> Tensor:
        """Return which entries are kept of what `rows` makes of a tensor."""
        if self.same:
            return mask
        return torch.cat([mask, mask[self.others].any(0, keepdim=True)])[self.of]


class WiderOutputs(nn.Module):
    """A network whose outputs stand for the classes of a wider list."""

    places: Tensor
    others: Tensor

    def __init__(self, network: nn.Module, places: Places) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("places", torch.tensor(places.of), persistent=False)
        self.register_buffer("others", torch.tensor(places.others), persistent=False)
        self.train(network.training)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of all classes of the list."""
        logits: Tensor = self.network(x)
        unknown = logits.index_select(1, self.others).mean(1, keepdim=True)
        return torch.cat([logits, unknown], 1).index_select(1, self.places)
