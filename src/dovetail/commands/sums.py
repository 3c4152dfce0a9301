"""``dovetail sums``: parts in closed form, one file for each class, made without training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import FileFormatError
from ..specialists.closed_form.settings import SumsSettings
from .files import check_free
from .options import DataName, Device, Json, TrunkName, with_settings
from .output import print_json, print_table, say, table_of
from .stopping import safe_when_stopped

if TYPE_CHECKING:
    from ..specialists import Sums


@with_settings(SumsSettings, before="device")
def sums(
    data: DataName,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the parts' files.")],
    rewarded: Annotated[
        list[str] | None,
        typer.Option(
            "--rewarded",
            "-r",
            metavar="CLASSES",
            help="Classes that one part is to know, such as 3 or 0,1; repeat it for more.",
            show_default="each class alone",
        ),
    ] = None,
    trunk: TrunkName = None,
    device: Device = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what the folder has.")] = False,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Make a part for each class of DATA in closed form: sums over its own samples, together a ridge regression.

    Nothing is trained, and no part knows anything of other classes. dovetail compose adds parts, and leaves classes out
    as if they had never been there; with --certificate it writes down what shows that. Features are taken as the trunk
    gives them. Parts that the folder has already, of just these sums, stay as they are.

    Example:

        dovetail sums digits -o sums/

        dovetail sums intents.jsonl --trunk sentence:minilm/ -o sums/
    """
    import pandas as pd

    from ..specialists import sums as make
    from ..specialists.class_sets import sets_of_texts
    from ..specialists.files import file_name, make_folder
    from .trunk import open_through, open_trunk

    dataset = open_through(open_trunk(trunk), data, device=device, quiet=as_json, scale=False)
    sets = None if rewarded is None else sets_of_texts(rewarded, dataset.classes)
    with safe_when_stopped("parts", output, lambda: len([*output.glob(_file_name("*"))])):
        parts = make(dataset, sets, **options)
        folder = make_folder(output)
        paths = [
            folder / _file_name(file_name(dataset.name, part.rewarded, options["seed"])) for part in parts
        ]
        missing = [(part, path) for part, path in zip(parts, paths, strict=True) if not _is_in(path, part)]
        for _, path in missing:
            check_free(path, force=force)
        for part, path in missing:
            part.save(path)
    rows = [
        {
            "file": path.name,
            "classes": part.knows,
            "samples": part.samples,
            "kB": round(path.stat().st_size / 1000, 1),
        }
        for part, path in zip(parts, paths, strict=True)
    ]
    if as_json:
        print_json({"folder": str(output), "basis": parts[0].blueprint.basis.model_dump(), "parts": rows})
        return
    print_table(table_of(pd.DataFrame(rows), f"In {output}", digits=1))
    say(f"Each is of {parts[0].blueprint.basis}. Add them: dovetail compose {output}")


def _file_name(of_specialist: str) -> str:
    """Return what the file of a part is called, by what that of a specialist would be."""
    return f"sums-{of_specialist}"


def _is_in(path: Path, part: Sums) -> bool:
    """Whether a file is there and holds just this part."""
    from ..specialists.files import open_part

    try:
        return path.is_file() and open_part(path) == part
    except FileFormatError:
        return False
