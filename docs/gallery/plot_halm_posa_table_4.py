"""
Halm and Posa, Table 4: rocking block
=====================================

The built-in model `rocking_block` has the table's numbers as defaults.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, balanced, holds, parameters

import carom

TABLE = {
    "width": 1,
    "height": 2,
    "mass": 1,
    "downward_velocity": 0.4429,
    "friction": 1,
}
model = carom.models()["rocking_block"]
parameters("Table 4", model, TABLE, h=0.3, n=10)

# %%
# The coverage of the set grows with the trajectories: how many points an epsilon-net needs after 1, 2, 4, ... of them.

run = carom.impact.sample("rocking_block", samples=2**14, epsilon=0.01)
balanced("samples", carom.model("rocking_block"), run)
points = run.net[0].coverage
agree("points at the end", points[-1], 38, within=2)
holds("the net hardly grows at the table's 2^14 trajectories", points[-1] - points[-2] <= 2)
plt.semilogx(2.0 ** np.arange(len(points)), points, "o-", base=2)
plt.xlabel("trajectories")
plt.ylabel("points of the net")
plt.show()
