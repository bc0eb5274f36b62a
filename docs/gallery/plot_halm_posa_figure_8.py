r"""
Halm and Posa, Figure 8: impacts that accumulate
================================================

The block of Figure 7 comes to rest after infinitely many impacts: in time, and over the arc length s in which
time stands still during impacts.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds

import carom

run = carom.motion.simulate("rocking_block_zeno", duration=3.0, grid=0.002, keep_samples=1)
agree("time of the accumulation t(s*) [s]", run.zeno_time[0, 0], 2.67, within=0.005)
agree("arc length s*", run.zeno_s[0, 0], 28.4, within=0.05)
holds("it comes to rest", run.end[0, 0] == carom.motion.MotionEnd.rest)

# %%
# The two clocks: s runs with t while nothing hits, and through impacts alone while t stands.

state = run.state[0, 0]
time = 0.002 * np.arange(len(state))
s = state[:, 6]
holds("s never falls behind t", bool((np.diff(s) >= np.diff(time) - 1e-9).all()))
rest = time > run.zeno_time[0, 0] + 0.01
agree("the state after t(s*): angle and rate", np.abs(state[rest][:, [2, 5]]).max(), 0.0, within=1e-9)

# %%

figure, axes = plt.subplots(1, 3, figsize=(13, 3.5))
left, right, clocks = axes
clocks.plot(s, time)
clocks.set_xlabel("s")
clocks.set_ylabel("t [s]")
for ax, along, name in ((left, time, "t [s]"), (right, state[:, 6], "s")):
    ax.plot(along, state[:, 2], label=r"$\theta$ [rad]")
    ax.plot(along, state[:, 5], label=r"$\dot\theta$ [rad/s]")
    ax.set_xlabel(name)
left.legend()
plt.show()
