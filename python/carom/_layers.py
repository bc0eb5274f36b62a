"""Differentiable layers of CVXPY problems: carom as a solver of cvxpylayers (its SolverInterface, 1.2 and later)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import refuse
from ._optional import needed
from ._results import Status
from .errors import SolveError
from .solvers import solve_qp


def _dense(structure: Any, values: np.ndarray) -> np.ndarray:
    """(B, rows, columns) from the values (B, nonzeros) of compressed columns."""
    indices, starts, (rows, columns) = structure
    filled = np.zeros((len(values), int(rows), int(columns)))
    filled[:, indices, np.repeat(np.arange(int(columns)), np.diff(starts))] = values
    return filled


def _values(structure: Any, filled: np.ndarray) -> np.ndarray:
    indices, starts, (_, columns) = structure
    found: np.ndarray = filled[:, indices, np.repeat(np.arange(int(columns)), np.diff(starts))]
    return found


def layer_solver(at_kink: str, settings: dict[str, Any]) -> Any:
    """See compat.cvxpylayers_solver."""
    base = needed("cvxpylayers.interfaces.base", "cvxpylayers_solver", "cvxpylayers").SolverInterface

    class Carom(base):  # type: ignore[misc, valid-type]
        canon_solver = "CLARABEL"  # whose cones and whose order of rows are carom's
        supports_quad_obj = True

        def setup(self, ctx: Any) -> None:
            self._P = None if ctx.reduced_P is None else ctx.reduced_P.problem_data_index
            self._A = ctx.reduced_A.problem_data_index  # [A, b] by columns, of the sign of -C
            dims = ctx.cone_dims
            if getattr(dims, "exp", 0) or getattr(dims, "psd", ()) or getattr(dims, "p3d", ()):
                raise refuse("cones", "exponential, power or semidefinite", "must be linear or of second order")
            cones = [("zero", dims.zero), ("nonneg", dims.nonneg), *(("soc", size) for size in dims.soc)]
            self._cones = [(kind, int(size)) for kind, size in cones if size > 0]
            ctx.solver_ctx = self  # the JAX layer asks the context, the others the solver

        def solve_numpy_batch(
            self, P: Any, q: Any, A: Any, dims: Any, solver_args: dict[str, Any], needs_grad: bool
        ) -> tuple[np.ndarray, np.ndarray, Any]:  # fmt: skip
            q, A = np.asarray(q, dtype=float)[:, :-1], np.asarray(A, dtype=float)
            rows = _dense(self._A, A)
            n = q.shape[1]
            hessian = np.zeros((len(q), n, n)) if P is None or self._P is None else _dense(self._P, np.asarray(P, dtype=float))
            found = solve_qp(
                0.5 * (hessian + hessian.transpose(0, 2, 1)), q, C=-rows[:, :, :-1], b=rows[:, :, -1],
                cones=self._cones, **{**settings, **solver_args},
            )  # fmt: skip
            wrong = np.flatnonzero(found.status != Status.solved)
            if wrong.size:
                p = int(wrong[0])
                raise SolveError(f"problem {p}: {Status(int(found.status[p])).name}, {wrong.size} of {len(q)} not solved")
            return found.x, found.cone_dual, (found, P is not None)

        def derivative_numpy_batch(
            self, dprimal: Any, ddual: Any, saved_state: Any
        ) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:  # fmt: skip
            found, quadratic = saved_state
            wrt = ("hessian",) * quadratic + ("vector", "cone_matrix", "cone_vector")
            own = found.vjp(
                solution=np.asarray(dprimal, dtype=float), cone_dual=np.asarray(ddual, dtype=float), wrt=wrt,
                at_kink=at_kink,
            )  # fmt: skip
            rows = np.concatenate([-own.cone_matrix, own.cone_vector[:, :, None]], axis=2)
            last = np.zeros((len(rows), 1))
            dP = None
            if quadratic and self._P is not None:
                dP = _values(self._P, 0.5 * (own.hessian + own.hessian.transpose(0, 2, 1)))
            return dP, np.concatenate([own.vector, last], axis=1), _values(self._A, rows)

        # cvxpylayers' JAX layer calls these of the context, with problems in the last axis.
        def jax_to_data(self, P: Any, q: Any, A: Any) -> _JaxData:
            return _JaxData(self, P, q, A)

    return Carom()


class _JaxData:
    def __init__(self, solver: Any, *arrays: Any) -> None:
        self._solver = solver
        self._types = [None if a is None else a.dtype for a in arrays]
        self._single = arrays[2].ndim == 1
        self._arrays = [None if a is None else np.atleast_2d(np.asarray(a).T) for a in arrays]

    def jax_solve(self, solver_args: Any = None) -> tuple[Any, Any, Any]:
        jnp = needed("jax.numpy", "cvxpylayers_solver", "jax")
        x, z, state = self._solver.solve_numpy_batch(*self._arrays, None, solver_args or {}, True)
        kind = self._types[1]
        return jnp.asarray(x, dtype=kind), jnp.asarray(z, dtype=kind), state

    def jax_solve_only(self, solver_args: Any = None) -> tuple[Any, Any]:
        return self.jax_solve(solver_args)[:2]

    def jax_derivative(self, dprimal: Any, ddual: Any, state: Any) -> tuple[Any, ...]:
        jnp = needed("jax.numpy", "cvxpylayers_solver", "jax")
        parts = self._solver.derivative_numpy_batch(dprimal, ddual, state)
        return tuple(
            None if part is None or kind is None else jnp.asarray(part[0] if self._single else part.T, dtype=kind)
            for part, kind in zip(parts, self._types)
        )
