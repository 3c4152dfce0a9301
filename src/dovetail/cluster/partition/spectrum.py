"""Spectrum of a graph: the smallest eigenvalues of its normalised Laplacian, and the vectors that nodes are grouped by.

A layered network connects even layers with odd ones, so its graph is bipartite: its matrix has only two quarters that
are not zero, B and its transpose. The eigenvectors that clustering wants are the singular vectors of B, scaled by
degrees, and those come from a matrix of the smaller side: no matrix of the whole graph is made or factorised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from ...errors import DataError, SpecError
from ...graph.graph import Floats, Indices, NetworkGraph
from .operator import Blocks, Precision, component_of, run_of

_MOST = 8_000_000
"""Numbers in B for which it is made as a dense matrix."""

_DENSE = 300
"""Nodes up to which a dense solver is faster than an iterative one."""

_TOLERANCES = {4: 1e-5, 8: 1e-8}
"""Of vectors, for numbers of this many bytes; those of eigenvalues are the squares of these."""

_GLANCE = 1e-3
"""How far eigenvalues, all at most 1, may be off where only their order is asked for."""

_MOST_STEPS = 20_000
"""Products with the matrix after which an iterative solver starts again with more vectors, or gives up."""

_FAR = 3.0
"""How far known vectors are moved down, from 1 to -2. All others are above -1."""


class Spectrum(NamedTuple):
    """What spectral clustering sees of a graph.

    ``values`` are the k smallest eigenvalues of the normalised Laplacian, ``vectors`` the generalised eigenvectors of
    (L, D) ``[nodes, k]`` (rows of nodes without connections are 0), and ``component`` the connected component that each
    node belongs to, -1 for nodes without connections.
    """

    values: Floats
    vectors: Floats
    component: Indices


class Bipartite:
    """How the nodes of a graph fall into two sides, so that every block leads from one to the other.

    Attributes
    ----------
    rows, columns : int array
        The nodes of the larger and the smaller side.
    """

    def __init__(self, graph: NetworkGraph, side: NDArray[np.bool_]) -> None:
        if side.sum() * 2 > len(side):
            side = ~side
        self.rows, self.columns = np.flatnonzero(~side), np.flatnonzero(side)
        place = np.empty(len(side), dtype=np.int64)
        place[self.rows] = np.arange(len(self.rows))
        place[self.columns] = np.arange(len(self.columns))
        self._places: list[tuple[Indices, Indices, bool]] = []
        reach: dict[int, NDArray[np.bool_]] = {}
        for block in graph.blocks:
            turned = bool(side[block.outputs[0]])  # its outputs are columns
            ends = (block.inputs, block.outputs) if turned else (block.outputs, block.inputs)
            rows, columns = place[ends[0]], place[ends[1]]
            self._places.append((rows, columns, turned))
            for group in np.unique(graph.group_of[ends[0]]):
                reach.setdefault(int(group), np.zeros(len(self.columns), dtype=bool))[columns] = True
        # The rows of a group reach the columns of few groups: their products are small.
        of_group = {int(group): run_of(place[graph.group_of == group]) for group in np.unique(graph.group_of)}
        self._strips = [
            (
                of_group[group],
                [of_group[int(other)] for other in np.unique(graph.group_of[self.columns[reached]])],
            )
            for group, reached in reach.items()
        ]

    def matrix(self, weights: Sequence[Floats], precision: Precision = np.float64) -> Floats:
        """Return B, ``[rows, columns]``, for weights of the blocks."""
        matrix: Floats = np.zeros((len(self.rows), len(self.columns)), dtype=precision)
        for (rows, columns, turned), values in zip(self._places, weights, strict=True):
            place = run_of(rows), run_of(columns)
            if not all(isinstance(one, slice) for one in place):
                place = np.ix_(rows, columns)  # type: ignore[assignment]
            matrix[place] += values.T if turned else values
        return matrix

    def gram(self, matrix: Floats) -> Floats:
        """Return the product of a matrix like B with itself, ``[columns, columns]``."""
        product = np.zeros((matrix.shape[1], matrix.shape[1]), dtype=matrix.dtype)
        for rows, groups in self._strips:
            strips = [np.ascontiguousarray(matrix[rows][:, columns]) for columns in groups]
            for first, second in combinations_with_replacement(range(len(groups)), 2):
                # Each two groups once; with itself numpy computes half of the product, and no more.
                part = strips[first].T @ strips[second]
                product[_at(groups[first], groups[second])] += part
                if first != second:
                    product[_at(groups[second], groups[first])] += part.T
        return product


def _at(rows: slice | Indices, columns: slice | Indices) -> tuple[Any, ...]:
    """Return what picks rows and columns of a matrix; runs of them without a copy."""
    if isinstance(rows, slice) or isinstance(columns, slice):
        return rows, columns
    return np.ix_(rows, columns)


def bipartite_of(graph: NetworkGraph) -> Bipartite | None:
    """Return the two sides of a graph; None where there are none (a cycle of odd length), or it is too large."""
    links: nx.Graph[int] = nx.empty_graph(len(graph.groups))
    for block in graph.blocks:
        outputs, inputs = (
            np.unique(graph.group_of[nodes]).tolist() for nodes in (block.outputs, block.inputs)
        )
        links.add_edges_from(product(outputs, inputs))
    try:
        colour = nx.bipartite.color(links)  # the first group of what is connected has 1
    except nx.NetworkXError:
        return None
    second = [group for group, degree in links.degree if degree and not colour[group]]
    side = np.isin(graph.group_of, second)
    return None if not graph.blocks or side.sum() * (~side).sum() > _MOST else Bipartite(graph, side)


def spectrum_of_bipartite(sides: Bipartite, matrix: Floats, k: int) -> Spectrum | None:
    """Return the spectrum of a layered graph from its half-size matrix B, which is scaled by degrees in place.

    It has the precision of B. None if the graph has fewer than k eigenvalues below 1: then the rest is not among the
    singular vectors.
    """
    of_rows, of_columns = matrix.sum(1), matrix.sum(0)
    check_k(k, int((of_rows > 0).sum() + (of_columns > 0).sum()))
    scaled = matrix
    scaled *= _inverse_root(of_rows)[:, None]
    scaled *= _inverse_root(of_columns)
    product = sides.gram(scaled)
    component = _components_of_bipartite(scaled, product, of_rows, of_columns)
    count = int(component.max(initial=-1)) + 1
    # Components have the eigenvalue 0 and known vectors. Without them an iterative solver could miss repetitions of it.
    known = _known_vectors(of_columns, component[len(of_rows) :], min(k, count))
    more = k - known.shape[1]
    product -= (_FAR * known) @ known.T
    squares, right = _largest(product, lambda x: product @ x, len(product), more)
    if len(squares) < more or (more and squares.min() < np.finfo(squares.dtype).eps * 1e3):
        return None
    singular = np.concatenate([np.ones(known.shape[1]), np.sqrt(squares)])
    right = np.concatenate([known, right], axis=1)
    left = (scaled @ right) / singular
    vectors = np.empty((len(component), k), dtype=matrix.dtype)
    nodes = np.empty(len(component), dtype=np.int64)
    for at, of_side, side, places in (
        (sides.rows, of_rows, left, slice(0, len(of_rows))),
        (sides.columns, of_columns, right, slice(len(of_rows), None)),
    ):
        vectors[at] = side * (_inverse_root(of_side)[:, None] / np.sqrt(2))
        nodes[at] = component[places]
    return Spectrum(1 - singular, vectors, nodes)


def spectrum_of_adjacency(adjacency: sparse.csr_array, k: int) -> Spectrum:
    """Return the spectrum of any graph from its matrix of connections."""
    used = np.asarray(adjacency.sum(1) > 0)
    check_k(k, int(used.sum()))
    inner = sparse.csr_array(adjacency[used][:, used])
    degrees = np.asarray(inner.sum(1), dtype=np.float64)
    count, component = components_of(inner)
    known = _known_vectors(degrees, component, min(k, count))
    scale = sparse.diags_array(_inverse_root(degrees))
    scaled = sparse.csr_array(scale @ inner @ scale)

    def apply(x: Floats) -> Floats:
        moved: Floats = scaled @ x - _FAR * (known @ (known.T @ x))
        return moved

    dense = None
    if len(degrees) <= max(_DENSE, 4 * k):
        dense = scaled.toarray() - _FAR * (known @ known.T)
    values, vectors = _largest(dense, apply, len(degrees), k - known.shape[1])
    whole = np.zeros((len(used), k))
    whole[used] = np.concatenate([known, vectors], axis=1) * _inverse_root(degrees)[:, None]
    numbers = np.full(len(used), -1)
    numbers[used] = component
    return Spectrum(np.concatenate([np.zeros(known.shape[1]), 1 - values]), whole, numbers)


def spectrum_of_blocks(
    graph: NetworkGraph, blocks: Blocks, weights: Sequence[Floats], k: int, precision: Precision
) -> Spectrum | None:
    """Return the spectrum of a graph from its blocks, in single precision where there are many weights.

    None if fewer than k eigenvalues are told from those of nodes without connections.
    """
    if sum(matrix.size for matrix in weights) > _MOST:
        precision = np.float32
    degrees = blocks.degrees(weights)
    check_k(k, int((degrees > 0).sum()))
    component = component_of(graph, weights)
    count = int(component.max()) + 1
    known: NDArray[np.floating] = _known_vectors(degrees, component, min(k, count))
    known = known.astype(np.dtype(precision))
    root = _inverse_root(degrees)
    matrices = blocks.scaled(weights, root, precision)

    def apply(x: Floats) -> Floats:
        moved: Floats = blocks.apply(matrices, x) - _FAR * (known @ (known.T @ x))
        return moved

    values, vectors = _largest(
        None, apply, len(degrees), k - known.shape[1], np.dtype(precision), degrees > 0
    )
    if len(values) and values.min() < np.finfo(precision).eps * 1e3:
        return None
    if (
        precision == np.float32
    ):  # what rounding has added up to in the iteration is not in the vectors' own quotients
        values = np.array([_quotient(apply, vector) for vector in vectors.T])
    whole = np.concatenate([known, vectors], axis=1) * root[:, None]
    return Spectrum(np.concatenate([np.zeros(known.shape[1]), 1 - values]), whole, component)


def _quotient(apply: Callable[[Floats], Floats], vector: Floats) -> float:
    """Return the eigenvalue that a vector stands for, added up in double precision."""
    own = vector.astype(np.float64)
    return float(own @ apply(vector).astype(np.float64) / (own @ own))


def check_k(k: int, nodes: int) -> None:
    """Refuse a number of clusters that a graph cannot have."""
    if nodes == 0:
        raise SpecError(
            "the graph has no connections, so it has no clusters; of a part of a network, name layers that read one "
            "another too (in a transformer, the residual stream); a network with one convolution has some only with "
            "convention='mlp'"
        )
    if k >= nodes:
        raise SpecError(f"k={k} clusters of {nodes} connected nodes; ask for fewer than there are nodes")


def _largest(
    dense: Floats | None,
    apply: Callable[[Floats], Floats],
    size: int,
    count: int,
    kind: np.dtype[np.floating] | None = None,
    among: NDArray[np.bool_] | None = None,
) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of a symmetric matrix, largest first, and their vectors.

    Without the matrix itself numbers are of a `kind`. Only places `among` which the matrix is not 0 are looked for.
    """
    if count <= 0:
        return np.zeros(0), np.zeros((size, 0))
    if dense is None or (size > _DENSE and count < size // 4):
        precision = dense.dtype if dense is not None else kind or np.dtype(np.float64)
        found = _lanczos(apply, size, count, precision, among)
        if found is not None and precision == np.float64:
            found = _with_repeated(apply, *found)
        if found is not None:
            return found
        if dense is None:
            raise DataError(f"{count} eigenvalues of a graph of {size} nodes were not found; ask for fewer")
    first = max(0, size - count)
    values, vectors = eigh(dense, subset_by_index=[first, size - 1], driver="evr")
    return values[::-1], vectors[:, ::-1]


def _lanczos(
    apply: Callable[[Floats], Floats],
    size: int,
    count: int,
    precision: np.dtype[np.floating],
    among: NDArray[np.bool_] | None = None,
    tolerance: float | None = None,
) -> tuple[Floats, Floats] | None:
    """Return the largest eigenvalues, largest first, and their vectors; None if they were not found."""
    operator = LinearOperator((size, size), matvec=lambda x: apply(x.ravel()), dtype=precision)
    start = np.random.default_rng(0).normal(size=size).astype(precision)  # the same for all: results repeat
    if among is not None:
        start[~among] = 0
    for basis in (max(2 * count + 16, 32), max(8 * count, 128)):
        try:
            values, vectors = eigsh(
                operator,
                count,
                which="LA",
                v0=start,
                ncv=min(size, basis),
                tol=tolerance or _TOLERANCES[precision.itemsize],
                maxiter=_MOST_STEPS // basis,
            )
            return values[::-1], vectors[:, ::-1]
        except ArpackError:
            continue
    return None


def _with_repeated(
    apply: Callable[[Floats], Floats], values: Floats, vectors: Floats
) -> tuple[Floats, Floats] | None:
    """Return eigenvalues with those equal to them that the iteration may have missed.

    What has been found is moved away; if something larger than the smallest of it comes up, it belongs in its place.
    """
    for _ in range(len(values)):

        def rest(x: Floats, here: Floats = vectors) -> Floats:
            moved: Floats = apply(x) - _FAR * (here @ (here.T @ x))
            return moved

        # Nearly always a glance tells: what is left is smaller by more than it may be off.
        glance = _lanczos(rest, len(vectors), 1, np.dtype(np.float64), tolerance=_GLANCE)
        if glance is not None and glance[0][0] + 2 * _GLANCE < values[-1]:
            break
        more = _lanczos(rest, len(vectors), 1, np.dtype(np.float64))
        if more is None:
            return None
        if more[0][0] <= values[-1] + 1e-9:
            break
        order = np.argsort(-np.append(values, more[0]), kind="stable")[: len(values)]
        values = np.append(values, more[0])[order]
        vectors = np.concatenate([vectors, more[1]], axis=1)[:, order]
    return values, vectors


def _inverse_root(degrees: Floats) -> Floats:
    """Return 1 / sqrt(degree), and 0 for nodes without connections."""
    return np.divide(1, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)


def _known_vectors(degrees: Floats, component: Indices, count: int) -> Floats:
    """Return unit vectors of the eigenvalue 0, one for each of the `count` components with the most weight."""
    weight = np.bincount(component[component >= 0], degrees[component >= 0])
    order = np.argsort(-weight, kind="stable")[:count]
    vectors = np.where(component[:, None] == order, np.sqrt(degrees)[:, None], 0.0)
    return vectors / np.sqrt(weight[order]).astype(degrees.dtype)


def _components_of_bipartite(matrix: Floats, product: Floats, of_rows: Floats, of_columns: Floats) -> Indices:
    """Return the connected component of all rows, then of all columns; -1 without connections."""
    used = np.concatenate([of_rows, of_columns]) > 0
    # Nearly always all are connected, which a few products tell: columns are, if they share a row.
    reached = np.zeros(len(of_columns), dtype=product.dtype)
    reached[np.argmax(of_columns)] = 1
    count = 0
    while count < (count := int(reached.sum())):
        reached = (product @ reached > 0).astype(product.dtype)
    if count == (of_columns > 0).sum():
        return np.where(used, 0, -1)
    rows_at, columns_at = np.nonzero(matrix)
    one_way = sparse.coo_array(
        (np.ones(len(rows_at)), (rows_at, columns_at + len(of_rows))), shape=(len(used), len(used))
    ).tocsr()
    return components_of(sparse.csr_array(one_way + one_way.T))[1]


def components_of(adjacency: sparse.csr_array) -> tuple[int, Indices]:
    """Return the number of connected components, and the component of each node: -1 for nodes without connections."""
    _, component = connected_components(adjacency, directed=False)
    used = np.diff(adjacency.indptr) > 0
    names, numbers = np.unique(component[used], return_inverse=True)
    numbered = np.full(len(component), -1)
    numbered[used] = numbers
    return len(names), numbered
