#!/usr/bin/env python3
"""Cost of writing a dataset compared with sampling it: processor time, both in turn, one thread.

dataset_rate.py [--problems N] [--samples N] [--repeats N] [--command CAROM]

The dataset is made from its specification to the last record, drawing, problems, samples, digests and
files included. `sampling` is the call that samples the same problems and keeps nothing, `command` the
whole of `carom impact --quiet` on as many drawn blocks, where it is given. Ratios are medians of the turns.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import carom


def specification(problems: int, samples: int) -> dict:
    return {
        "dataset": {"kind": "impact", "problems": problems, "seed": 1},
        "source": {"model": "rocking_block"},
        "draw": {"friction": {"uniform": [0.1, 1.2]}, "width": {"loguniform": [0.5, 2.0]},
                 "height": {"uniform": [0.5, 2.0]}},
        "impact": {"samples": samples},
    }  # fmt: skip


def sampling(problems: int, samples: int) -> float:
    """Seconds of processor time of the call alone."""
    drawn = carom.dataset._drawn(carom.dataset.resolve(specification(problems, samples)), 0, problems)
    batch = carom.model("rocking_block", **drawn)
    start = time.process_time()
    run = carom.impact.sample(batch, samples=samples, keep_samples=0, threads=1, seed=1)
    spent = time.process_time() - start
    assert run.summary["failed"].sum() == 0
    return spent


def writing(problems: int, samples: int) -> tuple[float, int]:
    """The same of making the dataset, and its bytes."""
    folder = tempfile.mkdtemp(prefix="carom-rate-")
    try:
        start = time.process_time()
        carom.dataset.make(specification(problems, samples), folder, threads=1)
        spent = time.process_time() - start
        return spent, carom.dataset.show(folder)["bytes"]
    finally:
        shutil.rmtree(folder)


def of_command(command: str, problems: int, samples: int) -> float:
    words = [command, "impact", "rocking_block", "--random", "friction=0.1:1.2", "--random", "width=0.5:2:log",
             "--random", "height=0.5:2", "--draws", str(problems), "--samples", str(samples), "--threads", "1",
             "--no-check", "--quiet"]  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=100000)
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--command")
    given = parser.parse_args()
    size = given.problems, given.samples
    turns = []
    for _ in range(given.repeats):
        turn = {"sampling": sampling(*size)}
        turn["writing"], turn["bytes"] = writing(*size)
        if given.command:
            turn["command"] = of_command(given.command, *size)
        turns.append(turn)
        print({name: round(value, 3) for name, value in turn.items()}, file=sys.stderr)
    result = {"problems": given.problems, "samples": given.samples, "turns": turns}
    for name in ("sampling", "command"):
        if name in turns[0]:
            result[f"{name} / writing"] = statistics.median(turn[name] / turn["writing"] for turn in turns)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
