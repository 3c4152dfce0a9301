"""Try 100,000 hostile inputs on every reader, and report what they cost.

Usage: python bench/fuzz.py [READER ...] [--inputs 100000]; a reader is the name of a file in tests/fuzz, such as yeast.
Each runs in a process of its own; inputs come from fixed seeds, so that a run can be repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "tests" / "fuzz"
PREFIX = "test_fuzz_"
COLUMNS = ("reader", "inputs", "taken", "refused", "seconds", "slowest", "megabytes")


def main() -> None:
    known = sorted(path.stem.removeprefix(PREFIX) for path in FOLDER.glob(f"{PREFIX}*.py"))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument(
        "readers", nargs="*", metavar="READER", help=f"one of {', '.join(known)}; default: all"
    )
    parser.add_argument("--inputs", type=int, default=100_000, help="for each reader")
    given = parser.parse_args()
    print("".join(f"{name:>18}" for name in COLUMNS))
    failed = [reader for reader in given.readers or known if not tried(reader, given.inputs)]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def tried(reader: str, inputs: int) -> bool:
    """Fuzz one reader, print a line for each of its tests, and return whether all went well."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.jsonl"
        environment = {
            "DOVETAIL_FUZZ": str(inputs),
            "DOVETAIL_FUZZ_REPORT": str(report),
            "OMP_NUM_THREADS": "1",
        }
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-m", "slow", str(FOLDER / f"{PREFIX}{reader}.py")],
            env={**os.environ, **environment},
            cwd=FOLDER.parent.parent,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        for line in report.read_text().splitlines() if report.is_file() else []:
            tally = json.loads(line)
            cells = (tally[name] for name in COLUMNS)
            print(
                "".join(f"{cell:>18.2f}" if isinstance(cell, float) else f"{cell:>18}" for cell in cells),
                flush=True,
            )
    if done.returncode:
        print(done.stdout, file=sys.stderr)
    return done.returncode == 0


if __name__ == "__main__":
    main()
