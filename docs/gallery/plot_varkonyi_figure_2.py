r"""
Varkonyi, Figure 2: which stances return to rest
================================================

A biped on a slope of 30 degrees, inelastic impacts, :math:`\mu_2 = 2`, over :math:`\mu_1` and d. Unstable by
ambiguity where (39) and (40) hold; of the rest circles are stances that a certificate proves stable. The paper's
programme leaves a band undecided; labelled functions close most of it, and motions that grow the rest.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import holds

from carom import stability

mu, d = (axis.ravel() for axis in np.meshgrid(np.linspace(0.02, 1.12, 24), np.linspace(0.08, 1.18, 24)))
stances = stability.model("figure2", mu1=mu, d=d)
found = stability.analyse(stances)
Verdict, Kind = stability.StabilityVerdict, stability.CertificateKind

ambiguous = (d < np.tan(np.pi / 6)) & (mu < np.tan(np.pi / 6) - d)
holds(f"ambiguous where (39) and (40) say so, {ambiguous.sum()} of {len(d)}, and nowhere else",
      bool(((found.verdict == Verdict.ambiguous) == ambiguous).all()))  # fmt: skip
proven = stability.verify(stances, found)
holds("every stance called stable is proven, in exact arithmetic",
      bool((proven == (found.verdict == Verdict.stable)).all()))  # fmt: skip
paper = found.certificate == Kind.paper
holds(f"the paper's class proves {paper.sum()}, labelled functions {proven.sum() - paper.sum()} more",
      0 < paper.sum() < proven.sum())  # fmt: skip
undecided = (found.verdict == Verdict.undecided).mean()
holds(f"{100 * undecided:.1f} % stay undecided", undecided < 0.05)

# %%

for verdict, colour in ((Verdict.ambiguous, "0.3"), (Verdict.unstable, "0.6"), (Verdict.undecided, "0.85")):
    here = found.verdict == verdict
    plt.plot(mu[here], d[here], "s", color=colour, markersize=8, label=verdict.name)
plt.plot(mu[paper], d[paper], "o", mfc="none", color="tab:blue", label="stable, paper's class")
plt.plot(mu[proven & ~paper], d[proven & ~paper], "x", color="tab:green", label="stable, labelled")
plt.xlabel(r"$\mu_1$")
plt.ylabel("d")
plt.legend(fontsize="small")
plt.show()
