"""The command line, run as a user would: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dovetail


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dovetail", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


def test_version() -> None:
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout == f"dovetail {dovetail.__version__}\n"


@pytest.mark.parametrize(
    "verb",
    [(), ("demo",), ("train",), ("compose",), ("inspect",), ("data",), ("data", "list"), ("data", "get")],
)
def test_every_verb_has_help(verb: tuple[str, ...]) -> None:
    done = run(*verb, "--help")
    assert done.returncode == 0
    assert "Usage: dovetail" in done.stdout


def test_data_list_as_table_and_json(tmp_path: Path) -> None:
    table = run("data", "list", DOVETAIL_CACHE=str(tmp_path))
    assert table.returncode == 0
    rows = json.loads(run("data", "list", "--json", DOVETAIL_CACHE=str(tmp_path)).stdout)
    kinds = {row["name"]: row["kind"] for row in rows}
    assert kinds["digits"] == "embedded"
    assert kinds["mnist"] == "files"
    assert kinds["halves"] == "generated"
    for name in kinds:
        assert f"\n{name} " in table.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("data", "get", "mnst"), "error: unknown data set 'mnst'; did you mean 'mnist'"),
        (("data", "get", "fashion"), "error: unknown data set 'fashion'; did you mean 'fashion-mnist'"),
        (("inspect", "\x1b[31mred"), r"error: there is no file or folder '\x1b[31mred'"),
        (("audit", "a" * 300), f"error: {'a' * 300}: File name too long"),
    ],
)
def test_errors_are_one_line_and_status_1(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1


def test_debug_shows_the_traceback_wherever_it_stands() -> None:
    for arguments in (("--debug", "data", "get", "mnst"), ("data", "get", "mnst", "--debug")):
        done = run(*arguments)
        assert done.returncode == 1
        assert "Traceback" in done.stderr
        assert done.stderr.rstrip().splitlines()[-1].startswith("error: unknown data set")


def test_a_missing_data_folder_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    done = run("data", "list", DOVETAIL_DATA=str(missing))
    assert done.returncode == 0
    assert done.stderr == f"warning: $DOVETAIL_DATA is {missing}, which is not a folder\n"
    done = run("data", "get", "halves", DOVETAIL_DATA=str(missing))
    assert done.returncode == 1
    assert f"{missing} ($DOVETAIL_DATA) does not exist" in done.stderr


def test_getting_what_needs_no_files() -> None:
    assert run("data", "get", "digits").stdout == "digits: needs no files\n"


@pytest.mark.parametrize("arguments", [("dta",), ("data", "list", "--jsn"), ("data", "get")])
def test_wrong_usage_is_status_2(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).returncode == 2


def test_an_unforeseen_error_is_one_line_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dovetail import cli

    def broken(**_: object) -> None:
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr(cli, "app", broken)
    monkeypatch.setattr(sys, "argv", ["dovetail", "demo"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 1
    assert capsys.readouterr().err.startswith("internal error: ZeroDivisionError: by zero")


def test_want_of_memory_is_no_internal_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dovetail import cli

    def large(**_: object) -> None:
        raise RuntimeError("can't allocate memory: you tried to allocate 6 TB")

    monkeypatch.setattr(cli, "app", large)
    monkeypatch.setattr(sys, "argv", ["dovetail", "demo"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 1
    said = capsys.readouterr().err
    assert said.startswith("error: memory is full; choose something smaller (")
    assert "6 TB" in said


def test_our_warnings_are_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import warnings

    from dovetail import cli
    from dovetail.errors import CompatibilityWarning

    def warn(**_: object) -> None:
        warnings.warn("they will clash", CompatibilityWarning, stacklevel=1)
        warnings.warn("for developers", DeprecationWarning, stacklevel=1)

    monkeypatch.setattr(cli, "app", warn)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(sys, "argv", ["dovetail", "compose"])
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        cli.main()
    assert capsys.readouterr().err == "warning: they will clash\n"


def test_an_interrupted_command_says_that_it_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    from dovetail import cli

    monkeypatch.setattr("dovetail.data.catalogue", interrupted)
    monkeypatch.setattr(sys, "argv", ["dovetail", "data", "list"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 130
    assert capsys.readouterr().err.splitlines()[-1] == "stopped"


def test_terminals_obey_nothing_in_messages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import warnings

    from dovetail import cli
    from dovetail.errors import CompatibilityWarning, DovetailError

    def evil(**_: object) -> None:
        warnings.warn("\x1b[31m clash", CompatibilityWarning, stacklevel=1)
        raise DovetailError("class \x1b[2J")

    monkeypatch.setattr(cli, "app", evil)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(sys, "argv", ["dovetail", "compose", "--debug"])
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with pytest.raises(SystemExit):
            cli.main()
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert r"warning: \x1b[31m clash" in said
    assert said.endswith("error: class \\x1b[2J\n")
