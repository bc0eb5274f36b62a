"""
Halm and Posa, Table 5: compass gait
====================================

The built-in model `compass_gait` has the table's numbers as defaults.
"""

import matplotlib.pyplot as plt
from papers import agree, balanced, compare, holds, parameters, violates_assumption_6

import carom

TABLE = {
    "leg_length": 1,
    "mass_to_foot": 0.5,
    "mass": 1,
    "trailing_angle": 78,
    "leading_angle": -78,
    "trailing_angular_velocity": 0.25,
    "leading_angular_velocity": 0.25,
    "friction": 5,
}
model = carom.models()["compass_gait"]
parameters("Table 5", model, TABLE, h=0.25, n=5)

# %%
# How many of the samples end in each combination of contact modes.

run = carom.impact.sample("compass_gait", samples=2**14)
balanced("samples", carom.model("compass_gait"), run)
modes = run.mode_names()
holds("nearly all impacts end within N steps", run.summary["terminated"][0] >= 0.98 * 2**14)
EXPECTED = {'sticking/separating': 9305, 'separating/sticking': 1267, 'sticking/sticking': 1147, 'sliding-/sticking': 1000, 'sticking/sliding+': 3665}
for name, count in EXPECTED.items():  # of 2^14 independent samples a count varies by at most 64, one deviation
    agree(f"samples that end {name}", modes[name], count, within=130)
agree("samples that end otherwise", sum(modes.values()) - sum(modes[name] for name in EXPECTED), 0, within=30)
plt.barh(list(modes), list(modes.values()))
plt.xlabel("samples of 2^14")
plt.tight_layout()

# %%
# Assumption 6: a step (75) that has several v', found by linear programmes and solved again.

compare("section 5.3", "Assumption 6 is violated by the compass gait", True, violates_assumption_6("compass_gait"))
plt.show()
