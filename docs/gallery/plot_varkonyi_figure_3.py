r"""
Varkonyi, Figure 3: partly elastic impacts
==========================================

Slope 20 degrees, restitution 0.1, :math:`\mu_1 = \mu_2`: in equilibrium from :math:`\tan 20^\circ \approx 0.36` on,
never ambiguous, and proven stable over most of the chart.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, holds

from carom import stability

mu, d = (axis.ravel() for axis in np.meshgrid(np.linspace(0.3, 1.48, 24), np.linspace(0.08, 1.18, 24)))
stances = stability.model("figure3", mu=mu, d=d)
found = stability.analyse(stances)
Verdict, Kind = stability.StabilityVerdict, stability.CertificateKind

agree("least friction of an equilibrium", np.tan(np.deg2rad(20.0)), 0.36, within=0.005)
holds("there is one above, none below",
      bool(((found.verdict == Verdict.no_equilibrium) == (mu < np.tan(np.deg2rad(20.0)))).all()))  # fmt: skip
holds("none is ambiguous", not (found.verdict == Verdict.ambiguous).any())
proven = stability.verify(stances, found)
paper = found.certificate == Kind.paper
holds("every stance called stable is proven", bool((proven == (found.verdict == Verdict.stable)).all()))
share = proven.sum() / (found.verdict != Verdict.no_equilibrium).sum()
holds(f"that is {100 * share:.0f} % of those in equilibrium", share > 0.9)

# %%

for verdict, colour in ((Verdict.no_equilibrium, "0.3"), (Verdict.undecided, "0.85")):
    here = found.verdict == verdict
    plt.plot(mu[here], d[here], "s", color=colour, markersize=8, label=verdict.name.replace("_", " "))
plt.plot(mu[paper], d[paper], "o", mfc="none", color="tab:blue", label="stable, paper's class")
plt.plot(mu[proven & ~paper], d[proven & ~paper], "x", color="tab:green", label="stable, labelled")
plt.axvline(np.tan(np.deg2rad(20.0)), color="k")
plt.xlabel(r"$\mu_1 = \mu_2$")
plt.ylabel("d")
plt.legend(fontsize="small")
plt.show()
