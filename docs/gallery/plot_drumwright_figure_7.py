"""
Drumwright, Figure 7: pressure under a cube
===========================================

A cube on an elastic foundation of 10 x 10 elements, pushed down by 50 N at a moving point of its top, after 13 ms,
when that point is on the side of x > 0. With the law complementarity the pressure is larger on that side, and elements on the opposite side open. The pressure is not
concentrated under the point: the cube is rigid, so the pressure is a linear function of the position where it is positive.
With the paper's program (83)-(85) no element opens, and its forces differ from those of the springs by up to a tenth of the
largest.
"""

import matplotlib.pyplot as plt
import numpy as np
from papers import agree, compare, holds

import carom

SIDE, LOAD, STEPS = 10, 50.0, 13
WEIGHT = 8.0 * 9.81
row, column = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
x, y = (row + 0.5) / SIDE - 0.5, (column + 0.5) / SIDE - 0.5


def pressures(law):
    ran = carom.compliant.worlds(
        "elastic_foundation", {"elements_per_side": SIDE, "modulus": 1e7, "load": LOAD}, dt=1e-3, steps=STEPS,
        law=law, on_error="raise",
    )  # fmt: skip
    return ran.force[0].reshape(SIDE, SIDE)


def off_a_plane(pressure):
    """Largest distance of the pressures that are not zero from one plane, over the largest; the plane's slopes."""
    carried = pressure > 0.0
    design = np.stack([np.ones(carried.sum()), x[carried], y[carried]], axis=1)
    plane, *_ = np.linalg.lstsq(design, pressure[carried], rcond=None)
    return np.abs(design @ plane - pressure[carried]).max() / pressure.max(), plane[1:]


settled = carom.compliant.worlds("elastic_foundation", {"load": 0.0}, dt=0.01, steps=200)
agree("weight carried by the foundation at rest [N]", settled.force[0].sum(), WEIGHT, relative=1e-6)
agree("and by each element [N]", settled.force[0], WEIGHT / 100, relative=1e-3)

law, programme = pressures("complementarity"), pressures("programme")
angle = 10.0 * 1e-3 * (STEPS - 1)  # the load's place at the start of the last step
for name, pressure, share in (("complementarity", law, 0.01), ("programme", programme, 0.05)):
    agree(f"{name}: load and weight are carried [N]", pressure.sum(), WEIGHT + LOAD, relative=share)
    at = np.array([(pressure * x).sum(), (pressure * y).sum()])
    agree(f"{name}: with the load's moment [N m]", at, 0.5 * LOAD * np.array([np.cos(angle), np.sin(angle)]), within=2.2)
    agree(f"{name}: share of the half with the load", pressure[SIDE // 2 :].sum() / pressure.sum(), 0.79, within=0.03)
    holds(f"{name}: the corner next to the load presses most", np.unravel_index(pressure.argmax(), pressure.shape) == (9, 9))

distance, slope = off_a_plane(law)
agree("complementarity: pressures off one plane, relative", distance, 0.0, within=1e-9)
opened = (law == 0.0).sum(axis=1)
agree("complementarity: open elements in each row, from the side opposite to the load", opened, [7] + 9 * [0])
compare("Figure 7", "pressure is greater on the side of the load (complementarity)", True, slope[0] > 5 * slope[1] > 0.0)
compare("section 5.5", "'the side of the cube opposite' separates (complementarity)", True, opened[0] > 0)
compare("section 5.5", "the same by the programme", True, (programme == 0.0).any(), reproduced=False,
        note="all its forces are positive, see the errata of section 5.3")  # fmt: skip
compare("Figure 7", "pressure is greater on the side of the load (programme)", True, programme[-1].sum() > 2 * programme[0].sum())
agree("programme: forces off one plane, relative", off_a_plane(programme)[0], 0.100, within=0.02)

# %%

figure, axes = plt.subplots(1, 2, figsize=(10, 4))
for ax, pressure, name in ((axes[0], law, "complementarity (carom's own)"), (axes[1], programme, "programme (the paper's)")):
    drawn = ax.imshow(pressure.T, cmap="magma", origin="lower", extent=(-0.5, 0.5, -0.5, 0.5))
    figure.colorbar(drawn, ax=ax, label="force of an element [N]")
    ax.set_title(name)
    ax.set_xlabel("x [m]")
axes[0].set_ylabel("y [m]")
plt.show()
