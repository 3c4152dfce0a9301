"""A process that does units: one JSON line in for each, one JSON line out.

Started by `local` as ``python -m dovetail.engine.worker DEVICE``. Nothing is pickled, and the program that uses
Dovetail is not imported again, as `multiprocessing` would.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from queue import Queue
from typing import TextIO


def main() -> None:
    """Do units until there are no more."""
    # Whatever else prints must not come between the replies.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    device = sys.argv[1]
    lines: Queue[str] = Queue()
    threading.Thread(target=_read, args=(sys.stdin, lines), daemon=True).start()

    from ..recipes import Unit
    from .perform import perform

    while True:
        unit = Unit(**json.loads(lines.get()))
        replies.write(json.dumps(perform(unit, device).to_dict()) + "\n")
        replies.flush()


def _read(source: TextIO, lines: Queue[str]) -> None:
    """Pass lines on; end the process, whatever it is doing, when the one that started it is gone."""
    for line in source:
        lines.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
