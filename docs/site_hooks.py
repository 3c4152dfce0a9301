"""What mkdocs does not do by itself when it builds the site: five things, each a part of this file.

- **Reference.** Pages under ``reference/`` are made from the package: one for each folder, with all that it exports (by
  mkdocstrings), a list of the names of ``dovetail`` itself, and the commands (by Typer). None of it can go stale.
- **Figures.** Those under ``results/`` become part of the site.
- **Links out of docs/.** Pages also read well in the repository, where ``../results/...`` is a link. On the site a link
  to a figure leads to its copy; of other links out of ``docs/`` only their text is left.
- **One title.** A page with several headings of the first level would have no contents beside it; on the site all but
  the first go down a level.
- **Formulas.** ``$...$`` and ``$$...$$`` become MathML, which browsers draw without any script.
"""

from __future__ import annotations

import html
import posixpath
import re
import subprocess
import sys
from pathlib import Path

import griffe
from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]

FOLDERS = {
    "data": "Real and generated data",
    "nets": "Architectures from a short text",
    "graph": "The one reader of networks: layers, order, who feeds whom",
    "prune": "Masks, and how to choose them",
    "population": "Many networks at once",
    "planted": "Networks whose modules are known, and programs compiled to transformers",
    "trunks": "Frozen networks up to a cut, their features computed once",
    "specialists": "Train, compose and measure specialists",
    "sculpting": "Prune to a task's structure, detect modules",
    "cluster": "Graphs of networks, n-cuts, lesions, training for clusterability",
    "recipes": "The papers' tables and figures",
    "engine": "Where recipes run",
    "report": "Charts, and pages that hold them",
    "studio": "The local web app",
    "sklearn": "Parts as a classifier of scikit-learn's kind",
    "errors": "What is raised",
}
"""What exports names, in the order in which folders import from each other."""

DIRECTIVE = """
::: {path}
    options:
      show_root_heading: true
      show_root_toc_entry: true
      show_root_full_path: false
"""


NAMES = """# Reference

What `import dovetail as dt` gives, and the folders that it comes from. The folders' pages have all options, and
whatever else the folders export. That is the public surface; everything else may change between versions. The
[command line](commands.md) has a page of its own.

| `dt.` | folder | what it is |
|---|---|---|
{names}

| folder | what it is for |
|---|---|
{folders}
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference and the figures to what the site is made of."""
    package = griffe.load("dovetail", search_paths=[ROOT / "src"])
    assert isinstance(package, griffe.Module)
    pages = {folder: folder_page(package, folder) for folder in FOLDERS}
    pages |= {"index": names_page(package), "commands": commands_page()}
    for name, text in pages.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    for path in sorted((ROOT / "results").glob("*/figures/*.png")):
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def folder_page(package: griffe.Module, folder: str) -> str:
    """Return the page of all that a folder exports."""
    module = package.modules[folder]
    names = module.exports or list(module.classes)
    paths = [home(package, f"dovetail.{folder}.{name}") for name in names]
    head = f"# dovetail.{folder}\n\n::: dovetail.{folder}\n    options:\n      members: false\n"
    return head + "".join(DIRECTIVE.format(path=path) for path in paths)


def names_page(package: griffe.Module) -> str:
    """Return a table of the names that ``import dovetail as dt`` gives, each with a link to its folder's page."""
    lines = []
    for name in sorted(map(str, package.exports or []), key=str.lower):
        path = home(package, f"dovetail.{name}")
        folder = path.split(".")[1]
        if folder in FOLDERS:
            summary = first_paragraph(package[path.removeprefix("dovetail.")])
            lines.append(f"| [`{name}`][{path}] | [{folder}]({folder}.md) | {summary} |")
        else:
            lines.append(f"| `{name}` | – | The version, such as `0.1.0`. |")
    folders = [f"| [{folder}]({folder}.md) | {title} |" for folder, title in FOLDERS.items()]
    return NAMES.format(names="\n".join(lines), folders="\n".join(folders))


def home(package: griffe.Module, path: str) -> str:
    """Return where a name is defined, through all files that import it from each other.

    A folder may have a file and a function of one name, as ``cluster.clusterability``; the import says which is meant.
    """
    parent, _, name = path.rpartition(".")
    module = package if parent == "dovetail" else package[parent.removeprefix("dovetail.")]
    found = module.imports.get(name)
    return path if found is None else home(package, found)


def first_paragraph(found: griffe.Object | griffe.Alias) -> str:
    """Return the first paragraph of a docstring, for a table."""
    text = found.docstring.value.split("\n\n")[0] if found.docstring else ""
    return " ".join(text.split()).replace("|", r"\|")


def commands_page() -> str:
    """Return what Typer writes about the command line."""
    command = [sys.executable, "-m", "typer", "dovetail.cli", "utils", "docs", "--name", "dovetail"]
    made = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    text = made.replace("# `dovetail`", "# Commands", 1)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


LINK_UP = re.compile(r"!?\[(?P<label>[^\[\]]*)\]\((?P<target>\.\./[^)\s]+)\)")


def on_page_markdown(markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Mend links that lead out of docs/, and leave one title."""
    here = posixpath.dirname(page.file.src_uri)

    def mended(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(here, match["target"]))
        if not target.startswith("../"):
            return match[0]
        copied = target.removeprefix("../")
        if files.get_file_from_path(copied) is None:
            return match["label"]
        return match[0].replace(match["target"], posixpath.relpath(copied, here or "."))

    return one_title(LINK_UP.sub(mended, markdown))


HEADING = re.compile(r"^```.*?^```|^(?P<level>#+) ", re.DOTALL | re.MULTILINE)


def one_title(markdown: str) -> str:
    """Return a page with all headings after its title a level lower, if there are others of the title's level."""
    titles = [found for found in HEADING.finditer(markdown) if found["level"] == "#"]
    if len(titles) < 2:
        return markdown
    start = titles[0].end()
    lower = HEADING.sub(lambda found: f"#{found[0]}" if found["level"] else found[0], markdown[start:])
    return markdown[:start] + lower


FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\(?P<opens>[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)


def on_page_content(text: str, /, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn formulas, which arithmatex has marked, into MathML."""
    return FORMULA.sub(
        lambda found: convert(
            html.unescape(found["tex"]).strip(), display="block" if found["opens"] == "[" else "inline"
        ),
        text,
    )
