"""The ways to put specialists together that make sense for a group, and putting them together."""

from __future__ import annotations

from ...errors import DataError, SpecError
from ...nets import NetSpec
from ...specialists import Composite, Specialist
from ...specialists.compose import compose_quietly
from ...specialists.composite import Method
from ...specialists.fitting import in_own_slots, needs_statistics
from ..held_data import HeldData

ABOUT: dict[Method, str] = {
    "sum": "adds the weights",
    "logits": "runs every specialist and averages their logits",
    "ties": "keeps, of weights that clash, the sign with more behind it",
    "calibrated": "adds weights times factors fitted on training samples",
}


def offered(net: NetSpec, *, slots: bool) -> list[Method]:
    """Return the methods to choose from.

    In slots no weights meet, so those that mend clashes give the sum again. Fitting factors is quick for perceptrons
    only.

    Examples
    --------
    >>> offered(NetSpec.parse("mlp:20"), slots=True), offered(NetSpec.parse("lenet"), slots=False)
    (['sum', 'logits'], ['sum', 'logits', 'ties'])
    """
    if slots:
        return ["sum", "logits"]
    return [method for method in ABOUT if method != "calibrated" or net.name == "mlp"]


def put_together(members: list[Specialist], method: Method, data: HeldData | None) -> Composite:
    """Return the composite of some specialists, as `dovetail.compose` does.

    Raises
    ------
    DovetailError
        When they do not fit, or when it would take samples that are not here or more time than a page has.
    """
    net = members[0].basis.net
    if method == "calibrated" and not in_own_slots(members):
        if data is None:
            raise DataError(
                "factors are fitted on training samples, and the data is not on this machine; choose sum"
            )
        if net.name != "mlp":
            raise SpecError(f"fitting factors for {net} takes too long for the bench; use the command line")
    if needs_statistics(members, method):
        raise SpecError(
            f"{method} of {net} needs its batch-norm statistics recomputed over all training "
            "samples, which takes too long for the bench; use the command line, or choose logits"
        )
    inputs = None if method != "calibrated" or data is None else data.inputs
    return compose_quietly(members, method, inputs=inputs)
