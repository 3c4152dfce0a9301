"""The report on specialists and composites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...data import Dataset, load_here
from ...errors import DataError
from ...io.provenance import hardware, versions
from ...population.progress import ProgressBar
from ...specialists import Composite, Part, Score, Specialist
from ...specialists.data_for import data_for
from ...specialists.fitting import check_data, data_note
from ..page import Page
from ..sources import PartsSource
from ..team_measures import STEPS, TeamMeasures, measure_team, teams_of
from .made import add_made, distinct_text
from .part_sections import add_composites, add_confusions, add_merge_curves, add_paths, add_specialists

_MOST_TEAMS = 6
"""That are measured."""
_OTHER_DATA = (
    " Name it, or other data, with --data: a set with its options (NAME:option=value), a file or a folder."
)


def parts_page(
    source: PartsSource,
    *,
    measure: bool = True,
    data: str | None = None,
    samples: int | None = None,
    progress: bool = True,
) -> Page:
    """Return a page with what specialists know, what they confuse, how they merge, and how they were made."""
    teams = teams_of(source.specialists)
    measured, notes = _measured(teams, source.composites, data, samples, progress) if measure else ([], [])
    scores = {part: score for team in measured for part, score in team.scores.items()}
    page = Page(_title(source), _intro(source, measured))
    add_specialists(page, source.files, scores, "\n\n".join(notes))
    composites = _composites(source, measured)
    if composites:
        add_composites(page, composites, scores, _sizes(source))
    for note in (note for team in measured for note in team.notes):
        page.text(note)
    if scores:
        add_confusions(page, _by_name(composites, source.specialists, scores))
    curves = {team.name: team.curve for team in measured if team.curve is not None}
    if curves:
        add_merge_curves(page, curves if len(curves) > 1 else {"": next(iter(curves.values()))})
    steps = {team.name: team.steps for team in measured if team.steps}
    if steps:
        add_paths(page, steps, {team.name: team.pairs for team in measured if len(team.pairs) > 1})
    add_made(page, _facts(source, measured))
    return page


def _measured(
    teams: dict[str, list[Specialist]],
    composites: Sequence[Composite],
    data: str | None,
    samples: int | None,
    progress: bool,
) -> tuple[list[TeamMeasures], list[str]]:
    """Measure every team whose data is here; say why the others are not."""
    found, notes = [], []
    opened: dict[object, Dataset] = {}
    chosen = list(teams.items())[:_MOST_TEAMS]
    with ProgressBar("measuring", STEPS * len(chosen), show=progress, unit=None) as bar:
        for name, team in chosen:
            try:
                dataset = _data_of(team[0], data, opened)
            except DataError as error:
                if len(chosen) == 1 and data is not None:
                    raise
                notes.append(f"Not measured ({name}): {error}.{'' if data else _OTHER_DATA}")
                continue
            if note := data_note(team[0].provenance, dataset):
                notes.append(f"Measured ({name}), but {note}.{'' if data else _OTHER_DATA}")
            mine = [part for part in composites if _is_of(part, team)]
            found.append(
                measure_team(
                    name, team, mine, dataset, samples=samples, tell=lambda step: bar.advance(1, step)
                )
            )
    if data is not None and not found:
        raise DataError(" ".join(notes))
    if len(teams) > len(chosen):
        notes.append(f"{len(teams) - len(chosen)} more teams are not measured here; report on them apart.")
    return found, notes


def _data_of(part: Specialist, text: str | None, opened: dict[object, Dataset]) -> Dataset:
    """Return what to measure a team on, by one of its members: what someone has asked for, or what its file names."""
    blueprint = part.blueprint
    if text is None:
        if blueprint.preparation is not None:  # a known set of that name would be something else
            raise DataError(f"{part.provenance.data!r:.100} is data of somebody's own")
        # What a file says is a name: options in it could ask for any amount of generated data.
        dataset = load_here(part.provenance.data)
        check_data(blueprint, dataset)
        return dataset
    alike = (blueprint.preparation and blueprint.preparation.digest, blueprint.classes, blueprint.input_shape)
    if alike not in opened:
        opened[alike] = data_for(blueprint, text, download=False)
    return opened[alike]


def _is_of(composite: Composite, team: Sequence[Specialist]) -> bool:
    """Whether a composite is measured beside a team: it has the same blueprint and data."""
    first, other = composite.specialists[0], team[0]
    return (first.blueprint, first.provenance.fingerprint) == (other.blueprint, other.provenance.fingerprint)


def _composites(source: PartsSource, measured: Sequence[TeamMeasures]) -> dict[str, Part]:
    """Return composites by name: those in files, and the sums that were made for the report."""
    found: dict[str, Part] = {
        _short(file.name): file.part for file in source.files if isinstance(file.part, Composite)
    }
    for team in measured:
        for name, whole in team.sums.items():
            if whole not in found.values():
                found[f"{name} ({team.name})" if len(measured) > 1 else name] = whole
    return found


def _by_name(
    composites: dict[str, Part], specialists: Iterable[Specialist], scores: dict[Part, Score]
) -> dict[str, Score]:
    """Return scores by names that tell parts apart, composites first."""
    found = {name: scores[part] for name, part in composites.items() if part in scores}
    for part in specialists:
        if part in scores:
            names = (part.knows, f"{part.knows}, seed {part.seed}", f"{part.knows}, {part.digest[:6]}")
            found[next((name for name in names if name not in found), part.digest)] = scores[part]
    return found


def _sizes(source: PartsSource) -> dict[str, int]:
    """Return the bytes of composites that are in files, by the names that these have in the report."""
    return {_short(file.name): file.size for file in source.files if isinstance(file.part, Composite)}


def _short(name: str) -> str:
    return name.removesuffix(".safetensors")


def _title(source: PartsSource) -> str:
    if len(source.files) == 1:
        (file,) = source.files
        kind = "A composite" if isinstance(file.part, Composite) else "A specialist"
        return f"{kind}: {_short(file.name)}"
    return f"{len(source.specialists)} specialists"


def _intro(source: PartsSource, measured: Sequence[TeamMeasures]) -> str:
    first = source.specialists[0]
    text = (
        "Each specialist is a sparse network that is right on its own classes and undecided on all others; specialists "
        f"are put together by adding their weights. Network {first.blueprint.net}, data {first.provenance.data}, "
        f"{len(first.classes)} classes."
    )
    for team in measured:
        text += f"\n\nMeasured on {team.samples} test samples of {team.data}."
    return text


def _facts(source: PartsSource, measured: Sequence[TeamMeasures]) -> dict[str, object]:
    """Return what all files say alike, or the few values that occur."""
    parts = source.specialists
    facts: dict[str, list[object]] = {
        "network": [str(part.blueprint.net) for part in parts],
        "input shape": [" × ".join(map(str, part.blueprint.input_shape)) for part in parts],
        "temperature": [part.blueprint.temperature for part in parts],
        "data": [part.provenance.data for part in parts],
        "data fingerprint": [part.provenance.fingerprint for part in parts],
        "seeds": [part.seed for part in parts],
        "θ0 (hash)": [part.provenance.start[:16] for part in parts],
    }
    for part in parts:
        for name, value in part.provenance.training.items():
            if name not in ("net", "temperature"):
                # In slots weights are 0 without being pruned, and specialists are sparser than was asked for.
                facts.setdefault("sparsity asked for" if name == "sparsity" else name, []).append(value)
    facts["dovetail"] = [file.version for file in source.files]
    made: dict[str, object] = {name: distinct_text(values) for name, values in facts.items()}
    if measured:
        made["measuring took"] = f"{sum(team.seconds for team in measured):.1f} s"
        made["measured on"] = hardware()
        made["measured with"] = ", ".join(f"{name} {version}" for name, version in versions().items())
    return made
