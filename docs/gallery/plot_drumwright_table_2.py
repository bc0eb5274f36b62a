"""
Drumwright, Table 2: errors of a large step
===========================================

Position and orientation of the cube after one second at h = 10^-2 s, against a step a hundred times smaller
(ode45 in the paper). Wherever the cube does not rock the errors are as small as printed; where it does, both lose
the phase.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import holds

import carom

TABLE = {(5, 100, 1e7): 2.96e-5, (5, 100, 1e11): 2.91e-7, (5, 900, 1e7): 1.98e-5,
         (50, 100, 1e7): 0.813, (50, 100, 1e11): 0.814, (50, 900, 1e7): 1.0e-2}  # fmt: skip

ours = {}
for load, elements, modulus in TABLE:
    scene = {"elements_per_side": elements**0.5, "modulus": modulus, "load": load}
    coarse, fine = (
        carom.compliant.worlds("elastic_foundation", scene, dt=h, steps=round(1 / h), on_error="raise").position[0]
        for h in (1e-2, 1e-4)
    )
    error = ours[load, elements, modulus] = np.linalg.norm(coarse - fine)
    paper = TABLE[load, elements, modulus]
    holds(f"{load} N, {elements} elements, {modulus:g} N/m2: {error:.3g} m, paper {paper:.3g}", error <= 3 * paper)

# %%

names = [f"{load} N, {n}, {modulus:g}" for load, n, modulus in TABLE]
plt.barh(names, list(TABLE.values()), label="paper")
plt.plot(list(ours.values()), names, "ko", label="carom")
plt.xscale("log")
plt.xlabel("error after one second [m]")
plt.legend()
plt.tight_layout()
plt.show()
