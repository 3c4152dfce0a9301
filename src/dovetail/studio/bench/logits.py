"""Logits of specialists and composites for a test split, computed only as far as asked for, from what is known already.

A perceptron's first layer is linear, so what it gives for a sum of weights is the sum of what it gives for each: only
the small rest of the network is computed anew when a specialist is ticked. Averaged logits are averages of what the
members gave. All other composites are run as the networks that they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ...specialists import Composite, Part, Specialist, mix_logits
from ...specialists.blueprint import Tempered
from ...specialists.evaluate import run_network
from ..cache import Cache
from ..held_data import HeldData
from .composing import key_of

_FIRST, _MOST = 32, 1000
"""How many samples are computed to learn how long one takes, and at most in one go (well inside fast memory)."""

Forward = Callable[[int, int], Tensor]
"""Logits of the samples from a first to before a last."""

HIDDEN_BYTES = 512 * 2**20

BEGUN_BYTES = 256 * 2**20

LOGIT_BYTES = 128 * 2**20
"""Limits of what is remembered: 26 perceptrons of 512 hidden units on 10,000 samples; the networks of composites that
are still being measured; and the logits of hundreds that are done."""

_LEAST_BEGUN = 2
"""The page asks for a composite and for the cards' own scores in turn: neither may push out the other."""


class Rows:
    """A row for each sample; those up to ``done`` are known.

    Parameters
    ----------
    samples, width : int
        Shape of the whole.
    compute : callable
        Returns the rows from a first to before a last sample.
    tools : int
        Bytes that it takes to compute them; they are free again when all rows are known.

    Examples
    --------
    >>> rows = Rows(10, 1, lambda start, stop: torch.arange(start, stop)[:, None].float())
    >>> rows.up_to(4).sum(), rows.done
    (tensor(6.), 4)
    >>> rows.advance(seconds=1)
    >>> rows.complete
    True
    """

    def __init__(
        self, samples: int, width: int, compute: Callable[[int, int], Tensor], tools: int = 0
    ) -> None:
        self._values = torch.empty(samples, width)
        self._compute = compute
        self._tools = tools
        self.done = 0

    def nbytes(self) -> int:
        """Memory of all rows, known or not."""
        return self._values.nbytes

    def nbytes_begun(self) -> int:
        """Memory of all rows, and of what it takes to compute them."""
        return self._values.nbytes + self._tools

    @property
    def complete(self) -> bool:
        """Whether all rows are known."""
        return self.done == len(self._values)

    def up_to(self, stop: int) -> Tensor:
        """Return the rows before ``stop``; what is missing is computed."""
        if stop > self.done:
            with torch.no_grad():
                self._values[self.done : stop] = self._compute(self.done, stop)
            self.done = stop
            if self.complete:
                self._compute = _nothing_left  # and with it goes all that it needed
        return self._values[:stop]

    def advance(self, seconds: float) -> None:
        """Compute at least some more rows, for about as long as is given."""
        begun, step = time.perf_counter(), _FIRST
        while not self.complete:
            before = time.perf_counter()
            self.up_to(min(len(self._values), self.done + step))
            now = time.perf_counter()
            left = seconds - (now - begun)
            if left <= 0:
                return
            step = max(1, min(_MOST, int(step * left / max(now - before, 1e-6))))


def _nothing_left(start: int, stop: int) -> Tensor:
    raise AssertionError(f"rows {start} to {stop} were known")


class Outputs:
    """Logits of specialists and composites, remembered.

    Parameters
    ----------
    hidden_bytes, begun_bytes, logit_bytes : int
        How much memory the first layers, the networks that are not done and the logits may take.
    """

    def __init__(
        self,
        hidden_bytes: int = HIDDEN_BYTES,
        begun_bytes: int = BEGUN_BYTES,
        logit_bytes: int = LOGIT_BYTES,
    ) -> None:
        self._hidden = Cache[Rows](hidden_bytes, Rows.nbytes)
        self._begun = Cache[Rows](begun_bytes, Rows.nbytes_begun, least=_LEAST_BEGUN)
        self._logits = Cache[Rows](logit_bytes, Rows.nbytes)

    def logits(self, part: Part, data: HeldData) -> Rows:
        """Return the logits, divided by the temperature, of a part for the samples of a test split."""
        for key, rows in self._begun.items():
            if rows.complete:  # so it has let go of its network
                self._begun.take_out(key)
                self._logits.keep(key, rows)
        key = (key_of(part), data.fingerprint)
        return self._logits.find(key) or self._begun.get(key, lambda: self._begin(part, data))

    def _begin(self, part: Part, data: HeldData) -> Rows:
        samples, classes, x = len(data.test), len(part.classes), data.test.x
        if isinstance(part, Composite) and part.method == "logits":
            members = [self.logits(member, data) for member in part.specialists]
            tools = sum(rows.nbytes() if rows.complete else rows.nbytes_begun() for rows in members)
            return Rows(
                samples, classes, lambda start, stop: _mixed(members, part.shares, start, stop), tools
            )
        network = part.module()
        layers = _first_and_rest(network)
        if layers is None or not self._adds_up(part, layers[0].out_features * samples * 4):
            return Rows(
                samples,
                classes,
                lambda start, stop: run_network(network, x[start:stop]),
                state_bytes(network),
            )
        return Rows(samples, classes, self._added(part, data, *layers), state_bytes(layers[1]))

    def _added(self, part: Part, data: HeldData, first: nn.Linear, rest: nn.Sequential) -> Forward:
        width = first.out_features
        factors = part.weights if isinstance(part, Composite) else (1.0,)

        def forward(start: int, stop: int) -> Tensor:
            # Asked for each time: what has been pushed out since should not be kept here.
            hidden = [self._first_layer(member, data) for member in part.specialists]
            total = torch.zeros(stop - start, width)
            for rows, factor in zip(hidden, factors, strict=True):
                total.add_(rows.up_to(stop)[start:], alpha=factor)
            logits: Tensor = rest(total)
            return logits / part.specialists[0].blueprint.temperature

        return forward

    def _adds_up(self, part: Part, bytes_each: int) -> bool:
        """Whether a part's first layer is a sum of its members' (those of TIES are not), and these can be kept."""
        linear = not isinstance(part, Composite) or part.method in ("sum", "calibrated")
        return linear and bytes_each * len(part.specialists) <= self._hidden.limit

    def _first_layer(self, specialist: Specialist, data: HeldData) -> Rows:
        def make() -> Rows:
            layers = _first_and_rest(specialist.module())
            assert layers is not None
            first = layers[0]
            return Rows(len(x), first.out_features, lambda start, stop: first(x[start:stop].flatten(1)))

        x = data.test.x
        return self._hidden.get((specialist.digest, data.fingerprint), make)


def _mixed(members: list[Rows], shares: tuple[float, ...], start: int, stop: int) -> Tensor:
    return mix_logits(torch.stack([rows.up_to(stop)[start:] for rows in members]), shares)


def state_bytes(network: nn.Module) -> int:
    """Return what the weights of a network take."""
    return sum(tensor.nbytes for tensor in network.state_dict().values())


def _first_and_rest(network: nn.Module) -> tuple[nn.Linear, nn.Sequential] | None:
    """Return a perceptron's first layer and all that follows but the temperature, or None for other networks."""
    if isinstance(network, Tempered):
        network = network.network
    if isinstance(network, nn.Sequential) and len(network) > 2:
        flatten, first = network[0], network[1]
        if isinstance(flatten, nn.Flatten) and isinstance(first, nn.Linear):
            return first, nn.Sequential(*list(network)[2:])
    return None
