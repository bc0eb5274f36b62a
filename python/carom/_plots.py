"""Pictures, by matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._optional import needed
from ._results import StabilityVerdict, TrajectoryStatus


def axes(ax: Any, height: float | None = None) -> Any:
    """height: of a new picture, in inches; matplotlib's own where it is None."""
    if ax is not None:
        return ax
    pyplot = needed("matplotlib.pyplot", "a picture", "plot")
    return pyplot.subplots(figsize=None if height is None else (pyplot.rcParams["figure.figsize"][0], height))[1]


def plot_impact(run: Any, i: int, x: int | None, y: int | None, ax: Any) -> Any:
    problems = run.problems
    if run.samples.status.shape[1]:
        done = run.samples.status[i] == TrajectoryStatus.terminated
        points, modes = run.samples.velocity[i][done], run.samples.modes[i][done]
    elif run.net:
        points, modes = run.net[i].velocity, run.net[i].modes
    else:
        raise ValueError("nothing to draw: keep_samples=0 and no epsilon")
    one = problems[i]
    names = problems.contact_names or tuple(map(str, range(problems.contacts)))
    normal, tangent = one.contact_velocity(points[None])
    before_n, before_t = one.contact_velocity()
    if x is not None or y is not None:
        x, y = x or 0, 1 if y is None else y
        across, up = points[:, x], points[:, y]
        before = one.velocity[0, x], one.velocity[0, y]
        labels = f"v[{x}]", f"v[{y}]"
    elif problems.contacts >= 2:
        across, up = normal[0, :, 0], normal[0, :, 1]
        before = before_n[0, 0], before_n[0, 1]
        labels = f"normal velocity of {names[0]} [m/s]", f"normal velocity of {names[1]} [m/s]"
    else:
        across, up = tangent[0, :, 0], normal[0, :, 0]
        before = before_t[0, 0], before_n[0, 0]
        labels = f"tangential velocity of {names[0]} [m/s]", f"normal velocity of {names[0]} [m/s]"
    ax = axes(ax)
    kinds, counts = np.unique(modes, return_counts=True)
    for kind in kinds[np.argsort(-counts)]:
        rows = modes == kind
        words = _core.mode_words(int(kind), problems.contacts, problems.dimension)
        share = 100.0 * np.count_nonzero(rows) / len(modes)
        ax.plot(across[rows], up[rows], ".", markersize=3, label=f"{words}, {share:.1f} %")
    ax.plot(*before, "kx", label="before")
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    ax.set_title(f"{problems.name}: {len(points)} outcomes")
    ax.legend(fontsize="small")
    return ax


def plot_enclosure(enclosure: Any, ax: Any) -> Any:
    """In the plane of two normal velocities, or of the only contact's tangential and normal one."""
    problem = enclosure.problem
    names = problem.contact_names or tuple(map(str, range(problem.contacts)))
    m = problem.contacts
    x, y = (0, 1) if m >= 2 else (m, 0)
    low = np.concatenate([enclosure.normal_velocity_min, enclosure.tangent_velocity_min])
    high = np.concatenate([enclosure.normal_velocity_max, enclosure.tangent_velocity_max])
    ax = axes(ax)
    corners = np.array([[low[x], low[y]], [high[x], low[y]], [high[x], high[y]], [low[x], high[y]], [low[x], low[y]]])
    ax.plot(corners[:, 0], corners[:, 1], "k:", label="bounds")
    for mode, vertices in zip(enclosure.modes, enclosure.vertices):
        hull = _core.convex_hull(np.ascontiguousarray(vertices), len(vertices), vertices.shape[1], x, y)
        if len(hull):
            closed = np.vstack([hull, hull[:1]])
            ax.plot(closed[:, 0], closed[:, 1], "o-", markersize=3, label=_core.mode_words(int(mode), m, problem.dimension))
    tangent = f"tangential velocity of {names[0]} [m/s]"
    ax.set_xlabel(f"normal velocity of {names[0]} [m/s]" if m >= 2 else tangent)
    ax.set_ylabel(f"normal velocity of {names[y]} [m/s]")
    ax.set_title(f"{problem.name}: no outcome lies outside")
    ax.legend(fontsize="small")
    return ax


def plot_strips(regions: Any, ax: Any) -> Any:
    ax = axes(ax)
    place = np.arange(len(regions.status))
    ax.hlines(place, regions.lower, regions.upper, linewidth=6, color="tab:green", label="held")
    ax.set_xlabel("centre of mass [m]")
    ax.set_ylabel("posture")
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.legend(fontsize="small")
    return ax


def plot_polygons(polygons: dict[str, np.ndarray], ax: Any) -> Any:
    ax = axes(ax)
    for name, corners in polygons.items():
        if len(corners):
            closed = np.vstack([corners, corners[:1]])
            ax.plot(closed[:, 0], closed[:, 1], "-", label=name)
    ax.set_aspect("equal")
    ax.set_xlabel("[m]")
    ax.set_ylabel("[m]")
    ax.legend(fontsize="small")
    return ax


def plot_chart(chart: Any, ax: Any) -> Any:
    ax = axes(ax)
    kinds = [int(kind) for kind in np.unique(chart.verdict)]
    colours = needed("matplotlib", "a picture", "plot").colormaps["tab10"]
    for place, kind in enumerate(kinds):
        rows, columns = np.nonzero(chart.verdict == kind)
        label = f"{StabilityVerdict(kind).name}, {100.0 * len(rows) / chart.verdict.size:.1f} %"
        ax.plot(chart.x[columns], chart.y[rows], "s", markersize=3, color=colours(place), label=label)
    ax.set_xlabel(chart.names[0])
    ax.set_ylabel(chart.names[1])
    ax.legend(fontsize="small")
    return ax


def plot_modes(modes: dict[str, dict[str, float]], ax: Any) -> Any:
    """A bar for each contact: the shares of outcomes in which it sticks, slips and lifts."""
    names = list(modes)[::-1]
    ax = axes(ax, height=1.0 + 0.25 * len(names))
    left = [0.0] * len(names)
    for word, colour in (("sticking", "#4477aa"), ("sliding", "#ccbb44"), ("separating", "#ee6677")):
        shares = [modes[name][word] for name in names]
        ax.barh(names, shares, left=left, color=colour, label=word)
        left = [a + b for a, b in zip(left, shares)]
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel("share of samples")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    return ax
