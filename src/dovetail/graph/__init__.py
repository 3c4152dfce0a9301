"""From a network to a graph: which units are nodes, and how strongly any two are connected."""

from .assemble import Convention
from .network_graph import network_graph
from .structure import Block, Group, NetworkGraph
from .weighted import Norm

__all__ = ["Block", "Convention", "Group", "NetworkGraph", "Norm", "network_graph"]
