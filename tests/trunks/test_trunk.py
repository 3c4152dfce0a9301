"""Trunks: what they cut, that they stay as they are, and what they refuse."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import dovetail as dt
from dovetail.errors import DovetailError, ShapeError, SpecError
from dovetail.trunks.pool import Pool, pooled


class Small(nn.Module):
    """A convolutional network with a head, whose modules are not called in a chain."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.body = nn.Conv2d(4, 6, 3, padding=1)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(6, 10)

    def forward(self, x: Tensor) -> Tensor:
        maps = self.body(self.norm(self.stem(x)).relu())
        logits: Tensor = self.head(self.drop(maps.mean((2, 3)))).softmax(1)
        return logits


@pytest.fixture
def model() -> Small:
    torch.manual_seed(0)
    network = Small()
    network.norm.running_mean = torch.rand(4)
    return network


@pytest.fixture
def x() -> Tensor:
    return torch.rand(5, 1, 8, 8, generator=torch.Generator().manual_seed(1))


def maps_of(model: Small, x: Tensor) -> Tensor:
    with torch.no_grad():
        return model.body(model.eval().norm(model.stem(x)).relu())  # type: ignore[no-any-return]


def test_it_is_cut_before_its_last_layer_by_default(model: Small, x: Tensor) -> None:
    trunk = dt.trunk(model)
    assert trunk.facts.cut == "before head"
    assert torch.equal(trunk(x), maps_of(model, x).mean((2, 3)))


@pytest.mark.parametrize("pool", ["auto", "mean", "max", "flatten", "none"])
def test_it_is_cut_at_a_module_and_pooled(model: Small, x: Tensor, pool: Pool) -> None:
    maps = maps_of(model, x)
    wanted = {"max": maps.amax((2, 3)), "flatten": maps.flatten(1), "none": maps}.get(pool, maps.mean((2, 3)))
    torch.testing.assert_close(dt.trunk(model, cut="body", pool=pool)(x), wanted)


def test_the_whole_network_can_be_a_trunk(model: Small, x: Tensor) -> None:
    with torch.no_grad():
        assert torch.equal(dt.trunk(model, cut="output")(x), model.eval()(x))


def test_a_network_without_a_head_is_taken_whole() -> None:
    assert dt.trunk(nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4))).facts.cut == "output"


def test_tokens_are_pooled_where_they_are() -> None:
    tokens = torch.arange(12.0).reshape(2, 3, 2)
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    assert pooled(tokens, "auto", mask).tolist() == [[1.0, 2.0], [8.0, 9.0]]
    assert pooled(tokens, "max", mask).tolist() == [[2.0, 3.0], [10.0, 11.0]]
    assert pooled(tokens, "first").tolist() == [[0.0, 1.0], [6.0, 7.0]]


def test_training_the_network_further_changes_nothing(model: Small, x: Tensor) -> None:
    trunk = dt.trunk(model)
    before, name = trunk(x), trunk.facts
    with torch.no_grad():
        model.stem.weight += 1
    model.train()
    assert torch.equal(trunk(x), before)
    assert dt.trunk(model).facts != name


def test_it_is_frozen_and_stays_in_evaluation_mode(model: Small, x: Tensor) -> None:
    trunk = dt.trunk(model.train())
    trunk.train()
    assert not any(parameter.requires_grad for parameter in trunk.parameters())
    assert torch.equal(trunk(x), trunk(x))
    assert model.training


@pytest.mark.parametrize("again", [copy.deepcopy, lambda trunk: pickle.loads(pickle.dumps(trunk))])
def test_a_copy_is_the_same(model: Small, x: Tensor, again: object) -> None:
    trunk = dt.trunk(model)
    twin = again(trunk)  # type: ignore[operator]
    assert twin.facts == trunk.facts
    assert torch.equal(twin(x), trunk(x))


def test_pictures_are_brought_to_its_size_and_scale(model: Small, x: Tensor) -> None:
    trunk = dt.trunk(model, cut="body", size=(16, 12), mean=0.5, std=0.25)
    bigger = nn.functional.interpolate(x, (16, 12), mode="bilinear", antialias=True)
    torch.testing.assert_close(trunk(x), maps_of(model, (bigger - 0.5) / 0.25).mean((2, 3)))


def test_what_a_network_says_of_itself_is_done(model: Small) -> None:
    model.pretrained_cfg = {"input_size": (3, 16, 16), "mean": (0.5,), "std": (0.5,), "architecture": "tiny"}  # type: ignore[assignment]
    facts = dt.trunk(model).facts
    assert facts.name == "tiny"
    assert facts.takes == "pictures at 16 × 16, mean [0.5], std [0.5]"


def test_weights_are_loaded(model: Small, x: Tensor, tmp_path: Path) -> None:
    torch.save({f"module.{name}": tensor for name, tensor in model.state_dict().items()}, tmp_path / "w.pt")
    other = dt.trunk(Small(), weights=tmp_path / "w.pt")
    assert other.facts == dt.trunk(model).facts
    with pytest.raises(SpecError, match="does not fit"):
        dt.trunk(nn.Linear(2, 3), weights=tmp_path / "w.pt")


@pytest.mark.parametrize("wrapped", [lambda y: {"last_hidden_state": y}, lambda y: (y, None), lambda y: [y]])
def test_outputs_with_several_tensors(wrapped: object) -> None:
    class Wrapping(nn.Module):
        def forward(self, x: Tensor) -> object:
            return wrapped(x)  # type: ignore[operator]

    assert dt.trunk(Wrapping(), cut="output")(torch.ones(2, 3)).shape == (2, 3)


def test_by_name_with_options(x: Tensor) -> None:
    trunk = dt.trunk(f"{__name__}:Small:cut=body,pool=max,name=mine")
    assert (trunk.name, trunk.facts.cut, trunk.facts.pool) == ("mine", "body", "max")
    assert trunk(x).shape == (5, 6)


def test_by_name_without_weights_it_is_always_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import torch\nfrom torch import nn\nready = nn.Linear(4, 3)\ndef build(): return nn.Linear(4, 3)\n"
    )
    (tmp_path / "drawing_nets.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    hashes: dict[str, set[str]] = {"build": set(), "ready": set()}
    for seed in range(3):
        monkeypatch.delitem(sys.modules, "drawing_nets", raising=False)
        for name in ("build", "build", "ready"):  # first with what importing draws, then without
            torch.manual_seed(seed)
            hashes[name].add(dt.trunk(f"drawing_nets:{name}", cut="output").facts.hash)
            drawn = torch.rand(3)
            torch.manual_seed(seed)
            assert torch.equal(drawn, torch.rand(3))
    assert [len(found) for found in hashes.values()] == [1, 1]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: dt.trunk(Small(), cut="hed"), "no module 'hed' to cut at; it has head"),
        (
            lambda: dt.trunk(Small(), cut=3),  # type: ignore[arg-type]
            "cut is the name of a module, such as '3' or 'before 3', or 'output'; got 3",
        ),
        (lambda: dt.trunk(Small(), cut="x" * 600), "no module 'xxx"),
        (
            lambda: dt.trunk(Small(), pool=3),  # type: ignore[arg-type]
            "unknown pool",
        ),
        (
            lambda: dt.trunk(Small(), pool="median"),  # type: ignore[arg-type]
            "unknown pool 'median'",
        ),
        (lambda: dt.trunk(Small(), mean=0.5), "mean and std go together"),
        (lambda: dt.trunk(Small(), mean=0.5, std=0.0), "none of std 0"),
        (lambda: dt.trunk(Small(), size=0), "size is a number of pixels"),
        (lambda: dt.trunk(Small(), weights="nowhere.pt"), "not there"),
        (
            lambda: dt.trunk(12),  # type: ignore[arg-type]
            "made of a torch.nn.Module",
        ),
        (lambda: dt.trunk("resnet18"), "names no network; write timm:NAME"),
        (lambda: dt.trunk("no.such:thing"), "there is no module"),
        (lambda: dt.trunk("builtins:dict"), "gives a dict"),
        (lambda: dt.trunk("torch.nn:Flatten:colour=1"), "unknown option of a trunk 'colour'"),
        (lambda: dt.trunk("torch.nn:Flatten:size"), "is no option"),
        (lambda: dt.trunk("torch.nn:Flatten:size=big"), "size is a number of pixels"),
        (lambda: dt.trunk("torch.nn:Flatten:mean=a,std=1"), "numbers with slashes"),
    ],
)
def test_what_is_refused(make: object, says: str) -> None:
    with pytest.raises(DovetailError, match=says):
        make()  # type: ignore[operator]


def test_a_module_that_is_not_used_is_no_cut(x: Tensor) -> None:
    class Unused(Small):
        def forward(self, x: Tensor) -> Tensor:
            return x.flatten(1)

    with pytest.raises(SpecError, match="ran to its end without 'body'"):
        dt.trunk(Unused(), cut="body")(x)


class Ordered(nn.Module):
    """Runs dense layers of 8 to 8 numbers in another order than they were made in."""

    def __init__(self, made: list[str], ran: list[str]) -> None:
        super().__init__()
        for name in made:
            setattr(self, name, nn.LayerNorm(8) if name == "norm" else nn.Linear(8, 8))
        self.ran = ran

    def forward(self, x: Tensor) -> Tensor:
        return self.until(len(self.ran), x)

    def until(self, end: int, x: Tensor) -> Tensor:
        for name in self.ran[:end]:
            x = getattr(self, name)(x)
        return x


@pytest.mark.parametrize(
    ("made", "ran", "cut"),
    [
        ("head stem", "stem head", "before head"),
        ("stem head norm", "norm stem head", "before head"),
        ("norm stem", "stem norm", "before norm"),
        ("other stem", "stem other stem", "output"),
    ],
)
def test_a_usual_cut_that_is_not_at_the_end_is_refused(made: str, ran: str, cut: str) -> None:
    model, x = Ordered(made.split(), ran.split()), torch.rand(3, 8)
    trunk = dt.trunk(model)
    for _ in range(2):
        with pytest.raises(SpecError, match=f"runs last; say it: cut='{cut}'"):
            trunk(x)
    with torch.no_grad():
        end = len(model.ran) if cut == "output" else model.ran.index(cut.split()[1])
        assert torch.equal(dt.trunk(model, cut=cut)(x), model.until(end, x))


def test_the_usual_cut_does_not_run_what_comes_after_it_again(x: Tensor) -> None:
    trunk, calls = dt.trunk(Small()), []
    trunk.network.head.register_forward_hook(lambda *_: calls.append(1))  # type: ignore[union-attr]
    first = trunk(x)
    assert torch.equal(trunk(x), first)
    assert calls == [1]


def test_a_head_for_other_sizes_is_not_needed() -> None:
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(4 * 36, 10))
    bigger = torch.rand(2, 1, 12, 12)
    with torch.no_grad():
        assert torch.equal(dt.trunk(model)(bigger), model[1](model[0](bigger)))


def test_a_row_for_each_sample_is_wanted(x: Tensor) -> None:
    class Sums(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.sum()

    with pytest.raises(ShapeError, match="not a row for each sample"):
        dt.trunk(Sums(), cut="output")(x)
    with pytest.raises(ShapeError, match="'first' is for tokens"):
        dt.trunk(Small(), cut="body", pool="first")(x)
