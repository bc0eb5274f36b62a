"""
Halm and Posa, Figure 6: why nothing penetrates
===============================================

The phase plane of a falling ball: no motion passes from the right half-plane to the left. On the lower half of the
vertical axis the impact moves the state straight up, at height 0; on the upper half the flow points right.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds

import carom

g = carom.motion.models()["bouncing_ball"].parameters["gravity"].value
height, upward = (a.ravel() for a in np.meshgrid(np.linspace(0.0, 0.5, 6), np.linspace(-2.0, 2.0, 7)))
balls = carom.motion.model("bouncing_ball", n=len(height), height=height, upward_velocity=upward)
run = carom.motion.simulate(balls, duration=1.0, coefficient=0.0, grid=0.005, keep_samples=1, keep_events=8)

radius = carom.motion.models()["bouncing_ball"].parameters["radius"].value
z, rate = run.state[:, 0, :, 1] - radius, run.state[:, 0, :, 4]
agree("least height of all motions [m]", z.min(), 0.0, within=1e-9)
# Each lands once, when its parabola reaches the floor, and stays.
lands = (upward + np.sqrt(upward**2 + 2.0 * g * height)) / g
time = 0.005 * np.arange(z.shape[1])
fly = time < lands[:, None]
parabola = height[:, None] + upward[:, None] * time - 0.5 * g * time**2
agree("height over time [m]", np.abs(z - np.where(fly, parabola, 0.0)).max(), 0.0, within=1e-9)
agree("velocity over time [m/s], but at the landing itself",
      np.abs(rate - np.where(fly, upward[:, None] - g * time, 0.0))[np.abs(time - lands[:, None]) > 1e-6].max(), 0.0,
      within=1e-8)  # fmt: skip
agree("impacts of each", run.impacts[:, 0], (lands > 0.0) | (upward < 0.0), within=0)
holds("where the height is 0 nothing moves down", bool((rate[(z < 1e-9) & (time > lands[:, None] + 1e-6)] > -1e-9).all()))

# %%

for i in range(len(height)):
    flying = time < lands[i]
    end = upward[i] - g * lands[i]
    plt.plot([*z[i, flying], 0.0, 0.0], [*rate[i, flying], end, 0.0], color="0.6", linewidth=0.8)
plt.plot(z[-1, time < lands[-1]], rate[-1, time < lands[-1]], color="tab:red")
plt.axvspan(-0.1, 0.0, color="0.9")
plt.axvline(0.0, color="k")
plt.xlabel(r"$\phi = z$ [m]")
plt.ylabel(r"$\dot z$ [m/s]")
plt.xlim(left=-0.1)
plt.show()
