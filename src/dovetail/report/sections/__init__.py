"""The sections of reports: each file puts one of them on a page, from results alone, so that any page can have it."""

from __future__ import annotations

from .clusters import add_composition, add_lesions
from .confusions import add_confusions
from .connectivity import add_paths
from .made import add_made
from .merging import add_merge_curves
from .modules import add_modules, add_sculptures
from .null import add_null
from .pictures import add_pictures
from .results import add_results
from .specialists import add_composites, add_specialists

__all__ = [
    "add_composites",
    "add_composition",
    "add_confusions",
    "add_lesions",
    "add_made",
    "add_merge_curves",
    "add_modules",
    "add_null",
    "add_paths",
    "add_pictures",
    "add_results",
    "add_sculptures",
    "add_specialists",
]
