"""
Drumwright, Figure 9: a block on an incline
===========================================

Distance slid in a second at 15 degrees, h = 0.01 s: free fall along the slope without friction, less with it, none
at mu = 0.375.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds

import carom

mu = np.linspace(0.0, 0.375, 31)
ran = carom.compliant.worlds("inclined_block", {"friction": mu}, dt=0.01, steps=100, on_error="raise")
slope = np.deg2rad(15.0)
coulomb = 0.5 * 9.81 * np.maximum(0.0, np.sin(slope) - mu * np.cos(slope))
agree("distance at mu = 0 [m]", ran.displacement[0], coulomb[0], relative=0.02)
agree("distance at mu = 0.125 [m]", ran.displacement[10], coulomb[10], relative=0.02)
agree("distance at mu = 0.25 [m]", ran.displacement[20], coulomb[20], relative=0.02)
agree("distance at mu = 0.375 [m]", ran.displacement[-1], 0.0, within=1e-6)
holds("more friction, less distance", bool((np.diff(ran.displacement[:21]) < 0.0).all()))

normal = ran.force[:, ::3]
agree("mean normal force of a foot [N]", normal.mean(), 2.5, relative=0.06)

# %%

plt.plot(mu, ran.displacement, "o-", label="h = 0.01 s")
plt.plot(mu, coulomb, "k--", label="rigid block, Coulomb friction")
plt.xlabel("friction coefficient")
plt.ylabel("distance slid in 1 s [m]")
plt.legend()
plt.show()
