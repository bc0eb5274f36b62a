r"""
Or and Rimon (2D), Figure 3: robust regions
===========================================

Centres of mass that are held against every wrench of a rectangle of disturbances, :math:`\kappa = 0.3`: (a) two contacts,
:math:`0 \le q \le |x_2 - x_1| / 8`: the intersection of four strips. (b) Four contacts,
:math:`|q| \le \nu = |x_4 - x_1| / 3` (Example 4): the region of :math:`\nu = 0`, its edges moved inward by :math:`\nu`.
(The paper does not print the contacts' positions; they are the essential ones of Figure 1.)
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, clip, compare, draw_cones, holds

import carom

BOX = np.array([[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]])


def area(polygon):
    x, y = polygon.T
    return 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def robust(posture, p, q):
    return carom.equilibrium.planar(
        posture.position, posture.normal, posture.friction, neighbourhood={"p": p, "q": q}
    ).polygon()


def of_strips(posture, p, q):
    """The intersection of the strips of the rectangle's corners."""
    polygon = BOX
    for a in p:
        for b in q:
            strip = carom.equilibrium.planar(posture.position, posture.normal, posture.friction, wrench=[-a, -1.0, -b])
            n = strip.normal[0]
            polygon = clip(clip(polygon, n, strip.upper[0]), -n, -strip.lower[0])
    return polygon


two = carom.equilibrium.model("two_contacts")
compare("Example 3", "friction", 0.4, two.friction[0, 0], within=1e-12)
nu = np.linalg.norm(two.position[0, 1] - two.position[0, 0]) / 8
first = robust(two, (-0.3, 0.3), (0.0, nu))
compare("Figure 3", "(a) four strips bound the robust region: corners", 4, len(first))
agree("opposite sides differ by [m]", first[1] - first[0] - (first[2] - first[3]), 0.0, within=1e-9)
agree("its area, by four strips [m^2]", area(first), area(of_strips(two, (-0.3, 0.3), (0.0, nu))), relative=1e-9)

# %%

six = carom.equilibrium.model("six_contacts")
kept = [0, 2, 4, 5]
four = carom.equilibrium.Postures.of(six.position[0, kept], six.normal[0, kept], six.friction[0, kept])
nu = np.ptp(four.position[0, :, 0]) / 3
wide, second = robust(four, (-0.3, 0.3), (0.0, 0.0)), robust(four, (-0.3, 0.3), (-nu, nu))
holds("it is a parallelogram, too", len(second) == 4)


def width_at(polygon, y):
    ends = []
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0)):
        if (a[1] - y) * (b[1] - y) < 0.0:
            ends.append(a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
    return np.array([min(ends), max(ends)])


agree("its area, by four strips [m^2]", area(second), area(of_strips(four, (-0.3, 0.3), (-nu, nu))), relative=1e-9)
y = second[:, 1].mean()
inward = width_at(second, y) - width_at(wide, y)
agree("its edges lie inside those of nu = 0 by [m]", inward, [nu, -nu], within=1e-9)
compare("Example 4", "edges moved inward by nu: distance over nu", 1.0, np.abs(inward).mean() / nu, within=1e-9)

# %%

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5))
for ax, posture, polygon in ((axes[0], two, first), (axes[1], four, second)):
    draw_cones(ax, posture)
    ax.fill(*polygon.T, color="tab:green", alpha=0.4)
axes[1].plot(*np.vstack([wide, wide[:1]]).T, "k--", linewidth=0.8)
plt.show()
