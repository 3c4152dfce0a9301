"""Polynomials: 512 regressions that share nine terms."""

from __future__ import annotations

from itertools import product

import numpy as np
import torch

from ..content import Content
from ..registry import Samples, Seed, register
from ..split import Split

_EXPONENTS = tuple(product((2, 1, 0), repeat=2))
"""Powers of x and y in each monomial, highest first."""
_COEFFICIENTS = np.array(list(product((0, 1), repeat=len(_EXPONENTS))), dtype=np.float64)
"""One row for each polynomial, one column for each monomial."""
_HELD_OUT = 10_000


@register("polynomials", kind="generated")
def polynomials(*, samples: Samples = 60_000, seed: Seed = 0) -> Content:
    """Two normal inputs and the values of all 512 sums of monomials x^i y^j with i, j up to 2."""
    made = []
    for stream, size in enumerate((samples, _HELD_OUT, _HELD_OUT)):
        inputs = np.random.default_rng((seed, stream)).standard_normal((size, 2), dtype=np.float32)
        x, y = inputs.astype(np.float64).T
        monomials = np.stack([x**i * y**j for i, j in _EXPONENTS], axis=1)
        values = (monomials @ _COEFFICIENTS.T).astype(np.float32)
        made.append(Split(torch.from_numpy(inputs), torch.from_numpy(values)))
    return Content(made, tuple(_name(row.tolist()) for row in _COEFFICIENTS), task="values")


def _name(coefficients: list[float]) -> str:
    terms = [_term(i, j) for (i, j), used in zip(_EXPONENTS, coefficients, strict=True) if used]
    return " + ".join(terms) or "0"


def _term(i: int, j: int) -> str:
    return "".join(("", letter, f"{letter}^2")[power] for letter, power in (("x", i), ("y", j))) or "1"
