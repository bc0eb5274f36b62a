r"""
Drumwright, Figure 6: a pendulum meets its limit
================================================

:math:`k = 10^{12}`, b = 0: with steps of 10^-5 s and more the impact on the limit at 0 is dead; the elastic
rebound shows at 10^-8 s. (Started shortly before the limit, so that the finest step gets there.)
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds

import carom

start = {"angle": 0.01, "angular_velocity": -4.4}
ends = {}
for h in (1e-5, 1e-6, 1e-7, 1e-8):
    steps = round(1e-4 / h)
    ran = carom.compliant.worlds("pendulum_limit", start, dt=h, steps=steps, stride=max(1, steps // 200))
    ends[h] = ran.velocity[0, 0]
    plt.plot(1e6 * ran.frame_time, np.rad2deg(ran.frame_state[:, 0, 0]), label=f"h = {h:g} s")

agree("rate after the limit at 1e-8 s, over that before", ends[1e-8] / 4.4, 1.0, within=0.05)
agree("the same at 1e-5 s", ends[1e-5] / 4.4, 0.0, within=0.01)
holds("the smaller the step, the more elastic", ends[1e-8] > ends[1e-7] > ends[1e-6] >= ends[1e-5] - 1e-9)

# %%
# From 90 degrees, as in the paper, at a large step: stable, and dead.

ran = carom.compliant.worlds("pendulum_limit", dt=1e-3, steps=800, stride=1)
theta = ran.frame_state[:, 0, 0]
agree("angle after 0.8 s [rad]", theta[-100:], 0.0, within=0.03)

# %%

plt.xlabel("time [microseconds]")
plt.ylabel(r"$\theta$ [deg]")
plt.legend()
plt.show()
