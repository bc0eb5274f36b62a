"""Single outcomes of impacts, by models other than the sampled set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import from_any, refuse
from ._results import Result, result
from ._settings import takes_problems, takes_settings
from .problems import one_problem

MODELS = ("sequential", "poisson", "newton", "reflection", "springs")


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


@takes_problems
@takes_settings(_core.impact_model_settings())
def bounce(
    *problems: Any, model: str = "sequential", order: Sequence[int] | None = None, restitution: Any = None, friction: Any = None,
    stiffness: Any = 1.0, exponent: float = 1.5, gaps: Any = None, step: float = 0.002, **settings: Any,
) -> Any:  # fmt: skip
    """One outcome of an impact with restitution: an ImpactOutcome, to compare with the sampled set.

    problems: one problem, as sample takes it; restitution, friction: as in sample, of intervals the middles.
    model: "sequential", single impacts by Stronge's law, each to its full bounce, in cyclic `order`;
    rounds at all contacts until nothing approaches, "poisson" (compression by (31), then e times its
    impulses), "newton" (Moreau) or "reflection" (Smith et al.); or "springs" (Liu, Zhao and Brogliato) with
    stiffness (m) of force k x^exponent, in steps of `step` of the impulse that stops a contact, and gaps (m)
    [m] before the impact or None, by which springs know which contact is next. Errors: InvalidInput.
    """
    if model not in MODELS:
        raise refuse("model", repr(model), f"must be one of {', '.join(MODELS)}")
    batch = one_problem(problems, "bounce")
    if restitution is not None or friction is not None:
        batch = batch.with_intervals(restitution, friction)
    batch.validate()
    per_contact = np.ascontiguousarray(np.broadcast_to(from_any("stiffness", stiffness), batch.contacts))
    apart = np.empty(0) if gaps is None else np.ascontiguousarray(np.broadcast_to(from_any("gaps", gaps), batch.contacts))
    wanted = [int(i) for i in (range(batch.contacts) if order is None else order)]
    answer = _core.bounce(batch.arrays(), *batch.sizes()[1:], model, wanted, per_contact, float(exponent), apart, float(step), settings)
    return ImpactOutcome(**answer)
