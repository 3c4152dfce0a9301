"""How fast clusterability is, against scikit-learn on the same matrices in the same run.

``python bench/cluster.py`` clusters 784-256-256-256-256-10 at 90 % sparsity and 50 shuffled copies into 12 clusters
both ways, shows how time and memory grow with the graph, compares the spectrum of a large graph by its blocks with that
by its matrix, and times a step of the penalty.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from sklearn.cluster import SpectralClustering
from threadpoolctl import threadpool_limits

import dovetail as dt
from dovetail.cluster import clusterability
from dovetail.cluster.null import Shuffles
from dovetail.cluster.partition.operator import Blocks
from dovetail.cluster.partition.spectrum import spectrum_of_adjacency, spectrum_of_blocks
from dovetail.graph import Block, Group, NetworkGraph, network_graph
from dovetail.threads import one_blas_thread

WIDTHS, SPARSITY, K, SHUFFLES = (784, 256, 256, 256, 256, 10), 0.9, 12, 50
STEPS = 300


def layers(widths: Sequence[int], sparsity: float) -> list[NDArray[np.float64]]:
    """Return normal random weights, the smallest of each layer pruned."""
    rng = np.random.default_rng(0)
    matrices = []
    for before, after in pairwise(widths):
        matrix = rng.normal(size=(after, before)) / np.sqrt(before)
        matrix[np.abs(matrix) < np.quantile(np.abs(matrix), sparsity)] = 0
        matrices.append(matrix)
    return matrices


def usual_ncuts(graph: NetworkGraph) -> NDArray[np.float64]:
    """Cluster the network and its copies as one would with scikit-learn; return the n-cuts, the network's first."""
    cuts, copies = [], Shuffles(graph, "layer")
    for number in range(SHUFFLES + 1):
        weights = [block.weights for block in graph.blocks]
        if number:  # the same copies that `clusterability` makes with seed 0
            weights = copies.draw(np.random.default_rng((0, 1, number - 1)))
        adjacency = graph.with_weights(weights)
        kept = np.asarray(adjacency.sum(1) > 0)
        adjacency = adjacency[kept][:, kept]
        clustering = SpectralClustering(
            K, affinity="precomputed", eigen_solver="arpack", n_init=25, random_state=number
        )
        with threadpool_limits(1):  # faster than with all threads, for these sizes
            cuts.append(dt.ncut(adjacency, clustering.fit_predict(adjacency)))
    return np.array(cuts)


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def against_scikit_learn() -> None:
    graph = network_graph(layers(WIDTHS, SPARSITY))
    clusterability(graph, K, 2, progress=False)  # loads what is loaded on first use
    ours = np.inf
    for _ in range(3):
        begun = time.perf_counter()
        found = clusterability(graph, K, SHUFFLES, stability=0, progress=False)
        ours = min(ours, time.perf_counter() - begun)
    begun = time.perf_counter()
    theirs = usual_ncuts(graph)
    usual = time.perf_counter() - begun
    difference = found.null - theirs[1:]
    p = stats.ttest_1samp(difference, 0, alternative="greater").pvalue
    print(f"{graph} and {SHUFFLES} shuffled copies, k = {K}")
    print(f"  ours         {ours:6.2f} s   n-cut {found.ncut:.3f}, copies {found.null.mean():.3f}")
    print(
        f"  scikit-learn {usual:6.2f} s   n-cut {theirs[0]:.3f}, copies {theirs[1:].mean():.3f}   {usual / ours:.0f}x"
    )
    print(
        f"  paired difference {difference.mean():+.4f} ± {difference.std(ddof=1):.4f}, above zero with p = {p:.2f}"
    )


def by_threads() -> None:
    """Print how long an audit takes with as many workers as torch has threads, and with one."""
    graph, usual = network_graph(layers(WIDTHS, SPARSITY)), torch.get_num_threads()
    taken: dict[int, list[float]] = {1: [], usual: []}
    for _ in range(5):  # in turn, because other work on the machine comes and goes
        for threads, times in taken.items():
            torch.set_num_threads(threads)
            times.append(seconds(lambda: clusterability(graph, K, SHUFFLES, progress=False)))
    torch.set_num_threads(usual)
    one, all_of_them = (float(np.median(times)) for times in (taken[1], taken[usual]))
    print(
        f"\nthe same audit, with five more clusterings for stability, medians of five\n  1 thread     {one:6.2f} s\n"
        f"  {usual} threads    {all_of_them:6.2f} s   {one / all_of_them:.2f}x"
    )


def one_size(kind: str) -> None:
    """Cluster one graph and print its size, the time, and the memory on top of what importing takes."""
    if kind == "100000+dense":
        one_large()
        return
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if kind == "vgg16":
        graph = network_graph(dt.build_net("vgg16", (3, 32, 32), 10, seed=0), torch.zeros(1, 3, 32, 32))
    else:
        width = int(kind.removesuffix("+skip")) // 5
        matrices = layers([width] * 5, SPARSITY)
        graph = network_graph(matrices)
        if kind.endswith("+skip"):  # past one layer, so that the graph has no two sides
            first = graph.blocks[0]
            skip = type(first)("skip", graph.blocks[1].outputs, first.inputs, first.weights)
            graph = NetworkGraph(graph.groups, (*graph.blocks, skip))
    taken = seconds(lambda: clusterability(graph, K, 4, stability=0, progress=False)) / 5
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    weights = sum(int(np.count_nonzero(block.weights)) for block in graph.blocks)
    print(
        f"  {kind:12s} {len(graph):6d} nodes {weights:9d} weights  {taken:7.3f} s a graph  {memory:6.0f} MiB"
    )


def growth() -> None:
    print(f"\ntime for one clustering (mean of five), k = {K}, and memory with the graph itself")
    for kind in ("1250", "2500", "5000", "10000", "10000+skip", "vgg16"):
        subprocess.run([sys.executable, __file__, "--one", kind], check=True)


def resnet50() -> NetworkGraph:
    """Return a graph of ResNet-50's channels, with random weights: streams, and three convolutions beside each."""
    rng = np.random.default_rng(0)
    groups: list[Group] = []
    blocks: list[Block] = []

    def channels(count: int) -> NDArray[np.int64]:
        first = sum(group.size for group in groups)
        groups.append(Group(f"g{len(groups)}", count))
        return np.arange(first, first + count)

    def layer(outputs: NDArray[np.int64], inputs: NDArray[np.int64]) -> None:
        weights = np.abs(rng.normal(size=(len(outputs), len(inputs))))
        blocks.append(Block(f"b{len(blocks)}", outputs, inputs, weights))

    stream = channels(64)
    for width, depth in ((64, 3), (128, 4), (256, 6), (512, 3)):
        before, stream = stream, channels(4 * width)
        layer(stream, before)
        for number in range(depth):
            first, second = channels(width), channels(width)
            layer(first, before if number == 0 else stream)
            layer(second, first)
            layer(stream, second)
    return NetworkGraph(tuple(groups), tuple(blocks))


def large() -> None:
    """Print what a spectrum of ResNet-50's shape takes by its blocks and by its matrix, and a far larger graph."""
    graph = resnet50()
    weights = [block.weights for block in graph.blocks]
    with one_blas_thread():
        by_blocks = [0.0, 0.0, 0.0]
        for number in range(len(by_blocks)):
            begun = time.perf_counter()
            ours = spectrum_of_blocks(graph, Blocks(graph), weights, K, np.float32)
            by_blocks[number] = time.perf_counter() - begun
        begun = time.perf_counter()
        theirs = spectrum_of_adjacency(graph.with_weights(weights), K)
        by_matrix = time.perf_counter() - begun
    assert ours is not None
    off = float(np.abs(ours.values - theirs.values).max())
    size = f"{len(graph)} nodes, {sum(map(np.size, weights))} weights"
    print(
        f"\none spectrum of ResNet-50's channels, {size}, one thread\n"
        f"  blocks  {min(by_blocks):6.2f} s   {by_matrix / min(by_blocks):.0f}x\n"
        f"  matrix  {by_matrix:6.2f} s   eigenvalues differ by {off:.1e}"
    )
    print("\none clustering, doubts included, of 100 layers of 1,000 units")
    subprocess.run([sys.executable, __file__, "--one", "100000+dense"], check=True)


def one_large() -> None:
    """Cluster 100,000 units with 99 million weights, and print time, processor time and memory."""
    rng = np.random.default_rng(0)
    at = np.arange(100_000).reshape(100, 1000)
    blocks = [
        Block(
            f"b{i}",
            at[i + 1],
            at[i],
            np.abs(rng.standard_normal((1000, 1000), dtype=np.float32)).astype(float),
        )
        for i in range(99)
    ]
    graph = NetworkGraph(tuple(Group(f"g{i}", 1000) for i in range(100)), tuple(blocks))
    begun, processor = time.perf_counter(), time.process_time()
    clusterability(graph, K, 0, stability=0, progress=False)
    print(
        f"  {time.perf_counter() - begun:6.1f} s, {time.process_time() - processor:.1f} s of processor time, "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB in all"
    )


def penalty() -> None:
    torch.set_num_threads(1)  # several get in each other's way at this size
    network = dt.build_net("mlp:64-64-64,dropout=0,output_bias=true", (49,), 10, seed=0)
    ours = dt.ClusterabilityPenalty(k=4)
    weights = [value for name, value in network.named_parameters() if name.endswith("weight")]

    def plain() -> torch.Tensor:
        """Return the same by a full eigendecomposition, differentiated by PyTorch."""
        sizes = [weights[0].shape[1], *(len(weight) for weight in weights)]
        begin = np.cumsum([0, *sizes]).tolist()
        adjacency = torch.zeros(begin[-1], begin[-1])
        for i, weight in enumerate(weights):
            adjacency[begin[i + 1] : begin[i + 2], begin[i] : begin[i + 1]] = weight.abs()
        adjacency = adjacency + adjacency.T
        root = adjacency.sum(1).rsqrt()
        values: torch.Tensor = torch.linalg.eigvalsh(adjacency * root * root[:, None])
        return 1 - values[-4:-1].mean()

    print(
        f"\npenalty and gradient, 49-64-64-64-10: {float(ours(network)):.6f} ours, {float(plain()):.6f} plain"
    )
    report("ours", lambda: ours(network))
    report("plain", plain)


def report(name: str, make: Callable[[], torch.Tensor]) -> None:
    """Print how long a value with its gradient takes."""

    def steps() -> None:
        for _ in range(STEPS):
            make().backward()

    steps()
    print(f"  {name:6s} {1000 * seconds(steps) / STEPS:.2f} ms a step")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", help="cluster only a graph of this many nodes")
    arguments = parser.parse_args()
    if arguments.one:
        one_size(arguments.one)
        return
    against_scikit_learn()
    by_threads()
    growth()
    large()
    penalty()


if __name__ == "__main__":
    main()
