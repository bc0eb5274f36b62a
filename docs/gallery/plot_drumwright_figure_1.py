"""
Drumwright, Figure 1: explicit Euler and stiff springs
======================================================

A mass of 1 kg on a spring of 10^6 N/m, h = 10^-5 s: with little damping explicit Euler is unstable, with 2 10^5 N s/m it is
stable, with 2.1 10^5 unstable.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, holds

import carom

damping = np.array([1.0, 2e5, 2.1e5, 10.0])
ran = carom.compliant.worlds(
    "spring_mass_damper", {"integrator": 0, "stiffness": 1e6, "damping": damping},
    dt=1e-5, steps=2000, stride=1,
)  # fmt: skip
x = ran.frame_state[:, :, 0]

largest = np.abs(x[-500:]).max(axis=0)
compare("Figure 1", "unstable at b = 1", True, largest[0] > 1.05)
compare("section 3.1.1", "'somewhat more stable' at b = 10", True, 1.0 < largest[3] < 1.05)
compare("Figure 1", "stable at b = 2e5", True, np.abs(x[:, 1]).max() <= 1.0 + 1e-9)
compare("Figure 1", "unstable at b = 2.1e5", True, np.abs(x[:, 2]).max() > 1e3)

# %%
# Why: x' = x + h v, v' = v - h (b v + k x) has a spectral radius of one at most where explicit Euler is stable.


def radius(b, h=1e-5, k=1e6):
    return np.abs(np.linalg.eigvals([[1.0, h], [-h * k, 1.0 - h * b]])).max()


agree("growth a step at b = 1", np.abs(x[1500:, 0]).max() ** (1 / 1750), radius(1.0), within=1e-4)
step = np.array([[1.0, 1e-5], [-1e-5 * 1e6, 1.0 - 1e-5 * 1.0]])
agree("x after 2000 steps at b = 1, by powers of that matrix from x = 1 m [m]", x[-1, 0],
      (np.linalg.matrix_power(step, 2000) @ [1.0, 0.0])[0], relative=1e-9)  # fmt: skip
holds("its eigenvalues say so, too", radius(2e5) <= 1.0 < radius(1.0) < radius(2.1e5))

# %%

figure, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 6))
for ax, b, column in zip(axes, damping, x.T):
    ax.plot(ran.frame_time, column)
    ax.set_title(f"b = {b:g} N s/m")
    ax.set_ylabel("x [m]")
axes[-1].set_yscale("symlog")
axes[-1].set_xlabel("time [s]")
figure.tight_layout()
plt.show()
