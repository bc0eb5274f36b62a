"""
Or and Rimon (3D), Figure 5: critical curves
============================================

Where in P do the forces of the region's boundary meet? On P's edges (type 3a) and on curves in its interior
(type 3b), by which the hull of the edges' images falls short of the region.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import arrangements, closed, holds, inside

import carom

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5))
for ax, (name, posture) in zip(axes, arrangements().items()):
    (three,) = carom.equilibrium.three_contacts(posture)
    kind = np.array(three.boundary_type)
    pieces = [*three.plus, *three.minus]
    somewhere = np.any([inside(piece, three.boundary_r, 1e-6) for piece in pieces], axis=0)
    holds(f"({name}) all of them lie in P", bool(somewhere.all()))
    interior = three.boundary_r[kind == "interior"]
    strictly = np.any([inside(piece, interior, -1e-9) for piece in pieces], axis=0)
    holds(f"({name}) some lie strictly inside", bool(strictly.any()))
    for piece in pieces:
        ax.plot(*closed(piece).T, "k", linewidth=0.8)
    for word, colour in (("edge", "tab:blue"), ("interior", "tab:red")):
        ax.plot(*three.boundary_r[kind == word].T, ".", color=colour, markersize=3, label=word)
    ax.set_title(f"({name})")
    ax.legend()
plt.show()
