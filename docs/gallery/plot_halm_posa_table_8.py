"""
Halm and Posa, Table 8: disk stacking
=====================================

The built-in model `disk_stack` has the table's numbers as defaults.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, balanced, holds, parameters

import carom

TABLE = {
    "radius": 1,
    "mass": 1,
    "downward_velocity": 1,
    "friction": 3**0.5,
}
model = carom.models()["disk_stack"]
parameters("Table 8", model, TABLE, h=1.0, n=10)

# %%
# The relative kinetic energy that is left, over all samples.

stack = carom.model("disk_stack")
run = carom.impact.sample(stack, samples=2**14)
balanced("samples", stack, run)
v = run.samples.velocity[0]
energy = np.einsum("si,ij,sj->s", v, stack.mass_matrix[0], v)
before = stack.velocity[0] @ stack.mass_matrix[0] @ stack.velocity[0]
agree("kinetic energy left, over that before: mean and largest", [np.nanmean(energy) / before, np.nanmax(energy) / before],
      [0.00474, 0.0723], relative=0.05)  # fmt: skip
holds("no impact gains energy", np.nanmax(energy) <= before * (1 + 1e-9))
plt.hist(energy[np.isfinite(energy)] / before, bins=50)
plt.xlabel("kinetic energy after over before")
plt.ylabel("samples of 2^14")
plt.show()
