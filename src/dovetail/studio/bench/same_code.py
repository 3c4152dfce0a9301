"""The Python and the command line that do what the bench shows, ready to be copied."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FILE = "composite.safetensors"


@dataclass(frozen=True)
class SameCode:
    """Two texts that do the same."""

    python: str
    command: str


def same_code(paths: Sequence[Path], method: str | None, data: str | None) -> SameCode:
    r"""Return how to compose files, measure the composite and save it.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    method : str or None
        How to put them together; None for one composite that is taken as it is.
    data : str or None
        What to measure on; None where that cannot be loaded by name.

    Examples
    --------
    >>> code = same_code([Path("a.safetensors"), Path("b.safetensors")], "sum", "digits")
    >>> print(code.command)
    dovetail compose \
      a.safetensors \
      b.safetensors \
      --method sum --evaluate digits -o composite.safetensors
    """
    return SameCode(_python(paths, method, data), _command(paths, method, data))


def _python(paths: Sequence[Path], method: str | None, data: str | None) -> str:
    lines = ["import dovetail as dt", ""]
    if data is not None:
        lines.append(f"data = dt.load({data!r})")
    if method is None:
        lines.append(f"composite = dt.open({str(paths[0])!r})")
    else:
        inputs = ", inputs=data.train.x" if method == "calibrated" and data is not None else ""
        lines += ["files = [", *(f"    {str(path)!r}," for path in paths), "]"]
        lines.append(f"composite = dt.compose([dt.open(file) for file in files], {method!r}{inputs})")
    if data is not None:
        lines.append("print(composite.evaluate(data.test))")
    if method is not None:
        lines.append(f"composite.save({FILE!r})")
    return "\n".join(lines)


def _command(paths: Sequence[Path], method: str | None, data: str | None) -> str:
    options = [] if method is None else [f"--method {method}"]
    if data is not None:
        options.append(f"--evaluate {shlex.quote(data)}")
    if method is not None:
        options.append(f"-o {FILE}")
    lines = ["dovetail compose", *(shlex.quote(str(path)) for path in paths), " ".join(options)]
    return " \\\n  ".join(line for line in lines if line)
