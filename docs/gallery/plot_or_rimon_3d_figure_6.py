"""
Or and Rimon (3D), Figure 6: the exact boundary
===============================================

The hull of all critical curves' images is the region: it lies between the two polygons that a linear programme
proves, to within their gap.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, arrangements, holds, inside

import carom

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5))
for ax, (name, posture) in zip(axes, arrangements().items()):
    (three,) = carom.equilibrium.three_contacts(posture)
    exact = carom.equilibrium.spatial(posture, area_tolerance=1e-4)[0]
    holds(f"({name}) nothing of it is excluded", bool(inside(exact.outer, three.searched, 1e-9).all()))
    agree(f"({name}) area [m^2]", three.area_searched, exact.area_outer, within=5e-4)
    kind = np.array(three.boundary_type)
    ax.fill(*exact.inner.T, color="tab:green", alpha=0.3)
    for word, style in (("edge", "k."), ("interior", "r.")):
        ax.plot(*three.boundary_point[kind == word].T, style, markersize=2, label=word)
    ax.set_aspect("equal")
    ax.set_title(f"({name})")
    ax.legend()
plt.show()
