from __future__ import annotations

import warnings
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dt
from dovetail.errors import CompatibilityWarning, MisfitError, SpecError
from dovetail.specialists import Composite, Part, Specialist
from dovetail.specialists.class_lists import UNDECIDED, Places, joined_list, renamed

from .helpers import inputs, make_specialist

OURS, THEIRS = ("ant", "bee", "cat"), ("dog", "bee", "eel", "fox")
NETS = {
    "mlp": ("mlp:10", "mlp:13", (6,)),
    "deep": ("mlp:10-7,batch_norm=true", "mlp:13-9,batch_norm=true", (6,)),
    "bias": ("mlp:10,output_bias=true", "mlp:13,output_bias=true", (6,)),
    "lenet": ("lenet:7-9-5", "lenet:9-8-8", (1, 6, 6)),
}


def two_teams(kind: str = "mlp", density: float = 1.0) -> list[Specialist]:
    ours, theirs, shape = NETS[kind]
    first = [
        make_specialist((n,), ours, classes=OURS, slots=True, shape=shape, density=density) for n in range(3)
    ]
    second = [
        make_specialist(ids, theirs, classes=THEIRS, slots=True, shape=shape, density=density, seed=1)
        for ids in ((0,), (2, 3))
    ]
    return [*first, *second]


def wanted(parts: list[Specialist], x: torch.Tensor, classes: tuple[str, ...]) -> np.ndarray:
    """The sum of logits by name, plainly: an unknown class gets the mean of what is not rewarded."""
    total = np.zeros((len(x), len(classes)))
    for part in parts:
        logits = part(x).double().numpy()
        rest = [n for n in range(len(part.classes)) if n not in part.rewarded]
        for place, name in enumerate(classes):
            known = name in part.classes
            total[:, place] += logits[:, part.classes.index(name)] if known else logits[:, rest].mean(1)
    return total


def bits(part: Part) -> dict[str, bytes]:
    return {name: tensor.numpy().tobytes() for name, tensor in part.state_dict().items()}


@pytest.mark.parametrize("kind", NETS)
@pytest.mark.parametrize("density", [1.0, 0.5])
def test_sums_in_slots_are_the_sum_of_logits_by_name(kind: str, density: float) -> None:
    parts = two_teams(kind, density)
    x = inputs(20, NETS[kind][2])
    whole = sum(parts[1:], start=parts[0])
    assert isinstance(whole, Composite)
    assert whole.classes == ("dog", "bee", "eel", "fox", "ant", "cat")
    assert set(whole.known) == set(whole.classes)
    np.testing.assert_allclose(whole(x).numpy(), wanted(parts, x, whole.classes), rtol=1e-4, atol=1e-4)
    plain = dt.build_net(whole.blueprint.net, NETS[kind][2], 6)  # what it says it is
    plain.load_state_dict(whole.state_dict())
    torch.testing.assert_close(plain.eval()(x).detach() / 5, whole(x))
    for name, tensor in whole.state_dict(layout="sparse").items():
        dense = tensor.to_dense() if tensor.is_sparse else tensor
        assert torch.equal(dense, whole.state_dict()[name])


@pytest.mark.parametrize("kind", NETS)
def test_averaged_logits_are_joined_by_name(kind: str) -> None:
    parts = two_teams(kind)
    x = inputs(20, NETS[kind][2])
    whole = dt.compose(parts, "logits", weights=[1, 2, 3, 4, 5])
    for part, weight, factor in zip(parts, [1, 2, 3, 4, 5], [1, 2, 3, 4, 5], strict=True):
        assert whole.weights[whole.specialists.index(part)] == weight == factor
    shares = sum(w * wanted([part], x, whole.classes) for part, w in zip(parts, [1, 2, 3, 4, 5], strict=True))
    np.testing.assert_allclose(whole(x).numpy(), shares / 15, rtol=1e-4, atol=1e-4)
    exported = torch.export.export(whole.module(), (x,)).module()
    torch.testing.assert_close(exported(x), whole(x))


def test_networks_of_other_kinds_are_joined_by_their_logits_and_not_by_their_weights() -> None:
    shape = (1, 6, 6)
    one = make_specialist((0,), "lenet:4-5-5", classes=OURS, shape=shape)
    two = make_specialist((0,), "mlp:9", classes=THEIRS, shape=shape)
    x = inputs(9, shape)
    both = dt.compose([one, two], "logits")
    np.testing.assert_allclose(both(x).numpy(), wanted([one, two], x, both.classes) / 2, rtol=1e-4, atol=1e-5)
    with pytest.raises(MisfitError, match=r"different networks.*method 'logits'"):
        one + two


@pytest.mark.parametrize("method", ["sum", "logits"])
def test_any_order_of_adding_and_taking_out_gives_the_same_bits(method: str) -> None:
    parts = two_teams()
    x = inputs()
    whole = dt.compose(parts, method)  # type: ignore[call-overload]
    for order in permutations(range(5), 5):
        assert dt.compose([parts[n] for n in order], method).digest == whole.digest  # type: ignore[call-overload]
    for gone in range(5):
        left = [part for n, part in enumerate(parts) if n != gone]
        never = dt.compose(left[::-1], method)  # type: ignore[call-overload]
        without = whole.without(*parts[gone].known)
        assert without == never == whole - parts[gone]
        assert bits(without) == bits(never)
        assert torch.equal(without(x), never(x))
        assert without.classes == never.classes
    ours = whole.without("dog", "eel", "fox")
    assert ours == dt.compose(parts[:3], method)  # type: ignore[call-overload]
    assert ours.classes == OURS  # a list of which nobody is left is forgotten


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, unique=True), min_size=1, max_size=4))
def test_lists_join_in_any_order(lists: list[list[str]]) -> None:
    found = joined_list(tuple(names) for names in lists)
    assert set(found) == set().union(*map(set, lists))
    assert len(set(found)) == len(found)
    assert found == joined_list(tuple(names) for names in reversed(lists))
    longest = max(map(len, lists))
    assert list(found[:longest]) in lists


def test_same_names_in_another_order_are_joined_too() -> None:
    one = make_specialist((0,), "mlp:9", classes=("a", "b", "c"), slots=True, density=1.0)
    two = make_specialist((0,), "mlp:9", classes=("c", "b", "a"), slots=True, density=1.0)
    both = one + two
    x = inputs()
    np.testing.assert_allclose(both(x).numpy(), wanted([one, two], x, ("a", "b", "c")), rtol=1e-4, atol=1e-5)
    assert both.known == ("a", "c")


def test_where_all_classes_are_rewarded_an_unknown_one_gets_their_mean() -> None:
    rows = Places(("a", "b"), (0, 1), ("a", "b", "z")).rows(torch.tensor([[2.0], [4.0]]))
    assert rows.flatten().tolist() == [2, 4, 3]


def test_outside_of_slots_sums_say_what_they_need() -> None:
    one, two = make_specialist((0,), classes=OURS), make_specialist((0,), classes=THEIRS)
    for force in (False, True):
        with pytest.raises(MisfitError, match=r"different class lists.*in slots.*method 'logits'"):
            dt.compose([one, two], force=force)
    with pytest.raises(MisfitError, match=r"different networks.*method 'logits'"):
        dt.compose(two_teams(), "ties")
    with pytest.raises(MisfitError, match="networks"):
        dt.connectivity(two_teams()[2:4], dt.Split(inputs(), torch.zeros(7).long()))


def test_compatibility_of_what_stands_side_by_side() -> None:
    parts = two_teams()
    found = dt.compatibility(parts)
    assert (found.score, found.mask_overlap) == (1, 0)
    found = dt.compatibility(parts, inputs=inputs(50))
    assert found.interference is not None
    assert found.interference < 1e-5


def test_shared_classes_are_noted() -> None:
    ours = make_specialist((1,), "mlp:9", classes=OURS, slots=True)
    theirs = make_specialist((1,), "mlp:9", classes=THEIRS, slots=True)
    with pytest.warns(CompatibilityWarning, match=r"^bee: recognised by several of these 2 specialists"):
        both = dt.compose([Composite([ours]), Composite([theirs])])
    x = inputs()
    np.testing.assert_allclose(both(x).numpy(), wanted([ours, theirs], x, both.classes), rtol=1e-4, atol=1e-5)
    assert both.known == ("bee",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apart = dt.compose([ours, theirs.rename({"bee": "bumblebee"})])
    assert apart.known == ("bumblebee", "bee")
    with pytest.raises(
        MisfitError, match="both have class"
    ):  # the same twice is a mistake whatever else is there
        dt.compose([ours, theirs, ours])


def test_slots_that_overlap_by_force_get_units_of_their_own() -> None:
    one, two = (
        make_specialist((1,), "mlp:10", classes=OURS, slots=True, seed=n, density=1.0) for n in range(2)
    )
    with pytest.raises(MisfitError, match="class and slot bee"):
        one + two
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = dt.compose([one, two], force=True)
    x = inputs()
    np.testing.assert_allclose(both(x).numpy(), wanted([one, two], x, OURS), rtol=1e-4, atol=1e-5)
    assert both - two == Composite([one])


def test_renaming() -> None:
    parts = two_teams()
    x = inputs()
    whole = dt.compose(parts)
    other = whole.rename({"ant": "emmet", "dog": "hound"})
    assert set(other.classes) == set(whole.classes) - {"ant", "dog"} | {"emmet", "hound"}
    order = [other.classes.index({"ant": "emmet", "dog": "hound"}.get(name, name)) for name in whole.classes]
    torch.testing.assert_close(other(x)[:, order], whole(x))
    assert other != whole
    assert other.rename({"emmet": "ant", "hound": "dog"}) == whole
    assert parts[0].rename({"ant": "bee", "bee": "ant"}).classes == ("bee", "ant", "cat")
    with pytest.raises(SpecError, match="did you mean 'ant'"):
        whole.rename({"aunt": "uncle"})
    with pytest.raises(SpecError, match="several classes would be called 'bee'"):
        parts[0].rename({"ant": "bee"})
    with pytest.raises(SpecError, match="are texts"):
        renamed(("a",), {"a": 3})  # type: ignore[dict-item]
    assert parts[0].rename({0: "emmet"}) == parts[0].rename({parts[0].classes[0]: "emmet"})
    with pytest.raises(SpecError, match="id from 0 to 2"):
        parts[0].rename({3: "emmet"})
    with pytest.raises(SpecError, match="one class two names"):
        parts[0].rename({0: "emmet", parts[0].classes[0]: "formic"})


def test_no_class_is_called_as_the_answer_that_there_is_none() -> None:
    parts = two_teams()
    with pytest.raises(SpecError, match="a class called 'undecided' could not be told"):
        parts[0].rename({parts[0].classes[0]: UNDECIDED})
    votes = dt.Dataset.from_arrays(torch.randn(60, 3), ["yes", "no", UNDECIDED] * 20)
    sets: list[Any] = [None, [UNDECIDED], [["yes", 1]]]
    for train in (dt.train_specialists, dt.sums):
        for rewarded in sets:
            with pytest.raises(SpecError, match=r"a class called 'undecided' .* give it another name"):
                train(votes, rewarded=rewarded)
    # Samples of it are welcome as what to be undecided on.
    assert dt.sums(votes, rewarded=["yes", "no"], features=10)[0].known == ("yes",)


@pytest.mark.parametrize("method", ["sum", "logits"])
def test_files_hold_every_class_list(tmp_path: Path, method: str) -> None:
    whole = dt.compose(two_teams("deep"), method)  # type: ignore[call-overload]
    opened = dt.open(whole.save(tmp_path / "whole.safetensors"))
    assert isinstance(opened, Composite)
    assert opened == whole
    assert [part.classes for part in opened.specialists] == [part.classes for part in whole.specialists]
    assert opened.without("bee") == whole.without("bee")
    assert torch.equal(opened(inputs()), whole(inputs()))
