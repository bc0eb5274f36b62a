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

state = run.state[0, 0]
time = 0.002 * np.arange(len(state))
figure, (left, right) = plt.subplots(1, 2, sharey=True, figsize=(9, 3.5))
for ax, along, name in ((left, time, "t [s]"), (right, state[:, 6], "s")):
    ax.plot(along, state[:, 2], label=r"$\theta$ [rad]")
    ax.plot(along, state[:, 5], label=r"$\dot\theta$ [rad/s]")
    ax.set_xlabel(name)
left.legend()
plt.show()
