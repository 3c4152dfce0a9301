"""Settings of an audit: how a network is clustered and compared, declared once for calls, commands and the studio."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from ..settings import Settings, Whole

Shuffle: TypeAlias = Literal["layer", "layer-nonzero"]
Method: TypeAlias = Literal["spectral", "leiden"]

OUTPUT = "Folder for pictures and audit.json."


class AuditSettings(Settings):
    """How `dovetail.clusterability` clusters a network.

    Examples
    --------
    >>> AuditSettings(k=1)
    Traceback (most recent call last):
    dovetail.errors.SpecError: k must be at least 2, not 1: number of clusters
    """

    k: Whole = Field(default=12, ge=2, description="Number of clusters.")
    shuffles: Whole = Field(default=50, ge=0, description="Shuffled copies to compare with.")
    shuffle: Shuffle = Field(
        default="layer", description="Shuffle all weights of each layer, or only those that are not 0"
    )
    seed: Whole = Field(default=0, ge=0, description="Decides shuffles, clusters and random sets.")
    method: Method = Field(default="spectral", description="How clusters are found")
    all_units: bool = Field(
        default=False, description="Keep units that are as good as dead beside others of their layer."
    )
    starts: Whole = Field(default=25, ge=1, description="Random starts of k-means.")
    stability: Whole = Field(default=5, ge=0, description="How many more times to cluster, with other seeds.")
