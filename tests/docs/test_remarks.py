"""Numbers in remarks: those that the tables have."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dovetail.recipes import Cell, Recipe, find_recipe, recipes
from dovetail.recipes.tables import Quantity

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "results").glob("*/remarks.in.md"))


def _module(name: str) -> ModuleType:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "docs"))


numbers = _module("remark_numbers")

CELLS = [
    Cell({"use": 1, "layers": 2}, "success", Quantity(5, of=12), Quantity(7, of=12)),
    Cell({"use": 8, "layers": 2}, "success", Quantity(1, of=12), Quantity(12, of=12)),
    Cell({"use": 8, "layers": 2}, "accuracy", Quantity(0.9014, 0.01), Quantity(0.95, 0.03)),
    Cell({"use": 1, "layers": 2}, "accuracy", Quantity(0.5, 0.01), Quantity(0.95, 0.03)),
    Cell({"use": 1, "layers": 3}, "accuracy", Quantity(0.5), Quantity(0.95, 0.03, doubt=True)),
    Cell({"use": 2, "layers": 3}, "accuracy", Quantity(0.5), Quantity(0.95)),
    Cell({"use": 2, "layers": 4}, "few", Quantity(0, of=4), Quantity(1, of=1)),  # so few that nothing differs
    Cell({"use": 3, "layers": 4}, "few", Quantity(4, of=4), Quantity(1, of=1)),
    *(
        Cell({"net": net, "table": table, "digits": 2}, metric, Quantity(ours), Quantity(published))
        for net, table, metric, ours, published in (
            ("mlp:8", "Table A.1", "n-cut", 10.25, 10.0),
            ("mlp:8", "Table A.1", "shuffled", 10.5, 10.5),
            ("mlp:9", "Table A.2, by sums", "n-cut", 9.5, 9.0),
            ("mlp:9", "Table A.2, by sums", "shuffled", 9.0, 9.0),
        )
    ),
]
ELSEWHERE_CELLS = {"another": [Cell({"net": "mlp:8"}, "n-cut", Quantity(0.7))]}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{success: use=1}}", "5 of 12"),
        ("{{published success: use=8}}", "12 of 12"),
        ("{{each success: layers=2}} ({{each published success: layers=2}})", "5 and 1 (7 and 12)"),
        ("{{total success: layers=2}}", "6 of 24"),
        ("{{accuracy: use=8}}", ".901"),
        ("{{total accuracy: layers=2}}", ".701"),
        ("{{agreeing}}, {{agreeing accuracy}}", "2 of 4, 1 of 2"),
        ("{{each few}}", "0 and 4"),
        ("{{range accuracy}}, {{least accuracy}}, {{largest success}}", ".500 to .901, .500, 5 of 12"),
        ("{{off accuracy: layers=2}}", ".249"),
        ("{{accuracy: use=8}} ({{spread accuracy: use=8}})", ".901 (.010)"),
        ("{{furthest accuracy: layers=2}}", ".450"),
        ("{{range accuracy: layers=3}}", ".500"),  # one number, not from it to itself
        ("{{each success: use=1 or 8}}", "5 and 1"),
        ("{{each shuffled - n-cut}} ({{each published shuffled - n-cut}})", ".250 and -.500 (.500 and .000)"),
        ("{{furthest shuffled - n-cut}}", ".500"),
        ("{{each n-cut: net=mlp:*}}", "10.25 and 9.500"),
        ("{{n-cut: table=A.1}}, {{n-cut: table=by sums}}", "10.25, 9.500"),
        ("{{each n-cut: table=A.1 or A.2}}", "10.25 and 9.500"),
        ("{{n-cut: recipe=another, net=mlp:8}}", ".700"),
    ],
)
def test_numbers_are_read_from_cells(source: str, text: str) -> None:
    assert numbers.filled_in(f"It is {source}.", CELLS, ELSEWHERE_CELLS.__getitem__) == f"It is {text}."


@pytest.mark.parametrize("source", ["{{success}}", "{{success: use=3}}", "{{sucess: use=1}}"])
def test_numbers_that_are_not_there_are_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"is in . cells"):
        numbers.filled_in(source, CELLS)


def test_agreement_says_within_what() -> None:
    cells = [
        *CELLS[:6],
        Cell({}, "rounded", Quantity(1.3864, 0.001), Quantity(1.386, 0.0)),
        Cell({}, "no spread", Quantity(10.0, 0.2), Quantity(10.3)),
        Cell({}, "no spread", Quantity(10.0, 0.1), Quantity(10.3)),
    ]
    # By hand: of the counts 5 and 7 of 12 do not differ (p = .68), 1 and 12 do; .9014 is within two times .03 of .95.
    assert numbers.agreements(cells) == {"2 sd": (2, 3), "counts": (1, 2), "2 sd of ours": (1, 2)}
    assert numbers.agreement(cells) == (3, 5)


def test_a_source_begins_with_the_cause() -> None:
    assert numbers.cause_and_remark("cause: not known\n\n- One.\n") == ("not known", "- One.\n")
    assert numbers.cause_and_remark("- One.\n\ncause: no\n") == ("", "- One.\n\ncause: no\n")


def test_plain_tables_have_numbers_too() -> None:
    cells = _module("results_page").cells_of(find_recipe("confusions"))
    pairs = "what=two summed, data=mnist, net=shallow, pruned=99 %"
    assert numbers.filled_in(f"{{{{right: {pairs}}}}}", cells) == numbers.filled_in(
        f"{{{{least right: {pairs}}}}}", cells
    )


_PAIR = "|R|=1, loss=ME, table=Two specialists summed, data=mnist"
_FIVE = "data=fashion-mnist, net=cnn, |R|=5, pruned=60 %, loss=ME"
_MERGED = "table=All classes; merged in other ways, pruned=99 %"


def _with_spread(metric: str, labels: str) -> str:
    return f"{{{{{metric}: {labels}}}}} ({{{{spread {metric}: {labels}}}}})"


def _merged(metric: str, labels: str) -> str:
    return f"{{{{{metric}: {labels}, {_MERGED}}}}}"


ELSEWHERE = [
    ("README.md", "table4", f"accuracy | {_with_spread('accuracy', 'net=shallow, pruned=99 %, ' + _PAIR)} |"),
    (
        "README.md",
        "table4",
        f"CNN, 60 % pruned | {_with_spread('accuracy', 'net=cnn, pruned=60 %, ' + _PAIR)} |",
    ),
    ("README.md", "table4", f"five Fashion-MNIST classes each | {_with_spread('accuracy', _FIVE)} |"),
    ("README.md", "table4", "published deviations | {{agreeing accuracy: loss=ME}} |"),
    (
        "README.md",
        "as-programmed",
        "must have had | {{agreeing accuracy: data=yeast, dropout=as the text, sum=output twice}}; "
        "{{agreeing accuracy: data=yeast, pruned=90 %}} |",
    ),
    *(
        (
            "README.md",
            "complete-merge",
            f"{line} | {_with_spread('sum', f'data={data}, net=shallow, {_MERGED}')} |",
        )
        for line, data in (("all ten summed", "mnist"), ("the same with Fashion-MNIST", "fashion-mnist"))
    ),
    ("README.md", "validation", "three hidden layers | {{total success}} | {{total published success}} |"),
    *(
        (
            "README.md",
            "reuse",
            f"{line} | {{{{total success: hidden layers={layers}}}}} | "
            f"{{{{total published success: hidden layers={layers}}}}} |",
        )
        for line, layers in (("used 1 to 8 times", 2), ("the same, three hidden layers", 3))
    ),
    (
        "README.md",
        "two-digits",
        "digit) | {{two modules: hidden layers=all}} ({{as planted: hidden layers=all}}) † | "
        "{{published two modules: hidden layers=all}} |",
    ),
    *(
        (
            "README.md",
            recipe,
            f"{line} | {{{{n-cut: {rows}}}}} ({{{{shuffled: {rows}}}}}) | "
            f"{{{{published n-cut: {rows}}}}} ({{{{published shuffled: {rows}}}}}) |",
        )
        for line, recipe, rows in (
            ("(their shuffled copies)", "mlp", "data=mnist, condition=none, pruned=yes"),
            ("with dropout", "mlp", "data=mnist, condition=dropout, pruned=yes"),
            ("started clusterable", "init", "data=mnist, initialisation=clusterable, pruned=yes, table=A.13"),
        )
    ),
    (
        "README.md",
        "k",
        "10 clusters | {{total p < 1/320: table=A.1: or A.2: or A.3:}} | "
        "{{total published p < 1/320: table=A.1: or A.2: or A.3:}} |",
    ),
    ("README.md", "stability", "seeds) | {{of four seeds: use=all}} |"),
    (
        "docs/specialists.md",
        "complete-merge",
        f"right on {_merged('sum', 'data=mnist, net=shallow')} with one hidden layer and on "
        f"{_merged('sum', 'data=mnist, net=deep')} with two, where their averaged logits give "
        f"{_merged('averaged logits', 'data=mnist, net=shallow')} and "
        f"{_merged('averaged logits', 'data=mnist, net=deep')}",
    ),
]
"""Where else numbers of tables are told: a file, the recipe, and words with the numbers."""


@pytest.mark.parametrize(("file", "recipe", "words"), ELSEWHERE)
def test_other_pages_say_what_the_tables_say(file: str, recipe: str, words: str) -> None:
    cells = _module("results_page").cells_of(find_recipe(recipe))
    page = " ".join((ROOT / file).read_text(encoding="utf-8").split())
    told = numbers.filled_in(words, cells)
    assert told in page or told.replace(" of ", "/") in page


@pytest.mark.parametrize("source", SOURCES, ids=[path.parent.name for path in SOURCES])
def test_remarks_say_what_the_tables_say(source: Path) -> None:
    written = (source.parent / "remarks.md").read_text(encoding="utf-8")
    remark = _module("results_page").cause_and_remark_of(find_recipe(source.parent.name))[1]
    assert written == remark, "run: make results"


def test_the_page_on_the_papers_says_what_the_tables_say() -> None:
    written = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
    assert written == _module("results_page").papers_page(), "run: make results"


@pytest.mark.parametrize("recipe", recipes(), ids=[recipe.name for recipe in recipes()])
def test_what_does_not_agree_has_a_cause(recipe: Recipe) -> None:
    page = _module("results_page")
    by_rule = numbers.agreements(page.cells_of(recipe))
    assert all(agreeing == of for agreeing, of in by_rule.values()) or page.cause_and_remark_of(recipe)[0]


def test_no_remark_is_without_a_source() -> None:
    assert {path.parent for path in SOURCES} == {
        path.parent for path in (ROOT / "results").glob("*/remarks.md")
    }


@pytest.mark.parametrize("source", SOURCES, ids=[path.parent.name for path in SOURCES])
def test_no_number_is_typed_that_a_table_has(source: Path) -> None:
    cells = _module("results_page").cells_of(find_recipe(source.parent.name))
    assert not _typed(source.read_text(encoding="utf-8"), cells)


def test_typed_numbers_are_found() -> None:
    assert _typed("n-cuts of 9.500, 0.901 and {{success: use=1}}; 5 of 12, of 3 and .123", CELLS) == {
        "9.500",
        "0.901",
        "5 of 12",
    }


def _typed(source: str, cells: list[Cell]) -> set[str]:
    """Return the numbers of three digits and the counts that are in a source and in the tables.

    Numbers of fewer digits could be anything.
    """
    text = re.sub(r"\{\{.*?\}\}", "", source, flags=re.DOTALL)
    told = {
        numbers.text_of(quantity, 3)
        for cell in cells
        for quantity in (cell.ours, cell.published)
        if quantity is not None
    }
    return {
        number
        for number in re.findall(r"(?<![\d.])\d*\.\d{3}(?!\d)|\d+ of \d+", text)
        if number in told or number.removeprefix("0") in told
    }
