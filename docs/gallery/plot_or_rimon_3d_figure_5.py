"""
Or and Rimon (3D), Figure 5: critical curves
============================================

Where in P do the forces of the region's boundary meet? On P's edges (type 3a) and on curves in its interior
(type 3b), the zeros of the determinant of (15). They are drawn here only from the paper's map, for all choices of
signs. The library computes boundary points in another way, as extreme points; they are on these curves. Type 2b, with one
force inside its cone, has isolated points (13) if the heights of the contacts differ; here there are six.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
from papers import ThreeCones, agree, arrangements, closed, compare, holds, inside

import carom

# Of contact 0, 0, 0, 1, 1, 2; on carom's own contacts.
TYPE_2B = [(-0.00892, 0.32720), (0.12338, -0.35400), (0.67363, -0.27280), (0.35940, -0.02527), (0.51720, -0.47580),
           (-0.29904, 0.06256)]  # fmt: skip
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5))
for ax, (name, posture) in zip(axes, arrangements().items()):
    (three,) = carom.equilibrium.three_contacts(posture)
    kind = np.array(three.boundary_type)
    pieces = [*three.plus, *three.minus]
    somewhere = np.any([inside(piece, three.boundary_r, 1e-6) for piece in pieces], axis=0)
    holds(f"({name}) all boundary points lie in P", bool(somewhere.all()))
    interior, there = three.boundary_r[kind == "interior"], three.boundary_point[kind == "interior"]
    strictly = np.any([inside(piece, interior, -1e-9) for piece in pieces], axis=0)
    holds(f"({name}) some lie strictly inside", bool(strictly.any()))

    cones = ThreeCones(posture)
    smallest = np.full(len(interior), np.inf)
    nearest = np.full(len(interior), np.inf)
    for signs in itertools.product((1, -1), repeat=3):
        forces = cones.forces(interior, signs)
        far = np.linalg.norm(cones.centre(forces) - there, axis=1)
        far[~cones.pressing(forces)] = np.inf
        nearest = np.minimum(nearest, far)
        smallest = np.where(far < 1e-6, np.minimum(smallest, np.abs(cones.determinant(interior, signs))), smallest)
    agree(f"({name}) their images by the paper's map (9) are the library's points [m]", nearest.max(), 0.0, within=1e-9)
    # The rest lie within 1e-3 of where a root of (10) vanishes, at which the determinant has no derivative.
    agree(f"({name}) share of the interior ones on det M_3 = 0, to 1e-3", (smallest < 1e-3).mean(), 1.0, within=0.03)
    agree(f"({name}) median of the determinant there", np.median(smallest), 0.0, within=1e-8)
    curves, _ = cones.critical(pieces)
    holds(f"({name}) type 3b has {len(curves)} points of the grid's lines", len(curves) > 500)

    lines = cones.lines(pieces) if name == "b" else []  # at equal heights they are degenerate
    compare("Figure 5", f"({name}) isolated points of type 2b", name == "b", len(lines) > 0)
    agree(f"({name}) points of type 2b by free contact", [sum(i == free for i, *_ in lines) for free in range(3)],
          [3, 2, 1] if name == "b" else 0)  # fmt: skip
    for (free, place, _), expected in zip(sorted(lines, key=lambda line: (line[0], *line[1])), TYPE_2B):
        agree(f"  of contact {free} [m]", place, expected, within=1e-5)
        ax.plot(*place, "x+*"[free], color="k", markersize=7)

    for piece in pieces:
        ax.plot(*closed(piece).T, "k", linewidth=0.8)
    ax.plot(*curves.T, ".", color="0.6", markersize=2, label="type 3b, all")
    for word, colour in (("edge", "tab:blue"), ("interior", "tab:red")):
        ax.plot(*three.boundary_r[kind == word].T, ".", color=colour, markersize=3, label=f"of the boundary: {word}")
    ax.set_title(f"({name})")
    ax.legend(fontsize="small")
plt.show()
