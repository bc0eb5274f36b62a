"""
Drumwright, Figure 2: semi-implicit Euler
=========================================

h = 10^-3 s, m = b = 1: stable at k = 10^6 N/m, not at 10^7, since h sqrt(k / m) has to stay below 2.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, holds

import carom

stiffness = np.array([1e6, 1e7])
ran = carom.compliant.worlds(
    "spring_mass_damper", {"integrator": 1, "stiffness": stiffness, "damping": 1.0},
    dt=1e-3, steps=1000, stride=1,
)  # fmt: skip
x = ran.frame_state[:, :, 0]
compare("Figure 2", "stable at k = 1e6", True, np.abs(x[:, 0]).max() < 2.0)
compare("Figure 2", "stable at k = 1e7", False, np.abs(x[:100, 1]).max() < 1e6)
holds("h sqrt(k / m) says so", 1e-3 * np.sqrt(1e6) < 2.0 < 1e-3 * np.sqrt(1e7))

# (11), (12): v' = (v - h k x) / (1 + h b), x' = x + h v', as a matrix: x after a hundred steps from x = 1 m.
h, b, k = 1e-3, 1.0, 1e6
step = np.array([[1.0 + h * b - h * h * k, h], [-h * k, 1.0]]) / (1.0 + h * b)
agree("x after 100 steps at k = 1e6 [m]", x[100, 0], (np.linalg.matrix_power(step, 100) @ [1.0, 0.0])[0], within=1e-9)

# %%

figure, axes = plt.subplots(1, 2, figsize=(9, 3.5))
for ax, k, column, steps in zip(axes, stiffness, x.T, (200, 12)):
    ax.plot(ran.frame_time[:steps], column[:steps])
    ax.set_title(f"k = {k:g} N/m")
    ax.set_xlabel("time [s]")
axes[0].set_ylabel("x [m]")
plt.show()
