"""The package as a whole: what it exports, what importing it costs, and that the README tells the truth."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dovetail

ROOT = Path(__file__).parents[1]
FOLDERS = [
    "data",
    "nets",
    "graph",
    "prune",
    "population",
    "specialists",
    "sculpting",
    "cluster",
    "recipes",
    "engine",
    "report",
]


@pytest.mark.parametrize(
    "name", ["dovetail", "dovetail.specialists", "dovetail.sculpting", "dovetail.cluster"]
)
def test_names_that_are_imported_when_asked_for(name: str) -> None:
    package = importlib.import_module(name)
    assert dir(package) == sorted(package.__all__)
    assert all(getattr(package, public) is not None for public in package.__all__)
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        package.nothing  # noqa: B018


def test_public_names() -> None:
    assert dovetail.__all__ == [
        "BooleanTask",
        "Clusterability",
        "ClusterabilityPenalty",
        "Composite",
        "Dataset",
        "DovetailError",
        "Hierarchy",
        "Lesions",
        "NetworkGraph",
        "Population",
        "Sculpture",
        "Specialist",
        "Split",
        "Sums",
        "Trunk",
        "__version__",
        "as_part",
        "boolean_task",
        "build_net",
        "clusterability",
        "clusterable_init_",
        "combine",
        "compatibility",
        "compose",
        "connectivity",
        "detect_modules",
        "function_of_clusters",
        "lesion",
        "lesion_profiles",
        "load",
        "ncut",
        "net_builder",
        "network_graph",
        "open",
        "read",
        "recompute_batch_norm",
        "reproduce",
        "rescale_",
        "sculpt",
        "sculpt_channels",
        "sculpt_seeds",
        "spectral_clusters",
        "sums",
        "sweep_clusters",
        "train_networks",
        "train_specialists",
        "trunk",
    ]
    for name in dovetail.__all__:
        assert getattr(dovetail, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        dovetail.lod  # noqa: B018


def test_importing_the_package_pulls_in_nothing_heavy() -> None:
    heavy = {"torch", "numpy", "pandas", "sklearn", "rich", "typer", "pooch", "networkx"}
    code = f"import sys, dovetail; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_everything_up_to_specialists_works_without_the_packages_that_only_downloads_need() -> None:
    code = (
        "import sys\n"
        "for name in ('pooch', 'plotly', 'ray', 'fastapi'): sys.modules[name] = None\n"
        "import dovetail.data, dovetail.nets, dovetail.prune, dovetail.population\n"
        "import dovetail.specialists, dovetail.sculpting, dovetail.cluster\n"
        "import dovetail as dt; print(len(dt.load('digits').train))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1149"


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_exported_name_is_documented(folder: str) -> None:
    module = importlib.import_module(f"dovetail.{folder}")
    assert module.__doc__
    for name in module.__all__:
        assert hasattr(module, name)
        if inspect.isclass(getattr(module, name)) or inspect.isroutine(getattr(module, name)):
            assert getattr(module, name).__doc__, name


def test_every_module_says_what_it_is_for() -> None:
    for info in pkgutil.walk_packages(dovetail.__path__, "dovetail."):
        if info.name != "dovetail.__main__" and not info.name.endswith("_kernel"):  # these need Triton
            assert importlib.import_module(info.name).__doc__, info.name


def run_example(page: Path, folder: Path) -> str:
    example, *_ = re.findall(
        r"```python\n(.*?)```", page.read_text(), re.DOTALL
    )  # the first; tests/docs runs all
    assert len(example.strip().splitlines()) <= 23
    done = subprocess.run(
        [sys.executable, "-c", example], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_readme_example_runs_as_it_stands(tmp_path: Path) -> None:
    printed = run_example(ROOT / "README.md", tmp_path)
    assert "added back: True" in printed
    whole, less = (float(number) for number in printed.split("\nadded back")[0].splitlines()[-1].split())
    assert min(whole, less) > 0.93
    assert "composite that never saw it" in printed
    assert (tmp_path / "ten.safetensors").exists()


@pytest.mark.slow
def test_the_population_example_runs_as_it_stands(tmp_path: Path) -> None:
    printed = run_example(ROOT / "src/dovetail/population/README.md", tmp_path)
    densities = [float(number) for number in printed.split("density [")[1].split("]")[0].split(",")]
    assert densities == pytest.approx([0.1] * 4, abs=0.001)


def test_the_readme_names_folders_that_exist() -> None:
    readme = (ROOT / "README.md").read_text()
    tree = readme.split("src/dovetail/\n")[1].split("```")[0]
    for line in tree.splitlines():
        name = line.split()[0]
        parent = ROOT / "src/dovetail" if line.startswith("  ") else ROOT
        assert (parent / name).exists(), line
