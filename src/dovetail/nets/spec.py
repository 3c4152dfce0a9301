"""Network specs: all architectures by name, and one of them with its sizes and options."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from ..errors import SpecError, unknown_name
from ..spec import Value, read_spec, settle_options, write_value
from .architecture import Architecture
from .lenet import LENET
from .mlp import MLP
from .resnet import RESNET18, RESNET_STAGE
from .small_cnn import SMALL_CNN
from .vgg import VGG11, VGG16
from .vit import VIT

ARCHITECTURES: dict[str, Architecture] = {
    architecture.name: architecture
    for architecture in (MLP, LENET, SMALL_CNN, VGG11, VGG16, RESNET18, RESNET_STAGE, VIT)
}

MAX_PARAMETERS = 2**31
_MAX_WIDTH = 2**18


@dataclass(frozen=True)
class NetSpec:
    """An architecture with its sizes and options, complete and checked.

    Sizes and options that are left out are filled in with the architecture's defaults, so two specs that
    mean the same network are equal. ``str(spec)`` is the shortest text for it, and parses to the same spec.

    Parameters
    ----------
    name
        An architecture of `ARCHITECTURES`.
    sizes
        What the sizes mean is up to the architecture: hidden units for ``mlp``, channels and then dense units for
        ``lenet``, one width for VGGs and ResNets, none for ``small-cnn``.
    options
        Pairs of option name and value.

    Raises
    ------
    SpecError
        For an unknown architecture or option, a value that is not allowed, or sizes that cannot be built.

    Examples
    --------
    >>> spec = NetSpec.parse("mlp:512-256,init=kaiming-normal,dropout=.20")
    >>> spec.sizes, spec["dropout"], spec["output_bias"]
    ((512, 256), 0.2, False)
    >>> str(spec)
    'mlp:512-256,dropout=0.2,init=kaiming-normal'
    >>> NetSpec.parse("lenet") == NetSpec("lenet", (64, 120, 64))
    True
    """

    name: str
    sizes: tuple[int, ...] = ()
    options: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name not in ARCHITECTURES:
            raise unknown_name("architecture", self.name, ARCHITECTURES)
        object.__setattr__(self, "sizes", self._settled_sizes())
        object.__setattr__(self, "options", self._settled_options())

    def __getitem__(self, option: str) -> Value:
        for name, value in self.options:
            if name == option:
                return value
        raise unknown_name(f"option of {self.name}", option, dict(self.options))

    def __str__(self) -> str:
        architecture = ARCHITECTURES[self.name]
        text = self.name
        if self.sizes != architecture.default_sizes:
            text += ":" + "-".join(str(size) for size in self.sizes)
        for option in architecture.options:
            if self[option.name] != option.default:
                text += f",{option.name}={write_value(self[option.name])}"
        return text

    @classmethod
    def parse(cls, text: str) -> NetSpec:
        """Return the spec that a text stands for."""
        spec = read_spec(text, "architecture", ARCHITECTURES)
        return cls(spec.name, spec.sizes, tuple(spec.options.items()))

    def _settled_sizes(self) -> tuple[int, ...]:
        architecture = ARCHITECTURES[self.name]
        if not self.sizes:
            return architecture.default_sizes
        if not architecture.sizes_mean:
            raise SpecError(f"{self.name} takes no sizes; write {self.name!r} (got sizes {self.sizes!r:.80})")
        sizes = tuple(self.sizes)
        if architecture.most_sizes is not None and len(sizes) > architecture.most_sizes:
            most = "one size" if architecture.most_sizes == 1 else f"at most {architecture.most_sizes} sizes"
            raise SpecError(f"{self.name} takes {most} ({architecture.sizes_mean}); got {sizes!r:.80}")
        for size in sizes:
            if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= _MAX_WIDTH:
                raise SpecError(
                    f"a size of {self.name} ({architecture.sizes_mean}) must be a whole number "
                    f"from 1 to {_MAX_WIDTH}; got {size!r:.40}"
                )
        if sum(a * b for a, b in pairwise(sizes)) > MAX_PARAMETERS:
            raise SpecError(
                f"sizes {sizes!r:.80} mean more than {MAX_PARAMETERS} parameters; use smaller layers"
            )
        return sizes

    def _settled_options(self) -> tuple[tuple[str, Value], ...]:
        known = {option.name: option for option in ARCHITECTURES[self.name].options}
        return tuple(settle_options(self.name, self.options, known).items())
