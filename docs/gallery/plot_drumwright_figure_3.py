"""
Drumwright, Figure 3: implicit Euler
====================================

k = 10^6 N/m, b = 0: stable for any step size, but the amplitude decreases, and faster with longer steps.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare

import carom

fine = carom.compliant.worlds("spring_mass_damper", {"damping": 0.0}, dt=1e-5, steps=4000, stride=1)
coarse = carom.compliant.worlds("spring_mass_damper", {"damping": 0.0}, dt=1e-2, steps=4, stride=1)
x, y = fine.frame_state[:, 0, 0], coarse.frame_state[:, 0, 0]

# %%
# A step multiplies the amplitude by 1 / sqrt(1 + h^2 k / m).

agree("amplitude after 4000 steps of 1e-5 s", np.hypot(x[-1], fine.velocity[0, 0] / 1e3),
      (1.0 + 1e-4) ** -2000, relative=1e-6)  # fmt: skip
agree("amplitude after 4 steps of 1e-2 s", np.hypot(y[-1], coarse.velocity[0, 0] / 1e3),
      (1.0 + 1e2) ** -2, relative=1e-6)  # fmt: skip
implicit = np.linalg.inv([[1.0, -1e-5], [1e-5 * 1e6, 1.0]])
agree("x after 4000 steps of 1e-5 s, by powers of the matrix of (13), (14) [m]", x[-1],
      (np.linalg.matrix_power(implicit, 4000) @ [1.0, 0.0])[0], within=1e-9)  # fmt: skip
compare("Figure 3", "stable for any step size", True, max(np.abs(x).max(), np.abs(y).max()) <= 1.0)
compare("Figure 3", "the amplitude attenuates", True, np.abs(x[-500:]).max() < 0.9 and abs(y[-1]) < 0.01)

# %%

plt.plot(fine.frame_time, x, label="h = 1e-5 s")
plt.plot(coarse.frame_time, y, "r--", label="h = 1e-2 s")
plt.xlabel("time [s]")
plt.ylabel("x [m]")
plt.legend()
plt.show()
