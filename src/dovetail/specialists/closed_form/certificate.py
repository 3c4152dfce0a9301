"""A certificate: that what is left of sums without some classes is what there would be without them, computed anew.

It is a computation, not a promise: the sums of what is left are made once by subtracting, once by adding up what is
left, and, where there is data, once from its samples; all three are hashed, and so are the solutions. It says as
plainly what it does not prove. Its file has a checksum, which tells damage and careless changes, not who wrote it:
whoever changes a file can write its checksum anew. What can be relied on is what `check` computes again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from ..._version import __version__
from ...data.dataset import Dataset
from ...data.preparation import Features, Numbers, Pictures, Preparation, Texts
from ...data.split import Split
from ...errors import DataError, FileFormatError, MisfitError
from ...io.fields import parse, read_as, refuse_newer
from ...io.plain import read_text
from ...io.write import write_whole
from ...result import Result
from ..class_sets import ClassName, class_id
from ..fitting import check_data
from .manifest import checksum
from .sums import Sums, sums_of_split

SCHEMA: Final = "dovetail.certificate/1"
Hash = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
Text = Annotated[str, Field(max_length=1000)]


class Certificate(BaseModel, Result):
    """What was computed about sums from which classes were taken out; made by `certify`.

    Attributes
    ----------
    dropped, kept : tuple of str
        The classes that were taken out, and those that are left.
    samples : dict
        How many samples are left, by class.
    basis : str
        Hash of how features are made.
    before, subtracted, added : str
        Hashes of the sums with the classes, of those from which they were subtracted, and of what is left, added up.
    fresh : str or None
        Hash of the sums of the samples of the data without the classes, where there is data.
    ridge, temperature : float
        What the sums are solved with.
    solution, fresh_solution : str
        Hashes of the solution of what is left, after subtracting and from the start.
    data : str
        Name and fingerprint of the data.
    proven, not_proven : tuple of str
        What follows from this, and what does not, in words.

    Examples
    --------
    >>> import dovetail as dt
    >>> data = dt.load("digits")
    >>> whole = sum(dt.sums(data, features=100))
    >>> certificate = certify(whole, ["3"], data)
    >>> certificate.holds, certificate.subtracted == certificate.fresh
    (True, True)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["dovetail.certificate/1"] = Field(default=SCHEMA, alias="schema")
    dovetail: Text = __version__
    dropped: tuple[str, ...]
    kept: tuple[str, ...]
    samples: dict[str, int]
    basis: Hash
    before: Hash
    subtracted: Hash
    added: Hash
    fresh: Hash | None = None
    ridge: float
    temperature: float
    solution: Hash
    fresh_solution: Hash
    data: Text = ""
    proven: tuple[Text, ...] = ()
    not_proven: tuple[Text, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all that was computed of what is left is the same to the bit."""
        same = {self.subtracted, self.added, self.subtracted if self.fresh is None else self.fresh}
        return len(same) == 1 and self.solution == self.fresh_solution

    def check(self, part: Sums, data: Dataset | None = None, *, whole: Sums | None = None) -> bool:
        """Return whether a part is what this was computed of, by computing it again.

        Sums are the same on every machine and are compared with what is written here. Solutions may differ in their
        last bits from one machine to another, so they are compared with each other, on this one. What is said of data
        is compared with the data, so it takes the data; and ``before`` and ``dropped`` are about what is no longer in
        the part, so nothing but the whole can tell whether they are right.

        Parameters
        ----------
        part : Sums
            What is left, as it was saved.
        data : Dataset, optional
            The data, to make its sums from the start once more.
        whole : Sums, optional
            The sums with the classes, to take them out once more.
        """
        _check_kinds(part, data)
        if whole is not None:
            _check_kinds(whole)
        same = (
            set(part.known) == set(self.kept)
            and part.counts == self.samples
            and part.blueprint.basis.digest == self.basis
            and (part.tuning.ridge, part.temperature) == (self.ridge, self.temperature)
        )
        if not (self.holds and self._agrees and same and self._says_what_follows(part)):
            return False
        if data is not None and not self._is_of(data):
            return False
        if whole is not None and not self._was_taken_out_of(whole):
            return False
        again = Sums(part.blueprint, part.contents, tuning=part.tuning)
        made = [again] if data is None else [again, fresh_sums(part, data)]
        return all(
            one.sums_digest == self.subtracted and one.solution_digest == part.solution_digest for one in made
        )

    @property
    def _agrees(self) -> bool:
        """Whether no class is both taken out and left, and data is named where there are sums of it."""
        apart = bool(self.dropped) and not set(self.dropped) & set(self.kept)
        return apart and (self.fresh is None) == (self.data == "")

    def _says_what_follows(self, part: Sums) -> bool:
        # Who words these otherwise raises the schema: what was written before is still compared with what it said.
        fresh = self.fresh is not None
        return self.proven == _proven(self.dropped, fresh) and self.not_proven == _not_proven(
            self.dropped, part, fresh
        )

    def _is_of(self, data: Dataset) -> bool:
        """Whether this was computed with some data, where it was with any."""
        return self.data in ("", _name(data)) and set(self.dropped) <= set(data.classes)

    def _was_taken_out_of(self, whole: Sums) -> bool:
        return (
            set(whole.known) == {*self.dropped, *self.kept}
            and whole.sums_digest == self.before
            and whole.without(*self.dropped).sums_digest == self.subtracted
        )

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, ready for JSON."""
        return {**self.model_dump(by_alias=True, mode="json"), "holds": self.holds}

    def save(self, path: str | Path) -> Path:
        """Write it as JSON, with a checksum over all of it."""
        content = self.to_dict()
        text = json.dumps({**content, "checksum": checksum(content)}, indent=2)
        return write_whole(path, lambda temporary: temporary.write_text(text + "\n", "utf-8"))

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Read one from its file.

        Raises
        ------
        FileFormatError
            When there is none, or it is damaged, or was altered after it was written.
        """
        path = Path(path)
        try:
            content = parse(read_text(path))
            if not isinstance(content, dict):
                raise FileFormatError("it is not a JSON object")
            refuse_newer(content, SCHEMA)
            written = content.pop("checksum", None)
            if written != checksum(content):
                raise FileFormatError("it does not match its checksum: it was altered or damaged")
            content.pop("holds", None)
            return read_as(cls, json.dumps(content))
        except (OSError, UnicodeDecodeError) as error:
            raise FileFormatError(f"cannot read {path}: {error}") from error
        except FileFormatError as error:
            raise FileFormatError(f"{path} is no certificate: {error}") from None

    def __repr__(self) -> str:
        return f"Certificate({self.finding})"

    __str__ = __repr__

    @property
    def finding(self) -> str:
        """What was found, in a sentence."""
        names = ", ".join(self.dropped)
        if not self.holds:
            return f"without {names} the sums are NOT what there would be without it: something was altered"
        how = "" if self.fresh is None else f", and what {self.data} gives without it"
        return f"without {names} sums and solution are, to the bit, what the others add up to{how}"


def certify(whole: Sums, classes: Sequence[ClassName], data: Dataset | None = None) -> Certificate:
    """Take classes out of sums, and compute whether what is left is what there would be had they never been there.

    Parameters
    ----------
    whole : Sums
        The sums with the classes.
    classes : sequence of int or str
        What to take out, by id or name.
    data : Dataset, optional
        The data that all of it was made of: sums of its training samples without the classes are then made from the
        start. Without it the certificate is only about what the parts hold.

    Raises
    ------
    MisfitError
        When it does not know such a class, or none would be taken out, or nothing would be left.

    Examples
    --------
    >>> import dovetail as dt
    >>> whole = sum(dt.sums(dt.load("digits"), features=100))
    >>> certify(whole, [3, 8])
    Certificate(without 3, 8 sums and solution are, to the bit, what the others add up to)
    """
    _check_kinds(whole, data)
    given = [classes] if isinstance(classes, str) or not isinstance(classes, Iterable) else classes
    names = list(dict.fromkeys(whole.classes[class_id(one, whole.classes)] for one in given))
    if not names:
        raise MisfitError(f"a certificate is of classes that are taken out; name one that {whole!r} knows")
    before = whole.sums_digest  # computes the sums with the classes, so that they are subtracted below
    left = whole.without(*names)
    again = Sums(
        left.blueprint, left.contents, tuning=whole.tuning
    )  # nothing that is computed is carried over
    fresh = None if data is None else fresh_sums(left, data)
    found = Certificate(
        dropped=tuple(names),
        kept=left.known,
        samples=left.counts,
        basis=whole.blueprint.basis.digest,
        before=before,
        subtracted=left.sums_digest,
        added=again.sums_digest,
        fresh=None if fresh is None else fresh.sums_digest,
        ridge=left.tuning.ridge,
        temperature=left.temperature,
        solution=left.solution_digest,
        fresh_solution=(fresh or again).solution_digest,
        data="" if data is None else _name(data),
        not_proven=_not_proven(names, left, fresh is not None),
    )
    return found.model_copy(update={"proven": _proven(names, fresh is not None)}) if found.holds else found


def _check_kinds(part: object, data: object = None) -> None:
    """Refuse what is not of sums, and data that is no Dataset."""
    if not isinstance(part, Sums):
        raise MisfitError(
            f"a certificate is of sums in one part, not of {type(part).__name__}: add a list with dovetail.compose, "
            "and open a file with dovetail.open; only leaving out of sums can be proven"
        )
    if data is not None and not isinstance(data, Dataset):
        raise DataError(
            f"give the Dataset that the sums were made of, such as dovetail.load('digits'), not {type(data).__name__}"
        )


def _name(data: Dataset) -> str:
    return f"{data.name} ({data.fingerprint})"


def fresh_sums(left: Sums, data: Dataset) -> Sums:
    """Return the sums of the training samples of the classes that are left, made anew from data."""
    check_data(left.blueprint, data)
    ours, theirs = left.preparation, data.preparation
    if (ours and ours.digest) != (theirs and theirs.digest):
        raise MisfitError(f"the samples of {data.name} are prepared in another way than those of {left!r}")
    wanted = {data.classes.index(name) for name in left.known}
    keep = [place for place, number in enumerate(data.train.y.tolist()) if number in wanted]
    rows = Split(data.train.x[keep], data.train.y[keep])
    made = sums_of_split(left.blueprint, rows)
    return Sums(left.blueprint, made.contents, tuning=left.tuning)


def _proven(names: Sequence[str], fresh: bool) -> tuple[str, ...]:
    what = ", ".join(names)
    found = [
        f"The sums without {what}, made by subtracting, are bit for bit those of the other classes added up: nothing "
        f"of {what} is left in the sums or in the solution that follows from them.",
        "On this machine, with this number of threads, the solution of both is the same to the last bit.",
    ]
    if fresh:
        found[0] = found[0].replace("added up:", "added up, and those of the data's samples without it:")
    return tuple(found)


def _not_proven(names: Sequence[str], left: Sums, fresh: bool) -> tuple[str, ...]:
    what, tuned = ", ".join(names), left.tuning.chosen_on
    found = not_proven_of_inputs(left.preparation, what)
    if tuned:
        found.append(
            f"That regularisation and temperature know nothing of {what}: these two numbers were chosen by {tuned}, "
            "and stay. tuned() chooses them anew."
        )
    if not fresh:
        found.append("That the parts hold what their owners say: no data was given to make the sums of anew.")
    return (*found, *not_proven_of_anything(what))


def not_proven_of_inputs(preparation: Preparation | None, what: str) -> list[str]:
    """Return what samples of a class may have left in how inputs of any part are made.

    Examples
    --------
    >>> not_proven_of_inputs(None, "3")
    []
    """
    found = []
    if isinstance(preparation, Features):
        found.append(
            f"That the trunk ({preparation.trunk}) never saw {what}: it was trained before, on data of its own."
        )
        if preparation.shift != (0.0,) or preparation.scale != (1.0,):
            found.append(
                f"That inputs know nothing of {what}: features are scaled by the mean and variance of all training "
                "samples, its own among them. With trunk.features(data, scale=False) they are left as they are."
            )
        preparation = preparation.before
    plain = preparation is None or isinstance(preparation, Pictures | Texts)
    if not plain and not (isinstance(preparation, Numbers) and preparation.scale == (1.0,)):
        found.append(
            f"That inputs know nothing of {what}: how raw samples are prepared (scales, categories, words) was found "
            "on all training samples, its own among them."
        )
    return found


def not_proven_of_anything(what: str) -> list[str]:
    """Return what nothing that is computed from a part can show.

    Examples
    --------
    >>> len(not_proven_of_anything("3"))
    2
    """
    return [
        f"That no copy of the samples of {what}, or of its part, is kept elsewhere.",
        f"That the name is gone: {what} stays in the class list.",
    ]
