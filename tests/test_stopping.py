"""Ctrl-C and SIGTERM end a command cleanly, and it says how much of its work is safe; any terminal can show that."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.cli import main
from dovetail.commands.stopping import safe_when_stopped
from dovetail.data import load
from dovetail.trunks.compute import samples_kept


@pytest.fixture(autouse=True)
def own_signals() -> Iterator[None]:
    """Put back what a command does about signals."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", ["train", "sums", "sculpt", "reproduce"])
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
        (tmp_path / "sums-seed0.safetensors").touch()
        os.kill(os.getpid(), sent)

    words, working, said = {
        "train": (["train", "digits"], "dovetail.specialists.train_specialists", "2 specialists are"),
        "sums": (["sums", "digits"], "dovetail.specialists.sums", "1 parts are"),
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


_STOPPED_TRUNK = """
import os, signal
import torch
from torch import nn

class Stopped(nn.Module):
    seen = 0
    stop_at = 300

    def forward(self, x):
        Stopped.seen += len(x)
        if Stopped.seen > Stopped.stop_at:
            Stopped.stop_at = 10**9  # once: nothing is to disturb the end
            os.kill(os.getpid(), signal.SIGTERM)
        return x.flatten(1)[:, :5] + 1

def build():
    return nn.Sequential(Stopped())
"""


def test_features_that_are_stopped_are_counted_and_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stopped_trunk.py").write_text(_STOPPED_TRUNK)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = [
        "features",
        "digits",
        "--trunk",
        "stopped_trunk:build:cut=output",
        "--batch-size",
        "100",
        "-o",
        "seen",
    ]
    monkeypatch.setattr(sys, "argv", ["dovetail", *words])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 143
    said = capsys.readouterr().err
    kept = re.search(
        r"([\d,]+) samples are safe in seen; the same command goes on with the others\.\nstopped\n$", said
    )
    assert kept, said
    assert samples_kept("seen") == int(kept[1]) <= 300
    stopped = sys.modules["stopped_trunk"].Stopped
    stopped.seen = 0
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    data = load("digits")
    whole = sum(map(len, data.splits.values()))
    assert samples_kept("seen") == whole
    assert (
        whole - int(kept[1]) <= stopped.seen < whole + 100
    )  # some are computed again to see that they are the same


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
