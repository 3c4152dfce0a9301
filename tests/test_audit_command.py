"""The verb audit of the command line: what it can look at, what it says, and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli import app
from dovetail.errors import DovetailError, FileFormatError, SpecError

from .test_commands import run

FEW = ("--k", "3", "--shuffles", "4")
BUILDERS = """
import torch
from torch import nn

NUMBER = 3

def dense():
    print("building")
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10))

def conv():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(128, 10)
    )

ready = dense()

def nothing():
    return [1, 2]

def broken():
    raise ValueError("no such luck")

def normed():
    return nn.Sequential(nn.Linear(64, 16), nn.LayerNorm(16), nn.Linear(16, 10))

def single():
    return nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(216, 10))

def needy(width):
    return nn.Linear(width, width)
"""
LANGUAGE = """
import torch
from torch import nn

class Language(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.inner, self.outer = nn.Embedding(9, 6), nn.Linear(6, 8), nn.Linear(8, 6)
        self.out = nn.Linear(6, 4)

    def forward(self, ids):
        x = self.embed(ids)
        return self.out(x + self.outer(self.inner(x).relu()))

def build():
    return Language()
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with builders and their weights, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "audited", raising=False)
    (tmp_path / "audited.py").write_text(BUILDERS)
    space: dict[str, object] = {}
    exec(BUILDERS, space)
    for name in ("dense", "conv"):
        network = space[name]()  # type: ignore[operator]
        torch.save(network.state_dict(), tmp_path / f"{name}.pt")
        save_file(network.state_dict(), tmp_path / f"{name}.safetensors")
    torch.save(dt.build_net("mlp:16", (64,), 10, seed=0).state_dict(), tmp_path / "spec.pt")
    return tmp_path


def ncut_of(*arguments: str | Path) -> float:
    answer = json.loads(run("audit", *arguments, *FEW, "--json"))
    return float(answer["clusterability"]["ncut"])


def test_every_way_to_name_a_network_gives_the_same(here: Path) -> None:
    file = ncut_of(here / "dense.pt")
    assert ncut_of("dense.safetensors") == pytest.approx(file)
    assert ncut_of("audited:dense") == pytest.approx(file)
    assert ncut_of("audited:ready") == pytest.approx(file)
    assert ncut_of("audited:dense", "--weights", "dense.pt") == pytest.approx(file)
    parallel = {f"module.{name}": tensor for name, tensor in torch.load("dense.pt").items()}
    torch.save(parallel, "parallel.pt")
    assert ncut_of("audited:dense", "--weights", "parallel.pt") == pytest.approx(file)
    conv = ncut_of("audited:conv", "--input-shape", "1x8x8")
    assert ncut_of("conv.safetensors") == pytest.approx(conv)
    assert ncut_of("audited:conv", "--input-shape", "1x8x8", "--convention", "mlp") != pytest.approx(conv)


def test_networks_of_a_spec_and_files_of_ours(here: Path) -> None:
    network = dt.build_net("mlp:16", (1, 8, 8), 10, seed=0)
    torch.save(network.state_dict(), "mlp.pt")
    from_spec = ncut_of("net:mlp:16", "--weights", "mlp.pt", "--input-shape", "1x8x8")
    assert from_spec == pytest.approx(ncut_of("mlp.pt"))
    team = dt.train_specialists(
        dt.load("digits"), "mlp:16", [3, 8], epochs=1, slots=True, sparsity=0.5, progress=False
    )
    whole = dt.compose(team)
    whole.save("whole.safetensors")
    torch.save(whole.state_dict(), "whole.pt")
    assert ncut_of("whole.safetensors") == pytest.approx(ncut_of("whole.pt"))
    dt.compose(team, "logits").save("logits.safetensors")
    with pytest.raises(SpecError, match="one by one"):
        run("audit", "logits.safetensors")
    sculpture = dt.sculpt("y1 = x1 & x2", [6], unit_steps=[], edge_steps=[0.1], progress=False)
    sculpture.save("sculpture.safetensors")
    assert ncut_of("sculpture.safetensors", "--k", "2") >= 0


def test_a_verdict_a_table_and_a_folder(here: Path) -> None:
    folder = here / "out" / "audit"
    printed = run("audit", "dense.pt", *FEW, "-o", folder)
    assert "n-cut" in printed
    assert "4 shuffled copies" in printed
    assert "input" in printed
    found = json.loads(run("audit", "dense.pt", *FEW, "--json"))["clusterability"]
    cuts = found["stability"]["ncuts"]
    assert (
        f"1 connected component; with other seeds n-cut {min(cuts):.3f} to {max(cuts):.3f}, "
        f"agreement {found['stability']['agreement']:.2f}"
    ) in printed
    torch.save({"0.weight": torch.eye(4), "1.weight": torch.eye(4)}, "islands.pt")
    assert "\n4 connected components; with" in run("audit", "islands.pt", *FEW)
    names = {path.name for path in folder.iterdir()}
    assert names == {"null.png", "clusters.png", "embedding.png", "audit.json"}
    answer = json.loads((folder / "audit.json").read_text())
    assert answer["clusterability"]["schema"] == "dovetail.clusterability/1"
    assert answer["lesions"] is None
    assert len(answer["clusterability"]["null"]) == 4
    assert (folder / "null.png").read_bytes().startswith(b"\x89PNG")


def test_lesions_come_with_the_audit(here: Path) -> None:
    folder = here / "out"
    printed = run("audit", "audited:conv", *FEW, "--lesion", "digits", "--draws", "3", "-o", folder)
    assert "Without each cluster, on the test split of digits" in printed
    assert "3 for each cluster" in printed
    assert (folder / "lesions.png").exists()
    of_builder = json.loads(
        run("audit", "audited:dense", *FEW, "--lesion", "digits", "--draws", "3", "--json")
    )
    of_file = json.loads(run("audit", "dense.pt", *FEW, "--lesion", "digits", "--draws", "3", "--json"))
    assert of_file["lesions"].pop("assumed") == "dense layers with ReLU between them"
    assert of_builder["lesions"].pop("assumed") is None
    assert of_file["lesions"] == of_builder["lesions"]
    few = run("audit", "dense.pt", *FEW, "--lesion", "digits", "--samples", "7", "--device", "cpu", "--json")
    assert json.loads(few)["lesions"]["samples"] == 7
    run("audit", "dense.pt", *FEW, "-o", folder)
    assert not (folder / "lesions.png").exists()  # what it showed is no longer what the folder says


def test_what_is_assumed_of_weights_without_a_network_is_said(here: Path) -> None:
    lesion = ("--lesion", "digits", "--draws", "2", "--samples", "20")
    printed = run("audit", "dense.pt", *FEW, *lesion)
    accuracy = printed.split("accuracy of the whole network ")[1][:6]
    assert f"Assumed: dense layers with ReLU between them; if {accuracy} is not your" in printed
    assert "Assumed" not in run("audit", "audited:dense", *FEW, *lesion)


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        (nn.Sequential(nn.Conv2d(1, 6, 3), nn.Conv2d(6, 6, 3)), "'0.weight' is a convolution"),
        (nn.Sequential(nn.Linear(64, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 10)), "'1.weight' is"),
        (nn.Sequential(nn.Linear(64, 16), nn.BatchNorm1d(16, affine=False), nn.Linear(16, 10)), "batch norm"),
        (nn.Sequential(nn.Linear(64, 16, bias=False), nn.LayerNorm(16), nn.Linear(16, 10)), "'1.weight' is"),
        (nn.Sequential(nn.Linear(64, 16), nn.PReLU(), nn.Linear(16, 10)), "'1.weight' is"),
    ],
)
def test_weights_of_another_network_than_assumed_are_not_measured(
    network: nn.Module, reason: str, here: Path
) -> None:
    torch.save(network.state_dict(), "other.pt")
    with pytest.raises(SpecError, match=f"--lesion needs a network.*{reason}.*name a builder") as raised:
        run("audit", "other.pt", *FEW, "--lesion", "digits")
    assert "sculpt" not in str(raised.value)
    assert "n-cut" in run("audit", "other.pt", *FEW)


def test_the_order_in_which_layers_were_read_is_said(here: Path) -> None:
    order = "each from the one before: 1 -> 3; shortcuts and branches are not in a file"
    assert f"Layers read from the file, {order}" in run("audit", "dense.pt", *FEW)
    assert f"Layers read from the file, sorted by name, {order}" in run("audit", "dense.safetensors", *FEW)
    assert "Layers read" not in run("audit", "audited:dense", *FEW)
    answer = json.loads(run("audit", "dense.safetensors", *FEW, "--json"))
    assert (answer["layers_read"], answer["sorted_by_name"]) == (["1", "3"], True)
    save_file({"last": torch.zeros(4, 5), "middle": torch.zeros(5, 6)}, "names.safetensors")
    for more in ((), ("--lesion", "digits")):
        with pytest.raises(DovetailError, match=r"form a chain.*builder.*sorted by name"):
            run("audit", "names.safetensors", *FEW, *more)


def test_specialists_are_measured_on_the_classes_that_they_are_for(here: Path) -> None:
    data = dt.load("digits")
    team = dt.train_specialists(data, "mlp:16", [[3, 8]], epochs=2, device="cpu", progress=False)
    team[0].save("part.safetensors")
    lesion = ("--lesion", "digits", "--draws", "2")
    answer = json.loads(run("audit", "part.safetensors", *FEW, *lesion, "--json"))["lesions"]
    score = team[0].evaluate(data.test)
    assert answer["accuracy"] == pytest.approx(score.rewarded_accuracy)
    assert answer["samples"] == int(((data.test.y == 3) | (data.test.y == 8)).sum())
    assert answer["classes"] == ["3", "8"]
    assert "classes that it is for, 3, 8:" in run("audit", "part.safetensors", *FEW, *lesion)
    with pytest.raises(DovetailError, match="lines here has other classes"):
        run("audit", "part.safetensors", *FEW, "--lesion", "lines:train_samples=20,test_samples=20")


def test_a_cluster_that_hurts_no_class_hits_none(here: Path) -> None:
    # The last bias decides alone, so no accuracy changes whatever is taken out.
    torch.save({"a": torch.rand(8, 64), "b": 1e-9 * torch.rand(10, 8), "bias": torch.arange(10.0)}, "sure.pt")
    printed = run("audit", "sure.pt", *FEW, "--lesion", "digits", "--draws", "2")
    table = printed[printed.index("Without each cluster") :]
    assert table.count("–") == 3
    assert "random +0.00" not in table
    assert "random -0.00" not in table


def test_many_clusters_stand_below_each_other_and_are_cut(here: Path) -> None:
    torch.save({"0.weight": torch.rand(90, 90), "1.weight": torch.rand(90, 90)}, "wide.pt")
    printed = run("audit", "wide.pt", "--k", "100", "--shuffles", "0", "-o", "out")
    assert "80 more clusters; --json has all." in printed
    assert "Units by cluster and layer" in printed
    assert max(map(len, printed[printed.index("Units by") :].splitlines())) <= 400
    assert {path.name for path in Path("out").iterdir()} == {"clusters.png", "embedding.png", "audit.json"}
    long = {f"{'a_long_name_' * 4}{number}.weight": torch.rand(20, 20) for number in range(12)}
    torch.save(long, "long.pt")
    printed = run("audit", "long.pt", "--k", "100", "--shuffles", "0")
    table = printed[printed.index("Units by layer and cluster") :]
    assert f"{'a_long_name_' * 4}11" in table
    assert "more clusters; --json has all." in table


def test_nothing_is_made_before_there_is_something_to_write(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dovetail.cluster.clusterability", stopped)
    done = CliRunner().invoke(app, ["audit", "dense.pt", "-o", "new/folder"])
    assert done.exit_code == 130
    assert not Path("new").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.pt",), "is not there; name a file of weights"),
        ((".",), "is a folder"),
        (("nowhere.at.all:net",), "no module 'nowhere'"),
        (("audited:dens",), "did you mean 'dense'"),
        (("audited:NUMBER",), "is a int; a builder"),
        (("audited:nothing",), "returned a list; it must return the network"),
        (("audited:broken",), "failed: ValueError: no such luck"),
        (("audited:needy",), "without arguments failed: TypeError"),
        (("audited:dense", "--weights", "missing.pt"), "'missing.pt' is not there"),
        (("audited:dense", "--weights", "conv.pt"), "does not fit the network"),
        (("dense.pt", "--weights", "dense.pt"), "a file of weights already"),
        (("dense.pt", "--input-shape", "3xx"), "such as 3x32x32"),
        (("net:mlp:16",), "needs --weights"),
        (("net:mlp:16", "--weights", "dense.pt"), "needs --input-shape"),
        (("net:mlp:16", "--weights", "dense.pt", "--input-shape", "64"), "no 'output.weight'"),
        (("net:mpl:16", "--weights", "spec.pt", "--input-shape", "64"), "did you mean 'mlp'"),
        (("net:small-cn", "--weights", "dense.pt", "--input-shape", "64"), "did you mean 'small-cnn'"),
        (("net:small-cn",), "did you mean 'small-cnn'"),
        (("audited.py:dense",), "by its module: audited:dense"),
        (("./models/mine.py:build",), "by its module: models.mine:build"),
        (("dense.pt", "--samples", "9"), "--samples goes with --lesion"),
        (("dense.pt", "--draws", "20"), "--draws goes with --lesion"),
        (("dense.pt", "--device", "cpu"), "--device goes with --lesion"),
        (("dense.pt", "--k", "1"), "at least 2"),
        (("dense.pt", "--k", "5000"), "5000"),
        (("dense.pt", "--shuffles", "-1"), "shuffles"),
        (("dense.pt", "--lesion", "digts"), "did you mean 'digits'"),
        (("dense.pt", "--lesion", "digits", "--draws", "0"), "draws"),
        (("dense.pt", "--lesion", "digits", "--samples", "0"), "--samples is how many"),
        (("dense.pt", "--lesion", "digits", "--device", "tpu"), "tpu"),
        (("dense.pt", "--lesion", "lines:train_samples=20,test_samples=20"), "cannot take samples of shape"),
        (
            ("dense.pt", "--lesion", "polynomials:samples=40"),
            "and polynomials has values",
        ),
        (("audited:conv",), "with Conv2d needs --input-shape, for instance 3x32x32"),
        (("audited:normed",), "with LayerNorm needs --input-shape, for instance 3x32x32"),
        (("audited:single", "--input-shape", "1x8x8"), "has some only with --convention mlp"),
    ],
)
def test_what_is_wrong_is_named(arguments: tuple[str, ...], message: str, here: Path) -> None:
    with pytest.raises(DovetailError, match=message):
        run("audit", *arguments)


def test_damaged_and_foreign_files_are_named(here: Path) -> None:
    whole = (here / "dense.safetensors").read_bytes()
    for name, content in {
        "cut.safetensors": whole[: len(whole) // 2],
        "empty.pt": b"",
        "text.pt": b"hello",
    }.items():
        (here / name).write_bytes(content)
        with pytest.raises(FileFormatError, match=name):
            run("audit", name)
    (here / "crash.py").write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(DovetailError, match="importing 'crash' failed: SystemExit"):
        run("audit", "crash:net")
    (here / "needs.py").write_text("import a_package_nobody_has\n")
    with pytest.raises(DovetailError, match=r"importing 'needs' failed.*a_package_nobody_has"):
        run("audit", "needs:net")


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (nn.Sequential(nn.Conv2d(3, 6, 3), nn.Conv2d(6, 6, 3, groups=6)).state_dict(), "form a chain"),
        ({"bias": torch.zeros(3)}, "no weight matrix among 1 tensors"),
        (
            nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)).state_dict(),
            "is no weight but what one is computed from",
        ),
    ],
)
def test_weights_that_do_not_say_enough_call_for_a_builder(
    state: dict[str, torch.Tensor], reason: str, here: Path
) -> None:
    torch.save(state, "part.pt")
    way_out = "name the network instead: package.module:builder --weights FILE --input-shape"
    with pytest.raises(DovetailError, match=f"{reason}.*; {way_out}") as raised:
        run("audit", "part.pt")
    assert "example_input" not in str(raised.value)
    assert "pass " not in str(raised.value)


def test_wrong_usage_ends_with_status_2_and_errors_with_1(here: Path) -> None:
    for wrong in (("--shufles", "3"), ("--shuffle", "rows"), ("--norm", "l3"), ("--k", "many")):
        assert CliRunner().invoke(app, ["audit", "dense.pt", *wrong]).exit_code == 2
    done = subprocess.run(
        [sys.executable, "-m", "dovetail", "audit", "missing.pt"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: 'missing.pt' is not there")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_named_before_any_work(here: Path) -> None:
    (here / "locked").mkdir(mode=0o500)
    with pytest.raises(DovetailError, match="locked"):
        run("audit", "missing.pt", "-o", here / "locked")


def test_a_file_in_place_of_the_folder_is_named(here: Path) -> None:
    with pytest.raises(DovetailError, match="cannot make the folder"):
        run("audit", "dense.pt", *FEW, "-o", here / "dense.pt")


def test_timm_is_asked_for_its_network_and_its_weights(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def create_model(name: str, *, pretrained: bool) -> nn.Module:
        asked.append((name, pretrained))
        if name == "offline":
            raise OSError("no route to host")
        space: dict[str, object] = {}
        exec(BUILDERS, space)
        network: nn.Module = space["conv"]()  # type: ignore[operator]
        return network

    fake = types.ModuleType("timm")
    fake.create_model = create_model  # type: ignore[attr-defined]
    fake.is_model = lambda name: name in ("tiny_net", "offline")  # type: ignore[attr-defined]
    fake.list_models = lambda: ["tiny_net", "offline"]  # type: ignore[attr-defined]
    fake.data = types.SimpleNamespace(resolve_data_config=lambda _, model: {"input_size": (1, 8, 8)})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "timm", fake)
    assert ncut_of("timm:tiny_net") == pytest.approx(ncut_of("conv.pt"))
    assert ncut_of("timm:tiny_net", "--weights", "conv.pt") == pytest.approx(ncut_of("conv.pt"))
    assert asked == [("tiny_net", True), ("tiny_net", False)]
    with pytest.raises(DovetailError, match=r"OSError: no route to host; with --weights FILE"):
        run("audit", "timm:offline")
    with pytest.raises(SpecError, match="did you mean 'tiny_net'"):
        run("audit", "timm:tinynet")
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(SpecError, match="pip install"):
        run("audit", "timm:tiny_net")


def test_a_part_of_a_network_can_be_audited(here: Path) -> None:
    answer = json.loads(run("audit", "dense.pt", *FEW, "--layers", "1", "--layers", "3", "--json"))
    assert [group["name"] for group in answer["clusterability"]["groups"]] == ["1", "3"]
    answer = json.loads(run("audit", "dense.pt", *FEW, "--layers", "3", "--units", "1:0-5,9", "--json"))
    assert [group["size"] for group in answer["clusterability"]["groups"]] == [7, 10]
    with pytest.raises(DovetailError, match="unknown layer 'two'"):
        run("audit", "dense.pt", *FEW, "--layers", "two")


def test_tokens_and_residual_streams(here: Path) -> None:
    (here / "language.py").write_text(LANGUAGE)
    whole = json.loads(run("audit", "language:build", *FEW, "--input-shape", "5", "--json"))["clusterability"]
    assert [group["name"] for group in whole["groups"]][:2] == ["embed:tokens", "embed"]
    through = json.loads(
        run("audit", "language:build", *FEW, "--input-shape", "5", "--residual", "through", "--json")
    )["clusterability"]
    assert "embed" not in [group["name"] for group in through["groups"]]


def test_a_family_is_named(here: Path) -> None:
    block = {
        "self_attn.q_proj": (6, 6), "self_attn.k_proj": (6, 6), "self_attn.v_proj": (6, 6), "self_attn.o_proj": (6, 6),
        "mlp.gate_proj": (8, 6), "mlp.up_proj": (8, 6), "mlp.down_proj": (6, 8),
        "input_layernorm": (6,), "post_attention_layernorm": (6,),
    }  # fmt: skip
    state = {f"model.layers.0.{name}.weight": torch.rand(shape) for name, shape in block.items()}
    save_file(
        {"model.embed_tokens.weight": torch.rand(9, 6), "model.norm.weight": torch.rand(6), **state},
        "l.safetensors",
    )
    assert "a transformer whose blocks are named layers.0.*" in run("audit", "l.safetensors", *FEW)
    assert json.loads(run("audit", "l.safetensors", *FEW, "--json"))["layers_read"] is None


@pytest.mark.filterwarnings("ignore")
def test_onnx_files_are_networks(here: Path) -> None:
    pytest.importorskip("onnxscript")
    network = dt.build_net("mlp:12-8", (6,), 4, seed=0)
    torch.onnx.export(network, (torch.zeros(1, 6),), "net.onnx", dynamo=True, verbose=False)
    torch.save(network.state_dict(), "net.pt")
    assert ncut_of("net.onnx") == pytest.approx(ncut_of("net.pt"), rel=1e-5)


def test_hugging_face_folders_need_transformers(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "model").mkdir()
    (here / "model" / "config.json").write_text('{"architectures": ["Tiny"], "model_type": "tiny"}')
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(SpecError, match="pip install transformers"):
        run("audit", "model")
    asked: list[tuple[str, object]] = []

    class Tiny(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.out = nn.Embedding(9, 6), nn.Linear(6, 4)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            out: torch.Tensor = self.out(self.embed(ids))
            return out

        @classmethod
        def from_pretrained(cls, folder: str, **options: object) -> Tiny:
            asked.append((folder, options["local_files_only"]))
            return cls()

    fake = types.ModuleType("transformers")
    fake.Tiny = Tiny  # type: ignore[attr-defined]
    fake.AutoModel = None  # type: ignore[attr-defined]
    config = types.SimpleNamespace(architectures=["Tiny"])
    fake.AutoConfig = types.SimpleNamespace(from_pretrained=lambda *_, **__: config)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformers", fake)
    answer = json.loads(run("audit", "model", *FEW, "--json"))["clusterability"]
    assert [group["size"] for group in answer["groups"]] == [9, 6, 4]
    assert asked == [("model", True)]
    with pytest.raises(SpecError, match="is a folder with weights already"):
        run("audit", "model", "--weights", "dense.pt")
