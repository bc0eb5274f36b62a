"""Types: the package's own, the compiled half's, and those of the code that the pages show."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT
from test_docs import PAGES, blocks

import carom


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    pytest.importorskip("mypy")
    cache = tmp_path_factory.mktemp("mypy")

    def check(*arguments):
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cache)

    return check


def test_the_package_is_strictly_typed(mypy):
    done = mypy("--python-version", "3.10", "-p", "carom")  # the oldest that is supported
    assert done.returncode == 0, done.stdout


def test_code_of_the_pages_is_strictly_typed(mypy, tmp_path):
    """Other packages may lack types; the blocks of a page are one module."""
    files = [ROOT / "examples/cluster/ray_dataset.py"]
    for i, page in enumerate(PAGES):
        code = [text for _, kind, text, _ in blocks(page) if kind == "python"]
        files.append(tmp_path / f"page_{i}.py")
        files[-1].write_text("import carom\n" + "\n".join(code))
    assert sum(file.stat().st_size > 100 for file in files) > 6
    done = mypy("--ignore-missing-imports", "--allow-untyped-calls", "--allow-untyped-decorators", *files)
    assert done.returncode == 0, done.stdout


def test_a_wrong_type_is_seen(mypy, tmp_path):
    (tmp_path / "wrong.py").write_text("import carom\nrun: int = carom.impact.sample('rocking_block')\n")
    done = mypy(tmp_path / "wrong.py")
    assert done.returncode == 1 and "ImpactResult" in done.stdout


def test_stubs_are_those_of_the_module(tmp_path):
    pytest.importorskip("nanobind.stubgen")
    made = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, ROOT / "python/stubs.py", made], check=True, cwd=tmp_path)
    package = pathlib.Path(carom.__file__).parent
    assert made.read_text() == (package / "_core.pyi").read_text(), "renew them: python python/stubs.py"
    assert (package / "py.typed").exists()
