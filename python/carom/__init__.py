"""Solves batches of small contact-mechanics problems and certifies every answer.

    import carom
    result = carom.impact.sample(carom.model("rocking_block", friction=0.5), samples=2**16)
    result.mode_names(), result.samples.velocity, result.plot()
"""

from . import compliant, data, dataset, equilibrium, exam, impact, motion, robots, stability
from ._core import CudaScope, Workspace
from ._results import QpMethod, RowType, Smoothness, Status, TrajectoryStatus
from .check import check, info
from ._files import load
from ._log import set_log
from ._mujoco import from_mujoco
from ._pinocchio import from_pinocchio
from ._validate import Validation, validate
from .batches import AnytimeBounds, LcpBatch, LpBatch, QpBatch
from .boxed import BoxedLcpResult, solve_affine_vi, solve_boxed_lcp, solve_mixed_lcp
from .decisions import LcpDecision, decide_lcp
from .nearest import NearestResult, nearest_feasible
from .solutions import LcpSolutions, all_solutions
from .errors import BackendUnavailable, CudaError, InvalidInput, SolveError
from .problems import Problems, model, models
from .robots import robot
from .solvers import CoulombResult, LcpResult, LpResult, QpResult, SdpResult
from .solvers import solve_coulomb, solve_lcp, solve_lp, solve_qp, solve_sdp

__version__ = info()["version"]

__all__ = [
    "AnytimeBounds", "BackendUnavailable", "BoxedLcpResult", "CoulombResult", "CudaError", "CudaScope", "InvalidInput", "LcpBatch", "LcpDecision", "LcpResult", "LcpSolutions", "LpBatch", "LpResult", "NearestResult", "Problems",
    "QpBatch", "QpMethod", "QpResult", "RowType", "SdpResult", "Smoothness", "SolveError", "Status", "TrajectoryStatus",
    "Validation", "Workspace", "all_solutions", "check", "compliant", "data", "dataset", "decide_lcp", "equilibrium", "exam", "from_mujoco", "from_pinocchio", "impact",
    "info", "load", "model", "models", "motion", "nearest_feasible", "robot", "robots", "set_log", "solve_affine_vi", "solve_boxed_lcp",
    "solve_coulomb", "solve_lcp", "solve_lp", "solve_mixed_lcp", "solve_qp", "solve_sdp",
    "stability", "validate",
]  # fmt: skip
