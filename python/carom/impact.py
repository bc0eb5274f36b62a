"""Simultaneous inelastic frictional impacts: sets of post-impact velocities, sampled (Halm and
Posa, "Set-Valued Rigid-Body Dynamics for Simultaneous, Inelastic, Frictional Impacts")."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from . import _core
from ._arrays import from_any, refuse
from ._bounces import ImpactOutcome, bounce
from ._identify import Identification, identify
from ._judge import ImpactFloor, Judgement, Measured, floor, judge, read_measured
from ._results import EnclosureStatus, ImpactAnswer, JudgeVerdict, Result, result
from ._sampling import EpsilonNet, ImpactPaths, ImpactResult, ImpactSamples, mode_words, sample, with_intervals
from ._settings import takes_problems, takes_settings
from ._state_runs import ImpactRuns
from ._theory import (
    ImpactSteps, Pointedness, check_unique_step, decide_unique_step, pointedness, samples_for_epsilon_net, steps,
    termination_bound,
)  # fmt: skip
from .errors import InvalidInput
from .problems import Model, Problems, given_problems, letters, model, models, one_problem

__all__ = [
    "EnclosureStatus", "EpsilonNet", "ImpactAnswer", "ImpactDecision", "ImpactEnclosure", "Identification", "ImpactFloor", "ImpactOutcome", "ImpactPaths",
    "ImpactResult", "ImpactRuns", "ImpactSamples", "ImpactSteps", "JudgeVerdict", "Judgement", "Measured", "Model", "Pointedness", "Problems", "bounce", "check_unique_step", "decide", "decide_unique_step", "enclose", "floor", "identify", "judge",
    "mode_words", "model", "models", "newton", "one_simultaneous", "pointedness", "proven", "read_measured", "sample",
    "samples_for_epsilon_net", "sequential", "simultaneous", "step_outcomes", "steps",
    "termination_bound",
]  # fmt: skip


@result
class ImpactEnclosure(Result):
    """A set that contains all outcomes of an impact, with a proof.

    normal_velocity_min, _max (m,) and tangent_velocity_min, _max ((d - 1) m,): bounds of J v+ [m/s]. modes: the possible
    combinations of contact modes, each with vertices (k, 2 m) and constraints a . u <= b (c, 2 m + 1); all others are in
    impossible_modes. Spatial problems, more than four contacts, and most problems with restitution (by `law`) have
    only bounds. invariant: the proof in integers, as text. The status "budget" claims nothing."""

    problem: Problems
    status: int
    law: str
    exact: bool
    rounding: float
    data_rounding: float
    made: int
    faces: int
    seconds: float
    normal_velocity_min: np.ndarray
    normal_velocity_max: np.ndarray
    tangent_velocity_min: np.ndarray
    tangent_velocity_max: np.ndarray
    modes: np.ndarray
    vertices: tuple[np.ndarray, ...]
    constraints: tuple[np.ndarray, ...]
    impossible_modes: np.ndarray
    invariant: str

    def reason(self) -> str:
        """Why the status is invalid_input: the first number of the problem that is refused. Empty for every other status."""
        if self.status == EnclosureStatus.invalid_input:
            try:
                self.problem.validate()
            except InvalidInput as error:
                return str(error).replace(f" of problem {error.problem}", "", 1)  # there is only one
        return ""

    def proves(self) -> bool:
        """Checks the invariant again, from only the problem, in exact arithmetic."""
        given = self.to_dict()
        del given["problem"]
        return _core.proves_enclosure(self.problem.arrays(), *self.problem.sizes()[1:], given)

    def filled(self, run: ImpactResult, i: int = 0) -> float:
        """Coverage: which share of the proven ranges the samples of problem i of a run reach.

        The smallest share over the contact velocities; 1 if the samples reach all bounds; NaN if no sample ended or
        the status claims nothing. Errors: InvalidInput for a run with other contacts."""
        if self.status not in (EnclosureStatus.enclosed, EnclosureStatus.outer):
            return math.nan
        summary = run.summary[i]
        if summary["terminated"] == 0:
            return math.nan
        low, high = (np.concatenate([summary[f"normal_velocity_{end}"], summary[f"tangent_velocity_{end}"]])
                     for end in ("min", "max"))  # fmt: skip
        given = self.to_dict()
        del given["problem"]
        return float(_core.filled_share(given, low, high))

    def plot(self, ax: Any = None) -> Any:
        """The bounds, and the outcomes of each combination of contact modes, in the first two contacts'
        normal velocities. Needs matplotlib. Errors: InvalidInput if nothing is enclosed."""
        from ._plots import plot_enclosure

        if self.status not in (EnclosureStatus.enclosed, EnclosureStatus.outer):
            raise refuse("status", EnclosureStatus(self.status).name, "must be enclosed or outer to be drawn")
        return plot_enclosure(self, ax)

    def never(self, event: str) -> bool:
        """Whether it is proven that an event never happens: "A separating, B sticking" or "B normal > 0.1"; in space
        also "A sliding" or "A tangent1 > 0.1". Contacts have the problem's names, or A, B, ... Errors: InvalidInput."""
        given = self.to_dict()
        del given["problem"]
        return _core.never_happens(given, event, _contacts(self.problem), self.problem.dimension)

    def mode_names(self) -> list[str]:
        """The possible combinations of contact modes."""
        return [mode_words(mode, self.problem.contacts, 2) for mode in self.modes]

    def _summary(self) -> str:
        word = EnclosureStatus(self.status).name
        if self.status == EnclosureStatus.invalid_input:
            return f"{word}; {self.reason()}"
        return f"{word}, {len(self.modes)} possible modes, {len(self.impossible_modes)} impossible"


@result
class ImpactDecision(Result):
    """Whether an event never happens. answer, an ImpactAnswer: "never", with an enclosure without the event as
    proof; "happens"; or "open". made: number of polyhedra computed."""

    problem: Problems
    answer: int
    made: int
    seconds: float
    proof: ImpactEnclosure | None

    def _summary(self) -> str:
        return f"{ImpactAnswer(self.answer).name}, {self.made} polyhedra"


@takes_problems
@takes_settings(_core.enclosure_settings())
def enclose(
    *problems: Any, strict: bool = False, restitution: Any = None, friction: Any = None,
    **settings: Any,
) -> list[ImpactEnclosure]:  # fmt: skip
    """Encloses all outcomes of impacts, with proofs (docs/explanation/enclosure.md).

    Planar inelastic impacts of up to four contacts: polyhedra, in exact arithmetic. One or two planar contacts with the
    law "poisson" or "newton": polyhedra, unless contacts drive each other back. All others: bounds of contact
    velocities. A bad problem has the status invalid_input.

    problems, restitution, friction: as in sample. Errors: InvalidInput for settings and shapes.
    """
    batch = with_intervals(given_problems(problems, strict), restitution, friction)
    found = _core.enclose_impacts(batch.arrays(), *batch.sizes(), settings)
    return [ImpactEnclosure(problem=batch[i], **each) for i, each in enumerate(found)]


@takes_problems
def proven(
    *problems: Any, invariant: str, outer: bool = False, law: str = "stronge"
) -> ImpactEnclosure:
    """The enclosure that the text of an invariant proves for a problem.

    Bounds, modes, vertices and constraints are computed from the text in exact arithmetic. The status is "budget" if it
    proves nothing. outer: whether the text comes from an enclosure with status "outer". law: its law of restitution.

    problems: one problem, as in sample. Errors: InvalidInput.
    """
    batch = one_problem(problems, "proven")
    found = _core.proven_enclosure(batch.arrays(), *batch.sizes()[1:], invariant, bool(outer), law)
    return ImpactEnclosure(problem=batch, **found)


def _contacts(problem: Problems) -> list[str]:
    return list(problem.contact_names or letters(problem.contacts))


@takes_problems
@takes_settings(_core.enclosure_settings())
def decide(
    *problems: Any, event: str, strict: bool = False, restitution: Any = None,
    friction: Any = None, **settings: Any,
) -> list[ImpactDecision]:  # fmt: skip
    """Decides for every problem whether an event can happen.

    event: such as "A separating, B sticking" or "B normal > 0.1"; contacts have the problems' names, or A, B, ... The
    search stops at the first polyhedron of reached velocities that contains the event ("happens"), or at an
    enclosure without it ("never").

    problems, restitution, friction, settings: as in enclose. Errors: InvalidInput, also for an event that cannot be
    parsed.
    """
    batch = with_intervals(given_problems(problems, strict), restitution, friction)
    found = _core.decide_impacts(batch.arrays(), *batch.sizes(), event, _contacts(batch), settings)
    decisions = []
    for i, each in enumerate(found):
        proof = each.pop("proof")
        if proof is not None:
            proof = ImpactEnclosure(problem=batch[i], **proof)
        decisions.append(ImpactDecision(problem=batch[i], proof=proof, **each))
    return decisions


@takes_problems
@takes_settings(_core.impact_model_settings())
def simultaneous(*problems: Any, **settings: Any) -> list[ImpactOutcome]:
    """All distinct outcomes of the simultaneous inelastic model (31), in order of kinetic energy.

    problems: one problem, as in sample. Errors: InvalidInput, also if there are more than max_combinations
    combinations of contact modes.
    """
    batch = one_problem(problems, "simultaneous")
    batch.validate()
    found = _core.simultaneous_impacts(batch.arrays(), *batch.sizes()[1:], settings)
    return [ImpactOutcome(**outcome) for outcome in found]


@takes_problems
@takes_settings(_core.impact_model_settings())
def one_simultaneous(*problems: Any, **settings: Any) -> ImpactOutcome:
    """One outcome of the simultaneous model (31), by Lemke's method. Errors: InvalidInput."""
    batch = one_problem(problems, "one_simultaneous")
    batch.validate()
    return ImpactOutcome(**_core.simultaneous_impact(batch.arrays(), *batch.sizes()[1:], settings))


@takes_problems
@takes_settings(_core.impact_model_settings())
def step_outcomes(*problems: Any, max_impulse: Any, **settings: Any) -> list[ImpactOutcome]:
    """All distinct v' of one step (75) from the problem's velocity, in order of kinetic energy. max_impulse:
    lambda_max (m,) [N s], infinite for no bound. Errors: InvalidInput as in simultaneous."""
    batch = one_problem(problems, "step_outcomes")
    batch.validate()
    bound = np.ascontiguousarray(np.broadcast_to(from_any("max_impulse", max_impulse), batch.contacts))
    found = _core.step_outcomes(batch.arrays(), *batch.sizes()[1:], bound, settings)
    return [ImpactOutcome(**outcome) for outcome in found]


@takes_problems
@takes_settings(_core.impact_model_settings())
def sequential(
    *problems: Any, orders: Any = "all", **settings: Any
) -> list[ImpactOutcome]:
    """The sequential model: single impacts in cyclic order until no contact approaches (section 2.2.2).

    orders: "all" permutations of the contacts, or a list such as [(0, 1)]. Returns an outcome for each order.
    Errors: InvalidInput, also for "all" with more than six contacts.
    """
    batch = one_problem(problems, "sequential")
    batch.validate()
    if isinstance(orders, str):
        if orders != "all":
            raise refuse("orders", repr(orders), "must be 'all' or a list of orders")
        if batch.contacts > 6:
            raise refuse("orders", f"'all' of {batch.contacts} contacts", "give a list beyond 6")
        orders = itertools.permutations(range(batch.contacts))
    found = []
    for order in orders:
        wanted = [int(contact) for contact in order]
        if sorted(set(wanted)) != sorted(wanted) or not set(wanted) <= set(range(batch.contacts)):
            raise refuse("orders", str(tuple(wanted)), f"must name contacts 0..{batch.contacts - 1}")
        arrays = batch.arrays()
        found.append(
            ImpactOutcome(**_core.sequential_impact(arrays, *batch.sizes()[1:], wanted, settings))
        )
    return found


@takes_problems
@takes_settings(_core.impact_model_settings())
def newton(*problems: Any, contact: int = 0, restitution: float = 0.0, **settings: Any) -> ImpactOutcome:
    """A planar impact at one contact with Newton's coefficient of restitution in [0, 1], in closed form."""
    batch = one_problem(problems, "newton")
    batch.validate()
    answer = _core.newton_impact(
        batch.arrays(), *batch.sizes()[1:], int(contact), float(restitution), settings
    )
    return ImpactOutcome(**answer)
