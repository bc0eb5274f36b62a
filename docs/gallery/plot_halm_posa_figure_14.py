"""
Halm and Posa, Figure 14: a disk falls on two
=============================================

At once, all comes to rest. The sampled set has that, and the top disk keeping contact with only one of the two
below.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds

import carom

stack = carom.model("disk_stack")
(rest,) = carom.impact.simultaneous(stack)
agree("speed after the simultaneous impact", np.abs(rest.velocity).max(), 0.0, within=1e-9)

run = carom.impact.sample(stack, samples=2**15)
modes = {tuple(words.split("/")): count for words, count in run.mode_names().items()}
left, right = stack.contact_names.index("top_left"), stack.contact_names.index("top_right")
one_sided = [
    sum(n for words, n in modes.items() if words[keeps] != "separating" and words[leaves] == "separating")
    for keeps, leaves in ((left, right), (right, left))
]
holds("the top disk keeps to the left one alone, or to the right one", min(one_sided) > 0)
agree("left as often as right", one_sided[0] / one_sided[1], 1.0, within=0.1)
holds("all may come to rest", modes[("sticking",) * 5] > 0)

# %%

done = run.samples.status[0] == carom.TrajectoryStatus.terminated
normal = stack.contact_velocity(run.samples.velocity)[0][0, done]
plt.plot(normal[:, left], normal[:, right], ".", color="0.35", markersize=2)
plt.plot(*rest.normal_velocity[[left, right]], "o", color="tab:blue")
plt.xlabel("top disk from the left one [m/s]")
plt.ylabel("top disk from the right one [m/s]")
plt.show()
