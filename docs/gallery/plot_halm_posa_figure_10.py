"""
Halm and Posa, Figure 10: a step of the compass gait
====================================================

The simultaneous model has three outcomes (Figure 4b): the trailing foot B rests, slides or lifts off. The sampled
set contains these, the outcomes between them, and outcomes in which A slides or lifts off.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, balanced, compare, evolution, holds, nearest

import carom

gait = carom.model("compass_gait")
planes = ((("tangent", 0), ("normal", 0)), (("normal", 0), ("normal", 1)), (("tangent", 1), ("normal", 1)))
run, together, one_by_one = evolution(gait, planes, samples=2**15)

found = sorted(outcome.modes for outcome in together)
compare("section 5.4.2", "simultaneous outcomes, modes of A and B", "sticking/separating, sticking/sliding+, sticking/sticking",
        ", ".join(found))  # fmt: skip
for outcome in together:
    agree(f"{outcome.modes} to the nearest sample", nearest(outcome.velocity, run), 0.0, within=5e-3)

for name, outcome in zip(("A, B", "B, A"), one_by_one):
    balanced(f"one after the other, {name}", gait, outcome)
    agree(f"  {outcome.modes} to the nearest sample", nearest(outcome.velocity, run), 0.0, within=5e-3)
balanced("samples", gait, run)

# Every number of the three outcomes, and all between them: B's lift in twenty bins.
by_slip = sorted(together, key=lambda outcome: outcome.tangent_velocity[1])
lifts = [(outcome.normal_velocity[1], outcome.tangent_velocity[1]) for outcome in by_slip]
agree("lift and slip of B in the three outcomes [m/s]", lifts, [(0.0, 0.0), (0.0, 0.12849), (0.099555, 0.19802)],
      within=2e-5)  # fmt: skip
done = run.samples.status[0] == carom.TrajectoryStatus.terminated
normal, tangent = (v[0, done] for v in gait.contact_velocity(run.samples.velocity))
counts, _ = np.histogram(normal[:, 1], bins=20, range=(0.0, 0.099555))
holds("every bin of B's lift is met", bool((counts > 0).all()))
exact = carom.impact.enclose(gait)[0]
agree("exact largest lifts of A and B [m/s]", exact.normal_velocity_max, [0.03745, 0.099555], within=1e-5)
agree("exact fastest slip of A and of B [m/s]", [exact.tangent_velocity_min[0], exact.tangent_velocity_max[1]],
      [-0.074491, 0.19802], within=1e-5)  # fmt: skip
agree("the samples' own", [*normal.max(axis=0), tangent[:, 0].min(), tangent[:, 1].max()],
      [0.03745, 0.099555, -0.074491, 0.19802], relative=0.01)  # fmt: skip

modes = run.mode_names()
compare("section 5.4.2", "'can potentially cause A to lift off, and B to remain'", True, modes["separating/sticking"] > 0)
holds("in some A slides while B keeps contact", modes["sliding-/sticking"] > 0)
plt.show()
