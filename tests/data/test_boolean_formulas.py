"""Formulas: what they mean, and that nothing but a clear error comes out of bad ones."""

from __future__ import annotations

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.data.boolean import BooleanTask, boolean_task
from dovetail.errors import DovetailError, SpecError

INPUTS = 4


def both(symbol: str, left: str, right: str) -> str:
    return f"({left}) {symbol} ({right})"


ATOMS = st.sampled_from([*(f"x{number}" for number in range(1, INPUTS + 1)), "0", "1", "True", "False"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds(both, st.sampled_from(["&", "|", "^", "and", "or"]), inner, inner),
        st.builds(lambda symbol, operand: f"{symbol}({operand})", st.sampled_from(["~", "not "]), inner),
        st.builds(lambda symbol, a, b: f"({a} {symbol} {b})", st.sampled_from(["&", "|", "^"]), ATOMS, ATOMS),
    ),
    max_leaves=20,
)


class Bit(int):
    """A bit whose ~ is logical, so that Python can evaluate the same text."""

    def __and__(self, other: int) -> Bit:
        return Bit(int(self) & int(other))

    def __or__(self, other: int) -> Bit:
        return Bit(int(self) | int(other))

    def __xor__(self, other: int) -> Bit:
        return Bit(int(self) ^ int(other))

    def __invert__(self) -> Bit:
        return Bit(1 - int(self))


def by_python(expression: str, row: list[float]) -> int:
    # Constants become bits, and `not` (always before a parenthesis here) becomes the ~ of bits.
    text = re.sub(r"\b(0|1|True|False)\b", r"Bit(\1)", expression).replace("not (", "~(")
    return int(eval(text, {"Bit": Bit, **{f"x{number}": Bit(bit) for number, bit in enumerate(row, 1)}}))


@settings(max_examples=150, deadline=None)
@given(EXPRESSIONS, EXPRESSIONS)
def test_means_what_python_means(first: str, second: str) -> None:
    task = boolean_task(f"y1 = {first}", f"y2 = {second}", "every_input = x1 & x2 & x3 & x4")
    for row, bits in zip(task.x.tolist(), task.y.tolist(), strict=True):
        assert bits == [by_python(first, row), by_python(second, row)]


@pytest.mark.parametrize(
    ("expression", "same"),
    [
        ("x1 | x2 & x3 ^ x4", "x1 | ((x2 & x3) ^ x4)"),
        ("not x1 & x2", "~(x1 & x2)"),
        ("not x1 and x2", "(~x1) & x2"),
        ("x1 or x2 and x3 | x4", "x1 | (x2 & (x3 | x4))"),
        ("~x1 ^ ~x2 ^ x3 ^ x4", "x1 ^ x2 ^ x3 ^ x4"),
    ],
)
def test_operators_bind_as_in_python(expression: str, same: str) -> None:
    assert torch.equal(boolean_task(f"y1={expression}").y, boolean_task(f"y1 = {same}").y)


@pytest.mark.parametrize(
    ("bare", "named"),
    [
        (["x1 ^ x2"], ["y1 = x1 ^ x2"]),
        ([" \tnot x3"], ["y1 = ~x3"]),
        (["x1 & x2; x1 | x2"], ["y1 = x1 & x2", "y2 = x1 | x2"]),
        (["a = x1 & x2", "~a", "a ^ x3"], ["a = x1 & x2", "y1 = ~a", "y2 = a ^ x3"]),
    ],
)
def test_expressions_without_a_name_are_the_outputs(bare: list[str], named: list[str]) -> None:
    assert torch.equal(boolean_task(*bare).y, boolean_task(*named).y)


def test_names_may_come_in_any_order_and_unused_inputs_count() -> None:
    task = boolean_task("y2 = ~y1; y1 = a | x3", "a = x1 & x1\nunused = x5")
    assert (task.inputs, task.outputs, task.name, task.planted) == (5, 2, "formulas", None)
    expected = (task.x[:, 0] + task.x[:, 2]).clamp(max=1)
    assert torch.equal(task.y, torch.stack([expected, 1 - expected], dim=1))


@pytest.mark.parametrize(
    ("formulas", "says"),
    [
        ([], "no Boolean task"),
        ([""], "empty formula"),
        (["  \n ; "], "empty formula"),
        (["y1 = x1; x1 ^ x2"], r"formula 2 \('x1 \^ x2'\): a formula is"),
        (["mnist"], r"formula 1 \('mnist'\): a formula is"),
        (["x1 + x2"], r"column 4: '\+' is not allowed"),
        (["1 = x1"], r"formula 1 \('1 = x1'\): a formula is"),
        (["x1 &"], "this is not an expression"),
        (["y1 ="], "column 5: this is not an expression"),
        (["y1 = (x1 & "], "this is not an expression"),
        (["y1 = x1 & not x2"], "column 11"),
        (["y1 = x1", "y2 = x1 + x2"], r"formula 2 .* column 9: '\+' is not allowed"),
        (["y1 == x1"], "'=' is not allowed"),
        (["y1 = x1 < x2"], "'<' is not allowed"),
        (["y1 = x1 if x2 else x3"], "'x1 if x2 else x3' is not allowed"),
        (["y1 = f(x1)"], r"'f\(x1\)' is not allowed"),
        (["y1 = x1 & lambda_"], "unknown name 'lambda_'"),
        (["y1 = ()"], "is not allowed"),
        (["y1 = None"], "'None' is not allowed"),
        (["y1 = 2"], "neither a name nor 0 or 1"),
        (["y1 = 0or x1"], "neither a name nor 0 or 1"),
        (["y1 = x1 ∧ x2"], "'∧' is not allowed"),
        (["y1 = x1\0"], "is not allowed"),
        (["y1 = x1 & b"], "column 11: unknown name 'b'"),
        (["y1 = x1 & Y2"], "unknown name 'Y2'"),
        (["y1 = a", "a = b", "b = ~a"], "depends on itself; in the cycle: "),
        (["y1 = y1 | x1"], "depends on itself"),
        (["y1 = x1", "y1 = x2"], "formula 2 .* defined already, by formula 1"),
        (["x1 = x2"], "'x1' is an input"),
        (["if = x1"], "'if' is a word of Python"),
        (["a = b & y2"], "unknown name 'y2'"),
        (["s[0..2] = a[0..1]"], r"have \[2, 3\] bits; in one formula all have as many"),
        (["s[0..999] = a[0..999]"], r"up to 256"),
        (["s[0.. = a0"], r"an? .*expression|name = expression"),
        (["y1 = x1", "y3 = x1"], "'y3' is defined, but not 'y2'"),
        (["y01 = x1"], "'y01' is defined, but not 'y1'"),
        (["y1 = x0"], "inputs are x1 to x20"),
        (["y1 = x01"], "inputs are x1 to x20"),
        (["y1 = x21"], "inputs are x1 to x20"),
        (["y1 = x" + "9" * 9000], "inputs are x1 to x20"),
        (["y1 = 1"], "0 inputs"),
        (["y1 = " + "x1 & " * 2000 + "x1"], "too long"),
        (["y1 = x1"] * 2000, "too long"),
        ([f"y{number} = x1" for number in range(1, 258)], "257 outputs"),
        ([f"y{number} = x20" for number in range(1, 46)], "room for 44"),
    ],
)
def test_bad_formulas_are_explained(formulas: list[str], says: str) -> None:
    with pytest.raises(SpecError, match=says) as caught:
        boolean_task(*formulas)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "argument", [4, None, 1.5, b"y1 = x1", {"y1": "x1"}, 10**5000], ids=lambda value: type(value).__name__
)
def test_other_arguments_are_refused(argument: object) -> None:
    with pytest.raises(SpecError, match="write a list such as"):
        boolean_task(argument)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="write a list such as"):
        boolean_task("y1 = x1", argument)  # type: ignore[arg-type]


def test_nesting_is_limited_before_python_reads_it() -> None:
    for opening, closing in (("(", ")"), ("~", ""), ("not ", ""), ("~(", ")"), ("~~~(", ")")):
        deep = f"y1 = {opening * 1900}x1{closing * 1900}"
        with pytest.raises(SpecError, match="nested more than 50 deep"):
            boolean_task(deep)
    task = boolean_task("y1 = " + "~(x2 & " * 20 + "x1" + ")" * 20)
    assert task.inputs == 2


def test_long_chains_are_fine_or_refused() -> None:
    assert boolean_task("y1 = " + "^".join(["x1"] * 2001)).y.flatten().tolist() == [0, 1]
    for operator in ("&", "|", "^"):
        with pytest.raises(SpecError, match="too many operators in one formula"):
            boolean_task("y1 = " + operator.join(["a"] * 2002))


def test_largest_tables() -> None:
    task = boolean_task("y1 = " + " ^ ".join(f"x{number}" for number in range(1, 21)))
    assert task.x.shape == (2**20, 20)
    assert torch.equal(task.y[:, 0], task.x.sum(1) % 2)


JUNK = st.one_of(
    st.text(max_size=60),
    st.text("xy12ab=&|^~() \n;0notrd[],", max_size=60),
    st.lists(
        st.sampled_from(
            ["x1", "x2", "y1", "y2", "=", "a", "&", "|", "^", "~", "(", ")", "not", "or", " ", ";", "0"]
        ),
        max_size=25,
    ).map(" ".join),
    st.text(max_size=30).map("y1 = {}".format),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(JUNK, max_size=3))
def test_junk_gives_a_task_or_a_clear_error(junk: list[str]) -> None:
    try:
        task = boolean_task(*junk)
    except DovetailError:
        return
    assert isinstance(task, BooleanTask)
    assert task.y.shape == (2**task.inputs, task.outputs)


def test_names_of_ones_own() -> None:
    task = boolean_task("carry = a0 & b0; s[0..1] = a[0..1] ^ b[0..1] ^ c[0..1]; c0 = 0; c1 = carry")
    assert task.input_names == ("a0", "b0", "a1", "b1")
    assert task.output_names == ("s0", "s1")
    a0, b0, a1, b1 = task.x.bool().T
    assert torch.equal(task.y.bool().T, torch.stack([a0 ^ b0, a1 ^ b1 ^ (a0 & b0)]))
    assert "inputs   a0, b0, a1, b1" in task.describe()
    assert task.dataset().classes == ("s0", "s1")


def test_ends_can_be_named_in_any_order() -> None:
    plain = boolean_task("carry = a & b; s = a ^ b ^ carry")
    named = boolean_task(
        "carry = a & b; s = a ^ b ^ carry", inputs=["b", "unread", "a"], outputs=["carry", "s"]
    )
    assert (plain.output_names, named.output_names) == (("s",), ("carry", "s"))
    assert named.input_names == ("b", "unread", "a")
    b, _, a = named.x.bool().T
    assert torch.equal(named.y.bool().T, torch.stack([a & b, a ^ b ^ (a & b)]))


def test_usual_names_stay_nameless() -> None:
    task = boolean_task("y2 = x1; y1 = half | x3; half = x2")
    assert (task.input_names, task.output_names) == (None, None)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ({"inputs": ["a"]}, "column 9: unknown name 'b'"),
        ({"inputs": ["a", "a", "b"]}, "different names"),
        ({"inputs": ["a", "b", "s"]}, "'s' is an input and cannot be defined"),
        ({"outputs": ["a"]}, "no formula for the output 'a'"),
        ({"outputs": []}, "no output"),
    ],
)
def test_wrong_ends_are_explained(names: dict[str, list[str]], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        boolean_task("s = a & b", **names)
