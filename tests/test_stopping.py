"""Ctrl-C and SIGTERM end a command cleanly, and it says how much of its work is safe; any terminal can show that."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.cli import main
from dovetail.commands.stopping import safe_when_stopped


@pytest.fixture(autouse=True)
def own_signals() -> Iterator[None]:
    """Put back what a command does about signals."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", ["train", "sculpt", "reproduce"])
def test_a_command_that_is_stopped_says_how_much_is_safe(
    command: str,
    sent: signal.Signals,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stop(*_: object, **__: object) -> None:
        (tmp_path / "seed0.safetensors").touch()
        os.kill(os.getpid(), sent)

    words, working, said = {
        "train": (["train", "digits"], "dovetail.specialists.train_specialists", "1 specialists are"),
        "sculpt": (["sculpt", "4,2,4"], "dovetail.sculpting.sculpt_seeds", "1 networks are"),
        "reproduce": (["reproduce", "k"], "dovetail.engine.reproduce", "0 units are"),
    }[command]
    monkeypatch.setattr(working, stop)
    monkeypatch.setattr(sys, "argv", ["dovetail", *words, "-o", str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == status
    assert capsys.readouterr().err.endswith(
        f"{said} safe in {tmp_path}; the same command goes on with the others.\nstopped\n"
    )


def test_an_error_is_not_taken_for_a_stop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="odd"), safe_when_stopped("things", tmp_path, lambda: 1):
        raise ValueError("odd")
    assert not capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_of_any_encoding_is_written_to(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding))
    monkeypatch.setattr(sys, "argv", ["dovetail", "--version"])
    with pytest.raises(SystemExit):
        main()
    print("28 × 28, θ0 → θ1, 3 ≤ 4, \N{SNOWMAN}", flush=True)
    expected = {
        "ascii": "28 x 28, theta0 -> theta1, 3 <= 4, \\u2603",
        "latin-1": "28 × 28, theta0 -> theta1, 3 <= 4, \\u2603",
        "utf-8": "28 × 28, θ0 → θ1, 3 ≤ 4, \N{SNOWMAN}",
    }[encoding]
    assert written.getvalue().decode(encoding).splitlines()[-1] == expected
