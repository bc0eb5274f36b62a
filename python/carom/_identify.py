"""Restitution and friction that explain measured impacts."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import from_any, refuse
from ._judge import judged_sampling, outcomes
from ._results import Result, result
from ._settings import takes_settings
from .problems import Problems, given_problems, robot_settings, run_settings


@result
class Identification(Result):
    """Which pairs of restitution and friction explain measured impacts.

    restitution (a,), friction (b,): the grids. distance (n, a, b): of each impact's nearest sample, with the same
    pair at all contacts. explains (n, a, b): distance <= tolerance. smallest_interval (2, 2): [low, high] of
    restitution and of friction, the box of least area that explains `share` of the impacts; NaN if none does.
    bounds (2, 2, 2): 5 % and 95 % quantiles of each end, from resampled impacts (bootstrap)."""

    restitution: np.ndarray
    friction: np.ndarray
    distance: np.ndarray
    explains: np.ndarray
    smallest_interval: np.ndarray
    bounds: np.ndarray
    tolerance: float
    share: float

    def best(self) -> tuple[float, float]:
        """The pair (restitution, friction) with the least median distance."""
        at = np.unravel_index(np.argmin(np.median(self.distance, axis=0)), self.distance.shape[1:])
        return float(self.restitution[at[0]]), float(self.friction[at[1]])

    def _summary(self) -> str:
        (e, f), (g, h) = self.smallest_interval
        return (f"{len(self.distance)} impacts: {self.share:.0%} within {self.tolerance:g} for restitution "
                f"{e:.3g}..{f:.3g} and friction {g:.3g}..{h:.3g}")  # fmt: skip


@takes_settings(_core.identify_settings())
def identify(
    problems: Any, measured: Any, sigma: Any = None, *, restitution: Any, friction: Any, samples: int | None = None, seed: int = 0,
    sampling: dict[str, Any] | None = None, backend: str = "auto", **settings: Any,
) -> Identification:  # fmt: skip
    """Which restitution and friction explain measured outcomes of impacts.

    problems, measured, sigma: as in judge. restitution (a,), friction (b,): grids of increasing numbers. Each
    impact's set is sampled at every pair of them. samples: per impact and pair; default 1 for impacts at one
    contact, whose outcome is one point, otherwise 512. Errors: InvalidInput for shapes and numbers out of range.
    """
    batch: Problems = given_problems((problems,), False)
    grids = [from_any(name, given).reshape(-1) for name, given in (("restitution", restitution), ("friction", friction))]
    chosen = {"method": "events", "mode_table": False, "seed": seed, **judged_sampling(batch, sampling)}
    for name, grid, most in (("restitution", grids[0], 1.0), ("friction", grids[1], np.inf)):
        for i in np.flatnonzero(~((grid >= 0.0) & (grid <= most) & np.isfinite(grid)))[:1]:
            raise refuse(f"{name}[{i}]", str(grid[i]), "must be in 0..1" if most == 1.0 else "must be >= 0 and finite")
    defaults = {each["name"]: each["default"] for each in _core.identify_settings()}
    wanted = {**defaults, **settings, "samples": 0 if samples is None else samples}
    found = _core.identify_impacts(
        batch.arrays(), *batch.sizes(), outcomes(batch, measured, sigma), grids[0], grids[1], wanted, run_settings(robot_settings(batch, chosen, backend)), backend
    )
    distance = found["distance"].reshape(len(batch), len(grids[0]), len(grids[1]))
    return Identification(restitution=grids[0], friction=grids[1], distance=distance, explains=distance <= wanted["tolerance"],
                          smallest_interval=found["smallest_interval"].reshape(2, 2), bounds=found["bounds"].reshape(2, 2, 2),
                          tolerance=float(wanted["tolerance"]), share=float(wanted["share"]))  # fmt: skip
