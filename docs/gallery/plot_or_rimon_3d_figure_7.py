"""
Or and Rimon (3D), Figure 7: cones of six sides
===============================================

Friction cones are replaced by pyramids of six sides, inscribed as in (20) or circumscribed. Their regions are inside and
around the exact one.
"""

import matplotlib.pyplot as plt
from papers import agree, arrangements, closed, compare, holds, inside

import carom

AREAS = {"a": (0.6091, 0.7172, 0.7936), "b": (0.647, 0.7633, 0.8118)}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5))
for ax, (name, posture) in zip(axes, arrangements().items()):
    exact = carom.equilibrium.spatial(posture, area_tolerance=1e-4)[0]
    within, around = (
        carom.equilibrium.spatial(posture, cones=cones, cone_sides=6, area_tolerance=1e-4)[0]
        for cones in ("inscribed", "circumscribed")
    )
    holds(f"({name}) areas {within.area_outer:.4f} < {exact.area_inner:.4f} < {around.area_inner:.4f} m^2",
          within.area_outer < exact.area_inner < exact.area_outer < around.area_inner)  # fmt: skip
    agree(f"({name}) areas [m^2]", [within.area_outer, exact.area_inner, around.area_inner], AREAS[name], within=2e-3)
    compare("Figure 7", f"({name}) sides of the cones of (20); their region lies inside", True,
            bool(inside(exact.outer, within.inner, 1e-9).all()))  # fmt: skip
    holds(f"({name}) the inscribed region lies in the exact one", bool(inside(exact.outer, within.inner, 1e-9).all()))
    holds(f"({name}) which lies in the circumscribed", bool(inside(around.outer, exact.inner, 1e-9).all()))
    ax.fill(*within.inner.T, color="tab:green", alpha=0.4, label="inscribed")
    ax.plot(*closed(exact.outer).T, "k--", label="exact")
    ax.plot(*closed(around.outer).T, color="tab:blue", label="circumscribed")
    ax.set_aspect("equal")
    ax.set_title(f"({name})")
    ax.legend()
plt.show()
