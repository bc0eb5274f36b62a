"""carom's solvers inside jax.jit and jax.vmap, on the host.

    answer = carom.jax.solve_lcp(M, q)          # .solution, .status, .pivots, .residual

Arrays have any number of leading axes, those of all problems; vmap adds one. The calls are targets of
jax.ffi if jaxlib was installed when the package was built, else callbacks into Python, slower by a quarter of a
millisecond per call: `carom.jax.BY_FFI`. Random numbers are addressed by a problem's place among all that one
call sees.

solve_lcp, solve_qp and step have derivatives from the left (jax.grad, jax.vjp); their status does not fit into a
gradient, so solve_lcp_vjp, solve_qp_vjp and step_vjp return it, and solve_lcp_jvp and solve_qp_jvp are the products from the right.
Where there is no derivative and no element (carom.Smoothness) the gradient is NaN. sample_impacts and
solve_boxed_lcp have none.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from . import _core, boxed, compliant, impact, solvers
from ._arrays import refuse
from .problems import run_settings
from .solvers import _CONES

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")

__all__ = [
    "BY_FFI", "sample_impacts", "solve_boxed_lcp", "solve_lcp", "solve_lcp_jvp", "solve_lcp_vjp", "solve_qp", "solve_qp_jvp", "solve_qp_vjp",
    "step", "step_vjp", "worlds",
]  # fmt: skip

_TARGETS: dict[str, Any] = getattr(_core, "ffi_targets", dict)()
for _name, _target in _TARGETS.items():
    jax.ffi.register_ffi_target(_name, _target, platform="cpu")

#: Whether calls are targets of jax.ffi.
BY_FFI = bool(_TARGETS)



class LcpAnswer(NamedTuple):
    """As carom.LcpResult, with the leading axes of the problems."""

    solution: Any
    status: Any
    pivots: Any
    residual: Any


class BoxedLcpAnswer(NamedTuple):
    """As carom.BoxedLcpResult."""

    solution: Any
    slack: Any
    status: Any
    pivots: Any
    residual: Any


class QpAnswer(NamedTuple):
    """As carom.QpResult."""

    solution: Any
    dual: Any
    cone_dual: Any
    objective: Any
    status: Any
    method: Any
    iterations: Any
    residual: Any


class LcpGradientAnswer(NamedTuple):
    """As carom.LcpResult.vjp gives, with the leading axes of the problems."""

    matrix: Any
    vector: Any
    status: Any
    residual: Any
    margin: Any
    condition: Any
    reach: Any


class LcpTangentAnswer(NamedTuple):
    """As carom.LcpResult.jvp gives."""

    solution: Any
    w: Any
    status: Any
    residual: Any
    margin: Any
    condition: Any
    reach: Any


class QpGradientAnswer(NamedTuple):
    """As carom.QpResult.vjp gives."""

    hessian: Any
    vector: Any
    matrix: Any
    lower: Any
    upper: Any
    cone_matrix: Any
    cone_vector: Any
    status: Any
    residual: Any
    margin: Any
    condition: Any
    reach: Any


class QpTangentAnswer(NamedTuple):
    """As carom.QpResult.jvp gives."""

    solution: Any
    dual: Any
    cone_dual: Any
    objective: Any
    status: Any
    residual: Any
    margin: Any
    condition: Any
    reach: Any


class StepAnswer(NamedTuple):
    """As carom.compliant.StepResult."""

    velocity: Any
    increment: Any
    force: Any
    kinetic_energy: Any
    status: Any
    iterations: Any
    residual: Any


class StepGradientAnswer(NamedTuple):
    """As carom.compliant.StepResult.vjp gives."""

    step_size: Any
    mass_matrix: Any
    force: Any
    velocity: Any
    position_map: Any
    jacobian: Any
    jacobian_dot_v: Any
    phi: Any
    stiffness: Any
    damping: Any
    friction: Any
    status: Any
    residual: Any
    margin: Any
    condition: Any
    reach: Any


class RunAnswer(NamedTuple):
    """The end of carom.compliant.worlds."""

    position: Any
    velocity: Any
    displacement: Any
    status: Any


class ImpactAnswer(NamedTuple):
    """As carom.impact.ImpactSamples."""

    velocity: Any
    impulse: Any
    residual: Any
    modes: Any
    steps: Any
    status: Any


Answer = TypeVar(
    "Answer", LcpAnswer, QpAnswer, ImpactAnswer, LcpGradientAnswer, LcpTangentAnswer, QpGradientAnswer, QpTangentAnswer,
    StepAnswer, StepGradientAnswer, RunAnswer,
)


def _batched(arrays: dict[str, tuple[Any, int]]) -> tuple[tuple[int, ...], list[Any]]:
    """Arrays, each with the number of its own axes, with leading axes that all have."""
    if not jax.config.jax_enable_x64:
        raise refuse("jax_enable_x64", "False", "carom computes in float64: jax.config.update("
                     "'jax_enable_x64', True)")  # fmt: skip
    taken = {name: (jnp.asarray(value, dtype=jnp.float64), rank) for name, (value, rank) in arrays.items()}
    for name, (array, rank) in taken.items():
        if array.ndim < rank:
            raise refuse(name, f"of shape {array.shape}", f"must have {rank} axes or more")
    lead = np.broadcast_shapes(*(array.shape[: array.ndim - rank] for array, rank in taken.values()))
    return lead, [
        jnp.broadcast_to(array, lead + array.shape[array.ndim - rank :]) for array, rank in taken.values()
    ]


def _attribute(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return np.bool_(value)
    if isinstance(value, (int, np.integer)):
        return np.uint64(value).astype(np.int64) if value > 2**63 - 1 else np.int64(value)
    return value if isinstance(value, str) else np.float64(value)


def _call(
    target: str, answer: type[Answer], lead: tuple[int, ...], arrays: Sequence[Any], ranks: Sequence[int],
    probe: Any, solve: Callable[..., Any], attributes: dict[str, Any],
) -> Answer:  # fmt: skip
    """The call of a target, or of `solve` with problems along one axis; `probe`: an answer to one
    problem of these shapes, which says those of the results."""
    if BY_FFI:
        _, shapes = _shapes(answer._fields, lead, probe)
        call = jax.ffi.ffi_call(target, shapes, vmap_method="broadcast_all")
        given = {name: _attribute(value) for name, value in attributes.items()}
        return answer(*call(*arrays, outputs=" ".join(answer._fields), **given))
    return answer(*_called_back(answer._fields, lead, arrays, ranks, probe, solve))


def _shapes(fields: Sequence[str], lead: tuple[int, ...], probe: Any) -> tuple[list[np.ndarray], tuple[Any, ...]]:
    kinds = [np.asarray(getattr(probe, name)) for name in fields]
    return kinds, tuple(jax.ShapeDtypeStruct(lead + kind.shape[1:], kind.dtype) for kind in kinds)


def _called_back(
    fields: Sequence[str], lead: tuple[int, ...], arrays: Sequence[Any], ranks: Sequence[int], probe: Any,
    solve: Callable[..., Any],
) -> Any:  # fmt: skip
    """`solve` with problems along one axis, called back from the compiled programme; probe: as of _call."""
    kinds, shapes = _shapes(fields, lead, probe)

    def flat(*values: Any) -> tuple[np.ndarray, ...]:
        leads = [np.shape(value)[: np.ndim(value) - rank] for value, rank in zip(values, ranks)]
        count = math.prod(leads[0])
        made = solve(*(np.asarray(v).reshape(count, *np.shape(v)[len(leads[0]) :]) for v in values))
        return tuple(
            np.asarray(getattr(made, name)).reshape(leads[0] + kind.shape[1:])
            for name, kind in zip(fields, kinds)
        )

    return jax.pure_callback(flat, shapes, *arrays, vmap_method="broadcast_all")


def _without_nan(parts: Sequence[Any], ranks: Sequence[int]) -> tuple[list[Any], Any]:
    """Cotangents with zeros in problems where any is not finite, and where all are."""
    fine: Any = True
    for part, rank in zip(parts, ranks):
        axes = tuple(range(part.ndim - rank, part.ndim))
        fine = fine & jnp.isfinite(part).all(axis=axes)
    return [
        jnp.where(jnp.expand_dims(fine, tuple(range(part.ndim - rank, part.ndim))), part, 0.0)
        for part, rank in zip(parts, ranks)
    ], fine


def _masked(fine: Any, values: Any, rank: int) -> Any:
    return jnp.where(jnp.expand_dims(fine, tuple(range(values.ndim - rank, values.ndim))), values, jnp.nan)


def _perturbed(names: Sequence[str], primals: Sequence[Any]) -> dict[str, tuple[()]]:
    """Names of the inputs that have gradients, as a structure of no arrays."""
    asked = {name: () for name, primal in zip(names, primals) if primal.perturbed}
    return asked or dict.fromkeys(names, ())


def _with_gradient(
    names: Sequence[str], arrays: Sequence[Any], answer_of: Callable[..., Any],
    gradient_of: Callable[[Any, Any, Any, list[str]], Any],
) -> Any:  # fmt: skip
    """The answer of the named arrays; its gradients, which gradient_of(arrays, answer, cotangent, wanted)
    returns first and in the names' order, are those of the inputs that jax differentiates."""
    run: Any = jax.custom_vjp(answer_of)

    def forward(*primals: Any) -> tuple[Any, Any]:
        given = [primal.value for primal in primals]
        answer = run(*given)
        return answer, (given, answer, _perturbed(names, primals))

    def backward(kept: Any, cotangent: Any) -> tuple[Any, ...]:
        given, answer, asked = kept
        made = gradient_of(given, answer, cotangent, [name for name in names if name in asked])
        return tuple(made[: len(names)])

    run.defvjp(forward, backward, symbolic_zeros=True)
    return run(*arrays)


def _dense(cotangent: Any) -> Any:
    """An array for what jax knows to be zero."""
    if isinstance(cotangent, jax.custom_derivatives.SymbolicZero):
        return jnp.zeros(cotangent.shape, jnp.float64)
    return cotangent


def _filled(parts: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    """Arrays in the shapes of `known`; zeros for None."""
    return [
        jnp.broadcast_to(jnp.asarray(0.0 if part is None else part, dtype=jnp.float64), array.shape)
        for part, array in zip(parts, known)
    ]


def _known_names(wrt: Sequence[str], names: Sequence[str]) -> None:
    unknown = [name for name in wrt if name not in names]
    if unknown:
        raise refuse("wrt", repr(unknown[0]), "must be of " + ", ".join(names))


def _element(at_kink: str, margin_tolerance: float, error_tolerance: float) -> dict[str, Any]:
    known = ("mean", "held", "free", "nan")
    if at_kink not in known:
        raise refuse("at_kink", repr(at_kink), "must be " + ", ".join(known))
    return {"at_kink": at_kink, "margin_tolerance": float(margin_tolerance), "error_tolerance": float(error_tolerance)}


def _lcp_arrays(M: Any, q: Any, prefix: str = "") -> tuple[tuple[int, ...], list[Any], int]:
    lead, arrays = _batched({prefix + "matrix": (M, 2), prefix + "vector": (q, 1)})
    k = arrays[0].shape[-1]
    if arrays[0].shape[-2:] != (k, k) or arrays[1].shape[-1] != k:
        raise refuse(prefix + "vector", f"of shape {arrays[1].shape}", f"must end in {k}, as M has shape {arrays[0].shape}")
    return lead, arrays, k


def _lcp_answer(lead: tuple[int, ...], arrays: Sequence[Any], k: int, backend: str, settings: dict[str, Any]) -> LcpAnswer:
    def solve(M: Any, q: Any) -> Any:
        return solvers.solve_lcp(M, q, max_nodes=0, backend=backend, **settings)

    probe = solve(np.eye(k)[None], np.zeros((1, k)))
    return _call("carom_solve_lcp", LcpAnswer, lead, arrays, (2, 1), probe, solve,
                 {"order": k, "backend": backend, **settings})  # fmt: skip


def _lcp_gradient(lead: tuple[int, ...], arrays: Sequence[Any], answer: Any, solution: Any, k: int,
                  chosen: dict[str, Any]) -> LcpGradientAnswer:  # fmt: skip
    (solution,), fine = _without_nan([solution], (1,))

    def differentiate(M: Any, q: Any, z: Any, status: Any, g: Any) -> Any:
        n = len(z)
        found = _core.differentiate_lcp(
            {"matrix": M, "vector": q}, {"solution": z, "status": status}, {"solution": g}, n, k, dict(chosen),
            ["matrix", "vector"],
        )  # fmt: skip
        return SimpleNamespace(**found)

    one = np.zeros((1, k))
    probe = differentiate(np.eye(k)[None], one, one, np.zeros(1, np.uint8), one)
    made = _call("carom_solve_lcp_vjp", LcpGradientAnswer, lead, [*arrays, answer.solution, answer.status, solution],
                 (2, 1, 1, 0, 1), probe, differentiate, {"order": k, **chosen})  # fmt: skip
    return made._replace(matrix=_masked(fine, made.matrix, 2), vector=_masked(fine, made.vector, 1))


def solve_lcp(
    M: Any, q: Any, *, backend: str = "auto", at_kink: str = "mean", margin_tolerance: float = 1e-9,
    error_tolerance: float = 1e-6, **settings: Any,
) -> LcpAnswer:  # fmt: skip
    """carom.solve_lcp of M (..., k, k), q (..., k), under jit, vmap and grad; the derivative is that of
    `solution`, an element of the generalised Jacobian at kinks (at_kink: mean, held, free, nan).
    Errors, while tracing: InvalidInput for shapes and settings; problems with NaN have the status
    invalid_input."""
    lead, arrays, k = _lcp_arrays(M, q)
    chosen = {**_element(at_kink, margin_tolerance, error_tolerance), "reach": False}  # jax.grad has no room for it

    def gradient(arrays: Any, answer: Any, g: LcpAnswer, wanted: list[str]) -> Any:
        return _lcp_gradient(lead, arrays, answer, _dense(g.solution), k, chosen)

    answer: LcpAnswer = _with_gradient(
        ("matrix", "vector"), arrays, lambda *given: _lcp_answer(lead, given, k, backend, settings), gradient
    )
    return answer


def solve_lcp_vjp(
    M: Any, q: Any, solution: Any, *, backend: str = "auto", at_kink: str = "mean", margin_tolerance: float = 1e-9,
    error_tolerance: float = 1e-6, **settings: Any,
) -> tuple[LcpAnswer, LcpGradientAnswer]:  # fmt: skip
    """The answer and, for a loss whose gradient in it is `solution` (..., k), the gradient with its status."""
    lead, arrays, k = _lcp_arrays(M, q)
    answer = _lcp_answer(lead, arrays, k, backend, settings)
    (given,) = _filled([solution], [answer.solution])
    chosen = _element(at_kink, margin_tolerance, error_tolerance)
    return answer, _lcp_gradient(lead, arrays, answer, given, k, chosen)


def solve_lcp_jvp(
    primals: tuple[Any, Any], tangents: tuple[Any, Any], *, backend: str = "auto", margin_tolerance: float = 1e-9,
    error_tolerance: float = 1e-6, **settings: Any,
) -> tuple[LcpAnswer, LcpTangentAnswer]:  # fmt: skip
    """The answer of (M, q) and its derivative along (dM, dq), one-sided and exact at kinks."""
    lead, arrays, k = _lcp_arrays(*primals)
    along, directions, _ = _lcp_arrays(*tangents, prefix="direction.")
    lead = np.broadcast_shapes(lead, along)
    arrays, directions = (
        [jnp.broadcast_to(a, lead + a.shape[a.ndim - rank :]) for a, rank in zip(given, (2, 1))]
        for given in (arrays, directions)
    )
    answer = _lcp_answer(lead, arrays, k, backend, settings)
    chosen = _element("mean", margin_tolerance, error_tolerance)

    def propagate(M: Any, q: Any, z: Any, status: Any, dM: Any, dq: Any) -> Any:
        found = _core.propagate_lcp(
            {"matrix": M, "vector": q}, {"solution": z, "status": status}, {"matrix": dM, "vector": dq}, len(z), k,
            dict(chosen),
        )  # fmt: skip
        return SimpleNamespace(**found)

    one = np.zeros((1, k))
    probe = propagate(np.eye(k)[None], one, one, np.zeros(1, np.uint8), np.eye(k)[None], one)
    return answer, _call("carom_solve_lcp_jvp", LcpTangentAnswer, lead,
                         [*arrays, answer.solution, answer.status, *directions], (2, 1, 1, 0, 2, 1), probe, propagate,
                         {"order": k, **chosen})  # fmt: skip


_QP_NAMES = ("hessian", "vector", "matrix", "lower", "upper", "cone_matrix", "cone_vector")
_QP_RANKS = (2, 1, 2, 1, 1, 2, 1)


class _Qp:
    """A QP call's arrays, shape and words."""

    def __init__(self, given: Sequence[Any], cones: Sequence[tuple[str, int]]) -> None:
        P, q, A, l, u, C, b = given
        v = jnp.shape(q)[-1]
        if A is None:
            A, l, u = jnp.zeros((0, v)), jnp.zeros(0), jnp.zeros(0)
        r = jnp.shape(A)[-2]
        l = jnp.full(r, -jnp.inf) if l is None else l
        u = jnp.full(r, jnp.inf) if u is None else u
        if C is None:
            C, b = jnp.zeros((0, v)), jnp.zeros(0)
        named = {name: (array, rank) for name, array, rank in zip(_QP_NAMES, (P, q, A, l, u, C, b), _QP_RANKS)}
        self.lead, self.arrays = _batched(named)
        self.cones = cones
        self.kinds = [(_CONES.get(kind, kind), int(size)) for kind, size in cones]
        self.own = [array.shape[len(self.lead) :] for array in self.arrays]
        words = " ".join(f"{kind} {size}" for kind, size in self.kinds)
        self.shape: dict[str, Any] = {"variables": v, "rows": r, "cones": words}
        self.one = [np.eye(v)[None], *(np.zeros((1, *shape)) for shape in self.own[1:])]

    @property
    def sizes(self) -> tuple[int, int, list[tuple[str, int]]]:
        return self.shape["variables"], self.shape["rows"], self.kinds

    def answer(self, arrays: Sequence[Any], backend: str, settings: dict[str, Any]) -> QpAnswer:
        def solve(*given: Any) -> Any:
            return solvers.solve_qp(*given, cones=self.cones, backend=backend, **settings)

        return _call("carom_solve_qp", QpAnswer, self.lead, arrays, _QP_RANKS, solve(*self.one), solve,
                     {**self.shape, "backend": backend, **settings})  # fmt: skip

    def kept(self, answer: Any) -> list[Any]:
        return [answer.solution, answer.dual, answer.cone_dual, answer.status]

    @property
    def no_answer(self) -> list[np.ndarray]:
        v, r, _ = self.sizes
        return [np.zeros((1, v)), np.zeros((1, r)), np.zeros((1, self.own[6][0])), np.zeros(1, np.uint8)]

    def gradient(self, arrays: Sequence[Any], answer: Any, cotangents: Sequence[Any], wanted: Sequence[str],
                 chosen: dict[str, Any]) -> QpGradientAnswer:  # fmt: skip
        ranks = (1, 1, 1, 0)
        parts, fine = _without_nan([_dense(part) for part in cotangents], ranks)

        def differentiate(*given: Any) -> Any:
            problem = dict(zip(_QP_NAMES, given[:7]))
            known = dict(zip(("solution", "dual", "cone_dual", "status"), given[7:11]))
            asked = dict(zip(("solution", "dual", "cone_dual", "objective"), given[11:]))
            found = _core.differentiate_qp(problem, known, asked, len(given[7]), *self.sizes, dict(chosen), list(wanted))
            n = len(given[7])
            for name, shape in zip(_QP_NAMES, self.own):
                if found[name] is None:
                    found[name] = np.zeros((n, *shape))
            return SimpleNamespace(**found)

        probe = differentiate(*self.one, *self.no_answer, *self.no_answer[:3], np.zeros(1))
        asked = QpGradientAnswer._fields
        made = _call("carom_solve_qp_vjp", QpGradientAnswer, self.lead, [*arrays, *self.kept(answer), *parts],
                     (*_QP_RANKS, 1, 1, 1, 0, *ranks), probe, differentiate,
                     {**self.shape, "wanted": " ".join(wanted), **chosen})  # fmt: skip
        masked = {name: _masked(fine, getattr(made, name), rank) for name, rank in zip(asked[:7], _QP_RANKS)}
        # What was not wanted is not written.
        masked.update((name, jnp.zeros_like(masked[name])) for name in _QP_NAMES if name not in wanted)
        return made._replace(**masked)


def solve_qp(
    P: Any, q: Any, A: Any = None, l: Any = None, u: Any = None, C: Any = None, b: Any = None, *,
    cones: Sequence[tuple[str, int]] = (), backend: str = "auto", at_kink: str = "mean",
    margin_tolerance: float = 1e-9, error_tolerance: float = 1e-6, **settings: Any,
) -> QpAnswer:  # fmt: skip
    """carom.solve_qp of P (..., v, v), q (..., v), A (..., r, v), l, u (..., r), C (..., k, v), b
    (..., k), under jit, vmap and grad; derivatives are those of solution, dual, cone_dual and objective in
    the inputs that jax differentiates (at_kink: see solve_lcp).
    Errors, while tracing: InvalidInput for shapes and settings."""
    qp = _Qp((P, q, A, l, u, C, b), cones)
    chosen = {**_element(at_kink, margin_tolerance, error_tolerance), "reach": False}  # jax.grad has no room for it

    def gradient(arrays: Any, answer: Any, g: QpAnswer, wanted: list[str]) -> Any:
        return qp.gradient(arrays, answer, (g.solution, g.dual, g.cone_dual, g.objective), wanted, chosen)

    answer: QpAnswer = _with_gradient(
        _QP_NAMES, qp.arrays, lambda *arrays: qp.answer(arrays, backend, settings), gradient
    )
    return answer


def solve_qp_vjp(
    P: Any, q: Any, A: Any = None, l: Any = None, u: Any = None, C: Any = None, b: Any = None, *,
    solution: Any = None, dual: Any = None, cone_dual: Any = None, objective: Any = None,
    wrt: Sequence[str] = _QP_NAMES, cones: Sequence[tuple[str, int]] = (), backend: str = "auto",
    at_kink: str = "mean", margin_tolerance: float = 1e-9, error_tolerance: float = 1e-6, **settings: Any,
) -> tuple[QpAnswer, QpGradientAnswer]:  # fmt: skip
    """The answer and, for a loss whose gradients in it are given by name, the gradient with its status; zero in
    inputs that are not in wrt."""
    qp = _Qp((P, q, A, l, u, C, b), cones)
    _known_names(wrt, _QP_NAMES)
    answer = qp.answer(qp.arrays, backend, settings)
    known = (answer.solution, answer.dual, answer.cone_dual, answer.objective)
    given = _filled((solution, dual, cone_dual, objective), known)
    chosen = _element(at_kink, margin_tolerance, error_tolerance)
    return answer, qp.gradient(qp.arrays, answer, given, list(wrt), chosen)


def solve_qp_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, cones: Sequence[tuple[str, int]] = (), backend: str = "auto",
    margin_tolerance: float = 1e-9, error_tolerance: float = 1e-6, **settings: Any,
) -> tuple[QpAnswer, QpTangentAnswer]:  # fmt: skip
    """The answer of (P, q, A, l, u, C, b), the last ones None or left out, and its derivative along a direction of
    the same arrays, None where it is zero; one-sided and exact at kinks of rows."""
    qp = _Qp([*primals, *[None] * (7 - len(primals))], cones)
    chosen = _element("mean", margin_tolerance, error_tolerance)
    answer = qp.answer(qp.arrays, backend, settings)
    directions = _filled([*tangents, *[None] * (7 - len(tangents))], qp.arrays)

    def propagate(*given: Any) -> Any:
        problem = dict(zip(_QP_NAMES, given[:7]))
        known = dict(zip(("solution", "dual", "cone_dual", "status"), given[7:11]))
        along = dict(zip(_QP_NAMES, given[11:]))
        found = _core.propagate_qp(problem, known, along, len(given[7]), *qp.sizes, dict(chosen))
        return SimpleNamespace(**found)

    probe = propagate(*qp.one, *qp.no_answer, *qp.one)
    return answer, _call("carom_solve_qp_jvp", QpTangentAnswer, qp.lead,
                         [*qp.arrays, *qp.kept(answer), *directions], (*_QP_RANKS, 1, 1, 1, 0, *_QP_RANKS), probe,
                         propagate, {**qp.shape, **chosen})  # fmt: skip


_STEP_NAMES = StepGradientAnswer._fields[:11]
_STEP_RANKS = (0, 2, 1, 1, 2, 2, 1, 1, 1, 1, 1)


class _Step:
    """A step's arrays, shape and words; the rows' types stand between the position map and J."""

    def __init__(self, M: Any, f: Any, v: Any, constraints: compliant.Rows, h: Any, dimension: int, position_map: Any,
                 backend: str, settings: dict[str, Any]) -> None:  # fmt: skip
        J = jnp.asarray(constraints.J, dtype=jnp.float64)
        if J.ndim < 2:
            raise refuse("jacobian", f"of shape {J.shape}", "must have 2 axes or more")
        m, nv = J.shape[-2:]
        self.types = np.ascontiguousarray(compliant._types(constraints.type))
        if self.types.shape != (m,):
            raise refuse("type", f"of shape {self.types.shape}", f"must be {(m,)}, the same for all problems")

        def rows(value: Any) -> Any:
            return jnp.full(m, value) if np.ndim(value) == 0 else value

        N = jnp.zeros((0, nv)) if position_map is None else position_map
        given = (h, M, f, v, N, J, *map(rows, (constraints.Jdot_v, constraints.phi, constraints.K, constraints.B,
                                               constraints.mu)))  # fmt: skip
        self.lead, self.arrays = _batched({n: (a, rank) for n, a, rank in zip(_STEP_NAMES, given, _STEP_RANKS)})
        self.nq = self.arrays[4].shape[-2]
        sizes = {"nv": nv, "m": m, "q": self.nq}
        kinds = ((), ("nv", "nv"), ("nv",), ("nv",), ("q", "nv"), ("m", "nv"), *[("m",)] * 5)
        self.own = [tuple(sizes[letter] for letter in kind) for kind in kinds]
        for name, array, own, rank in zip(_STEP_NAMES, self.arrays, self.own, _STEP_RANKS):
            if array.shape[array.ndim - rank :] != own:
                raise refuse(name, f"of shape {array.shape}", f"must end in {own}")
        self.dimension, self.backend, self.settings = dimension, backend, settings
        self.sizes = (dimension, nv, m, self.nq)
        self.shape = {"dimension": dimension, "velocities": nv, "rows": m, "positions": self.nq}
        self.one = [np.ones(1), np.eye(nv)[None], *(np.zeros((1, *own)) for own in self.own[2:])]

    def _with_types(self, arrays: Sequence[Any], lead: tuple[int, ...]) -> list[Any]:
        return [*arrays[:5], jnp.broadcast_to(jnp.asarray(self.types), lead + self.types.shape), *arrays[5:]]

    def answer(self, arrays: Sequence[Any]) -> StepAnswer:
        def solve(h: Any, M: Any, f: Any, v: Any, N: Any, types: Any, J: Any, *rows: Any) -> Any:
            known = compliant.Rows(types, J, *rows)
            return compliant.step(M, f, v, known, h, dimension=self.dimension, position_map=N if self.nq else None,
                                  backend=self.backend, **self.settings)  # fmt: skip

        probe = solve(*self.one[:5], self.types[None], *self.one[5:])
        return _call("carom_step", StepAnswer, self.lead, self._with_types(arrays, self.lead),
                     (*_STEP_RANKS[:5], 1, *_STEP_RANKS[5:]), probe, solve,
                     {**self.shape, "backend": self.backend, **self.settings})  # fmt: skip

    def gradient(self, arrays: Sequence[Any], answer: Any, cotangents: Sequence[Any], wanted: Sequence[str],
                 chosen: dict[str, Any]) -> StepGradientAnswer:  # fmt: skip
        ranks = (1, 1, 1, 0)
        parts, fine = _without_nan([_dense(part) for part in cotangents], ranks)
        solver = {"centripetal": bool(self.settings.get("centripetal", True))}
        outputs = ("velocity", "increment", "force", "kinetic_energy")

        def differentiate(*given: Any) -> Any:
            problem = dict(zip(_STEP_NAMES, (*given[:5], *given[6:12])))
            found = _core.differentiate_compliant(
                {**problem, "type": given[5]}, {"force": given[12], "status": given[13]},
                dict(zip(outputs, given[14:])), len(given[0]), *self.sizes, solver, dict(chosen), list(wanted),
            )  # fmt: skip
            for name, own in zip(_STEP_NAMES, self.own):
                if found[name] is None:
                    found[name] = np.zeros((len(given[0]), *own))
            return SimpleNamespace(**found)

        _, nv, m, nq = self.sizes
        zeros = [np.zeros((1, size)) for size in (nv, nq or nv, m)]
        probe = differentiate(*self.one[:5], self.types[None], *self.one[5:], np.zeros((1, m)), np.zeros(1, np.uint8),
                              *zeros, np.zeros(1))  # fmt: skip
        made = _call("carom_step_vjp", StepGradientAnswer, self.lead,
                     [*self._with_types(arrays, self.lead), answer.force, answer.status, *parts],
                     (*_STEP_RANKS[:5], 1, *_STEP_RANKS[5:], 1, 0, *ranks), probe, differentiate,
                     {**self.shape, "wanted": " ".join(wanted), **solver, **chosen})  # fmt: skip
        masked = {n: _masked(fine, getattr(made, n), rank) for n, rank in zip(_STEP_NAMES, _STEP_RANKS)}
        masked.update((n, jnp.zeros_like(masked[n])) for n in _STEP_NAMES if n not in wanted)
        return made._replace(**masked)


def step(
    M: Any, f: Any, v: Any, constraints: compliant.Rows, h: Any, *, dimension: int = 3, position_map: Any = None,
    backend: str = "auto", at_kink: str = "mean", margin_tolerance: float = 1e-9, error_tolerance: float = 1e-6,
    **settings: Any,
) -> StepAnswer:  # fmt: skip
    """carom.compliant.step of M (..., nv, nv), f, v (..., nv), h (...) and rows, under jit, vmap, scan and grad;
    derivatives are those of velocity, increment, force and kinetic_energy in the inputs that jax
    differentiates (at_kink: see solve_lcp). The rows' types are the same for all problems and no tracers.
    Runs of steps: jax.lax.scan, with jax.checkpoint for long ones. Errors, while tracing: InvalidInput."""
    if settings.get("law", "complementarity") != "complementarity":
        raise refuse("law", repr(settings["law"]), "must be complementarity")
    one = _Step(M, f, v, constraints, h, dimension, position_map, backend, settings)
    chosen = {**_element(at_kink, margin_tolerance, error_tolerance), "reach": False}  # jax.grad has no room for it

    def gradient(arrays: Any, answer: Any, g: StepAnswer, wanted: list[str]) -> Any:
        return one.gradient(arrays, answer, (g.velocity, g.increment, g.force, g.kinetic_energy), wanted, chosen)

    answer: StepAnswer = _with_gradient(_STEP_NAMES, one.arrays, lambda *arrays: one.answer(arrays), gradient)
    return answer


def step_vjp(
    M: Any, f: Any, v: Any, constraints: compliant.Rows, h: Any, *, velocity: Any = None, increment: Any = None,
    force: Any = None, kinetic_energy: Any = None, wrt: Sequence[str] | None = None, dimension: int = 3,
    position_map: Any = None, backend: str = "auto", at_kink: str = "mean", margin_tolerance: float = 1e-9,
    error_tolerance: float = 1e-6, **settings: Any,
) -> tuple[StepAnswer, StepGradientAnswer]:  # fmt: skip
    """The answer and, for a loss whose gradients in it are given by name, the gradient with its status; zero in
    inputs that are not in wrt. None: all, but jacobian_dot_v only if Jdot_v was given."""
    one = _Step(M, f, v, constraints, h, dimension, position_map, backend, settings)
    if wrt is None:
        moves = not isinstance(constraints.Jdot_v, (int, float)) or constraints.Jdot_v != 0
        wrt = [name for name in _STEP_NAMES if name != "jacobian_dot_v" or moves]
    _known_names(wrt, _STEP_NAMES)
    answer = one.answer(one.arrays)
    known = (answer.velocity, answer.increment, answer.force, answer.kinetic_energy)
    given = _filled((velocity, increment, force, kinetic_energy), known)
    chosen = _element(at_kink, margin_tolerance, error_tolerance)
    return answer, one.gradient(one.arrays, answer, given, list(wrt), chosen)


def worlds(
    scenario: str, parameters: Mapping[str, Any], *, dt: float | None = None, steps: int | None = None,
    backend: str = "auto", at_kink: str = "mean", margin_tolerance: float = 1e-9, error_tolerance: float = 1e-6,
    checkpoint: int = 0, **settings: Any,
) -> RunAnswer:  # fmt: skip
    """The end of carom.compliant.worlds, a world for each entry of the parameters (numbers and arrays (...) by name),
    under jit, vmap and grad: derivatives are those of position, velocity and displacement in the parameters that jax
    differentiates, of a whole run in one call (carom.compliant.WorldsResult.vjp, whose status this leaves out; a world
    without a derivative has NaN). The run is called back from the compiled programme. Errors, while tracing:
    InvalidInput."""
    names = tuple(parameters)
    if not names:
        raise refuse("parameters", "empty", "must name what the worlds are of")
    lead, arrays = _batched({name: (value, 0) for name, value in parameters.items()})
    chosen = _element(at_kink, margin_tolerance, error_tolerance)
    one = compliant.worlds(scenario, dt=dt, steps=1, backend=backend, **settings)
    numbers = compliant.scenarios()[scenario].parameters
    unknown = [name for name in names if name not in numbers]
    if unknown:
        raise refuse("parameters", repr(unknown[0]), "must be " + ", ".join(numbers))

    def run(*columns: Any) -> Any:
        return compliant.worlds(scenario, dict(zip(names, columns)), n=len(columns[0]), dt=dt, steps=steps,
                                backend=backend, **settings)  # fmt: skip

    def answer_of(*columns: Any) -> RunAnswer:
        return RunAnswer(*_called_back(RunAnswer._fields, lead, columns, (0,) * len(names), one, run))

    def gradient_of(columns: Any, answer: RunAnswer, g: RunAnswer, wanted: list[str]) -> Any:
        ranks = (1, 1, 0)
        parts, fine = _without_nan([_dense(part) for part in g[:3]], ranks)

        def back(*given: Any) -> Any:
            taken = compliant.worlds(scenario, dict(zip(names, given[: len(names)])), n=len(given[0]), dt=dt, steps=1,
                                     backend=backend, **settings)  # fmt: skip
            taken.problem["run"]["steps"] = steps or compliant.scenarios()[scenario].steps
            made = taken.vjp(**dict(zip(RunAnswer._fields, given[len(names) :])), wrt=wanted, checkpoint=checkpoint,
                             **chosen)  # fmt: skip
            zero = np.zeros(len(given[0]))
            return SimpleNamespace(**{name: made.parameters.get(name, zero) for name in names})

        probe = SimpleNamespace(**{name: np.zeros(1) for name in names})
        found = _called_back(names, lead, [*columns, *parts], (0,) * len(names) + ranks, probe, back)
        return [_masked(fine, gradient, 0) for gradient in found]

    answer: RunAnswer = _with_gradient(names, arrays, answer_of, gradient_of)
    return answer


def solve_boxed_lcp(
    M: Any, q: Any, lo: Any = None, hi: Any = None, *, findex: Any = None, mu: Any = None, backend: str = "auto",
    **settings: Any,
) -> BoxedLcpAnswer:  # fmt: skip
    """carom.solve_boxed_lcp of M (..., k, k), q, lo, hi and mu (..., k), under jit and vmap; findex (k) is of all
    problems and known while tracing. The call goes back from the compiled programme and has no derivative. A
    problem that is refused has the status invalid_input. Errors, while tracing: InvalidInput."""
    k = np.shape(q)[-1] if np.ndim(q) else 0
    parts = {"matrix": (M, 2), "vector": (q, 1), "lower": (np.full(k, -np.inf) if lo is None else lo, 1),
             "upper": (np.full(k, np.inf) if hi is None else hi, 1)}  # fmt: skip
    if mu is not None:
        parts["friction"] = (mu, 1)
    lead, arrays = _batched(parts)
    rows = None if findex is None else np.asarray(findex, dtype=np.int32)

    def solve(*given: Any) -> Any:
        return boxed.solve_boxed_lcp(*given[:4], findex=rows, mu=given[4] if len(given) > 4 else None, backend=backend,
                                     **settings)  # fmt: skip

    one = [np.zeros((1, *array.shape[len(lead) :])) for array in arrays]
    one[3][:] = np.inf
    if rows is not None:
        if any(given.shape[-1:] != (k,) for given in (rows, *one[2:])):
            raise refuse("findex", f"of shape {rows.shape}", f"must have {k} rows, as bounds and friction")
        # Friction rows have no bounds but those that are ODE's coefficients.
        one[3][0, rows >= 0] = 1.0 if mu is None else np.inf
        one[2][0, rows >= 0] = -one[3][0, rows >= 0]
    probe = solve(*one)
    ranks = [rank for _, rank in parts.values()]
    return BoxedLcpAnswer(*_called_back(BoxedLcpAnswer._fields, lead, arrays, ranks, probe, solve))


def sample_impacts(
    M: Any, Jn: Any, Jt: Any, mu: Any, v: Any, *, backend: str = "auto", **settings: Any
) -> ImpactAnswer:
    """The samples of carom.impact.sample of M (..., nv, nv), Jn (..., m, nv), Jt (..., (d-1) m, nv),
    mu (..., m), v (..., nv), under jit and vmap.
    A problem that is refused has the status invalid_input. Errors, while tracing: InvalidInput."""
    lead, arrays = _batched({"mass_matrix": (M, 2), "normal_jacobian": (Jn, 2), "tangent_jacobian": (Jt, 2),
                             "friction": (mu, 1), "velocity": (v, 1)})  # fmt: skip
    for name in ("bad_problem", "keep_paths", "epsilon", "result_space"):
        if name in settings:
            raise refuse(name, repr(settings[name]), "is not taken here")
    own = [array.shape[len(lead) :] for array in arrays]
    nv, m = own[0][-1], own[1][0]

    def solve(*given: Any) -> Any:
        return impact.sample(*given, backend=backend, bad_problem="isolate", epsilon=0.0, **settings).samples

    one = [np.eye(nv)[None], *(np.zeros((1, *shape)) for shape in own[1:])]
    problems = impact.Problems.of(*one)
    probe = solve(*one)
    whole = run_settings({**settings, "bad_problem": "isolate", "epsilon": 0.0})
    return _call("carom_sample_impacts", ImpactAnswer, lead, arrays, (2, 2, 2, 1, 1), probe, solve,
                 {"dimension": problems.dimension, "velocities": nv, "contacts": m, "backend": backend,
                  **whole})  # fmt: skip
