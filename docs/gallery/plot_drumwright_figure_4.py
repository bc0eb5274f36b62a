"""
Drumwright, Figure 4: a pendulum on a stiff joint
=================================================

k = 10^15 N/m, b = 1: the joint's deviation decreases with the square of the step size, and no step size is unstable.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare

import carom


def deviation(h, seconds=1.0):
    ran = carom.compliant.worlds("pendulum_joint", dt=h, steps=round(seconds / h), stride=1)
    x, y, theta = ran.frame_state[:, 0, :3].T
    return ran, np.hypot(x - np.sin(theta), y + np.cos(theta))


runs = {h: deviation(h) for h in (0.1, 1e-2, 1e-3, 1e-4)}
worst = {h: far.max() for h, (_, far) in runs.items()}
compare("Figure 4", "deviations scale quadratically with h: ratio of 1e-2 to 1e-3 s", 100.0, worst[1e-2] / worst[1e-3], relative=0.02)
agree("deviation at 1e-3 s over that at 1e-4 s", worst[1e-3] / worst[1e-4], 100.0, relative=0.2)
# Within a step the bob goes straight on: h^2 omega^2 / 2 off its circle, at the lowest point with
# omega^2 = 2 m g L / (m L^2 + I), I = 0.1 kg m^2.
for h, share in ((1e-2, 1e-2), (1e-3, 1e-3), (1e-4, 1e-3)):
    agree(f"largest deviation at {h:g} s [m]", worst[h], h**2 * 9.81 / 1.1, relative=share)
agree("largest deviation at 0.1 s, where h omega is 0.4 [m]", worst[0.1], 0.1308, within=1e-3)

# %%
# Energy: the paper's "precisely zero" change holds for the symplectic scheme's own energy.

ran, _ = runs[1e-4]
compare("section 4.4", "change of energy in a second, over m g L, at h = 1e-4 s", 0.0, (ran.energy[0] - ran.energy_start[0]) / 9.81, within=1e-6)

# %%

figure, axes = plt.subplots(1, 2, figsize=(9, 3.5))
for ax, h in zip(axes, (0.1, 1e-4)):
    ran, far = runs[h]
    ax.plot(ran.frame_time, far)
    ax.set_title(f"h = {h:g} s")
    ax.set_xlabel("time [s]")
axes[0].set_ylabel("deviation of the joint [m]")
figure.tight_layout()
plt.show()
