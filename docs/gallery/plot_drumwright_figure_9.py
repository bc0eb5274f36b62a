"""
Drumwright, Figure 9: a block on an incline
===========================================

Distance slid in a second at 15 degrees, h = 0.01 s, by two laws: the paper's own convex programme (176)-(182), and
Coulomb's law as it stands (complementarity), which is what carom steps by unless told otherwise. Both start to slide
and to stick where the paper says. Between, the programme raises the normal forces until they stop the sliding, so
that the block leaves the plane: the distances alone, all that the figure shows, hide it.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds

import carom

mu = np.linspace(0.0, 0.375, 31)
ran = carom.compliant.worlds("inclined_block", {"friction": mu}, dt=0.01, steps=100, stride=1, on_error="raise")
slope = np.deg2rad(15.0)
coulomb = 0.5 * 9.81 * np.maximum(0.0, np.sin(slope) - mu * np.cos(slope))
# Semi-implicit steps go (n + 1) / n times as far as the parabola.
for i in (0, 10, 20):
    agree(f"complementarity, distance at mu = {mu[i]:g} [m]", ran.displacement[i], 1.01 * coulomb[i], relative=1e-3)
agree("complementarity, distance at mu = 0.375 [m]", ran.displacement[-1], 0.0, within=1e-6)
holds("complementarity: more friction, less distance", bool((np.diff(ran.displacement[:21]) < 0.0).all()))
normal = ran.force[:, ::3]
agree("complementarity, sum of the normal forces [N]", normal.sum(axis=1), 9.81 * np.cos(slope), relative=1e-3)

# %%
# The paper's programme over time, at the paper's four coefficients.

paper = np.array([0.0, 0.125, 0.25, 0.375])
programme = carom.compliant.worlds("inclined_block", {"friction": paper}, dt=0.01, steps=100, stride=1, law="programme")
print(f"  largest residual {programme.max_residual.max():.1e}, steps above 1e-9: {programme.failed.sum()} of 400")
holds("at most two steps in a hundred miss the tolerance, by less than 1e-6",
      bool((programme.failed <= 2).all() and programme.max_residual.max() < 1e-6))  # fmt: skip


def highest(run):
    """Greatest height of the centre above its start [m], of every world."""
    z = run.frame_state[:, :, 2]
    return (z - z[0]).max(axis=0)


agree("programme, distance without friction [m]", programme.displacement[0], ran.displacement[0], within=1e-9)
agree("programme, distance at mu = 0.375 [m]", programme.displacement[3], 0.0, within=1e-6)
agree("programme, distance at mu = 0.125 and 0.25 [m]", programme.displacement[1:3], [0.543614, 0.330676], within=1e-4)
agree("programme, greatest height [m]", highest(programme), [0.0, 1.27824, 0.23113, 0.0], within=1e-3)
agree("complementarity, greatest height [m]", highest(ran), 0.0, within=1e-6)

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.plot(mu, ran.displacement, "o-", label="complementarity (carom's own)")
left.plot(paper, programme.displacement, "s", label="programme (the paper's)")
left.plot(mu, coulomb, "k--", label="rigid block, Coulomb friction")
left.set_xlabel("friction coefficient")
left.set_ylabel("distance slid in 1 s [m]")
left.legend()
for world, coefficient in enumerate(paper):
    z = programme.frame_state[:, world, 2]
    right.plot(programme.frame_time, z - z[0], label=f"programme, mu = {coefficient:g}")
right.set_xlabel("time [s]")
right.set_ylabel("height of the centre above its start [m]")
right.legend()
figure.tight_layout()
plt.show()
