"""Write docs/results.md from the run folders under results/: ``make results``.

Each folder is a run of a recipe at paper scale (``dovetail reproduce NAME --scale paper -o results/NAME``). What is to
be said about its numbers stands in its ``remarks.md``.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from dovetail.engine import RunFolder
from dovetail.recipes import Finished, Recipe, recipes

ROOT = Path(__file__).parents[1]
PAPERS = {
    "maxent": "Composable Sparse Subnetworks via Maximum-Entropy Principle",
    "sculpt": "Neural Sculpting",
    "cluster": "Clusterability in Neural Networks",
    "beyond": "Beyond the papers",
}
HEAD = """# Results

What our implementation gives at paper scale, beside what the papers printed. Made by `make results` from the runs under
[`results/`](../results); `dovetail reproduce NAME --scale paper -o results/NAME` goes on with one of them.

*Δ* is ours minus published (for counts, of their shares). A number in brackets is the standard deviation. `?` marks
published cells that are not to be trusted: they repeat another data set's numbers, or are impossible as described. A
dash means not published, or not measured.
"""


def main() -> None:
    """Write the page."""
    parts = [HEAD, overview()]
    for paper, title in PAPERS.items():
        parts.append(f"# {title}\n")
        parts += [section(recipe) for recipe in recipes() if recipe.paper == paper]
    (ROOT / "docs/results.md").write_text("\n".join(parts), encoding="utf-8")


def overview() -> str:
    """Return a table of all recipes: how much of each is done, on what, in how long."""
    lines = ["| recipe | shows | units done | GPU or core time | on |", "|---|---|---|---|---|"]
    for recipe in recipes():
        finished = results(recipe)
        seconds = sum(one.seconds for one in finished)
        devices = ", ".join(name for name, _ in Counter(one.device for one in finished).most_common())
        link = f"[{recipe.paper}/{recipe.name}](#{recipe.name})"
        total = len(set(recipe.units("paper")))
        lines.append(
            f"| {link} | {recipe.shows} | {len(finished)} of {total} | {seconds / 60:.1f} min | {devices or '–'} |"
        )
    return "\n".join(lines) + "\n"


def section(recipe: Recipe) -> str:
    """Return what a recipe gave."""
    folder = ROOT / "results" / recipe.name
    lines = [f'## <a id="{recipe.name}"></a>{recipe.name}: {recipe.title}', "", f"{recipe.shows}.", ""]
    finished = results(recipe)
    if not finished:
        return "\n".join([*lines, "Not run at paper scale yet.", ""])
    remarks = folder / "remarks.md"
    if remarks.exists():
        lines += [remarks.read_text(encoding="utf-8")]
    lines += [table.to_markdown() for table in recipe.tables(finished)]
    pictures = sorted((folder / "figures").glob("*.png"))
    lines += [
        f"![{recipe.name}: {path.stem}](../results/{recipe.name}/figures/{path.name})\n" for path in pictures
    ]
    return "\n".join(lines)


def results(recipe: Recipe) -> list[Finished]:
    """Return the finished units of a recipe's run at paper scale."""
    folder = ROOT / "results" / recipe.name
    if not folder.exists():
        return []
    with RunFolder(folder, recipe, "paper") as run:
        return run.finished(list(dict.fromkeys(recipe.units("paper"))))


if __name__ == "__main__":
    main()
