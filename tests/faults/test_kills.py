"""Kill Dovetail at random moments: nothing that was finished is lost, no file is half-written, and after a restart
everything is as if nothing had happened.

``DOVETAIL_KILLS`` says how many kills each test deals.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import dovetail as dt

from . import small_works, works
from .folder_state import Kept, finished_units, state_of
from .warm import Moment, Outcome, Warm, Work

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("DOVETAIL_KILLS", "3"))
_MOST_TRIES = 10
"""For each kill: some come too late, when all is done."""


def moment(chance: random.Random, whole: Outcome) -> Moment:
    """Return a random moment of a run: any time, or just before one of its operations on files."""
    if chance.random() < 0.5:
        return Moment(seconds=chance.uniform(0, whole.seconds))
    return Moment(operation=chance.randint(1, whole.operations))


def kill_and_restart(
    warm: Warm, start: Callable[[Path], Work], tmp_path: Path, check: Callable[[Kept, Kept], None]
) -> tuple[Path, list[Path]]:
    """Kill work in fresh folders, up to five times each, then let it end; return an undisturbed folder and these.

    What is in a folder before and after a kill goes to ``check``.
    """
    undisturbed = tmp_path / "undisturbed" / "folder"  # with nothing beside it that could be taken over
    whole = warm.do(start(undisturbed))
    assert whole.status == 0, whole.said
    chance = random.Random(KILLS)
    folders: list[Path] = []
    kills = 0
    for number in range(_MOST_TRIES * KILLS):
        folder = tmp_path / str(number) / "folder"
        folders.append(folder)
        for _ in range(chance.randint(1, 5)):
            before = state_of(folder)
            kills += warm.do(start(folder), moment(chance, whole)).killed
            check(before, state_of(folder))
        restarted = warm.do(start(folder))
        assert restarted.status == 0, restarted.said
        if kills >= KILLS:
            return undisturbed, folders
    raise AssertionError(f"only {kills} of {KILLS} kills came in time")


def test_train(warm: Warm, tmp_path: Path) -> None:
    def check(before: Kept, after: Kept) -> None:
        assert before.items() <= after.items()  # the very same files
        for path in after:
            dt.open(path)

    whole, restarted = kill_and_restart(warm, small_works.train, tmp_path, check)
    wanted = {path.name: path.read_bytes() for path in whole.iterdir()}
    assert len(wanted) == 3
    for folder in restarted:
        assert {path.name: path.read_bytes() for path in state_of(folder)} == wanted


def test_reproduce(warm: Warm, tmp_path: Path) -> None:
    def check(before: Kept, after: Kept) -> None:
        names = {path.name for path in after}
        assert {path.name for path in before} <= names
        for path in before:
            if path.name == "results.jsonl":
                whole_lines = before[path].content.rpartition(b"\n")[0]
                assert after[path].content.startswith(whole_lines)
        for path in after:
            if path.suffix == ".png":
                assert after[path].content.endswith(b"IEND\xaeB`\x82")

    whole, restarted = kill_and_restart(warm, small_works.reproduce, tmp_path, check)
    wanted = state_of(whole)
    assert len(finished_units(whole)) == works.UNITS
    for folder in restarted:
        found = state_of(folder)
        assert {p.relative_to(folder) for p in found} == {p.relative_to(whole) for p in wanted}
        lines = (folder / "results.jsonl").read_text().splitlines()
        assert len({json.loads(line)["key"] for line in lines}) == len(lines)  # none was done twice
        assert finished_units(folder) == finished_units(whole)
        for name in ("config.yaml", "table.md", "figures/rows.png"):
            assert found[folder / name].content == wanted[whole / name].content


def test_compose(warm: Warm, tmp_path: Path) -> None:
    parts = [
        part.save(tmp_path / f"{number}.safetensors") for number, (part, _) in enumerate(works.saved_parts())
    ]
    old = parts[0].read_bytes()
    new = warm.do(small_works.compose(parts, tmp_path / "new"))
    assert new.status == 0, new.said
    allowed = {old, (tmp_path / "new" / "composite.safetensors").read_bytes()}

    def start(folder: Path) -> Work:
        work = small_works.compose(parts, folder)
        if not any(folder.glob("*.safetensors")):
            (folder / "composite.safetensors").write_bytes(old)  # a composite of before is there
        return work

    def check(before: Kept, after: Kept) -> None:
        (there,) = after.values()
        assert there.content in allowed

    whole, restarted = kill_and_restart(warm, start, tmp_path, check)
    for folder in restarted:
        (made,) = state_of(folder)
        assert made.read_bytes() == (whole / made.name).read_bytes()


def test_save(warm: Warm, tmp_path: Path) -> None:
    specialists, composites = zip(*works.saved_parts(), strict=True)
    folder = tmp_path / "folder"
    work = small_works.save(folder)
    specialists[0].save(folder / "specialist.safetensors")
    composites[0].save(folder / "composite.safetensors")
    chance = random.Random(KILLS)
    for _ in range(KILLS):
        at = (
            Moment(seconds=chance.uniform(0.1, 0.4))
            if chance.random() < 0.5
            else Moment(operation=chance.randint(1, 40))
        )
        assert warm.do(work, at).killed
        assert {path.name for path in state_of(folder)} == {"specialist.safetensors", "composite.safetensors"}
        assert dt.open(folder / "specialist.safetensors") in specialists
        assert dt.open(folder / "composite.safetensors") in composites
    for path in (folder / "specialist.safetensors", folder / "composite.safetensors"):
        assert dt.open(specialists[1].save(path)) == specialists[1]
