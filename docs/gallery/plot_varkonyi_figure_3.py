r"""
Varkonyi, Figure 3: partly elastic impacts
==========================================

Slope 20 degrees, restitution 0.1, :math:`\mu_1 = \mu_2`: stances are in equilibrium from :math:`\tan 20^\circ \approx 0.36` on,
never ambiguous, and proven stable over most of the chart. The white region of the paper's figure, which its reference
[12] verified, is bounded from both sides instead of drawn. The paper says only that its function is the larger one of
the energy and a smooth V2 "found by trial and error", which may increase in flight if the next impact decreases it by more.
Each smooth V2 of this kind has leading terms in the paper's class, so its region is inside the circles. The simplest one,
a second energy with a force of another direction, proves the hatched stances in exact arithmetic.
"""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, holds

from carom import Status, stability

mu, d = (axis.ravel() for axis in np.meshgrid(np.linspace(0.3, 1.48, 24), np.linspace(0.08, 1.18, 24)))
stances = stability.model("figure3", mu=mu, d=d)
found = stability.analyse(stances)
Verdict, Kind = stability.StabilityVerdict, stability.CertificateKind

compare("Figure 3", "slope [deg]", 20.0, np.rad2deg(np.unique(stances.angle).item()), within=1e-9)
compare("Figure 3", "restitution of both contacts", 0.1, np.unique(stances.restitution).item(), within=1e-12)
fine = np.linspace(0.35, 0.38, 301)
some = stability.analyse(stability.model("figure3", mu=fine, d=np.full(301, 0.6)))
least = fine[some.verdict != Verdict.no_equilibrium].min()
compare("section IV.B", "least friction of an equilibrium, found at d = 0.6", 0.36, least, within=5e-3)
agree("  tan 20 degrees", least, 0.36397, within=2e-4)
holds("there is one above, none below",
      bool(((found.verdict == Verdict.no_equilibrium) == (mu < np.tan(np.deg2rad(20.0)))).all()))  # fmt: skip
compare("section IV.B", "unambiguous in all cases", True, not (found.verdict == Verdict.ambiguous).any())
proven = stability.verify(stances, found)
paper = found.certificate == Kind.paper
holds("every stance called stable is proven", bool((proven == (found.verdict == Verdict.stable)).all()))
in_equilibrium = (found.verdict != Verdict.no_equilibrium).sum()
agree("in equilibrium, of 576", in_equilibrium, 528)
agree("proven", proven.sum(), 513, within=3)
agree("of these in the paper's class", paper.sum(), 311, within=3)
# The paper's (38) asks for L1 L2 < 0, d > h tan 20 degrees, which is not needed.
wide = d > np.tan(np.deg2rad(20.0))
holds("some proven stances have L1 L2 > 0", bool((proven & ~wide).any()))

# %%
# [12]'s kind of function: V2 = V1 + (zeta + kappa) c.q is the energy under the force g - (zeta + kappa) c. It is the member s = 0 of
# the paper's class, judged as every certificate is.

second = dataclasses.replace(found, s=np.zeros(576), kappa=np.full(576, 2.0**-30), certificate=np.full(576, Kind.paper, dtype=np.int32),
                             verdict=np.full(576, Verdict.stable, dtype=np.int32))  # fmt: skip
energies = stability.verify(stances, second)
agree("proven by two energies", energies.sum(), 202, within=3)
holds("all of them in the paper's class, too", not (energies & ~paper).any())
agree("  their widest d, and least friction at d = 0.46", [d[energies].max(), mu[energies & (np.abs(d - 0.463) < 0.01)].min()],
      [0.654, 0.762], within=0.06)  # fmt: skip
compare("section IV.B", "the programme's region is 'significantly larger' than that of two energies (in place of [12]'s)", True,
        paper.sum() > 1.4 * energies.sum())  # fmt: skip

# %%
# The paper's program, with flights, on 12 x 12 stances: solved where there is a V2, else proven infeasible
# (none is ambiguous). The same with one function, Theorem 1: infeasible everywhere, as the paper reports.

mu12, d12 = (axis.ravel() for axis in np.meshgrid(np.linspace(0.38, 1.48, 12), np.linspace(0.08, 1.18, 12)))
some = stability.model("figure3", mu=mu12, d=d12)
posed = stability.analyse(some, method="sos")
single = stability.analyse(some, method="single")
for name, result, expected in (("two functions", posed, {Status.solved: 83, Status.infeasible: 61}),
                               ("one function", single, {Status.infeasible: 144})):  # fmt: skip
    for status, count in expected.items():
        agree(f"{name}: {status.name}, of 144", (result.sos_status == status).sum(), count)
holds("solved where the class of one number has a member", bool(
    ((posed.sos_status == Status.solved) == (stability.analyse(some, method="paper").certificate == Kind.paper)).all()))  # fmt: skip

compare("section III.A", "one function, Theorem 1: 'provably infeasible'", True, (single.sos_status == Status.infeasible).all())

# %%

for verdict, colour in ((Verdict.no_equilibrium, "0.3"), (Verdict.undecided, "0.85")):
    here = found.verdict == verdict
    plt.plot(mu[here], d[here], "s", color=colour, markersize=8, label=verdict.name.replace("_", " "))
circles = posed.sos_status == Status.solved
plt.plot(mu12[circles], d12[circles], "o", mfc="none", markersize=11, color="tab:orange", label="the programme's own")
plt.plot(mu[paper], d[paper], "o", mfc="none", color="tab:blue", label="stable, paper's class")
plt.plot(mu[energies], d[energies], "|", color="tab:blue", label="stable, two energies")
plt.plot(mu[proven & ~paper], d[proven & ~paper], "x", color="tab:green", label="stable, labelled")
plt.axvline(np.tan(np.deg2rad(20.0)), color="k")
plt.xlabel(r"$\mu_1 = \mu_2$")
plt.ylabel("d")
plt.legend(fontsize="small")
plt.show()
