"""Where recipes run: this machine, with all its GPUs or cores, or a Ray cluster; and the folders that keep runs.

`reproduce` runs a recipe, `plan` says beforehand what it will take. Units come from the recipe; an engine does them in
whatever order and place; only the process that leads writes, a line for each unit that is done.
"""

from __future__ import annotations

from .engines import Engine, find_engine
from .local import LocalEngine
from .outcome import Outcome
from .planning import Plan, plan
from .reproduction import reproduce
from .run import Run
from .run_folder import RunFolder

__all__ = ["Engine", "LocalEngine", "Outcome", "Plan", "Run", "RunFolder", "find_engine", "plan", "reproduce"]
