"""Getting about a page without a mouse."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

_MOST_STEPS = 80


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until an element has the focus; fail if it never gets it."""
    expect(target).to_be_visible()
    for _ in range(_MOST_STEPS):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{target} cannot be reached with the Tab key")
