"""Steps of multibody systems with compliant constraints, stable at any step (Drumwright, "An
Unconditionally Stable First-Order Constraint Solver for Multibody Systems")."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import Batch, from_any, refuse
from ._derivatives import (
    SETTINGS, Differentiable, RunGradient, RunTangent, StepGradient, StepTangent, run_gradient, run_tangent,
)  # fmt: skip
from ._progress import called
from ._results import Batched, RowType, checked, result
from ._settings import in_words, takes_settings
from .problems import Parameter, columns, parameters_of

__all__ = ["Rows", "Scenario", "StepResult", "WorldsResult", "scenarios", "step", "worlds"]


@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """Constraint rows of a step, problem first where it differs.

    type (n, m): numbers of carom.RowType or words; a contact is a normal row directly followed by
    its tangents; rows "none" are skipped. J (n, m, nv); Jdot_v (n, m) [m/s2]; phi (n, m) [m],
    negative presses; K (n, m) [N/m]; B (n, m) [N s/m]; mu (n, m), read at normal rows. A number
    stands for all rows.
    """

    type: Any
    J: Any
    Jdot_v: Any = 0.0
    phi: Any = 0.0
    K: Any = 0.0
    B: Any = 0.0
    mu: Any = 0.0


@result
class StepResult(Batched, Differentiable):
    """velocity v' (n, nv), increment q' - q (n, nq or nv), force lambda (n, m) [N], kinetic_energy
    [J], status, iterations, residual (n); problem: the arrays that were given, by their names in C++."""

    problem: dict[str, Any]

    _inputs = ("step_size", "mass_matrix", "force", "velocity", "position_map", "jacobian", "jacobian_dot_v",
               "phi", "stiffness", "damping", "friction")  # fmt: skip
    _outputs = ("velocity", "increment", "force", "kinetic_energy")

    def _call(self) -> tuple[dict[str, np.ndarray], tuple[int, int, int, int, int], dict[str, Any]]:
        given = self._given()
        types = np.ascontiguousarray(np.broadcast_to(self.problem["type"], self.force.shape))
        (n, nv), m = self.velocity.shape, self.force.shape[1]
        nq = given.given["position_map"].shape[1]
        solver = {name: self.problem[name] for name in ("law", "centripetal")}
        return {**given.all, "type": types}, (n, int(self.problem["dimension"]), nv, m, nq), solver

    def _left(self, given: dict[str, np.ndarray], names: list[str], settings: dict[str, Any]) -> dict[str, Any]:
        problem, sizes, solver = self._call()
        answer = {"force": self.force, "status": self.status}
        found: dict[str, Any] = _core.differentiate_compliant(
            problem, answer, given, *sizes, solver, settings, names
        )
        return found

    def _right(self, along: dict[str, np.ndarray], settings: dict[str, Any]) -> dict[str, Any]:
        problem, sizes, solver = self._call()
        answer = {"force": self.force, "status": self.status}
        found: dict[str, Any] = _core.propagate_compliant(problem, answer, along, *sizes, solver, settings)
        return found

    @takes_settings(SETTINGS, without=("at_kink",))
    def vjp(
        self, *, velocity: Any = None, increment: Any = None, force: Any = None, kinetic_energy: Any = None,
        wrt: Any = None, at_kink: str = "mean", not_solved: str = "nan", on_error: str = "status",
        **settings: Any,
    ) -> StepGradient:  # fmt: skip
        """The gradient in h, M, f, v, N and the rows' J, Jdot v, phi, K, B, mu of a loss, from its
        gradient in the step's arrays; a row's gradient is zero where it was not there.

        wrt: names of step_size, mass_matrix, force, velocity, position_map, jacobian, jacobian_dot_v, phi,
        stiffness, damping, friction; None all. Redundant contacts are regular: their springs share
        the load. With Jdot_v not zero and its centripetal term, J and M have no derivative where rows of one
        kind depend on each other: undefined. The law programme is refused. Otherwise as LcpResult.vjp."""
        cotangent = {"velocity": velocity, "increment": increment, "force": force, "kinetic_energy": kinetic_energy}
        made: StepGradient = self._vjp(StepGradient, cotangent, wrt, at_kink, not_solved, on_error, settings)
        return made

    @takes_settings(SETTINGS, without=("at_kink",))
    def jvp(
        self, *, step_size: Any = None, mass_matrix: Any = None, force: Any = None, velocity: Any = None,
        position_map: Any = None, jacobian: Any = None, jacobian_dot_v: Any = None, phi: Any = None,
        stiffness: Any = None, damping: Any = None, friction: Any = None, not_solved: str = "nan",
        on_error: str = "status", **settings: Any,
    ) -> StepTangent:  # fmt: skip
        """The directional derivative of the step along a direction in its inputs; one-sided and exact at a
        contact that touches while it slips and at the border of stick and slip, undefined at one that
        touches without slip. Otherwise as LcpResult.jvp."""
        direction = {
            "step_size": step_size, "mass_matrix": mass_matrix, "force": force, "velocity": velocity,
            "position_map": position_map, "jacobian": jacobian, "jacobian_dot_v": jacobian_dot_v, "phi": phi,
            "stiffness": stiffness, "damping": damping, "friction": friction,
        }  # fmt: skip
        made: StepTangent = self._jvp(StepTangent, direction, not_solved, on_error, settings)
        return made


@result
class WorldsResult(Batched):
    """w worlds after their steps: position (w, nq), velocity (w, nv), force of the last step,
    displacement, energy [J], max_residual, failed, steps_taken, status, ... (w); frames of every
    stride: frame_time (f) [s], frame_state (f, w, nq + nv), frame_energy (f, w); problem: what was asked."""

    _apart = ("frame_time", "frame_state", "frame_energy")
    scenario: str
    backend: str
    cancelled: bool
    seconds: float
    steps: int
    step_size: float
    frame_time: np.ndarray
    frame_state: np.ndarray
    frame_energy: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    force: np.ndarray
    displacement: np.ndarray
    energy_start: np.ndarray
    energy: np.ndarray
    max_residual: np.ndarray
    failed: np.ndarray
    steps_taken: np.ndarray
    iterations: np.ndarray
    iterations_max: np.ndarray
    rows_max: np.ndarray
    status: np.ndarray
    problem: dict[str, Any]

    @takes_settings(SETTINGS, without=("at_kink",))
    def vjp(
        self, *, displacement: Any = None, position: Any = None, velocity: Any = None, wrt: Any = None,
        at_kink: str = "mean", on_error: str = "status", checkpoint: int = 0, **settings: Any,
    ) -> RunGradient:  # fmt: skip
        """The gradient, in parameters, step size and the state at the start, of a loss from its gradient in
        displacement (w), position (w, nq), velocity (w, nv) at the end; a number or one row is for all worlds.

        The run is taken again and followed backwards, step by step, in one call. wrt: names of parameters, or
        "step_size"; None all. checkpoint: states are kept every so many steps, 0: all where 64 worlds take
        at most 16 MB, else about the root of their number; the result has the same bits for any. What is differentiated
        is the discrete map, whose damper is switched where phi changes its sign: RunGradient.touch. Errors:
        InvalidInput."""
        given = {"displacement": displacement, "position": position, "velocity": velocity}
        return run_gradient(self, given, wrt, at_kink, on_error, checkpoint, settings)

    @takes_settings(SETTINGS, without=("at_kink",))
    def jvp(
        self, *, parameters: Mapping[str, Any] | None = None, step_size: Any = None, position: Any = None,
        velocity: Any = None, on_error: str = "status", **settings: Any,
    ) -> RunTangent:  # fmt: skip
        """Rates of the end along a direction in parameters (by name, a number or (w)), step size and, beside what
        these do to it, the state at the start, position (w, nq), velocity (w, nv); one-sided and exact at kinks.

        The run is taken again, its rate with it; no state is kept. One product costs about as much as vjp, whatever
        the number of outputs. Errors: InvalidInput."""
        state = {"position": position, "velocity": velocity}
        return run_tangent(self, parameters or {}, step_size, state, on_error, settings)

    def plot(self, state: int = 0, ax: Any = None) -> Any:
        """One state of every world over time, from the stored frames. Needs matplotlib."""
        from ._plots import axes

        if not len(self.frame_time):
            raise refuse("stride", "0", "frames are kept every so many steps: give a stride")
        ax = axes(ax)
        ax.plot(self.frame_time, self.frame_state[:, :, state])
        known = scenarios()[self.scenario]
        names = known.positions + known.velocities
        ax.set_xlabel("time [s]")
        ax.set_ylabel(names[state] if state < len(names) else f"state {state}")
        ax.set_title(f"{self.scenario}: {len(self.status)} worlds")
        return ax

    def _summary(self) -> str:
        return f"{self.scenario!r}, {self.steps} steps of {self.step_size} s, " + super()._summary()


_ROW_WORDS = {member.name: int(member) for member in RowType}


def _types(value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind != "U":
        return from_any("type", value, np.uint8)
    unknown = set(array.ravel()) - set(_ROW_WORDS)
    if unknown:
        raise refuse("type", repr(sorted(unknown)[0]), "must be " + ", ".join(_ROW_WORDS))
    return np.asarray(np.vectorize(_ROW_WORDS.__getitem__, otypes=[np.uint8])(array))


@takes_settings(_core.compliant_settings())
def step(
    M: Any, f: Any, v: Any, constraints: Rows, h: Any, *, dimension: int = 3,
    position_map: Any = None, backend: str = "auto", workspace: Any = None, strict: bool = False,
    on_error: str = "status", **settings: Any,
) -> StepResult:  # fmt: skip
    """One step v' = v + h M^-1 (J'lambda + f) of every problem.

    M (n, nv, nv), f (n, nv) [N] all forces but the constraints', v (n, nv), h (n) or a number [s];
    position_map N (n, nq, nv): q' - q = h N v'. dimension: 2, a contact has one tangent row, or 3,
    two. A problem with refused numbers has the status invalid_input. Errors: InvalidInput.
    """
    batch = Batch(strict)
    batch.add("mass_matrix", M, "nv", "nv")
    batch.add("force", f, "nv")
    batch.add("velocity", v, "nv")
    batch.add("jacobian", constraints.J, "m", "nv")
    nv, m = batch.extents["nv"], batch.extents["m"]
    batch.add("type", _types(constraints.type), "m", dtype=np.uint8)
    for field, value in (
        ("jacobian_dot_v", constraints.Jdot_v),
        ("phi", constraints.phi),
        ("stiffness", constraints.K),
        ("damping", constraints.B),
        ("friction", constraints.mu),
    ):
        batch.add(field, np.full(m, value) if np.ndim(value) == 0 else value, "m")
    if position_map is None:
        position_map = np.zeros((0, nv))
    batch.add("position_map", position_map, "nq", "nv")
    batch.add("step_size", h)
    answer = _core.solve_compliant(
        batch.arrays(), batch.problems, dimension, nv, m, batch.extents["nq"], in_words(settings),
        backend, workspace,
    )  # fmt: skip
    rows = (constraints.Jdot_v, constraints.phi, constraints.K, constraints.B, constraints.mu)
    names = ("jacobian_dot_v", "phi", "stiffness", "damping", "friction")
    problem = batch.given()
    problem.scalars = frozenset(name for name, value in zip(names, rows) if np.ndim(value) == 0)
    problem.update(dimension=int(dimension), law=settings.get("law", "complementarity"),
                   centripetal=bool(settings.get("centripetal", True)))  # fmt: skip
    return checked(StepResult(**answer, problem=problem), on_error)


@dataclasses.dataclass(frozen=True)
class Scenario:
    """A built-in world: states, parameters, those that fix its shape, recommended steps."""

    name: str
    summary: str
    source: str
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    displacement: str
    parameters: Mapping[str, Parameter]
    sizes: tuple[str, ...]
    step_size: float
    steps: int


def scenarios() -> dict[str, Scenario]:
    """All built-in scenarios by name."""
    return {
        entry["name"]: Scenario(**{**entry, "parameters": parameters_of(entry["parameters"])})
        for entry in _core.scenarios()
    }


@takes_settings(_core.compliant_settings())
def worlds(
    scenario: str, parameters: Mapping[str, Any] | None = None, *, n: int | None = None,
    dt: float | None = None, steps: int | None = None, stride: int = 0,
    bad_problem: str = "refuse", backend: str = "auto",
    progress: Callable[[int, int], Any] | bool | None = None, workspace: Any = None,
    on_error: str = "status", **settings: Any,
) -> WorldsResult:  # fmt: skip
    """Steps worlds of a built-in scenario from its start.

    parameters: by name, numbers or arrays of one length, one world each; n: the number of worlds if
    none is an array. dt [s], steps: None takes the scenario's. stride: frames are stored every so
    many steps, 0 none. progress: called with (steps done, in all), ends the run by returning False.
    Errors: InvalidInput; bad_problem="isolate" makes NaN of a world whose parameters are refused.
    """
    taken, count = columns(parameters or {}, n)
    run: dict[str, Any] = {"worlds": count, "stride": stride}
    if bad_problem not in ("refuse", "isolate"):
        raise refuse("bad_problem", repr(bad_problem), "must be refuse or isolate")
    run["isolate"] = bad_problem == "isolate"
    if dt is not None:
        run["step_size"] = dt
    if steps is not None:
        run["steps"] = steps
    answer = _core.step_worlds(
        scenario, {key: column.tolist() for key, column in taken.items()}, run, in_words(settings),
        backend, called(progress), workspace,
    )  # fmt: skip
    run["steps"], run["step_size"] = answer["steps"], answer["step_size"]
    given = {name: column.tolist() if np.ndim((parameters or {})[name]) else float(column[0]) for name, column in taken.items()}
    problem = {"parameters": given, "run": run, "solver": in_words(settings)}
    return checked(WorldsResult(scenario=scenario, **answer, problem=problem), on_error)
