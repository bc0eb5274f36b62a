r"""
Drumwright, Figure 6: a pendulum meets its limit
================================================

A pendulum falls from 90 degrees against a limit at 0 with :math:`k = 10^{12}`, b = 0. With steps of 10^-5 s and more the impact is
inelastic; with shorter steps the elastic rebound appears. For one unilateral row the paper's program (83)-(85) and the
law complementarity give the same step. The runs start at 90 degrees with steps of 10^-5 to 10^-7 s, as in the paper; with 10^-8 s,
10^8 steps, shortly before the limit.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare

import carom

# The pendulum of length 1 m falls from 90 degrees and reaches the limit with sqrt(2 g).
SPEED = np.sqrt(2.0 * 9.81)
WHOLE = 0.62  # [s]; it meets the limit at 0.592

ends, runs = {}, {}
for h in (1e-5, 1e-6, 1e-7):
    steps = round(WHOLE / h)
    runs[h] = carom.compliant.worlds("pendulum_limit", dt=h, steps=steps, stride=steps // 2000)
    rate = runs[h].frame_state[:, 0, 1]
    ends[h] = rate[np.argmin(rate) :].max() / SPEED
    agree(f"h = {h:g} s: rate at the limit [rad/s]", -rate.min(), SPEED, relative=1e-5)

# The limit and the bob swing with omega = sqrt(k / (m L^2)) = 1e6 rad/s: an implicit step damps them by h omega / 2
# a radian, which leaves exp(-pi h omega / 2) of the speed after half a swing. At h omega = 1 the step itself leaves a
# quarter; at 10 nothing worth the name.
agree("rate after over rate before, at 1e-7 s", ends[1e-7], np.exp(-0.5 * np.pi * 0.1), relative=2e-3)
agree("rate after over rate before, at 1e-6 s", ends[1e-6], 0.25, within=2e-3)
compare("Figure 6", "at h = 1e-5 s the impact 'appears to be dead': rate after over before", 0.0, ends[1e-5], within=6e-3)

# %%
# At 1e-8 s, from shortly before the limit: 0.984 of the speed by the same formula.

start = {"angle": 0.01, "angular_velocity": -4.4}
fine = carom.compliant.worlds("pendulum_limit", start, dt=1e-8, steps=300000, stride=100)
before = np.sqrt(4.4**2 + 2.0 * 9.81 * (1.0 - np.cos(0.01)))
left = np.exp(-0.5 * np.pi * 1e-8 * 1e6)
agree("rate after the limit over that before it, at 1e-8 s", fine.frame_state[:, 0, 1].max() / before, left, within=2e-3)
compare("Figure 6", "the smaller the step, the more elastic", True, left > ends[1e-7] > ends[1e-6] > ends[1e-5])

# %%
# The programme over time is the same step.

for h in (1e-5, 1e-6):
    one, other = (
        carom.compliant.worlds("pendulum_limit", {"angle": 0.0005, "angular_velocity": -4.4}, dt=h, steps=300, stride=1,
                               law=law) for law in ("complementarity", "programme")
    )  # fmt: skip
    agree(f"h = {h:g} s: programme and complementarity differ by [rad, rad/s]",
          np.abs(one.frame_state - other.frame_state).max(), 0.0, within=1e-7)  # fmt: skip

# %%
# At a large step: stable, and dead.

ran = carom.compliant.worlds("pendulum_limit", dt=1e-3, steps=800, stride=1)
agree("angle after 0.8 s at h = 1e-3 s [rad]", ran.frame_state[-100:, 0, 0], 0.0, within=0.03)

# %%

for h, run in runs.items():
    plt.plot(run.frame_time, np.rad2deg(run.frame_state[:, 0, 0]), label=f"h = {h:g} s")
plt.xlabel("time [s]")
plt.ylabel(r"$\theta$ [deg]")
plt.legend()
plt.show()
