"""Estimators for scikit-learn: parts behind ``fit`` and ``predict``.

`PartsClassifier` is all that one needs. It is made of `samples` (equal ones are one sample that counts more), `labels`,
`cards` (what a class leaves behind) and `learning` (parts that are trained, and that go on when classes come).
"""

from __future__ import annotations

from .classifier import PartsClassifier

__all__ = ["PartsClassifier"]
