"""Networks that other code builds: a function named on the command line, or timm."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from torch import nn

from ..errors import DovetailError, SpecError, unknown_name


def built_by(text: str) -> nn.Module:
    """Return the network that ``package.module:builder`` makes when it is called; the module is imported for it."""
    module_name, _, path = text.partition(":")
    # What that code prints is not part of our answer, which may be JSON.
    with _here_first(), redirect_stdout(sys.stderr):
        try:
            builder: Any = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name is None or not (
                module_name == error.name or module_name.startswith(f"{error.name}.")
            ):
                raise _failed(f"importing {module_name!r}", error) from error
            raise SpecError(
                f"there is no module {error.name!r} in this folder or installed, and no file {text!r}"
            ) from error
        except (Exception, SystemExit) as error:
            raise _failed(f"importing {module_name!r}", error) from error
        for name in path.split("."):
            if not hasattr(builder, name):
                known = [
                    known for known, value in vars(builder).items() if callable(value) and known[0] != "_"
                ]
                raise unknown_name(f"builder in {module_name!r}", name, known)
            builder = getattr(builder, name)
        if isinstance(builder, nn.Module):
            return builder
        if not callable(builder):
            raise SpecError(
                f"{text!r} is a {type(builder).__name__}; a function that returns the network is needed"
            )
        try:
            network = builder()
        except (Exception, SystemExit) as error:
            raise _failed(f"calling {text!r} without arguments", error) from error
    if not isinstance(network, nn.Module):
        raise SpecError(
            f"{text!r} returned a {type(network).__name__}; it must return the network, an nn.Module"
        )
    return network


def from_timm(name: str, *, pretrained: bool) -> tuple[nn.Module, tuple[int, ...]]:
    """Return a network of timm and the shape of its inputs; with its published weights if ``pretrained``."""
    try:
        timm: Any = importlib.import_module("timm")
    except ImportError as error:
        raise SpecError(
            "timm: needs the package timm; install it with pip install 'dovetail[vision]'"
        ) from error
    if not timm.is_model(name):
        near = difflib.get_close_matches(name, timm.list_models(), n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise SpecError(f"timm has no model {name!r}{hint}")
    try:
        with redirect_stdout(sys.stderr):
            network: nn.Module = timm.create_model(name, pretrained=pretrained)
    except Exception as error:  # the network, the disk, the hub: a dozen libraries may fail in their own ways
        what = f"making {name!r} with timm" + (" and downloading its weights" if pretrained else "")
        way_out = "; with --weights FILE nothing is downloaded" if pretrained else ""
        raise DovetailError(f"{_failed(what, error)}{way_out}") from error
    return network, tuple(timm.data.resolve_data_config({}, model=network)["input_size"])


@contextmanager
def _here_first() -> Iterator[None]:
    """Look for modules in the current folder too, as ``python -m`` does; an installed command does not by itself."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        if here in sys.path:
            sys.path.remove(here)


def _failed(what: str, error: BaseException) -> DovetailError:
    reason = (str(error).strip().splitlines() or ["no message"])[0][:200]
    return DovetailError(f"{what} failed: {type(error).__name__}: {reason}")
