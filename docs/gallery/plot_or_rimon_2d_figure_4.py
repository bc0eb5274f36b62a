"""
Or and Rimon (2D), Figure 4: flat feet
======================================

A foot is a patch, which is equivalent to point contacts at its two ends. The strip and the robust region of a biped on
two patches are those of four points.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, draw_cones, holds

import carom

feet = carom.equilibrium.model("biped_patches")
normal, start = feet.normal[0], feet.position[0]
tangent = np.stack([normal[:, 1], -normal[:, 0]], axis=1)
ends = start + feet.length[0][:, None] * tangent
points = carom.equilibrium.Postures.of(
    np.concatenate([start, ends]), np.concatenate([normal, normal]), np.tile(feet.friction[0], 2),
    neighbourhood=feet.wrench_vertices[0],
)  # fmt: skip

# The neighbourhood: kappa = 0.3, nu a twentieth of the distance of the far ends.
span = np.linalg.norm(ends[1] - start[0])
p, q = (feet.wrench_vertices[0][:, [0, 2]] / feet.wrench_vertices[0][:, 1:2]).T
agree("kappa", np.abs(p), 0.3, within=1e-12)
agree("nu over the span", np.abs(q) / span, 1 / 20, within=1e-12)

patches, by_points = carom.equilibrium.planar(feet), carom.equilibrium.planar(points)
compare("Figure 4", "the region of two patches is that of four points: difference [m]", 0.0,
        np.abs([patches.lower[0] - by_points.lower[0], patches.upper[0] - by_points.upper[0]]).max(), within=1e-9)  # fmt: skip
agree("strip, by points [m]", [patches.lower[0], patches.upper[0]], [by_points.lower[0], by_points.upper[0]],
      within=1e-9)  # fmt: skip
agree("its ends on carom's own feet [m]", [patches.lower[0], patches.upper[0]], [0.0, 0.934923], within=1e-6)
first, second = (polygon[np.lexsort(polygon.T.round(6))] for polygon in (patches.polygon(), by_points.polygon()))
holds("the robust region has four corners", first.shape == second.shape == (4, 2))
agree("their places, by points [m]", first, second, within=1e-9)

# %%

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5))
for ax in axes:
    for a, b in zip(start, ends):
        ax.plot(*np.stack([a, b]).T, "k-", linewidth=4)
    draw_cones(ax, points)
axes[0].axvspan(patches.lower[0], patches.upper[0], color="tab:green", alpha=0.2)
axes[1].fill(*patches.polygon().T, color="tab:green", alpha=0.4)
plt.show()
