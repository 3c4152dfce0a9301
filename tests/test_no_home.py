"""Users without a home, or with one that they cannot write to: what needs no cache works, the rest says the way out."""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest
from torch import nn

import dovetail as dt
from dovetail.data.sources import cache_folder
from dovetail.errors import DataError, DovetailError

NOBODY = """
import os, pwd, sys
from dovetail.cli import main

def nobody(*_):
    raise KeyError("who?")

pwd.getpwuid = nobody
for line in sys.stdin.read().splitlines():
    sys.argv = ["dovetail", *line.split()]
    try:
        main()
    except SystemExit as end:
        print(line, end.code, file=sys.stderr)
"""
"""Commands of a user whom the system does not know, as in containers that run under a number."""


@pytest.fixture(params=["no home", "a home that cannot be written to"])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """What a program knows of such a home."""
    left_out = ("HOME", "MPLCONFIGDIR", "DOVETAIL_CACHE", "DOVETAIL_DATA")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in left_out and not name.startswith("XDG_")
    }
    (tmp_path / "file").touch()
    return kept if request.param == "no home" else kept | {"HOME": str(tmp_path / "file" / "home")}


@pytest.mark.slow
def test_what_needs_no_cache_works_and_the_rest_says_the_way_out(
    environment: dict[str, str], tmp_path: Path
) -> None:
    works = [
        "--help",
        "data list",
        f"train digits --net mlp:8 -r 3 --epochs 1 --rounds 1 -o {tmp_path}/parts",
        f"audit {tmp_path}/parts/digits-3-seed0.safetensors --k 3 --shuffles 3 -o {tmp_path}/audit",  # with pictures
    ]
    needs_data = f"train mnist --net mlp:8 -o {tmp_path}/parts"
    done = subprocess.run(
        [sys.executable, "-c", NOBODY],
        input="\n".join([*works, needs_data]),
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    said = done.stderr.splitlines()
    assert {f"{line} 0" for line in works} <= set(said), done.stderr
    assert said[-1] == f"{needs_data} 1"
    assert said[-2].startswith("error: ")
    assert "set $DOVETAIL_CACHE to a folder that you can write to" in said[-2]
    assert "$DOVETAIL_DATA" in said[-2]
    assert (tmp_path / "audit" / "null.png").stat().st_size
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit", "file", "parts"]


@pytest.fixture
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "DOVETAIL_CACHE", "DOVETAIL_DATA"):
        monkeypatch.delenv(name, raising=False)

    def nobody(*_: object) -> None:
        raise KeyError("who?")

    monkeypatch.setattr(pwd, "getpwuid", nobody)


@pytest.mark.usefixtures("no_home")
@pytest.mark.parametrize("older", [False, True])
def test_without_a_home_the_way_out_is_a_cache_of_ones_own(
    older: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if older:  # what pooch asks has long returned what it could not resolve
        monkeypatch.setattr("pooch.os_cache", lambda name: Path("~/.cache") / name)
    with pytest.raises(
        DataError, match=r"no home folder.*set \$DOVETAIL_CACHE to a folder that you can write to"
    ):
        cache_folder("mnist")
    assert "mnist" in {entry.name for entry in dt.data.catalogue()}
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    assert cache_folder("mnist") == tmp_path / "mnist"


def test_features_say_where_they_could_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "file"))
    trunk = dt.trunk(nn.Sequential(nn.Flatten(), nn.Linear(64, 5), nn.ReLU()), cut="output")
    data = dt.load("digits")
    with pytest.raises(
        DovetailError, match=r"cannot keep features in .*\$DOVETAIL_CACHE to one that you can write to"
    ):
        trunk.features(data, progress=False)
    assert trunk.features(data, folder=tmp_path / "here", progress=False).input_shape == (5,)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(DovetailError, match=r"Function not implemented.*with room and locks"):
        trunk.features(data, folder=tmp_path / "there", progress=False)
