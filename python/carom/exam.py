"""A benchmark for contact solvers: problems whose whole set of solutions is known, and a score for answers.

    python -m carom exam --solver mymodule:solve

A problem is one time step or impact of rigid bodies with friction, without restitution. A solver is a
function that takes a Problem and returns impulses (k, 1 + d), or None if it finds that there are none.
docs/howto/exam.md describes the problems, the law and how answers are judged.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._manifest import opened
from ._optional import needed
from ._results import Status
from ._store import store_of
from .data import Rows
from .errors import InvalidInput
from .solvers import solve_lp

__all__ = ["GROUPS", "Problem", "Score", "Solutions", "first", "load", "problems", "save", "score", "table"]

GROUPS = ("well_posed", "redundant", "jammed", "ambiguous", "space")
MODES = ("open", "stick", "slip+", "slip-")
"""Of a contact in the plane: apart; no slip; u_t >= 0 and u_t <= 0 with friction at its limit."""


@dataclasses.dataclass(frozen=True, eq=False)
class Solutions:
    """All solutions of a planar problem: m polyhedra of impulses, one for each feasible combination of contact modes
    (Problem.polyhedron). m = 0: there is no solution, proven by a Farkas vector for each of the 4^k combinations.

    modes (m, k): indices into MODES. impulse (m, k, 2): a point of each polyhedron, normal and tangential [N s].
    impulse_low, impulse_high, speed_low, speed_high (m, k, 2): its extent in impulses and in contact velocities [m/s],
    infinite if unbounded. component (m,): polyhedra with the same number are connected.
    """

    modes: np.ndarray
    impulse: np.ndarray
    impulse_low: np.ndarray
    impulse_high: np.ndarray
    speed_low: np.ndarray
    speed_high: np.ndarray
    component: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Problem:
    """A problem with k contacts and nv velocities; d = 1 tangential direction in the plane, 2 in space.

    mass_matrix (nv, nv) [kg, kg m, kg m^2]. normal (k, nv), tangent (k, d, nv): rows of the contact Jacobians.
    friction (k,). velocity (nv,): before the contacts act [m/s, rad/s]. approach (k,): speed at which the other side of
    a contact moves towards it [m/s], zero for fixed ones. solutions: all solutions of a planar problem; None in space,
    where `known` (k, 1 + d) is one solution."""

    name: str
    group: str
    mass_matrix: np.ndarray
    normal: np.ndarray
    tangent: np.ndarray
    friction: np.ndarray
    velocity: np.ndarray
    approach: np.ndarray
    solutions: Solutions | None = None
    known: np.ndarray | None = None

    @property
    def contacts(self) -> int:
        return len(self.friction)

    @property
    def components(self) -> int:
        """Number of components of an impulse or a contact velocity: 2 in the plane, 3 in space."""
        return 1 + int(self.tangent.shape[1])

    @property
    def jacobian(self) -> np.ndarray:
        """The contact Jacobian (k (1 + d), nv): the normal row of each contact, then its tangential rows."""
        return np.concatenate([self.normal[:, None], self.tangent], axis=1).reshape(-1, len(self.velocity))

    def delassus(self) -> tuple[np.ndarray, np.ndarray]:
        """W = J M^-1 J' and q with u = W r + q the contact velocities after the impulses r."""
        J = self.jacobian
        q = J @ self.velocity
        q[:: self.components] -= self.approach
        return J @ np.linalg.solve(self.mass_matrix, J.T), q

    def after(self, impulses: Any) -> np.ndarray:
        """The velocity after the impulses r: velocity + M^-1 J' r, (nv,)."""
        found: np.ndarray = self.velocity + np.linalg.solve(
            self.mass_matrix, self.jacobian.T @ np.ravel(impulses)
        )
        return found

    def lcp(self) -> tuple[np.ndarray, np.ndarray]:
        """(M, q) of the LCP of Stewart and Trinkle (1996) in the plane: of each contact the normal impulse, the
        tangential ones along +t and -t, the slip speed. See from_lcp. Errors: InvalidInput in space."""
        if self.components != 2:
            raise InvalidInput("lcp() is of problems in the plane", "tangent")
        W, q = self.delassus()
        k = self.contacts
        spread = np.zeros((2 * k, 4 * k))
        slack = np.zeros((4 * k, 4 * k))
        for i in range(k):
            spread[2 * i, 4 * i], spread[2 * i + 1, 4 * i + 1], spread[2 * i + 1, 4 * i + 2] = 1.0, 1.0, -1.0
            slack[4 * i + 1 : 4 * i + 3, 4 * i + 3] = 1.0
            slack[4 * i + 3, 4 * i : 4 * i + 3] = (self.friction[i], -1.0, -1.0)
        return spread.T @ W @ spread + slack, spread.T @ q

    def from_lcp(self, z: np.ndarray) -> np.ndarray:
        """Impulses (k, 2) of lcp()'s z (4 k)."""
        z = np.reshape(z, (-1, 4))
        return np.stack([z[:, 0], z[:, 1] - z[:, 2]], axis=1)

    def boxed_lcp(self) -> dict[str, np.ndarray]:
        """M, q, lo, hi, findex, mu of carom.solve_boxed_lcp and of dSolveLCP; its z are the impulses. In space
        friction is a box, not a disc."""
        W, q = self.delassus()
        size = self.components
        normal = np.arange(len(q)) % size == 0
        first = np.arange(len(q)) // size * size
        return {
            "M": W, "q": q, "lo": np.where(normal, 0.0, -np.inf), "hi": np.full(len(q), np.inf),
            "findex": np.where(normal, -1, first).astype(np.int32),
            "mu": np.where(normal, 0.0, np.repeat(self.friction, size)),
        }  # fmt: skip

    def cone_program(self) -> dict[str, Any]:
        """P, q, C, b, cones of carom.solve_qp: r'W r / 2 + q'r over the friction cones, the convex law of Anitescu
        (2006) and MuJoCo. It differs from the exam's law for sliding contacts, for which it gives u_n = mu |u_t|."""
        W, q = self.delassus()
        size = self.components
        C = np.zeros((len(q), len(q)))
        C[np.arange(len(q)), np.arange(len(q))] = -1.0
        C[::size] *= self.friction[:, None]
        return {"P": W, "q": q, "C": C, "b": np.zeros(len(q)), "cones": [("soc", size)] * self.contacts}

    def polyhedron(self, modes: Sequence[int]) -> tuple[np.ndarray, ...]:
        """(A, row_lower, row_upper, low, high): of x = (r, velocity after), 2 k + nv numbers, those with these
        modes have row_lower <= A x <= row_upper and low <= x <= high. In the plane."""
        bounds = _mode_bounds(_Stack([self]), np.zeros(1, dtype=int), np.asarray(modes)[None])
        return (_Stack([self]).rows[0], *(array[0] for array in bounds))

    def residual(self, impulses: Any) -> float:
        """The largest violation of the law by any contact, relative to the sizes of that contact's own terms:
        |min(w r_n, u_n)| and |w r_t - project(w r_t - u_t)| onto the disc of radius w mu r_n, divided by
        |q| + |W| |r| of the contact's rows, w the largest diagonal entry of the contact's block of W."""
        W, q = self.delassus()
        size = self.components
        r = np.reshape(np.asarray(impulses, dtype=float), (self.contacts, size))
        u = (W @ r.ravel() + q).reshape(r.shape)
        terms = (np.abs(W) @ np.abs(r).ravel() + np.abs(q)).reshape(r.shape).max(axis=1)
        w = np.diag(W).reshape(r.shape).max(axis=1)
        normal = np.abs(np.minimum(w * r[:, 0], u[:, 0]))
        held = w[:, None] * r[:, 1:] - u[:, 1:]
        limit = w * self.friction * np.maximum(r[:, 0], 0.0)
        length = np.linalg.norm(held, axis=1)
        shrink = np.minimum(1.0, limit / np.where(length > 0.0, length, 1.0))
        tangential = np.linalg.norm(w[:, None] * r[:, 1:] - shrink[:, None] * held, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(terms > 0.0, np.maximum(normal, tangential) / terms, 0.0)
        return float(ratio.max()) if np.isfinite(r).all() else np.inf

    def speed_error(self, impulses: Any) -> float:
        """Distance of the contact velocities from the extent of the nearest polyhedron of solutions, relative to the
        largest contact velocity before; a lower bound of the error. NaN without solutions and in space."""
        if self.solutions is None or len(self.solutions.modes) == 0:
            return float("nan")
        W, q = self.delassus()
        u = (W @ np.ravel(np.asarray(impulses, dtype=float)) + q).reshape(-1, 2)
        out = np.maximum(self.solutions.speed_low - u, u - self.solutions.speed_high)
        return float(np.maximum(out, 0.0).max(axis=(1, 2)).min() / np.abs(q).max())


class _Stack:
    """Of n problems in the plane with one shape, in x = (r, v): rows (n, 4 k + nv, 2 k + nv) of u_n, u_t,
    r_t - mu r_n, r_t + mu r_n of each contact, then of M v - J'r. Unlike J M^-1 J', which rounding makes
    regular, these rows depend on each other only where the contacts do."""

    def __init__(self, batch: Sequence[Problem]) -> None:
        self.jacobian = np.stack([problem.jacobian for problem in batch])
        n, size, nv = self.jacobian.shape
        k = size // 2
        friction = np.stack([problem.friction for problem in batch])
        mass = np.stack([problem.mass_matrix for problem in batch])
        contact = np.zeros((n, k, 4, size + nv))
        contact[:, :, :2, size:] = self.jacobian.reshape(n, k, 2, nv)
        for i in range(k):
            contact[:, i, 2, 2 * i], contact[:, i, 3, 2 * i] = -friction[:, i], friction[:, i]
            contact[:, i, 2:, 2 * i + 1] = 1.0
        balance = np.concatenate([-self.jacobian.transpose(0, 2, 1), mass], axis=2)
        self.rows = np.concatenate([contact.reshape(n, 4 * k, size + nv), balance], axis=1)
        self.momentum = np.einsum("nij,nj->ni", mass, np.stack([problem.velocity for problem in batch]))
        self.approach = np.stack([problem.approach for problem in batch])


def _mode_bounds(stack: _Stack, problem: np.ndarray, modes: np.ndarray) -> tuple[np.ndarray, ...]:
    """Bounds of the stack's rows and of x for choices of modes (c, k) of the problems (c)."""
    c, k = modes.shape
    nv = stack.momentum.shape[1]
    low = np.full((c, k, 4), -np.inf)
    high = np.full((c, k, 4), np.inf)
    is_open, stick, forward, back = (modes == mode for mode in range(4))
    low[:, :, 0] = stack.approach[problem]
    high[:, :, 0] = np.where(is_open, np.inf, low[:, :, 0])
    low[:, :, 1] = np.where(stick | forward, 0.0, -np.inf)
    high[:, :, 1] = np.where(stick | back, 0.0, np.inf)
    high[:, :, 2] = np.where(is_open, np.inf, 0.0)
    low[:, :, 2] = np.where(back, 0.0, -np.inf)
    low[:, :, 3] = np.where(is_open, -np.inf, 0.0)
    high[:, :, 3] = np.where(forward, 0.0, np.inf)
    least, most = np.zeros((c, k, 2)), np.full((c, k, 2), np.inf)
    least[:, :, 1] = np.where(is_open, 0.0, -np.inf)
    most[is_open] = 0.0
    free = np.full((c, nv), np.inf)
    momentum = stack.momentum[problem]
    return (
        np.concatenate([low.reshape(c, -1), momentum], axis=1),
        np.concatenate([high.reshape(c, -1), momentum], axis=1),
        np.concatenate([least.reshape(c, -1), -free], axis=1),
        np.concatenate([most.reshape(c, -1), free], axis=1),
    )


def _faces(modes: np.ndarray, low: np.ndarray, high: np.ndarray, size: float) -> np.ndarray:
    """(m): polyhedra that are faces of others of the list. Where a contact slips at speed 0 it sticks, where
    it is open without speed it slips or sticks. low, high (m, k, 2): extents of the contact velocities, size:
    of the velocities before."""
    tiny = 1e-9 * size
    there = {tuple(row) for row in modes}
    still = (np.abs(low) <= tiny) & (np.abs(high) <= tiny)
    face = np.zeros(len(modes), dtype=bool)
    for m, row in enumerate(modes):
        for i, mode in enumerate(row):
            if mode == 0 and still[m, i, 0]:
                wider = 1 if still[m, i, 1] else 2 if low[m, i, 1] >= -tiny else 3 if high[m, i, 1] <= tiny else 0
            else:
                wider = 1 if mode > 1 and still[m, i, 1] else mode
            if wider != mode and (*row[:i], wider, *row[i + 1 :]) in there:
                face[m] = True
    return face


def _connected(count: int, pairs: Iterable[tuple[int, int]]) -> np.ndarray:
    label = np.arange(count)
    for a, b in pairs:
        label[label == label[b]] = label[a]
    return np.unique(label, return_inverse=True)[1]


def solutions(batch: Sequence[Problem]) -> list[Solutions | None]:
    """Of problems in the plane of one shape, k <= 4 contacts: 4^k linear programs each. None where
    one of them has neither a certified answer nor a proof that it has none."""
    k = batch[0].contacts
    stack = _Stack(batch)
    choices = np.array(list(itertools.product(range(4), repeat=k)))
    every = np.repeat(np.arange(len(batch)), len(choices))
    modes = np.tile(choices, (len(batch), 1))
    bounds = _mode_bounds(stack, every, modes)
    nothing = np.zeros(stack.rows.shape[2])
    found = solve_lp(nothing, stack.rows[every], *bounds)
    complete = np.ones(len(batch), dtype=bool)
    np.logical_and.at(complete, every, found.verify()[:, 0])
    feasible = np.flatnonzero((found.status[:, 0] == Status.solved) & complete[every])
    low = high = np.zeros((0, 2, k, 2))
    made: list[Solutions | None] = []
    if len(feasible):  # the extent of every impulse and velocity
        kept = every[feasible]
        ahead = np.zeros((len(kept), 4 * k, len(nothing)))
        ahead[:, : 2 * k, : 2 * k] = np.eye(2 * k)
        ahead[:, 2 * k :, 2 * k :] = stack.jacobian[kept]
        limits = tuple(array[feasible] for array in bounds)
        ends = solve_lp(np.concatenate([ahead, -ahead], axis=1), stack.rows[kept], *limits)
        sound = ((ends.status == Status.solved) | (ends.status == Status.unbounded)) & ends.verify()
        np.logical_and.at(complete, kept, sound.all(axis=1))
        value = np.where(ends.status == Status.solved, ends.objective, -np.inf)
        low, high = value[:, : 4 * k].reshape(-1, 2, k, 2), -value[:, 4 * k :].reshape(-1, 2, k, 2)
        low[:, 1, :, 0] -= stack.approach[kept]
        high[:, 1, :, 0] -= stack.approach[kept]
    for p in range(len(batch)):
        own = feasible[every[feasible] == p]
        at = np.searchsorted(feasible, own)
        before = float(np.abs(batch[p].delassus()[1]).max())
        own = own[~_faces(modes[own], low[at, 1], high[at, 1], before)]
        at = np.searchsorted(feasible, own)
        if not complete[p]:
            made.append(None)
            continue
        if not len(own):
            none = np.zeros((0, k, 2))
            made.append(Solutions(modes[own], none, none, none, none, none, np.zeros(0, dtype=int)))
            continue
        pairs = np.array(list(itertools.combinations(range(len(own)), 2))).reshape(-1, 2)
        joined = []
        if len(pairs):  # two polyhedra are connected where both systems hold at once
            one, two = own[pairs[:, 0]], own[pairs[:, 1]]
            both = [
                pick(bound[one], bound[two])
                for bound, pick in zip(bounds, (np.maximum, np.minimum, np.maximum, np.minimum))
            ]
            crossed = (both[0] > both[1]).any(axis=1) | (both[2] > both[3]).any(axis=1)
            rest = np.flatnonzero(~crossed)
            if len(rest):
                common = solve_lp(nothing, stack.rows[p], *(bound[rest] for bound in both))
                joined = [tuple(pair) for pair in pairs[rest[common.status[:, 0] == Status.solved]]]
        made.append(Solutions(
            modes[own], found.solution[own, 0, : 2 * k].reshape(-1, k, 2), low[at, 0], high[at, 0], low[at, 1], high[at, 1],
            _connected(len(own), joined),
        ))  # fmt: skip
    return made


# --- the problems


class _Scene:
    """Bodies in the plane or in space, and contacts between two of them or one of them and the ground."""

    def __init__(self, rng: np.random.Generator, bodies: int, space: bool) -> None:
        self.rng, self.space = rng, space
        self.each = 6 if space else 3
        self.mass_matrix = np.zeros((bodies * self.each, bodies * self.each))
        for b in range(bodies):
            mass = 10.0 ** rng.uniform(-0.5, 0.7)
            radius = 10.0 ** rng.uniform(-1.2, -0.3)
            inertia = mass * radius**2 * rng.uniform(0.5, 1.5, self.each - (3 if space else 2))
            at = slice(b * self.each, (b + 1) * self.each)
            self.mass_matrix[at, at] = np.diag([mass] * (3 if space else 2) + list(inertia))
        self.normal: list[np.ndarray] = []
        self.tangent: list[np.ndarray] = []

    def _row(self, body: int, other: int | None, arm: np.ndarray, direction: np.ndarray) -> np.ndarray:
        row = np.zeros(len(self.mass_matrix))
        for b, sign in ((body, 1.0), (other, -1.0)):
            if b is None:
                continue
            turn = np.cross(arm, direction) if self.space else arm[:1] * direction[1:] - arm[1:] * direction[:1]
            row[b * self.each : (b + 1) * self.each] = sign * np.concatenate([direction, np.atleast_1d(turn)])
            arm = -arm  # the other body's centre is on the other side
        return row

    def contact(self, body: int, arm: Any, normal: Any, other: int | None = None) -> None:
        """arm: from the body's centre to the contact [m]; normal: a unit vector into the body."""
        arm, normal = np.asarray(arm, dtype=float), np.asarray(normal, dtype=float)
        if self.space:
            first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
            first /= np.linalg.norm(first)
            tangents = [first, np.cross(normal, first)]
        else:
            tangents = [np.array([normal[1], -normal[0]])]
        self.normal.append(self._row(body, other, arm, normal))
        self.tangent.append(np.stack([self._row(body, other, arm, t) for t in tangents]))

    def direction(self) -> np.ndarray:
        vector = self.rng.standard_normal(3 if self.space else 2)
        return np.asarray(vector / np.linalg.norm(vector))

    def problem(self, name: str, group: str, friction: np.ndarray, velocity: np.ndarray, approach: Any = 0.0) -> Problem:
        return Problem(
            name, group, self.mass_matrix, np.stack(self.normal), np.stack(self.tangent), friction, velocity,
            np.broadcast_to(np.asarray(approach, dtype=float), (len(self.normal),)).copy(),
        )  # fmt: skip


def _falling(rng: np.random.Generator, scene: _Scene) -> np.ndarray:
    """A velocity at which the contacts approach on the whole."""
    return np.asarray(
        10.0 ** rng.uniform(-2, 1) * (0.7 * rng.standard_normal(len(scene.mass_matrix)) - np.sum(scene.normal, axis=0))
    )


def _well_posed(rng: np.random.Generator, k: int) -> tuple[Any, ...]:
    scene = _Scene(rng, k, space=False)
    for body in range(k):  # a chain of bodies on the ground, a contact each
        scene.contact(body, rng.uniform(-0.5, 0.5, 2), scene.direction(), other=body - 1 if body else None)
    return scene, rng.uniform(0.05, 0.3, k), _falling(rng, scene), 0.0


def _redundant(rng: np.random.Generator, k: int) -> tuple[Any, ...]:
    """A box on three points of its lower edge, or on two, with another one on top."""
    wide, high = rng.uniform(0.1, 1.0, 2)
    stacked = k == 4
    scene = _Scene(rng, 2 if stacked else 1, space=False)
    up = (0.0, 1.0)
    for x in (-wide, wide) if stacked else np.linspace(-wide, wide, k):
        scene.contact(0, (x, -high), up)
    for x in (-0.8 * wide, 0.8 * wide) if stacked else ():
        scene.contact(1, (x, -high), up, other=0)
    velocity = rng.standard_normal(len(scene.mass_matrix)) * 10.0 ** rng.uniform(-2, 0)
    velocity[1::3] = -np.abs(velocity[1::3])  # downwards
    velocity[2::3] *= 0.3
    return scene, np.full(k, rng.uniform(0.2, 1.0)), velocity, 0.0


def _jammed(rng: np.random.Generator, k: int) -> tuple[Any, ...]:
    """A body between walls: they come closer, or it is wedged by impulses that its friction can hold."""
    scene = _Scene(rng, 1, space=False)
    angle = rng.uniform(0.0, 2.0 * np.pi)
    for i in range(k):
        turn = angle + (i % 2) * np.pi + rng.uniform(-0.6, 0.6)
        normal = np.array([np.cos(turn), np.sin(turn)])
        arm = -rng.uniform(0.1, 0.5) * normal + rng.uniform(-0.2, 0.2) * normal[::-1]
        scene.contact(0, arm, normal)
    friction = rng.uniform(0.2, 1.5, k)
    if rng.random() < 0.5:
        approach = np.where(rng.random(k) < 0.5, 0.0, 10.0 ** rng.uniform(-2, 0, k))
        return scene, friction, rng.standard_normal(3) * 10.0 ** rng.uniform(-2, 0), approach
    pushed = 10.0 ** rng.uniform(-2, 1, k)
    impulse = np.stack([pushed, rng.uniform(-1, 1, k) * friction * pushed], axis=1)
    at_rest = scene.problem("", "jammed", friction, np.zeros(3))
    return scene, friction, at_rest.after(-impulse), 0.0


def _ambiguous(rng: np.random.Generator, k: int) -> tuple[Any, ...]:
    scene = _Scene(rng, max(1, k - 1), space=False)
    for i in range(k):
        body = min(i, k - 2) if k > 1 else 0
        scene.contact(body, rng.uniform(-0.5, 0.5, 2), scene.direction(), other=body - 1 if body else None)
    return scene, rng.uniform(0.5, 3.0, k), _falling(rng, scene) * rng.choice([-1.0, 1.0]), 0.0


def _planted(rng: np.random.Generator, name: str) -> Problem:
    """In space: the velocity before is chosen so that drawn impulses solve the problem."""
    k = int(rng.integers(1, 5))
    scene = _Scene(rng, int(rng.integers(1, k + 1)), space=True)
    for i in range(k):
        body = i % (len(scene.mass_matrix) // 6)
        scene.contact(body, rng.uniform(-0.5, 0.5, 3), scene.direction(), other=body - 1 if body and i % 2 else None)
    after = 10.0 ** rng.uniform(-2, 0) * rng.standard_normal(len(scene.mass_matrix))
    problem = scene.problem(name, "space", rng.uniform(0.1, 0.9, k), after)
    mode = rng.integers(0, 3, k)  # open, stick, slip
    J = problem.jacobian
    sticking = J[np.repeat(mode == 1, 3)]
    after -= np.linalg.pinv(sticking) @ (sticking @ after)
    u = (J @ after).reshape(k, 3)
    slip = np.linalg.norm(u[:, 1:], axis=1)
    mode[(mode == 2) & (slip < 1e-9)] = 1  # held by its neighbours
    pushed = np.where(mode > 0, 10.0 ** rng.uniform(-2, 1, k), 0.0)
    angle = rng.uniform(0.0, 2.0 * np.pi, k)
    way = np.stack([np.cos(angle), np.sin(angle)], axis=1) * rng.uniform(0.0, 0.95, k)[:, None]
    way[mode == 2] = -u[mode == 2, 1:] / slip[mode == 2, None]
    impulse = np.concatenate([pushed[:, None], (problem.friction * pushed)[:, None] * way], axis=1)
    # The other side moves so that closed contacts have no normal speed and open ones separate.
    approach = u[:, 0] - np.where(mode == 0, 10.0 ** rng.uniform(-2, 0, k), 0.0)
    before = dataclasses.replace(problem, velocity=after).after(-impulse)
    return dataclasses.replace(problem, velocity=before, approach=approach, known=impulse)


def _single(found: Solutions) -> bool:
    """One outcome: connected, with one velocity."""
    if len(found.modes) == 0 or found.component.max() > 0:
        return False
    low, high = found.speed_low.min(axis=0), found.speed_high.max(axis=0)
    return bool(np.all(high - low <= 1e-9 * (np.abs(low).max() + np.abs(found.impulse).max())))


def _spread(found: Solutions) -> bool:
    wide = found.impulse_high.max(axis=0) - found.impulse_low.min(axis=0)
    return bool(wide.max() > 1e-6)


_WANTED: dict[str, tuple[Callable[..., Any], tuple[int, ...], Callable[[Solutions], bool]]] = {
    "well_posed": (_well_posed, (1, 2, 3, 4), lambda s: _single(s) and not _spread(s)),
    "redundant": (_redundant, (3, 4), lambda s: _single(s) and _spread(s)),
    "jammed": (_jammed, (2, 3, 4), lambda s: len(s.modes) == 0 or not np.isfinite(s.impulse_high).all()),
    "ambiguous": (_ambiguous, (1, 2, 3), lambda s: len(s.modes) > 0 and s.component.max() > 0),
}


def _check(groups: Sequence[str], count: int) -> None:
    for group in groups:
        if group not in GROUPS:
            raise InvalidInput(f"groups: {group}: must be one of {', '.join(GROUPS)}", "groups", value=str(group))
    if count < 1:
        raise InvalidInput(f"count is {count}: must be at least 1", "count", value=str(count))


def first(given: Sequence[Problem], count: int, groups: Sequence[str] = GROUPS) -> list[Problem]:
    """The first count problems of each group, in the groups' order. Errors: as problems."""
    _check(groups, count)
    return [problem for group in groups for problem in [p for p in given if p.group == group][:count]]


def problems(count: int = 2000, seed: int | Sequence[int] = 1, groups: Sequence[str] = GROUPS, progress: Any = None) -> list[Problem]:
    """count problems of each group, the same for the same seed.

    well_posed: one solution. redundant: one velocity, many impulses. jammed: no solution, or impulses
    without bound. ambiguous: solutions that are not connected. space: true friction cones, one solution known.
    progress(done, total). Errors: InvalidInput for the name of a group and a count below 1."""
    _check(groups, count)
    made: list[Problem] = []
    for group in groups:
        rng = np.random.default_rng([*([seed] if isinstance(seed, int) else seed), GROUPS.index(group)])
        before = len(made)
        if group == "space":
            made += [_planted(rng, f"space_{i}") for i in range(count)]
        else:
            draw, sizes, wanted = _WANTED[group]
            left = {k: count // len(sizes) + (j < count % len(sizes)) for j, k in enumerate(sizes)}
            for k in sizes:
                while left[k] > 0:
                    drawn = []
                    for _ in range(max(8, 4096 // 4**k)):
                        scene, friction, velocity, approach = draw(rng, k)
                        drawn.append(scene.problem("", group, friction, velocity, approach))
                    for problem, found in zip(drawn, solutions(drawn)):
                        if found is not None and left[k] > 0 and wanted(found):
                            name = f"{group}_{len(made) - before}"
                            made.append(dataclasses.replace(problem, name=name, solutions=found))
                            left[k] -= 1
                    if progress:
                        progress(len(made), count * len(groups))
        if progress:
            progress(len(made), count * len(groups))
    return made


# --- the judge


@dataclasses.dataclass(frozen=True)
class Score:
    """Of one group. right: impulses that obey the law, or None where there are none; wrong: impulses that
    break it; denied: None where there are solutions; invented: impulses where there are none; failed: an
    exception, or numbers that are not finite. residual, speed_error: medians and 95th percentiles of the impulses returned
    where there are solutions; seconds: in the solver's calls, per problem, median."""

    group: str
    problems: int
    right: int
    wrong: int
    denied: int
    invented: int
    failed: int
    residual: tuple[float, float]
    speed_error: tuple[float, float]
    seconds: float


def score(
    solve: Callable[[Problem], Any], exam: Sequence[Problem], tolerance: float = 1e-6, progress: Any = None
) -> list[Score]:
    """One Score a group, in the exam's order. tolerance: of Problem.residual. A solver that raises loses
    that problem only. progress(done, total)."""
    counts: dict[str, dict[str, int]] = {}
    numbers: dict[str, list[tuple[float, float, float]]] = {}
    for done, problem in enumerate(exam):
        if progress:
            progress(done, len(exam))
        count = counts.setdefault(problem.group, dict.fromkeys(("right", "wrong", "denied", "invented", "failed"), 0))
        rows = numbers.setdefault(problem.group, [])
        empty = problem.solutions is not None and len(problem.solutions.modes) == 0
        begun = time.perf_counter()
        try:
            answer = solve(problem)
            taken = time.perf_counter() - begun
            if answer is not None:
                answer = np.asarray(answer, dtype=float).reshape(problem.contacts, -1)
                if answer.shape[1] != problem.components or not np.isfinite(answer).all():
                    raise ValueError("no impulses")
        except Exception:
            count["failed"] += 1
            rows.append((np.nan, np.nan, time.perf_counter() - begun))
            continue
        if answer is None:
            count["right" if empty else "denied"] += 1
            rows.append((np.nan, np.nan, taken))
        elif empty:
            count["invented"] += 1
            rows.append((np.nan, np.nan, taken))
        else:
            residual = problem.residual(answer)
            count["right" if residual <= tolerance else "wrong"] += 1
            rows.append((residual, problem.speed_error(answer), taken))

    def ends(values: np.ndarray) -> tuple[float, float]:
        values = values[~np.isnan(values)]
        return (float(np.median(values)), float(np.quantile(values, 0.95))) if len(values) else (np.nan, np.nan)

    if progress and exam:
        progress(len(exam), len(exam))
    made = []
    for group, count in counts.items():
        row = np.array(numbers[group])
        made.append(
            Score(group, len(row), **count, residual=ends(row[:, 0]), speed_error=ends(row[:, 1]),
                  seconds=float(np.median(row[:, 2])))
        )  # fmt: skip
    return made


def table(scores: dict[str, list[Score]]) -> str:
    """Of several solvers by name, as Markdown."""

    def pair(values: tuple[float, float]) -> str:
        return "" if np.isnan(values[0]) else f"{values[0]:.1e}, {values[1]:.1e}"

    lines = [
        "| solver | group | problems | right | wrong | denied | invented | failed | residual: median, 95 % | speed error: median, 95 % | us |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, rows in scores.items():
        for s in rows:
            lines.append(
                f"| {name} | {s.group} | {s.problems} | {100.0 * s.right / s.problems:.1f} % | {s.wrong} | {s.denied} "
                f"| {s.invented} | {s.failed} | {pair(s.residual)} | {pair(s.speed_error)} | {1e6 * s.seconds:.0f} |"
            )
    return "\n".join(lines)


# --- files

_ARRAYS = ("mass_matrix", "normal", "tangent", "friction", "velocity", "approach")
_SETS = tuple(field.name for field in dataclasses.fields(Solutions))


def save(exam: Sequence[Problem], path: str) -> None:
    """An HDF5 file: problems of one shape in one group (d1_k2_nv6); solutions one after the other, those of
    problem i from offset[i] to offset[i + 1]. Needs h5py."""
    h5py = needed("h5py", "exam.save", "data")
    shapes: dict[str, list[Problem]] = {}
    for problem in exam:
        d, k, nv = problem.tangent.shape[1], problem.contacts, len(problem.velocity)
        shapes.setdefault(f"d{d}_k{k}_nv{nv}", []).append(problem)
    order = {problem.name: i for i, problem in enumerate(exam)}
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "carom contact exam 1"
        for shape, batch in shapes.items():
            group = file.create_group(shape)
            group["name"] = [problem.name for problem in batch]
            group["group"] = [problem.group for problem in batch]
            group["order"] = [order[problem.name] for problem in batch]
            for name in _ARRAYS:
                group[name] = np.stack([getattr(problem, name) for problem in batch])
            if batch[0].solutions is None:
                group["known"] = np.stack([np.asarray(problem.known) for problem in batch])
                continue
            sets = [problem.solutions for problem in batch if problem.solutions is not None]
            group["offset"] = np.concatenate([[0], np.cumsum([len(s.modes) for s in sets])])
            for name in _SETS:
                group[name] = np.concatenate([getattr(s, name) for s in sets])


def _of_columns(columns: Mapping[str, np.ndarray]) -> list[Problem]:
    """Rows of a dataset of kind exam as problems."""
    made = []
    for i, group in enumerate(columns["group"]):
        k, d, nv, m = (int(columns[name][i]) for name in ("contacts", "directions", "velocities", "polyhedra"))
        kept = None
        if m >= 0:
            kept = Solutions(
                modes=columns["modes"][i, :m, :k].astype(np.int64),
                component=columns["component"][i, :m].astype(np.int64),
                **{name: columns[name][i, :m, :k] for name in
                   ("impulse", "impulse_low", "impulse_high", "speed_low", "speed_high")},
            )  # fmt: skip
        made.append(Problem(
            f"{GROUPS[group]}_{columns['index'][i]}", GROUPS[group], columns["mass_matrix"][i, :nv, :nv],
            columns["normal"][i, :k, :nv], columns["tangent"][i, :k, :d, :nv], columns["friction"][i, :k],
            columns["velocity"][i, :nv], columns["approach"][i, :k], kept,
            columns["known"][i, :k, : 1 + d] if m < 0 else None,
        ))  # fmt: skip
    return made


def load(path: str) -> list[Problem]:
    """The problems of save(), or of a dataset of kind exam, in their order. Needs h5py."""
    h5py = needed("h5py", "exam.load", "data")
    if os.path.isdir(path):
        splits = [Rows(path, split) for split in opened(store_of(path))["spec"]["splits"]]
        return [problem for rows in splits for problem in _of_columns(rows.batch(range(len(rows))))]
    found: list[tuple[int, Problem]] = []
    with h5py.File(path, "r") as file:
        if file.attrs.get("format") != "carom contact exam 1":
            raise InvalidInput(f"{path} is no contact exam: its attribute format is not there", "format")
        for group in file.values():
            arrays = {name: group[name][()] for name in (*_ARRAYS, "name", "group", "order")}
            sets = {name: group[name][()] for name in _SETS if name in group}
            for i, place in enumerate(arrays["order"]):
                problem = Problem(
                    arrays["name"][i].decode(), arrays["group"][i].decode(), *(arrays[name][i] for name in _ARRAYS)
                )
                if sets:
                    own = slice(group["offset"][i], group["offset"][i + 1])
                    listed = Solutions(**{name: array[own] for name, array in sets.items()})
                    problem = dataclasses.replace(problem, solutions=listed)
                else:
                    problem = dataclasses.replace(problem, known=group["known"][i])
                found.append((int(place), problem))
    return [problem for _, problem in sorted(found, key=lambda pair: pair[0])]
