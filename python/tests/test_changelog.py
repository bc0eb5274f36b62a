"""scripts/changelog.py: fragments of changelog.d become entries of CHANGELOG.md."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT

OLD = "# Changelog\n\n## [Unreleased]\n\n### Added\n- Old.\n\n## [0.1.0]\n\n### Fixed\n- Older.\n"
NEW = "# Changelog\n\n## [Unreleased]\n\n### Added\n- One\n  and more.\n- Two.\n- Old.\n\n### Fixed\n- Three.\n\n## [0.1.0]\n\n### Fixed\n- Older.\n"


def run(way, root):
    return subprocess.run([sys.executable, ROOT / "scripts/changelog.py", way, "--root", root],
                          capture_output=True, text=True, check=False)  # fmt: skip


def test_collect(tmp_path):
    (tmp_path / "CHANGELOG.md").write_text(OLD)
    folder = tmp_path / "changelog.d"
    folder.mkdir()
    for name, text in (("README.md", "x"), ("a.added.md", "One\nand more.\n"), ("b.added.md", "Two."), ("c.fixed.md", "Three.\n")):
        (folder / name).write_text(text)
    assert run("collect", tmp_path).returncode == 0
    assert (tmp_path / "CHANGELOG.md").read_text() == NEW
    assert [path.name for path in folder.iterdir()] == ["README.md"]


@pytest.mark.parametrize(("name", "text"), [("a.new.md", "x"), ("a.md", "x"), ("a.added.txt", "x"), ("a.added.md", "- x"), ("a.added.md", "")])
def test_refused(tmp_path, name, text):
    folder = tmp_path / "changelog.d"
    folder.mkdir()
    (folder / name).write_text(text)
    done = run("check", tmp_path)
    assert done.returncode == 1 and name in done.stderr


def test_those_of_the_repository():
    assert run("check", ROOT).returncode == 0, run("check", ROOT).stderr
