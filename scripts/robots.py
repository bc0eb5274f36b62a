#!/usr/bin/env python3
"""A table of robots from installed packages: how many states that a simulator leaves are taken, why the
others are not, and how fast states become problems compared with MuJoCo's own forward pass.

    scripts/robots.py [--states 60] [--rates] [NAME ...]"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time
import warnings
from collections import Counter

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python" / "tests"))

import mujoco  # noqa: E402
import robot_models  # noqa: E402

import carom  # noqa: E402


def rates(model, qpos, qvel, seconds=1.0):
    """States a second: MuJoCo's forward pass of positions, only its kinematics and collisions, and ours,
    each of one thread, by processor time."""
    data = mujoco.MjData(model)

    def forward(q):
        data.qpos[:] = q
        mujoco.mj_fwdPosition(model, data)

    def whole(q):
        data.qpos[:] = q
        mujoco.mj_forward(model, data)

    found = []
    for call in (whole, forward):
        done, start = 0, time.process_time()
        while time.process_time() - start < seconds:
            for q in qpos:
                call(q)
            done += len(qpos)
        found.append(done / (time.process_time() - start))
    robot = carom.robot(model)
    times = -(-512 // len(qpos))
    q, v = np.tile(qpos, (times, 1)), np.tile(qvel, (times, 1))
    robot.impacts(q, v, threads=1)
    done, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        robot.impacts(q, v, threads=1)
        done += len(q)
    found.append(done / (time.process_time() - start))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=60)
    parser.add_argument("--rates", action="store_true")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    mujoco.set_mju_user_warning(lambda message: None)
    print("| robot | nv | accepted | contacts | merged | projected | why not |\n|---|---|---|---|---|---|---|")
    for name in given.names or [*robot_models.MJCF, "boxes 6 3", "boxes 12 1", "boxes 12 6"]:
        try:
            model = robot_models.model(mujoco, name)
        except Exception as error:  # a model that this MuJoCo does not read
            print(f"| {name} | | not read: {str(error).splitlines()[0][:90]} |")
            continue
        if model is None:
            print(f"| {name} | | package missing |")
            continue
        qpos, qvel = robot_models.fallen(mujoco, model, given.states)
        if not len(qpos):
            print(f"| {name} | {model.nv} | no state |")
            continue
        states = carom.robot(model).impacts(qpos, qvel)
        reasons = Counter(carom.robots.StateStatus(code).name for code in states.status if code > 1)
        first = next((why for why in states.why if why), "")
        count = np.bincount(states.row_state, minlength=len(states))
        print(f"| {name} | {model.nv} | {int(states.accepted.sum())}/{len(states)} | {count.min()}..{count.max()} | "
              f"{int(states.merged.sum())} | {states.projected.max():.2g} | "
              f"{', '.join(f'{word} {n}' for word, n in reasons.items())}{'; ' if first else ''}{first[:120]} |", flush=True)
        if given.rates:
            whole, forward, ours = rates(model, qpos, qvel)
            print(f"    states/s of a core: mj_forward {whole:.0f}, mj_fwdPosition {forward:.0f}, impacts {ours:.0f}; "
                  f"share of mj_forward {ours / whole:.2f}, of mj_fwdPosition {ours / forward:.2f}", flush=True)


if __name__ == "__main__":
    main()
