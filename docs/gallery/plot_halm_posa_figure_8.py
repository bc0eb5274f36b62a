r"""
Halm and Posa, Figure 8: impacts that accumulate
================================================

The block of Figure 7 comes to rest after infinitely many impacts: over time t, and over the arc length s, which also
advances during impacts.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, holds

import carom

run = carom.motion.simulate("rocking_block_zeno", duration=3.0, grid=0.002, keep_samples=1, keep_events=1000)
compare("Figure 8", "time of the accumulation t(s*) [s]", 2.67, run.zeno_time[0, 0], within=0.005)
compare("Figure 8", "arc length s*", 28.4, run.zeno_s[0, 0], within=0.05)
first = run.event_time[0, 0][run.event_kind[0, 0] == carom.motion.MotionEventKind.impact.value][0]
compare("Figure 8", "first impact, 'beginning with t(s) of about 1' [s]", 1.0, first, within=0.05)
holds("it comes to rest", run.end[0, 0] == carom.motion.MotionEnd.rest)

# %%
# The two clocks: s runs with t while nothing hits. During an impact only s runs and t stands still.

state = run.state[0, 0]
time = 0.002 * np.arange(len(state))
s = state[:, 6]
holds("s never falls behind t", bool((np.diff(s) >= np.diff(time) - 1e-9).all()))
rest = time > run.zeno_time[0, 0] + 0.01
agree("the state after t(s*): angle and rate", np.abs(state[rest][:, [2, 5]]).max(), 0.0, within=1e-9)

# %%
# The right panel: how fast time and the normal impulses of A and B accumulate over s, (52): s' = 1 + the normal force
# between impacts, and during one t stands still. The force is that of the centre's acceleration.

mass, gravity = (carom.motion.models()["rocking_block_zeno"].parameters[name].value for name in ("mass", "gravity"))
pace = np.gradient(s, time)
force = mass * (gravity + np.gradient(state[:, 4], time))
events = run.event_time[0, 0][: run.event_count[0, 0]]
smooth = np.abs(time[:, None] - np.unique(events)).min(axis=1) > 0.005  # differences across an impact say nothing
smooth &= (time > 0.004) & (time < time[-1] - 0.004)
# both are central differences with the same error, of what the integration holds to 1e-10
agree("s' - 1 - normal force [N], between impacts", np.abs(pace - 1.0 - force)[smooth].max(), 0.0, within=1e-6)
agree("dt/ds at rest, 1 / (1 + m g)", (1.0 / pace)[rest & smooth], 1.0 / (1.0 + mass * gravity), within=1e-9)
on_a = state[:, 2] > 1e-9  # turned to this side it stands on A, else on B; at rest on both
on_b = state[:, 2] < -1e-9
share = np.where(on_a, 1.0, np.where(on_b, 0.0, 0.5))
impulse = 1.0 - 1.0 / pace

# %%

figure, axes = plt.subplots(1, 3, figsize=(13, 3.5))
left, right, clocks = axes
clocks.plot(s, 1.0 / pace, label="dt/ds")
clocks.plot(s, share * impulse, label=r"$\lambda_A$")
clocks.plot(s, (1.0 - share) * impulse, label=r"$\lambda_B$")
clocks.set_xlabel("s")
clocks.legend()
for ax, along, name in ((left, time, "t [s]"), (right, state[:, 6], "s")):
    ax.plot(along, state[:, 2], label=r"$\theta$ [rad]")
    ax.plot(along, state[:, 5], label=r"$\dot\theta$ [rad/s]")
    ax.set_xlabel(name)
left.legend()
plt.show()
