"""Whether measured outcomes of impacts lie in the sampled sets."""

from __future__ import annotations

import dataclasses
import errno
import os
import pathlib
from typing import Any

import numpy as np

from . import _core, _parts
from ._arrays import from_any, refuse
from ._progress import called
from ._results import JudgeVerdict, Result, result
from ._sampling import ImpactResult, sample
from ._settings import takes_settings
from .problems import Problems, given_problems, robot_settings, run_settings

FILE_ARRAYS = ("mass_matrix", "normal_jacobian", "tangent_jacobian", "friction", "velocity")


@result
class ImpactFloor(Result):
    """floor (n): least distance of any impulse in the friction cones from what was measured, NaN where
    the program was not solved; floor_impulse (n, d m) [N s]; floor_status, floor_residual (n)."""

    def _summary(self) -> str:
        return f"{len(self.floor)} impacts, median floor {np.nanmedian(self.floor):.3g}"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Measured(Result):
    """Impacts of a file, v+ as measured (n, nv), its covariance (n, nv, nv) or None, and names."""

    problems: Problems
    velocity: np.ndarray
    covariance: np.ndarray | None
    names: tuple[str, ...]

    def _summary(self) -> str:
        return f"{len(self.velocity)} impacts"


def read_measured(path: str | os.PathLike[str]) -> Measured:
    """Reads impact problems and their measured outcomes from an HDF5 file, the input of `carom impact --measured`.

    Needs h5py. Errors: FileNotFoundError; InvalidInput for a missing data set, shapes and numbers."""
    if not pathlib.Path(path).is_file():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    with _parts.need_h5py().File(path, "r") as file:
        missing = [name for name in (*FILE_ARRAYS, "measured_velocity") if name not in file]
        if missing:
            raise refuse(str(path), f"without {missing[0]}", "must have it")
        arrays = [file[name][:].astype(float) for name in FILE_ARRAYS]
        v = file["measured_velocity"][:].astype(float)
        sigma = file["measured_covariance"][:].astype(float) if "measured_covariance" in file else None
        names = tuple(file["name"].asstr()[:]) if "name" in file else ()
    problems = Problems.of(*arrays, name=pathlib.Path(path).stem)
    problems.validate()
    outcomes(problems, v, sigma)
    return Measured(problems, v, sigma, names)


def outcomes(batch: Problems, measured: Any, sigma: Any = None) -> dict[str, np.ndarray]:
    """The arrays of what was measured. Errors: InvalidInput for shapes."""
    n, nv = len(batch), batch.velocities
    v = from_any("measured", measured)
    if v.shape not in ((nv,), (n, nv)):
        raise refuse("measured", f"of shape {v.shape}", f"must be ({n}, {nv})")
    arrays = {"measured_velocity": np.ascontiguousarray(np.broadcast_to(v, (n, nv)))}
    if sigma is None:
        return arrays
    s = from_any("sigma", sigma)
    if s.shape in ((), (nv,), (n, nv)):
        if not (s > 0).all():
            raise refuse("sigma", f"{s.min():.9g}", "must be > 0")
        s = np.broadcast_to(s, (n, nv))[:, :, None] ** 2 * np.eye(nv)
    elif s.shape not in ((n, nv, nv), (nv, nv)):
        raise refuse("sigma", f"of shape {s.shape}", f"must be ({n}, {nv}), or a covariance ({n}, {nv}, {nv})")
    arrays["measured_covariance"] = np.ascontiguousarray(np.broadcast_to(s, (n, nv, nv)))
    return arrays


def judged_sampling(batch: Problems, sampling: dict[str, Any] | None) -> dict[str, Any]:
    """Settings of sample, in space with polygons of 16 directions: those of fewer miss outcomes by more than
    what is tolerated."""
    return {**({"friction_directions": 16} if batch.dimension == 3 else {}), **(sampling or {})}


def floor(problems: Any, measured: Any, sigma: Any = None, *, threads: int = 0) -> ImpactFloor:
    """The smallest distance from each measured outcome to what any impulse in the friction cones can reach.

    It does not depend on the law of restitution. A large floor means that geometry, mass or contacts are wrong.
    problems: Problems, or a model's name. measured: v+ (n, nv). sigma: standard deviations (n, nv) or
    covariances (n, nv, nv) of it. None: distances are |v - v+|_M / |v-|_M. Errors: InvalidInput.
    """
    batch = given_problems((problems,), False)
    return ImpactFloor(**_core.impact_floor(batch.arrays(), *batch.sizes(), outcomes(batch, measured, sigma), threads))


@result
class Judgement(Result):
    """Whether measured outcomes of n impacts are in their sets.

    verdict (n): a JudgeVerdict: inside; not_reached, which proves nothing; outside_proven, by the floor or by
    an enclosure.
    distance (n): of the nearest certified sample, infinite if there is none.
    sampled_distance (n): the same before refinement.
    resolution (n): median distance of held-out samples to the others.
    allowed (n): distance up to which a sample reaches the measurement.
    nearest_velocity (n, nv), nearest_impulse (n, d m) [N s], nearest_restitution and nearest_friction (n, m):
    the nearest sample. nearest(i) computes it again: it is number nearest_sample of problem nearest_problem of a run
    with seed nearest_seed and the intervals interval_* (n, m).
    floor and the other fields: as in ImpactFloor.
    """

    problems: Problems
    sampling: dict[str, Any]
    cancelled: bool

    def words(self) -> list[str]:
        """The verdicts in words."""
        return [JudgeVerdict(verdict).name.replace("_", " ") for verdict in self.verdict]

    def share(self, tolerance: float | list[float] | np.ndarray) -> np.ndarray:
        """The share of the impacts whose distance is at most `tolerance`; an array for several tolerances."""
        return np.asarray((self.distance <= np.asarray(tolerance)[..., None]).mean(-1))

    def nearest(self, i: int = 0) -> ImpactResult:
        """Computes the nearest sample of impact i again, with its path: an ImpactResult of one sample."""
        one = self.problems[i]
        restitution = np.stack([self.interval_restitution_low[i], self.interval_restitution_high[i]], -1)
        friction = np.stack([self.interval_friction[i], self.interval_friction_high[i]], -1)
        drawn = one.restitution_high is not None or one.friction_high is not None
        more = {"restitution": restitution, "friction": friction} if drawn else {}
        settings = {**self.sampling, "samples": 1, "keep_samples": -1, "keep_paths": 1, "epsilon": 0.0,
                    "seed": int(self.nearest_seed[i]), "first_problem": int(self.nearest_problem[i]),
                    "first_sample": int(self.nearest_sample[i])}  # fmt: skip
        return sample(one, **settings, **more)

    def _summary(self) -> str:
        words = self.words()
        counts = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
        return f"{len(words)} impacts: {counts}; median distance {np.median(self.distance):.3g}"


@takes_settings(_core.judge_settings())
def judge(
    problems: Any, measured: Any, sigma: Any = None, *, restitution: Any = None, friction: Any = None,
    samples: int = 4096, seed: int = 0, sampling: dict[str, Any] | None = None, backend: str = "auto",
    progress: Any = None, **settings: Any,
) -> Judgement:  # fmt: skip
    """Whether measured outcomes of impacts are in their sets: floor, nearest certified sample, verdict.

    Parameters:

    problems
        Problems, or a model's name.
    measured
        v+ (n, nv).
    sigma
        Standard deviations (n, nv) or covariances (n, nv, nv) of v+; distances are then in standard deviations.
        None: distances are |v - v+|_M / |v-|_M.
    restitution, friction
        As in sample.
    sampling
        Further settings of sample. The default of friction_directions is 16 for spatial problems.

    Every candidate is a certified sample. The first round draws restitution and friction from the intervals of the
    problem, later rounds from intervals that shrink around the nearest samples.

    Errors: InvalidInput for shapes, settings and numbers.
    """
    batch = given_problems((problems,), False)
    if restitution is not None or friction is not None:
        batch = batch.with_intervals(restitution, friction)
    chosen = {"samples": samples, "seed": seed, **judged_sampling(batch, sampling)}
    if batch.restitution_high is not None or batch.friction_high is not None:
        chosen.setdefault("method", "events")
    chosen = run_settings(robot_settings(batch, chosen, backend))
    answer = _core.judge_impacts(
        batch.arrays(), *batch.sizes(), outcomes(batch, measured, sigma), settings, chosen, backend, called(progress)
    )
    return Judgement(problems=batch, sampling=chosen, **answer)
