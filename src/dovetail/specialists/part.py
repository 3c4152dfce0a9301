"""Parts: what specialists and composites have in common. They are frozen, answer, are measured, added and saved."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..data.preparation import Features, Preparation
from ..data.preparation.features import FrozenTrunk
from ..data.split import Split, is_finite
from ..errors import DataError, DovetailWarning, SpecError, unknown_name
from ..io.header import KEY
from ..io.write import write_tensors
from .answers import Answers, KnownOnly, answers_from, is_decided
from .blueprint import Interface, State
from .cards import MOST_NUMBERS, Card, nearness
from .class_lists import renamed
from .class_sets import ClassName, class_id, named
from .evaluate import Score, check_class_ids, evaluate_all, outputs_of, run_network
from .export import Export, export
from .manifest import Said
from .threshold import (
    BY_CARDS,
    CONFIDENCES,
    DEFAULT_CONFIDENCE,
    Confidence,
    Threshold,
    Usual,
    fit_threshold,
    least_confidence,
    rate_of,
    usual_of,
)

if TYPE_CHECKING:
    from .specialist import Specialist


_KINDS = {"table": "rows of a table", "words": "texts", "texts": "texts", "pictures": "pictures of any size"}
"""What raw samples are called that are no tensors."""


_COMPUTED = ("_module", "small", "_side_by_side")
"""What copies and pickles are without: it is computed again where it is needed."""


class Part(ABC):
    """What knows some classes and can be put together with others: a `Specialist`, a `Composite`, `Sums`."""

    blueprint: Interface
    threshold: Threshold | None

    def __setattr__(self, name: str, value: object) -> NoReturn:
        self.__delattr__(name)

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"a {type(self).__name__} is frozen, so its {name!r} stays as it is; make another"
        )

    # Read-only mappings can be neither pickled nor copied, and the network that it runs can be built again.
    def __getstate__(self) -> dict[str, object]:
        kept = {name: value for name, value in vars(self).items() if name not in _COMPUTED}
        return {
            name: dict(value) if isinstance(value, MappingProxyType) else value
            for name, value in kept.items()
        }

    def __setstate__(self, state: Mapping[str, object]) -> None:
        vars(self).update(
            {
                name: MappingProxyType(value) if isinstance(value, dict) else value
                for name, value in state.items()
            }
        )

    @property
    @abstractmethod
    def specialists(self) -> tuple[Specialist, ...]:
        """The specialists it is made of; of itself, if it is one; of none, if it is made of sums."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """Hash of everything that decides what it computes, its weights among it."""

    @property
    @abstractmethod
    def manifest(self) -> Said:
        """What its file says about it."""

    @property
    def statistics(self) -> Mapping[str, Tensor]:
        """Batch-norm statistics that belong to none of its specialists."""
        return MappingProxyType({})

    @abstractmethod
    def _network(self) -> nn.Module:
        """Return its network, which divides its logits by the temperature, in evaluation mode."""

    @abstractmethod
    def _with(self, threshold: Threshold | None) -> Self:
        """Return the same part with another threshold."""

    @abstractmethod
    def _changed(self, change: Callable[[Any], Any]) -> Self:
        """Return the same part with blueprints that describe the same networks otherwise."""

    def rename(self, names: Mapping[ClassName, str]) -> Self:
        """Return the same part with other names for some classes, rewarded or not.

        Class lists are joined by name, so this makes classes of two teams one, or two of one.

        Parameters
        ----------
        names : mapping of int or str to str
            The new name of each class that is to have one, which is given by id or name.

        Examples
        --------
        >>> import dovetail as dt
        >>> (three,) = dt.train_specialists(dt.load("digits"), "mlp:16", [3], epochs=1, progress=False)
        >>> three.rename({"3": "three"}).known
        ('three',)
        """
        wanted = {self.classes[class_id(old, self.classes)]: new for old, new in names.items()}
        if len(wanted) < len(names):
            raise SpecError(
                f"rename gives one class two names, by its id and by its name; got {dict(names)!r:.200}"
            )

        def change(blueprint: Any) -> Any:
            own = {old: new for old, new in wanted.items() if old in blueprint.classes}
            return replace(blueprint, classes=renamed(blueprint.classes, own))

        return self._changed(change)

    def with_trunk(self, trunk: FrozenTrunk) -> Self:
        """Return the same part with the trunk at hand that it stands on, so that it takes raw samples.

        Files only name the trunk; `dovetail.open` takes it too.

        Parameters
        ----------
        trunk : Trunk
            What its training samples were features of.

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> trunk = dt.trunk(nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10)))
        >>> features = trunk.features(data, progress=False)
        >>> (three,) = dt.train_specialists(features, "mlp:16", [3], epochs=1, progress=False)
        >>> three.with_trunk(trunk).predict(data.test.x[:2]).shape
        (2,)
        """
        if not isinstance(self.preparation, Features):
            raise SpecError(f"{self!r} stands on no trunk: it was trained on samples, not on features")
        preparation = self.preparation.with_trunk(trunk)
        return self._changed(lambda blueprint: replace(blueprint, preparation=preparation))

    def module(
        self, trunk: FrozenTrunk | None = None, *, known_only: bool = False, raw: bool = False
    ) -> nn.Module:
        """Return an ordinary network in evaluation mode.

        It gives logits that are divided by the temperature already: ``softmax`` of them is the prediction.

        Parameters
        ----------
        trunk : Trunk, optional
            The trunk that it stands on: the network then goes from raw samples to logits.
        known_only : bool
            Only the outputs of classes that it knows (`known`), in the order of its class list.
        raw : bool
            Take raw numbers, as they were before they were scaled, rather than what a data set's splits hold. With a
            trunk: what the trunk takes, where raw samples are no numbers.

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> team = dt.train_specialists(data, "mlp:32", [3, 8], epochs=2, progress=False)
        >>> (team[0] + team[1]).module(known_only=True)(data.test.x[:5]).shape
        torch.Size([5, 2])
        """
        if trunk is not None:
            return self.with_trunk(trunk).module(known_only=known_only, raw=True)
        network = self._network()
        if known_only:
            network = KnownOnly(network, self.rewarded)
        if raw and self.preparation is not None:
            layer = self.preparation.layer()
            if layer is None:
                reads = self.preparation.reads or self.preparation
                raise SpecError(
                    f"{self!r} was trained on {_KINDS[reads.kind]}, which no network takes "
                    "as they are; prepare them with part.preparation(samples) and leave raw out"
                )
            network = nn.Sequential(layer, network).eval()
        return network

    def export(
        self,
        path: str | Path,
        *,
        trunk: FrozenTrunk | None = None,
        known_only: bool = True,
        raw: bool = True,
    ) -> Export:
        """Write it as a file for other programs, ``.onnx`` or ``.pt2``, and check that the file does the same.

        Parameters
        ----------
        path : path
            ONNX, or what `torch.export.load` reads.
        trunk : Trunk, optional
            The trunk that it stands on, which the file then holds too.
        known_only, raw : bool
            As for `module`; raw samples are taken where they are numbers.

        Examples
        --------
        >>> import tempfile, dovetail as dt
        >>> (three,) = dt.train_specialists(dt.load("digits"), "mlp:16", [3], epochs=1, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     three.export(f"{folder}/three.pt2").outputs
        ('3',)
        """
        return export(self, path, trunk=trunk, known_only=known_only, raw=raw)

    @abstractmethod
    def state_dict(self, *, layout: Literal["dense", "sparse"] = "dense") -> State:
        """Return the weights by name, as a network of the same spec takes them.

        Parameters
        ----------
        layout : {"dense", "sparse"}
            Ordinary tensors, or torch's sparse COO tensors where entries were pruned.
        """

    @property
    def rewarded(self) -> tuple[int, ...]:
        """Ids of the classes it recognises."""
        known = {name for member in self.specialists for name in member.known}
        return tuple(number for number, name in enumerate(self.classes) if name in known)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of all classes, rewarded or not."""
        return self.blueprint.classes

    @property
    def knows(self) -> str:
        """Names of the classes it recognises, as one text."""
        return named(self.rewarded, self.classes)

    @property
    def known(self) -> tuple[str, ...]:
        """Names of the classes it recognises."""
        return tuple(self.classes[number] for number in self.rewarded)

    @property
    def cards(self) -> dict[str, Card]:
        """How many training samples there were of each class that it knows, their mean and variance, by name.

        They tell samples of classes that nobody has seen; see `with_threshold`. Empty where its specialists have none.

        Examples
        --------
        >>> import dovetail as dt
        >>> (three,) = dt.train_specialists(dt.load("digits"), "mlp:16", [3], epochs=1, progress=False)
        >>> three.cards["3"].count, three.cards["3"].mean.shape
        (117, torch.Size([64]))
        """
        found: dict[str, Card] = {}
        for member in self.specialists:
            for number, card in zip(member.rewarded, member.own_cards, strict=False):
                name = member.classes[number]
                found[name] = found[name] + card if name in found else card
        return found

    @property
    def has_cards(self) -> bool:
        """Whether it has a card of each class that it knows."""
        return set(self.cards) == set(self.known)

    @abstractmethod
    def without_cards(self) -> Self:
        """Return the same part without cards, for files that should say nothing about the samples of a class.

        A threshold that was chosen by their distances goes with them.
        """

    def _threshold_without_cards(self) -> Threshold | None:
        by_cards = self.threshold is not None and self.threshold.confidence in BY_CARDS
        return None if by_cards else self.threshold

    @property
    def preparation(self) -> Preparation | None:
        """What turns raw samples into its inputs, for data of one's own."""
        return self.blueprint.preparation

    def __call__(self, x: Tensor) -> Tensor:
        """Return logits, divided by the temperature, for a batch of inputs."""
        return run_network(self._module, self.blueprint.check_inputs(x).to(next(self._module.parameters())))

    @cached_property
    def _module(self) -> nn.Module:
        return self.module()

    def answers(
        self,
        samples: object,
        *,
        undecided: str | float | None = None,
        device: torch.device | str | None = None,
    ) -> Answers:
        """Say of which class samples are, among those that it knows, or leave them undecided.

        Parameters
        ----------
        samples : Split, array, table, list of texts or of pictures
            A split of a data set (``data.test``; its ``x`` alone would be prepared once more); or raw samples, like
            those that its data was read from.
        undecided : str or float, optional
            When not to answer. ``"5%"``: where it is less sure than of 95 of 100 validation samples of known classes
            (see `with_threshold`). A number: where its confidence is below that. By default what `with_threshold` gave
            it; without that, it does not answer where its largest output is of a class that it does not know.
        device : str or torch.device, optional
            Where to; the first GPU if there is one.

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> team = dt.train_specialists(data, "mlp:32", [3, 8], epochs=2, progress=False)
        >>> (team[0] + team[1]).answers(data.test, undecided=1.0)
        Answers(360 samples, 360 undecided, of 2 classes)
        """
        least = least_confidence(undecided, self.threshold)
        inputs = self.blueprint.prepared(samples)
        logits = outputs_of([self], inputs, device=device)[0]
        if not is_finite(logits):
            raise DataError("outputs are NaN or infinite; are inputs or weights too large?")
        chosen, usual = self._confidence, () if self.threshold is None else self.threshold.usual
        near = self.nearness(inputs)
        near = None if near is None else near.to(logits.device)
        return answers_from(logits, self.rewarded, self.classes, chosen, least, near=near, usual=usual)

    def predict(
        self,
        samples: object,
        *,
        undecided: str | float | None = None,
        device: torch.device | str | None = None,
    ) -> NDArray[np.object_]:
        """Return the name of a class that it knows for each sample, or ``"undecided"``; see `answers`.

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> team = dt.train_specialists(data, "mlp:32", [3, 8], epochs=2, progress=False)
        >>> (team[0] + team[1]).predict(data.test.where(data.test.y == 3), undecided=1.0)[:2]
        array(['undecided', 'undecided'], dtype=object)
        """
        return self.answers(samples, undecided=undecided, device=device).names

    def predict_proba(
        self, samples: object, *, device: torch.device | str | None = None
    ) -> NDArray[np.float64]:
        """Return the probability of each class that it knows (`known`), ``[samples, known]``; rows add up to 1."""
        return self.answers(samples, device=device).probabilities

    def with_threshold(
        self,
        split: Split,
        undecided: str = "5%",
        *,
        confidence: Confidence | None = None,
        device: torch.device | str | None = None,
    ) -> Self:
        """Return the same part with a threshold for its answers, chosen on validation data and kept in its file.

        Parts that are made of it, by adding or leaving out, have none until they are given one: it would not hold.

        Parameters
        ----------
        split : Split
            Validation samples with class ids; only those of classes that it knows count.
        undecided : str
            Which share of samples of known classes may be left undecided, such as ``"5%"``.
        confidence : {"both", "distance", "entropy", "maximum"}, optional
            What tells how sure it is; see `threshold.confidence_of`. By default ``"both"``, the network and
            the distance to the cards of the classes that it knows, which told unknown classes best over all data that
            was measured (docs/specialists.md); ``"entropy"`` where it has no cards.
        device : str or torch.device, optional
            Where to compute; the first GPU if there is one.

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> team = dt.train_specialists(data, "mlp:32", [3, 8], epochs=20, sparsity=0.5, progress=False)
        >>> pair = (team[0] + team[1]).with_threshold(data.val, "10%")
        >>> 0.8 < pair.evaluate(data.val).coverage < 0.95
        True
        """
        rate = rate_of(undecided)
        confidence = self._can_be(confidence)
        check_class_ids(self, split)
        known = split.where(torch.isin(split.y, torch.tensor(self.rewarded, device=split.y.device)))
        if not len(known):
            raise DataError(f"the split has no samples of the classes that {self!r} knows")
        logits = outputs_of([self], known.x, device=device)[0]
        near: Tensor | None = None
        usual: Usual = ()
        if confidence in BY_CARDS:
            near = nearness(list(self.cards.values()), known.x).to(logits.device)
            mask = torch.zeros(logits.shape[1], dtype=torch.bool, device=logits.device)
            mask[list(self.rewarded)] = True
            usual = usual_of(logits, mask, confidence, near)
        sure, _ = is_decided(logits, self.rewarded, confidence, None, near=near, usual=usual)
        return self._with(fit_threshold(sure, rate=rate, confidence=confidence, usual=usual))

    def _can_be(self, wanted: Confidence | None) -> Confidence:
        """Return what can tell how sure it is: what is wanted, if there are cards for it."""
        if wanted is None:
            return "both" if self.has_cards else "entropy"
        if wanted not in CONFIDENCES:
            raise unknown_name("confidence", wanted, CONFIDENCES)
        if wanted in BY_CARDS and not self.has_cards:
            without = [name for name in self.known if name not in self.cards]
            warnings.warn(
                f"{self!r} has no cards of {', '.join(without[:5])}{', …' * (len(without) > 5)}, so entropy takes the "
                f"place of {wanted!r}; specialists have cards when they are trained on inputs of at most "
                f"{MOST_NUMBERS:,} numbers",
                DovetailWarning,
                stacklevel=3,
            )
            return "entropy"
        return wanted

    def nearness(self, x: Tensor) -> Tensor | None:
        """Return how near inputs are to its cards; None where its threshold does not ask for that."""
        if self.threshold is None or self.threshold.confidence not in BY_CARDS:
            return None
        return nearness(list(self.cards.values()), x)

    @property
    def _confidence(self) -> Confidence:
        return DEFAULT_CONFIDENCE if self.threshold is None else self.threshold.confidence

    def evaluate(self, split: Split, *, device: torch.device | str | None = None) -> Score:
        """Measure it on a split.

        Examples
        --------
        >>> import dovetail as dt
        >>> data = dt.load("digits")
        >>> team = dt.train_specialists(data, "mlp:32", [3, 8], epochs=4, sparsity=0.5, progress=False)
        >>> (team[0] + team[1]).evaluate(data.test).rewarded
        (3, 8)
        """
        return evaluate_all([self], split, device=device)[0]

    def save(self, path: str | Path, *, replace: bool = True) -> Path:
        """Write it to one ``.safetensors`` file; an existing file is replaced only when all is written.

        Parameters
        ----------
        path : path
            The file.
        replace : bool
            Whether a file that is there is replaced, even if it came just now.

        Raises
        ------
        DovetailError
            When the file cannot be written, or is not to be replaced; an existing one is left as it was.
        """
        tensors = {f"merged/{name}": tensor for name, tensor in self.statistics.items()}
        for number, specialist in enumerate(self.specialists):
            tensors |= {f"{number}/cards/{name}": t for name, t in specialist.card_tensors.items()}
            for name, packed in specialist.weights.items():
                if packed.positions is None:
                    tensors[f"{number}/{name}"] = packed.values
                else:
                    tensors[f"{number}/{name}.values"] = packed.values
                    tensors[f"{number}/{name}.positions"] = packed.positions
        # A specialist may be in a composite twice, and safetensors refuses tensors that share memory.
        apart = {name: tensor.clone() for name, tensor in tensors.items()}
        return write_tensors(path, apart, {KEY: self.manifest.to_text()}, replace=replace)

    @abstractmethod
    def __add__(self, other: object) -> Part:
        """Return both together; see `Composite`."""

    def __radd__(self, other: object) -> Part:
        # sum() starts from 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Part) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)


def checked_layout(layout: str) -> str:
    """Refuse a layout of weights that there is none of."""
    if layout not in ("dense", "sparse"):
        raise unknown_name("layout", layout, ["dense", "sparse"])
    return layout
