"""Data sets, one file each, named as users type them. Importing this package enters all of them in the registry."""

from __future__ import annotations

from . import (  # noqa: F401
    cifar10,
    clinc150,
    digit_xor,
    digits,
    fashion_mnist,
    halves,
    har,
    lines,
    mixture,
    mnist,
    mnist_7x7,
    polynomials,
    random,
    stack,
    two_digits,
    yeast,
)
