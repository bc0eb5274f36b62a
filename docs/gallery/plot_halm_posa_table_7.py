"""
Halm and Posa, Table 7: RAMone
==============================

The built-in model `ramone` has the table's numbers as defaults.
"""

import matplotlib.pyplot as plt
from papers import agree, balanced, compare, parameters, violates_assumption_6

import carom

TABLE = {
    "trunk_pitch": 16,
    "leading_hip": -70,
    "trailing_hip": 70,
    "leading_knee": -2,
    "trailing_knee": -92.48,
    "trunk_angular_velocity": 1,
    "leading_hip_velocity": 0,
    "trailing_hip_velocity": 0,
    "leading_knee_velocity": 0,
    "trailing_knee_velocity": 0,
    "friction": 100000.0,
}
model = carom.models()["ramone"]
parameters("Table 7", model, TABLE, h=1.0, n=10)

# %%
# The trunk's linear velocity is no parameter of ours: it follows from the
# trailing foot B, which rests before the leading one strikes.

trunk = carom.model("ramone").velocity[0, :2]
for axis, printed, speed in zip("xy", (-0.4114, -0.2105), trunk):
    compare("Table 7", f"trunk's {axis} velocity [m/s]", printed, speed, within=1e-4)
run = carom.impact.sample("ramone", samples=2**14)
balanced("samples", carom.model("ramone"), run)
modes = run.mode_names()
EXPECTED = {'sticking/separating': 5361, 'sticking/sticking': 5490, 'sticking/sliding-': 5533}
for name, count in EXPECTED.items():  # of 2^14 independent samples a count varies by at most 64, one deviation
    agree(f"samples that end {name}", modes[name], count, within=130)
agree("samples that end otherwise", sum(modes.values()) - sum(modes[name] for name in EXPECTED), 0, within=30)
plt.barh(list(modes), list(modes.values()))
plt.xlabel("samples of 2^14")
plt.tight_layout()

# %%
# Assumption 6: a step (75) that has several v', found by linear programmes and solved again.

compare("section 5.3", "Assumption 6 is violated by RAMone", True, violates_assumption_6("ramone"))
plt.show()
