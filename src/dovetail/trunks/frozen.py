"""A trunk: a network that is frozen, in evaluation mode, and ends at a cut."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ..data.dataset import Dataset
from ..data.given import check_dataset
from ..data.own.like import Like
from ..data.preparation.features import TrunkFacts
from ..errors import SpecError
from ..io.checkpoint import load_checkpoint
from .compute import Devices, compute_features, features_of
from .cut import Cut, is_whole, usual_cut
from .identity import code_hash, weights_hash
from .named import build_named, name_and_options
from .pool import Pool, check_pool, pooled
from .takes import Takes, is_sentence_transformer, usual_numbers, usual_sentences

_LONGEST_NAME = 100


def trunk(
    model: nn.Module | str,
    *,
    cut: str | None = None,
    pool: Pool = "auto",
    name: str | None = None,
    weights: str | Path | Mapping[str, Tensor] | None = None,
    size: int | tuple[int, int] | None = None,
    mean: Sequence[float] | float | None = None,
    std: Sequence[float] | float | None = None,
    tokenizer: Any = None,
) -> Trunk:
    """Return a network as a trunk: frozen, in evaluation mode, and cut where its features are.

    The network is copied, so that training it further does not change the trunk.

    Parameters
    ----------
    model : nn.Module or str
        A network: of yours, of timm, transformers or sentence-transformers. Or the name of one: ``"timm:resnet18"``,
        ``"sentence:FOLDER"``, ``"transformers:FOLDER"`` (``pip install 'dovetail-nn[vision]'`` or
        ``'dovetail-nn[text]'``), or ``"package.module:builder"``, a function without arguments
        that returns it. The options below can follow after a colon: ``"timm:resnet18:cut=layer3,weights=FILE"``, with
        a slash between numbers of ``mean`` and ``std``.
    cut : str, optional
        Where it ends: the name of a module (``dict(model.named_modules())`` has them), after which it is cut; ``"before
        NAME"``; or ``"output"`` for all of it. By default before its last layer; the first samples are refused if
        layers run in another order than they were made in, so that this is not the last.
    pool : {"auto", "mean", "max", "first", "flatten", "none"}
        How maps and tokens become a vector: their mean by default. ``"none"`` keeps them, for parts that are
        themselves the rest of a network.
    name : str, optional
        What to call it; the name of the network's class by default.
    weights : path or state dict, optional
        Weights to load into it first: ``.safetensors``, or a state dict saved by torch.
    size : int or (int, int), optional
        Height and width that pictures are brought to; by default what the network says of itself, if it does.
    mean, std : sequence of float, optional
        What is taken off each channel of a picture from 0 to 1, and what it is divided by; by default what the network
        says of itself, if it does.
    tokenizer : object, optional
        What makes tokens of texts, for networks that take these; sentence transformers have their own.

    Returns
    -------
    Trunk
        Print it to see where it is cut.

    Examples
    --------
    >>> import dovetail as dt
    >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10))
    >>> trunk = dt.trunk(model, name="small")
    >>> trunk.facts.cut
    'before 3'
    >>> features = trunk.features(dt.load("digits"), progress=False)
    >>> features.input_shape
    (16,)
    """
    if isinstance(model, str):
        text, options = name_and_options(model)
        cut, name = cut or options.get("cut"), name or options.get("name")
        pool = options.get("pool", "auto") if pool == "auto" else pool
        size, mean, std = size or options.get("size"), mean or options.get("mean"), std or options.get("std")
        found = build_named(text, weights or options.get("weights"))
        model, weights, name = found.network, found.weights, name or found.name
        tokenizer = tokenizer or found.tokenizer
    if not isinstance(model, nn.Module):
        raise SpecError(
            f"a trunk is made of a torch.nn.Module, or of the name of one; not of {type(model).__name__}"
        )
    if name is not None and not isinstance(name, str):
        raise SpecError(f"the name of a trunk is a text, not {name!r:.80}")
    if cut is not None and not isinstance(cut, str):
        raise SpecError(
            f"cut is the name of a module, such as '3' or 'before 3', or 'output'; got {cut!r:.80}"
        )
    network = _frozen_copy(model)
    if weights is not None:
        _load(network, weights)
    reads_texts = tokenizer is not None or is_sentence_transformer(network)
    takes: Takes = (
        usual_sentences(network, tokenizer) if reads_texts else usual_numbers(network, size, mean, std)
    )
    made = Trunk(network, usual_cut(network) if cut is None else cut, pool, takes, name or _name_of(network))
    made._cut.unsure = cut is None and not is_whole(network)
    return made


class Trunk(nn.Module):
    """A frozen network up to a cut; made by `trunk`.

    It is a module: called with samples as a data set holds them (for texts a list of them) it gives their features.

    Attributes
    ----------
    network : nn.Module
        The network, a copy of what was given.
    facts : TrunkFacts
        What decides its features: name, hash of the weights, cut, pooling, and what it takes.
    """

    def __init__(self, network: nn.Module, cut: str, pool: Pool, takes: Takes, name: str) -> None:
        super().__init__()
        check_pool(pool)
        self.network = network.eval().requires_grad_(False)
        self.training = False
        self._takes = takes
        self._cut = Cut(self.network, cut)
        self.facts = TrunkFacts(
            name=name[:_LONGEST_NAME],
            hash=weights_hash(network),
            network=type(network).__name__,
            cut=cut,
            pool=pool,
            takes=str(takes),
        )
        self._replicas: dict[torch.device, Trunk] = {}

    @property
    def name(self) -> str:
        """What it is called."""
        return self.facts.name

    @property
    def takes_texts(self) -> bool:
        """Whether its samples are texts."""
        return self._takes.texts

    def train(self, mode: bool = True) -> Trunk:
        """Stay in evaluation mode, whatever is asked for: features are computed once, and must not change."""
        return self

    def forward(self, x: Tensor | Sequence[str]) -> Tensor:
        """Return the features of samples."""
        call = self._takes.call(x, self.network)
        return pooled(self._cut.run(self.network, call.args, call.kwargs), self.facts.pool, call.mask)

    def compute(self, x: Tensor, *, device: Devices = None) -> Tensor:
        """Return the features of many samples, in batches, in main memory; computed on all GPUs by default.

        Examples
        --------
        >>> Trunk(nn.Flatten(), "output", "auto", usual_numbers(nn.Flatten(), None, None, None), "flat").compute(
        ...     torch.ones(3, 2, 2)
        ... ).shape
        torch.Size([3, 4])
        """
        return compute_features(self, x, device=device)

    def features(
        self,
        data: Dataset,
        *,
        folder: str | Path | None = None,
        batch_size: int = 128,
        device: Devices = None,
        dtype: torch.dtype = torch.float32,
        scale: bool | None = None,
        like: Like | None = None,
        progress: bool = True,
    ) -> Dataset:
        """Return what the trunk makes of a data set: a data set like any other, whose samples are features.

        They are computed once, and kept on disk under the hashes of trunk, cut, what it takes, and data; whatever of
        these changes, they are computed anew. A computation that was stopped goes on where it was.

        Parameters
        ----------
        data : Dataset
            Samples as the trunk takes them: numbers, pictures from 0 to 1, or texts (``dt.read(path, texts="raw")``).
        folder : path, optional
            Where to keep them; by default in the cache (``$DOVETAIL_CACHE``). A folder is data: `dovetail.read` and
            the command line open it.
        batch_size : int
            Samples at a time.
        device : str, torch.device or list, optional
            Where to compute; several take turns. By default all GPUs, if there are any.
        dtype : torch.dtype
            What to compute in: ``torch.bfloat16`` is fast on GPUs. Features are kept as float32.
        scale : bool, optional
            Bring each feature to mean 0 and variance 1 of the training samples; by default vectors, not maps.
        like : Dataset, Specialist or Composite, optional
            Scale features as those of this one are, rather than by these training samples.
        progress : bool
            Show progress (on terminals only).

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> small = dt.trunk(nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10)))
        >>> features = small.features(data, progress=False)
        >>> features.preparation(data.test.x[:2]).allclose(features.test.x[:2], atol=1e-5)
        True
        """
        check_dataset(data)
        return features_of(
            self, data, folder=folder, batch_size=batch_size, device=device, dtype=dtype, scale=scale, like=like,
            progress=progress,
        )  # fmt: skip

    def layer(self) -> nn.Module:
        """Return a copy on the CPU from samples to features, which `torch.export` and `torch.compile` can follow."""
        twin = copy.deepcopy(self).cpu()
        twin._cut.stops = False
        return twin

    @property
    def code_hash(self) -> str:
        """Hash of the code of its network's classes, as far as it can be read, and of how its modules are set up.

        Features are not taken from the disk when it has changed. Parts do not hold it: another comment, or another
        version of a library, is no other trunk.
        """
        return code_hash(self.network)

    def on(self, device: torch.device) -> Trunk:
        """Return the trunk on a device: itself, or a copy that is kept for the next time."""
        first = next(self.network.parameters(), None)
        if first is None or first.device == device:
            return self
        if device not in self._replicas:
            self._replicas[device] = copy.deepcopy(self).to(device)
        return self._replicas[device]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_replicas": {}}

    def __repr__(self) -> str:
        return f"Trunk({self.facts})"


def _frozen_copy(model: nn.Module) -> nn.Module:
    """Return a copy of a network in evaluation mode, whose weights stay as they are.

    Raises
    ------
    SpecError
        When it cannot be copied, cut or hashed, with the reason.
    """
    inner = getattr(model, "_orig_mod", model)  # of torch.compile
    inner = inner.module if isinstance(inner, nn.DataParallel) else inner
    kind = type(model).__name__
    if isinstance(inner, torch.jit.ScriptModule):
        raise SpecError(
            f"{kind} is a network of TorchScript, which cannot be cut; give the one it was made of"
        )
    for name, tensor in [*inner.named_parameters(), *inner.named_buffers()]:
        if tensor.is_meta or nn.parameter.is_lazy(tensor):
            raise SpecError(f"{kind} has no weights yet ({name}); load or initialise them first")
    try:
        return copy.deepcopy(inner).eval().requires_grad_(False)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        reason = str(error).strip().partition("\n")[0][:200]
        raise SpecError(f"{kind} cannot be copied ({reason})") from error


def _name_of(model: nn.Module) -> str:
    """Return what a network calls itself: timm and transformers say so, others by their class."""
    says = getattr(model, "pretrained_cfg", None)
    if isinstance(says, Mapping) and says.get("architecture"):
        return str(says["architecture"])
    config = getattr(model, "config", None)
    path = getattr(config, "name_or_path", None) or getattr(config, "_name_or_path", None)
    return Path(path).name if isinstance(path, str) and path else type(model).__name__


def _load(network: nn.Module, weights: str | Path | Mapping[str, Tensor]) -> None:
    """Load weights into a network; all of them must fit."""
    state = dict(weights) if isinstance(weights, Mapping) else load_checkpoint(weights)
    named = "these weights" if isinstance(weights, Mapping) else str(weights)
    if all(key.startswith("module.") for key in state):  # of torch.nn.DataParallel
        state = {key.removeprefix("module."): value for key, value in state.items()}
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        lines = [line.strip() for line in str(error).splitlines()[1:4]]
        raise SpecError(f"{named} does not fit {type(network).__name__}: {' '.join(lines)[:300]}") from None
