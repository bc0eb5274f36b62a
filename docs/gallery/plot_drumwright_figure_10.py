"""
Drumwright, Figure 10: stacks of spheres
========================================

Stacks of up to 100 spheres of 10^11 N/m^2, released in mid-air, 5 cm apart and at rest, 500 steps of 10 ms, with the
law complementarity: the lowest sphere hits the floor, the next one hits it, and so on, until a stable stack
remains. The computing time is about proportional to the number of spheres; the paper's curve grows faster, with times of
MATLAB on one machine. With the paper's program and no friction the stacks are the same to 1e-12. With friction, rounding
in its QPs breaks the column's symmetry. An aligned column of spheres is an unstable equilibrium, so it falls.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, holds

import carom

GAP, RADIUS = 0.05, 0.1
counts = [2, 5, 10, 20, 50, 100]
seconds, last = [], None
for spheres in counts:
    scene = {"spheres": spheres, "gap": GAP}
    ran = carom.compliant.worlds("sphere_stack", scene, dt=0.01, steps=500, threads=1, on_error="raise")
    seconds.append(ran.seconds)
    agree(f"{spheres} spheres: largest speed at the end [m/s]", np.abs(ran.velocity).max(), 0.0, within=1e-9)
    # Every contact is compressed by the weight above it over E r: the top sphere sinks by the sum.
    sunk = sum(range(1, spheres + 1)) * 9.81 / (1e11 * RADIUS)
    agree(f"  its top below the undeformed place [m]", -ran.displacement[0], sunk, relative=1e-3)
    agree("  contact forces, from the floor up [N]", ran.force[0][::3][:spheres],
          9.81 * np.arange(spheres, 0, -1), relative=1e-6)  # fmt: skip
compare("section 6.5", "spheres of the largest stack that stands after 500 steps of 10 ms", 100, spheres)
slope = np.polyfit(np.log(counts[2:]), np.log(seconds[2:]), 1)[0]
holds(f"time grows as the {slope:.1f}th power of the spheres", 0.5 < slope < 2.0)

# %%
# Waves: sphere i falls freely until its gap, i times 5 cm in all, is closed.

ran = carom.compliant.worlds("sphere_stack", {"spheres": 20, "gap": GAP}, dt=0.01, steps=500, stride=1)
height = ran.frame_state[:, 0, 2 : 6 * 20 : 6]
speed = ran.frame_state[:, 0, 6 * 20 + 2 :: 6]
fallen = height[0] - height[-1]
agree("heights fallen, from the floor up [m]", fallen, GAP * np.arange(1, 21), within=1e-6)
stops = ran.frame_time[np.abs(speed[::-1] > -1e-3).argmin(axis=0) * -1 - 1]
agree("each stops when a free fall of its height would end [s]", stops, np.sqrt(2 * fallen / 9.81), within=0.03)
agree("largest sideways way of a sphere [m]", np.abs(ran.position[0].reshape(20, 6)[:, :2]).max(), 0.0, within=1e-12)

# %%
# The paper's programme, without friction.

times = []
for spheres in (2, 5, 10, 20):
    scene = {"spheres": spheres, "gap": GAP, "friction": 0.0}
    law = carom.compliant.worlds("sphere_stack", scene, dt=0.01, steps=500, threads=1)
    programme = carom.compliant.worlds("sphere_stack", scene, dt=0.01, steps=500, threads=1, law="programme")
    times.append(programme.seconds)
    agree(f"programme, {spheres} spheres: steps not solved", programme.failed[0], 0)
    agree("  differs from complementarity by [m]", np.abs(programme.position - law.position).max(), 0.0, within=1e-12)

# %%
# With friction: after two seconds five spheres lean by micrometres, and the lean grows as of any such column.

scene = {"spheres": 5, "gap": GAP, "friction": 0.5}
leaning = carom.compliant.worlds("sphere_stack", scene, dt=0.01, steps=200, stride=1, law="programme")
agree("programme with friction, 5 spheres: steps not solved in 2 s", leaning.failed[0], 0, within=1)
agree("  top after 2 s, below the undeformed place [m]", -leaning.displacement[0], 15 * 9.81 / 1e10, relative=0.05)
sideways = np.abs(leaning.frame_state[:, 0, 30:].reshape(-1, 5, 6)[:, :, :2]).max(axis=(1, 2))
# A ball on a ball of radius r rolls away as exp(t sqrt(g / r)) or so: 1.10 a step.
agree("  growth of its sideways speed a step", (sideways[199] / sideways[179]) ** (1 / 20), 1.11, within=0.06)

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.loglog(counts, np.array(seconds) / 5.0, "o-", label="complementarity")
left.loglog([2, 5, 10, 20], np.array(times) / 5.0, "s-", label="programme, no friction")
left.legend()
left.set_xlabel("spheres")
left.set_ylabel("time for one second of motion [s]")
right.plot(ran.frame_time[:80], height[:80])
right.set_xlabel("time [s]")
right.set_ylabel("heights of 20 spheres [m]")
figure.tight_layout()
plt.show()
