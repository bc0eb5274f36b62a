"""carom's solvers inside jax.jit and jax.vmap, on the host.

    answer = carom.jax.solve_lcp(M, q)          # .solution, .status, .pivots, .residual

Arrays have any number of leading axes, those of all problems; vmap adds one. The calls are targets of
jax.ffi if jaxlib was installed when the package was built, else callbacks into Python, slower by a quarter of a
millisecond per call: `carom.jax.BY_FFI`. They have no derivatives. Random numbers are addressed by a
problem's place among all that one call sees.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from . import _core, impact, solvers
from ._arrays import refuse
from .problems import run_settings
from .solvers import _CONES

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")

__all__ = ["BY_FFI", "sample_impacts", "solve_lcp", "solve_qp"]

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


class ImpactAnswer(NamedTuple):
    """As carom.impact.ImpactSamples."""

    velocity: Any
    impulse: Any
    residual: Any
    modes: Any
    steps: Any
    status: Any


Answer = TypeVar("Answer", LcpAnswer, QpAnswer, ImpactAnswer)


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
    kinds = [np.asarray(getattr(probe, name)) for name in answer._fields]
    shapes = tuple(jax.ShapeDtypeStruct(lead + kind.shape[1:], kind.dtype) for kind in kinds)
    if BY_FFI:
        call = jax.ffi.ffi_call(target, shapes, vmap_method="broadcast_all")
        given = {name: _attribute(value) for name, value in attributes.items()}
        return answer(*call(*arrays, outputs=" ".join(answer._fields), **given))

    def flat(*values: Any) -> tuple[np.ndarray, ...]:
        leads = [np.shape(value)[: np.ndim(value) - rank] for value, rank in zip(values, ranks)]
        count = math.prod(leads[0])
        made = solve(*(np.asarray(v).reshape(count, *np.shape(v)[len(leads[0]) :]) for v in values))
        return tuple(
            np.asarray(getattr(made, name)).reshape(leads[0] + kind.shape[1:])
            for name, kind in zip(answer._fields, kinds)
        )

    return answer(*jax.pure_callback(flat, shapes, *arrays, vmap_method="broadcast_all"))


def solve_lcp(M: Any, q: Any, *, backend: str = "auto", **settings: Any) -> LcpAnswer:
    """carom.solve_lcp of M (..., k, k), q (..., k), under jit and vmap. Errors, while tracing:
    InvalidInput for shapes and settings; problems with NaN have the status invalid_input."""
    lead, arrays = _batched({"matrix": (M, 2), "vector": (q, 1)})
    k = arrays[0].shape[-1]
    if arrays[0].shape[-2:] != (k, k) or arrays[1].shape[-1] != k:
        raise refuse("vector", f"of shape {arrays[1].shape}", f"must end in {k} beside M {arrays[0].shape}")

    def solve(M: Any, q: Any) -> Any:
        return solvers.solve_lcp(M, q, backend=backend, **settings)

    probe = solve(np.eye(k)[None], np.zeros((1, k)))
    return _call("carom_solve_lcp", LcpAnswer, lead, arrays, (2, 1), probe, solve,
                 {"order": k, "backend": backend, **settings})  # fmt: skip


def solve_qp(
    P: Any, q: Any, A: Any = None, l: Any = None, u: Any = None, C: Any = None, b: Any = None, *,
    cones: Sequence[tuple[str, int]] = (), backend: str = "auto", **settings: Any,
) -> QpAnswer:  # fmt: skip
    """carom.solve_qp of P (..., v, v), q (..., v), A (..., r, v), l, u (..., r), C (..., k, v), b
    (..., k), under jit and vmap. Errors, while tracing: InvalidInput for shapes and settings."""
    v = jnp.shape(q)[-1]
    if A is None:
        A, l, u = jnp.zeros((0, v)), jnp.zeros(0), jnp.zeros(0)
    r = jnp.shape(A)[-2]
    l = jnp.full(r, -jnp.inf) if l is None else l
    u = jnp.full(r, jnp.inf) if u is None else u
    if C is None:
        C, b = jnp.zeros((0, v)), jnp.zeros(0)
    lead, arrays = _batched({"hessian": (P, 2), "vector": (q, 1), "matrix": (A, 2), "lower": (l, 1),
                             "upper": (u, 1), "cone_matrix": (C, 2), "cone_vector": (b, 1)})  # fmt: skip

    def solve(P: Any, q: Any, A: Any, l: Any, u: Any, C: Any, b: Any) -> Any:
        return solvers.solve_qp(P, q, A, l, u, C, b, cones=cones, backend=backend, **settings)

    own = [array.shape[len(lead) :] for array in arrays]
    probe = solve(np.eye(v)[None], *(np.zeros((1, *shape)) for shape in own[1:]))
    words = " ".join(f"{_CONES.get(kind, kind)} {int(size)}" for kind, size in cones)
    return _call("carom_solve_qp", QpAnswer, lead, arrays, (2, 1, 2, 1, 1, 2, 1), probe, solve,
                 {"variables": v, "rows": r, "cones": words, "backend": backend, **settings})  # fmt: skip


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
