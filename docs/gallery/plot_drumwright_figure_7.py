"""
Drumwright, Figure 7: pressure under a cube
===========================================

A cube on an elastic foundation of 10 x 10 elements, pushed down at a moving point of its top: all elements press,
more on the side of the load, and not concentrated under its point, since the cube is rigid.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds

import carom

SIDE, LOAD, STEPS = 10, 50.0, 13
ran = carom.compliant.worlds(
    "elastic_foundation", {"elements_per_side": SIDE, "modulus": 1e7, "load": LOAD}, dt=1e-3, steps=STEPS,
    on_error="raise",
)  # fmt: skip
settled = carom.compliant.worlds("elastic_foundation", {"load": 0.0}, dt=0.01, steps=200)
agree("weight carried by the foundation at rest [N]", settled.force[0].sum(), 8.0 * 9.81, relative=1e-6)

pressure = ran.force[0].reshape(SIDE, SIDE)
row, column = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
design = np.stack([np.ones(SIDE**2), row.ravel(), column.ravel()], axis=1)
carried = pressure.ravel() > 0.0
plane, *_ = np.linalg.lstsq(design[carried], pressure.ravel()[carried], rcond=None)
agree("pressures off one plane, relative", np.abs(design[carried] @ plane - pressure.ravel()[carried]).max() / pressure.max(),
      0.0, within=1e-6)  # fmt: skip
holds("one side presses more than the other", np.hypot(plane[1], plane[2]) * SIDE > 0.05 * plane[0])

# %%

plt.imshow(pressure, cmap="magma", origin="lower", extent=(-0.5, 0.5, -0.5, 0.5))
plt.colorbar(label="force of an element [N]")
plt.xlabel("[m]")
plt.ylabel("[m]")
plt.show()
