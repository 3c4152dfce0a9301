"""Training for clusterability: the penalty and its rescaling, clusterable initialisation, pruning in training.

`train_networks` is the way in; the parts can be used alone. `connections` are what the penalty is made of.
"""

from .gradual_pruning import GradualPruning
from .initialise import clusterable_init_, clusterable_weights
from .penalty import ClusterabilityPenalty
from .rescale import rescale_, rescale_stacked_
from .train import Stage, TrainedNetworks, train_networks

__all__ = [
    "ClusterabilityPenalty",
    "GradualPruning",
    "Stage",
    "TrainedNetworks",
    "clusterable_init_",
    "clusterable_weights",
    "rescale_",
    "rescale_stacked_",
    "train_networks",
]
