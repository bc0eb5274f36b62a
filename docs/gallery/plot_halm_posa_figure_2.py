r"""
Halm and Posa, Figure 2: a differential inclusion
=================================================

:math:`\dot v \in -\mathrm{Unit}(v)` in two dimensions is a particle on a rough floor with :math:`\mu g = 1`: friction
of size 1 against the velocity, and any force of up to that size at rest. Its flow goes straight to the origin and
remains there.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree

import carom

# Steps of Coulomb's law with the impulse of the floor as its normal part: v' = v + r_t, |r_t| <= h.
h = 0.01
angle = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
start = np.linspace(0.35, 1.0, 12)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
path = [start]
for _ in range(round(1.0 / h) + 10):
    q = np.concatenate([np.full((len(start), 1), -h), path[-1]], axis=1)  # falls by g h = h, mu = 1
    answer = carom.solve_coulomb(np.tile(np.eye(3), (len(start), 1, 1)), q, np.ones((len(start), 1)), on_error="raise")
    path.append(answer.velocity[:, 1:])
path = np.array(path)  # [step, start, 2]

time = h * np.arange(len(path))
speed = np.linalg.norm(start, axis=1)
exact = np.maximum(0.0, 1.0 - time[:, None] / speed)[..., None] * start
# A step that ends at rest does so exactly; the tolerance of the law is 1e-9 of a step's impulse.
agree("largest distance to (|v0| - t)+ v0 / |v0|", np.abs(path - exact).max(), 0.0, within=1e-8)
stops = h * np.argmax(np.linalg.norm(path, axis=2) < 1e-9, axis=0)
agree("time to the origin less |v0|, within a step", np.abs(stops - speed - 0.5 * h).max(), 0.0, within=0.5 * h + 1e-9)

# %%

grid = np.stack(np.meshgrid(*2 * [np.linspace(-1.0, 1.0, 15)]), axis=-1).reshape(-1, 2)
grid = grid[np.linalg.norm(grid, axis=1) > 0.05]
q = np.concatenate([np.full((len(grid), 1), -h), grid], axis=1)
flow = carom.solve_coulomb(np.tile(np.eye(3), (len(grid), 1, 1)), q, np.ones((len(grid), 1))).velocity[:, 1:] - grid
agree("size of the flow away from the origin", np.linalg.norm(flow / h, axis=1), 1.0, within=1e-7)
plt.quiver(*grid.T, *flow.T, color="gold")
plt.plot(*path.transpose(2, 0, 1), color="tab:blue", linewidth=1.0)
plt.plot(*path[:, 0].T, color="tab:red")
plt.gca().set_aspect("equal")
plt.xlabel("$v_1$")
plt.ylabel("$v_2$")
plt.show()
