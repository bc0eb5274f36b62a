r"""
Varkonyi, Figure 2: which stances return to rest
================================================

A biped on a slope of 30 degrees, inelastic impacts, :math:`\mu_2 = 2`, over :math:`\mu_1` and d. Unstable by
ambiguity where (39) and (40) hold. Circles are stances that a certificate proves stable. The paper's
program leaves a band undecided; labelled functions decide most of it, and motions that grow the rest.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, holds

from carom import Status, stability

mu, d = (axis.ravel() for axis in np.meshgrid(np.linspace(0.02, 1.12, 24), np.linspace(0.08, 1.18, 24)))
stances = stability.model("figure2", mu1=mu, d=d)
found = stability.analyse(stances)
Verdict, Kind = stability.StabilityVerdict, stability.CertificateKind

ambiguous = (d < np.tan(np.pi / 6)) & (mu < np.tan(np.pi / 6) - d)
words = stability.modes(stances[0])
compare("section IV.A", "contact modes", 16, len(words))
compare("section IV.A", "of these kinematically admissible", 10, sum(mode["admissible"] for mode in words))
agree("  margin of rest [N], by the modes and by the chart", max(m["margin"] for m in words if m["word"] == "SS"), found.force_margin[0], within=1e-12)
compare("Figure 2", "unstable by ambiguity where (39) and (40) hold", True, ((found.verdict == Verdict.ambiguous) == ambiguous).all())
holds(f"ambiguous where (39) and (40) say so, {ambiguous.sum()} of {len(d)}, and nowhere else",
      bool(((found.verdict == Verdict.ambiguous) == ambiguous).all()))  # fmt: skip
proven = stability.verify(stances, found)
holds("every stance called stable is proven, in exact arithmetic",
      bool((proven == (found.verdict == Verdict.stable)).all()))  # fmt: skip
paper = found.certificate == Kind.paper
for what, theirs, of in (("mu_2", 2.0, stances.friction[:, 1]), ("slope [deg]", 30.0, np.rad2deg(stances.angle)),
                         ("restitution", 0.0, stances.restitution)):  # fmt: skip
    compare("Figure 2", what, theirs, of.mean(), within=1e-9)
    agree("  everywhere", np.ptp(of), 0.0, within=1e-12)
# Counts of 576 points of a grid: one point of the border more or less is rounding, five are not.
agree("proven in the paper's class", paper.sum(), 420, within=2)
agree("proven by labelled functions besides", proven.sum() - paper.sum(), 48, within=2)
agree("unstable by a motion that grows", (found.verdict == Verdict.unstable).sum(), 46, within=2)
agree("undecided", (found.verdict == Verdict.undecided).sum(), 7, within=2)
growth = found.growth[found.verdict == Verdict.unstable]
holds(f"{np.isfinite(growth).sum()} of the unstable ones by chatter, which grows at every cycle",
      bool((growth[np.isfinite(growth)] > 1.0).all()))  # fmt: skip
chatter = (found.verdict == Verdict.unstable) & np.isfinite(found.growth)
agree("unstable below mu_1 = 0.5 and d = 0.8 alone", [mu[found.verdict == Verdict.unstable].max(),
      d[found.verdict == Verdict.unstable].max()], [0.498, 0.750], within=0.05)  # fmt: skip

# %%
# The paper's program, 55 unknown coefficients, on 12 x 12 stances: solved where there is a V2, else proven infeasible
# (the other 15 are ambiguous). The same with one function, Theorem 1: infeasible everywhere, as the paper reports.

mu12, d12 = (axis.ravel() for axis in np.meshgrid(np.linspace(0.02, 1.12, 12), np.linspace(0.08, 1.18, 12)))
some = stability.model("figure2", mu1=mu12, d=d12)
posed = stability.analyse(some, method="sos")
single = stability.analyse(some, method="single")
for name, result, expected in (("two functions", posed, {Status.solved: 102, Status.infeasible: 27, Status.cancelled: 15}),
                               ("one function", single, {Status.infeasible: 129, Status.cancelled: 15})):  # fmt: skip
    for status, count in expected.items():
        agree(f"{name}: {status.name}, of 144", (result.sos_status == status).sum(), count)
holds("solved where the class of one number has a member", bool(
    ((posed.sos_status == Status.solved) == (stability.analyse(some, method="paper").certificate == Kind.paper)).all()))  # fmt: skip

compare("section III.A", "one function, Theorem 1: 'provably infeasible'", True, (single.sos_status != Status.solved).all())
compare("section IV.B", "above (40) some are unstable by inverse chatter, none of them called stable", True,
        chatter.any() and not (chatter & (proven | ambiguous)).any())  # fmt: skip
compare("Figure 2", "the programme verifies 'a significant portion' of the stable stances, but not all", True,
        0.5 * proven.sum() < paper.sum() < proven.sum())  # fmt: skip

# %%

for verdict, colour in ((Verdict.ambiguous, "0.3"), (Verdict.unstable, "0.6"), (Verdict.undecided, "0.85")):
    here = found.verdict == verdict
    plt.plot(mu[here], d[here], "s", color=colour, markersize=8, label=verdict.name)
circles = posed.sos_status == Status.solved
plt.plot(mu12[circles], d12[circles], "o", mfc="none", markersize=11, color="tab:orange", label="the programme's own")
plt.plot(mu[paper], d[paper], "o", mfc="none", color="tab:blue", label="stable, paper's class")
plt.plot(mu[proven & ~paper], d[proven & ~paper], "x", color="tab:green", label="stable, labelled")
plt.xlabel(r"$\mu_1$")
plt.ylabel("d")
plt.legend(fontsize="small")
plt.show()
