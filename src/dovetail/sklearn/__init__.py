"""Estimators for scikit-learn: parts, and sculptures, behind ``fit`` and ``predict``.

`PartsClassifier` is made of `samples` (equal ones are one sample that counts more), `labels` and `learning`
(parts that are trained, and that go on when classes come). `SculptedClassifier` is one small network, pruned to what
its classes hang on.
"""

from __future__ import annotations

from .classifier import PartsClassifier
from .sculpted import SculptedClassifier

__all__ = ["PartsClassifier", "SculptedClassifier"]
