"""
Halm and Posa, Figure 9: the rocking block's set
================================================

The sampled set contains every outcome of Figure 1, and the outcomes between rest and the lift-off of either corner.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, balanced, compare, evolution, holds, nearest

import carom

block = carom.model("rocking_block")
planes = ((("normal", 0), ("normal", 1)), (("tangent", 0), ("normal", 0)))
run, together, one_by_one = evolution(block, planes)

holds("all samples end", run.summary["terminated"][0] == 2**14)
agree("rest to the nearest sample", nearest(together[0].velocity, run), 0.0, within=1e-3)
balanced("rest", block, together[0])
balanced("samples", block, run)
for order, outcome, lifts in zip(("A, B", "B, A"), one_by_one, ((1, 0), (0, 1))):
    agree(f"{order}: corners lift at, over 0.21 times the fall", outcome.normal_velocity / (0.21 * 0.4429), lifts, within=1e-9)
    agree(f"{order} to the nearest sample", nearest(outcome.velocity, run), 0.0, within=5e-3)

compare("section 5.4.1", "'each of these outcomes' of Figure 1 is sampled, to 1 % of the fall", True,
        max(nearest(outcome.velocity, run) for outcome in (*together, *one_by_one)) < 0.005)  # fmt: skip

# %%
# No gap between rest and the sequential outcome: the lift of A in twenty bins.

lift = block.contact_velocity(run.samples.velocity)[0][0, :, 0]
counts, _ = np.histogram(lift, bins=20, range=(0.0, 0.21 * 0.4429))
holds("every bin of A's lift is met", (counts > 0).all())
agree("largest lift of A [m/s]", lift.max(), 0.21 * 0.4429, relative=0.01)

# %%
# The exact set, without samples: what lies between rest and a lift of 0.21 times the speed of approach, of one corner alone.

exact = carom.impact.enclose(block)[0]
agree("exact largest lift of A and B [m/s]", exact.normal_velocity_max, 0.21 * 0.4429, within=1e-9)
agree("exact least ones", exact.normal_velocity_min, 0.0, within=1e-9)
agree("exact slip", [exact.tangent_velocity_min, exact.tangent_velocity_max], 0.0, within=1e-9)
both = np.minimum(*block.contact_velocity(run.samples.velocity)[0][0].T)
agree("the lower of both corners' lifts in any sample", both.max(), 0.0, within=1e-9)
plt.show()
