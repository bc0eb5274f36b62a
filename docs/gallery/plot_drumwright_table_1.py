"""
Drumwright, Table 1: time of a cube on an elastic foundation
============================================================

One second in steps of 0.01 s, 100 and 900 elements, loads of 5 and 50 N. The paper's method takes 20 to 65 times
longer for nine times the elements; the solver here works in the cube's six velocities, and its time grows about as
the elements do.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from papers import holds

import carom

PAPER = {(100, 5.0, 1e7): 0.331, (100, 5.0, 1e11): 0.286, (100, 50.0, 1e7): 0.332, (100, 50.0, 1e11): 0.396,
         (900, 5.0, 1e7): 7.40, (900, 5.0, 1e11): 8.23, (900, 50.0, 1e7): 12.98, (900, 50.0, 1e11): 26.00}  # fmt: skip

ours = {}
for elements, load, modulus in PAPER:
    scene = {"elements_per_side": elements**0.5, "modulus": modulus, "load": load}
    begin = time.process_time()  # of this process alone, whatever else the machine does
    ran = carom.compliant.worlds("elastic_foundation", scene, dt=0.01, steps=100, threads=1, on_error="raise")
    ours[elements, load, modulus] = time.process_time() - begin
    holds(f"{elements} elements, {load} N, {modulus:g} N/m2: all steps solved", ran.failed[0] == 0)
    print(f"  {ours[elements, load, modulus]:.4f} s, paper {PAPER[elements, load, modulus]} s")

holds("no row takes the paper's time", all(ours[row] < PAPER[row] for row in PAPER))
growth = np.median([ours[900, l, e] / ours[100, l, e] for n, l, e in PAPER if n == 100])
holds(f"nine times the elements take {growth:.0f} times the time, far from the cube of nine", growth < 100.0)

# %%

names = [f"{n}, {load:g} N, {modulus:g}" for n, load, modulus in PAPER]
places = np.arange(len(names))
plt.barh(places, list(PAPER.values()), 0.4, label="paper")
plt.barh(places + 0.4, list(ours.values()), 0.4, label="carom, this machine, one thread")
plt.yticks(places + 0.2, names)
plt.xscale("log")
plt.xlabel("time [s]")
plt.legend()
plt.tight_layout()
plt.show()
