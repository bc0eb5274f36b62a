"""What README and the pages show runs: blocks of Python, TOML and C++, and sessions of the command.

The blocks of a page run in order, in one folder, those of Python in one module."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
import robot_models
from conftest import ROOT

import carom

FOLDERS = ("tutorials", "howto")
PAGES = ["README.md", "docs/index.md"]
PAGES += sorted(str(page.relative_to(ROOT)) for folder in FOLDERS for page in (ROOT / "docs" / folder).glob("*.md"))
PAGES.remove("docs/howto/check_a_proof.md")  # test_cli runs its blocks, each on an answer of its kind

CODE = re.compile(r"^```(python|toml|cpp)\n(.*?)^```", re.S | re.M)
SESSION = re.compile(r"^    \$ (.*)\n((?:    (?!\$ ).*\n|\n(?=    (?!\$ )))*)", re.M)
WALKER = """
<mujoco model="walker"><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".2 .1 .1"/></body></worldbody></mujoco>"""
# Files that pages name: a model of an installed package, or else this.
ROBOTS = {"go2.xml": "Go2", "g1.xml": "G1", "shadow_block.xml": "Shadow, block", "boxes.xml": "boxes 6 1", "cassie.xml": ""}
LOOP = """
<mujoco model="loop"><worldbody><geom name="floor" type="plane" size="5 5 .1" pos="0 0 -.7"/>
<body><joint name="slide" type="slide" axis="0 0 1"/><geom size=".05"/>
<body pos="-.2 0 0"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .1 0 -.3" size=".02"/>
<body name="left" pos=".1 0 -.3"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .1 0 -.3" size=".02"/></body></body>
<body pos=".2 0 0"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 -.1 0 -.3" size=".02"/>
<body name="right" pos="-.1 0 -.3"><joint type="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 -.1 0 -.3" size=".02" contype="0" conaffinity="0"/></body></body></body></worldbody>
<equality><connect body1="left" body2="right" anchor=".1 0 -.3"/></equality></mujoco>"""

LEG = """<body pos="{x} {y} 0"><joint type="hinge" axis="1 0 0"/><geom size=".03" contype="0" conaffinity="0"/>
<body><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" contype="0" conaffinity="0"/>
<body pos="0 0 -.2"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02"/></body></body></body>"""
QUADRUPED = ('<mujoco model="quadruped"><worldbody><geom name="floor" type="plane" size="5 5 .1"/>'
             '<body pos="0 0 .5"><freejoint/><geom type="box" size=".2 .1 .05"/>'
             + "".join(LEG.format(x=x, y=y) for x in (0.2, -0.2) for y in (0.12, -0.12)) + "</body></worldbody></mujoco>")


def put_robots(folder):
    for file, name in ROBOTS.items():
        text = robot_models.text(name) if name else LOOP
        (folder / file).write_text(text or QUADRUPED)


def blocks(page):
    """Of a page, in order: (line, language or "session", text, what a session prints)."""
    text = (ROOT / page).read_text()
    found = [(match.start(), match[1], match[2], "") for match in CODE.finditer(text)]
    found += [(match.start(), "session", match[1], match[2]) for match in SESSION.finditer(text)]
    return [(text[:start].count("\n") + 1, *rest) for start, *rest in sorted(found)]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_page(page, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "walker.xml").write_text(WALKER)
    if page.endswith("robots.md"):
        put_robots(tmp_path)
    for path in ("examples", "tests"):
        (tmp_path / path).symlink_to(ROOT / path)
    module, missing = {"__name__": "__main__", "carom": carom}, set()
    for line, kind, text, said in blocks(page):
        place = f"{page}:{line}"
        if kind == "python":
            lacks = {name for name in ("matplotlib", "mujoco", "jax", "h5py") if not importlib.util.find_spec(name)}
            lacks &= set(re.findall(r"\w+", text.replace(".plot(", " matplotlib ").replace(".save(", " h5py ")))
            if lacks:
                missing |= lacks
                continue
            monkeypatch.setenv("MPLBACKEND", "agg")
            exec(compile(text, place, "exec"), module)
        elif kind == "toml":
            (tmp_path / text.splitlines()[0].removeprefix("# ")).write_text(text)
        elif kind == "cpp":
            missing |= refused_by_compiler(text, tmp_path, place)
        else:
            session(text, said, place, request)
    if missing:
        pytest.skip("all but what needs " + ", ".join(sorted(missing)))


def refused_by_compiler(code, folder, place):
    compiler = shutil.which("c++")
    if not compiler:
        return {"a C++ compiler"}
    lines = code.splitlines()
    includes = [line for line in lines if line.startswith("#include")]
    rest = [line for line in lines if not line.startswith("#include")]
    (folder / "block.cpp").write_text("\n".join([*includes, "int main() {", *rest, "}", ""]))
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'include'}", folder / "block.cpp"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, f"{place}: {done.stderr}"
    return set()


def session(line, said, place, request):
    program, *words = shlex.split(line)
    if program == "python":
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{place}: {done.stderr}"
        printed = done.stdout.splitlines()
    else:
        assert program.split("/")[-1] == "carom", f"{place}: {line}"
        printed = request.getfixturevalue("command")(*words).splitlines()
    for shown in (shown[4:] for shown in said.splitlines()):
        # Times are one machine's, dots what is left out, and points of a net hang on last digits.
        if re.search(r"\d (ns|us|ms|s)\b|e[-+]\d|\.\.\.|points after", shown) or not shown.strip():
            continue
        assert any(alike(shown, other) for other in printed), f"{place}: {shown}"


def alike(line, other):
    ours, theirs = line.split(), other.split()
    return len(ours) == len(theirs) and all(a == b or near(a, b) for a, b in zip(ours, theirs))


def near(a, b):
    numbers = [re.fullmatch(r"[(]?(-?\d+\.?\d*)[,)]?", text) for text in (a, b)]
    return all(numbers) and bool(np.isclose(float(numbers[0][1]), float(numbers[1][1]), rtol=1e-4))
