"""Sampled outcomes of impacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, overload

import numpy as np

from . import _core
from ._arrays import refuse
from ._derivatives import SETTINGS as DERIVATIVE_SETTINGS
from ._derivatives import ImpactGradient, ImpactTangent, impact_gradient, impact_tangent
from ._progress import called
from ._results import Result, TrajectoryStatus, checked, result
from ._settings import takes_problems, takes_settings
from ._state_runs import ImpactRuns, parts_of, sampled
from ._states import StateImpacts
from .problems import Problems, RobotProblems, given_problems, robot_settings, run_settings


@result
class ImpactSamples(Result):
    """velocity (n, s, nv), NaN where failed; impulse (n, s, d m) [N s], normals first; residual,
    modes, steps, status (TrajectoryStatus), all (n, s). With restitution or intervals of friction, else
    None, all (n, s, m): restitution and friction of the sample (NaN where they vary within it), stored,
    released, lost_compression and lost_friction [J]; losses of problems without either are NaN."""

    def _summary(self) -> str:
        n, s = self.status.shape
        return f"{n} x {s}"


@result
class EpsilonNet(Result):
    """Representatives of the sampled set: every sample lies within epsilon [m/s] of one.

    velocity (k, nv), impulse (k, d m) [N s], modes, multiplicity, first_sample (k). coverage[i]: number of points
    after 2^i samples. dropped: samples in which a contact still approached at the end.
    """

    requested_epsilon: float
    epsilon: float
    dropped: int
    velocity: np.ndarray
    impulse: np.ndarray
    modes: np.ndarray
    multiplicity: np.ndarray
    first_sample: np.ndarray
    coverage: np.ndarray

    def _summary(self) -> str:
        return f"{len(self.velocity)} points, epsilon {self.epsilon:.4g} m/s"


@result
class ImpactPaths(Result):
    """Velocities v_0..v_K of the first samples: path i is velocity[offset[i]:offset[i + 1]].

    With restitution or intervals of friction, the same rows of `impulse` (rows, d m) [N s], `restitution` and
    `friction` (rows, m) belong to the piece that ended there (impulse 0 at v_0); otherwise they are empty.
    """

    offset: np.ndarray
    velocity: np.ndarray
    impulse: np.ndarray
    restitution: np.ndarray
    friction: np.ndarray

    def __len__(self) -> int:
        return len(self.offset) - 1

    def __getitem__(self, i: int) -> np.ndarray:
        if not -len(self) <= i < len(self):
            raise IndexError(f"path {i} of {len(self)}")
        i %= len(self)
        return self.velocity[self.offset[i] : self.offset[i + 1]]

    def _summary(self) -> str:
        return f"{len(self)} paths"


@result
class ImpactResult(Result):
    """Sampled outcomes of n impacts.

    samples: the first keep_samples samples. summary: a structured array (n,) with counts and ranges of the
    samples, and step_size [N s], max_steps, epsilon and contact_speed [m/s] of each problem. net, paths: tuples of
    length n, or empty if not requested. settings: the settings that were used, an array (n,) if problems differ.
    """

    problems: Problems
    settings: Mapping[str, Any]
    backend: str
    cancelled: bool
    seconds: float
    summary: np.ndarray
    mode_counts: tuple[tuple[np.ndarray, np.ndarray], ...]
    samples: ImpactSamples
    net: tuple[EpsilonNet, ...]
    paths: tuple[ImpactPaths, ...]

    @property
    def status(self) -> np.ndarray:
        return np.asarray(self.summary["status"])

    def mode_names(self, i: int = 0) -> dict[str, int]:
        """How many of problem i's samples ended in each combination of contact modes."""
        modes, counts = self.mode_counts[i]
        return {
            mode_words(mode, self.problems.contacts, self.problems.dimension): int(count)
            for mode, count in zip(modes, counts)
        }

    @takes_settings(DERIVATIVE_SETTINGS, without=("at_kink", "radius", "reach"))
    def vjp(
        self, *, velocity: Any, wrt: Any = None, at_kink: str = "mean", on_error: str = "status", **settings: Any
    ) -> ImpactGradient:
        """The gradient of a loss in the impacts' numbers, from its gradient in samples.velocity (n, s, nv), at fixed
        random numbers and step size h.

        wrt: names out of mass_matrix, normal_jacobian, tangent_jacobian, friction, velocity, step_size (h); None: all.
        Contacts that depend on each other have no gradient in the Jacobians. The samples are followed again. Only
        method "lcp", selection "lemke", all samples kept from the first on, no restitution or intervals of friction.
        Errors: InvalidInput."""
        return impact_gradient(self, velocity, wrt, at_kink, on_error, settings)

    @takes_settings(DERIVATIVE_SETTINGS, without=("at_kink", "radius", "reach"))
    def jvp(
        self, *, mass_matrix: Any = None, normal_jacobian: Any = None, tangent_jacobian: Any = None,
        friction: Any = None, velocity: Any = None, step_size: Any = None, on_error: str = "status", **settings: Any,
    ) -> ImpactTangent:  # fmt: skip
        """How samples.velocity changes along a direction of the impacts' numbers; NaN at kinks that it sees. Otherwise
        as vjp."""
        direction = {
            "mass_matrix": mass_matrix, "normal_jacobian": normal_jacobian, "tangent_jacobian": tangent_jacobian,
            "friction": friction, "velocity": velocity, "step_size": step_size,
        }  # fmt: skip
        return impact_tangent(self, direction, on_error, settings)

    def _points(self, i: int) -> np.ndarray:
        if self.net:
            return self.net[i].velocity
        return self._ended(i)

    def _ended(self, i: int) -> np.ndarray:
        done = self.samples.status[i] == TrajectoryStatus.terminated
        ended: np.ndarray = self.samples.velocity[i][done]
        return ended

    def hull(self, i: int = 0, x: int = 0, y: int = 1) -> np.ndarray:
        """Counter-clockwise convex hull (k, 2) of problem i's outcomes in velocities x and y, from the stored samples
        and the points of the net."""
        nv = self.problems.velocities
        for name, value in (("x", x), ("y", y)):
            if not 0 <= value < nv:
                raise refuse(name, str(value), f"must be in 0..{nv - 1}")
        known = [self._points(i), self._ended(i)] if self.net else [self._ended(i)]
        points = np.ascontiguousarray(np.concatenate(known))
        corners: np.ndarray = _core.convex_hull(points, len(points), nv, x, y)
        return corners

    def plot(self, i: int = 0, x: Any = None, y: Any = None, ax: Any = None) -> Any:
        """Plots problem i's outcomes, with a colour for each combination of contact modes. x, y: indices of
        velocities; default: the first two contacts' normal velocities. Needs matplotlib."""
        from ._plots import plot_impact

        return plot_impact(self, i, x, y, ax)

    def to_xarray(self) -> Any:
        """The samples as an xarray.Dataset, dimensions problem, sample, velocity, row."""
        from ._tables import impact_xarray

        return impact_xarray(self)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each sample: v0.., p0.., residual, steps, modes and status in words."""
        from ._tables import impact_pandas

        return impact_pandas(self)

    def _summary(self) -> str:
        counts = ", ".join(
            f"{int(self.summary[name].sum())} {word}"
            for name, word in (
                ("terminated", "terminated"),
                ("max_steps_reached", "at the step limit"),
                ("failed", "failed"),
            )
        )
        worst = self.summary["max_residual"].max(initial=0.0)
        return (
            f"{self.problems.name!r}: {len(self.problems)} x {self.settings['samples']} samples: "
            f"{counts}; largest residual {worst:.3g}{self._followed()}"
        )

    def _followed(self) -> str:
        """What the samples of a robot's states follow, which depends on their contacts."""
        if not isinstance(self.problems, RobotProblems):
            return ""
        return f"; {self.settings['method']}, {self.settings['friction_directions']} friction directions"


def mode_words(modes: int, contacts: int, dimension: int) -> str:
    """A mode of each contact in words, e.g. "sticking/separating"."""
    return _core.mode_words(int(modes), contacts, dimension)


def _structured(columns: dict[str, np.ndarray]) -> np.ndarray:
    first = next(iter(columns.values()))
    dtype = [(name, column.dtype, column.shape[1:]) for name, column in columns.items()]
    table = np.empty(len(first), dtype=dtype)
    for name, column in columns.items():
        table[name] = column
    return table


def _decided(summary: np.ndarray) -> dict[str, Any]:
    """step_size, max_steps and epsilon of the problems, one number where all have the same."""
    decided: dict[str, Any] = {}
    for name in ("step_size", "max_steps", "epsilon"):
        values = summary[name]
        if len(values) > 0:
            decided[name] = values[0].item() if (values == values[0]).all() else values.copy()
    return decided


@overload
def sample(problems: StateImpacts | list[Problems] | list[RobotProblems], /, **settings: Any) -> ImpactRuns: ...
@overload
def sample(*problems: Any, **settings: Any) -> ImpactResult: ...
@takes_problems
@takes_settings(
    _core.impact_settings(),
    without=("result_space",),
    defaults={"mode_table": None, "keep_samples": -1, "method": None, "friction_directions": None},
)  # fmt: skip
def sample(
    *problems: Any, backend: str = "auto", progress: Callable[[int, int], Any] | bool | None = None,
    workspace: Any = None, strict: bool = False, on_error: str = "status", turns: int | None = None,
    restitution: Any = None, friction: Any = None, **settings: Any,
) -> Any:  # fmt: skip
    """Samples the set of velocities after each impact (Algorithms 1 and 2 of Halm and Posa).

    Sample s of problem p depends only on the seed, p, s and the problem. It has the same bits for every
    number of threads and shards.

    Parameters:

    problems
        Problems (from model(), robot(), from_mujoco, ...), the name of a model, or the arrays M (n, nv, nv),
        Jn (n, m, nv), Jt (n, (d-1) m, nv), mu (n, m) and v (n, nv). Also a list of Problems of several
        shapes, or the impacts of a robot's states; first_problem then counts through all of them.
    restitution, friction
        Replace those of the problems: numbers, or intervals (low, high) from which each sample draws one
        number per contact (Problems.with_intervals, docs/explanation/restitution.md).
    method
        None: "lcp", or "events" with restitution or intervals of friction. For a robot's problems "events"
        up to 16 contacts (8 on a device) if no step size is given.
    friction_directions
        None: 4; 8 for a robot's problems; 16 for a robot's states that are followed by "events".
    turns
        For lists and a robot's states: the samples are divided among this number of orientations of the friction
        polygon, each rotated by a further part of an edge. Together they approximate the round cone. None: 1, or
        4 for a robot's states if friction_directions is None.
        ImpactRuns.velocity and ImpactRuns.modes contain all of them.
    mode_table
        None: on from 32 samples. It changes the last bits, so use one value for all shards of a run.
    progress
        Called with (samples done, samples in all); returning False ends the run. True shows a bar.
    on_error
        "status", or "raise" at the first problem that is not solved.

    step_size, max_steps and epsilon follow from each problem where they are left out; settings and summary
    of the result say which values were used. epsilon=0 makes no net.

    Returns an ImpactResult; for a list or a robot's states ImpactRuns.
    Errors: InvalidInput for shapes, settings and numbers.
    """
    ragged = parts_of(problems)
    if turns is not None and (not isinstance(turns, int) or turns < 1 or (turns > 1 and ragged is None)):
        raise refuse("turns", repr(turns), "must be a whole number >= 1, and 1 of one batch: give [problems]")
    if ragged is not None:
        settings["turns"] = turns
        options = {"backend": backend, "progress": progress, "workspace": workspace, "strict": strict,
                   "on_error": on_error, "restitution": restitution, "friction": friction}  # fmt: skip
        return sampled(*ragged, sample, {**options, **settings})
    batch = given_problems(problems, strict)
    batch = with_intervals(batch, restitution, friction)
    if settings.get("method") is None and (batch.restitution_high is not None or batch.friction_high is not None):
        settings = {**settings, "method": "events"}
    chosen = run_settings(robot_settings(batch, settings, backend))
    answer = _core.sample_impacts(
        batch.arrays(), *batch.sizes(), chosen, backend, called(progress), workspace
    )
    summary = _structured(answer["summary"])
    made = ImpactResult(
        problems=batch,
        settings={**chosen, **_decided(summary)},
        backend=answer["backend"],
        cancelled=answer["cancelled"],
        seconds=answer["seconds"],
        summary=summary,
        mode_counts=tuple(answer["mode_counts"]),
        samples=ImpactSamples(**answer["samples"]),
        net=tuple(EpsilonNet(**net) for net in answer["net"]),
        paths=tuple(ImpactPaths(**path) for path in answer["paths"]),
    )
    return checked(made, on_error)


def with_intervals(batch: Problems, restitution: Any, friction: Any) -> Problems:
    if restitution is None and friction is None:
        return batch
    return batch.with_intervals(restitution, friction)
