"""Figures of docs/tutorials/measured.md; examples/cube_judge.py --figures FOLDER draws them."""

from __future__ import annotations

import pathlib
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import carom
from carom.impact import Problems

EXACT = {"method": "events", "friction_directions": 16}
WIDE = ((0.2, 0.4), (0.1, 0.2))


def jacobian(problem: Problems) -> np.ndarray:
    """J of one problem, normals first (d m, nv)."""
    return np.concatenate([problem.normal_jacobian[0], problem.tangent_jacobian[0]])


def outcome_set(data: Any, i: int, models: dict[str, Any]) -> plt.Figure:
    """Normal velocities after impact i: the inelastic set, the set by intervals, models, what was measured
    with its ellipse of three standard deviations."""
    figure, axes = plt.subplots(figsize=(7.4, 4.4))
    problem = data.problems[i]
    Jn = problem.normal_jacobian[0]
    for restitution, friction, colour, label in ((*WIDE, "0.75", "e 0.2 to 0.4, mu 0.1 to 0.2"), (0.0, 0.18, "black", "inelastic, mu 0.18")):
        run = carom.impact.sample(problem, restitution=restitution, friction=friction, samples=4000, epsilon=0.0, **EXACT)
        axes.plot(*(run.samples.velocity[0] @ Jn.T).T, ".", color=colour, ms=2, label=label)
    for (name, outcomes), marker in zip(models.items(), "s^vDPX*"):
        axes.plot(*(outcomes[i] @ Jn.T).T, marker, ls="", ms=6, mfc="none", label=name)
    middle, spread = Jn @ data.velocity[i], Jn @ data.covariance[i] @ Jn.T
    turn = np.linspace(0, 2 * np.pi, 100)
    ellipse = middle[:, None] + 3 * np.linalg.cholesky(spread) @ np.stack([np.cos(turn), np.sin(turn)])
    axes.plot(*ellipse, "r-", lw=1)
    axes.plot(*middle, "r+", ms=9, label="measured, 3 sigma")
    axes.set(xlabel="normal velocity of A after [m/s]", ylabel="of B [m/s]")
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def books(problem: Problems, path: np.ndarray, restitution: np.ndarray) -> tuple[np.ndarray, ...]:
    """Along a path v_0, v_1, ..: normal impulse so far (k), kinetic energy (k), stores (k, m), work lost in
    compression (k, m) and by friction (k, m) [J]; Stronge's law."""
    J, M, m = jacobian(problem), problem.mass_matrix[0], problem.contacts
    d = problem.dimension
    u = path @ J.T
    impulse = np.linalg.lstsq(J.T, M @ np.diff(path, axis=0).T, rcond=None)[0].T
    mean = 0.5 * (u[1:] + u[:-1])
    work = -impulse[:, :m] * mean[:, :m]  # > 0: compression
    stored = np.where(work > 0, restitution**2 * work, work)
    rubbed = -(impulse * mean)[:, m:].reshape(len(impulse), m, d - 1).sum(2)
    sums = [np.concatenate([np.zeros((1, m)), x.cumsum(0)]) for x in (stored, np.where(work > 0, (1 - restitution**2) * work, 0.0), rubbed)]
    return np.r_[0.0, impulse[:, :m].sum(1).cumsum()], 0.5 * np.einsum("ki,ij,kj->k", path, M, path), *sums


def ladder(found: Any, i: int) -> plt.Figure:
    """Where the energy of the nearest sample of impact i goes, along its normal impulse."""
    again = found.nearest(i)
    path = np.asarray(again.paths[0][0])
    s, kinetic, stores, lost, rubbed = books(found.problems[i], path, found.nearest_restitution[i])
    names = [f"store of {name}" for name in "AB"]
    rows = np.stack([kinetic, *stores.T, lost.sum(1), rubbed.sum(1)]) / kinetic[0]
    figure, axes = plt.subplots(figsize=(5.2, 3.6))
    axes.stackplot(s, rows, labels=["kinetic", *names, "lost in compression", "lost by friction"],
                   colors=["0.85", "tab:blue", "tab:cyan", "tab:orange", "tab:red"])  # fmt: skip
    axes.set(xlabel="normal impulse [N s]", ylabel="share of K-", xlim=(0, s[-1]), ylim=(0.5, 1.01))
    axes.legend(fontsize=7, loc="lower left")
    return figure


def shares(distances: dict[str, np.ndarray]) -> plt.Figure:
    """Share of the impacts within a distance, a line for each set or model."""
    figure, axes = plt.subplots(figsize=(7.6, 3.8))
    for name, distance in distances.items():
        axes.plot(np.sort(distance), np.arange(1, len(distance) + 1) / len(distance), label=name, ls="-" if "[" in name else "--")
    axes.set(xlabel="distance over |v-|", ylabel="share of the impacts at two corners", xlim=(0, 0.1), ylim=(0, 1))
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def explained(one: Any) -> plt.Figure:
    """Share of the impacts at one corner that a pair of restitution and friction explains within 0.03."""
    fit = carom.impact.identify(one.problems, one.velocity, restitution=np.linspace(0.16, 0.40, 17), friction=np.linspace(0.08, 0.24, 17))
    figure, axes = plt.subplots(figsize=(4.8, 3.8))
    lines = axes.contour(fit.friction, fit.restitution, fit.explains.mean(0), levels=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    axes.clabel(lines, fontsize=7)
    (e, f), (g, h) = fit.smallest_interval
    axes.plot([g, h, h, g, g], [e, e, f, f, e], "r-", lw=1, label="smallest box for 90 %")
    axes.set(xlabel="friction", ylabel="restitution")
    axes.legend(fontsize=7)
    return figure


def cradle() -> plt.Figure:
    """Three balls in a row: what the last two do after the first has struck, shaded by e."""
    m = np.eye(3)[None]
    rows = np.array([[[-1.0, 1, 0], [0, -1.0, 1]]])
    problem = Problems.of(m, rows, np.zeros((1, 2, 3)), np.zeros((1, 2)), np.array([[1.0, 0, 0]]), name="cradle")
    figure, axes = plt.subplots(figsize=(4.8, 4.2))
    for e in (0.25, 0.5, 0.75, 1.0):
        run = carom.impact.sample(problem, restitution=e, samples=6000, epsilon=0.0, method="events")
        axes.plot(*run.samples.velocity[0, :, 1:].T, ".", ms=2, color=plt.cm.viridis(1 - e), label=f"e = {e:g}")
    axes.plot(0, 1, "r+", ms=9)
    axes.plot(2 / 3, 2 / 3, "rx", ms=7)
    axes.set(xlabel="second ball after [v]", ylabel="third ball after [v]")
    axes.legend(fontsize=7)
    return figure


def block() -> plt.Figure:
    """A block dropped flat, without friction, on the axes of Halm and Posa's Figure 9."""
    figure, axes = plt.subplots(figsize=(4.8, 4.2))
    problem = carom.model("rocking_block", friction=0.0)
    for e in (1.0, 0.7, 0.3, 0.0):
        run = carom.impact.sample(problem, restitution=e, samples=6000, epsilon=0.0, method="events")
        u = run.samples.velocity[0] @ run.problems.normal_jacobian[0].T
        axes.plot(*u.T, ".", ms=3, color=plt.cm.viridis(1 - e), label=f"e = {e:g}")
    axes.set(xlabel="normal velocity of A after [m/s]", ylabel="of B [m/s]")
    axes.legend(fontsize=7)
    return figure


def draw(folder: pathlib.Path, data: Any, one: Any, found: Any, models: dict[str, Any], distances: dict[str, np.ndarray]) -> None:
    """data, found, models: of two corners, judged by the wide intervals; one: of one corner."""
    folder.mkdir(parents=True, exist_ok=True)
    i = int(np.argmin(np.where(found.distance < 0.02, found.floor, np.inf)))
    figures = {"set": outcome_set(data, i, models), "energy": ladder(found, i), "shares": shares(distances),
               "explained": explained(one), "cradle": cradle(), "block": block()}  # fmt: skip
    for name, figure in figures.items():
        figure.tight_layout()
        figure.savefig(folder / f"measured_{name}.png", dpi=90)
        plt.close(figure)
