"""Files that released versions wrote are read for ever: `released` has one of each kind and schema.

Nothing in that folder is ever changed or taken away. Whoever raises a schema puts a file of the new one beside the old.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import dovetail as dt
from dovetail.cluster.saved_audit import read_audit
from dovetail.engine.results_file import read_results
from dovetail.engine.run_folder import read_config
from dovetail.sculpting import Hierarchy, open_sculpture
from dovetail.specialists import Certificate, open_file

RELEASED = Path(__file__).with_name("released")
SUMS_DIGEST = "1f31b7a3fef0a6744ab9233c61bc4f67"
SUMS_OUTPUTS = [0.0, 0.0, 0.0, 8.3225, 0.0, 0.0, 0.0, 0.0, 10.7261, 0.0]
RAMP = torch.linspace(0, 10, 64).reshape(1, 1, 8, 8)


@pytest.mark.parametrize(
    ("file", "rewarded", "outputs"),
    [
        (
            "specialist.safetensors",
            (3,),
            [0.02, 0.0155, 0.0, -0.0287, 0.0177, 0.0191, 0.0225, 0.0211, 0.0, 0.0168],
        ),
        (
            "composite.safetensors",
            (3, 8),
            [0.4324, 0.3346, 0.0, -0.621, 0.3834, 0.4122, 0.6386, 0.4573, -1.2738, 0.3634],
        ),
        ("joined.safetensors", (0, 1), [0.0011, 0.0061, -0.0041, 0.001]),
    ],
)
def test_specialists_and_composites(file: str, rewarded: tuple[int, ...], outputs: list[float]) -> None:
    part = open_file(RELEASED / file)
    assert part.rewarded == rewarded
    assert part.module()(RAMP)[0].tolist() == pytest.approx(outputs, abs=1e-4)


def test_sums_and_a_certificate() -> None:
    part = dt.open(RELEASED / "sums.safetensors", dt.Sums)
    assert part.counts == {"3": 117, "8": 111}
    assert [type(content).__name__ for content in part.contents.values()] == ["Samples", "Moments"]
    assert part.sums_digest == SUMS_DIGEST
    assert part(RAMP)[0].tolist() == pytest.approx(SUMS_OUTPUTS, abs=1e-4)
    found = Certificate.open(RELEASED / "certificate.json")
    assert found.holds
    assert (found.dropped, found.kept) == (("8",), ("3",))
    assert found.check(part.without("8"), whole=part)


def test_sculpted_networks_and_modules() -> None:
    sculpture = open_sculpture(RELEASED / "sculpture.safetensors")
    assert (sculpture.outcome, sculpture.edges) == ("sculpted", 9)
    modules = Hierarchy.from_json((RELEASED / "modules.json").read_text("utf-8"))
    assert len(modules.modules) == 2
    assert modules == sculpture.hierarchy


def test_audits() -> None:
    audit = read_audit(RELEASED / "audit.json")
    assert (audit.k, len(audit.copies), audit.composition) == (2, 5, [[24, 4, 9], [25, 2, 1]])
    assert audit.ncut == pytest.approx(0.7128016973418887)
    assert len(audit.lesions) == 2
    assert audit.measured["data"] == "digits"


def test_features_of_a_trunk() -> None:
    features = dt.read(RELEASED / "features")
    assert (features.classes, len(features.train)) == (("cat", "dog", "owl"), 6)
    assert features.train.x[1].tolist() == pytest.approx([-1.2271, -0.8635, -0.7896], abs=1e-4)


def test_runs() -> None:
    assert read_config(RELEASED / "run")["recipe"] == "random-init"
    units = read_results(RELEASED / "run/results.jsonl")
    assert [one.version for one in units.values()] == ["0.1.0.dev0"] * 2
    assert units["5e3d01829c25c08572cf"].row["initial"]["measures"][0]["ncut"][0] == 4.925668
