r"""
Or and Rimon (3D), Figure 3: forces by r and zeta
=================================================

Any three forces that hold the body are :math:`f_i = \sigma \lambda_i (E (r - \tilde x_i) + \zeta_i e)`: r where
their lines meet as seen from above, :math:`\zeta_i` the height over contact i at which its force crosses the
vertical through r (7). The forces shown are solutions of a linear program.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, arrangements, holds

import carom

posture = arrangements()["b"]
region = carom.equilibrium.spatial(posture)[0]
agree("area over which a centre of mass is held [m^2]", region.area_outer, 0.7633, within=2e-3)
com = np.append(region.inner.mean(axis=0) @ region.frame[:2, :2], 0.5)
held = carom.equilibrium.margins(posture, com=com, on_error="raise")
at, forces = posture.position[0], held.forces[0]
flat = at[:, :2]

# Least squares of the three lines' common point: it exists only because the moments balance.
normal = np.stack([forces[:, 1], -forces[:, 0]], axis=1)
r, gap, *_ = np.linalg.lstsq(normal, (normal * flat).sum(axis=1), rcond=None)
agree("the lines of the horizontal forces miss their common point by", normal @ r - (normal * flat).sum(axis=1), 0.0,
      within=1e-9)  # fmt: skip

share = [np.dot(forces[i, :2], r - flat[i]) / np.dot(r - flat[i], r - flat[i]) for i in range(3)]
zeta = forces[:, 2] / share
turn = np.array([[0.0, -1.0], [1.0, 0.0]])
area = np.array([(r - flat[(i + 1) % 3]) @ turn @ (flat[(i + 2) % 3] - flat[(i + 1) % 3]) for i in range(3)])
sigma = 1.0 / (area @ zeta)
rebuilt = sigma * area[:, None] * np.concatenate([r - flat, zeta[:, None]], axis=1)
agree("forces by (7) [N]", rebuilt, forces, within=1e-9)
agree("they add up to the weight [N]", rebuilt.sum(axis=0), [0.0, 0.0, 1.0], within=1e-9)
along = (rebuilt * posture.normal[0]).sum(axis=1)
across = np.linalg.norm(rebuilt - along[:, None] * posture.normal[0], axis=1)
holds("they lie in their cones (8)", bool((across <= 0.2 * along + 1e-9).all()))

# %%

figure = plt.figure(figsize=(6, 5))
ax = figure.add_subplot(projection="3d")
for start, force, height in zip(at, forces, zeta):
    ax.plot(*np.stack([start, start + force]).T, "tab:blue")
    ax.plot(*np.stack([start, [*r, start[2] + height]]).T, "k--", linewidth=0.6)
top = (at[:, 2] + zeta).max()
ax.plot([r[0], r[0]], [r[1], r[1]], [0.0, top], "tab:red", label="vertical line through r")
ax.legend()
plt.show()
