"""
Or and Rimon (2D), Figure 12: a line sweep
==========================================

The appendix finds the right end of a strip among the edges of the friction cones, throwing away lines until none is
left. Its run for six contacts, mu = 0.4, beside the linear programme and `method="line_sweep"`. The paper's run ends
after one pass; on the contacts here, whose places are carom's own, it takes two.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, cone_edges, draw_cones, holds

import carom

six = carom.equilibrium.model("six_contacts")
holds("mu = 0.4", bool((six.friction == 0.4).all()))
at, along = cone_edges(six)
slope = along[:, 1] / along[:, 0]
start = at[:, 1] - slope * at[:, 0]
left, right = set(np.flatnonzero(along[:, 0] < 0)), set(np.flatnonzero(along[:, 0] > 0))


def highest(x):
    return max(left, key=lambda j: slope[j] * x + start[j])


def lowest(x):
    return min(right, key=lambda i: slope[i] * x + start[i])


def meet(i, j):
    return (start[j] - start[i]) / (slope[i] - slope[j])


x_right = max(meet(i, j) for i in right for j in left) + 1.0
i, j = lowest(x_right), highest(x_right)
x_left, sweep = meet(i, j), []
while left and right:
    sweep.append((x_left, len(left), len(right)))
    middle = 0.5 * (x_left + x_right)
    i, j = lowest(middle), highest(middle)
    if slope[i] * middle + start[i] <= slope[j] * middle + start[j]:
        x_left = middle
    else:
        x_right = middle
    i, j = lowest(x_left), highest(x_left)
    top, bottom = slope[j] * x_left + start[j], slope[i] * x_left + start[i]
    right = {k for k in right if slope[k] * x_left + start[k] < top - 1e-12}
    left = {k for k in left if slope[k] * x_left + start[k] > bottom + 1e-12}
    if left and right:
        x_left = max(x_left, max(meet(i, k) for k in left if meet(i, k) < x_right + 1e-12))

region = carom.equilibrium.planar(six)
agree("right end of the strip by the sweep [m]", x_left, region.upper[0], within=1e-9)
by_sweep = carom.equilibrium.planar(six, method="line_sweep")
agree('strip by method="line_sweep" [m]', [by_sweep.lower[0], by_sweep.upper[0]], [region.lower[0], region.upper[0]],
      within=1e-12)  # fmt: skip
compare("appendix", "intersection points of six contacts that the naive way inspects", 36, sweep[0][1] * sweep[0][2],
        reproduced=False, note="one of carom's own contacts has two rising edges; the paper's places are not printed")  # fmt: skip
agree("passes, each over at most 12 lines", len(sweep), 2)
compare("Figure 12", "passes of the sweep", 1, len(sweep), reproduced=False, note="likewise")

# %%

figure, ax = plt.subplots(figsize=(8, 4.5))
draw_cones(ax, six)
for x, lines, others in sweep:
    ax.axvline(x, color="0.6", linewidth=0.8)
ax.axvline(x_left, color="tab:green")
ax.set_title("lines of the sweep; the strip's end in green")
plt.show()
