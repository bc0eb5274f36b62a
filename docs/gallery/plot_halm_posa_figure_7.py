r"""
Halm and Posa, Figure 7: half a cycle of a rocking block
========================================================

From :math:`\dot\theta = 1` rad/s about one corner the block rises to its apex and falls back; the impact on the
other corner multiplies the rate by 0.7.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, holds

import carom

run = carom.motion.simulate("rocking_block_zeno", duration=1.2, grid=0.002, keep_samples=1, keep_events=3)
theta, rate = run.state[0, 0, :, 2], run.state[0, 0, :, 5]
kinds = [carom.motion.MotionEventKind(kind).name for kind in run.event_kind[0, 0]]
holds("a corner sticks, the other strikes, the first lifts off", kinds == ["stick", "impact", "lift_off"])

compare("Figure 7", "apex of the angle [rad]", 0.22, np.abs(theta).max(), within=0.005)
struck = int(run.event_time[0, 0, 1] / 0.002)
agree("rate before the impact [rad/s]", rate[struck], -1.0, within=5e-3)
compare("(68)", "rate after the impact, after 1 rad/s at the start [rad/s]", -0.7, run.event_state[0, 0, 1, 5], within=1e-9)

# %%

plt.plot(theta[: struck + 1], rate[: struck + 1])
plt.plot(theta[struck : struck + 2], rate[struck : struck + 2], "r--", label="impact")
plt.xlabel(r"$\theta$ [rad]")
plt.ylabel(r"$\dot\theta$ [rad/s]")
plt.legend()
plt.show()
