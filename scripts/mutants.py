#!/usr/bin/env python3
"""Checks whether the gallery notices a wrong solver.

Runs every script of docs/gallery as it is, then with each mutant of every solver that it calls: all floating-point
numbers of the solver's answer multiplied by -1, by 2, by 0 (an answer that has only verdicts: all turned, all false).
Statuses, counts and modes stay, so that the answer still claims to be right. A script that passes with a mutant is a
defect. Answers are kept between the runs of a script, so that a mutant costs what the script does with them.

    scripts/mutants.py [SCRIPT ...]     docs/gallery/plot_*.py without names; PYTHONPATH has the package carom
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import pickle
import re
import runpy
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np

GALLERY = Path(__file__).resolve().parents[1] / "docs" / "gallery"
MUTANTS = {"sign": -1.0, "twice": 2.0, "zeros": 0.0}
# What is no solver: data of problems, tables of settings, refusals, and what draws or judges.
DATA = re.compile(r"^(_|build_|validate_|refuse|info|enumerations|tables|scenarios|mode_words|convex_hull|hull_corners|"
                  r"wrench_|ffi_targets|.*_(models|settings|limits|residuals)$)")  # fmt: skip
CLOCKS = {"seconds", "frame_time"}  # of the machine, and of the frames
LIMIT = 600  # [s] of one run; a mutant that hangs is noticed, too


def mutated(answer, factor):
    """An answer with its floating-point numbers multiplied; what is not finite stays."""
    if isinstance(answer, dict):
        return {name: value if name in CLOCKS else mutated(value, factor) for name, value in answer.items()}
    if isinstance(answer, (list, tuple)):
        return type(answer)(mutated(value, factor) for value in answer)
    if isinstance(answer, float):
        return answer * factor + 0.0
    if isinstance(answer, np.ndarray) and answer.dtype.kind == "f":
        return np.where(np.isfinite(answer), answer * factor + 0.0, answer)
    if isinstance(answer, np.ndarray):
        return answer.copy()
    return answer


def wrong(answer, factor):
    """The mutant of an answer, which may have only verdicts."""
    if isinstance(answer, (bool, np.bool_)) or (isinstance(answer, np.ndarray) and answer.dtype.kind == "b"):
        return np.logical_xor(answer, factor < 0.0) & (factor != 0.0)
    return mutated(answer, factor)


class Solvers:
    """The extension's functions, watched: answers kept by their arguments, one of them mutated."""

    def __init__(self, core):
        self.core = core
        self.real = {name: getattr(core, name) for name in dir(core)
                     if not DATA.match(name) and callable(getattr(core, name)) and name[0].islower()}  # fmt: skip
        self.kept, self.called = {}, []
        self.wrong, self.factor, self.differs = None, 1.0, False
        for name in self.real:
            setattr(core, name, self.watched(name))

    def watched(self, name):
        def call(*arguments, **named):
            if name not in self.called:
                self.called.append(name)
            key = name, pickle.dumps([None if callable(each) else each for each in (*arguments, *named.items())])
            if key not in self.kept:
                self.kept[key] = self.real[name](*arguments, **named)
            answer = mutated(self.kept[key], 1.0)  # a copy: scripts may write into it
            if name != self.wrong:
                return answer
            mutant = wrong(answer, self.factor)
            self.differs |= pickle.dumps(mutant) != pickle.dumps(answer)
            return mutant

        return call


def run(script):
    """What made the script fail, or None."""
    import matplotlib.pyplot as plt

    said = io.StringIO()
    signal.alarm(LIMIT)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            runpy.run_path(str(script), run_name="__main__")
    except Exception as failure:  # any failure is a notice
        return f"{type(failure).__name__}: {failure}"
    finally:
        signal.alarm(0)
        plt.close("all")
        sys.modules.pop("papers", None)
    return None


def examine(script):
    """(script, seconds, failure without a mutant, solvers called, mutants that pass)."""
    import matplotlib

    matplotlib.use("agg")
    sys.path.insert(0, str(GALLERY))
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError()))
    from carom import _core

    solvers = Solvers(_core)
    start = time.monotonic()
    failure = run(script)
    seconds, called = time.monotonic() - start, list(solvers.called)
    passing = []
    for solvers.wrong in [] if failure else called:
        for name, solvers.factor in MUTANTS.items():
            solvers.differs = False
            if run(script) is None and solvers.differs:
                passing.append(f"{solvers.wrong} {name}")
    return script.stem, seconds, failure, called, passing


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("scripts", nargs="*", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    bad = mutants = 0
    scripts = options.scripts or sorted(GALLERY.glob("plot_*.py"))
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=1) as pool:
        for stem, seconds, failure, called, passing in pool.imap(examine, scripts):
            mutants += len(MUTANTS) * len(called)
            bad += bool(failure or passing or not called)
            verdict = f"FAILS: {failure}" if failure else "no solver called" if not called else ""
            print(f"{stem:32} {seconds:6.1f} s  {', '.join(called)}  {verdict}", flush=True)
            for each in passing:
                print(f"    PASSES with {each}", flush=True)
    print(f"{len(scripts)} scripts, {mutants} mutants, {bad} scripts to mend")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
