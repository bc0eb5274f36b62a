"""Lists the features of this installation and tests whether it solves known problems."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .errors import BackendUnavailable


def info() -> dict[str, Any]:
    """Version, commit, compiler, threads, CUDA devices; instruction_sets that were compiled, and the
    one of them that runs here. Bits are the same on all."""
    return _core.info()


def _backends() -> list[str]:
    return ["cpu", "reference", *(["cuda"] if info()["cuda_devices"] else [])]


def _lcp(backend: str) -> bool:
    from .solvers import solve_lcp

    answer = solve_lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0], backend=backend)
    return bool(answer.status[0] == 0 and np.allclose(answer.z, [[4 / 3, 7 / 3]], atol=1e-12))


def _lp(backend: str) -> bool:
    from .solvers import solve_lp

    answer = solve_lp([-1.0, -2.0], [[1.0, 1.0]], row_upper=[4.0], lower=[0.0, 0.0],
                      upper=[3.0, 3.0], backend=backend)  # fmt: skip
    return bool(answer.status[0, 0] == 0 and np.allclose(answer.objective, [[-7.0]]))


def _qp(backend: str) -> bool:
    from .solvers import solve_qp

    answer = solve_qp(np.eye(2), [-1.0, -1.0], C=-np.eye(3)[:, 1:], b=[1.0, 0.0, 0.0],
                      cones=[("soc", 3)], backend=backend)  # fmt: skip
    return bool(answer.status[0] == 0 and np.allclose(answer.x, np.sqrt(0.5), atol=1e-7))


def _impact(backend: str) -> bool:
    from .impact import sample
    from .problems import model

    answer = sample(model("rocking_block"), samples=64, backend=backend)
    return bool(answer.summary["terminated"][0] == 64 and answer.summary["max_residual"][0] <= 1e-9)


def _planar(backend: str) -> bool:
    from .equilibrium import planar

    # Upright feet a metre apart hold what is above the ground between them.
    answer = planar([[0, 0], [1, 0]], [[0, 1], [0, 1]], [1, 1], backend=backend)
    return bool(np.allclose([answer.lower[0], answer.upper[0]], [0.0, 1.0], atol=1e-9))


def _spatial(backend: str) -> bool:
    from .equilibrium import spatial

    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    region = spatial(corners, [[0, 0, 1]] * 3, [0.5] * 3, backend=backend)[0]
    return bool(region.status == 0 and abs(region.area_inner - 0.5) < 2e-3)


def _worlds(backend: str) -> bool:
    from .compliant import worlds

    answer = worlds("inclined_block", steps=10, backend=backend)
    return bool(answer.status[0] == 0 and answer.max_residual[0] <= 1e-9)


def _stability(backend: str) -> bool:
    from .stability import analyse, model, verify

    stance = model("figure2")
    return bool(verify(stance, analyse(stance, backend=backend)).all())


def _motion(backend: str) -> bool:
    from .motion import MotionEnd, simulate

    answer = simulate("rocking_block_drop", samples=4, backend=backend)
    return bool((answer.end != MotionEnd.failed).all() and answer.residual.max() <= 1e-8)


FAMILIES = {
    "lcp": _lcp, "lp": _lp, "qp": _qp, "impact": _impact, "planar": _planar, "spatial": _spatial,
    "worlds": _worlds, "stability": _stability, "motion": _motion,
}  # fmt: skip


def check(verbose: bool = False) -> bool:
    """Solves a problem of each family with a known answer on every backend here that has the family; True where all
    are right."""
    good = True
    for family, solved in FAMILIES.items():
        for backend in _backends():
            try:
                right = solved(backend)
                said = "ok" if right else "WRONG"
            except BackendUnavailable:  # it has no such family
                right, said = True, "-"
            except Exception as error:
                right, said = False, f"{type(error).__name__}: {error}"
            good = good and right
            if verbose:
                print(f"{family:<12} {backend:<10} {said}")
    return good
