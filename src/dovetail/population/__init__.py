"""Populations: many networks of one architecture as stacked tensors, built, trained and measured together.

`Population` is the way in. Under it, from the data to the weights: `order` (who sees which sample when), `forward` (one
network's pass in a fixed mode), `ops` (operations worded to stack well), `step`, `clip` and `optim` (one training step
of a stack), `schedules` (how long its steps are), `fit` (the training loop: epochs, best checkpoints, early leavers),
`memory` (how many at once). `README.md` says why it is built this way.
"""

from .batch_norm import recompute_batch_norm
from .evaluate import Scores
from .history import History
from .objectives import bit_accuracy, bit_cross_entropy, class_accuracy, cross_entropy, squared_error
from .optim import SGD, Adam, AdamW
from .optimizer_state import OptimizerState
from .order import epoch_order
from .population import Population
from .random import Noise, member_keys
from .step import StepContext

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "History",
    "Noise",
    "OptimizerState",
    "Population",
    "Scores",
    "StepContext",
    "bit_accuracy",
    "bit_cross_entropy",
    "class_accuracy",
    "cross_entropy",
    "epoch_order",
    "member_keys",
    "recompute_batch_norm",
    "squared_error",
]
