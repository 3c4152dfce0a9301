"""What is not imported: packages that take long to import and that a first training has no need of."""

from __future__ import annotations

import subprocess
import sys

SLOW = {
    "torch._dynamo",  # each of them takes from a sixth of a second to more than one
    "torch._inductor",
    "sympy",
    "sklearn",
    "scipy.stats",
    "networkx",
    "matplotlib",
    "plotly",
}


def slow_ones_after(code: str) -> set[str]:
    """Return which of the slow packages a program has imported."""
    program = f"import sys\n{code}\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True
    )
    assert "dovetail" in done.stdout.split()
    return SLOW & set(done.stdout.split())


def test_a_first_training_imports_only_what_it_needs() -> None:
    train = "dt.train_specialists(dt.load('digits'), 'mlp:40', epochs=1, progress=False, device='cpu')"
    assert slow_ones_after(f"import dovetail as dt\n{train}") == set()


def test_the_package_alone_imports_next_to_nothing() -> None:
    imported = "import dovetail; assert not {'torch', 'numpy', 'pandas'} & set(sys.modules)"
    assert slow_ones_after(imported) == set()
