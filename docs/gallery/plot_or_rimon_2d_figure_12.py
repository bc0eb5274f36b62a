"""
Or and Rimon (2D), Figure 12: a line sweep
==========================================

The algorithm of the appendix finds the right end of a strip among the edges of the friction cones, by removing redundant lines until none is
left. Its run for six contacts, mu = 0.4, is compared with the linear program and `method="line_sweep"`. The paper's run ends
after one pass. The paper does not print the contacts' positions; for those chosen here it takes two. Random contacts show that the number of lines examined is about proportional to the number of contacts.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, cone_edges, draw_cones, holds

import carom

six = carom.equilibrium.model("six_contacts")
holds("mu = 0.4", bool((six.friction == 0.4).all()))


def sweep(posture):
    """Right end of a posture's strip by the appendix: (x, [(x_left, left lines, right lines) of each pass])."""
    at, along = cone_edges(posture)
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
    x_left, passes = meet(i, j), []
    while left and right:
        passes.append((x_left, len(left), len(right)))
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
    return x_left, passes


x_left, passes = sweep(six)
region = carom.equilibrium.planar(six)
agree("right end of the strip by the sweep [m]", x_left, region.upper[0], within=1e-9)
by_sweep = carom.equilibrium.planar(six, method="line_sweep")
agree('strip by method="line_sweep" [m]', [by_sweep.lower[0], by_sweep.upper[0]], [region.lower[0], region.upper[0]],
      within=1e-12)  # fmt: skip
compare("appendix", "intersection points of six contacts that the naive way inspects", 36, passes[0][1] * passes[0][2],
        reproduced=False, note="one of carom's own contacts has two rising edges; the paper does not print the contacts' positions")  # fmt: skip
agree("passes, each over at most 12 lines", len(passes), 2)
compare("Figure 12", "passes of the sweep", 1, len(passes), reproduced=False, note="for the same reason")

# %%
# Lines that the sweep looks at, for random contacts on a valley that holds: about as many as contacts, while the pairs
# grow with their square ("practically linear in k").

random = np.random.default_rng(4)
counts = [2, 4, 8, 16]
looked, pairs = [], []
for k in counts:
    lines, points = [], []
    for _ in range(20):
        x = np.concatenate([[-1.0, 1.0], random.uniform(-1.0, 1.0, k - 2)])
        tilt = np.arctan(0.6 * x) + random.uniform(-0.1, 0.1, k)
        normal = np.stack([-np.sin(tilt), np.cos(tilt)], axis=1)
        posture = carom.equilibrium.Postures.of(np.stack([x, 0.3 * x**2], axis=1), normal, np.full(k, 0.4))
        end, seen = sweep(posture)
        library = carom.equilibrium.planar(posture, method="line_sweep")
        agree(f"{k} contacts: right end, by the sweep and the library [m]", end, library.upper[0], within=1e-9)
        lines.append(sum(left + right for _, left, right in seen))
        points.append(seen[0][1] * seen[0][2])
    looked.append(np.mean(lines))
    pairs.append(np.mean(points))
power = [np.polyfit(np.log(counts), np.log(each), 1)[0] for each in (looked, pairs)]
agree("lines looked at, of 2, 4, 8 and 16 contacts", looked, [6.35, 16.15, 34.25, 70.65], relative=0.05)
compare("appendix", "lines looked at grow 'practically linear in k': power", 1.0, power[0], within=0.2)
compare("appendix", "intersection points grow as k^2: power", 2.0, power[1], within=0.05)

# %%

figure, ax = plt.subplots(figsize=(8, 4.5))
draw_cones(ax, six)
for x, _, _ in passes:
    ax.axvline(x, color="0.6", linewidth=0.8)
ax.axvline(x_left, color="tab:green")
ax.set_title("lines of the sweep; the strip's end in green")
plt.show()
