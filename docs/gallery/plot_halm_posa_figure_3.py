r"""
Halm and Posa, Figure 3: Routh's method
=======================================

One contact: while it slips, friction is on the edge of the friction cone. The path of the velocity has a corner where
slip stops, and the impact ends at zero normal velocity. If friction cannot hold the contact, the slip reverses. The contact's inverse
mass is [[1.4, 1], [1, 3.5]] 1/kg (normal, tangential); the corners follow by hand.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds

import carom

MASS = np.diag([1.0, 1.0, 0.1])
NORMAL, TANGENT = np.array([[0.0, 1.0, 0.2]]), np.array([[1.0, 0.0, 0.5]])
BOTH = np.vstack([NORMAL, TANGENT])
INVERSE = BOTH @ np.linalg.inv(MASS) @ BOTH.T
agree("inverse mass of the contact [1/kg]", INVERSE, [[1.4, 1.0], [1.0, 3.5]], within=1e-12)


def path(mu, slip):
    """Velocities (normal, tangential) of the contact through the impact, and the whole impulse [N s]."""
    run = carom.impact.sample(
        MASS[None], NORMAL[None], TANGENT[None], [[mu]], [[slip, -1.0, 0.0]], samples=16, method="events", keep_paths=16
    )
    ends = run.samples.velocity[0] @ BOTH.T
    agree("every sample ends alike: one contact has one solution", np.ptp(ends, axis=0), 0.0, within=1e-12)
    return run.paths[0][0] @ BOTH.T, run.samples.impulse[0, 0]


def corners(*pieces):
    """By hand: pieces (share of the normal impulse that is tangential, normal impulse) from the start on."""
    places = [start]
    for share, impulse in pieces:
        places.append(places[-1] + impulse * INVERSE @ [1.0, share])
    return np.array(places)


def off(points, line):
    """Farthest distance of points from a polygonal line."""
    far = []
    for point in points:
        a, b = line[:-1], line[1:]
        along = np.clip(((point - a) * (b - a)).sum(1) / ((b - a) ** 2).sum(1), 0.0, 1.0)
        far.append(np.linalg.norm(a + along[:, None] * (b - a) - point, axis=1).min())
    return max(far)


figure, axes = plt.subplots(1, 2, figsize=(9, 4))

# Slip of 1 m/s, mu = 0.6: it falls at 1.1 a unit of impulse and sticks, which takes 1 / 3.5 of the normal impulse.
start = np.array([-1.0, 1.0])
first = 1.0 / 1.1
second = (1.0 - 0.8 * first) / (1.4 - 1.0 / 3.5)
sticks = corners((-0.6, first), (-1.0 / 3.5, second))
found, impulse = path(0.6, 1.0)
agree("mu = 0.6: it ends at [m/s]", found[-1], [0.0, 0.0], within=1e-12)
agree("  the path bends where slip stops [m/s]", sticks[1], [-3.0 / 11.0, 0.0], within=1e-12)
agree("  the path off that of Routh's method [m/s]", off(found, sticks), 0.0, within=1e-12)
agree("  impulse [N s]", impulse, [first + second, -0.6 * first - second / 3.5], within=1e-12)

# Slip of -0.2 m/s, mu = 0.2: to hold it takes 1 / 3.5 > 0.2, so slip reverses.
start = np.array([-1.0, -0.2])
first = 0.2 / 1.7
second = (1.0 - 1.6 * first) / 1.2
reverses = corners((0.2, first), (-0.2, second))
other, impulse = path(0.2, -0.2)
agree("mu = 0.2: it ends at [m/s]", other[-1], [0.0, 0.3 * second], within=1e-12)
agree("  the path off that of Routh's method [m/s]", off(other, reverses), 0.0, within=1e-12)
agree("  impulse [N s]", impulse, [first + second, 0.2 * (first - second)], within=1e-12)
holds("  slip reverses", other[0, 1] < 0.0 < other[-1, 1])

# %%

for ax, line, points, title in ((axes[0], sticks, found, "slip stops"), (axes[1], reverses, other, "slip reverses")):
    ax.plot(line[:, 1], line[:, 0], color="gold", linewidth=3, label="by hand")
    ax.plot(points[:, 1], points[:, 0], "k.", label="events")
    ax.axhline(0.0, color="0.6")
    ax.axvline(0.0, color="0.6")
    ax.set_xlabel("tangential velocity [m/s]")
    ax.set_title(title)
    ax.legend()
axes[0].set_ylabel("normal velocity [m/s]")
plt.show()
