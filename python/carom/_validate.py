"""The same impacts on several backends, compared sample by sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import impact
from ._arrays import refuse
from ._results import Result, TrajectoryStatus, result
from ._settings import takes_problems
from .problems import given_problems


@result
class Validation(Result):
    """backends[0] against each of the others, arrays (others, n): samples whose status, modes and
    velocity differ, how many of those are explained (both answers certified, on a problem where a step
    has several solutions or could not be examined for them), disagreements (the rest),
    max_difference of v+ over the largest |v-|, and worst_sample, -1 where none differs; nonunique (n)
    among the examined steps of the first backend."""

    backends: tuple[str, ...]
    samples: int
    tolerance: float
    status_differences: np.ndarray
    mode_differences: np.ndarray
    velocity_differences: np.ndarray
    explained: np.ndarray
    disagreements: np.ndarray
    max_difference: np.ndarray
    worst_sample: np.ndarray
    nonunique: np.ndarray
    examined: np.ndarray

    @property
    def agree(self) -> bool:
        return not self.disagreements.any()

    def _summary(self) -> str:
        pairs = " and ".join(f"{self.backends[0]}, {other}" for other in self.backends[1:])
        return (
            f"{pairs}: {int(self.disagreements.sum())} disagreements in {self.samples} samples of "
            f"{len(self.nonunique)} problems, {int(self.explained.sum())} explained"
        )


def _examined(problem: Any, settings: dict[str, Any]) -> tuple[int, int]:
    if settings.get("method", "lcp") != "lcp" or settings.get("selection", "any") == "random":
        return 0, 0
    if not 1 <= problem.contacts <= (3 if problem.dimension == 2 else 1):
        return 0, 0  # all modes of a step would take long
    known = {name: settings[name] for name in ("seed", "step_size", "max_steps") if name in settings}
    report = impact.check_unique_step(problem, trajectories=64, **known)
    return int(report["nonunique"]), int(report["steps"])


@takes_problems
def validate(
    *problems: Any, backends: Sequence[str] = ("cpu", "reference"), samples: int = 512,
    tolerance: float = 1e-9, strict: bool = False, **settings: Any,
) -> Validation:  # fmt: skip
    """Samples the same impacts on every backend and compares them sample by sample, as `carom
    validate` does: where a step has several solutions, correct backends may take different ones.

    problems, settings: as carom.impact.sample takes them. tolerance: of v+, relative to the largest |v-|.
    Errors: InvalidInput; BackendUnavailable.
    """
    if isinstance(backends, str) or len(backends) < 2:
        raise refuse("backends", repr(backends), "must be two or more")
    batch = given_problems(problems, strict)
    settings.setdefault("epsilon", 0.0)
    runs = [
        impact.sample(batch, samples=samples, keep_samples=-1, backend=backend, **settings) for backend in backends
    ]
    n, first = len(batch), runs[0]
    reports = [_examined(batch[i], settings) for i in range(n)]
    unexamined = np.array([settings.get("method", "lcp") == "lcp" and (bad > 0 or seen == 0) for bad, seen in reports])
    bound = float(first.settings.get("residual_tolerance", 1e-9))
    scale = np.abs(batch.velocity).max(axis=1)
    scale = np.where(scale > 0.0, scale, 1.0)[:, None]

    def certified(run: impact.ImpactResult) -> np.ndarray:
        ended = (TrajectoryStatus.terminated, TrajectoryStatus.max_steps)
        return np.isin(run.samples.status, ended) & (run.samples.residual <= bound)

    columns: dict[str, list[np.ndarray]] = {}
    for other in runs[1:]:
        a, b = first.samples.velocity, other.samples.velocity
        with np.errstate(invalid="ignore"):
            apart = np.where(np.isfinite(a) | np.isfinite(b), np.abs(a - b), 0.0).max(axis=2) / scale
        apart = np.where(np.isnan(apart), np.inf, apart)  # one has numbers
        status = first.samples.status != other.samples.status
        differs = status | (apart > tolerance)
        excused = differs & certified(first) & certified(other) & unexamined[:, None]
        finite = np.where(np.isfinite(apart), apart, 0.0)
        worst = np.where(differs.any(axis=1), np.where(differs, apart, -1.0).argmax(axis=1), -1)
        for name, value in (
            ("status_differences", status.sum(axis=1)),
            ("mode_differences", (first.samples.modes != other.samples.modes).sum(axis=1)),
            ("velocity_differences", ((apart > tolerance) & np.isfinite(apart)).sum(axis=1)),
            ("explained", excused.sum(axis=1)),
            ("disagreements", (differs & ~excused).sum(axis=1)),
            ("max_difference", finite.max(axis=1)),
            ("worst_sample", worst),
        ):
            columns.setdefault(name, []).append(value)
    return Validation(
        backends=tuple(backends), samples=samples, tolerance=tolerance,
        nonunique=np.array([bad for bad, _ in reports]), examined=np.array([seen for _, seen in reports]),
        **{name: np.stack(values) for name, values in columns.items()},
    )  # fmt: skip
