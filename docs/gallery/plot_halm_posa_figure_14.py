"""
Halm and Posa, Figure 14: a disk falls on two
=============================================

With simultaneous contacts all disks come to rest. The sampled set contains this outcome, and outcomes in which the top disk keeps contact with only one of the two
below. One of the paper's statements is refuted: with the model as printed, the top disk leaves both in a few of a thousand samples. With the
two errors of the published code (5 kg, wrong tangents; see Table 3) it never does, as the paper says.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, balanced, compare, disk_counts, disks_as_computed

import carom

SAMPLES = 2**16
stack = carom.model("disk_stack")
(rest,) = carom.impact.simultaneous(stack)
compare("section 5.4.5", "the simultaneous model's only outcome: rest", True, rest.modes == "/".join(["sticking"] * 5))
balanced("  rest", stack, rest)
agree("  rest: its speed", np.abs(rest.velocity).max(), 0.0, within=1e-9)

printed, run = disk_counts(*disks_as_computed(1.0, False), SAMPLES)
slips, _ = disk_counts(*disks_as_computed(5.0, True), SAMPLES)
for name, counts in (("as printed", printed), ("as the code computed", slips)):
    print(f"{name}: {counts}")
balanced("as printed", stack, run)
agree("all samples of the model as printed end", printed["ended"], SAMPLES)

# Three standard deviations of a count k of independent samples are 3 sqrt(k).
compare("section 5.4.5", "'the top ball always maintains contact with at least one'", True, printed["both"] == 0,
        reproduced=False, note=f"it leaves both in {printed['both']} of {SAMPLES} samples; with the two errors of the published code in none")  # fmt: skip
agree("  samples in which it leaves both, of 65536", printed["both"], 0.00154 * SAMPLES, within=35)
agree("  with the slips of the code", slips["both"], 0)
agree("'one of those balls always stays on the ground', samples against it", [printed["off the floor"], slips["off the floor"]], 0)
compare("section 5.4.5", "'one of those balls always stays on the ground'", True, printed["off the floor"] == 0)
compare("section 5.4.5", "'the ball on the opposite side may even lift off the ground'", True, printed["opposite lifts"] > 0)
agree("'either side': left alone over right alone", printed["left alone"] / printed["right alone"], 1.0, within=0.05)
agree("share of samples in which it keeps to one alone", (printed["left alone"] + printed["right alone"]) / SAMPLES, 0.718,
      within=0.01)  # fmt: skip
agree("share in which it keeps to both", printed["rest"] / SAMPLES, 0.280, within=0.01)

# %%

left, right = stack.contact_names.index("top_left"), stack.contact_names.index("top_right")
done = run.samples.status[0] == carom.TrajectoryStatus.terminated
normal = run.samples.velocity[0][done] @ stack.normal_jacobian[0].T
both = (normal[:, left] > 1e-6) & (normal[:, right] > 1e-6)
plt.plot(normal[:, left], normal[:, right], ".", color="0.35", markersize=2)
plt.plot(normal[both][:, left], normal[both][:, right], ".", color="tab:red", markersize=4, label="leaves both")
plt.plot(*rest.normal_velocity[[left, right]], "o", color="tab:blue")
plt.xlabel("top disk from the left one [m/s]")
plt.ylabel("top disk from the right one [m/s]")
plt.legend()
plt.show()
