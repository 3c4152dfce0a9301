"""The bench in a real browser: tick, drop, add back, save, by mouse and by keyboard."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

import dovetail as dt
from dovetail.specialists import Composite, Specialist

from .bench_parts import DIGITS, save_team
from .conftest import UrlOf
from .keyboard import tab_to

pytestmark = pytest.mark.slow


def parts_of(folder: Path, *numbers: int) -> list[Specialist]:
    opened = [dt.open(folder / f"digits-{number}-seed0.safetensors") for number in numbers]
    return [part for part in opened if isinstance(part, Specialist)]


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def accuracy(folder: Path, *numbers: int, method: str = "sum") -> str:
    """What the library measures, as the page writes it."""
    composite = dt.compose(parts_of(folder, *numbers), method)  # type: ignore[call-overload]
    return percent(composite.evaluate(DIGITS.test).rewarded_accuracy)


def tick(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("checkbox", name=name, exact=True).check()


def shown_accuracy(page: Page) -> Locator:
    return page.locator(".bench-accuracy strong")


def known(page: Page) -> Locator:
    return page.get_by_role("list", name="Classes it knows").get_by_role("listitem")


def test_compose_three_drop_one_and_add_it_back(studio_url: UrlOf, page: Page, parts_folder: Path) -> None:
    page.goto(f"{studio_url(parts_folder)}#/bench?ticked=none")
    expect(page.get_by_text("Tick specialists to put them together.")).to_be_visible()
    tick(page, "3", "5", "8")
    expect(page.get_by_role("heading", name="Composite of 3")).to_be_visible()
    expect(known(page)).to_have_text(["3", "5", "8"])
    expect(shown_accuracy(page)).to_have_text(accuracy(parts_folder, 3, 5, 8))
    expect(page.locator(".chart .hm").first).to_be_attached()

    page.get_by_role("checkbox", name="5", exact=True).uncheck()
    expect(known(page)).to_have_text(["3", "8"])
    expect(shown_accuracy(page)).to_have_text(accuracy(parts_folder, 3, 8))
    before, after = accuracy(parts_folder, 3, 5, 8), accuracy(parts_folder, 3, 8)
    expect(page.locator(".bench-change")).to_contain_text(f"Dropped 5: accuracy {before} → {after}")
    without = Composite(parts_of(parts_folder, 3, 8)).evaluate(DIGITS.test)
    expect(page.locator(".bench-change")).to_contain_text(f"→ {percent(float(without.class_accuracy[5]))}.")

    tick(page, "5")
    expect(known(page)).to_have_text(["3", "5", "8"])
    expect(page.locator(".bench-change")).to_contain_text(f"Added 5: accuracy {after} → {before}")


def test_all_none_methods_and_reload(studio_url: UrlOf, page: Page, parts_folder: Path) -> None:
    page.goto(studio_url(parts_folder))  # as it is printed, with no view in it
    page.get_by_role("button", name="None", exact=True).click()
    page.get_by_role("button", name="All", exact=True).click()
    expect(known(page)).to_have_count(10)
    page.get_by_label("Method").select_option("logits")
    expected = accuracy(parts_folder, *range(10), method="logits")
    expect(shown_accuracy(page)).to_have_text(expected)
    page.reload()
    expect(page.get_by_label("Method")).to_have_value("logits")
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(10)
    expect(shown_accuracy(page)).to_have_text(expected)
    page.get_by_role("button", name="None", exact=True).click()
    expect(page.get_by_text("Tick specialists to put them together.")).to_be_visible()
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(0)
    page.reload()  # that nothing is ticked is kept, too
    expect(page.get_by_text("Tick specialists to put them together.")).to_be_visible()


def test_the_first_look_has_the_answer(studio_url: UrlOf, page: Page, parts_folder: Path) -> None:
    page.goto(studio_url(parts_folder))
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(10)
    right = accuracy(parts_folder, *range(10))
    said = f"10 specialists summed: {right} of {len(DIGITS.test)} right. All classes are known."
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_text("Try: untick a specialist.")).to_be_visible()
    page.get_by_role("checkbox", name="3", exact=True).uncheck()
    expect(page.get_by_text("9 specialists summed: ")).to_contain_text("Nobody knows 3.")
    expect(page.get_by_text("Try: untick a specialist.")).to_have_count(0)


def test_all_methods_stand_side_by_side(studio_url: UrlOf, page: Page, parts_folder: Path) -> None:
    page.goto(f"{studio_url(parts_folder)}#/bench?ticked=none")
    tick(page, "3", "5")
    expect(known(page)).to_have_text(["3", "5"])
    page.get_by_text("All methods, compared").click()
    rows = page.get_by_role("region", name="On the whole test split; entropy").locator("tbody tr")
    expect(rows).to_have_count(2)  # in slots the others are the same
    for row, method in enumerate(("sum", "logits")):
        cells = rows.nth(row).locator("td")
        score = dt.compose(parts_of(parts_folder, 3, 5), method).evaluate(DIGITS.test)  # type: ignore[call-overload]
        expect(cells.nth(1)).to_have_text(percent(score.rewarded_accuracy))
        expect(cells.nth(4)).to_have_text(f"{score.unknown_auroc:.3f}")


def test_files_for_the_same_class_are_told_apart(
    studio_url: UrlOf, page: Page, parts_folder: Path, tmp_path: Path
) -> None:
    for folder, numbers in {"one": (3, 5), "two": (3,)}.items():
        (tmp_path / folder).mkdir()
        for number in numbers:
            shutil.copy(parts_folder / f"digits-{number}-seed0.safetensors", tmp_path / folder)
    page.goto(studio_url(tmp_path))
    expect(page.locator(".bench-file")).to_have_text(
        ["one/digits-3-seed0.safetensors", "two/digits-3-seed0.safetensors"]
    )
    expect(known(page)).to_have_text(["3", "5"])


def test_cards_and_compatibility(studio_url: UrlOf, page: Page, parts_folder: Path) -> None:
    page.goto(f"{studio_url(parts_folder)}#/bench")
    expect(page.get_by_text("as measured on the test split")).to_be_visible()
    (three,) = parts_of(parts_folder, 3)
    score = three.evaluate(DIGITS.test)
    card = page.locator(".bench-part").nth(3)
    expect(card).to_contain_text(percent(score.rewarded_accuracy))
    expect(card).to_contain_text(f"{score.entropy:.2f} of 2.303")
    cells = page.get_by_role("region", name="Compatibility of any two").locator("tbody td.number")
    expect(cells).to_have_count(90)
    expect(cells).to_have_text(["1.00"] * 90)  # in slots nothing is shared


def test_save_by_keyboard_alone(studio_url: UrlOf, page: Page, parts_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(parts_folder, tmp_path / "parts")
    page.goto(f"{studio_url(tmp_path)}#/bench?ticked=none")
    expect(page.get_by_role("checkbox")).to_have_count(10)

    for name in ("2", "7"):
        tab_to(page, page.get_by_role("checkbox", name=name, exact=True))
        page.keyboard.press("Space")
    expect(known(page)).to_have_text(["2", "7"])
    expect(shown_accuracy(page)).to_have_text(accuracy(parts_folder, 2, 7))
    tab_to(page, page.get_by_label("File in this folder"))
    page.keyboard.press("Control+a")
    page.keyboard.type("pair.safetensors")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved as pair.safetensors.")).to_be_visible()
    assert dt.open(tmp_path / "pair.safetensors") == Composite(parts_of(parts_folder, 2, 7))
    expect(page.get_by_role("cell", name="pair.safetensors")).to_be_visible()

    page.get_by_role("button", name="None", exact=True).click()
    tab_to(page, page.get_by_role("button", name="Look"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="pair.safetensors")).to_be_visible()
    expect(shown_accuracy(page)).to_have_text(accuracy(parts_folder, 2, 7))


def test_narrow_page_does_not_scroll_sideways(studio_url: UrlOf, page: Page, parts_folder: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{studio_url(parts_folder)}#/bench")
    expect(page.locator(".chart .hm").first).to_be_attached()
    expect(page.get_by_role("region", name="Compatibility of any two").locator("td.number")).to_have_count(90)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_phone_shows_what_a_tick_did_and_leads_to_the_rest(
    studio_url: UrlOf, page: Page, parts_folder: Path
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{studio_url(parts_folder)}#/bench?ticked=none")
    line = page.locator(".bench-line")
    tick(page, "3", "5")
    expect(line).to_contain_text(f"{accuracy(parts_folder, 3, 5)} right, knows 3, 5")
    expect(line).to_be_in_viewport(ratio=1)
    heading = page.get_by_role("heading", name="Composite of 2")
    expect(heading).not_to_be_in_viewport()
    line.click()
    expect(heading).to_be_in_viewport(ratio=1)
    expect(heading).to_be_focused()
    page.get_by_role("button", name="None", exact=True).click()
    expect(line).to_be_hidden()
    page.set_viewport_size({"width": 1440, "height": 900})
    tick(page, "3")
    expect(known(page)).to_have_text(["3"])
    expect(line).to_be_hidden()


def test_pictures_are_there_in_words(studio_url: UrlOf, page: Page, parts_folder: Path) -> None:
    page.goto(f"{studio_url(parts_folder)}#/bench?ticked=none")
    tick(page, "3", "5")
    expect(page.get_by_role("group", name="Confusion matrix")).to_be_visible()
    expect(page.get_by_role("group", name="Accuracy by class")).to_be_visible()
    page.get_by_text("What it takes for what, in numbers").click()
    rows = page.get_by_role("region", name="Test samples of each class").locator("tbody tr")
    counts = Composite(parts_of(parts_folder, 3, 5)).evaluate(DIGITS.test).confusion.tolist()
    expect(rows.nth(3).locator("td")).to_have_text(["3", *map(str, counts[3])])
    tick(page, "8")  # an open table follows
    counts = Composite(parts_of(parts_folder, 3, 5, 8)).evaluate(DIGITS.test).confusion.tolist()
    expect(known(page)).to_have_count(3)
    expect(rows.nth(8).locator("td")).to_have_text(["8", *map(str, counts[8])])


MEASURED = {
    "headline": "1 specialist: 50.0 % of 150 right. Nobody knows b.", "coverage": 1.0, "unknown_auroc": 0.5,
    "classes": ["a", "b"], "knows": ["a"], "method": "sum", "specialists": 1, "data": "digits", "note": "",
    "total": 300, "accuracy": 0.5, "entropy": 0.1, "most_entropy": 0.7, "calibration_error": 0.0,
    "class_accuracy": [0.5, 0.0], "class_entropy": [0.1, 0.1], "confusion": None, "per_class": None,
    "python": "", "command": "",
}  # fmt: skip


def test_a_result_is_read_out_once(studio_url: UrlOf, page: Page, parts_folder: Path) -> None:
    """Not with every step of a long measurement."""
    samples = iter([100, 200, 300])
    page.route(
        "**/api/bench/measure", lambda route: route.fulfill(json={**MEASURED, "samples": next(samples)})
    )
    page.goto(f"{studio_url(parts_folder)}#/bench?ticked=none")
    expect(page.get_by_text("Tick specialists to put them together.")).to_be_visible()
    page.evaluate(
        """() => {
          globalThis.said = [];
          new MutationObserver((changes) => {
            const live = changes.map((one) => one.target.parentElement?.closest("[aria-live], [role=status]")
              ?? one.target.closest?.("[aria-live], [role=status]")).filter(Boolean);
            if (live.length) said.push(live[0].textContent);
          }).observe(document.querySelector(".bench-result"), { subtree: true, childList: true, characterData: true });
        }"""
    )
    tick(page, "3")
    expect(page.get_by_text("On 300 test samples")).to_be_visible()
    page.wait_for_function("() => said.length > 0")
    assert page.evaluate("() => said") == ["50.0 % right, knows a. "]


def test_what_the_library_warns_of_is_said(studio_url: UrlOf, page: Page, tmp_path: Path) -> None:
    save_team(tmp_path)
    page.goto(f"{studio_url(tmp_path)}#/bench")
    warning = page.get_by_text(re.compile("^Only .* expect them to get in each other's way"))
    expect(warning).to_be_visible()
    page.get_by_label("Method").select_option("logits")
    expect(page.locator(".bench-change")).to_contain_text("Method now Averaged logits")
    expect(warning).to_have_count(0)


@pytest.mark.usefixtures("held_jobs")
def test_an_empty_folder_offers_training(studio_url: UrlOf, page: Page, tmp_path: Path) -> None:
    page.goto(f"{studio_url(tmp_path)}#/bench")
    page.get_by_role("button", name="Train ten specialists").click()
    panel = page.get_by_role("region", name="Training ten specialists of digits")
    expect(panel).to_be_visible()
    expect(page.get_by_role("button", name="Train ten specialists")).to_have_count(0)
    page.reload()
    expect(panel).to_be_visible()
    panel.get_by_role("button", name="Cancel").click()
    expect(panel.get_by_text("Cancelled.")).to_be_visible()


def test_the_demo_trains_and_survives_a_reload(studio_url: UrlOf, page: Page, tmp_path: Path) -> None:
    page.goto(f"{studio_url(tmp_path)}#/bench")
    page.get_by_role("button", name="Train ten specialists").click()
    expect(page.get_by_role("checkbox").first).to_be_visible(timeout=120_000)  # the first while others train
    page.reload()
    expect(page.get_by_role("checkbox")).to_have_count(10, timeout=180_000)
    expect(page.get_by_role("region", name=re.compile("Training"))).to_have_count(0)
    expect(known(page)).to_have_count(10)
    assert float(shown_accuracy(page).inner_text().split()[0]) > 90
