"""What the tests run on is this tree: installed as it stands, or as a wheel that was made from it.

CI runs the tests on the wheel (`make installed`). Nothing of the working tree may then slip in, and a wheel that was
forgotten in a virtual environment must not be taken for what was edited since.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import dovetail

from .source import PACKAGE, ROOT, package_files

INSTALLED = Path(dovetail.__file__).parent


def test_what_is_installed_is_this_tree() -> None:
    assert package_files(INSTALLED) == package_files(), "run `make editable` or `make installed`"
    changed = [
        name for name in package_files() if (INSTALLED / name).read_bytes() != (PACKAGE / name).read_bytes()
    ]
    assert not changed, "run `make editable` or `make installed`"


def test_every_module_in_this_process_is_from_one_place() -> None:
    loaded = {
        name: Path(file)
        for name, module in sys.modules.items()
        if name.split(".")[0] == "dovetail" and (file := module.__file__)
    }
    assert loaded
    assert [name for name, file in loaded.items() if not file.is_relative_to(INSTALLED)] == []


def test_processes_that_tests_start_take_the_same() -> None:
    code = "import dovetail; print(dovetail.__file__)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).parent == INSTALLED
