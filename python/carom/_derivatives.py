"""Derivatives of answers: vector-Jacobian products, Jacobian-vector products and whole Jacobians, each with a status
(docs/explanation/derivatives.md)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import from_any, refuse
from ._results import Batched, Smoothness, result
from .errors import SolveError

_REPORT = ("status", "residual", "margin", "condition", "shift", "reach", "doubtful")


class Derivative(Batched):
    """The fields that all derivatives have, with an entry for each problem.

    status: carom.Smoothness. residual: of the adjoint or tangent equations. margin: the least gap of strict
    complementarity, in its row's unit. condition: of the equations. shift: how far polishing moved the answer.
    doubtful: number of rows within the margin tolerance. reach: the largest step along the direction (vjp: down the
    gradient) that keeps all modes, to first order; 0 if rows are doubtful."""

    def words(self) -> list[str]:
        """The statuses in words."""
        return [Smoothness(int(number)).name for number in self.status.ravel()]

    def _summary(self) -> str:
        values, counts = np.unique(self.status, return_counts=True)
        parts = ", ".join(f"{c} {Smoothness(int(v)).name}" for v, c in zip(values, counts))
        shape = " x ".join(map(str, self.status.shape))
        text = f"{shape} problem{'' if self.status.size == 1 else 's'}: {parts or 'none'}"
        if np.isfinite(self.residual).any():
            text += f"; largest residual {np.nanmax(self.residual):.3g}"
        return text


@result
class LcpGradient(Derivative):
    """Gradients in matrix and vector, in the shapes of the given inputs; None if not in wrt. With factored=True matrix
    is (a, z), and the gradient of each problem is -a z'. adjoint y (n, k). solution: the polished z (n, k)."""


@result
class LcpTangent(Derivative):
    """Directional derivatives solution, w (n, k)."""


@result
class QpGradient(Derivative):
    """Gradients in hessian (symmetric), vector, matrix, lower, upper, cone_matrix and cone_vector, in the shapes of the
    given inputs; None if not in wrt."""


@result
class QpTangent(Derivative):
    """Directional derivatives solution (n, v), dual (n, r), cone_dual (n, k), objective (n)."""


@result
class _Reported(Derivative):
    """With the fields that all derivatives have, where the library has no list of them."""

    status: np.ndarray
    residual: np.ndarray
    margin: np.ndarray
    condition: np.ndarray
    shift: np.ndarray
    reach: np.ndarray
    doubtful: np.ndarray


@result
class _OfObjectives(_Reported):
    """Of each objective of an LP, (n, K)."""

    _axes = ("problem", "cost")


@result
class LpGradient(_OfObjectives):
    """Gradients in cost, matrix, row_lower, row_upper, column_lower and column_upper, in the shapes of the given
    inputs; None if not in wrt. Status and residual, margin, ... have an entry for each objective, (n, K)."""

    cost: np.ndarray
    matrix: np.ndarray
    row_lower: np.ndarray
    row_upper: np.ndarray
    column_lower: np.ndarray
    column_upper: np.ndarray


@result
class LpTangent(_OfObjectives):
    """Directional derivatives solution (n, K, v), dual (n, K, r), objective (n, K)."""

    solution: np.ndarray
    dual: np.ndarray
    objective: np.ndarray


@result
class StepGradient(Derivative):
    """Gradients in step_size, mass_matrix (symmetric), force, velocity, position_map and the rows' jacobian,
    jacobian_dot_v, phi, stiffness, damping and friction, in the shapes of the given inputs; None if not asked for.
    Zero in rows of type "none" and in rows with K = B = 0."""


@result
class StepTangent(Derivative):
    """Directional derivatives velocity (n, nv), increment (n, nq or nv), force (n, m), kinetic_energy (n)."""


@result
class ImpactGradient(Derivative):
    """Gradients of a loss of all samples of n impacts in velocity (n, nv), friction (n, m), mass_matrix (n, nv, nv),
    normal_jacobian, tangent_jacobian and step_size (n); None if not in wrt. sample_velocity (n, s, nv) and
    sample_friction (n, s, m): of each sample. status, residual, margin, condition, shift, doubtful (n, s). A sample
    without a derivative makes the sums of its impact NaN unless its cotangent is zero. reach is NaN."""


@result
class ImpactTangent(Derivative):
    """Directional derivatives velocity (n, s, nv) of samples; the rest as in ImpactGradient."""

    _axes = ("problem", "sample")


@result
class MarginGradient(Derivative):
    """Gradients of a loss in what the margins of n postures depend on: position and normal (n, k, d), friction (n, k),
    wrench (n, 3 or 6), centre_of_mass (n, d), of planar patches length (n, k); None if not in wrt. normal is orthogonal to
    the normals. value (n): the margin, to the last digits. reach is NaN."""


@result
class MarginTangent(_Reported):
    """Directional derivatives rate (n) of the margins of n postures; NaN where the status is not smooth. value (n) and
    reach as in MarginGradient."""

    rate: np.ndarray
    value: np.ndarray


@result
class _OfRun(Derivative):
    """Of runs of worlds, (w)."""

    position: np.ndarray
    velocity: np.ndarray
    status: np.ndarray
    first_step: np.ndarray
    residual: np.ndarray
    margin: np.ndarray
    condition: np.ndarray
    shift: np.ndarray
    touch: np.ndarray
    doubtful: np.ndarray


@result
class RunGradient(_OfRun):
    """Gradients of a run of w worlds.

    parameters, by name: (w,) if an array was given, otherwise the sum over all worlds. step_size: a number. position
    (w, nq), velocity (w, nv): of the initial state, for constant parameters. status (w): the worst of all steps.
    first_step (w): the first step that is not smooth, or -1. touch (w): the least |phi| / (h |dphi/dt|) of the
    unilateral rows; at phi = 0 their damper is switched and the step jumps. margin (w): the least of all steps; residual,
    condition, shift (w): the largest; doubtful (w): the sum."""

    _apart = ("parameters", "step_size")
    parameters: dict[str, Any]
    step_size: float


@result
class RunTangent(_OfRun):
    """Rates of a run's end along a direction: position (w, nq), velocity (w, nv), displacement (w); the rest as in
    RunGradient."""

    displacement: np.ndarray


def _settings(at_kink: str, settings: dict[str, Any]) -> dict[str, Any]:
    return {**settings, "at_kink": "nan" if at_kink == "raise" else at_kink}


def _judged(answer: Any, at_kink: str, on_error: str) -> Any:
    """The answer, or SolveError where a kink, or what has no derivative, is to raise."""
    if on_error not in ("status", "raise"):
        raise refuse("on_error", repr(on_error), "must be 'status' or 'raise'")
    fine = [Smoothness.smooth]
    if at_kink != "raise":
        fine.append(Smoothness.kink)
    bad = np.isin(answer.status, [int(s) for s in fine], invert=True)
    if on_error == "status":
        bad &= (answer.status == Smoothness.kink) & (at_kink == "raise")
    if bad.any():
        first = int(np.argwhere(bad)[0][0])
        word = Smoothness(int(answer.status[bad][0])).name
        raise SolveError(
            f"the derivative of problem {first} is {word}; {int(bad.sum())} of {bad.size} are not smooth",
            answer, first, word,
        )  # fmt: skip
    return answer


def wanted(wrt: Iterable[str] | None, known: Sequence[str]) -> list[str]:
    if wrt is None:
        return list(known)
    names = [wrt] if isinstance(wrt, str) else list(wrt)
    for name in names:
        if name not in known:
            raise refuse("wrt", repr(name), "must be of " + ", ".join(known))
    return names


_IMPACT_INPUTS = ("mass_matrix", "normal_jacobian", "tangent_jacobian", "friction", "velocity", "step_size")


def _samples_again(run: Any) -> tuple[dict[str, Any], int, int, int, int, dict[str, Any], int, dict[str, Any]]:
    """What the core takes for an impact.ImpactResult."""
    kept = {name: getattr(run.samples, name) for name in ("velocity", "steps", "status")}
    settings = {name: value for name, value in run.settings.items() if not isinstance(value, np.ndarray)}
    settings.update(epsilon=0.0)
    n, dimension, nv, m = run.problems.sizes()
    return run.problems.arrays(), n, dimension, nv, m, kept, run.samples.status.shape[1], settings


def _of_samples(run: Any, found: dict[str, Any]) -> dict[str, Any]:
    for name in _REPORT:
        found[name] = found[name].reshape(run.samples.status.shape)
    return found


def impact_gradient(
    run: Any, velocity: Any, wrt: Any, at_kink: str, on_error: str, settings: dict[str, Any]
) -> ImpactGradient:
    """Of an impact.ImpactResult."""
    given = cotangents({"velocity": velocity}, {"velocity": run.samples.velocity.shape})
    asked = wanted(wrt, _IMPACT_INPUTS)
    jacobians = "normal_jacobian" in asked or "tangent_jacobian" in asked
    found = _of_samples(run, _core.differentiate_impacts(
        *_samples_again(run), given, _settings(at_kink, settings), "mass_matrix" in asked, jacobians, "friction" in asked
    ))  # fmt: skip
    for name in _IMPACT_INPUTS:
        if name not in asked:
            found[name] = None
    answer: ImpactGradient = _judged(ImpactGradient(**found), at_kink, on_error)
    return answer


def impact_tangent(run: Any, direction: Mapping[str, Any], on_error: str, settings: dict[str, Any]) -> ImpactTangent:
    """Of an impact.ImpactResult."""
    n, m, nv = len(run.problems), run.problems.contacts, run.problems.velocities
    shapes = {"mass_matrix": (n, nv, nv), "normal_jacobian": (n, m, nv), "friction": (n, m), "velocity": (n, nv),
              "tangent_jacobian": (n, (run.problems.dimension - 1) * m, nv), "step_size": (n,)}  # fmt: skip
    given = cotangents(direction, shapes)
    found = _of_samples(run, _core.propagate_impacts(*_samples_again(run), given, _settings("mean", settings)))
    answer: ImpactTangent = _judged(ImpactTangent(**found), "mean", on_error)
    return answer


def _run_numbers(run: Any) -> tuple[list[str], list[str]]:
    """Names of a compliant.WorldsResult's parameters, and of those that have derivatives."""
    scenario = next(entry for entry in _core.scenarios() if entry["name"] == run.scenario)
    names = [parameter["name"] for parameter in scenario["parameters"]]
    return names, [name for name in names if name not in scenario["sizes"]]


def _run_again(run: Any) -> tuple[str, dict[str, list[float]], dict[str, Any], dict[str, Any]]:
    """What the core takes for it."""
    if run.cancelled:
        raise refuse("worlds", "cancelled", "a run that was stopped has no derivative")
    problem = run.problem
    columns = {name: value if isinstance(value, list) else [value] for name, value in problem["parameters"].items()}
    return run.scenario, columns, {**problem["run"], "stride": 0}, problem["solver"]


def run_tangent(
    run: Any, parameters: Mapping[str, Any], step_size: Any, state: Mapping[str, Any], on_error: str,
    settings: dict[str, Any],
) -> RunTangent:  # fmt: skip
    """Of a compliant.WorldsResult."""
    again = _run_again(run)
    names, known = _run_numbers(run)
    worlds = len(run.status)

    def rates(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
        array = from_any(name, value)
        if array.shape not in (shape, shape[1:]):
            raise refuse(name, f"of shape {array.shape}", f"must have the shape {shape} or {shape[1:]}")
        return np.ascontiguousarray(np.broadcast_to(array, shape))

    along = {name: rates(name, value, getattr(run, name).shape) for name, value in state.items() if value is not None}
    if step_size is not None:
        along["step_size"] = rates("step_size", step_size, (worlds,))
    if parameters:
        table = np.zeros((worlds, len(names)))
        for name, value in parameters.items():
            if name not in known:
                raise refuse("parameters", repr(name), "must be " + ", ".join(known))
            table[:, names.index(name)] = rates(name, value, (worlds,))
        along["parameters"] = table
    found = RunTangent(**_core.propagate_worlds(*again, along, _settings("mean", settings)))
    answer: RunTangent = _judged(found, "mean", on_error)
    return answer


def run_gradient(
    run: Any, given: Mapping[str, Any], wrt: Any, at_kink: str, on_error: str, checkpoint: int, settings: dict[str, Any]
) -> RunGradient:
    """Of a compliant.WorldsResult."""
    made = cotangents(
        {name: value if value is None or np.ndim(value) else np.full(getattr(run, name).shape, value)
         for name, value in given.items()},
        {name: getattr(run, name).shape for name in given},
    )  # fmt: skip
    names, known = _run_numbers(run)
    asked = wanted(wrt, [*known, "step_size"])
    given_for = run.problem["parameters"]
    found = _core.differentiate_worlds(*_run_again(run), made, _settings(at_kink, settings), asked, int(checkpoint))
    all_of = found["parameters"]
    found["parameters"] = {
        name: column if isinstance(given_for.get(name), list) else float(column.sum())
        for name, column in zip(names, all_of.T) if name in asked
    }
    found["step_size"] = float(found["step_size"].sum()) if "step_size" in asked else None
    answer: RunGradient = _judged(RunGradient(**found), at_kink, on_error)
    return answer


_OF_MARGINS = ("position", "normal", "friction", "wrench", "centre_of_mass", "length")


def _inputs_of(margins: Any) -> tuple[str, ...]:
    patches = "length" in margins.problem and margins.problem["length"].size > 0
    return _OF_MARGINS if patches else _OF_MARGINS[:-1]


def _slopes(margins: Any, names: list[str], at_kink: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Gradients of all margins, of each in its own posture."""
    problem = margins.problem
    arrays = {name: array for name, array in problem.items() if isinstance(array, np.ndarray)}
    given = _settings(at_kink, settings)
    found: dict[str, Any] = _core.differentiate_margins(
        arrays, problem["sizes"], problem["centre_of_mass"], problem["settings"], given, names
    )
    return found


def margin_tangent(margins: Any, direction: Mapping[str, Any], on_error: str, settings: dict[str, Any]) -> MarginTangent:
    """Of equilibrium.PlanarMargins and SpatialMargins."""
    given = cotangents(direction, {name: margins.problem[name].shape for name in _inputs_of(margins)})
    slopes = _slopes(margins, list(given), "nan", settings)
    rate = np.zeros(len(margins.status))
    for name, along in given.items():
        rate += (slopes[name] * along).reshape(len(rate), -1).sum(axis=1)
    kept = {name: slopes[name] for name in (*_REPORT, "value")}
    answer: MarginTangent = _judged(MarginTangent(rate=rate, **kept), "mean", on_error)
    return answer


def margin_gradient(
    margins: Any, loss: Any, of: str, wrt: Any, at_kink: str, not_solved: str, on_error: str,
    settings: dict[str, Any],
) -> MarginGradient:  # fmt: skip
    """Of equilibrium.PlanarMargins and SpatialMargins."""
    names = wanted(wrt, _inputs_of(margins))
    count = len(margins.status)
    along = from_any(of, loss)
    if along.shape not in ((), (count,)):
        raise refuse(of, f"of shape {along.shape}", f"must be ({count},)")
    if not np.isfinite(along).all():
        raise refuse(of, str(along.ravel()[~np.isfinite(along.ravel())][0]), "must be finite")
    answer = zeroed(_slopes(margins, names, at_kink, settings), not_solved)
    along = np.broadcast_to(along, (count,))
    for name in _OF_MARGINS:
        if name not in names:
            answer[name] = None
        else:
            answer[name] = (answer[name].T * along).T
    made: MarginGradient = _judged(MarginGradient(**answer), at_kink, on_error)
    return made


class Inputs:
    """A result's problem: every array with all problems, and the shape that it was given in."""

    def __init__(self, problem: Mapping[str, Any], names: Sequence[str], problems: int) -> None:
        self.problems = problems
        self.given = {name: np.asarray(problem[name]) for name in names}
        left_out: frozenset[str] = getattr(problem, "without_axis", frozenset())
        self.without_axis = frozenset(name for name in names if name in left_out)
        self.scalars: frozenset[str] = getattr(problem, "scalars", frozenset())
        self.all = {
            name: array
            if array.shape[0] == problems and array.flags.c_contiguous
            else np.ascontiguousarray(np.broadcast_to(array, (problems, *array.shape[1:])))
            for name, array in self.given.items()
        }

    def own(self, name: str, gradient: np.ndarray) -> np.ndarray:
        """A gradient of all problems in the shape of its input: the sum where one is for all."""
        if name in self.scalars:
            return np.asarray(gradient.sum())
        if self.given[name].shape[0] != self.problems:
            gradient = gradient.sum(axis=0, keepdims=True)
        return gradient[0] if name in self.without_axis else gradient

    def direction(self, name: str, value: Any) -> np.ndarray:
        """A direction of one input, of its shape or with all problems."""
        array = from_any(name, value)
        full = self.all[name].shape
        if array.ndim == 0 and (name in self.scalars or len(full) == 1):
            return np.full(full, array)
        if array.ndim == len(full) - 1:
            array = array[None]
        if array.ndim != len(full) or array.shape[1:] != full[1:] or array.shape[0] not in (1, full[0]):
            raise refuse(name, f"of shape {np.shape(value)}", f"must be {full} or {full[1:]}")
        return np.ascontiguousarray(np.broadcast_to(array, full))


def cotangents(given: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Gradients of the loss in arrays of the answer."""
    made = {}
    for name, value in given.items():
        if value is None:
            continue
        if name not in shapes:
            raise refuse(name, "no differentiable array of the answer", "are " + ", ".join(shapes))
        array = from_any(name, value)
        shape = shapes[name]
        if array.shape != shape and array.shape != shape[1:]:
            raise refuse(name, f"of shape {array.shape}", f"must be {shape}")
        made[name] = np.ascontiguousarray(np.broadcast_to(array, shape))
    if not made:
        raise refuse("cotangent", "left out", "give one of " + ", ".join(shapes))
    return made


def zeroed(answer: dict[str, Any], not_solved: str) -> dict[str, Any]:
    """Zeros for NaN in problems that were not solved, where asked."""
    if not_solved not in ("nan", "zero"):
        raise refuse("not_solved", repr(not_solved), "must be 'nan' or 'zero'")
    if not_solved == "zero":
        rows = (answer["status"] == Smoothness.not_solved).reshape(len(answer["status"]), -1).any(axis=1)
        for name, array in answer.items():
            if name not in _REPORT and array is not None and rows.any():
                array[rows] = 0.0
    return answer


class Differentiable:
    """Products and Jacobians, of results whose class says what the family is."""

    _inputs: tuple[str, ...]
    _outputs: tuple[str, ...]

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: getattr(self, name).shape for name in self._outputs}

    def _left(self, given: dict[str, np.ndarray], names: list[str], settings: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def _right(self, along: dict[str, np.ndarray], settings: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def _asked(self) -> Sequence[str]:
        """The inputs that wrt=None stands for."""
        return self._inputs

    def _given(self) -> Inputs:
        count = int(len(self.status))  # type: ignore[attr-defined]
        return Inputs(self.problem, self._inputs, count)  # type: ignore[attr-defined]

    def _vjp(
        self, made: Any, cotangent: Mapping[str, Any], wrt: Iterable[str] | None, at_kink: str,
        not_solved: str, on_error: str, settings: dict[str, Any],
        change: Callable[[dict[str, Any], Inputs], None] | None = None,
    ) -> Any:  # fmt: skip
        names = list(self._asked()) if wrt is None else wanted(wrt, self._inputs)
        given = cotangents(cotangent, self._shapes())
        inputs = self._given()
        answer = zeroed(self._left(given, names, _settings(at_kink, settings)), not_solved)
        if change is not None:
            change(answer, inputs)
        for name in names:
            if isinstance(answer[name], np.ndarray):
                answer[name] = inputs.own(name, answer[name])
        return _judged(made(**answer), at_kink, on_error)

    def _jvp(
        self, made: Any, direction: Mapping[str, Any], not_solved: str, on_error: str, settings: dict[str, Any]
    ) -> Any:
        inputs = self._given()
        along = {}
        for name, value in direction.items():
            if value is None:
                continue
            if name not in self._inputs:
                raise refuse(name, "no input", "are " + ", ".join(self._inputs))
            along[name] = inputs.direction(name, value)
        if not along:
            raise refuse("direction", "left out", "give one of " + ", ".join(self._inputs))
        answer = zeroed(self._right(along, settings), not_solved)
        return _judged(made(**answer), "mean", on_error)

    def _again(self, given: dict[str, np.ndarray]) -> Any:
        """The answer to other numbers."""
        raise NotImplementedError

    def verify_vjp(
        self, gradient: Derivative, *, tolerance: float = 1e-4, seed: int = 0, **cotangent: Any
    ) -> np.ndarray:  # fmt: skip
        """Whether differences of answers that are solved anew say what `gradient`, of vjp(**cotangent), does: along
        one random direction of all its inputs, where it is smooth, by tolerance of its terms. They share nothing
        with the derivative's code, and take steps of 1e-4, 1e-6 and 1e-8 of the inputs.
        False where the status is not smooth. (n); one verdict for all where problems share an input."""
        given, inputs = cotangents(cotangent, self._shapes()), self._given()
        rng, n = np.random.default_rng(seed), inputs.problems
        names = [name for name in self._inputs if isinstance(getattr(gradient, name, None), np.ndarray)]
        along: dict[str, np.ndarray] = {}
        for name in names:
            array = inputs.given[name]
            sizes = np.where(np.isfinite(array), np.abs(array), 0.0).max(axis=tuple(range(1, array.ndim)), initial=0.0)
            way = rng.normal(size=array.shape) * np.where(sizes > 0.0, sizes, 1.0).reshape(-1, *[1] * (array.ndim - 1))
            along[name] = 0.5 * (way + np.swapaxes(way, -1, -2)) if name == "hessian" else np.where(np.isfinite(array), way, 0.0)
        for low, high in (("lower", "upper"), ("row_lower", "row_upper"), ("column_lower", "column_upper")):
            if low in along and high in along:  # equations stay equations
                same = np.broadcast_to(inputs.given[low] == inputs.given[high], along[high].shape)
                along[high] = np.where(same, np.broadcast_to(along[low], along[high].shape), along[high])
        terms = {
            name: np.asarray(getattr(gradient, name)).reshape(inputs.given[name].shape) * along[name] for name in names
        }
        shared = n > 1 and any(len(term) != n for term in terms.values())

        def total(values: list[np.ndarray]) -> np.ndarray:
            rows = [value.reshape(len(value), -1).sum(axis=1) for value in values]
            return np.array([sum(row.sum() for row in rows)]) if shared else sum(rows, np.zeros(n))

        def loss(step: float) -> np.ndarray:
            moved = {name: inputs.given[name] + step * along[name] for name in names}
            answer = self._again({**inputs.given, **moved})
            return total([given[name] * getattr(answer, name) for name in given])

        expected, size = total(list(terms.values())), total([np.abs(term) for term in terms.values()])
        here = total([given[name] * getattr(self, name) for name in given])
        verdict = np.zeros(expected.shape, dtype=bool)
        for step in (1e-4, 1e-6, 1e-8):
            up, down = loss(step), loss(-step)
            noise = 1e-14 * np.abs(here) / step
            with np.errstate(invalid="ignore"):
                verdict |= np.abs((up - down) / (2.0 * step) - expected) <= tolerance * size + noise
        smooth = (gradient.status == Smoothness.smooth).reshape(n, -1).all(axis=1)
        found: np.ndarray = smooth & (np.full(n, verdict[0] and smooth.all()) if shared else verdict)
        return found

    def jacobian(self, of: str, wrt: str, *, with_status: bool = False, **settings: Any) -> Any:
        """The whole Jacobian of the answer's array `of` in the input `wrt`, problem by problem: (n, extents
        of `of`, extents of `wrt`), by one product from the left for each number of `of`. NaN where a
        product is refused; an element of the generalised Jacobian at kinks, with a warning. with_status:
        (jacobian, status), the worst of a problem's products. Settings: those of vjp."""
        if of not in self._outputs:
            raise refuse("of", repr(of), "must be of " + ", ".join(self._outputs))
        (name,) = wanted((wrt,), self._inputs)
        shape = self._shapes()[of]
        count, inner = shape[0], shape[1:]
        inputs = self._given()
        jacobian = np.empty((count, *inner, *inputs.all[name].shape[1:]))
        status = np.zeros(count, dtype=np.uint8)
        chosen = _settings(settings.pop("at_kink", "mean"), settings)
        for place in np.ndindex(*inner):
            at = (slice(None), *place)
            unit = np.zeros(shape)
            unit[at] = 1.0
            answer = self._left({of: unit}, [name], chosen)
            jacobian[at] = answer[name]
            status = np.maximum(status, answer["status"].reshape(count, -1).max(axis=1))
        if with_status:
            return jacobian, status
        if (status != Smoothness.smooth).any():
            worst = int((status != Smoothness.smooth).sum())
            warnings.warn(f"{worst} of {count} Jacobians are not derivatives: with_status=True says why",
                          stacklevel=2)  # fmt: skip
        return jacobian


class LpAsQp:
    """The objectives of LPs as QPs without curvature: rows A and the unknowns' own bounds. The sign of
    a QP's multiplier is positive at the upper bound, that of an LP's at the lower one."""

    def __init__(self, given: Mapping[str, np.ndarray], solution: np.ndarray, dual: np.ndarray, status: np.ndarray) -> None:
        self.n, self.objectives, self.v = solution.shape
        self.r = dual.shape[2]
        self.count = self.n * self.objectives
        v = self.v

        def each(array: np.ndarray) -> np.ndarray:
            return np.repeat(array, self.objectives, axis=0)

        cost = given["cost"].reshape(self.count, v)
        matrix = each(given["matrix"])
        own = np.broadcast_to(np.eye(v), (self.count, v, v))
        y = dual.reshape(self.count, self.r)
        self.problem = {
            "hessian": np.zeros((self.count, v, v)), "vector": np.ascontiguousarray(cost),
            "matrix": np.ascontiguousarray(np.concatenate([matrix, own], axis=1)),
            "lower": np.concatenate([each(given["row_lower"]), each(given["column_lower"])], axis=1),
            "upper": np.concatenate([each(given["row_upper"]), each(given["column_upper"])], axis=1),
            "cone_matrix": np.zeros((self.count, 0, v)), "cone_vector": np.zeros((self.count, 0)),
        }  # fmt: skip
        reduced = cost - np.einsum("nij,ni->nj", matrix, y)
        self.answer = {
            "solution": np.ascontiguousarray(solution.reshape(self.count, v)),
            "dual": np.concatenate([-y, -reduced], axis=1), "cone_dual": np.zeros((self.count, 0)),
            "status": np.ascontiguousarray(status.ravel()),
        }  # fmt: skip
        self.sizes: tuple[int, int, int, list[tuple[str, int]]] = (self.count, v, self.r + v, [])

    def _report(self, found: Mapping[str, Any]) -> dict[str, Any]:
        return {name: found[name].reshape(self.n, self.objectives) for name in _REPORT}

    def left(self, given: Mapping[str, np.ndarray], names: Sequence[str], settings: dict[str, Any]) -> dict[str, Any]:
        n, K, v, r = self.n, self.objectives, self.v, self.r
        asked = {}
        if "solution" in given:
            asked["solution"] = np.ascontiguousarray(given["solution"].reshape(self.count, v))
        if "objective" in given:
            asked["objective"] = np.ascontiguousarray(given["objective"].reshape(self.count))
        if "dual" in given:
            y = given["dual"].reshape(self.count, r)
            asked["dual"] = np.concatenate([-y, np.zeros((self.count, v))], axis=1)
        parts = {"cost": "vector", "matrix": "matrix", "row_lower": "lower", "column_lower": "lower",
                 "row_upper": "upper", "column_upper": "upper"}  # fmt: skip
        found = _core.differentiate_qp(
            self.problem, self.answer, asked, *self.sizes, settings, sorted({parts[name] for name in names})
        )

        def shared(array: np.ndarray) -> np.ndarray:
            made: np.ndarray = array.reshape(n, K, *array.shape[1:]).sum(axis=1)
            return made

        made = self._report(found)
        for name, part in parts.items():
            if name not in names:
                made[name] = None
            elif name == "cost":
                made[name] = found[part].reshape(n, K, v)
            else:
                own = found[part][:, r:] if name.startswith("column") else found[part][:, :r]
                made[name] = shared(np.ascontiguousarray(own))
        return made

    def right(self, along: Mapping[str, np.ndarray], settings: dict[str, Any]) -> dict[str, Any]:
        n, K, v, r = self.n, self.objectives, self.v, self.r
        direction = {}
        if "cost" in along:
            direction["vector"] = np.ascontiguousarray(along["cost"].reshape(self.count, v))
        if "matrix" in along:
            rows = np.repeat(along["matrix"], K, axis=0)
            direction["matrix"] = np.concatenate([rows, np.zeros((self.count, v, v))], axis=1)
        for part in ("lower", "upper"):
            if f"row_{part}" in along or f"column_{part}" in along:
                rows = along.get(f"row_{part}", np.zeros((n, r)))
                columns = along.get(f"column_{part}", np.zeros((n, v)))
                direction[part] = np.repeat(np.concatenate([rows, columns], axis=1), K, axis=0)
        found = _core.propagate_qp(self.problem, self.answer, direction, *self.sizes, settings)
        return {**self._report(found), "solution": found["solution"].reshape(n, K, v),
                "dual": -found["dual"][:, :r].reshape(n, K, r), "objective": found["objective"].reshape(n, K)}  # fmt: skip


SETTINGS = _core.derivative_settings()
