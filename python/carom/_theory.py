"""Single steps of Algorithm 1, and what the theory says of a problem's sampled set."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import from_any, refuse
from ._results import Result, checked, result
from ._settings import in_words, takes_problems, takes_settings
from .problems import given_problems, one_problem, run_settings


@result
class ImpactSteps(Result):
    """One step (75) of n problems: impulse and contact_velocity J v' (n, d m), normals first;
    velocity v' (n, nv); status, pivots, fallback, residual (n)."""

    velocity: np.ndarray


@takes_problems
@takes_settings(_core.step_settings())
def steps(
    *problems: Any, max_impulse: Any = np.inf, backend: str = "auto", workspace: Any = None,
    strict: bool = False, on_error: str = "status", **settings: Any,
) -> ImpactSteps:  # fmt: skip
    """One step of Algorithm 1 from every problem's velocity, with lambda_max given instead of drawn.

    problems: as sample takes them. max_impulse (n, m) or (m) or a number [N s]; infinite gives the
    simultaneous model (31). Errors: InvalidInput for shapes, settings and numbers.
    """
    batch = given_problems(problems, strict)
    batch.validate()
    J = np.concatenate([batch.normal_jacobian, batch.tangent_jacobian], axis=1)
    response = np.linalg.solve(batch.mass_matrix, J.transpose(0, 2, 1))
    delassus = J @ response
    bound = from_any("max_impulse", max_impulse)
    if bound.ndim > 2 or bound.shape[-1:] not in ((), (batch.contacts,)):
        raise refuse("max_impulse", f"of shape {bound.shape}", f"must be (n, {batch.contacts}) or shorter")
    arrays = {
        "delassus": np.ascontiguousarray(0.5 * (delassus + delassus.transpose(0, 2, 1))),
        "contact_velocity": np.einsum("nij,nj->ni", J, batch.velocity),
        "friction": batch.friction,
        "max_impulse": np.ascontiguousarray(np.broadcast_to(bound, batch.friction.shape)),
    }
    answer = _core.solve_steps(
        arrays, len(batch), batch.dimension, batch.contacts, in_words(settings), backend, workspace
    )
    velocity = batch.velocity + np.einsum("nji,ni->nj", response, answer["impulse"])
    return checked(ImpactSteps(**answer, velocity=velocity), on_error)


@result
class Pointedness(Result):
    """pointed: whether the linearised friction cone is (Assumption 2); direction (nv): r of Lemma 6,
    empty where it is not; margin: least r . M^-1 J'lambda over the extreme rays, recomputed."""

    pointed: bool
    direction: np.ndarray
    margin: float

    def _summary(self) -> str:
        return f"pointed, margin {self.margin:.3g}" if self.pointed else "not pointed"


@takes_problems
def pointedness(*problems: Any, friction_directions: int = 4) -> Pointedness:
    """Lemma 6 for one problem, by a linear programme. Errors: InvalidInput."""
    one = one_problem(problems, "pointedness")
    return Pointedness(**_core.pointedness(one.arrays(), *one.sizes()[1:], int(friction_directions)))


@takes_problems
def termination_bound(
    *problems: Any, step_size: float, k: int, friction_directions: int = 4
) -> dict[str, float]:
    """Theorem 8 for one problem: the probability that more than `steps` = c ceil(|v|_M) + k steps of
    h = step_size [N s] are taken is at most `probability`, (78) and (79).

    Errors: InvalidInput where the friction cone is not pointed.
    """
    one = one_problem(problems, "termination_bound")
    return _core.termination_bound(
        one.arrays(), *one.sizes()[1:], float(step_size), int(k), int(friction_directions)
    )


def samples_for_epsilon_net(
    n: int, *, lipschitz: float, step_size: float, epsilon: float, delta: float
) -> float:
    """Lemma 1: so many samples make the image of [0, step_size]^n under a function of that Lipschitz
    constant an epsilon-net with probability 1 - delta."""
    return _core.samples_for_epsilon_net(
        int(n), float(lipschitz), float(step_size), float(epsilon), float(delta)
    )


@takes_problems
@takes_settings(_core.impact_settings(), without=("result_space",))
def check_unique_step(*problems: Any, trajectories: int = 256, **settings: Any) -> dict[str, Any]:
    """How often the step (75) has several v' along trajectories of one problem (Assumption 6):
    steps, nonunique, most_outcomes, and of the first found velocity, max_impulse and outcomes.
    Errors: InvalidInput."""
    one = one_problem(problems, "check_unique_step")
    return _core.check_unique_step(
        one.arrays(), *one.sizes()[1:], run_settings(settings), int(trajectories)
    )


@takes_problems
def decide_unique_step(*problems: Any) -> dict[str, Any]:
    """Whether every step (75) of a planar problem of up to two contacts has one v', for all velocities
    and all lambda_max (Assumption 6): decided, unique, pairs of contact modes compared, difference left
    by the linear programmes; where not unique velocity (nv,) [m/s], max_impulse (m,) [N s] and outcomes
    (k, nv) of a step with several. Errors: InvalidInput for other problems."""
    one = one_problem(problems, "decide_unique_step")
    return _core.decide_unique_step(one.arrays(), *one.sizes()[1:])
