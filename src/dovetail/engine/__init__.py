"""Engines that run recipes: this machine, with all its GPUs or cores, or a Ray cluster; and the folders of runs.

`reproduce` runs a recipe, `plan` says beforehand what it will take. The way of a unit, file by file:

- a recipe (`dovetail.recipes`) names the units: work and settings, as JSON;
- `reproduction` leaves out those that are done, and hands the others to an engine;
- an engine (`local`, `ray_cluster`; `engines` finds it) does them in whatever order and place;
- `worker` is a process that `local` starts on each place: units in, outcomes out, a line each;
- `perform` does one unit, to the same numbers wherever that is;
- `results_file` keeps it: only the process that leads writes, a line for each unit that is done.

`costs` says beforehand what a run will take, `machine` what there is to work with; `run_folder` is where a run is
kept, `folder_files` opens nothing in it but plain files, and `run` is what one gets to see of it.
"""

from __future__ import annotations

from .costs import Plan, plan
from .engines import Engine, find_engine
from .local import LocalEngine
from .perform import Outcome
from .reproduction import Run, reproduce
from .run_folder import RunFolder

__all__ = ["Engine", "LocalEngine", "Outcome", "Plan", "Run", "RunFolder", "find_engine", "plan", "reproduce"]
