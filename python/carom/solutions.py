"""All solutions of a small LCP or boxed LCP, and the proof that there are no others."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ._arrays import refuse
from ._results import Status
from .solvers import solve_lp

__all__ = ["LcpSolutions", "all_solutions"]

_LARGEST = 24
_LOWER, _BETWEEN, _UPPER = -1, 0, 1


@dataclasses.dataclass(frozen=True, eq=False)
class LcpSolutions:
    """The solutions of one problem of order k: s polyhedra (pieces), all of them if `complete`.

    state (s, k): -1 if z_i = lo_i with w_i >= 0, 1 if z_i = hi_i with w_i <= 0, 0 if w_i = 0. A piece is the set of all z
    with lo <= z <= hi and w = M z + q that have this state. solution (s, k): a point of each piece. lower, upper (s, k):
    the least and the largest z_i of a piece, infinite along a ray. residual (s): of solution, |z - mid(lo, hi, z - w)|
    relative to |q_i| and the terms of row i. complete: every other combination of states was excluded by a certified
    Farkas vector, which was checked again. nodes: linear programs solved. left: combinations that were neither solved
    nor excluded.
    """

    state: np.ndarray
    solution: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    residual: np.ndarray
    complete: bool
    nodes: int
    left: int

    def __len__(self) -> int:
        return len(self.solution)

    @property
    def kind(self) -> list[str]:
        """Of each piece: "point", "face" (bounded) or "ray" (not bounded)."""
        size = 1e-9 * np.maximum(1.0, np.abs(self.solution).max(axis=1, initial=0.0))[:, None]
        point = (self.upper - self.lower <= size).all(axis=1)
        bounded = np.isfinite(self.lower).all(axis=1) & np.isfinite(self.upper).all(axis=1)
        return ["point" if p else "face" if b else "ray" for p, b in zip(point, bounded)]

    def __repr__(self) -> str:
        kinds, counts = np.unique(self.kind, return_counts=True)
        parts = ", ".join(f"{c} {kind}" for kind, c in zip(kinds, counts)) or "none"
        there = "all" if self.complete else f"not known to be all, {self.left} combinations left"
        return f"LcpSolutions: {parts}; {there}; {self.nodes} linear programs"


class _Tree:
    """Problem and states. Rows of the linear programs: w, then mu_i z_j - z_i and mu_i z_j + z_i of the friction rows i."""

    def __init__(
        self, M: np.ndarray, q: np.ndarray, lo: np.ndarray, hi: np.ndarray, findex: np.ndarray, mu: np.ndarray
    ) -> None:  # fmt: skip
        self.M, self.q, self.lo, self.hi = M, q, lo, hi
        self.friction = findex >= 0
        self.of = np.flatnonzero(self.friction)
        self.normal, self.mu = findex[self.of], mu[self.of]
        reach, own = np.zeros((len(self.of), q.size)), np.zeros((len(self.of), q.size))
        reach[np.arange(len(self.of)), self.normal] = self.mu
        own[np.arange(len(self.of)), self.of] = 1.0
        self.rows = np.concatenate([M, reach - own, reach + own])
        self.offset = np.concatenate([q, np.zeros(2 * len(self.of))])

    def states(self, i: int) -> tuple[int, ...]:
        if self.friction[i]:
            return (_BETWEEN, _LOWER, _UPPER)
        if self.lo[i] == self.hi[i]:
            return (_BETWEEN,)
        ends = ((_LOWER, np.isfinite(self.lo[i])), (_UPPER, np.isfinite(self.hi[i])))
        return (_BETWEEN, *(state for state, there in ends if there))

    def bounds(self, state: np.ndarray, decided: int) -> tuple[np.ndarray, ...]:
        """Of the rows and of z, (nodes, .), where coordinates before `decided` have their states."""
        nodes, k = state.shape
        z_low, z_high = np.tile(self.lo, (nodes, 1)), np.tile(self.hi, (nodes, 1))
        # Undecided: w_i has a sign where one of the bounds is absent.
        w_low = np.tile(np.where(np.isinf(self.hi), 0.0, -np.inf), (nodes, 1))
        w_high = np.tile(np.where(np.isinf(self.lo), 0.0, np.inf), (nodes, 1))
        fixed = (self.lo == self.hi) & ~self.friction
        w_low[:, fixed | self.friction], w_high[:, fixed | self.friction] = -np.inf, np.inf
        known = (np.arange(k) < decided) & ~fixed
        at_low, at_high = known & (state == _LOWER), known & (state == _UPPER)
        z_high = np.where(at_low & ~self.friction, self.lo, z_high)
        z_low = np.where(at_high & ~self.friction, self.hi, z_low)
        w_low = np.where(known, np.where(at_high, -np.inf, 0.0), w_low)
        w_high = np.where(known, np.where(at_low, np.inf, 0.0), w_high)
        limits = [np.where(at[:, self.of], 0.0, np.inf) for at in (at_high, at_low)]
        low = np.concatenate([w_low, np.zeros((nodes, 2 * len(self.of)))], axis=1)
        return low, np.concatenate([w_high, *limits], axis=1), z_low, z_high

    def solve(self, costs: np.ndarray, state: np.ndarray, decided: int) -> Any:
        low, high, z_low, z_high = self.bounds(state, decided)
        return solve_lp(costs, self.rows, low - self.offset, high - self.offset, lower=z_low, upper=z_high)

    def residual(self, z: np.ndarray) -> np.ndarray:
        w = z @ self.M.T + self.q
        low, high = np.tile(self.lo, (len(z), 1)), np.tile(self.hi, (len(z), 1))
        high[:, self.of] = np.maximum(self.mu * z[:, self.normal], 0.0)
        low[:, self.of] = -high[:, self.of]
        missed = np.abs(z - np.clip(z - w, low, high))
        size = np.abs(self.q) + np.abs(z) @ np.abs(self.M).T
        found: np.ndarray = (missed / np.maximum(size, 1e-300)).max(axis=1, initial=0.0)
        return found


def all_solutions(
    M: Any, q: Any, lo: Any = 0.0, hi: Any = np.inf, *, findex: Any = None, mu: Any = None, max_nodes: int = 20_000
) -> LcpSolutions:  # fmt: skip
    """Finds all z of one boxed LCP; by default of the LCP 0 <= z perp w = M z + q >= 0.

    lo <= z <= hi, w_i >= 0 if z_i = lo_i, w_i <= 0 if z_i = hi_i, w_i = 0 between. The solutions are a union of polyhedra
    (Cottle, Pang, Stone 2009, section 1.3). The search is a tree over the states of the coordinates. Each node is a
    linear program; a node with a proof of infeasibility is closed. Pieces that are part of other pieces are left out.

    Parameters:

    M, q, lo, hi
        (k, k), (k) and bounds (k) or a number, infinite where absent; k at most 24.
    findex, mu
        (k,), as in carom.solve_boxed_lcp: findex_i = j makes row i a friction row with |z_i| <= mu_i z_j, and w_i
        opposes z_i; its bounds are not read. state_i is then 1 if z_i = mu_i z_j with w_i <= 0, -1 at the other limit.
    max_nodes
        Largest number of linear programs; if they do not suffice, `complete` is False.

    Errors: InvalidInput for shapes and numbers.
    """
    q = np.asarray(q, dtype=float)
    M = np.asarray(M, dtype=float)
    k = q.size
    if q.ndim != 1 or not 1 <= k <= _LARGEST:
        raise refuse("q", f"of shape {q.shape}", f"must have one axis of 1 to {_LARGEST} numbers")
    if M.shape != (k, k):
        raise refuse("M", f"of shape {M.shape}", f"must be {(k, k)}")
    given = {"lo": np.asarray(lo, dtype=float), "hi": np.asarray(hi, dtype=float)}
    for name, bound in given.items():
        if bound.shape not in ((), (k,)):
            raise refuse(name, f"of shape {bound.shape}", f"must be a number or {(k,)}")
    for name, array in (("M", M), ("q", q)):
        if not np.isfinite(array).all():
            place = ", ".join(map(str, np.argwhere(~np.isfinite(array))[0]))
            raise refuse(f"{name}[{place}]", repr(float(array[~np.isfinite(array)][0])), "must be finite")
    low, high = (np.broadcast_to(bound, k).copy() for bound in given.values())
    for i in np.flatnonzero(~(low <= high) | (low == np.inf) | (high == -np.inf)):
        raise refuse(f"lo[{i}]", f"{low[i]} with hi[{i}] = {high[i]}", "must be at most hi, and not infinite on that side")
    if max_nodes < 1:
        raise refuse("max_nodes", str(max_nodes), "must be at least 1")

    index, friction = _friction(findex, mu, low)
    low[index >= 0], high[index >= 0] = -np.inf, np.inf
    tree = _Tree(M, q, low, high, index, friction)
    state, nodes, left = np.zeros((1, k), dtype=np.int8), 0, 0
    for depth in range(k):
        children = []
        for each in tree.states(depth):
            part = state.copy()
            part[:, depth] = each
            children.append(part)
        state = np.concatenate(children)
        if nodes + len(state) > max_nodes:
            none = np.zeros((0, k))
            return LcpSolutions(none, none, none, none, np.zeros(0), False, nodes, len(state))
        found = tree.solve(np.zeros(k), state, depth + 1)
        nodes += len(state)
        closed = (found.status[:, 0] == Status.infeasible) & found.verify()[:, 0]
        state = state[~closed]
        if not len(state):
            break
    if len(state):
        # Extents of z and w, which say what the pieces are and which of them are part of others.
        ahead = np.concatenate([np.eye(k), tree.rows])
        ends = tree.solve(np.tile(np.concatenate([ahead, -ahead]), (len(state), 1, 1)), state, k)
        nodes += len(state)
        solved, open_ended = ends.status == Status.solved, ends.status == Status.unbounded
        sound = (solved | open_ended).all(axis=1)
        left = int((~sound).sum())
        value = np.where(solved, ends.objective, -np.inf).reshape(len(state), 2, len(ahead))[sound]
        least, most = value[:, 0], -value[:, 1]  # of z and of the rows
        point = np.where(solved[..., None], ends.solution, np.nan)[sound]
        state = state[sound]
        # A point within: the mean of the ends that there are.
        point = np.nanmean(point, axis=1) if len(point) else np.zeros((0, k))
        keep = _maximal(tree, state, least, most)
        state, point, least, most = state[keep], point[keep], least[keep], most[keep]
    else:
        point = np.zeros((0, k))
        least = most = np.zeros((0, k))
    return LcpSolutions(state, point, least[:, :k], most[:, :k], tree.residual(point), left == 0, nodes, left)


def _friction(findex: Any, mu: Any, low: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    k = len(low)
    if (findex is None) != (mu is None):
        raise refuse("findex" if findex is None else "mu", "left out", "findex and mu go together")
    if findex is None:
        return np.full(k, -1), np.zeros(k)
    index, friction = np.asarray(findex), np.broadcast_to(np.asarray(mu, dtype=float), k)
    if index.shape != (k,):
        raise refuse("findex", f"of shape {index.shape}", f"must be {(k,)}")
    for i, j in enumerate(index):
        if not -1 <= j < k or j != int(j):
            raise refuse(f"findex[{i}]", str(j), "must be -1 or a row of the problem")
        if j >= 0 and index[int(j)] >= 0:
            raise refuse(f"findex[{i}]", str(j), "must be a row without friction index itself")
        if j >= 0 and not low[int(j)] >= 0.0:
            raise refuse(f"lo[{int(j)}]", str(low[int(j)]), "must be >= 0, since friction rows have their limits from this row")
        if j >= 0 and not (np.isfinite(friction[i]) and friction[i] >= 0.0):
            raise refuse(f"mu[{i}]", str(friction[i]), "must be >= 0 and finite")
    return index.astype(int), friction


def _maximal(tree: _Tree, state: np.ndarray, least: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Pieces that are no part of others, the first of equal ones; least, most (pieces, .) of z and of the rows."""
    k = len(tree.q)
    row_low, row_high, z_low, z_high = tree.bounds(state, k)
    low = np.concatenate([z_low, row_low - tree.offset], axis=1)
    high = np.concatenate([z_high, row_high - tree.offset], axis=1)
    size = np.maximum(np.where(np.isfinite(least), abs(least), 0.0), np.where(np.isfinite(most), abs(most), 0.0))
    largest = size.max(axis=0, initial=0.0)
    of_z, of_rows = largest[:k].max(initial=1e-300), max(largest[k:].max(initial=1e-300), np.abs(tree.q).max())
    tiny = 1e-9 * np.concatenate([np.full(k, of_z), np.full(len(tree.rows), of_rows)])
    keep = np.ones(len(state), dtype=bool)

    def within(a: int, b: int) -> bool:
        return bool((least[a] >= low[b] - tiny).all() and (most[a] <= high[b] + tiny).all())

    for a in range(len(state)):
        for b in range(len(state)):
            if a != b and keep[b] and within(a, b) and (a > b or not within(b, a)):
                keep[a] = False
                break
    return keep
