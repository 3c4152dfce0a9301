"""A sculpture: what is left of a network after sculpting, how it came about, and its ``.safetensors`` file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from pydantic import BaseModel, FiniteFloat, NonNegativeInt
from safetensors import SafetensorError
from torch import Tensor, nn

from .._version import __version__
from ..data.boolean.table import MAX_INPUTS, input_table
from ..errors import DataError, DovetailError, FileFormatError, SpecError
from ..graph.read import DenseNetwork
from ..io.fields import parse, read_as, refuse_newer
from ..io.header import KEY, manifest_in
from ..io.plain import check_plain, opened_tensors, tensors_in
from ..io.write import write_tensors
from ..markup import facts_html, text_html
from ..plotting import GREY, LINE_COLOURS, new_axes, plain_frame
from ..precision import in_float32
from ..result import Result, plain
from .drawing.draw import drawing_html
from .explaining.explain import Answers, explain
from .explaining.explanation import Explanation
from .modules.detect import detect_modules
from .modules.hierarchy import Hierarchy
from .pruning.problem import Task, problem_of
from .pruning.search import Accepted
from .pruning.start import builder_of
from .search_end import SearchEnd, packed, unpacked
from .settings import SculptSettings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Outcome = Literal["sculpted", "unpruned", "not learned"]

SCHEMA = "dovetail.sculpture/1"
_MOST_EXPLAINED = 10
"""Inputs of a truth table up to which it is explained without being asked."""
_MASK, _SEARCHES = "masks/", "searches/"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Sculpture(Result):
    """A sculpted network.

    Attributes
    ----------
    task : str
        What it was sculpted for.
    seed : int
        The seed of its weights, and of the order and noise of its samples.
    network : nn.Module
        The network; pruned weights are 0.
    masks : dict of str to Tensor
        Which of its parameters are kept, bool, by name.
    outcome : {"sculpted", "unpruned", "not learned"}
        Whether anything could be pruned, or whether not even the dense network did the task (which is then what
        `network` is).
    accuracy : float
        Share of bits (or classes) of the validation split that it gets right.
    threshold : float
        What it had to reach.
    history : tuple of Accepted
        The accepted steps: the dense network, pruned units, pruned edges.
    unit_step, edge_step : float or None
        The first steps of the search that it comes from; None for a phase that was left out.
    searches : tuple of SearchEnd
        What every search ended with, by first steps for units and then for edges. This is the sparsest; of those that
        tie, the one with the lowest loss on the validation split, a rule that cannot know of modules.
    settings : SculptSettings
        How it was made, with everything filled in, and how its modules are detected.
    image_shape : (int, int) or None
        Height and width where inputs are the pixels of a grey image, for pictures.
    input_names, output_names : tuple of str or None
        What inputs and outputs are called, where they have names: columns of a table, with ``column=level`` for each
        level of one, and classes.
    fingerprint : str
        Hash of the samples of the task, whose name may stand for several; empty in files of before.
    truth_table : bool
        Whether the task is a Boolean one, whose inputs are all rows of bits.
    answers : {"bits", "classes"}
        What its outputs say: each a bit, or a class each, of which the largest wins.
    """

    task: str
    seed: int
    network: nn.Module
    masks: dict[str, Tensor]
    outcome: Outcome
    accuracy: float
    threshold: float
    history: tuple[Accepted, ...] = ()
    unit_step: float | None = None
    edge_step: float | None = None
    searches: tuple[SearchEnd, ...] = ()
    settings: SculptSettings
    image_shape: tuple[int, int] | None = None
    input_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None
    fingerprint: str = ""
    truth_table: bool = False
    answers: Answers = "classes"

    @property
    def tied(self) -> int:
        """How many searches ended with the fewest edges."""
        return sum(end.edges == self.edges for end in self.searches)

    @property
    def grid(self) -> Tensor | None:
        """How many edges each search ended with, ``[unit steps, edge steps]``; None where nothing was searched."""
        if not self.searches:
            return None
        rows = max(1, len(self.settings.unit_steps))
        return torch.tensor([end.edges for end in self.searches]).view(rows, -1)

    def hierarchies(self, within: float = 1.0) -> list[tuple[SearchEnd, Hierarchy]]:
        """Return the modules of all searches whose networks are about as sparse as this one.

        Parameters
        ----------
        within : float
            How many times as many edges they may have: 1 for those that tie.

        Examples
        --------
        >>> import dovetail as dt
        >>> sculpture = dt.sculpt([4, 2, 4], [12], unit_steps=[0.3, 0.5], edge_steps=[0.02], progress=False)
        >>> len(sculpture.hierarchies()) == sculpture.tied, len(sculpture.hierarchies(within=10))
        (True, 2)
        """
        # Searches often end with the same edges.
        found: dict[bytes, Hierarchy] = {}
        for end in self.searches:
            key = end.positions.numpy().tobytes()
            if end.edges <= within * self.edges and key not in found:
                found[key] = self._modules_of(end.connections(self.widths))
        keys = [(end, end.positions.numpy().tobytes()) for end in self.searches]
        return [(end, found[key]) for end, key in keys if key in found]

    @property
    def widths(self) -> tuple[int, ...]:
        """Units of each layer, inputs first, as they were before pruning."""
        masks = self._edge_masks
        return (masks[0].shape[1], *(len(mask) for mask in masks))

    @property
    def edges(self) -> int:
        """Edges that are left, also those that are on no path from an input to an output."""
        return sum(int(mask.sum()) for mask in self._edge_masks)

    @property
    def density(self) -> float:
        """Edges that are left, as a share of all there were."""
        return self.edges / sum(mask.numel() for mask in self._edge_masks)

    @property
    def units(self) -> tuple[int, ...]:
        """Units with edges in each layer, inputs first."""
        masks = self._edge_masks
        there = [
            masks[0].any(0),
            *(a.any(1) | b.any(0) for a, b in pairwise(masks)),
            masks[-1].any(1),
        ]
        return tuple(int(units.sum()) for units in there)

    @property
    def _edge_masks(self) -> list[Tensor]:
        return [mask for mask in self.masks.values() if mask.dim() == 2]

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The modules of the network and how they feed one another."""
        return self._modules_of([mask.cpu() for mask in self._edge_masks])

    def _modules_of(self, edges: DenseNetwork) -> Hierarchy:
        """Return the modules of edges between its layers, by its own settings and with its names."""
        found = detect_modules(edges, **self.settings.detection())
        return replace(found, input_names=self.input_names, output_names=self.output_names)

    def explain(self, task: Task | None = None, *, hierarchy: Hierarchy | None = None) -> Explanation:
        """Find out what its outputs, its modules and its hidden units compute, as formulas where they are Boolean.

        Parameters
        ----------
        task : optional
            Whose samples are looked at, in any form that `sculpt` takes. A sculpture for a truth table needs none: it
            is explained on all inputs that there can be.
        hierarchy : Hierarchy, optional
            Other modules than its own, such as those by other thresholds.

        Raises
        ------
        DataError
            Without samples, for a network that was sculpted for data.

        Examples
        --------
        >>> import dovetail as dt
        >>> sculpture = dt.sculpt("s = a ^ b; carry = a & b", [4], seed=1, unit_steps=[0.5], edge_steps=[0.1],
        ...                       progress=False)
        >>> sculpture.explain()["carry"].formula
        'a & b'
        """
        if self.outcome == "not learned":
            raise SpecError(f"seed {self.seed} has not learned {self.task}: there is nothing to explain")
        if task is None and not self.truth_table:
            raise DataError(
                f"{self.task} is data: pass it, as in sculpture.explain(data), to say on which samples to look"
            )
        inputs = self.widths[0]
        if task is None and inputs > MAX_INPUTS:
            raise SpecError(f"a truth table of {inputs:,} inputs is too large; pass some of its rows")
        if task is None:
            x = input_table(inputs)
        else:
            problem = problem_of(task)
            x = problem.train.x if problem.boolean else torch.cat([problem.train.x, problem.val.x])
        whole = self.truth_table and len(x) == 2**inputs
        return explain(
            self.network, x, hierarchy=hierarchy or self.hierarchy, answers=self.answers, whole=whole
        )

    @cached_property
    def explanation(self) -> Explanation | None:
        """What it computes, for pages and pictures: None where that would need data, or take long."""
        if not self.truth_table or self.outcome == "not learned" or self.widths[0] > _MOST_EXPLAINED:
            return None
        try:
            return self.explain()
        except DovetailError:  # weights in a file may be anything
            return None

    def save(self, path: str | Path) -> Path:
        """Write the network and how it came about to a ``.safetensors`` file; `open_sculpture` reads it."""
        tensors = {name: tensor.contiguous() for name, tensor in self.network.state_dict().items()}
        tensors |= {f"{_MASK}{name}": mask.to(torch.uint8) for name, mask in self.masks.items()}
        if self.searches:
            tensors |= {f"{_SEARCHES}{name}": tensor for name, tensor in packed(self.searches).items()}
        content = {name: getattr(self, name) for name in SculptureFile.model_fields} | {
            "schema": SCHEMA,
            "dovetail": __version__,
            "history": [asdict(step) for step in self.history],
            "settings": self.settings.model_dump(mode="json"),
        }
        return write_tensors(path, tensors, {KEY: json.dumps(content)})

    def to_frame(self) -> pd.DataFrame:
        """Return its history as a table, with a row for each accepted step."""
        import pandas as pd

        return pd.DataFrame([asdict(step) for step in self.history], columns=list(Accepted.__annotations__))

    def to_dict(self) -> dict[str, object]:
        """Return everything but weights and searches as plain values, ready for JSON."""
        names = (
            "task", "seed", "outcome", "accuracy", "threshold", "units", "edges", "density", "unit_step", "edge_step",
            "tied", "image_shape", "input_names", "output_names", "fingerprint", "truth_table", "answers",
        )  # fmt: skip
        return {
            **{name: plain(getattr(self, name)) for name in names},
            "history": plain([asdict(step) for step in self.history]),
            "settings": self.settings.model_dump(mode="json"),
            "hierarchy": None if self.outcome == "not learned" else self.hierarchy.to_dict(),
        }

    def plot(self, **options: object) -> Axes:
        """Draw the network, its units coloured by module; options are those of `draw_hierarchy`."""
        return self.hierarchy.plot(**{"image_shape": self.image_shape, **options})

    def _html_pieces(self) -> Iterable[str]:
        what, *lines = self.describe().splitlines()
        yield text_html(what)
        if self.outcome == "not learned":
            yield text_html("\n".join(lines))
            return
        facts = {"units": "-".join(map(str, self.units)), "edges": self.edges, "density": self.density}
        yield facts_html(facts | {"accuracy": self.accuracy, "modules": len(self.hierarchy.modules)})
        yield drawing_html(self.hierarchy, image_shape=self.image_shape)

    def plot_history(self, ax: Axes | None = None) -> Axes:
        """Draw the units and edges left after every accepted step, by the round of training that it took."""
        ax = ax or new_axes((6, 3.5))
        trainings, offset = [], 0
        for step, following in zip_longest(self.history, self.history[1:]):
            trainings.append(offset + step.round)
            if following is not None and following.phase != step.phase:
                offset += step.round
                ax.axvline(offset + 0.5, color=GREY, linewidth=0.8, linestyle=":")
        for values, name, colour in (
            ([step.edges for step in self.history], "edges", LINE_COLOURS[0]),
            ([step.units for step in self.history], "hidden units", LINE_COLOURS[1]),
        ):
            ax.step(trainings, values, where="post", marker="o", markersize=3, color=colour, label=name)
        ax.set_yscale("log")
        ax.set_xlabel("round of training (dense, units, edges)")
        ax.set_ylabel("left")
        ax.set_title(f"{self.task}, seed {self.seed}", parse_math=False)
        ax.legend(frameon=False)
        return plain_frame(ax)

    def describe(self) -> str:
        """Return a few lines that say what it is and how it came about."""
        units = "-".join(map(str, self.units))
        lines = [f"{self.task}, seed {self.seed}: {self.outcome}"]
        if self.outcome == "not learned":
            short = (
                f"below {self.threshold:.2%}"
                if self.accuracy < self.threshold
                else "no more than a constant answer"
            )
            lines.append(
                f"  the dense network gets {self.accuracy:.2%} right, {short}: train it longer (epochs), or ask for "
                "less (threshold)"
            )
            return "\n".join(lines)
        network = f"{units} units, {self.edges} edges, density {self.density:.2%}"
        if not self.edges:
            network = "no edges are left: one answer that never changes does the task"
        lines.append(f"  network    {network}")
        lines.append(f"  accuracy   {self.accuracy:.2%} of validation, at least {self.threshold:.2%} asked")
        steps = [
            f"{what} {step:.1%}"
            for what, step in (("units", self.unit_step), ("edges", self.edge_step))
            if step is not None
        ]
        if self.searches and steps:
            ties = f" with {self.tied - 1} others" if self.tied > 1 else ""
            lines.append(f"  search     {', '.join(steps)}; the sparsest of {len(self.searches)}{ties}")
        lines.append("  modules    " + self.hierarchy.describe().replace("\n", "\n             "))
        return "\n".join(lines)

    def __repr__(self) -> str:
        units = "-".join(map(str, self.units))
        return (
            f"Sculpture({self.task!r}, seed={self.seed}, {self.outcome}, units={units}, edges={self.edges})"
        )


class SculptureFile(BaseModel):
    """What the file says beside weights and masks: fields of `Sculpture`, and the widths of its network."""

    widths: tuple[int, ...]
    task: str
    seed: NonNegativeInt
    outcome: Outcome
    accuracy: FiniteFloat
    threshold: FiniteFloat
    history: tuple[Accepted, ...]
    unit_step: float | None
    edge_step: float | None
    settings: dict[str, Any]
    image_shape: tuple[int, int] | None
    input_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None
    fingerprint: str = ""
    truth_table: bool | None = None
    answers: Answers | None = None


@in_float32()
def open_sculpture(path: str | Path) -> Sculpture:
    """Read a sculpted network back.

    Raises
    ------
    FileFormatError
        For a file that is missing, damaged, or something else.

    Examples
    --------
    >>> import dovetail as dt
    >>> from tempfile import TemporaryDirectory
    >>> sculpture = dt.sculpt("y1 = x1 & x2", [4], unit_steps=[0.5], edge_steps=[0.1], progress=False)
    >>> with TemporaryDirectory() as folder:
    ...     again = open_sculpture(sculpture.save(f"{folder}/and.safetensors"))
    >>> again.edges == sculpture.edges, again.hierarchy == sculpture.hierarchy, again.history == sculpture.history
    (True, True, True)
    """
    path = Path(path)
    check_plain(path)
    if not path.is_file():
        raise FileFormatError(f"there is no file {str(path)!r}")
    try:
        with opened_tensors(path) as file:
            text = manifest_in(file) or "null"
            tensors = tensors_in(file)
        content = parse(text)
        if isinstance(content, dict):
            refuse_newer(content, SCHEMA)
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA!r}; dovetail inspect says what it is")
        if not content.get("settings"):  # a file by dovetail 0.1, which has only how modules are detected
            names = ("modularity_threshold", "merge_threshold")
            content["settings"] = {
                "hidden": content["widths"][1:-1],
                **{name: content[name] for name in names},
            }
            text = json.dumps(content)
        fields = dict(read_as(SculptureFile, text))
        masks = {n.removeprefix(_MASK): t.bool() for n, t in tensors.items() if n.startswith(_MASK)}
        ends = {n.removeprefix(_SEARCHES): t for n, t in tensors.items() if n.startswith(_SEARCHES)}
        state = {name: tensor for name, tensor in tensors.items() if not name.startswith((_MASK, _SEARCHES))}
        widths = fields.pop("widths")
        if fields["truth_table"] is None:  # a file of before, when only truth tables had no names for outputs
            fields["truth_table"] = fields["output_names"] is None
            fields["answers"] = "bits" if fields["truth_table"] else "classes"
        for name, size in (("input_names", widths[0]), ("output_names", widths[-1])):
            if fields[name] is not None and len(fields[name]) != size:
                raise ValueError(f"its {name} do not fit its widths")
        build = builder_of(widths)
        # A short file may claim any widths: nothing is allocated before it bears them out.
        with torch.device("meta"):
            shapes = {name: tensor.shape for name, tensor in build().state_dict().items()}
        if shapes != {name: tensor.shape for name, tensor in state.items()}:
            raise ValueError("its weights do not fit its widths")
        network = build().eval()
        network.load_state_dict(state)
        if set(masks) != set(state) or any(masks[name].shape != state[name].shape for name in state):
            raise ValueError("its masks do not fit its weights")
        settings = SculptSettings(**fields["settings"])
        searches = unpacked(ends, sum(tensor.numel() for tensor in state.values() if tensor.dim() == 2))
        if searches and len(searches) != max(1, len(settings.unit_steps)) * max(1, len(settings.edge_steps)):
            raise ValueError("its searches are not as many as its settings say")
        return Sculpture(
            **fields | {"settings": settings},
            network=network,
            masks={name: masks[name] for name in network.state_dict()},
            searches=searches,
        )
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, RuntimeError, DovetailError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise FileFormatError(f"{str(path)!r} cannot be read as a sculpted network: {reason}") from error
