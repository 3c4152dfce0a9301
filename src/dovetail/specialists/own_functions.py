"""Functions of users in a training, such as a loss: what files call them, and whether two are the same."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import wraps
from types import CodeType
from typing import Any

from ..errors import DovetailError, SpecError, TrainingError

OWN_NAME = re.compile(r"[\w.<>]{1,200}:[\w.<>]{1,200}#[0-9a-f]{8}")
"""What `function_name` gives."""


def function_name(function: Callable[..., Any], what: str) -> str:
    """Return module and name of a function, with a hash of its code: a function that was changed is another one.

    The hash is over the function itself and what it has around it (defaults and values it closes over), not over other
    functions that it calls.

    Parameters
    ----------
    function : function
        The function.
    what : str
        What it is for, for messages.

    Examples
    --------
    >>> def half(x):
    ...     return x / 2
    >>> function_name(half, "loss").partition("#")[0].endswith(":half")
    True
    >>> function_name(half, "loss") == function_name(lambda x: x / 3, "loss")
    False
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        raise SpecError(
            f"{what} is a function, so that files can say which one; got {function!r:.80}. Write def around it"
        )
    around = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    settings = (getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None), around)
    digest = hashlib.sha256(_content(code) + _without_addresses(repr(settings)).encode())
    name = f"{function.__module__}:{function.__qualname__}"[:400]
    return f"{name}#{digest.hexdigest()[:8]}"


def told(function: Callable[..., Any], call: str) -> Callable[..., Any]:
    """Return a function that does the same, and whose mistakes say which function it was and how it is called.

    What torch raises is left as it is: whoever maps the function over networks has better advice.

    Parameters
    ----------
    function : function
        The function.
    call : str
        How it is called, for the message.

    Examples
    --------
    >>> told(lambda x: 2 * x, "loss(x)")(3)
    6
    """

    @wraps(function)
    def called(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except (DovetailError, RuntimeError):
            raise
        except Exception as error:
            name = f"{function.__module__}:{function.__qualname__}"[:200]
            raise TrainingError(
                f"{name} failed: {type(error).__name__}: {error}; it is called as {call}"
            ) from error

    return called


def _content(code: CodeType) -> bytes:
    """Return what a function does: its code, names and constants, functions within it among them."""
    constants = [_content(one) if isinstance(one, CodeType) else repr(one).encode() for one in code.co_consts]
    return b"\0".join([code.co_code, repr(code.co_names).encode(), *constants])


def _without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "", text)
