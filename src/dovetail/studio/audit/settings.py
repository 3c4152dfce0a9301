"""What an audit can be asked: the settings of ``dovetail audit``, with their limits here."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ...cluster.audit_folder import FILE, check_folder
from ...cluster.settings import OUTPUT, Shuffle
from ...cluster.settings import AuditSettings as Declared
from ...errors import DovetailError
from ..folder import StudioFolder

ENDINGS = (".safetensors", ".pt", ".pth", ".bin", ".ckpt")
"""How files of weights are called."""


def _declared(name: str, most: int | None = None) -> Any:
    """Return a setting of audits as it is declared, with a limit to what the studio may be asked for."""
    field = Declared.model_fields[name]
    least = next((mark.ge for mark in field.metadata if hasattr(mark, "ge")), None)
    return Field(default=field.default, ge=least, le=most, description=field.description)


class AuditSettings(BaseModel):
    """A file to audit, and how. Names of files and folders are relative to the studio's folder."""

    model_config = ConfigDict(extra="forbid")

    file: str = Field(max_length=1_000)
    k: int = _declared("k", most=1_000)
    shuffles: int = _declared("shuffles", most=10_000)
    shuffle: Shuffle = _declared("shuffle")
    seed: int = _declared("seed", most=2**32 - 1)
    output: str | None = Field(default=None, max_length=1_000, description=OUTPUT)

    @property
    def command(self) -> str:
        """The command that does the same, from the studio's folder."""
        words = ["dovetail", "audit", self.file, "--k", str(self.k), "--shuffles", str(self.shuffles)]
        words += ["--shuffle", self.shuffle, "--seed", str(self.seed)]
        return shlex.join(words + (["-o", self.output] if self.output else []))

    def check_files(self, folder: StudioFolder) -> tuple[Path, Path | None]:
        """Return the file and the folder to save into, or refuse them before any work is done."""
        path = folder.existing(self.file)
        if not self.output:
            return path, None
        output = folder.resolve(self.output)
        check_folder(output)
        if output.is_dir() and any(output.iterdir()) and not (output / FILE).is_file():
            raise DovetailError(
                f"{self.output!r} holds other files, and no audit; name a folder that is new, empty or an audit's"
            )
        return path, output


def settings_of_form() -> dict[str, Any]:
    """Return the settings that a form asks for, besides the file and where to save, each as JSON schema has it.

    Examples
    --------
    >>> list(settings_of_form())
    ['k', 'shuffles', 'shuffle', 'seed']
    """
    schema: dict[str, Any] = AuditSettings.model_json_schema()["properties"]
    return {name: entry for name, entry in schema.items() if name not in ("file", "output")}
