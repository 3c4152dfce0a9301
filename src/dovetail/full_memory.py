"""Tell errors that only say that memory is full from those that say that something is wrong."""

from __future__ import annotations

_CPU_SIGN = "can't allocate memory"
"""In what torch says when a CPU's memory is full; it has no class of its own for that error."""

_GPU_CLASS = "OutOfMemoryError"
"""Its class for GPUs, by name: the command line asks before anybody has imported torch."""


def memory_is_full(error: BaseException) -> bool:
    """Return whether an error says that memory is full, of a CPU or a GPU.

    Examples
    --------
    >>> memory_is_full(RuntimeError("DefaultCPUAllocator: can't allocate memory")), memory_is_full(RuntimeError("size"))
    (True, False)
    """
    return isinstance(error, MemoryError) or type(error).__name__ == _GPU_CLASS or _CPU_SIGN in str(error)
