"""
Halm and Posa, Figure 11: a box against a wall
==============================================

At once, the box comes to rest; B before A, A slides on and B lifts off. The sampled set has both, all between
them, and outcomes in which B slides.
"""

import matplotlib.pyplot as plt
from papers import agree, evolution, holds, nearest

import carom

box = carom.model("box_wall")
planes = ((("tangent", 0), ("normal", 0)), (("normal", 0), ("normal", 1)), (("tangent", 1), ("normal", 1)))
run, (rest,), one_by_one = evolution(box, planes, samples=2**15)

agree("speed after the simultaneous impact", abs(rest.velocity).max(), 0.0, within=1e-9)
holds("B before A: A slides, B lifts off", one_by_one[1].modes == "sliding+/separating")
for outcome in (rest, one_by_one[1]):
    agree(f"{outcome.modes} to the nearest sample", nearest(outcome.velocity, run), 0.0, within=5e-2)
holds("in some B slides", run.mode_names()["sliding+/sliding+"] > 0)
plt.show()
