"""A compiler from sequence programs to the weights of a transformer whose parts and wires are known.

Every series of a program has directions of the residual stream of its own: one for each of its values, of which one is
1 and the others are 0, or, for counts and shares, one for a number. Every operation is a part of the network.

- What looks at other places is a head. A query is the value at the place that looks; its product with a key is large
  where the predicate holds, so that softmax leaves only those places. If none is selected, the head's sink has the
  largest score, and its value is the default. To count, the sink scores like one more selected place: of n selected,
  the head passes on n / (n + 1).
- A function of a series is a unit for each value; of two series, one for each pair, which are both 1 only there; of a
  number, two units for each step of the function.

Parts come into the first block in which all is there that they read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..errors import SpecError
from ..graph.graph import Floats
from .known import KnownNetwork
from .plan import Part, Plan
from .series import Program, Value
from .transformer import Block, Transformer, random_rows, turn_stream_


@dataclass(frozen=True, eq=False)
class CompiledNetwork(KnownNetwork):
    """A transformer that computes programs, and what each of its parts does. Made by `compile_programs`.

    Attributes
    ----------
    programs : tuple of Program
        What it computes, each with logits of its own.
    parts : tuple of Part
        Its parts, which are its ``modules``, each after those that it reads.
    outputs : tuple of int
        The part that each program's logits are read from.
    """

    network: Transformer
    programs: tuple[Program, ...] = ()
    parts: tuple[Part, ...] = ()
    outputs: tuple[int, ...] = ()

    def predict(self, rows: Sequence[Sequence[Value]]) -> list[list[list[Value]]]:
        """Return what the network says for rows of tokens: for each program, row and place.

        Examples
        --------
        >>> from dovetail.planted import named_programs
        >>> compile_programs([named_programs(length=4)["reverse"]]).predict(["abca"])
        [[['a', 'c', 'b', 'a']]]
        """
        with torch.no_grad():
            logits = self.network(self.encode(rows))
        values = [program.output.values for program in self.programs]
        each = logits.split([len(possible) for possible in values], dim=-1)
        return [
            [[possible[at] for at in row] for row in own.argmax(-1).tolist()]
            for possible, own in zip(values, each, strict=True)
        ]

    def encode(self, rows: Sequence[Sequence[Value]]) -> Tensor:
        """Return rows of tokens as the network takes them."""
        for row in rows:
            self.programs[0].check(row)
        numbers = {token: number for number, token in enumerate(self.programs[0].reads.values)}
        encoded = torch.tensor([[numbers[token] for token in row] for row in rows], dtype=torch.long)
        return encoded.reshape(len(rows), self.programs[0].reads.length)

    def looks(self, row: Sequence[Value]) -> dict[str, Floats]:
        """Return where each head looks, by the name of its part.

        Shares of attention, ``[places, 1 + places]``: a row for each place that looks. The first column is the sink,
        where a head looks that finds nothing, and to which one that counts always gives the share of one more place.

        Examples
        --------
        >>> from dovetail.planted import named_programs
        >>> compiled = compile_programs([named_programs("ab", 3)["shift"]])
        >>> compiled.looks("aba")["1 pick"].round(2).tolist()
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
        """
        heads = {(part.block, part.units.start): part.name for part in self.parts if part.kind == "head"}
        found: dict[str, Floats] = {}
        with torch.no_grad():
            x = self.network.embedded(self.encode([row]))
            for number, block in enumerate(self.network.blocks):
                assert isinstance(block, Block)
                if block.attention is not None:
                    for head, looks in enumerate(block.attention.looks(x)[0]):
                        found[heads[number, head * block.attention.head_width]] = looks.double().numpy()
                x = block(x)
        return found

    def by_program(self) -> KnownNetwork:
        """Return the same network with whole programs for modules; parts that several of them need are of none."""
        users = [self._needed(output) for output in self.outputs]
        owner = np.full(len(self.parts) + 1, -1)  # the last: units of no part
        for part in range(len(self.parts)):
            using = [number for number, needed in enumerate(users) if part in needed]
            owner[part] = using[0] if len(using) == 1 else -1
        owners = {layer: owner[parts] for layer, parts in self.owners.items()}
        names = tuple(program.name for program in self.programs)
        return KnownNetwork(self.network, self.samples, names, owners, self.ends)

    def _needed(self, output: int) -> set[int]:
        waiting, needed = [output], set[int]()
        while waiting:
            part = waiting.pop()
            if part not in needed:
                needed.add(part)
                waiting += self.parts[part].reads
        return needed


def compile_programs(programs: Sequence[Program], *, turn: int | None = None) -> CompiledNetwork:
    """Return a transformer that computes programs, side by side.

    Parameters
    ----------
    programs : sequence of Program
        They read the same tokens, in rows of the same length. Only tokens and positions are shared.
    turn : int, optional
        Turn the residual stream by a random rotation of this seed: the network computes the same, but no direction of
        the stream belongs to a part any more.

    Examples
    --------
    >>> from dovetail.planted import named_programs
    >>> compiled = compile_programs([named_programs(length=4)["sort"]])
    >>> [part.name for part in compiled.parts]
    ['tokens', '1 count', 'positions', '2 count', '3 values of 1', '4 values of 2', '5 map', '6 pick']
    >>> compiled.predict(["caba"])
    [[['a', 'a', 'b', 'c']]]
    """
    programs = tuple(programs)
    if not programs:
        raise SpecError("there is no program to compile; give one or more")
    if len({(program.reads.values, program.reads.length) for program in programs}) > 1:
        raise SpecError(
            "programs in one network must read the same tokens, in rows of the same length; these read "
            f"{', '.join(f'{len(one.reads.values)} tokens in rows of {one.reads.length}' for one in programs)}"
        )
    plan = Plan(programs)
    network = Transformer(
        len(programs[0].reads.values), programs[0].reads.length, plan.width, plan.blocks, plan.logits
    ).double()
    with torch.no_grad():
        for tensor in network.parameters():
            tensor.zero_()
        plan.write(network)
    if turn is not None:
        generator = torch.Generator().manual_seed(turn)
        random = torch.randn(plan.width, plan.width, dtype=torch.float64, generator=generator)
        turn_stream_(network, torch.linalg.qr(random).Q)
    owners = plan.owners()
    if turn is not None:
        owners["tokens"] = np.full(plan.width, -1)
    return CompiledNetwork(
        network=network.float().eval(),
        samples=random_rows(len(programs[0].reads.values), programs[0].reads.length),
        modules=tuple(part.name for part in plan.parts),
        owners=owners,
        ends=("tokens:tokens", "readout"),
        wires=frozenset((read, number) for number, part in enumerate(plan.parts) for read in part.reads),
        programs=programs,
        parts=tuple(plan.parts),
        outputs=tuple(plan.outputs),
    )
