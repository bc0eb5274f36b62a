"""
Drumwright, Table 1: time of a cube on an elastic foundation
============================================================

One second in steps of 0.01 s, 100 and 900 elements, loads of 5 and 50 N, by three methods. (1) The law complementarity
is solved in the cube's six velocities, so its time is about proportional to the number of elements. (2) The paper's program (83)-(85)
is solved by an interior-point method whose linear systems have the size of the velocities, so its time is about proportional, too, and
not cubic, as the paper says of its solver. (3) An implicit integrator, SciPy's Radau, replaces MATLAB's ode15s, over the first tenth of a second. The paper's times are those
of MATLAB R2015b on another machine.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, clock, holds

import carom

# elements, load [N], modulus: seconds of the constraint-based approach, ode15s and ode45
PAPER = {(100, 5.0, 1e7): (0.331, 0.302, 28.0), (100, 5.0, 1e11): (0.286, 0.189, 27.4),
         (100, 50.0, 1e7): (0.332, 9.55, 15.5), (100, 50.0, 1e11): (0.396, 5550.0, 621.0),
         (900, 5.0, 1e7): (7.40, 4.75, 829.0), (900, 5.0, 1e11): (8.23, 1.10, 17100.0),
         (900, 50.0, 1e7): (12.98, 27.3, 346.0), (900, 50.0, 1e11): (26.00, 2.31, 17400.0)}  # fmt: skip


def name_of(row):
    return "{} elements, {:g} N, {:g} N/m2".format(*row)


def timed(call):
    begin = time.process_time()  # only of this process, whatever else the machine does
    answer = call()
    return time.process_time() - begin, answer


def worlds(elements, load, modulus, law, steps=100):
    scene = {"elements_per_side": elements**0.5, "modulus": modulus, "load": load}
    return timed(lambda: carom.compliant.worlds("elastic_foundation", scene, dt=0.01, steps=steps, threads=1,
                                                law=law, on_error="raise"))  # fmt: skip


ours, end = {}, {}
for row in PAPER:
    ours[row], ran = worlds(*row, "complementarity")
    end[row] = ran.position[0]
    holds(f"{row}: all steps solved", ran.failed[0] == 0)
    clock("Table 1", f"{name_of(row)}: complementarity [s]", PAPER[row][0], ours[row])
    # Load and weight are carried: the centre lies between the compression under an even load and twice that.
    sunk = (8.0 * 9.81 + row[1]) / row[2]
    agree(f"{row}: centre below the unloaded foundation over its even compression", (0.5 - end[row][2]) / sunk, 1.0,
          within=0.05)  # fmt: skip

growth = np.median([ours[900, l, e] / ours[100, l, e] for n, l, e in PAPER if n == 100])
holds(f"complementarity: nine times the elements take {growth:.0f} times the time", 2.0 < growth < 40.0)

# %%
# The paper's programme.

programme = {}
for row in PAPER:
    programme[row], ran = worlds(*row, "programme")
    holds(f"programme, {row}: all steps solved", ran.failed[0] == 0)
    clock("Table 1", f"{name_of(row)}: programme [s]", PAPER[row][0], programme[row])
    if row[1] == 5.0:
        agree(f"programme and complementarity, {row}: differ by [compressions]",
              np.abs(ran.position[0] - end[row]).max() / (83.48 / row[2]), 0.0, within=0.02)  # fmt: skip
growth = np.median([programme[900, l, e] / programme[100, l, e] for n, l, e in PAPER if n == 100])
holds(f"programme: nine times the elements take {growth:.0f} times the time", 2.0 < growth < 40.0)
holds("programme: faster than the paper's in every row", all(programme[row] < PAPER[row][0] for row in PAPER))

# %%
# An implicit integrator on the smooth equations of the cube, to MATLAB's default tolerances.

try:
    from scipy.integrate import solve_ivp
except ImportError:
    solve_ivp = None
    print("SciPy is not installed: no implicit integrator")


def cross(a, b):  # np.cross takes ten times as long for a single pair
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def equations(elements, load, modulus):
    side = round(elements**0.5)
    place = (np.arange(side) + 0.5) / side - 0.5
    r = np.stack([*(a.ravel() for a in np.meshgrid(place, place, indexing="ij")), np.full(side**2, -0.5)])
    stiffness, mass = modulus / side**2, 8.0

    def rate(t, state):
        w, q, v, omega = state[3], state[4:7], state[7:10], state[10:13]
        x, y, z = q
        up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
        gap = state[2] + up @ r
        force = np.where(gap < 0, np.maximum(0.0, -stiffness * gap - (v[2] + cross(up, omega) @ r)), 0.0)
        at = 0.5 * np.array([np.cos(10 * t), np.sin(10 * t), 1.0])
        turn = np.concatenate([[-0.5 * omega @ q], 0.5 * (w * omega + cross(q, omega))])
        fall = np.array([0.0, 0.0, (force.sum() - load) / mass - 9.81])
        return np.concatenate([v, turn, fall, cross(r @ force - load * at, up) / (mass / 6)])

    return rate


implicit = {}
if solve_ivp:
    start = np.zeros(13)
    start[2], start[3] = 0.5, 1.0
    for row in PAPER:
        seconds, solved = timed(lambda: solve_ivp(equations(*row), (0.0, 0.1), start, method="Radau", rtol=1e-3, atol=1e-6))
        implicit[row] = 10.0 * seconds
        holds(f"{row}: Radau ends", solved.status == 0)
        clock("Table 1", f"{name_of(row)}: ode15s; here SciPy's Radau [s]", PAPER[row][1], implicit[row])
    holds("no row is faster by Radau than by complementarity", all(ours[row] < implicit[row] for row in PAPER))

for row in PAPER:
    clock("Table 1", f"{name_of(row)}: ode45 [s]", PAPER[row][2], note="explicit, for control: not run")

# %%

names = [f"{n}, {load:g} N, {modulus:g}" for n, load, modulus in PAPER]
places = np.arange(len(names))
columns = [("paper", [row[0] for row in PAPER.values()]), ("paper, ode15s", [row[1] for row in PAPER.values()]),
           ("carom, complementarity", list(ours.values())), ("carom, programme", list(programme.values())),
           ("SciPy, Radau", list(implicit.values()))]  # fmt: skip
for i, (label, seconds) in enumerate(column for column in columns if column[1]):
    plt.barh(places + 0.17 * i, seconds, 0.17, label=label)
plt.yticks(places + 0.34, names)
plt.xscale("log")
plt.xlabel("time of one second of motion [s]")
plt.legend()
plt.tight_layout()
plt.show()
