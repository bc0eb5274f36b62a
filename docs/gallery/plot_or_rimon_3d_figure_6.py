"""
Or and Rimon (3D), Figure 6: the exact boundary
===============================================

The images of P's edges (type 3a) and of the critical curves (type 3b), computed only from the paper's equations.
The hull of the edges is smaller than the region; the hull of both is the region, which linear programs enclose between two polygons.
Type 2b are line segments: in (b) two of the six are straight parts of the boundary, as in the paper's figure; the
others end inside.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import ThreeCones, agree, area, arrangements, closed, compare, holds, hull, inside, off_boundary

import carom

EDGES = {"a": 0.60099, "b": 0.71487}
CONSERVATIVE = {"a": 0.60099, "b": 0.68296}
EXACT = {"a": 0.71724, "b": 0.76332}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5))
for ax, (name, posture) in zip(axes, arrangements().items()):
    (three,) = carom.equilibrium.three_contacts(posture)
    exact = carom.equilibrium.spatial(posture, area_tolerance=1e-4)[0]
    agree(f"({name}) area between the proven polygons [m^2]", [exact.area_inner, exact.area_outer], EXACT[name], within=5e-5)
    holds(f"({name}) nothing of it is excluded", bool(inside(exact.outer, three.searched, 1e-9).all()))
    agree(f"({name}) area found by search [m^2]", three.area_searched, exact.area_outer, within=5e-4)

    cones = ThreeCones(posture)
    pieces = [*three.plus, *three.minus]
    edges, (_, curves) = cones.edges(pieces), cones.critical(pieces)
    holds(f"({name}) no image leaves the proven polygon", bool(inside(exact.outer, np.vstack([edges, curves]), 1e-6).all()))
    agree(f"({name}) area of the hull of all sides of the pieces [m^2]", area(hull(edges)), EDGES[name], within=1e-4)
    # Of P's edges proper: the pieces of (b) have sides, too, along which P is cut.
    agree(f"({name}) Proposition 3.3's area [m^2]", three.area_conservative, CONSERVATIVE[name], within=5e-4)
    agree(f"({name}) area of the hull of types 3a and 3b [m^2]", area(hull(np.vstack([edges, curves]))), EXACT[name],
          within=5e-4)  # fmt: skip

    lines = cones.lines(pieces) if name == "b" else []
    fine = carom.equilibrium.spatial(posture, area_tolerance=1e-6)[0].outer
    contributing = []
    for free, _, ends in lines:
        holds(f"  type 2b, contact {free}: inside the proven polygon", bool(inside(fine, ends, 1e-7).all()))
        # Both ends on the boundary, and what lies between: a chord of a convex region that is not its side is inside.
        if off_boundary(fine, np.linspace(*ends, 21)).max() < 1e-5:
            contributing.append((free, np.linalg.norm(ends[1] - ends[0])))
    agree(f"({name}) segments of type 2b", len(lines), 6 if name == "b" else 0)
    compare("Figure 6", f"({name}) segments of type 2b on the boundary", name == "b", len(contributing) > 0)
    both = area(hull(np.vstack([edges, curves])))
    compare("Figure 6", f"({name}) types 3a and 3b are both required: 3a alone has less area", True, area(hull(edges)) < 0.99 * both)
    agree("  contributing ones: free contact and length [m]", np.array(sorted(contributing)).ravel(),
          [0, 0.423747, 1, 0.286771] if name == "b" else [], within=2e-5)  # fmt: skip
    types = np.vstack([edges, curves, *(ends for *_, ends in lines)])
    agree(f"({name}) area of the hull of types 2b, 3a and 3b [m^2]", area(hull(types)), EXACT[name], within=3e-4)
    for free, _, ends in lines:
        ax.plot(*ends.T, "k:", linewidth=1.5)

    ax.fill(*exact.inner.T, color="tab:green", alpha=0.3)
    ax.plot(*edges.T, "k.", markersize=1, label="type 3a")
    ax.plot(*curves.T, "r.", markersize=1, label="type 3b")
    ax.plot(*closed(hull(types)).T, "g", linewidth=0.8)
    ax.set_aspect("equal")
    ax.set_title(f"({name})")
    ax.legend()
plt.show()
