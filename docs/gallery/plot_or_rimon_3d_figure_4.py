"""
Or and Rimon (3D), Figure 4: a conservative region
==================================================

The images of P's edges and their convex hull: a region inside the exact one.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, arrangements, closed, compare, holds, inside

import carom

AREAS = {"a": (0.60099, 0.71722), "b": (0.68296, 0.76330)}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5))
for ax, (name, posture) in zip(axes, arrangements().items()):
    (three,) = carom.equilibrium.three_contacts(posture)
    exact = carom.equilibrium.spatial(posture, area_tolerance=1e-4)[0]
    holds(f"({name}) it is held: every corner lies in what a linear programme cannot exclude",
          bool(inside(exact.outer, three.conservative, 1e-9).all()))  # fmt: skip
    compare("Figure 4", f"({name}) the approximation is conservative", True,
            bool(inside(exact.outer, three.conservative, 1e-9).all()) and three.area_conservative < exact.area_inner)  # fmt: skip
    holds(f"({name}) its {three.area_conservative:.4f} m^2 are less than the {exact.area_inner:.4f} that are held",
          three.area_conservative < exact.area_inner)  # fmt: skip
    agree(f"({name}) both areas [m^2]", [three.area_conservative, exact.area_inner], AREAS[name], within=5e-4)
    edges = np.array(three.boundary_type) == "edge"
    ax.fill(*three.conservative.T, color="tab:green", alpha=0.3)
    ax.plot(*three.boundary_point[edges].T, ".", color="k", markersize=2)
    ax.plot(*closed(exact.outer).T, color="tab:red", linewidth=0.8)
    ax.set_aspect("equal")
    ax.set_title(f"({name}) shaded; exact in red")
plt.show()
