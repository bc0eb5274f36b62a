"""Simultaneous inelastic frictional impacts: sets of post-impact velocities, sampled (Halm and
Posa, "Set-Valued Rigid-Body Dynamics for Simultaneous, Inelastic, Frictional Impacts")."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from . import _core
from ._arrays import from_any, refuse
from ._progress import called
from ._results import (
    EnclosureStatus,
    ImpactAnswer,
    JudgeVerdict,
    Result,
    Status,
    TrajectoryStatus,
    checked,
    result,
)
from ._settings import in_words, takes_settings
from .errors import InvalidInput
from ._theory import (
    ImpactSteps, Pointedness, check_unique_step, decide_unique_step, pointedness, samples_for_epsilon_net, steps,
    termination_bound,
)  # fmt: skip
from ._bounces import bounce
from ._identify import Identification, identify
from ._judge import ImpactFloor, Judgement, Measured, floor, judge, read_measured
from ._state_runs import ImpactRuns, parts_of, sampled
from ._states import StateImpacts
from .problems import Model, Problems, RobotProblems, given_problems, letters, model, models, one_problem, robot_settings, run_settings

__all__ = [
    "EnclosureStatus", "EpsilonNet", "ImpactAnswer", "ImpactDecision", "ImpactEnclosure", "Identification", "ImpactFloor", "ImpactOutcome", "ImpactPaths",
    "ImpactResult", "ImpactRuns", "ImpactSamples", "ImpactSteps", "JudgeVerdict", "Judgement", "Measured", "Model", "Pointedness", "Problems", "bounce", "check_unique_step", "decide", "decide_unique_step", "enclose", "floor", "identify", "judge",
    "mode_words", "model", "models", "newton", "one_simultaneous", "pointedness", "proven", "read_measured", "sample",
    "samples_for_epsilon_net", "sequential", "simultaneous", "step_outcomes", "steps",
    "termination_bound",
]  # fmt: skip


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
class ImpactOutcome(Result):
    """One outcome of an impact model: velocity (nv,), impulse (d m,) [N s], normal_velocity Jn v+ and
    tangent_velocity Jt v+ [m/s], kinetic_energy [J], modes in words, residual of (31). Sequential models: order of the
    contacts and number of impacts."""

    status: int
    velocity: np.ndarray
    impulse: np.ndarray
    normal_velocity: np.ndarray
    tangent_velocity: np.ndarray
    kinetic_energy: float
    modes: str
    residual: float
    order: tuple[int, ...] = ()
    impacts: int = 0

    def _summary(self) -> str:
        return f"{self.modes}, {self.kinetic_energy:.6g} J"


@result
class ImpactEnclosure(Result):
    """A set that contains all outcomes of an impact, with a proof.

    normal_velocity_min, _max (m,) and tangent_velocity_min, _max ((d - 1) m,): bounds of J v+ [m/s]. modes: the possible
    combinations of contact modes, each with vertices (k, 2 m) and constraints a . u <= b (c, 2 m + 1); all others are in
    impossible_modes. Spatial problems, more than four contacts, and most problems with restitution (by `law`) have
    only bounds. invariant: the proof in integers, as text. The status "budget" claims nothing."""

    problem: Problems
    status: int
    law: str
    exact: bool
    rounding: float
    data_rounding: float
    made: int
    faces: int
    seconds: float
    normal_velocity_min: np.ndarray
    normal_velocity_max: np.ndarray
    tangent_velocity_min: np.ndarray
    tangent_velocity_max: np.ndarray
    modes: np.ndarray
    vertices: tuple[np.ndarray, ...]
    constraints: tuple[np.ndarray, ...]
    impossible_modes: np.ndarray
    invariant: str

    def proves(self) -> bool:
        """Checks the invariant again, from the problem alone, in exact arithmetic."""
        given = self.to_dict()
        del given["problem"]
        return _core.proves_enclosure(self.problem.arrays(), *self.problem.sizes()[1:], given)

    def filled(self, run: ImpactResult, i: int = 0) -> float:
        """Coverage: which share of the proven ranges the samples of problem i of a run reach.

        The smallest share over the contact velocities; 1 if the samples reach all bounds; NaN if no sample ended or
        the status claims nothing. Errors: InvalidInput for a run with other contacts."""
        if self.status not in (EnclosureStatus.enclosed, EnclosureStatus.outer):
            return math.nan
        summary = run.summary[i]
        if summary["terminated"] == 0:
            return math.nan
        low, high = (np.concatenate([summary[f"normal_velocity_{end}"], summary[f"tangent_velocity_{end}"]])
                     for end in ("min", "max"))  # fmt: skip
        given = self.to_dict()
        del given["problem"]
        return float(_core.filled_share(given, low, high))

    def plot(self, ax: Any = None) -> Any:
        """The bounds, and the outcomes of each combination of contact modes, in the first two contacts'
        normal velocities. Needs matplotlib. Errors: InvalidInput if nothing is enclosed."""
        from ._plots import plot_enclosure

        if self.status not in (EnclosureStatus.enclosed, EnclosureStatus.outer):
            raise refuse("status", EnclosureStatus(self.status).name, "must be enclosed or outer to be drawn")
        return plot_enclosure(self, ax)

    def never(self, event: str) -> bool:
        """Whether it is proven that an event never happens: "A separating, B sticking" or "B normal > 0.1"; in space
        also "A sliding" or "A tangent1 > 0.1". Contacts have the problem's names, or A, B, ... Errors: InvalidInput."""
        given = self.to_dict()
        del given["problem"]
        return _core.never_happens(given, event, _contacts(self.problem), self.problem.dimension)

    def mode_names(self) -> list[str]:
        """The possible combinations of contact modes."""
        return [mode_words(mode, self.problem.contacts, 2) for mode in self.modes]

    def _summary(self) -> str:
        word = EnclosureStatus(self.status).name
        return f"{word}, {len(self.modes)} possible modes, {len(self.impossible_modes)} impossible"


@result
class ImpactDecision(Result):
    """Whether an event never happens. answer, an ImpactAnswer: "never", with an enclosure without the event as
    proof; "happens"; or "open". made: number of polyhedra computed."""

    problem: Problems
    answer: int
    made: int
    seconds: float
    proof: ImpactEnclosure | None

    def _summary(self) -> str:
        return f"{ImpactAnswer(self.answer).name}, {self.made} polyhedra"


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
    batch = _with_intervals(batch, restitution, friction)
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


@takes_settings(_core.enclosure_settings())
def enclose(
    *problems: Any, strict: bool = False, restitution: Any = None, friction: Any = None,
    **settings: Any,
) -> list[ImpactEnclosure]:  # fmt: skip
    """Encloses all outcomes of impacts, with proofs (docs/explanation/enclosure.md).

    Planar inelastic impacts of up to four contacts: polyhedra, in exact arithmetic. One or two planar contacts with the
    law "poisson" or "newton": polyhedra, unless contacts drive each other back. All others: bounds of contact
    velocities. A bad problem has the status invalid_input.

    problems, restitution, friction: as in sample. Errors: InvalidInput for settings and shapes.
    """
    batch = _with_intervals(given_problems(problems, strict), restitution, friction)
    found = _core.enclose_impacts(batch.arrays(), *batch.sizes(), settings)
    return [ImpactEnclosure(problem=batch[i], **each) for i, each in enumerate(found)]


def _with_intervals(batch: Problems, restitution: Any, friction: Any) -> Problems:
    if restitution is None and friction is None:
        return batch
    return batch.with_intervals(restitution, friction)


def proven(
    *problems: Any, invariant: str, outer: bool = False, law: str = "stronge"
) -> ImpactEnclosure:
    """The enclosure that the text of an invariant proves for a problem.

    Bounds, modes, vertices and constraints are computed from the text in exact arithmetic. The status is "budget" if it
    proves nothing. outer: whether the text comes from an enclosure with status "outer". law: its law of restitution.

    problems: one problem, as in sample. Errors: InvalidInput.
    """
    batch = one_problem(problems, "proven")
    found = _core.proven_enclosure(batch.arrays(), *batch.sizes()[1:], invariant, bool(outer), law)
    return ImpactEnclosure(problem=batch, **found)


def _contacts(problem: Problems) -> list[str]:
    return list(problem.contact_names or letters(problem.contacts))


@takes_settings(_core.enclosure_settings())
def decide(
    *problems: Any, event: str, strict: bool = False, restitution: Any = None,
    friction: Any = None, **settings: Any,
) -> list[ImpactDecision]:  # fmt: skip
    """Decides for every problem whether an event can happen.

    event: such as "A separating, B sticking" or "B normal > 0.1"; contacts have the problems' names, or A, B, ... The
    search stops at the first polyhedron of reached velocities that contains the event ("happens"), or at an
    enclosure without it ("never").

    problems, restitution, friction, settings: as in enclose. Errors: InvalidInput, also for an event that cannot be
    parsed.
    """
    batch = _with_intervals(given_problems(problems, strict), restitution, friction)
    found = _core.decide_impacts(batch.arrays(), *batch.sizes(), event, _contacts(batch), settings)
    decisions = []
    for i, each in enumerate(found):
        proof = each.pop("proof")
        if proof is not None:
            proof = ImpactEnclosure(problem=batch[i], **proof)
        decisions.append(ImpactDecision(problem=batch[i], proof=proof, **each))
    return decisions


@takes_settings(_core.impact_model_settings())
def simultaneous(*problems: Any, **settings: Any) -> list[ImpactOutcome]:
    """All distinct outcomes of the simultaneous inelastic model (31), in order of kinetic energy.

    problems: one problem, as in sample. Errors: InvalidInput, also if there are more than max_combinations
    combinations of contact modes.
    """
    batch = one_problem(problems, "simultaneous")
    batch.validate()
    found = _core.simultaneous_impacts(batch.arrays(), *batch.sizes()[1:], settings)
    return [ImpactOutcome(**outcome) for outcome in found]


@takes_settings(_core.impact_model_settings())
def one_simultaneous(*problems: Any, **settings: Any) -> ImpactOutcome:
    """One outcome of the simultaneous model (31), by Lemke's method. Errors: InvalidInput."""
    batch = one_problem(problems, "one_simultaneous")
    batch.validate()
    return ImpactOutcome(**_core.simultaneous_impact(batch.arrays(), *batch.sizes()[1:], settings))


@takes_settings(_core.impact_model_settings())
def step_outcomes(*problems: Any, max_impulse: Any, **settings: Any) -> list[ImpactOutcome]:
    """All distinct v' of one step (75) from the problem's velocity, in order of kinetic energy. max_impulse:
    lambda_max (m,) [N s], infinite for no bound. Errors: InvalidInput as in simultaneous."""
    batch = one_problem(problems, "step_outcomes")
    batch.validate()
    bound = np.ascontiguousarray(np.broadcast_to(from_any("max_impulse", max_impulse), batch.contacts))
    found = _core.step_outcomes(batch.arrays(), *batch.sizes()[1:], bound, settings)
    return [ImpactOutcome(**outcome) for outcome in found]


@takes_settings(_core.impact_model_settings())
def sequential(
    *problems: Any, orders: Any = "all", **settings: Any
) -> list[ImpactOutcome]:
    """The sequential model: single impacts in cyclic order until no contact approaches (section 2.2.2).

    orders: "all" permutations of the contacts, or a list such as [(0, 1)]. Returns an outcome for each order.
    Errors: InvalidInput, also for "all" with more than six contacts.
    """
    batch = one_problem(problems, "sequential")
    batch.validate()
    if isinstance(orders, str):
        if orders != "all":
            raise refuse("orders", repr(orders), "must be 'all' or a list of orders")
        if batch.contacts > 6:
            raise refuse("orders", f"'all' of {batch.contacts} contacts", "give a list beyond 6")
        orders = itertools.permutations(range(batch.contacts))
    found = []
    for order in orders:
        wanted = [int(contact) for contact in order]
        if sorted(set(wanted)) != sorted(wanted) or not set(wanted) <= set(range(batch.contacts)):
            raise refuse("orders", str(tuple(wanted)), f"must name contacts 0..{batch.contacts - 1}")
        arrays = batch.arrays()
        found.append(
            ImpactOutcome(**_core.sequential_impact(arrays, *batch.sizes()[1:], wanted, settings))
        )
    return found


@takes_settings(_core.impact_model_settings())
def newton(*problems: Any, contact: int = 0, restitution: float = 0.0, **settings: Any) -> ImpactOutcome:
    """A planar impact at one contact with Newton's coefficient of restitution in [0, 1], in closed form."""
    batch = one_problem(problems, "newton")
    batch.validate()
    answer = _core.newton_impact(
        batch.arrays(), *batch.sizes()[1:], int(contact), float(restitution), settings
    )
    return ImpactOutcome(**answer)
