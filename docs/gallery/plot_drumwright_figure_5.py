"""
Drumwright, Figure 5: a spring that only pushes
===============================================

A particle of 1 kg on one normal row of stiffness k: the force of a step over the height x of the
particle, for two velocities. It is positive where the spring is or becomes compressed, and never negative.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds

import carom

K, B, H, GRAVITY = 1e4, 10.0, 1e-3, 9.81
height = np.linspace(-2e-3, 2e-3, 201)


def force(velocity):
    rows = carom.compliant.Rows(["normal", "tangent"], [[1.0], [0.0]], phi=np.stack([height, 0 * height], axis=1), K=K, B=B)
    step = carom.compliant.step([[1.0]], [-GRAVITY], np.full((len(height), 1), velocity), rows, H, dimension=2,
                                on_error="raise")  # fmt: skip
    return step.force[:, 0]


for velocity in (0.0, 0.5):
    pressed = force(velocity)
    free = velocity - H * GRAVITY
    expected = np.maximum(0.0, -(K * (height + H * free) + B * free) / (1.0 + H * (B + H * K)))
    agree(f"force at {velocity} m/s [N]", np.abs(pressed - expected).max(), 0.0, within=1e-6)
    holds("it never pulls", bool((pressed >= 0.0).all()))
    plt.plot(1e3 * height, pressed, label=f"velocity {velocity} m/s")

# %%

plt.xlabel("height of the particle [mm]")
plt.ylabel("force of the spring [N]")
plt.legend()
plt.show()
