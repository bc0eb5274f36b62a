"""
Halm and Posa, Figure 12: compliant contacts and the set
========================================================

Stiff springs and dampers under the corners of the rocking block: for any ratio of their stiffnesses, the
impact ends inside the rigid model's exact set (a line from rest to 0.21 times the speed of approach, for either
corner), and the ratios cover it. If the block is tilted by up to 0.01 degrees, its outcomes exceed the set by up to 1.8 %.
51 ratios from 10^-5 to 10^5 and 51 angles, as in the paper.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, holds, steps_of

import carom

block = carom.model("rocking_block")
run = carom.impact.sample(block, samples=2**15, **steps_of("rocking_block"))
rigid = block.contact_velocity(run.samples.velocity)[0][0]
size = 0.21 * 0.4429  # of the exact set
exact = carom.impact.enclose(block)[0]
agree("exact extent of the set [m/s]", exact.normal_velocity_max, size, within=1e-9)


def compliant(**parameters):
    ran = carom.compliant.worlds("compliant_block_impact", parameters, dt=1e-7, steps=40000, on_error="raise")
    holds("every impact is over", bool((ran.steps_taken < 40000).all()))
    return block.contact_velocity(ran.velocity[None])[0][0]


def gap(points, others):
    return np.linalg.norm(points[:, None] - others[None], axis=2).min(axis=1).max()


ratios = np.logspace(-5, 5, 51)
by_ratio = compliant(stiffness_ratio=ratios)
compare("Figure 12", "outcomes of 51 stiffness ratios 'properly contained'", True, (by_ratio.max(axis=0) < size).all())
agree("largest lift over all ratios [m/s]", by_ratio.max(), 0.09168, within=1e-4)
agree("the other corner's lift", np.minimum(*by_ratio.T).max() / size, 0.0, within=1e-3)
agree("farthest of the set from an outcome, of its size", gap(rigid[::16], by_ratio) / size, 0.0, within=0.06)

angles = np.linspace(-1e-2, 1e-2, 51)
by_angle = compliant(angle=angles)
agree("farthest outcome of a tilt from the set", gap(by_angle, rigid) / size, 0.0, within=0.04)
agree("fastest separation of a tilt [m/s]", by_angle.max(), 0.09471, within=1e-4)
compare("Figure 12", "largest speed over 51 angles 'slightly larger' than the set's", True, size < by_angle.max() < 1.03 * size)
agree("both ways alike", by_angle.max(axis=0), by_angle.max(), relative=1e-3)

# %%
# At 0.01 degrees the impacts are nearly one after the other: corner A has had 99.9992 % of its impulse before B touches.

ran = carom.compliant.worlds("compliant_block_impact", {"angle": 1e-2}, dt=1e-7, steps=40000, stride=1)
steps = int(ran.steps_taken[0])
t = ran.frame_time[: steps + 1]
x, y, angle, vx, vy, spin = ran.frame_state[: steps + 1, 0].T
both = vy - vy[0] + 9.81 * t  # normal impulses of A and B, from the momentum of 1 kg
lever = (5.0 / 12.0 * (spin - spin[0]) - (vx - vx[0])) / 0.5  # B's less A's, from the spin
impulse_a = 0.5 * (both - lever)
touches = int(np.argmax(y - np.cos(angle) + 0.5 * np.sin(angle) <= 0.0))
holds("A touches first", y[0] - np.cos(angle[0]) - 0.5 * np.sin(angle[0]) < 1e-12 and touches > 1000)
compare("section 5.4.1", "A's impulse before B touches, at 0.01 degrees [%]", 99.9992,
        100.0 * impulse_a[touches] / impulse_a[-1], within=2e-3, note="the remaining share of 8e-6 is not resolved")  # fmt: skip
agree("impulses of A and B in the end [N s]", [impulse_a[-1], both[-1] - impulse_a[-1]], [0.38639, 0.11805], within=1e-4)

# %%

figure, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 4))
for ax, outcomes, colour, name in (
    (axes[0], by_ratio, np.log10(ratios), "log10 of the stiffness ratio"),
    (axes[1], by_angle, angles, "angle [deg]"),
):
    ax.plot(*rigid.T, ".", color="0.8", markersize=2)
    figure.colorbar(ax.scatter(*outcomes.T, c=colour), ax=ax, label=name)
    ax.set_xlabel("normal velocity of A [m/s]")
axes[0].set_ylabel("normal velocity of B [m/s]")
plt.show()
