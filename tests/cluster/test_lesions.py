"""Lesions: what is ablated, against networks written out by hand; random sets; what is counted."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor, nn

import dovetail as dt
from dovetail.cluster import Lesions, lesion
from dovetail.cluster.lesions import adjusted_p_values, enough_draws, matched_sets
from dovetail.data import Split
from dovetail.errors import DataError, DovetailError, ShapeError, SpecError
from dovetail.graph import NetworkGraph, network_graph
from dovetail.graph.graph import Group

Masks = Mapping[str, Tensor]


class Residual(nn.Module):
    """A shortcut: what conv1 and conv3 make is added, so they share their units."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 5, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(5)
        self.conv3 = nn.Conv2d(5, 6, 1)
        self.relu1, self.relu2, self.relu3 = nn.ReLU(), nn.ReLU(), nn.ReLU()
        self.pool, self.flatten = nn.AdaptiveAvgPool2d(1), nn.Flatten()
        self.output = nn.Linear(6, 4)

    def forward(self, x: Tensor) -> Tensor:
        stem = self.relu1(self.conv1(x))
        inner = self.relu2(self.norm(self.conv2(stem)))
        whole = self.relu3(stem + self.conv3(inner))
        logits: Tensor = self.output(self.flatten(self.pool(whole)))
        return logits

    def by_hand(self, x: Tensor, keep: Masks) -> Tensor:
        shared, inside = keep["conv1"][:, None, None], keep["conv2"][:, None, None]
        stem = torch.relu(self.conv1(x * keep["input"][:, None, None]))
        inner = torch.relu(self.norm(self.conv2(stem * shared)))
        whole = torch.relu(stem + self.conv3(inner * inside)) * shared
        logits: Tensor = self.output(whole.mean((2, 3)))
        return logits


class Branches(nn.Module):
    """Two branches side by side, flattened into a dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Conv2d(2, 3, 3)
        self.right = nn.Conv2d(2, 4, 3)
        self.flatten, self.output = nn.Flatten(), nn.Linear(7 * 16, 4)

    def forward(self, x: Tensor) -> Tensor:
        both = torch.cat([torch.relu(self.left(x)), torch.sigmoid(self.right(x))], 1)
        logits: Tensor = self.output(self.flatten(both))
        return logits

    def by_hand(self, x: Tensor, keep: Masks) -> Tensor:
        x = x * keep["input"][:, None, None]
        left = torch.relu(self.left(x)) * keep["left"][:, None, None]
        right = torch.sigmoid(self.right(x)) * keep["right"][:, None, None]
        logits: Tensor = self.output(torch.cat([left.flatten(1), right.flatten(1)], 1))
        return logits


class Chain(nn.Module):
    """Dense layers with batch norm, whose shift is there even for a unit without inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.flatten, self.first, self.norm = nn.Flatten(), nn.Linear(36, 8), nn.BatchNorm1d(8)
        self.relu, self.drop, self.output = nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.output(self.drop(self.relu(self.norm(self.first(self.flatten(x))))))
        return logits

    def by_hand(self, x: Tensor, keep: Masks) -> Tensor:
        hidden = torch.relu(self.norm(self.first(x.flatten(1) * keep["input"]))) * keep["first"]
        logits: Tensor = self.output(hidden)
        return logits


class Shared(nn.Module):
    """One layer used twice, on units of its own and on those that it made."""

    def __init__(self) -> None:
        super().__init__()
        self.flatten, self.first, self.again = nn.Flatten(), nn.Linear(36, 7), nn.Linear(7, 7)
        self.output = nn.Linear(7, 4)

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.tanh(self.first(self.flatten(x)))
        logits: Tensor = self.output(torch.tanh(self.again(torch.tanh(self.again(hidden)))))
        return logits

    def by_hand(self, x: Tensor, keep: Masks) -> Tensor:
        hidden = torch.tanh(self.first(x.flatten(1) * keep["input"])) * keep["first"]
        hidden = torch.tanh(self.again(hidden)) * keep["again"]
        logits: Tensor = self.output(torch.tanh(self.again(hidden)) * keep["again#2"])
        return logits


class Tokens(nn.Module):
    """Products with weights, on samples of six tokens: units lie along the last dimension."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 6))
        self.mixed = nn.ParameterList([nn.Parameter(torch.randn(4, 6))])

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.relu(x.flatten(1, 2) @ self.weight.T)
        return torch.matmul(hidden.mean(1), self.mixed[0].T)

    def by_hand(self, x: Tensor, keep: Masks) -> Tensor:
        hidden = torch.relu((x.flatten(1, 2) * keep["input"]) @ self.weight.T) * keep["Tokens"]
        logits: Tensor = hidden.mean(1) @ self.mixed[0].T
        return logits


class Turned(nn.Module):
    """A module that turns its input before it is read, and weights that are used without calling their layer."""

    class Columns(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(6, 6))

        def forward(self, x: Tensor) -> Tensor:
            turned: Tensor = x.transpose(1, 2) @ self.weight.T
            return turned

    def __init__(self) -> None:
        super().__init__()
        self.columns, self.output = self.Columns(), nn.Linear(6, 4)

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.relu(self.columns(x.flatten(1, 2)))
        return nn.functional.linear(hidden.amax(1), self.output.weight, self.output.bias)

    def by_hand(self, x: Tensor, keep: Masks) -> Tensor:
        turned = x.flatten(1, 2).transpose(1, 2) * keep["input"]
        logits: Tensor = self.output((torch.relu(turned @ self.columns.weight.T) * keep["columns"]).amax(1))
        return logits


def samples(channels: int, count: int = 60) -> Split:
    noise = torch.Generator().manual_seed(1)
    x = torch.randn(count, channels, 6, 6, generator=noise)
    return Split(x, torch.randint(4, (count,), generator=noise))


def prepared(build: Callable[[], nn.Module]) -> nn.Module:
    """Return a network with weights, batch-norm statistics and shifts that matter."""
    torch.manual_seed(0)
    network = build()
    for module in network.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.normal_(module.weight)
        if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
            assert module.running_mean is not None
            nn.init.normal_(module.running_mean)
            nn.init.normal_(module.bias)
    return network


def masks_of(graph: NetworkGraph, gone: NDArray[np.bool_]) -> dict[str, Tensor]:
    return {
        group.name: torch.from_numpy(~gone[graph.group_of == number]).float()
        for number, group in enumerate(graph.groups)
    }


@pytest.mark.parametrize(
    ("build", "channels"),
    [(Residual, 1), (Branches, 2), (Chain, 1), (Shared, 1), (Tokens, 1), (Turned, 1)],
)
@pytest.mark.parametrize("batch_size", [1, 50, 2048])
def test_ablating_is_what_setting_activations_to_0_by_hand_does(
    build: type[Residual | Branches | Chain | Shared | Tokens | Turned], channels: int, batch_size: int
) -> None:
    network, split = prepared(build), samples(channels)
    assert isinstance(network, Residual | Branches | Chain | Shared | Tokens | Turned)
    graph = network_graph(network, split.x[:1], convention="mlp")
    labels = np.random.default_rng(0).integers(3, size=len(graph))
    found = lesion(network, labels, split, graph=graph, draws=4, batch_size=batch_size)
    network.eval()
    with torch.no_grad():
        assert found.accuracy == pytest.approx((network(split.x).argmax(1) == split.y).double().mean().item())
        for cluster in range(3):
            logits = network.by_hand(split.x, masks_of(graph, labels == cluster))
            right = (logits.argmax(1) == split.y).double()
            assert found.accuracies[cluster] == pytest.approx(right.mean().item())
            by_class = [right[split.y == number].mean().item() for number in range(4)]
            assert found.class_accuracies[cluster] == pytest.approx(by_class)
    assert len(set(found.accuracies)) > 1  # else nothing was compared


def test_in_the_cnn_convention_dense_layers_read_the_last_channels_all_the_same() -> None:
    network, split = prepared(Branches), samples(2)
    assert isinstance(network, Branches)
    graph = network_graph(network, split.x[:1], convention="cnn")
    assert {group.name for group in graph.groups} == {"left", "right"}
    labels = np.arange(7) % 2
    found = lesion(network, labels, split, graph=graph, draws=3)
    for cluster in range(2):
        keep = {"input": torch.ones(2), **masks_of(graph, labels == cluster)}
        with torch.no_grad():
            right = network.by_hand(split.x, keep).argmax(1) == split.y
        assert found.accuracies[cluster] == pytest.approx(right.double().mean().item())
    assert found.layers == ("left", "right")


def planted() -> tuple[nn.Sequential, Split]:
    """Return a network of two halves that have nothing to do with each other, and samples that it gets right."""
    first, last, classes = nn.Linear(4, 8), nn.Linear(8, 4), torch.eye(4)
    with torch.no_grad():
        first.weight.copy_(classes.repeat_interleave(2, 0))
        first.bias.zero_()
        last.weight.copy_(classes.repeat_interleave(2, 1))
        last.bias.copy_(torch.tensor([0.4, 0.3, 0.2, 0.1]))
    y = torch.arange(40) % 4
    return nn.Sequential(first, nn.ReLU(), last), Split(classes[y], y)


def test_a_cluster_that_does_its_own_classes_shows_in_them() -> None:
    network, split = planted()
    graph = network_graph(network)
    half = np.concatenate([np.arange(4) // 2, np.arange(8) // 4, np.arange(4) // 2])
    found = lesion(network, half, split, graph=graph, draws=200, inputs=False)
    assert found.accuracy == 1
    # Without one half its first class still wins by its bias when there is nothing else.
    assert found.class_drops == pytest.approx(np.array([[0, 1, 0, 0], [0, 0, 1, 1]]))
    assert found.units.tolist() == [[4], [4]]
    assert found.layers == ("0",)


def test_found_clusters_bring_their_graph_along() -> None:
    network, split = planted()
    clusters = dt.clusterability(network, k=4, shuffles=3, progress=False)
    found = lesion(network, clusters, split, draws=5)
    again = lesion(network, clusters.labels, split, graph=clusters.graph, draws=5)
    assert np.array_equal(found.random_accuracies, again.random_accuracies)
    assert found.units.sum() == 12  # not the outputs
    other = lesion(network, clusters, split, draws=5, seed=1)
    assert not np.array_equal(found.random_accuracies, other.random_accuracies)


@pytest.mark.parametrize(("build", "channels"), [(Residual, 1), (Branches, 2), (Chain, 1)])
def test_labels_alone_are_for_the_graph_that_the_network_has_by_default(
    build: type[nn.Module], channels: int
) -> None:
    network, split = prepared(build), samples(channels)
    graph = network_graph(network, split.x[:1])
    labels = np.random.default_rng(0).integers(3, size=len(graph))
    alone, given = (lesion(network, labels, split, graph=own, draws=3) for own in (None, graph))
    assert alone.layers == given.layers
    assert np.array_equal(alone.accuracies, given.accuracies)
    assert np.array_equal(alone.random_accuracies, given.random_accuracies)


def test_a_graph_of_the_matrices_fits_by_its_sizes() -> None:
    network, split = planted()
    named, plain = network_graph(network), network_graph([p for p in network.parameters() if p.dim() == 2])
    labels = np.arange(16) % 3
    by_name = lesion(network, labels, split, graph=named, draws=2)
    by_size = lesion(network, labels, split, graph=plain, draws=2)
    assert np.array_equal(by_name.accuracies, by_size.accuracies)


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 6))
def test_random_sets_have_the_make_up_of_the_cluster(seed: int, clusters: int, draws: int) -> None:
    rng = np.random.default_rng(seed)
    graph = NetworkGraph(tuple(Group(str(n), int(rng.integers(1, 9))) for n in range(3)), ())
    labels = rng.integers(-1, clusters, len(graph))
    lesioned = graph.group_of < 2
    groups = matched_sets(labels, graph, lesioned, (labels >= 0) & lesioned, draws, seed)
    assert groups.shape == (labels.max(initial=-1) + 1, 1 + draws, len(graph))
    for cluster, members in enumerate(groups):
        assert np.array_equal(members[0], (labels == cluster) & lesioned)
        for number in range(3):
            counts = members[:, graph.group_of == number].sum(1)
            assert (counts == counts[0]).all()
    assert not groups[:, :, labels < 0].any()


def test_every_unit_of_a_layer_is_drawn_equally_often() -> None:
    graph = NetworkGraph((Group("a", 10),), ())
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1, 1])
    groups = matched_sets(labels, graph, labels >= 0, labels >= 0, 4000, 0)
    assert groups[0, 1:].mean(0) == pytest.approx(np.full(10, 0.3), abs=0.03)


def test_the_network_is_left_as_it_was() -> None:
    network, split = prepared(Residual), samples(1)
    network.train()
    network.get_submodule("norm").eval()
    before = copy.deepcopy(network.state_dict())
    graph = network_graph(network, split.x[:1])
    training = {name: module.training for name, module in network.named_modules()}
    lesion(network, graph.group_of, split, graph=graph, draws=2)
    with pytest.raises(ShapeError, match="class ids from 9 to 9, but the network has 4 outputs"):
        lesion(network, graph.group_of, Split(split.x, torch.full((60,), 9)), graph=graph, draws=2)
    assert {name: module.training for name, module in network.named_modules()} == training
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, before[name]), name


def test_a_compiled_network_is_measured_as_the_plain_one() -> None:
    network, split = prepared(Chain), samples(1)
    graph = network_graph(network, split.x[:1])
    labels = np.random.default_rng(0).integers(3, size=len(graph))
    plain = lesion(network, labels, split, draws=3)
    inside = prepared(Chain)
    assert isinstance(inside, Chain)
    inside.first = torch.compile(inside.first)  # type: ignore[assignment]
    for compiled in (torch.compile(network), inside):
        assert isinstance(compiled, nn.Module)
        found = lesion(compiled, labels, split, draws=3)
        assert found.layers == plain.layers
        assert np.array_equal(found.accuracies, plain.accuracies)
        assert np.array_equal(found.random_accuracies, plain.random_accuracies)


def test_networks_that_cannot_be_ablated_are_refused() -> None:
    class TokensFirst(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.output = nn.Linear(6, 4)

        def forward(self, x: Tensor) -> Tensor:
            logits: Tensor = self.output(x.flatten(1, 2).transpose(0, 1)).mean(0)
            return logits

    class Moody(TokensFirst):
        def forward(self, x: Tensor) -> Tensor:
            x = x.flatten(1, 2)[:, 0]
            logits: Tensor = self.output(x) if len(x) == 2 else x[:, :4]
            return logits

    with pytest.raises(SpecError, match="where samples lie along the first dimension"):
        lesion(TokensFirst(), np.zeros(10, dtype=int), samples(1))
    with pytest.raises(SpecError, match="did not use layer 'output'"):
        lesion(Moody(), np.zeros(40, dtype=int), samples(1))


def test_wrong_uses_are_named() -> None:
    network, split = planted()
    graph = network_graph(network)
    labels = np.zeros(16, dtype=int)
    with pytest.raises(ShapeError, match=r"labels of shape \(3,\) for NetworkGraph\(16 nodes"):
        lesion(network, labels[:3], split)
    with pytest.raises(ShapeError, match=r"labels of shape \(3,\)"):
        lesion(network, labels[:3], split, graph=graph)
    with pytest.raises(SpecError, match="seed must be a whole number of at least 0, not -1"):
        lesion(network, labels, split, seed=-1)
    with pytest.raises(SpecError, match=r"'digits', such as data\.test"):
        lesion(network, labels, dt.load("digits"))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match=r"such as data\.test; got a tuple"):
        lesion(network, labels, (split.x, split.y))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="whole numbers, -1"):
        lesion(network, labels / 2, split, graph=graph)
    with pytest.raises(SpecError, match="draws must be a whole number of at least 1, not 0"):
        lesion(network, labels, split, graph=graph, draws=0)
    with pytest.raises(DataError, match="class ids"):
        lesion(network, labels, Split(split.x, split.x), graph=graph)
    with pytest.raises(DataError, match="no samples"):
        lesion(network, labels, Split(split.x[:0], split.y[:0]), graph=graph)
    with pytest.raises(DovetailError, match=r"cannot take samples of shape \(7,\)"):
        lesion(network, labels, Split(torch.zeros(40, 7), split.y), graph=graph)
    with pytest.raises(SpecError, match="Flatten has no weights"):
        lesion(nn.Flatten(), labels, split, graph=graph)
    with pytest.raises(SpecError, match="got a list"):
        lesion([network], labels, split, graph=graph)  # type: ignore[arg-type]
    other = network_graph(nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 4)))
    with pytest.raises(ShapeError, match="no layer '0' with 5 units"):
        lesion(network, np.zeros(13, dtype=int), split, graph=other)


def test_no_clusters_no_lesions() -> None:
    network, split = planted()
    found = lesion(network, np.full(16, -1), split, graph=network_graph(network), draws=2)
    assert repr(found) == "Lesions(no clusters, accuracy 1.0000)"
    assert found.to_frame().empty


def result() -> Lesions:
    return Lesions(
        accuracy=0.9,
        class_accuracy=np.array([0.9, np.nan]),
        layers=("a",),
        units=np.array([[3], [0]]),
        accuracies=np.array([0.5, 0.9]),
        random_accuracies=np.array([[0.6, 0.5, 0.4], [0.9, 0.9, 0.9]]),
        class_accuracies=np.array([[0.5, np.nan], [0.9, np.nan]]),
        random_class_accuracies=np.array([[0.5, np.nan], [0.9, np.nan]]),
        samples=10,
        seed=0,
    )


def test_drops_are_what_accuracy_loses() -> None:
    found = result()
    assert found.drops == pytest.approx([0.4, 0])
    assert found.random_drops[0] == pytest.approx([0.3, 0.4, 0.5])


def test_results_as_text_table_and_json() -> None:
    found = result()
    assert repr(found) == (
        "Lesions(2 clusters, accuracy 0.9000; largest drop 0.4000 without cluster 0, random sets 0.4000 ± 0.0816, "
        "p = 1)"
    )
    frame = found.to_frame()
    assert frame.index.name == "cluster"
    assert frame["units"].tolist() == [3, 0]
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["schema"] == "dovetail.lesions/2"
    assert content["clusters"][0]["class_drops"] == [pytest.approx(0.4), None]


def test_p_values_count_ties_and_the_cluster_itself_and_are_adjusted_for_their_number() -> None:
    random = np.tile(np.linspace(0.1, 0.3, 199), (4, 1))
    drops = np.array([0.9, 0.2, -0.5, 0.3])
    # As far from the mean of all: none but itself; all; none but itself, on the other side; both ends of the draws.
    expected = [4 / 200, 1, 4 / 200, 2 * 3 / 200]
    assert adjusted_p_values(drops, random) == pytest.approx(expected)
    assert adjusted_p_values(np.zeros(3), np.zeros((3, 50))).tolist() == [1, 1, 1]
    assert len(adjusted_p_values(np.zeros(0), np.zeros((0, 50)))) == 0


def test_draws_are_enough_to_tell_a_cluster_that_differs_from_all_of_them() -> None:
    for clusters in (1, 4, 12, 100):
        draws = enough_draws(clusters)
        drops = np.zeros(clusters)
        drops[0] = 0.5
        random = np.random.default_rng(0).normal(scale=0.01, size=(clusters, draws))
        assert adjusted_p_values(drops, random)[0] <= 0.05
        assert draws >= 200


def test_random_labels_are_seldom_flagged() -> None:
    """With 20 draws, two tails and no adjustment 16 of 30 such audits had a cluster with p at most 0.05."""
    data = dt.load("digits")
    network = dt.build_net("mlp:24,dropout=0", data.input_shape, 10, seed=0)
    with torch.no_grad():  # far enough from chance for units to matter
        for weight in network.parameters():
            weight.mul_(3)
    samples = data.test.where(torch.arange(40))
    answers = Split(samples.x, network(samples.x).argmax(1))
    graph = dt.network_graph(network)
    flagged = 0
    for seed in range(30):
        labels = np.random.default_rng(seed).integers(12, size=len(graph))
        found = dt.lesion(network, labels, answers, seed=seed, progress=False)
        assert found.random_drops.shape == (12, 240)
        assert found.least_p <= 0.05
        flagged += bool((found.p_values <= 0.05).any())
    assert flagged <= 4  # 1.5 are expected; more than 4 would have a chance of 1.6 %
