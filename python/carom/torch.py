"""carom's solvers for torch.autograd, on the host.

    answer = carom.torch.solve_qp(P, q, A, l, u)
    loss = ((answer.solution - wanted) ** 2).sum()
    loss.backward()
    answer.gradient.words()                     # smooth, kink, ... of each problem

Tensors are those of the functions of the same names in carom: problem first, its number n, 1 or left out where
problems share it; where all leave it out the answer does so too. They may be of any floating type and are solved
in doubles. Where there is no derivative and no element of the generalised Jacobian, and where a problem is not
solved, the gradient is NaN, as carom.QpResult.vjp says; `answer.gradient` is what that returned to the latest
backward pass. Gradients of gradients are refused.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import compliant, solvers
from ._arrays import refuse

torch: Any = importlib.import_module("torch")

__all__ = ["Answer", "solve_lcp", "solve_lp", "solve_qp", "step", "worlds"]


class _Call(NamedTuple):
    """One call: the solver of arrays, the names of its inputs in its result, what it answers."""

    solve: Callable[..., Any]
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    at_kink: str
    kept: dict[str, Any]
    own: Callable[[Any, str], Any] = getattr  # of a gradient: that in an input


class Answer:
    """Tensors by name (solution, and dual, cone_dual, objective or w) that have derivatives; result, the NumPy
    result with status, residual and proofs; gradient, what the latest backward pass said, or None."""

    def __init__(self, tensors: dict[str, Any], kept: dict[str, Any]) -> None:
        self._kept = kept
        for name, tensor in tensors.items():
            setattr(self, name, tensor)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    @property
    def result(self) -> Any:
        return self._kept["result"]

    @property
    def status(self) -> np.ndarray:
        found: np.ndarray = self.result.status
        return found

    @property
    def gradient(self) -> Any:
        return self._kept.get("gradient")


class _Solved(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: Any) -> Any:
        arrays = [None if t is None else t.detach().cpu().to(torch.float64).numpy() for t in tensors]
        result = call.solve(*arrays)
        call.kept["result"] = result
        ctx.call, ctx.tensors = call, tensors
        first = next(t for t in tensors if t is not None)
        return tuple(torch.as_tensor(getattr(result, name)).to(first) for name in call.outputs)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *cotangents: Any) -> Any:
        call, tensors = ctx.call, ctx.tensors
        wanted = [name for name, needs in zip(call.names, ctx.needs_input_grad[1:]) if needs]
        result = call.kept["result"]
        given = {
            name: grad.detach().cpu().to(torch.float64).numpy().reshape(getattr(result, name).shape)
            for name, grad in zip(call.outputs, cotangents)
        }  # fmt: skip
        made = call.kept["gradient"] = result.vjp(**given, wrt=wanted, at_kink=call.at_kink)
        gradients: list[Any] = [None]
        for name, tensor in zip(call.names, tensors):
            own = call.own(made, name) if name in wanted else None
            gradients.append(None if own is None else torch.as_tensor(np.asarray(own)).reshape(tensor.shape).to(tensor))
        return tuple(gradients)


def _run(
    solve: Callable[..., Any], given: Sequence[tuple[str, Any, int]], outputs: tuple[str, ...], at_kink: str,
    own: Callable[[Any, str], Any] = getattr,
) -> Answer:  # fmt: skip
    tensors = []
    for name, value, _ in given:
        if value is not None and not isinstance(value, torch.Tensor):
            value = torch.as_tensor(np.asarray(value, dtype=np.float64))
        if value is not None and not value.is_floating_point():
            raise refuse(name, f"of type {value.dtype}", "must have a floating-point type")
        tensors.append(value)
    kept: dict[str, Any] = {}
    call = _Call(solve, tuple(name for name, _, _ in given), outputs, at_kink, kept, own)
    found = dict(zip(outputs, _Solved.apply(call, *tensors)))
    if all(t is None or t.ndim <= rank for (_, _, rank), t in zip(given, tensors)):
        found = {name: tensor[0] for name, tensor in found.items()}
    return Answer(found, kept)


def solve_lcp(M: Any, q: Any, *, at_kink: str = "mean", **settings: Any) -> Answer:
    """carom.solve_lcp of M (n, k, k), q (n, k): solution and w (n, k). at_kink: see carom.LcpResult.vjp.
    Errors: InvalidInput for shapes, types and settings."""
    return _run(
        lambda M, q: solvers.solve_lcp(M, q, **settings), [("matrix", M, 2), ("vector", q, 1)], ("solution", "w"), at_kink
    )


def solve_qp(
    P: Any, q: Any, A: Any = None, l: Any = None, u: Any = None, C: Any = None, b: Any = None, *,
    cones: Sequence[tuple[str, int]] = (), at_kink: str = "mean", **settings: Any,
) -> Answer:  # fmt: skip
    """carom.solve_qp: solution (n, v), dual (n, r), cone_dual (n, k), objective (n); the gradient in P is
    symmetric. Otherwise as solve_lcp."""
    given = [("hessian", P, 2), ("vector", q, 1), ("matrix", A, 2), ("lower", l, 1), ("upper", u, 1),
             ("cone_matrix", C, 2), ("cone_vector", b, 1)]  # fmt: skip
    return _run(
        lambda *arrays: solvers.solve_qp(*arrays, cones=cones, **settings), given,
        ("solution", "dual", "cone_dual", "objective"), at_kink,
    )  # fmt: skip


def solve_lp(
    c: Any, A: Any = None, row_lower: Any = None, row_upper: Any = None, lower: Any = None, upper: Any = None, *,
    at_kink: str = "mean", **settings: Any,
) -> Answer:  # fmt: skip
    """carom.solve_lp, one objective a problem: solution (n, v), dual (n, r), objective (n). A vertex does not move
    with c: its gradient there is zero, that of the objective is x. Otherwise as solve_lcp."""
    given = [("cost", c, 1), ("matrix", A, 2), ("row_lower", row_lower, 1), ("row_upper", row_upper, 1),
             ("column_lower", lower, 1), ("column_upper", upper, 1)]  # fmt: skip

    answer = _run(
        lambda c, *rest: solvers.solve_lp(c if c.ndim == 1 else c[:, None, :], *rest, **settings), given,
        ("solution", "dual", "objective"), at_kink,
    )  # fmt: skip
    for name, axis in (("solution", -2), ("dual", -2), ("objective", -1)):
        setattr(answer, name, getattr(answer, name).squeeze(axis))  # the axis of objectives
    return answer


def step(
    M: Any, f: Any, v: Any, rows: compliant.Rows, h: Any, *, position_map: Any = None, at_kink: str = "mean", **settings: Any,
) -> Answer:  # fmt: skip
    """carom.compliant.step, whose rows' J, Jdot_v, phi, K, B, mu may be tensors too: velocity (n, nv), increment
    (n, nq or nv), force (n, m), kinetic_energy (n). Otherwise as solve_lcp."""
    given = [("mass_matrix", M, 2), ("force", f, 1), ("velocity", v, 1), ("step_size", h, 0), ("position_map", position_map, 2),
             ("jacobian", rows.J, 2), ("jacobian_dot_v", rows.Jdot_v, 1), ("phi", rows.phi, 1), ("stiffness", rows.K, 1),
             ("damping", rows.B, 1), ("friction", rows.mu, 1)]  # fmt: skip

    def solve(M: Any, f: Any, v: Any, h: Any, N: Any, *numbers: Any) -> Any:
        return compliant.step(M, f, v, compliant.Rows(rows.type, *numbers), h, position_map=N, **settings)

    return _run(solve, given, ("velocity", "increment", "force", "kinetic_energy"), at_kink)


def worlds(scenario: str, parameters: Mapping[str, Any], *, at_kink: str = "mean", **settings: Any) -> Answer:
    """The end of carom.compliant.worlds, a world for each entry of the parameters (numbers and tensors (w) by name):
    displacement (w), position (w, nq), velocity (w, nv), differentiated in the parameters, a whole run at once. Otherwise
    as solve_lcp."""
    names = tuple(parameters)

    def solve(*columns: Any) -> Any:
        return compliant.worlds(scenario, dict(zip(names, columns)), **settings)

    return _run(solve, [(name, value, 0) for name, value in parameters.items()], ("displacement", "position", "velocity"),
                at_kink, lambda made, name: made.parameters[name])  # fmt: skip
