"""Networks by name: any sizes, options, input shapes and numbers of outputs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from dovetail.nets import NetSpec, net_builder

from .hostile import LONG, damaged, numbers
from .many import fuzz

pytestmark = pytest.mark.slow

architectures = st.sampled_from(
    ["mlp", "mlp", "mlp", "lenet", "lenet", "small-cnn", "vgg11", "vgg16", "resnet18"]
)
sizes = st.lists(
    st.sampled_from([0, 1, 2, 8, 64, 4096, 2**18, 2**18 + 1, 10**12, 10**13]) | st.integers(1, 40), max_size=4
)
options = st.sampled_from(
    ["dropout=0", "dropout=0.5", "dropout=1", "dropout=nan", "dropout=-1", "dropout=1e-999",
    "dropout=.9999999999999999999",
     "batch_norm=true", "batch_norm=false", "batch_norm=1", "output_bias=true", "init=kaiming-normal",
     "init=glorot-uniform", "init=zeros", "init=", "=", "dropout", "dropout=0.1=2", "x=1", f"{LONG}=1",
     "dropout=" + "0" * 900]
)  # fmt: skip


@st.composite
def specs(draw: st.DrawFn) -> str:
    numbers = "-".join(map(str, draw(sizes)))
    parts = [draw(architectures) + (f":{numbers}" if numbers else ""), *draw(st.lists(options, max_size=3))]
    return ",".join(parts)


LARGE = [
    "",
    LONG,
    "mlp:" + "1-" * 490 + "1",
    "mlp:" + "1" * 990,
    "mlp" + "," * 900,
    "lenet:" + "9-" * 400 + "9",
]
texts = st.one_of(
    specs(),
    specs(),
    specs().map(str.encode).flatmap(damaged).map(lambda text: text.decode("latin-1")),
    st.text(max_size=30),
    st.sampled_from(LARGE),
)
shapes: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([(6,), (1, 8, 8), (1, 28, 28), (3, 32, 32)]),
    st.lists(st.integers(1, 40), max_size=5),
    st.lists(numbers, max_size=4),
    st.sampled_from([[1] * 1000, [2] * 10_000, [10**4000] * 300, [2**24], [2**12, 2**12], [1, 2**11, 2**11]]),
)
outputs: st.SearchStrategy[Any] = st.integers(1, 20) | numbers


def read(given: tuple[str, Any, Any]) -> None:
    text, shape, count = given
    spec = NetSpec.parse(text)
    assert NetSpec.parse(str(spec)) == spec
    build = net_builder(spec, shape, count)
    assert build == net_builder(str(spec), shape, count)


def test_no_spec_breaks_the_reader() -> None:
    fuzz("net specs", st.tuples(texts, shapes, outputs), read)
