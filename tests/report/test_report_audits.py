"""Reports on several audits: before and after, a sweep of k, a zoo."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import dovetail as dt
from dovetail.cluster.audit_folder import FILE
from dovetail.cluster.corrections import benjamini_hochberg, holm
from dovetail.cluster.saved_audit import SavedAudit
from dovetail.errors import FileFormatError, SpecError
from dovetail.report import build_report
from dovetail.report.sources import AuditsSource, open_source

from .conftest import dovetail
from .test_report import rows


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of a network with two planted modules, by the command line."""
    folder = tmp_path_factory.mktemp("swept")
    rng = np.random.default_rng(0)
    blocks = (np.kron(np.eye(2), np.ones((6, 6))) + 0.02).astype(np.float32)
    weights = {f"fc{number}.weight": blocks * rng.random(blocks.shape, dtype=np.float32) for number in (1, 2)}
    save_file(weights, folder / "net.safetensors")
    dovetail("audit", folder / "net.safetensors", "--sweep", "2,3", "--shuffles", 20, "-o", folder / "audits")
    return folder / "audits"


def test_a_sweep_writes_an_audit_for_each_number(swept: Path) -> None:
    assert sorted(path.name for path in swept.iterdir()) == ["k-02", "k-03"]
    alone = dt.open(swept / "k-02", SavedAudit)
    assert (alone.k, len(alone.copies)) == (2, 20)


def test_a_sweep_says_what_trying_several_costs(swept: Path) -> None:
    net = swept.parent / "net.safetensors"
    printed = dovetail("audit", net, "--sweep", "2,3", "--shuffles", 20)
    assert "corrected for trying them all" in printed
    assert "stands out most with 2 clusters" in printed
    answer = json.loads(dovetail("audit", net, "--sweep", "3,2", "--shuffles", 20, "--json"))
    assert answer["sweep"]["best_k"] == 2
    assert [audit["k"] for audit in answer["sweep"]["audits"]] == [2, 3]
    assert answer["sweep"]["p_value"] == 1 / 21
    with pytest.raises(SpecError, match="--sweep takes numbers of clusters"):
        dovetail("audit", net, "--sweep", "2-4")
    with pytest.raises(SpecError, match="not with --sweep"):
        dovetail("audit", net, "--sweep", "2,3", "--lesion", "digits")


def test_audits_stand_in_comparable_columns(swept: Path) -> None:
    source = open_source(swept)
    assert isinstance(source, AuditsSource)
    assert list(source.audits) == ["k-02", "k-03"]
    page = build_report(swept)
    assert page.sections[:2] == ["Side by side", "Cluster composition by layer"]
    table = {row[0]: row[1:] for row in rows(page) if row[0] in source.audits}
    p_values = [audit.null.p_value for audit in source.audits.values()]
    for place, (name, audit) in enumerate(source.audits.items()):
        k, units, ncut = table[name][:3]
        assert (k, units) == (str(audit.k), "36")
        assert float(ncut) == pytest.approx(audit.ncut, abs=1e-4)
        p, q, adjusted = (float(text) for text in table[name][7:10])
        assert (p, q, adjusted) == pytest.approx(
            (p_values[place], benjamini_hochberg(p_values)[place], holm(p_values)[place]), abs=1e-4
        )


def test_what_was_measured_before_and_after_need_not_be_alike(swept: Path, tmp_path: Path) -> None:
    for name, source in (("before", "k-02"), ("after", "k-03")):
        (tmp_path / name).mkdir()
        content = json.loads((swept / source / FILE).read_text())
        content["checkpoint"] = f"{name}.pt"
        content["clusterability"].pop("depth")  # audits of earlier versions say nothing of depth
        (tmp_path / name / FILE).write_text(json.dumps(content))
    page = build_report(tmp_path)
    assert "2 networks" in page.intro
    table = {row[0]: row for row in rows(page) if row[0] in ("before", "after")}
    assert table["before"][-3] == table["before"][-2] == "–"
    assert ("checkpoint", "after.pt; before.pt") in [tuple(row) for row in rows(page)]


def test_a_damaged_audit_is_named_and_the_others_are_shown(swept: Path, tmp_path: Path) -> None:
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
    (tmp_path / "good" / FILE).write_bytes((swept / "k-02" / FILE).read_bytes())
    (tmp_path / "bad" / FILE).write_text("{}")
    page = build_report(tmp_path)
    assert any("bad" in text for text in page.left_out)
    (tmp_path / "good" / FILE).write_text("[]")
    with pytest.raises(FileFormatError):
        build_report(tmp_path)


def test_names_are_text_and_not_markup(swept: Path, tmp_path: Path) -> None:
    for name in ("<b>one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).write_bytes((swept / "k-02" / FILE).read_bytes())
    assert "<b>one" not in build_report(tmp_path).to_html()
