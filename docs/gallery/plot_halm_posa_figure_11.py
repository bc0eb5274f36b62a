"""
Halm and Posa, Figure 11: a box against a wall
==============================================

With simultaneous contacts the box comes to rest; with B before A, A slides and B lifts off. The sampled set contains both, the outcomes between
them, and outcomes in which B slides.
"""

import matplotlib.pyplot as plt
from papers import agree, balanced, compare, evolution, holds, nearest

import carom

box = carom.model("box_wall")
planes = ((("tangent", 0), ("normal", 0)), (("normal", 0), ("normal", 1)), (("tangent", 1), ("normal", 1)))
run, (rest,), one_by_one = evolution(box, planes, samples=2**15)

agree("speed after the simultaneous impact", abs(rest.velocity).max(), 0.0, within=1e-9)
for name, outcome in (("at once", rest), ("A, then B", one_by_one[0]), ("B, then A", one_by_one[1]), ("samples", run)):
    balanced(name, box, outcome)
compare("section 5.4.3", "at once: the box comes to rest", True, abs(rest.velocity).max() < 1e-9)
compare("section 5.4.3", "B before A: modes of A and B", "sliding+/separating", one_by_one[1].modes)
for outcome in (rest, one_by_one[1]):
    agree(f"{outcome.modes} to the nearest sample", nearest(outcome.velocity, run), 0.0, within=5e-2)
# "Some sequences allow A to slide even faster": the exact extent of its slip against the sequential model's.
exact = carom.impact.enclose(box)[0]
agree("slip of A by B before A, and at most [m/s]", [one_by_one[1].tangent_velocity[0], exact.tangent_velocity_max[0]],
      [0.305765, 0.372098], within=1e-5)  # fmt: skip
agree("lift of B by B before A, and at most [m/s]", [one_by_one[1].normal_velocity[1], exact.normal_velocity_max[1]],
      0.105642, within=1e-5)  # fmt: skip
done = run.samples.status[0] == carom.TrajectoryStatus.terminated
normal, tangent = (v[0, done] for v in box.contact_velocity(run.samples.velocity))
compare("section 5.4.3", "'some sequences allow A to slide even faster'", True, tangent[:, 0].max() > 0.31)
holds("no sample leaves the exact set", tangent[:, 0].max() <= exact.tangent_velocity_max[0] + 1e-9)
agree("the samples' largest lift of B [m/s]", normal[:, 1].max(), 0.105642, relative=0.01)
compare("section 5.4.3", "'others allow B to slide'", True, run.mode_names()["sliding+/sliding+"] > 0)
plt.show()
