r"""
Or and Rimon (2D), Figure 2: the strip without a linear program
===============================================================

Lemma 2.3: with :math:`S_1^{\pm\pm}` the vertical strips of the intersections of the two cones or their reflections,
and :math:`S_2` the strip between the contacts, the region is
:math:`((S_1^{++} \cup S_1^{--}) \cap S_2) \cup ((S_1^{+-} \cup S_1^{-+}) \cap \bar S_2)`. Four arrangements, the
last with an inclined force and a torque, computed by the lemma as written in this script, by `method="graphic"` and by the linear program.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, cone_polygon, draw_cones, holds

import carom

FAR = 1e4


def lemma(posture):
    """Ends of the strip by the lemma, under a vertical force; and which parts make it."""
    low, high = np.sort(posture.position[0, :, 0])
    pieces, parts = [], set()
    for first, second in ((1, 1), (-1, -1), (1, -1), (-1, 1)):
        polygon = cone_polygon(posture, (first, second), FAR)
        if not len(polygon):
            continue
        a, b = polygon[:, 0].min(), polygon[:, 0].max()
        inside = first == second
        found = [(max(a, low), min(b, high))] if inside else [(a, min(b, low)), (max(a, high), b)]
        found = [piece for piece in found if piece[0] <= piece[1]]
        pieces += found
        if found:
            parts.add("S" + "".join("+" if sign > 0 else "-" for sign in (first, second)))
    return (min(a for a, _ in pieces), max(b for _, b in pieces)), parts


def turned(posture, angle):
    """The scene as seen along a force that leans by `angle`."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, s], [-s, c]])
    return carom.equilibrium.Postures.of(
        posture.position[0] @ turn.T, posture.normal[0] @ turn.T, posture.friction[0]
    )


def arrangement(slopes, rise, mu):
    tilt = np.deg2rad(slopes)
    normal = np.stack([-np.sin(tilt), np.cos(tilt)], axis=1)
    return carom.equilibrium.Postures.of([[0.0, 0.0], [1.0, rise]], normal, [mu, mu])


cases = {
    "cones below: S1-- and S2": (arrangement([30.0, -30.0], 0.0, 0.2), {"S--"}),
    "one cone leans over: S1++ and S1+-": (arrangement([-39.0, 23.0], 0.7, 0.6), {"S++", "S+-"}),
    "half-plane S1++ and S2": (arrangement([-1.0, 39.0], 0.7, 0.3), {"S++"}),
}
figure, axes = plt.subplots(2, 2, figsize=(9, 7))
for ax, (name, (posture, expected)) in zip(axes.flat, cases.items()):
    region = carom.equilibrium.planar(posture)
    graphic = carom.equilibrium.planar(posture, method="graphic")
    ends, parts = lemma(posture)
    print(f"{name}: {sorted(parts)}")
    agree("  by the lemma", ends, [region.lower[0], region.upper[0]], within=1e-6)
    agree('  by method="graphic"', [graphic.lower[0], graphic.upper[0]], [region.lower[0], region.upper[0]], within=1e-12)
    holds(f"  from the parts {sorted(expected)}", parts == expected)
    draw_cones(ax, posture)
    ax.axvspan(*ends, color="tab:green", alpha=0.2)
    ax.set_title(name)

# %%
# A force that leans turns the scene, a torque shifts it.

angle, torque = 0.15, 0.05
posture = arrangement([-25.0, 30.0], 0.2, 0.4)
force = np.array([np.sin(angle), -np.cos(angle)])
region = carom.equilibrium.planar(posture.position, posture.normal, posture.friction, wrench=[*force, torque])
across = np.array([np.cos(angle), np.sin(angle)])
agree("the strip runs along the force", np.abs(region.normal[0] @ force), 0.0, within=1e-12)
ends = np.sort(np.array([region.lower[0], region.upper[0]]) / (region.normal[0] @ across))
agree("under a general wrench", np.array(lemma(turned(posture, angle))[0]) + torque, ends, within=1e-6)

ax = axes.flat[3]
draw_cones(ax, posture)
x, y = np.meshgrid(np.linspace(-0.6, 1.6, 200), np.linspace(-0.6, 1.6, 200))
along = across[0] * x + across[1] * y
ax.contourf(x, y, (along >= ends[0]) & (along <= ends[1]), levels=[0.5, 1.5], colors="tab:green", alpha=0.2)
ax.set_title("a general wrench")
figure.tight_layout()
plt.show()
