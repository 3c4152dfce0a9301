"""Networks of one's own: a class or function that makes one, the name it has in files, and who may import it."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from torch import nn

from ..errors import ShapeError, SpecError
from ..importing import found, is_code
from .build import NetBuilder, net_builder
from .seeding import seeded_build
from .spec import NetSpec

NAME = re.compile(r"[\w.<>]{1,200}:[\w.<>]{1,200}(\([^#]{0,200}\))?#[0-9a-f]{8}")
"""How files name a network of one's own: ``module:Name(settings)#hash of the code``."""

Build = Callable[[], nn.Module]


@dataclass(frozen=True)
class OwnNet:
    """A network of one's own, by its name; what makes it is at hand where it was handed in or may be imported.

    Two are equal when their names are, the hash of the code among them.

    Attributes
    ----------
    name : str
        Module and name of the class or function, with the settings of a `functools.partial`, and a hash of its code.
    build : callable or None
        Makes a network; called without arguments.

    Examples
    --------
    >>> OwnNet.of(nn.Identity).name.partition("#")[0]
    'torch.nn.modules.linear:Identity'
    """

    name: str
    build: Build | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, build: Build) -> OwnNet:
        """Return the network that a class or function makes.

        Raises
        ------
        SpecError
            For what cannot be called without arguments, with the way out.
        """
        if isinstance(build, nn.Module):
            raise SpecError(
                f"each specialist starts from a network of its own, so give what makes one: the class, or "
                f"lambda: {type(build).__name__}(...), not a network; a trained one can be a trunk (dovetail.trunk)"
            )
        inner, settings = build, ""
        if isinstance(build, functools.partial):
            inner = build.func
            given = [*map(repr, build.args), *(f"{name}={value!r}" for name, value in build.keywords.items())]
            settings = re.sub(r"\s*\n\s*", " ", ", ".join(given).replace("#", ""))
        module, name = getattr(inner, "__module__", None), getattr(inner, "__qualname__", None)
        if not callable(build) or module is None or name is None:
            raise SpecError(
                f"a network is a spec such as 'mlp:512', or a class or function that makes one; got {build!r:.80}"
            )
        try:
            inspect.signature(build).bind()
        except TypeError as error:
            raise SpecError(
                f"{name} is called without arguments, and takes some ({error}); write functools.partial({name}, ...)"
            ) from None
        except ValueError:  # code that says nothing about its arguments
            pass
        digest = hashlib.sha256(f"{_code(inner)}{settings}".encode()).hexdigest()[:8]
        shown = f"({settings[:200]})" if settings else ""
        return cls(f"{module}:{name}{shown}#{digest}"[:500], build)

    @classmethod
    def named(cls, name: str, build: Build | None = None, trust: Collection[str] = ()) -> OwnNet:
        """Return the network that a file names: made by what was handed in, or by what may be imported.

        Parameters
        ----------
        name : str
            What the file says.
        build : callable, optional
            What makes it.
        trust : collection of str
            Packages from which code may be imported because a file names it. Nothing else is.
        """
        module, _, rest = name.partition("#")[0].partition(":")
        if build is None and any(module == one or module.startswith(f"{one}.") for one in trust):
            if "(" in rest:
                raise SpecError(
                    f"it was made by {name!r:.200}, with settings that only you can give: build=functools.partial(...)"
                )
            build = found(f"{module}:{rest}", "network")
        return cls(name, build)

    def check_code(self) -> str:
        """Return what is odd about what makes the network, if anything: code that changed since the file was made."""
        if (
            self.build is None
            or OwnNet.of(self.build).name.rpartition("#")[2] == self.name.rpartition("#")[2]
        ):
            return ""
        return f"the code of {self.name.partition('#')[0]} is not what it was when the file was made"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class OwnBuilder:
    """Makes networks of one's own; checked to take samples of a shape, and to give so many outputs."""

    net: OwnNet
    input_shape: tuple[int, ...]
    outputs: int

    def __call__(self, seed: int | None = None) -> nn.Module:
        """Return a new network, with the weights of a seed if one is given."""
        build = self.net.build
        if build is None:
            module, _, name = self.net.name.partition("#")[0].partition(":")
            raise SpecError(
                f"its network is code of your own, {module}:{name}, which no file brings along; hand it in: "
                f"dovetail.open(path, build={name.partition('(')[0]}), or allow to import it: trust=[{module!r}] "
                f"(in front of a command: dovetail --trust {module} COMMAND ...)"
            )
        made = build() if seed is None else seeded_build(build, seed)
        if not isinstance(made, nn.Module):
            raise SpecError(
                f"{self.net.name.partition('#')[0]} gives {type(made).__name__}, not a torch.nn.Module"
            )
        return made

    def check(self) -> None:
        """Refuse a network that does not take such samples, or gives other outputs."""
        network = self(seed=0).eval()
        name = self.net.name.partition("#")[0]
        try:
            with torch.no_grad():
                found = network(torch.zeros(2, *self.input_shape))
        except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
            reason = (str(error).strip().splitlines() or [""])[0][:200]
            raise ShapeError(
                f"{name} does not take samples of shape {self.input_shape} ({reason})"
            ) from error
        if not isinstance(found, torch.Tensor) or found.shape != (2, self.outputs):
            given = tuple(found.shape) if isinstance(found, torch.Tensor) else type(found).__name__
            raise ShapeError(
                f"{name} gives {given} for 2 samples; it must give {(2, self.outputs)}, a logit for each class"
            )


def check_build(build: object) -> None:
    """Refuse what makes no networks, where a file with a network of one's own is opened.

    Examples
    --------
    >>> check_build(nn.Identity)
    >>> check_build("mlp:40")
    Traceback (most recent call last):
    dovetail.errors.SpecError: build is the class or function that makes the network, not 'mlp:40'; leave it out ...
    """
    if build is not None and (not callable(build) or isinstance(build, nn.Module)):
        raise SpecError(
            f"build is the class or function that makes the network, not {build!r:.80}; leave it out for files whose "
            "network is no code of your own: they name its spec"
        )


def trusted(trust: object) -> tuple[str, ...]:
    """Return the packages that may be imported because a file names them; a text is one of them.

    Examples
    --------
    >>> trusted("models"), trusted(["models", "nets.small"])
    (('models',), ('models', 'nets.small'))
    """
    names = [trust] if isinstance(trust, str) else list(trust) if isinstance(trust, Iterable) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise SpecError(
            f"trust names packages, such as trust=['models'], from which networks may be imported; got {trust!r:.80}"
        )
    return tuple(names)


Net = NetSpec | OwnNet
"""An architecture: by its spec, or of one's own."""
Builder = Callable[..., nn.Module]
"""Makes networks: ``builder()``, or from a seed ``builder(seed)``."""


def builder_of(net: Net, input_shape: Sequence[int], outputs: int) -> NetBuilder | OwnBuilder:
    """Return what makes networks of an architecture for samples of a shape.

    Examples
    --------
    >>> builder_of(NetSpec.parse("mlp:8"), (4,), 2)()(torch.zeros(3, 4)).shape
    torch.Size([3, 2])
    """
    if isinstance(net, OwnNet):
        return OwnBuilder(net, tuple(input_shape), outputs)
    return net_builder(net, input_shape, outputs)


def net_of(given: object) -> Net:
    """Return the architecture that was given: a spec, its text, or a class or function that makes networks.

    Examples
    --------
    >>> net_of("mlp:8").name, isinstance(net_of(nn.Identity), OwnNet)
    ('mlp', True)
    """
    if isinstance(given, NetSpec | OwnNet):
        return given
    if isinstance(given, str):
        return OwnNet.of(found(given, "network")) if is_code(given, "network") else NetSpec.parse(given)
    return OwnNet.of(given)  # type: ignore[arg-type]


def _code(made_by: Any) -> str:
    """Return what a class or function does, as its source says it: a comment or a blank makes no difference."""
    try:
        return ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(made_by))))
    except (OSError, TypeError, SyntaxError):  # typed at a prompt, or part of an expression
        pass
    if isinstance(made_by, type):
        own = {name: value for name, value in vars(made_by).items() if hasattr(value, "__code__")}
        return "\0".join(f"{name} {_code(value)}" for name, value in sorted(own.items()))
    code = getattr(made_by, "__code__", None)
    return _content(code) if isinstance(code, CodeType) else repr(made_by)


def _content(code: CodeType) -> str:
    constants = [_content(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return "\0".join([code.co_code.hex(), repr(code.co_names), *constants])
