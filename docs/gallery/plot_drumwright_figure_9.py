"""
Drumwright, Figure 9: a block on an incline
===========================================

Distance slid in a second at 15 degrees, h = 0.01 s, by two laws: the paper's convex program (176)-(182), and
Coulomb's law (complementarity), which is carom's default. With both, the block sticks and slides
for the friction coefficients that the paper states. In between, the program increases the normal forces until they stop the sliding, so
that the block leaves the plane. The figure does not show this, because it shows only distances.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, holds

import carom

mu = np.linspace(0.0, 0.375, 31)
ran = carom.compliant.worlds("inclined_block", {"friction": mu}, dt=0.01, steps=100, stride=1, on_error="raise")
slope = np.deg2rad(15.0)
coulomb = 0.5 * 9.81 * np.maximum(0.0, np.sin(slope) - mu * np.cos(slope))
# Semi-implicit steps go (n + 1) / n times as far as the parabola.
for i in (0, 10, 20):
    agree(f"complementarity, distance at mu = {mu[i]:g} [m]", ran.displacement[i], 1.01 * coulomb[i], relative=1e-3)
agree("complementarity, distance at mu = 0.375 [m]", ran.displacement[-1], 0.0, within=1e-6)
holds("complementarity: more friction, less distance", bool((np.diff(ran.displacement[:21]) < 0.0).all()))
normal = ran.force[:, ::3]
agree("complementarity, sum of the normal forces [N]", normal.sum(axis=1), 9.81 * np.cos(slope), relative=1e-3)

# %%
# The paper's programme over time, at the paper's four coefficients.

paper = np.array([0.0, 0.125, 0.25, 0.375])
programme = carom.compliant.worlds("inclined_block", {"friction": paper}, dt=0.01, steps=100, stride=1, law="programme")
print(f"  largest residual {programme.max_residual.max():.1e}, steps above 1e-9: {programme.failed.sum()} of 400")
holds("at most two steps in a hundred miss the tolerance, by less than 1e-6",
      bool((programme.failed <= 2).all() and programme.max_residual.max() < 1e-6))  # fmt: skip


def highest(run):
    """Greatest height of the centre above its start [m], of every world."""
    z = run.frame_state[:, :, 2]
    return (z - z[0]).max(axis=0)


agree("programme, distance without friction [m]", programme.displacement[0], ran.displacement[0], within=1e-9)
compare("section 6.4", "stiction at mu = 0.375 (programme): distance [m]", 0.0, programme.displacement[3], within=1e-6)
compare("section 6.4", "no friction force at mu = 0 (programme) [N]", 0.0, np.abs(np.delete(programme.force[0], [0, 3, 6, 9])).max(), within=1e-9)
distances = {"programme": programme.displacement[1:3], "complementarity": ran.displacement[[10, 20]]}
for law, found in distances.items():
    compare("section 6.4", f"distances 'inversely proportional' to mu, 0.125 and 0.25: ratio ({law})", 2.0, found[0] / found[1],
            relative=0.1, reproduced=False, note="the ratio by Coulomb's law is 7.9")  # fmt: skip
compare("section 6.4", "normal force of a point [N]", 2.5, programme.force[3][::3].mean(), relative=0.06)
compare("section 6.4", "Hertzian deformation of that force by (121) [m]", 1e-8, (programme.force[3][0] / 1e10) ** (2 / 3), relative=10,
        reproduced=False, note="(121) gives 4e-7 m")  # fmt: skip
compare("section 6.4", "depth of the feet after a second (programme), 'around 1e-8' [m]", 1e-8,
        0.025 - programme.frame_state[-1, 3, 2], within=2e-8)  # fmt: skip
agree("programme, distance at mu = 0.125 and 0.25 [m]", programme.displacement[1:3], [0.543614, 0.330676], within=1e-4)
agree("programme, greatest height [m]", highest(programme), [0.0, 1.27824, 0.23113, 0.0], within=1e-3)
agree("complementarity, greatest height [m]", highest(ran), 0.0, within=1e-6)

# %%
# The same of a particle in the block's place, which cannot turn: 100 single steps of arrays, a row where the gap is or
# may be closed within the step. The paper does not say when a contact has a row; with rows only where the gap is closed,
# it hops, too.

STEP = 0.01


def particle(coefficient, law, ahead=True):
    q, v, top = np.zeros(2), np.zeros(2), 0.0
    force = 9.81 * np.array([np.sin(slope), -np.cos(slope)])
    for _ in range(100):
        gap = q[1]
        if gap <= 0.0 or (ahead and gap + STEP * (v[1] - STEP * 9.81) <= 0.0):
            rows = carom.compliant.Rows(
                type=[["normal", "tangent"]], J=[[[0.0, 1.0], [1.0, 0.0]]], phi=[[gap if gap > 0.0 else -((-gap) ** 1.5), 0.0]],
                K=[[1e10, 0.0]], B=[[0.0 if gap > 0.0 else 1.0, 1e6 / STEP]], mu=[[coefficient, 0.0]],
            )  # fmt: skip
            v = carom.compliant.step([np.eye(2)], [force], [v], rows, STEP, dimension=2, law=law).velocity[0]
        else:
            v = v + STEP * force
        q = q + STEP * v
        top = max(top, q[1])
    return q[0], top


for i, (way, rise) in enumerate(((1.2822, 0.0), (0.5096, 1.3957), (0.0795, 0.0257), (0.0, 0.0))):
    agree(f"programme, particle, mu = {paper[i]:g}: distance and greatest height [m]", particle(paper[i], "programme"),
          [way, rise], within=2e-3)  # fmt: skip
    agree("  complementarity", particle(paper[i], "complementarity"), [ran.displacement[10 * i], 0.0], within=1e-6)
for i, rise in ((1, 1.8873), (2, 0.02263)):
    agree(f"programme, particle, mu = {paper[i]:g}, rows of closed gaps alone: greatest height [m]",
          particle(paper[i], "programme", ahead=False)[1], rise, within=2e-3)  # fmt: skip

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.plot(mu, ran.displacement, "o-", label="complementarity (carom's own)")
left.plot(paper, programme.displacement, "s", label="programme (the paper's)")
left.plot(mu, coulomb, "k--", label="rigid block, Coulomb friction")
left.set_xlabel("friction coefficient")
left.set_ylabel("distance slid in 1 s [m]")
left.legend()
for world, coefficient in enumerate(paper):
    z = programme.frame_state[:, world, 2]
    right.plot(programme.frame_time, z - z[0], label=f"programme, mu = {coefficient:g}")
right.set_xlabel("time [s]")
right.set_ylabel("height of the centre above its start [m]")
right.legend()
figure.tight_layout()
plt.show()
