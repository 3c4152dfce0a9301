"""Only files are opened, and only files replaced: pipes, sockets and devices are refused at once, and said."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli import app
from dovetail.errors import DovetailError, FileFormatError
from dovetail.io.plain import open_plain, opened_tensors, read_text
from dovetail.io.write import write_whole

from ..specialists.helpers import make_specialist

_TOO_LONG = 120
"""Seconds after which a command hangs, on any machine."""


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    """End a test that waits for somebody to write into a pipe."""

    def stop(*_: object) -> None:
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_TOO_LONG)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def make_pipe(path: Path) -> str:
    os.mkfifo(path)
    return "a named pipe"


def make_socket(path: Path) -> str:
    """Put a socket at a path, whose whole name may be too long for one."""
    here = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)
    return "a socket"


def make_device(path: Path) -> str:
    """Put a link to a device there: nothing may make a device of its own."""
    path.symlink_to("/dev/zero")
    return "a device"


KINDS = (make_pipe, make_socket, make_device)


def said_by(*arguments: object) -> str:
    """Return the error of a command, which must fail with one that was foreseen."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert isinstance(done.exception, DovetailError), done.output or done.exception
    return str(done.exception)


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize(
    "command",
    [
        ("inspect", "{}"),
        ("compose", "{}"),
        ("predict", "{}", "digits"),
        ("modules", "{}"),
        ("report", "{}"),
        ("sculpt", "{}"),
        ("sculpt", "4,2,4", "--from", "{}"),
    ],
)
def test_a_command_does_not_wait_for_what_is_no_file(
    command: tuple[str, ...], make: Callable[[Path], str], tmp_path: Path
) -> None:
    odd = tmp_path / "odd"
    what = make(odd)
    assert f"it is {what}" in said_by(*(word.format(odd) for word in command))


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("command", ["inspect", "compose", "report"])
def test_nor_where_it_lies_in_a_folder(command: str, make: Callable[[Path], str], tmp_path: Path) -> None:
    what = make(tmp_path / "odd.safetensors")
    done = CliRunner().invoke(app, [command, str(tmp_path)])
    assert f"it is {what}" in done.output + str(done.exception)


@pytest.mark.parametrize("make", KINDS)
def test_training_into_a_folder_refuses_it_where_a_part_would_be(
    make: Callable[[Path], str], tmp_path: Path
) -> None:
    what = make(tmp_path / "digits-3-seed0.safetensors")
    told = said_by("train", "digits", "--net", "mlp:4", "--epochs", "1", "-r", "3", "-o", tmp_path)
    assert f"it is {what}" in told


@pytest.mark.parametrize("make", KINDS)
def test_sculpting_into_a_folder_refuses_it_where_its_settings_would_be(
    make: Callable[[Path], str], tmp_path: Path
) -> None:
    what = make(tmp_path / "config.json")
    assert f"it is {what}" in said_by("sculpt", "4,2,4", "-o", tmp_path)


@pytest.mark.parametrize("make", [*KINDS, lambda path: path.symlink_to("elsewhere") or "a link"])
def test_only_files_are_replaced(make: Callable[[Path], str], tmp_path: Path) -> None:
    part = make_specialist((1,)).save(tmp_path / "part.safetensors")
    odd = tmp_path / "odd.safetensors"
    what = make(odd)
    what = "a link" if odd.is_symlink() else what
    for force in ((), ("--force",)):
        assert f"it is {what}" in said_by("compose", part, "-o", odd, *force)
    with pytest.raises(DovetailError, match=f"it is {what}; name a file"):
        write_whole(odd, lambda path: path.write_text("x"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["odd.safetensors", "part.safetensors"]


def test_what_is_there_is_not_replaced_without_force(tmp_path: Path) -> None:
    paths = [make_specialist((number,)).save(tmp_path / f"{number}.safetensors") for number in (1, 2)]
    before = paths[0].read_bytes()
    # What a shell makes of -o parts/*.safetensors: the first is the output.
    assert "in the way" in said_by("compose", "-o", *paths)
    (tmp_path / "modules.json").touch()
    assert "in the way" in said_by("modules", paths[1], "-o", tmp_path / "modules.json")
    assert paths[0].read_bytes() == before


def test_a_file_that_came_while_another_was_written_is_not_replaced(tmp_path: Path) -> None:
    goal = tmp_path / "a.txt"

    def write(path: Path) -> None:
        path.write_text("ours")
        goal.write_text("theirs")

    with pytest.raises(DovetailError, match="in the way"):
        write_whole(goal, write, replace=False)
    assert goal.read_text() == "theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_where_a_disk_has_no_hard_links_nothing_is_replaced_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    goal = write_whole(tmp_path / "a.txt", lambda path: path.write_text("first"), replace=False)
    with pytest.raises(DovetailError, match="in the way"):
        write_whole(goal, lambda path: path.write_text("second"), replace=False)
    assert goal.read_text() == "first"


def test_a_folder_whose_name_is_not_utf_8_is_like_any_other(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this system takes names in UTF-8 only")
    part = make_specialist((1,))
    assert dt.open(part.save(folder / "part.safetensors")) == part
    command = ["train", "digits", "--net", "mlp:4", "--epochs", "1", "-r", "3", "-o", str(folder)]
    for _ in range(2):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, (done.output, done.exception)
    assert "nothing was trained" in done.output
    save_file({"fc.weight": torch.eye(2)}, folder.parent / "w.safetensors")
    (folder.parent / "w.safetensors").rename(folder / "w.safetensors")
    assert CliRunner().invoke(app, ["modules", str(folder / "w.safetensors")]).exit_code == 0


def test_reading_has_an_end(tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text("x" * 11)
    with pytest.raises(FileFormatError, match="more than 10 characters"):
        read_text(long, 10)
    with pytest.raises(FileFormatError, match="it is a device"), open_plain("/dev/zero"):
        pass
    with pytest.raises(FileFormatError, match="it is a device"), opened_tensors("/dev/zero"):
        pass
