"""
Drumwright, Figure 10: stacks of spheres
========================================

Stacks of up to 100 spheres of 10^11 N/m^2, 500 steps of 10 ms: they stand, and the time of a stack grows about as
its spheres do. The paper's curve grows faster; its times are those of MATLAB on one machine.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds

import carom

counts = [2, 5, 10, 20, 50, 100]
seconds, heights = [], []
for spheres in counts:
    ran = carom.compliant.worlds("sphere_stack", {"spheres": spheres}, dt=0.01, steps=500, threads=1, on_error="raise")
    seconds.append(ran.seconds)
    heights.append(ran.displacement[0])
    agree(f"{spheres} spheres: largest speed [m/s]", np.abs(ran.velocity).max(), 0.0, within=1e-9)

# %%
# Every contact is compressed by the weight above it over E r: the top sphere sinks by the sum.

for spheres, height in zip(counts, heights):
    sunk = sum(range(1, spheres + 1)) * 9.81 / (1e11 * 0.1)
    agree(f"top of {spheres} spheres [m]", height, -sunk, within=1e-9)
slope = np.polyfit(np.log(counts[2:]), np.log(seconds[2:]), 1)[0]
holds(f"time grows as the {slope:.1f}th power of the spheres, less than the cube", slope < 3.0)

# %%

plt.loglog(counts, np.array(seconds) / 5.0, "o-")
plt.xlabel("spheres")
plt.ylabel("time for one second of motion [s]")
plt.show()
