"""Put specialists together: by a method, by ``+``, and with a word of warning where they will clash."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

from torch import Tensor

from ..errors import CompatibilityWarning, MisfitError, SpecError, unknown_name
from .calibrate import fit_coefficients, some_of
from .compatibility import LOW_AGREEMENT, LOW_SEPARATION, on_inputs, path_separation
from .composite import METHODS, Composite, Method
from .fitting import check_fit, in_own_slots, needs_statistics
from .merge import check_keep, check_weights
from .networks import check_inputs
from .part import Part
from .specialist import Specialist


def added(first: Part, second: Part, *, force: bool = False) -> Composite:
    """Return ``first + second``: a plain sum, or composed as those of the two that were composed otherwise.

    A plain sum takes on the method of what it is added to, so the order of adding does not matter. ``force`` is that
    of `compose`.
    """
    others = [part for part in (first, second) if isinstance(part, Composite) and not part.is_plain]
    if len(others) == 2 and (clash := _clash(*others)):
        raise SpecError(
            f"these were composed differently ({clash}); put all their specialists together with compose(...)"
        )
    weights = None
    if len(others) == 2 and any(part.coefficients for part in others):
        weights = [*others[0].weights, *others[1].weights]
    like = others[0] if others else Composite(first.specialists)
    return like.of(
        [*first.specialists, *second.specialists],
        weights=weights if like.method == "logits" else None,
        force=force,
    )


def _clash(first: Composite, second: Composite) -> str | None:
    """Return in what two composites were made differently, if at all."""
    if first.method != second.method:
        return f"methods {first.method!r} and {second.method!r}"
    if first.keep != second.keep:
        return f"keep {first.keep} and {second.keep}"
    a, b = first.inputs, second.inputs
    same = a is b or (
        a is not None and b is not None and a.shape == b.shape and bool((a == b.to(a.device)).all())
    )
    return None if same else "with other inputs"


def compose(
    parts: Iterable[Part],
    method: Method = "sum",
    *,
    weights: Sequence[float] | None = None,
    inputs: Tensor | None = None,
    keep: float = 1.0,
    force: bool = False,
) -> Composite:
    """Put specialists together into one network.

    Parameters
    ----------
    parts : iterable of Specialist or Composite
        What to put together; composites count as their specialists.
    method : {"sum", "logits", "ties", "calibrated"}
        ``"sum"`` adds weights and biases (the paper). ``"logits"`` runs every specialist and averages their
        logits. ``"ties"`` trims, elects a sign for each weight and averages those that agree. ``"calibrated"``
        adds weights, each specialist's times a coefficient fitted on ``inputs``.
    weights : sequence of float, optional
        For ``"logits"``: what each specialist's logits weigh; the same by default. They need not add up to 1.
    inputs : Tensor, optional
        Unlabelled samples: needed for ``"calibrated"``, and to recompute batch-norm statistics where networks
        with batch norm share units.
    keep : float
        For ``"ties"``: the share of its weights, the largest ones, that each specialist brings along.
    force : bool
        Also put together what is unwise: other θ0, classes in common, slots that overlap.

    Raises
    ------
    MisfitError
        When they do not fit together.

    Warns
    -----
    CompatibilityWarning
        When the specialists will get in each other's way (see `compatibility`): judged on ``inputs`` if there are
        any, else from the weights.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> team = dt.train_specialists(data, "mlp:40", epochs=2, progress=False)
    >>> dt.compose(team, "logits")
    Composite(0, 1, 2, 3, 4, 5, 6, 7, 8, 9: averaged logits of 10 specialists, mlp:40)
    """
    members = [specialist for part in parts for specialist in _specialists(part)]
    composite = compose_quietly(members, method, weights=weights, inputs=inputs, keep=keep, force=force)
    if clash := clash_in(composite, inputs):
        warnings.warn(clash, CompatibilityWarning, stacklevel=2)
    return composite


def compose_quietly(
    members: Sequence[Specialist],
    method: Method = "sum",
    *,
    weights: Sequence[float] | None = None,
    inputs: Tensor | None = None,
    keep: float = 1.0,
    force: bool = False,
) -> Composite:
    """Return what `compose` does, without a word about how wise it is."""
    if not members:
        raise MisfitError("there is nothing to put together; give at least one specialist")
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if weights is not None and method != "logits":
        raise SpecError(f"weights are for method 'logits'; {method!r} takes none")
    if keep != 1 and method != "ties":
        raise SpecError(f"keep is for method 'ties'; {method!r} keeps everything")
    check_keep(keep)
    check_fit(members, force=force)
    basis = members[0].basis
    if inputs is not None:
        check_inputs(basis, inputs)
    if inputs is None and needs_statistics(members, method):
        raise SpecError(
            f"{basis.net} has batch norm, whose statistics must be recomputed after a merge; pass unlabelled samples "
            "as inputs= (--inputs DATA)"
        )
    if method == "logits":
        return Composite(members, method, coefficients=_checked_weights(weights, len(members)))
    if method != "calibrated":
        return Composite(
            members, method, keep=keep, inputs=inputs if needs_statistics(members, method) else None
        )
    if inputs is None:
        raise SpecError(
            "method 'calibrated' needs unlabelled samples to fit its coefficients on; pass inputs= (--inputs DATA)"
        )
    ordered = Composite(members).specialists
    coefficients = (1.0,) * len(ordered)
    if not in_own_slots(ordered):  # in slots there is nothing to mend
        coefficients = fit_coefficients(basis, [member.state for member in ordered], inputs)
    return Composite(ordered, method, coefficients=coefficients, inputs=inputs)


def _specialists(part: object) -> tuple[Specialist, ...]:
    if not isinstance(part, Part):
        raise SpecError(f"only specialists and composites can be composed, not {type(part).__name__}")
    return part.specialists


def _checked_weights(weights: Sequence[float] | None, members: int) -> tuple[float, ...] | None:
    if weights is None:
        return None
    check_weights(weights, members)
    return tuple(float(weight) for weight in weights)


def clash_in(composite: Composite, inputs: Tensor | None = None) -> str | None:
    """Return why the specialists of a composite will get in each other's way, and what to do; None if they will not.

    Judged on samples if there are any, else from the weights.
    """
    members = composite.specialists
    if composite.method == "logits" or len(members) < 2 or in_own_slots(members):
        return None
    problem = None
    if inputs is not None:
        agreement, _ = on_inputs(members, composite.state_dict(), some_of(inputs))
        if agreement < LOW_AGREEMENT:
            problem = (
                f"this composite says what its {len(members)} specialists say on {100 * agreement:.0f} % only"
            )
    else:
        separation = path_separation([member.state for member in members])
        if separation is not None and separation < LOW_SEPARATION:
            problem = (
                f"only {100 * separation:.0f} % of the strength of all paths through these {len(members)} specialists "
                "stays inside one of them"
            )
    if problem is None:
        return None
    return (
        f"{problem}; expect them to get in each other's way (train in slots, sparser or wider, or use "
        "method='logits')"
    )
