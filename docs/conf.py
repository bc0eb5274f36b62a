"""The site: scripts/docs.sh builds it."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs" / "gallery"))

project = "carom"
author = "the carom authors"
version = release = re.search(r"project\(carom VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

extensions = [
    "myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx_gallery.gen_gallery",
]  # fmt: skip
exclude_patterns = ["gallery/*.rst", "gallery/*.py", "build", "requirements.txt"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["carom.css"]
html_title = f"carom {version}"

# The pages are written for a reader of the repository, too: links to sources lead there.
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
suppress_warnings = [
    "config.cache",  # sphinx_gallery's settings hold functions
    "duplicate_declaration.cpp",  # every header opens namespace carom
]

breathe_projects = {"carom": os.environ.get("CAROM_DOXYGEN", str(ROOT / "build-docs" / "doxygen" / "xml"))}
breathe_default_project = "carom"
breathe_default_members = ("members",)
breathe_show_include = False
cpp_id_attributes = ["CAROM_INLINE", "CAROM_HOST_DEVICE"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True}

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "figures",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"papers\.py",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
}


def write_command_reference(command: str) -> None:
    """docs/reference/help.md, from what the command says of itself."""

    def says(*words: str) -> str:
        return subprocess.run([command, *words], capture_output=True, text=True, check=True).stdout

    overview = says("--help")
    names = re.findall(r"^  ([a-z][a-z-]+)  +\S", overview.split("SUBCOMMANDS:")[-1].split("Subcommands:")[-1], re.M)
    pages = ["# Help texts\n", "What `carom --help` prints.\n", f"```text\n{overview}```\n"]
    pages += [f"## carom {name}\n\n```text\n{says(name, '--help')}```\n" for name in names]
    (ROOT / "docs" / "reference" / "help.md").write_text("\n".join(pages))


if "CAROM" in os.environ:
    write_command_reference(os.environ["CAROM"])


def write_measurements() -> None:
    """docs/reference/measured: a page of tables for each of bench/results."""
    sys.path.insert(0, str(ROOT / "bench"))
    import history
    import report

    pages = ROOT / "docs" / "reference" / "measured"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    for results in sorted((ROOT / "bench" / "results").glob("*.json")):
        (pages / f"{results.stem}.md").write_text(report.page(results))
    history.page(pages / "history.md")
    contents = "```{toctree}\n:maxdepth: 1\n:glob:\n\n*\n```\n"
    (pages / "index.md").write_text(f"# Measured\n\nAll tables of `bench/results`.\n\n{contents}")


write_measurements()


def as_written(_app, _what, _name, _object, _options, lines):
    """Docstrings are plain text: their characters mean themselves, indented lines stay as they are."""
    shown, literal = [], False
    for line in lines:
        if line.startswith("    ") and not literal:
            shown += ["", "::", ""]
            literal = True
        elif literal and line and not line.startswith(" "):
            shown.append("")
            literal = False
        shown.append(line if literal else re.sub(r"([\\*`|_])", r"\\\1", line))
    lines[:] = shown


def setup(app):
    app.connect("autodoc-process-docstring", as_written)
