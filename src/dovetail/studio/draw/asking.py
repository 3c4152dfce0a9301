"""What specialists and their composite say to one input, fast enough to follow a pen."""

from __future__ import annotations

import threading

import torch
from torch import Tensor, nn

from ...data.dataset import is_finite
from ...errors import DataError
from ...specialists import Composite, Part, Specialist, mix_logits
from ..recent import Recent

_MOST_BYTES = 512 * 2**20


class Asker:
    """Networks that were asked lately, ready to be asked again."""

    def __init__(self) -> None:
        self._networks = Recent[nn.Module](_MOST_BYTES, _bytes)
        self._lock = threading.Lock()

    def ask(self, members: list[Specialist], composite: Composite, x: Tensor) -> Tensor:
        """Return log-probabilities for one input: a row for the composite, and then one for each member.

        Raises
        ------
        DataError
            When weights are so large that a network gives no numbers.
        """
        with self._lock, torch.no_grad():
            each = {member.digest: self._logits(member, x) for member in members}
            if composite.method == "logits":
                ordered = torch.stack([each[member.digest] for member in composite.specialists])
                together = mix_logits(ordered, composite.shares)
            else:
                together = self._logits(composite, x)
            rows = torch.stack([together, *(each[member.digest] for member in members)])
        if not is_finite(rows):
            raise DataError(
                "these networks give NaN or infinity for this input; leave out those with huge weights"
            )
        return rows.double().log_softmax(1)

    def _logits(self, part: Part, x: Tensor) -> Tensor:
        logits: Tensor = self._networks.get(part.digest, part.module)(x)
        return logits[0]


def _bytes(network: nn.Module) -> int:
    return sum(tensor.nbytes for tensor in network.state_dict().values())
