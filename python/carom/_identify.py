"""Restitution and friction that explain measured impacts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import from_any, refuse
from ._judge import judged_sampling, outcomes
from ._results import Result, TrajectoryStatus, result
from .problems import Problems, given_problems


@result
class Identification(Result):
    """restitution (a), friction (b): the grids; distance (n, a, b) of each impact's nearest sample, both
    numbers the same at all contacts; explains (n, a, b): distance <= tolerance; smallest_interval (2, 2):
    [low, high] of restitution and of friction, the box of least area that explains `share` of the impacts,
    NaN where none does; bounds (2, 2, 2): 5 and 95 % of each end over resampled impacts."""

    restitution: np.ndarray
    friction: np.ndarray
    distance: np.ndarray
    explains: np.ndarray
    smallest_interval: np.ndarray
    bounds: np.ndarray
    tolerance: float
    share: float

    def best(self) -> tuple[float, float]:
        """The one pair of numbers with the least median distance."""
        at = np.unravel_index(np.argmin(np.median(self.distance, axis=0)), self.distance.shape[1:])
        return float(self.restitution[at[0]]), float(self.friction[at[1]])

    def _summary(self) -> str:
        (e, f), (g, h) = self.smallest_interval
        return (f"{len(self.distance)} impacts: {self.share:.0%} within {self.tolerance:g} for restitution "
                f"{e:.3g}..{f:.3g} and friction {g:.3g}..{h:.3g}")  # fmt: skip


def _boxes(count: int) -> np.ndarray:
    return np.array([(low, high) for low in range(count) for high in range(low, count)])


def _smallest(explains: np.ndarray, e: np.ndarray, f: np.ndarray, share: float, bootstrap: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The box, and its ends over resampled impacts. A box of one grid point is one cell wide."""
    n = len(explains)
    one, two = _boxes(len(e)), _boxes(len(f))
    total = np.pad(explains.astype(np.int32).cumsum(1).cumsum(2), [(0, 0), (1, 0), (1, 0)])
    cells = [np.diff(x).mean() if len(x) > 1 else 1.0 for x in (e, f)]
    area = np.multiply.outer(e[one[:, 1]] - e[one[:, 0]] + cells[0], f[two[:, 1]] - f[two[:, 0]] + cells[1]).ravel()
    order = np.argsort(area, kind="stable")
    hit = np.empty((n, len(one), len(two)), bool)
    for k, (low, high) in enumerate(one):
        rows = total[:, high + 1] - total[:, low]
        hit[:, k] = rows[:, two[:, 1] + 1] > rows[:, two[:, 0]]
    hit = hit.reshape(n, -1)[:, order].astype(np.float32)
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=bootstrap)
    needed = np.ceil(share * n - 1e-9)

    def ends(weights: np.ndarray) -> np.ndarray:
        enough = np.flatnonzero(weights.astype(np.float32) @ hit >= needed - 1e-3)
        if len(enough) == 0:
            return np.full((2, 2), np.nan)
        i, j = np.divmod(order[enough[0]], len(two))
        return np.stack([e[one[i]], f[two[j]]])

    return ends(np.ones(n)), np.stack([ends(draw) for draw in draws])


def identify(
    problems: Any, measured: Any, sigma: Any = None, *, restitution: Any, friction: Any, tolerance: float = 0.03,
    share: float = 0.9, samples: int | None = None, bootstrap: int = 200, seed: int = 0, sampling: dict[str, Any] | None = None,
    backend: str = "auto",
) -> Identification:  # fmt: skip
    """Which restitution and friction explain measured outcomes of impacts.

    problems, measured, sigma: as in judge. restitution (a), friction (b): grids of numbers, rising. Each
    impact's set is sampled at every pair of them (samples; default 1 of one contact, whose outcome is one
    point, else 512). tolerance: of the distances. Errors: InvalidInput.
    """
    from .impact import sample

    batch: Problems = given_problems((problems,), False)
    arrays = outcomes(batch, measured, sigma)
    grids = []
    for name, given in (("restitution", restitution), ("friction", friction)):
        grid = from_any(name, given).reshape(-1)
        if len(grid) == 0 or (np.diff(grid) <= 0).any():
            raise refuse(name, "a grid that does not rise", "must be numbers, each larger than the last")
        grids.append(grid)
    count = samples if samples is not None else 1 if batch.contacts == 1 else 512
    metric = batch.mass_matrix / np.einsum("ni,nij,nj->n", batch.velocity, batch.mass_matrix, batch.velocity)[:, None, None]
    if sigma is not None:
        metric = np.linalg.inv(arrays["measured_covariance"])
    root = np.linalg.cholesky(metric).transpose(0, 2, 1)
    settings = {"method": "events", "epsilon": 0.0, "mode_table": False, "on_error": "status", **judged_sampling(batch, sampling)}
    distance = np.empty((len(batch), len(grids[0]), len(grids[1])))
    for a, e in enumerate(grids[0]):
        for b, mu in enumerate(grids[1]):
            run = sample(batch, restitution=e, friction=mu, samples=count, seed=seed, backend=backend, **settings)
            away = np.einsum("nij,nsj->nsi", root, run.samples.velocity - arrays["measured_velocity"][:, None])
            ended = run.samples.status == TrajectoryStatus.terminated
            distance[:, a, b] = np.where(ended, np.linalg.norm(away, axis=2), np.inf).min(1)
    explains = distance <= tolerance
    box, ends = _smallest(explains, grids[0], grids[1], share, bootstrap, seed)
    bounds = np.stack([np.nanpercentile(ends, q, axis=0) for q in (5, 95)], -1) if np.isfinite(box).all() else np.full((2, 2, 2), np.nan)
    return Identification(restitution=grids[0], friction=grids[1], distance=distance, explains=explains,
                          smallest_interval=box, bounds=bounds, tolerance=float(tolerance), share=float(share))  # fmt: skip
