"""
Halm and Posa, Table 6: box and wall
====================================

The built-in model `box_wall` has the table's numbers as defaults.
"""

import matplotlib.pyplot as plt
from papers import agree, balanced, holds, parameters

import carom

TABLE = {
    "width": 1,
    "mass": 1,
    "angle": 10,
    "horizontal_velocity": 1,
    "friction": 1,
}
model = carom.models()["box_wall"]
parameters("Table 6", model, TABLE, h=2.0, n=5)

# %%
# How many of the samples end in each combination of contact modes.

run = carom.impact.sample("box_wall", samples=2**14)
balanced("samples", carom.model("box_wall"), run)
modes = run.mode_names()
holds("nearly all impacts end within N steps", run.summary["terminated"][0] >= 0.999 * 2**14)
EXPECTED = {'sticking/sticking': 12224, 'sliding+/separating': 3627, 'sliding+/sliding+': 533}
for name, count in EXPECTED.items():  # of 2^14 independent samples a count varies by at most 64, one deviation
    agree(f"samples that end {name}", modes[name], count, within=130)
agree("samples that end otherwise", sum(modes.values()) - sum(modes[name] for name in EXPECTED), 0, within=30)
plt.barh(list(modes), list(modes.values()))
plt.xlabel("samples of 2^14")
plt.tight_layout()
plt.show()
