r"""
Or and Rimon (3D), Figure 2: the region P of horizontal forces
==============================================================

Seen from above the three contact forces meet in one point r. It lies in all three projected cones, :math:`P_+`, or
in some of them and the reflections of the others, :math:`P_-`: arrangement (a) has only the first, (b) both.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import arrangements, compare, holds, projected_cones, signs_of

import carom

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5))
for ax, (name, posture) in zip(axes, arrangements().items()):
    (region,) = carom.equilibrium.three_contacts(posture)
    compare("Figure 2", f"({name}) P", "P+" if name == "a" else "P+ and P-", "P+ and P-" if region.minus else "P+")
    holds(f"({name}) {len(region.plus)} piece of P+ and {len(region.minus)} of P-",
          (len(region.plus), len(region.minus)) == ((1, 0) if name == "a" else (1, 1)))  # fmt: skip
    centre = region.plus[0].mean(axis=0)
    holds(f"({name}) P+ lies in all three cones", signs_of(posture, centre) == [1, 1, 1])
    if region.minus:
        signs = sorted(signs_of(posture, region.minus[0].mean(axis=0)))
        holds(f"({name}) P- lies in two cones and the reflection of the third", signs == [-1, 1, 1])
    for at, along in projected_cones(posture):
        for edge in along:
            ax.plot(*np.stack([at, at + 3.0 * edge]).T, color="0.6", linewidth=0.8)
        ax.plot(*at, "ko")
    for polygon in [*region.plus, *region.minus]:
        ax.fill(*polygon.T, color="tab:green", alpha=0.4)
    ax.set_xlim(-2, 2)
    ax.set_ylim(-2, 2)
    ax.set_aspect("equal")
    ax.set_title(f"({name})")
plt.show()
