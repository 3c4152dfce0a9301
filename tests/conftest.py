"""What all tests share."""

from __future__ import annotations

import os
import signal

import torch
from hypothesis import settings

if not torch.cuda.is_available():
    # Kernels are interpreted then, number by number. Triton looks at this when it is imported.
    os.environ.setdefault("TRITON_INTERPRET", "1")

# Examples are small; on a busy machine a single slow one says nothing.
settings.register_profile("dovetail", deadline=None)
settings.load_profile("dovetail")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background has them ignore Ctrl-C, and what they start would ignore it too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
