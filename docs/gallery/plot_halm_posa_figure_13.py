"""
Halm and Posa, Figure 13: a footfall of RAMone
==============================================

The simultaneous model: the leading foot A comes to rest, the trailing B rests, slides or lifts off. All samples
are between these outcomes.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, balanced, compare, evolution, holds, nearest

import carom

robot = carom.model("ramone")
planes = ((("normal", 0), ("normal", 1)), (("tangent", 1), ("normal", 1)))
run, together, one_by_one = evolution(robot, planes)

found = sorted(outcome.modes for outcome in together)
compare("section 5.4.4", "simultaneous outcomes, modes of A and B", "sticking/separating, sticking/sliding-, sticking/sticking",
        ", ".join(found))  # fmt: skip
for outcome in together:
    agree(f"{outcome.modes} to the nearest sample", nearest(outcome.velocity, run), 0.0, within=2e-2)

for name, outcome in (*zip(("A, B", "B, A"), one_by_one), ("samples", run)):
    balanced(name, robot, outcome)

# "A in stiction for the entire duration": of the exact set, A's velocities are 0 and B's extents those of the three.
exact = carom.impact.enclose(robot)[0]
agree("exact velocities of A [m/s]", [exact.normal_velocity_max[0], exact.tangent_velocity_min[0],
      exact.tangent_velocity_max[0]], 0.0, within=1e-9)  # fmt: skip
lift = max(together, key=lambda outcome: outcome.normal_velocity[1])
agree("exact largest lift of B, and in the simultaneous model [m/s]", [exact.normal_velocity_max[1],
      lift.normal_velocity[1]], 3.19e-4, within=1e-6)  # fmt: skip
agree("exact fastest slip of B, and in the simultaneous model [m/s]", [exact.tangent_velocity_min[1],
      lift.tangent_velocity[1]], -0.027353, within=1e-6)  # fmt: skip
agree("and never forward", exact.tangent_velocity_max[1], 0.0, within=1e-9)
normal, tangent = robot.contact_velocity(run.samples.velocity)
agree("largest velocity of A after the impact [m/s]",
      max(np.abs(normal[0, :, 0]).max(), np.abs(tangent[0, :, 0]).max()), 0.0, within=1e-6)  # fmt: skip
compare("Figure 13", "A in stiction for the entire duration (of the exact set)", True, max(exact.normal_velocity_max[0],
        -exact.tangent_velocity_min[0], exact.tangent_velocity_max[0]) < 1e-9)  # fmt: skip
holds("B lifts off no faster than in the simultaneous model",
      normal[0, :, 1].max() <= max(outcome.normal_velocity[1] for outcome in together) + 1e-6)  # fmt: skip
plt.show()
