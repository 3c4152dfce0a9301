from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import DovetailError, SpecError
from dovetail.nets import ARCHITECTURES, NetSpec


@pytest.mark.parametrize(
    "text",
    [
        "mlp",
        "mlp:512-256",
        "mlp:512-256,dropout=0.2,output_bias=true,init=kaiming-normal",
        "mlp:7,dropout=0,batch_norm=true",
        "lenet",
        "lenet:60-120-60",
        "lenet:60",
        "small-cnn,dropout=0.5,init=default",
        "vgg16,dropout=0.5",
        "vgg11,batch_norm=false",
        "resnet18,output_bias=false",
        "resnet18:240",
        "vgg11:20",
        "resnet-stage:640",
        "vit:64,patch=2,depth=3",
    ],
)
def test_canonical_text_comes_back_unchanged(text: str) -> None:
    spec = NetSpec.parse(text)
    assert str(spec) == text
    assert NetSpec.parse(str(spec)) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("mlp:512,dropout=0.50", "mlp:512"),
        (" mlp:0512 , init = default", "mlp:512"),
        ("mlp:", "mlp"),
        ("mlp:8,output_bias=true,dropout=2e-1", "mlp:8,dropout=0.2,output_bias=true"),
        ("lenet:64-120-64,dropout=0.0", "lenet"),
        ("small-cnn,init=glorot-uniform", "small-cnn"),
        ("resnet18:64", "resnet18"),
    ],
)
def test_same_network_same_text(text: str, canonical: str) -> None:
    assert str(NetSpec.parse(text)) == canonical
    assert hash(NetSpec.parse(text)) == hash(NetSpec.parse(canonical))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mpl:512", "did you mean 'mlp'"),
        ("", "unknown architecture"),
        ("mlp:512,dropuot=0.1", "did you mean 'dropout'"),
        ("resnet18,dropout=0.1", "unknown option of resnet18 'dropout'"),
        ("mlp:512,dropout=1", "from 0 up to, not including, 1; got 1"),
        ("mlp:512,dropout=nan", "got 'nan'"),
        ("mlp:512,dropout=-0.1", "got -0.1"),
        ("mlp:512,dropout", "name=value"),
        ("mlp:512,", "name=value"),
        ("mlp:512,dropout=0.1,dropout=0.1", "given twice"),
        ("mlp:512,batch_norm=yes", "true or false; got 'yes'"),
        ("mlp:512,init=he", "kaiming-normal"),
        ("mlp:0", "from 1 to"),
        ("mlp:-5", "whole numbers"),
        ("mlp:5--5", "whole numbers"),
        ("mlp:٣", "whole numbers"),
        ("mlp:999999999999", "got 999999999999"),
        ("mlp:200000-200000", "parameters"),
        ("small-cnn:64", "small-cnn takes no sizes"),
        ("vgg16:64-128", "vgg16 takes one size (channels of the first stage; later ones have"),
        ("mlp:" + "1-" * 600 + "1", "characters"),
    ],
)
def test_wrong_text_is_explained(text: str, says: str) -> None:
    with pytest.raises(SpecError) as caught:
        NetSpec.parse(text)
    assert says in str(caught.value)


def test_made_from_values() -> None:
    spec = NetSpec("mlp", (16,), (("output_bias", True), ("dropout", 0)))
    assert str(spec) == "mlp:16,dropout=0,output_bias=true"
    with pytest.raises(SpecError):
        NetSpec("mlp", (16,), (("dropout", float("nan")),))
    with pytest.raises(SpecError):
        NetSpec("mlp", (True,))
    with pytest.raises(SpecError, match="did you mean 'dropout'"):
        spec["droput"]


_pieces = st.sampled_from(
    [
        *ARCHITECTURES,
        *"=:-, \n²\ud800",
        "512",
        "0",
        "9" * 20,
        "dropout=",
        "batch_norm=",
        "init=",
        "true",
        ".5",
        "1e999",
    ]
)


@settings(max_examples=300, deadline=2000)
@given(st.one_of(st.text(), st.lists(_pieces).map("".join), st.integers(), st.none()))
def test_any_text_parses_or_raises_our_error(text: str) -> None:
    try:
        spec = NetSpec.parse(text)
    except DovetailError:
        return
    assert NetSpec.parse(str(spec)) == spec
    assert str(NetSpec.parse(str(spec))) == str(spec)


@given(
    st.lists(st.integers(1, 4000), max_size=5),
    st.floats(0, 1, exclude_max=True),
    st.booleans(),
    st.sampled_from(["default", "kaiming-normal", "glorot-uniform"]),
)
def test_every_value_survives_the_text(sizes: list[int], dropout: float, bias: bool, init: str) -> None:
    spec = NetSpec("mlp", tuple(sizes), (("init", init), ("dropout", dropout), ("output_bias", bias)))
    again = NetSpec.parse(str(spec))
    assert again == spec
    assert again["dropout"] == dropout
