"""The n-cut of a network beside those of its shuffled copies."""

from __future__ import annotations

from collections.abc import Sequence

from ..charts_cluster import null_chart
from ..page import Page


def add_null(
    page: Page, ncut: float, copies: Sequence[float], verdict: str, warnings: Sequence[str] = ()
) -> None:
    """Add the null with the observed n-cut.

    Parameters
    ----------
    page : Page
        What to add to.
    ncut : float
        Of the network.
    copies : sequence of float
        Of its shuffled copies.
    verdict : str
        What the numbers say, in words.
    warnings : sequence of str
        What makes them doubtful.
    """
    page.heading("More clusterable than chance?")
    page.text(verdict)
    if copies:
        page.chart(null_chart(ncut, copies), "N-cuts of copies whose weights are shuffled within each layer.")
    if warnings:
        page.text("What makes these numbers doubtful:")
        page.prose("\n".join(f"- {warning}" for warning in warnings))
