r"""
Or and Rimon (2D), Figure 7: critical force over its height
===========================================================

:math:`\cot\beta_{cr}` is a linear function of h where the body rolls, and another where it slides; for the experiment's terrain
they cross at h = 517 mm. (The paper does not print the distance of the contacts. Here it is
2 x 517 mm x tan 12.9 degrees, which gives 517 mm; this number is therefore an input, and the slopes are the result.)
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, holds

import carom

terrain = carom.equilibrium.model("v_terrain")
distance = np.ptp(terrain.position[0, :, 0])
alpha, gamma = np.deg2rad(26.7), np.arctan(terrain.friction[0, 0])

heights = np.linspace(0.2, 1.0, 41)
tilt = np.array([carom.equilibrium.critical_tilt(terrain, com=[0.0, h])[0] for h in heights])
theory = [carom.equilibrium.v_terrain(alpha, gamma, distance, h) for h in heights]
compare("Figure 7", "sliding takes over at [mm]", 517.0, 1e3 * theory[0]["sliding_height"], within=0.5,
        note="the contacts' distance is not printed; it is chosen to give this value")  # fmt: skip
agree("cot of the critical angle, by linear programmes and by formula, differ by",
      np.abs(1 / np.tan(tilt) - 1 / np.tan([t["critical"] for t in theory])).max(), 0.0, within=1e-8)  # fmt: skip

# %%

low = heights < 0.517
slopes = [np.polyfit(heights[part], 1 / np.tan(tilt[part]), 1)[0] for part in (low, ~low)]
steeper = np.sin(2 * alpha) / np.sin(2 * gamma)
agree("slopes of the lines [1/m]", slopes, [2 / distance, 2 / distance * steeper], relative=1e-6)
rolls = np.array([t["rolling"] < t["sliding"] for t in theory])
holds("it rolls below 517 mm and slides above", bool((rolls == low).all()))

# %%

plt.plot(1e3 * heights, 1 / np.tan(tilt), "o", label="equilibrium regions")
plt.plot(1e3 * heights, [1 / np.tan(t["rolling"]) for t in theory], "--", label=r"$\cot\beta_1$, rolling")
plt.plot(1e3 * heights, [1 / np.tan(t["sliding"]) for t in theory], "-", label=r"$\cot\beta_2$, sliding")
plt.xlabel("height of the force [mm]")
plt.ylabel(r"$\cot\beta_{cr}$")
plt.legend()
plt.show()
