"""
Halm and Posa, Figure 12: compliant contacts and the set
========================================================

Stiff springs and dampers under the corners of the rocking block: whatever the ratio of their stiffnesses, the
impact ends inside the rigid model's set, and the ratios cover it. Tilted by up to 0.01 degrees the block reaches
the same set and slightly beyond. (The paper has 10^5 either way as well; fewer steps do here.)
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds, steps_of

import carom

block = carom.model("rocking_block")
run = carom.impact.sample(block, samples=2**15, **steps_of("rocking_block"))
rigid = block.contact_velocity(run.samples.velocity)[0][0]
size = rigid.max()


def compliant(**parameters):
    ran = carom.compliant.worlds("compliant_block_impact", parameters, dt=1e-7, steps=40000, on_error="raise")
    holds("every impact is over", bool((ran.steps_taken < 40000).all()))
    return block.contact_velocity(ran.velocity[None])[0][0]


def gap(points, others):
    return np.linalg.norm(points[:, None] - others[None], axis=2).min(axis=1).max()


ratios = np.logspace(-5, 5, 51)
by_ratio = compliant(stiffness_ratio=ratios)
agree("farthest outcome from the set, of its size", gap(by_ratio, rigid) / size, 0.0, within=0.02)
agree("farthest of the set from an outcome", gap(rigid[::16], by_ratio) / size, 0.0, within=0.06)

angles = np.linspace(-1e-2, 1e-2, 21)
by_angle = compliant(angle=angles)
agree("farthest outcome of a tilt from the set", gap(by_angle, rigid) / size, 0.0, within=0.04)
holds("the fastest separation of a tilt reaches the set's", by_angle.max() >= 0.99 * size)

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
