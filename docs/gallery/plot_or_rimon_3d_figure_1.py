"""
Or and Rimon (3D), Figure 1: two arrangements of three contacts
===============================================================

mu = 0.2; three contacts at the same height on ground that slopes inwards, and three at different heights. (The paper shows
positions and slopes only in pictures; the numbers are carom's.)
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, arrangements, compare, holds

import carom

figure = plt.figure(figsize=(10, 5))
for number, (name, posture) in enumerate(arrangements().items()):
    compare("Figure 1", f"({name}) friction of three contacts", 0.2, posture.friction[0].mean(), within=1e-12)
    agree("  contacts", posture.contacts, 3)
    lean = np.arccos(posture.normal[0, :, 2])
    holds(f"({name}) every force of a cone points upwards", bool((lean + np.arctan(0.2) < np.pi / 2).all()))
    holds(f"({name}) no cone holds the vertical", bool((lean > np.arctan(0.2)).all()))
    heights = np.ptp(posture.position[0, :, 2])
    holds(f"({name}) heights {'are equal' if name == 'a' else 'differ'}", (heights == 0.0) == (name == "a"))

    region = carom.equilibrium.spatial(posture, area_tolerance=1e-4)[0]
    agree(f"({name}) they hold centres of mass over [m^2]", [region.area_inner, region.area_outer],
          {"a": 0.71724, "b": 0.76332}[name], within=5e-5)  # fmt: skip

    ax = figure.add_subplot(1, 2, number + 1, projection="3d")
    turn = np.linspace(0.0, 2 * np.pi, 25)
    for at, normal in zip(posture.position[0], posture.normal[0]):
        s = np.cross(normal, [0.0, 0.0, 1.0])
        s /= np.linalg.norm(s)
        t = np.cross(normal, s)
        rim = at + 0.8 * (normal + 0.2 * (np.cos(turn)[:, None] * s + np.sin(turn)[:, None] * t))
        for point in rim:
            ax.plot(*np.stack([at, point]).T, color="tab:blue", linewidth=0.6)
    ax.set_title(f"({name})")
plt.show()
