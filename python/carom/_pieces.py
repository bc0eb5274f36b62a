"""Problems of many states of a robot: which rows and velocities make one, and those of one shape together."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from . import _core
from ._state_rows import Equalities, Masses, Rows
from .problems import RobotProblems

_RANK = 1e-10  # of pivots of rows of equalities, relative to the largest

Named = Callable[[int, int], str]


def islands_of(rows: Rows, trees: np.ndarray, equalities: Equalities, states: int) -> dict[str, np.ndarray]:
    """What moves apart, blocks of J M^-1 J' by the trees of M, which rows and equalities join. "island": of each row
    the number in its state, -1 where it moves nothing; the others: see Pieces.islands."""
    found: dict[str, np.ndarray] = _core.islands(rows.sparse(), rows.state, trees, states, equalities.E, equalities.state)
    return found


@dataclasses.dataclass
class Pieces:
    """Parts of states that make one problem each, by state: of state (p), with `contacts` (p) of `rows` from begin (p)
    on and `width` (p) velocities. which (p): of the lists of velocities, -1 all; listed[list_begin : list_end] is one.
    equality (e): the piece of each equality, or -1. basis (p), -1 none, and place (p) in it: Z of v = Z u in bases,
    where equalities are active."""

    state: np.ndarray
    begin: np.ndarray
    contacts: np.ndarray
    rows: np.ndarray
    width: np.ndarray
    which: np.ndarray
    listed: np.ndarray
    list_begin: np.ndarray
    list_end: np.ndarray
    equality: np.ndarray
    basis: np.ndarray
    place: np.ndarray
    bases: tuple[np.ndarray, ...] = ()

    @classmethod
    def states(cls, rows: Rows, equalities: Equalities, states: int, whole: bool) -> Pieces:
        """Each state is one; whole: those without rows, too."""
        count = np.bincount(rows.state, minlength=states)
        state = np.arange(states) if whole else np.flatnonzero(count)
        piece = np.full(states, -1)
        piece[state] = np.arange(len(state))
        none, nothing = np.full(len(state), -1), np.zeros(0, dtype=np.int64)
        return cls(state, (np.cumsum(count) - count)[state], count[state], np.arange(len(rows)), none, none,
                   nothing.astype(np.int32), nothing, nothing, piece[equalities.state], none, none)  # fmt: skip

    @classmethod
    def islands(cls, rows: Rows, trees: np.ndarray, equalities: Equalities, states: int) -> Pieces:
        """All islands with rows, by state and then by their first row."""
        found = islands_of(rows, trees, equalities, states)
        end, last, none = found["end"], found["list_end"], np.full(len(found["state"]), -1)
        begin, first = (np.concatenate([[0], each[:-1]]) if len(each) else each for each in (end, last))
        return cls(found["state"], begin, end - begin, found["rows"], none, found["list"], found["listed"], first, last,
                   found["equality"], none, none)  # fmt: skip

    def without(self, states: Collection[int]) -> Pieces:
        """Those of other states."""
        if not states:
            return self
        stays = ~np.isin(self.state, np.fromiter(states, dtype=np.int64, count=len(states)))
        number = np.where(stays, np.cumsum(stays) - 1, -1)
        of_pieces = {name: getattr(self, name)[stays] for name in ("state", "begin", "contacts", "width", "which", "basis", "place")}
        equality = np.where(self.equality >= 0, number[self.equality], -1) if len(number) else np.full(len(self.equality), -1)
        return dataclasses.replace(self, **of_pieces, equality=equality)

    def restricted(self, equalities: Equalities, nv: int) -> Pieces:
        """To the velocities that keep their equalities."""
        sizes = self.list_end - self.list_begin
        width = np.append(sizes, nv)[self.which]  # the last is that of -1
        basis, place = np.full(len(width), -1), np.full(len(width), -1)
        bases: list[np.ndarray] = []
        order = np.argsort(self.equality, kind="stable")
        order = order[np.searchsorted(self.equality[order], 0) :]
        piece, first, count = np.unique(self.equality[order], return_index=True, return_counts=True)
        key = (self.which[piece] + 1) * (int(count.max(initial=0)) + 1) + count
        for each in np.unique(key):
            mine = np.flatnonzero(key == each)
            which, n = int(self.which[piece[mine[0]]]), int(count[mine[0]])
            E = equalities.E[order[first[mine][:, None] + np.arange(n)]]
            E = np.ascontiguousarray(E if which < 0 else E[:, :, self._dofs(which)])
            for some, Z in _core.free_directions(E, n, E.shape[2], _RANK):
                of = piece[mine[some]]
                basis[of], place[of], width[of] = len(bases), np.arange(len(of)), Z.shape[2]
                bases.append(Z)
        return dataclasses.replace(self, width=width, basis=basis, place=place, bases=tuple(bases))

    def _dofs(self, which: int) -> np.ndarray:
        return np.asarray(self.listed[self.list_begin[which] : self.list_end[which]])

    def problems(
        self, M: Masses, velocity: np.ndarray, rows: Rows, name: str, named: Named
    ) -> list[tuple[RobotProblems, np.ndarray]]:
        """Those of one shape together, with the places of their rows (n, m)."""
        lifted = (self.which >= 0) | (self.basis >= 0)
        key = (self.contacts * (int(self.width.max(initial=0)) + 1) + self.width) * 2 + lifted
        found = []
        for each in np.unique(key):
            mine = np.flatnonzero(key == each)
            m = int(self.contacts[mine[0]])
            places = self.rows[self.begin[mine][:, None] + np.arange(m)]
            arrays = self._arrays(mine, places, M, velocity, rows)
            found.append((RobotProblems.of(
                arrays["mass_matrix"], arrays["normal_jacobian"], arrays["tangent_jacobian"], rows.mu[places], arrays["velocity"],
                dimension=3, name=name, distance=rows.phi[places], index=self.state[mine],
                contact_names=_common_names(rows, places, named), lift=arrays["lift"]), places))  # fmt: skip
        return found

    def _arrays(
        self, mine: np.ndarray, places: np.ndarray, M: Masses, velocity: np.ndarray, rows: Rows
    ) -> dict[str, Any]:
        if (self.basis[mine] < 0).all():
            return self._taken(mine, places, M, velocity, rows, True)
        n, m = places.shape
        nv, width = velocity.shape[1], int(self.width[mine[0]])
        whole = {"mass_matrix": np.empty((n, width, width)), "velocity": np.empty((n, width)),
                 "normal_jacobian": np.empty((n, m, width)), "tangent_jacobian": np.empty((n, 2 * m, width)),
                 "lift": np.zeros((n, nv, width))}  # fmt: skip
        key = np.where(self.basis[mine] < 0, -1, (self.which[mine] + 1) * len(self.bases) + self.basis[mine])
        for each in np.unique(key):
            some = np.flatnonzero(key == each)
            which, basis = int(self.which[mine[some[0]]]), int(self.basis[mine[some[0]]])
            if basis < 0:
                taken = self._taken(mine[some], places[some], M, velocity, rows, True)
                for field, array in whole.items():
                    array[some] = taken[field]
                continue
            taken = self._taken(mine[some], places[some], M, velocity, rows, False)
            Z = self.bases[basis][self.place[mine[some]]]
            inner = Z.transpose(0, 2, 1) @ taken["mass_matrix"] @ Z
            whole["mass_matrix"][some] = 0.5 * (inner + inner.transpose(0, 2, 1))
            whole["velocity"][some] = (taken["velocity"][:, None] @ Z)[:, 0]
            for field in ("normal_jacobian", "tangent_jacobian"):
                whole[field][some] = taken[field] @ Z
            dofs = np.arange(nv) if which < 0 else self._dofs(which)
            whole["lift"][some[:, None], dofs] = Z
        return whole

    def _taken(
        self, mine: np.ndarray, places: np.ndarray, M: Masses, velocity: np.ndarray, rows: Rows, lift: bool
    ) -> dict[str, Any]:
        """The arrays of pieces of one size, before equalities. lift: to the robot's velocities, of those that have
        not all of them."""
        nv = M.nv
        width = nv if self.which[mine[0]] < 0 else len(self._dofs(int(self.which[mine[0]])))
        pieces = {"state": self.state[mine], "rows": places, "list": self.which[mine], "list_begin": self.list_begin,
                  "listed": self.listed}  # fmt: skip
        n, m = places.shape
        made = {"mass_matrix": np.zeros((n, width, width)), "velocity": np.zeros((n, width)),
                "normal_jacobian": np.zeros((n, m, width)), "tangent_jacobian": np.zeros((n, 2 * m, width)),
                "lift": np.zeros((n, nv, width)) if lift and width < nv else None}  # fmt: skip
        _core.fill_problems(rows.sparse(), pieces, M.parts(), velocity, nv, m, width, made)
        return made


def _numbered(names: list[str]) -> tuple[str, ...]:
    many, seen, result = Counter(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        result.append(f"{name} {seen[name]}" if many[name] > 1 else name)
    return tuple(result)


def _common_names(rows: Rows, places: np.ndarray, named: Named) -> tuple[str, ...]:
    """Of a part's contacts, where all its states have the same."""
    geom = rows.geom[places]
    if not len(geom) or not (geom == geom[0]).all():
        return ()
    return _numbered([named(int(a), int(b)) for a, b in geom[0]])
