"""
Halm and Posa, Figure 10: a step of the compass gait
====================================================

The simultaneous model has three outcomes (Figure 4b): the trailing foot B rests, slides or lifts off. The sampled
set has them, what lies between, and outcomes in which A slides or lifts off.
"""

import matplotlib.pyplot as plt
from papers import agree, evolution, holds, nearest

import carom

gait = carom.model("compass_gait")
planes = ((("tangent", 0), ("normal", 0)), (("normal", 0), ("normal", 1)), (("tangent", 1), ("normal", 1)))
run, together, _ = evolution(gait, planes, samples=2**15)

found = sorted(outcome.modes for outcome in together)
holds("A sticks; B lifts off, slides or sticks",
      found == ["sticking/separating", "sticking/sliding+", "sticking/sticking"])  # fmt: skip
for outcome in together:
    agree(f"{outcome.modes} to the nearest sample", nearest(outcome.velocity, run), 0.0, within=5e-3)

modes = run.mode_names()
holds("in some A slides or lifts off while B keeps contact",
      modes["separating/sticking"] > 0 and modes["sliding-/sticking"] > 0)  # fmt: skip
plt.show()
