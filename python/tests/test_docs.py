"""What README and the guide show runs: blocks of Python, TOML and C++, and the command's sessions."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest
from conftest import ROOT

import carom

PAGES = ["README.md", "docs/howto/python.md", "docs/index.md"]
WALKER = """
<mujoco model="walker"><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".2 .1 .1"/></body></worldbody></mujoco>"""


def blocks(language):
    found = []
    for page in PAGES:
        text = (ROOT / page).read_text()
        for match in re.finditer(rf"^```{language}\n(.*?)^```", text, re.S | re.M):
            line = text[: match.start()].count("\n") + 1
            found.append(pytest.param(match[1], id=f"{page}:{line}"))
    return found


def sessions():
    """Commands of the README with what it says they print."""
    found = []
    for match in re.finditer(r"^    \$ build-release/bin/carom (.*)\n((?:    .*\n|\n(?=    ))*)", (ROOT / "README.md").read_text(), re.M):
        said = [line[4:] for line in match[2].splitlines()]
        found.append(pytest.param(match[1].split(), said, id=match[1][:40]))
    return found


@pytest.mark.parametrize("code", blocks("python"))
def test_python(code, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    for module in ("mujoco", "jax"):
        if module in code:
            pytest.importorskip(module)
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "walker.xml").write_text(WALKER)
    exec(compile(code, "block", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("text", blocks("toml"))
def test_toml(text, tmp_path):
    (tmp_path / "spec.toml").write_text(text)
    spec = carom.dataset.resolve(str(tmp_path / "spec.toml"))
    assert spec["problems"] == 100000 and spec["settings"]["samples"] == 64


@pytest.mark.parametrize("code", blocks("cpp"))
def test_cpp(code, tmp_path):
    compiler = shutil.which("c++")
    if not compiler:
        pytest.skip("no C++ compiler")
    include, *rest = code.splitlines()
    (tmp_path / "block.cpp").write_text("\n".join([include, "int main() {", *rest, "(void)net; }"]))
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'include'}", tmp_path / "block.cpp"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("words", "said"), sessions())
def test_session(words, said, command, tmp_path):
    for path in ("examples", "tests"):
        (tmp_path / path).symlink_to(ROOT / path)
    printed = command(*words, cwd=tmp_path).splitlines()
    assert said, "what it prints is shown"
    for line in said:
        # Times are one machine's, dots what is left out, and points of a net hang on last digits.
        if re.search(r"\d (ns|us|ms|s)\b|e[-+]\d|\.\.\.|points after", line) or not line.strip():
            continue
        assert any(alike(line, other) for other in printed), line


def alike(line, other):
    ours, theirs = line.split(), other.split()
    return len(ours) == len(theirs) and all(a == b or near(a, b) for a, b in zip(ours, theirs))


def near(a, b):
    numbers = [re.fullmatch(r"[(]?(-?\d+\.?\d*)[,)]?", text) for text in (a, b)]
    return all(numbers) and bool(np.isclose(float(numbers[0][1]), float(numbers[1][1]), rtol=1e-4))
