"""
Drumwright, Figure 8: normal and tangential springs in series
=============================================================

The friction force of a contact that is pushed sideways is that of a damper B_r, up to
mu times the normal force; then the contact slides.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds

import carom

MU, B_TANGENT, H, GRAVITY = 0.5, 1e6, 1e-3, 9.81
push = np.linspace(-15.0, 15.0, 121)
rows = carom.compliant.Rows(
    ["normal", "tangent"], np.eye(2)[::-1], phi=[0.0, 0.0], K=[1e10, 0.0], B=[1.0, B_TANGENT], mu=[MU, 0.0]
)
force = np.stack([push, np.full_like(push, -GRAVITY)], axis=1)
step = carom.compliant.step(np.eye(2), force, np.zeros(2), rows, H, dimension=2, on_error="raise")
normal, tangent = step.force.T

sliding = np.abs(push) > MU * GRAVITY + 0.1
sticking = np.abs(push) < MU * GRAVITY - 0.1
agree("normal force [N]", normal, np.full_like(push, GRAVITY), relative=1e-2)
agree("tangential force while sliding [N]", np.abs(tangent[sliding]), MU * normal[sliding], relative=1e-9)
holds("it acts against the push", bool((tangent * push <= 0.0).all()))
agree("creep while sticking [m/s]", step.velocity[sticking, 0], push[sticking] / B_TANGENT, within=1e-8)

# %%

plt.plot(push, -tangent, label="tangential force")
plt.plot(push, MU * normal, "k--", linewidth=0.8)
plt.plot(push, -MU * normal, "k--", linewidth=0.8, label="mu times the normal force")
plt.xlabel("push [N]")
plt.ylabel("[N]")
plt.legend()
plt.show()
