r"""
Or and Rimon (2D), Figure 6: rolling or sliding on a V
======================================================

A force inclined by :math:`\beta` acts at height h over a symmetric V (slopes 26.7 degrees, friction angle 13.8).
Case A: its line reaches the second contact first, and the body rolls. Case B: it reaches the corner of the cones first,
and the body slides. (In the text's formula for sliding the denominator must have sin 2 alpha, not sin 2 gamma;
as printed, the two lines would never cross.)
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, draw_cones

import carom

ALPHA, GAMMA = np.deg2rad(26.7), np.deg2rad(13.8)
terrain = carom.equilibrium.model("v_terrain")
distance = np.ptp(terrain.position[0, :, 0])
compare("section 5", "slope of the terrain [deg]", 26.7,
        np.rad2deg(np.arctan2(abs(terrain.normal[0, 0, 0]), terrain.normal[0, 0, 1])), within=1e-9)  # fmt: skip
compare("section 5", "friction angle [deg]", 13.8, np.rad2deg(np.arctan(terrain.friction[0, 0])), within=1e-9)
compare("section 5", "friction coefficient, 'mu = 0.25'", 0.25, terrain.friction[0, 0], within=0.005)

figure, axes = plt.subplots(1, 2, figsize=(9, 5))
for ax, name, height in ((axes[0], "A", 0.3), (axes[1], "B", 0.8)):
    found = carom.equilibrium.critical_tilt(terrain, com=[0.0, height])[0]
    rolling = np.arctan(distance / (2 * height))
    reach = 2 * height * np.sin(2 * ALPHA) / distance - np.cos(2 * ALPHA) - np.cos(2 * GAMMA)
    sliding = np.arctan(np.sin(2 * GAMMA) / abs(reach))
    agree(f"case {name}, h = {height} m: critical angle [rad]", found, min(rolling, sliding), within=1e-9)
    compare("Figure 6", f"case {name}", "rolls" if name == "A" else "slides", "rolls" if rolling < sliding else "slides")
    draw_cones(ax, terrain, length=0.9)
    ax.plot([0.0, 1.1 * height * np.tan(found)], [height, -0.1 * height], "tab:red", label="critical force")
    ax.plot(0.0, height, "ro")
    ax.set_title(f"case {name}")
    ax.legend()
plt.show()
