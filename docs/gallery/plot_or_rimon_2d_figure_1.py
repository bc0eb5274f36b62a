"""
Or and Rimon (2D), Figure 1: the strip of a posture
===================================================

For which centres of mass is the body in equilibrium? (a) On two contacts: in the vertical strip over the intersection of both friction cones. (b)
On six contacts: the strips of all pairs; four contacts determine the ends. (The paper does not print the contacts' positions; they are chosen so that the same
contacts as in the paper are essential.)
"""

import itertools

import matplotlib.pyplot as plt
from papers import agree, compare, cone_polygon, draw_cones, holds

import carom

two = carom.equilibrium.model("two_contacts")
strip = carom.equilibrium.planar(two)
shared = cone_polygon(two, (1, 1))
agree("strip of two contacts [m]", [strip.lower[0], strip.upper[0]], [shared[:, 0].min(), shared[:, 0].max()],
      within=1e-9)  # fmt: skip

# %%

six = carom.equilibrium.model("six_contacts")
whole = carom.equilibrium.planar(six)
compare("Figure 1", "essential contacts of six", "x1 x3 x5 x6", " ".join(f"x{i + 1}" for i in whole.essential[0]))


def of(contacts):
    chosen = list(contacts)
    return carom.equilibrium.planar(six.position[:, chosen], six.normal[:, chosen], six.friction[:, chosen])


pairs = {pair: of(pair) for pair in itertools.combinations(range(6), 2)}
held = {pair: region for pair, region in pairs.items() if region.status[0] == carom.Status.solved}
left = min(held, key=lambda pair: held[pair].lower[0])
right = max(held, key=lambda pair: held[pair].upper[0])
holds("the left edge is that of x1 and x3, the right one that of x5 and x6", (left, right) == ((0, 2), (4, 5)))
agree("hull of the pairs [m]", [held[left].lower[0], held[right].upper[0]], [whole.lower[0], whole.upper[0]],
      within=1e-9)  # fmt: skip
four = of((0, 2, 4, 5))
agree("without x2 and x4 [m]", [four.lower[0], four.upper[0]], [whole.lower[0], whole.upper[0]], within=1e-12)

# %%

figure, axes = plt.subplots(1, 2, figsize=(10, 4))
for ax, posture, region in ((axes[0], two, strip), (axes[1], six, whole)):
    draw_cones(ax, posture)
    ax.axvspan(region.lower[0], region.upper[0], color="tab:green", alpha=0.2)
plt.show()
