"""
Halm and Posa, Figure 13: a footfall of RAMone
==============================================

The simultaneous model: the leading foot A comes to rest, the trailing B rests, slides or lifts off. All samples
lie between those.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, evolution, holds, nearest

import carom

robot = carom.model("ramone")
planes = ((("normal", 0), ("normal", 1)), (("tangent", 1), ("normal", 1)))
run, together, _ = evolution(robot, planes)

found = sorted(outcome.modes for outcome in together)
holds("A rests; B lifts off, slides or rests",
      found == ["sticking/separating", "sticking/sliding-", "sticking/sticking"])  # fmt: skip
for outcome in together:
    agree(f"{outcome.modes} to the nearest sample", nearest(outcome.velocity, run), 0.0, within=2e-2)

normal, tangent = robot.contact_velocity(run.samples.velocity)
agree("largest velocity of A after the impact [m/s]",
      max(np.abs(normal[0, :, 0]).max(), np.abs(tangent[0, :, 0]).max()), 0.0, within=1e-6)  # fmt: skip
holds("B lifts off no faster than in the simultaneous model",
      normal[0, :, 1].max() <= max(outcome.normal_velocity[1] for outcome in together) + 1e-6)  # fmt: skip
plt.show()
