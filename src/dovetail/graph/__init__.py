"""The one reader of networks: which layers there are, in which order, who feeds whom, with which weights.

`read_network` follows a module through its forward (`trace` writes down what it does, `rules` say what each operation
does to units, `follow` keeps the books), or reads matrices and state dictionaries (`matrices`). What it finds are
`layers` and the units between them; `network_graph` makes a weighted graph of that, `dense_matrices` a list of
matrices, `module_chain` the layers of a chain. `chain` reads layers off shapes alone, for masks and checkpoints that
have no forward; `intercept` changes what layers read while the network runs.
"""

from .chain import Layer, layer_chain
from .graph import Block, Group, NetworkGraph
from .layers import Norm, Reading, WeightedLayer
from .network_graph import Convention, network_graph
from .read import dense_matrices, module_chain, read_network

__all__ = [
    "Block",
    "Convention",
    "Group",
    "Layer",
    "NetworkGraph",
    "Norm",
    "Reading",
    "WeightedLayer",
    "dense_matrices",
    "layer_chain",
    "module_chain",
    "network_graph",
    "read_network",
]
