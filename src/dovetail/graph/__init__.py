"""From a network to a graph: which units are nodes, and how strongly any two are connected."""

from .graph import Block, Group, NetworkGraph
from .layers import Norm
from .network_graph import Convention, network_graph

__all__ = ["Block", "Convention", "Group", "NetworkGraph", "Norm", "network_graph"]
