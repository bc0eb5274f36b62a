"""
Halm and Posa, Table 3: LCPs a sample
=====================================

How many steps an impact takes, and how long. The paper's mean counts of the two-contact examples lie within half
a step of ours. Its disks take nine steps: so do ours for h between 0.1 and 0.2 N s, but at the h = 1 N s of Table 8
they take 2.4. Times are those of one machine each.
"""

import matplotlib.pyplot as plt
from papers import agree, holds, steps_of

import carom

TABLE = {"rocking_block": (2.67, 2.1e-3), "compass_gait": (2.27, 1.9e-3), "box_wall": (1.97, 1.6e-3),
         "ramone": (3.20, 2.2e-3), "disk_stack": (9.04, 1.1e-2)}  # fmt: skip
SAMPLES = 2**15

ours = {}
for name, (steps, _) in TABLE.items():
    run = carom.impact.sample(name, samples=SAMPLES, keep_samples=0, **steps_of(name))
    ours[name] = run.summary["lcp_solves"][0] / SAMPLES, run.seconds / SAMPLES
    if name != "disk_stack":
        agree(f"{name}, LCPs a sample", ours[name][0], steps, within=0.5)

disks = [
    carom.impact.sample("disk_stack", samples=4096, step_size=h, max_steps=60, keep_samples=0) for h in (0.1, 0.2)
]
more, fewer = (run.summary["lcp_solves"][0] / 4096 for run in disks)
holds(f"disks: {fewer:.2f} LCPs a sample at h = 0.2, {more:.2f} at 0.1", fewer < 9.04 < more)

# %%

figure, ax = plt.subplots()
for i, column in enumerate(("paper, 4 cores, PATH from MATLAB", "carom, this machine")):
    times = [pair[1] for pair in (TABLE if i == 0 else ours).values()]
    ax.bar([place + 0.4 * i for place in range(len(TABLE))], times, 0.4, label=column)
ax.set_xticks(range(len(TABLE)), TABLE)
ax.set_yscale("log")
ax.set_ylabel("time a sample [s]")
ax.legend()
plt.show()
