"""What ``import dovetail`` costs, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

_HEAVY = ("torch", "numpy", "pandas", "sklearn", "matplotlib", "plotly", "ray", "fastapi", "uvicorn")
_MOST_SECONDS = 1.5
_CODE = f"""
import json, sys, time
begun = time.process_time()
import dovetail
seconds = time.process_time() - begun
print(json.dumps([seconds, [name for name in {_HEAVY!r} if name in sys.modules]]))
"""


def test_importing_is_quick_and_pulls_in_nothing_heavy() -> None:
    # Time of the processor, as others may be at work beside the test. The bound is what the package promises; it takes
    # some hundredths of a second as long as nothing heavy comes in.
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=True)
    seconds, heavy = json.loads(done.stdout)
    assert heavy == []
    assert seconds < _MOST_SECONDS
