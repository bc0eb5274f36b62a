#!/usr/bin/env python3
"""Outcomes of an independent simulation with Coulomb's true cone beside carom's sets of the same impacts of
robots from installed packages.

    scripts/true_cone.py [--states 6] [--samples 4096] [--directions 16] [--turns 4] [NAME ...]"""

from __future__ import annotations

import argparse
import pathlib
import sys
import warnings

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python" / "tests"))

import mujoco  # noqa: E402
import robot_models  # noqa: E402
import true_cone  # noqa: E402

import carom  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=6)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--directions", type=int, default=16)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--contacts", type=int, default=8, help="at most")
    parser.add_argument("--method", default=None)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    mujoco.set_mju_user_warning(lambda message: None)
    print("robot: contacts, method; beyond the set as a share of |dv|, with 512 trajectories; share of the set's width that they fill")
    for name in given.names or ("Go2", "G1", "suite humanoid"):
        model = robot_models.model(mujoco, name)
        if model is None:
            print(f"{name}: package missing")
            continue
        qpos, qvel = robot_models.fallen(mujoco, model, 20 * given.states)
        states = carom.robot(model).impacts(qpos, qvel)
        done = 0
        for i in range(len(states)):
            found = states.of_state(i)
            if len(found) != 1 or done == given.states:
                continue
            problem = states[i]
            if not 2 <= problem.contacts <= given.contacts or problem.contact_velocity()[0].min() > -0.05:
                continue
            M, Jn, Jt, mu, v = (getattr(problem, field)[0] for field in (
                "mass_matrix", "normal_jacobian", "tangent_jacobian", "friction", "velocity"))
            run = carom.impact.sample([problem], samples=given.samples, friction_directions=given.directions,
                                      method=given.method, turns=given.turns, epsilon=0.0)
            kept = run.velocity(0)
            kept = kept[np.isfinite(kept).all(axis=1)]
            after = true_cone.outcomes(M, Jn, Jt, mu, v, count=512)
            beyond, filled, scale = true_cone.outside(after, kept, M, v)
            back, _, _ = true_cone.outside(kept, after[np.isfinite(after).all(axis=1)], M, v)
            print(f"{name} {i}: {problem.contacts}, {run.runs[0].settings['method']}; beyond {beyond:.4f}, filled {filled:.2f}, "
                  f"the set beyond the simulation {back:.4f}, ended {np.isfinite(after).all(axis=1).mean():.3f}", flush=True)
            done += 1


if __name__ == "__main__":
    main()
