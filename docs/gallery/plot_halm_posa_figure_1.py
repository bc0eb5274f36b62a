"""
Halm and Posa, Figure 1: one fall, three outcomes
=================================================

A block falls flat on its corners A and B. If both contacts are resolved simultaneously, the block comes to rest. If they are resolved one after
the other, it pivots about the second while the first lifts off.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, balanced, compare

import carom

block = carom.model("rocking_block")
(rest,) = carom.impact.simultaneous(block)
a_first, b_first = carom.impact.sequential(block, orders=[(0, 1), (1, 0)])

agree("speed after the simultaneous impact [m/s]", np.abs(rest.velocity).max(), 0.0, within=1e-12)
agree("  each corner takes half of the momentum of 1 kg [N s]", rest.impulse, [0.22145, 0.22145, 0.0, 0.0], within=1e-12)
for name, outcome in (("at once", rest), ("A, then B", a_first), ("B, then A", b_first)):
    balanced(name, block, outcome)
compare("Figure 1", "A and B at once", "sticking/sticking", rest.modes)
compare("Figure 1", "A, then B: modes of A and B", "separating/sticking", a_first.modes)
compare("Figure 1", "B, then A", "sticking/separating", b_first.modes)

# %%
# Angular momentum about the corner that sticks is kept twice. With Table 4's numbers the other corner rises
# at 0.21 times the speed of the fall.

agree("A rises at [m/s]", a_first.normal_velocity[0], 0.21 * 0.4429, within=1e-9)
agree("B rises at [m/s]", b_first.normal_velocity[1], 0.21 * 0.4429, within=1e-9)

# %%

corners = np.array([[-0.5, 0.0], [0.5, 0.0], [0.5, 2.0], [-0.5, 2.0], [-0.5, 0.0]])
figure, axes = plt.subplots(1, 3, sharey=True, figsize=(8, 4))
for ax, title, outcome in zip(axes, ("at once", "A, then B", "B, then A"), (rest, a_first, b_first)):
    vx, vy, spin = outcome.velocity
    turned = corners - [0.0, 1.0]
    speed = np.stack([vx - spin * turned[:, 1], vy + spin * turned[:, 0]], axis=1)
    ax.fill(*corners.T, facecolor="gold", edgecolor="black")
    ax.quiver(*corners[:4].T, *speed[:4].T, angles="xy", scale_units="xy", scale=0.3, color="tab:red")
    ax.set_title(title)
    ax.set_aspect("equal")
    ax.set_xlim(-1.2, 1.2)
figure.supylabel("[m]; velocities of the corners in red")
plt.show()
