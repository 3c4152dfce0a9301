"""The progress bar shows titles and scores as they are."""

from __future__ import annotations

from dovetail.population.progress import ProgressBar


def test_brackets_in_a_title_or_a_score_are_text() -> None:
    progress = ProgressBar("[bold]classes[/b]", 10, show=False)
    progress.advance(1, "score [/x] 0.5")
    (task,) = progress._bar.tasks
    shown = " ".join(str(column(task)) for column in progress._bar.columns if not isinstance(column, str))
    assert "[bold]classes[/b]" in shown
    assert "score [/x] 0.5" in shown
