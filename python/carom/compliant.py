"""Time steps of multibody systems with compliant constraints, stable for every step size (Drumwright, "An
Unconditionally Stable First-Order Constraint Solver for Multibody Systems")."""

from __future__ import annotations

import dataclasses
import re
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
from ._settings import argument_words, in_words, takes_arrays, takes_settings
from .problems import BuiltIn, built_in, columns

__all__ = ["Rows", "Scenario", "StepResult", "WorldsResult", "scenarios", "step", "worlds"]


@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """The constraint rows of a step; arrays may have the axis of problems first.

    type (n, m): carom.RowType or its words. A contact is a normal row, directly followed by its tangent rows. Rows of
    type "none" are skipped. J (n, m, nv). Jdot_v (n, m) [m/s2]. phi (n, m): deformation [m], negative: penetration.
    K (n, m): stiffness [N/m]. B (n, m): damping [N s/m]. mu (n, m): friction, read in normal rows. One number stands
    for all rows.
    """

    type: Any
    J: Any
    Jdot_v: Any = 0.0
    phi: Any = 0.0
    K: Any = 0.0
    B: Any = 0.0
    mu: Any = 0.0


_ARGUMENTS = {
    "mass_matrix": "M", "force": "f", "velocity": "v", "step_size": "h", "jacobian": "J", "jacobian_dot_v": "Jdot_v",
    "stiffness": "K", "damping": "B", "friction": "mu",
}  # fmt: skip


@result
class StepResult(Batched, Differentiable):
    """The states of n problems after a step: velocity v' (n, nv), increment q' - q (n, nq or nv), force lambda (n, m)
    [N], kinetic_energy [J], status, iterations, residual (n). problem: the given arrays by their names in C++."""

    problem: dict[str, Any]

    _inputs = ("step_size", "mass_matrix", "force", "velocity", "position_map", "jacobian", "jacobian_dot_v",
               "phi", "stiffness", "damping", "friction")  # fmt: skip
    _outputs = ("velocity", "increment", "force", "kinetic_energy")
    _arguments = _ARGUMENTS

    def _asked(self) -> list[str]:
        one_number = "jacobian_dot_v" in getattr(self.problem, "scalars", ())
        left_out = one_number and not np.any(self.problem["jacobian_dot_v"])
        return [name for name in self._inputs if name != "jacobian_dot_v" or not left_out]

    def _reasons(self, problems: list[int]) -> dict[int, str]:
        if not problems:
            return {}
        problem, sizes, _ = self._call()
        found: dict[Any, str] = _core.step_refusals(problem, *sizes, problems)
        return {p: argument_words(text, re.split(r"\W", text)[0], self._arguments) for p, text in found.items()}

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
        """The gradient of a loss in h, M, f, v, N and the rows' J, Jdot v, phi, K, B, mu, from its gradients in the
        step's arrays; zero in rows of type "none".

        wrt: names out of step_size, mass_matrix, force, velocity, position_map, jacobian, jacobian_dot_v, phi,
        stiffness, damping, friction; None: all, but jacobian_dot_v only if Jdot_v was given. Redundant contacts are no special case: their springs share the load.
        If Jdot_v is not zero and rows of one kind depend on each other, the derivative in J and M is undefined.
        Errors: InvalidInput, also for law "programme". Otherwise as LcpResult.vjp."""
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
        """The directional derivative of the step along a direction of its inputs. One-sided and exact at a contact that
        just touches while it slips, and at the border of stick and slip; undefined at one that just touches without
        slip. Otherwise as LcpResult.jvp."""
        direction = {
            "step_size": step_size, "mass_matrix": mass_matrix, "force": force, "velocity": velocity,
            "position_map": position_map, "jacobian": jacobian, "jacobian_dot_v": jacobian_dot_v, "phi": phi,
            "stiffness": stiffness, "damping": damping, "friction": friction,
        }  # fmt: skip
        made: StepTangent = self._jvp(StepTangent, direction, not_solved, on_error, settings)
        return made


@result
class WorldsResult(Batched):
    """w worlds after their steps: position (w, nq), velocity (w, nv), force of the last step, displacement, energy [J],
    max_residual, failed, steps_taken, status, ... (w). Frames, stored every `stride` steps: frame_time (f) [s],
    frame_state (f, w, nq + nv), frame_energy (f, w). problem: the arguments of worlds()."""

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
    problem: dict[str, Any]

    @takes_settings(SETTINGS, without=("at_kink",))
    def vjp(
        self, *, displacement: Any = None, position: Any = None, velocity: Any = None, wrt: Any = None,
        at_kink: str = "mean", on_error: str = "status", checkpoint: int = 0, **settings: Any,
    ) -> RunGradient:  # fmt: skip
        """The gradient of a loss in parameters, step size and initial state, from its gradients in displacement (w,),
        position (w, nq) and velocity (w, nv) at the end; one number or one row stands for all worlds.

        The run is computed again and followed backwards in one call. wrt: names of parameters, or "step_size";
        None: all. checkpoint: states are stored every so many steps; 0: all states if 64 worlds take at most 16 MB,
        otherwise every sqrt(steps). The result has the same bits for every value. The derivative is that of the
        discrete map, whose damper is switched on and off at phi = 0: see RunGradient.touch. Errors: InvalidInput."""
        given = {"displacement": displacement, "position": position, "velocity": velocity}
        return run_gradient(self, given, wrt, at_kink, on_error, checkpoint, settings)

    @takes_settings(SETTINGS, without=("at_kink",))
    def jvp(
        self, *, parameters: Mapping[str, Any] | None = None, step_size: Any = None, position: Any = None,
        velocity: Any = None, on_error: str = "status", **settings: Any,
    ) -> RunTangent:  # fmt: skip
        """The rate of the final state along a direction of the inputs; one-sided and exact at kinks.

        parameters: rates by name, a number or (w,). step_size: its rate. position (w, nq), velocity (w, nv): rates of the
        initial state, in addition to what the parameters cause. The run is computed again together with its
        rate; no state is stored. One product costs about as much as vjp. Errors: InvalidInput."""
        state = {"position": position, "velocity": velocity}
        return run_tangent(self, parameters or {}, step_size, state, on_error, settings)

    def plot(self, state: int = 0, ax: Any = None) -> Any:
        """One state of every world over time, from the stored frames. Needs matplotlib."""
        from ._plots import axes

        if not len(self.frame_time):
            raise refuse("stride", "0", "must be at least 1, so that frames are stored for the plot")
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
        place = [int(i) for i in np.argwhere(~np.isin(array, list(_ROW_WORDS)))[0]]
        raise refuse(f"type{place}", repr(str(array[tuple(place)])), "must be " + ", ".join(_ROW_WORDS))
    return np.asarray(np.vectorize(_ROW_WORDS.__getitem__, otypes=[np.uint8])(array))


@takes_arrays(**_ARGUMENTS)
@takes_settings(_core.compliant_settings())
def step(
    M: Any, f: Any, v: Any, constraints: Rows, h: Any, *, dimension: int = 3,
    position_map: Any = None, backend: str = "auto", workspace: Any = None, strict: bool = False,
    on_error: str = "status", **settings: Any,
) -> StepResult:  # fmt: skip
    """One implicit time step v' = v + h M^-1 (J'lambda + f) of every problem.

    M (n, nv, nv). f (n, nv): all forces except those of the constraints [N]. v (n, nv): velocity before. h: step
    size [s], (n,) or one number. position_map N (n, nq, nv) gives increment = h N v'; default: the identity.
    dimension: 2 or 3, in which a contact has one or two tangent rows. A problem with bad numbers has the status
    invalid_input; StepResult.reasons() says which. Errors: InvalidInput for shapes, settings and types of rows.
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
class Scenario(BuiltIn):
    """A built-in world: states, parameters, those that fix its shape, recommended steps."""

    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    displacement: str
    sizes: tuple[str, ...]
    step_size: float
    steps: int


def scenarios() -> dict[str, Scenario]:
    """All built-in scenarios by name."""
    return built_in(Scenario, _core.scenarios())


@takes_arrays(step_size="dt")
@takes_settings(_core.compliant_settings())
def worlds(
    scenario: str, parameters: Mapping[str, Any] | None = None, *, n: int | None = None,
    dt: float | None = None, steps: int | None = None, stride: int = 0,
    bad_problem: str = "refuse", backend: str = "auto",
    progress: Callable[[int, int], Any] | bool | None = None, workspace: Any = None,
    on_error: str = "status", **settings: Any,
) -> WorldsResult:  # fmt: skip
    """Simulates worlds of a built-in scenario from its initial state.

    parameters: numbers, or arrays of the same length with one world per entry, by name. n: the number of worlds if no
    parameter is an array. dt: step size [s]; steps: number of steps; None: the scenario's. stride: frames are stored
    every `stride` steps; 0: none. progress: called with (steps done, all steps); returning False ends the run.
    Errors: InvalidInput; with bad_problem="isolate" a world with bad parameters becomes NaN instead.
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
