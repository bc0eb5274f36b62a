"""Rows of contacts, limits and equalities of many states of a robot."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass
class Rows:
    """Contacts and limits of many states, ordered by state. Each moves few velocities: row r those of
    dof[begin[r] : begin[r] + width[r]], in increasing order, by value (entries, 3): normal and both tangents.
    frame (r, 3, 3), the same lines in the world, pos (r, 3), geom (r, 2) and body (r, 2) of
    contacts; limits have geom -1 - number, -2 - end, body -1 and tangents 0. allowed (r): depth.
    Selected rows share dof and value."""

    state: np.ndarray
    begin: np.ndarray
    width: np.ndarray
    mu: np.ndarray
    phi: np.ndarray
    pos: np.ndarray
    frame: np.ndarray
    geom: np.ndarray
    body: np.ndarray
    allowed: np.ndarray
    dof: np.ndarray
    value: np.ndarray

    def __len__(self) -> int:
        return len(self.state)

    def __getitem__(self, which: np.ndarray) -> Rows:
        """which: places, or of each row whether it is taken."""
        places = np.flatnonzero(which) if which.dtype == bool else which
        return Rows(**{name: getattr(self, name).take(places, axis=0) for name in _OF_ROWS}, dof=self.dof, value=self.value)

    @classmethod
    def of(cls, state: Any, lines: Lines, mu: Any, phi: Any, allowed: Any, geom: Any, pos: Any = None,
           frame: Any = None, body: Any = None) -> Rows:  # fmt: skip
        n = len(state)
        begin, width, dof, value = lines
        return cls(
            np.asarray(state, dtype=np.int64), np.asarray(begin, dtype=np.int64), np.asarray(width, dtype=np.int64),
            np.asarray(mu, dtype=np.float64), np.asarray(phi, dtype=np.float64),
            np.zeros((n, 3)) if pos is None else np.asarray(pos, dtype=np.float64).reshape(n, 3),
            np.zeros((n, 3, 3)) if frame is None else np.asarray(frame, dtype=np.float64).reshape(n, 3, 3),
            np.asarray(geom, dtype=np.int64).reshape(n, 2),
            np.full((n, 2), -1) if body is None else np.asarray(body, dtype=np.int64).reshape(n, 2),
            np.asarray(allowed, dtype=np.float64), np.asarray(dof, dtype=np.int32), np.asarray(value, dtype=np.float64),
        )  # fmt: skip

    @classmethod
    def joined(cls, parts: list[Rows]) -> Rows:
        """In the order of the states, and within a state of the parts."""
        filled = [part for part in parts if len(part)] or parts[:1]
        whole = filled[0]
        if len(filled) > 1:
            entries = np.cumsum([0, *(len(part.dof) for part in filled)])
            whole = cls(*(np.concatenate([getattr(part, field.name) for part in filled])
                          for field in dataclasses.fields(cls)))  # fmt: skip
            whole.begin += np.repeat(entries[:-1], [len(part) for part in filled])
        if (whole.state[1:] >= whole.state[:-1]).all():
            return whole
        return whole[np.argsort(whole.state, kind="stable")]

    @property
    def contact(self) -> np.ndarray:
        return np.asarray(self.geom[:, 0] >= 0)

    def sparse(self) -> dict[str, np.ndarray]:
        """The lines, for the compiled half."""
        return {name: getattr(self, name) for name in ("begin", "width", "dof", "value")}

    def dense(self, nv: int) -> np.ndarray:
        """J (r, 3, nv)."""
        J = np.zeros((len(self), 3, nv))
        row = np.repeat(np.arange(len(self)), self.width)
        entry = np.arange(len(row)) + np.repeat(self.begin - np.cumsum(self.width) + self.width, self.width)
        J[row, :, self.dof[entry]] = self.value[entry]
        return J


_OF_ROWS = [field.name for field in dataclasses.fields(Rows)[:-2]]
Lines = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # of rows: begin, width, dof, value


def lines_of(J: np.ndarray) -> Lines:
    """Of a matrix (r, 3, nv)."""
    row, dof = np.nonzero((J != 0.0).any(axis=1))
    width = np.bincount(row, minlength=len(J))
    return np.cumsum(width) - width, width, dof, J[row, :, dof]


@dataclasses.dataclass
class Masses:
    """Mass matrices of many states: numbers (s, k), which stand at `lower` and at `upper` (k) of the nv^2 of a matrix;
    the others are zero."""

    numbers: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    nv: int

    @classmethod
    def of(cls, M: np.ndarray) -> Masses:
        every = np.arange(M.shape[1] ** 2)
        return cls(np.ascontiguousarray(M).reshape(len(M), -1), every, every, M.shape[1])

    def __getitem__(self, states: np.ndarray) -> np.ndarray:
        """M (k, nv, nv) of these states."""
        full = np.zeros((len(states), self.nv * self.nv))
        full[:, self.upper] = full[:, self.lower] = self.numbers[states]
        return full.reshape(-1, self.nv, self.nv)

    def parts(self) -> dict[str, np.ndarray]:
        """The numbers and their places, for the compiled half."""
        return {"numbers": self.numbers, "lower": self.lower, "upper": self.upper}


@dataclasses.dataclass
class Equalities:
    """Active equalities, ordered by state: E (e, nv) of state (e); unit (e): one number for rows of one equality
    that have one unit."""

    E: np.ndarray
    state: np.ndarray
    unit: np.ndarray

    @classmethod
    def joined(cls, nv: int, parts: list[Equalities]) -> Equalities:
        """In the order of the states."""
        none = cls(np.zeros((0, nv)), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        whole = cls(*(np.concatenate([getattr(part, field.name) for part in (none, *parts)])
                      for field in dataclasses.fields(cls)))  # fmt: skip
        return whole[np.argsort(whole.state, kind="stable")]

    def __len__(self) -> int:
        return len(self.state)

    def __getitem__(self, which: np.ndarray) -> Equalities:
        return Equalities(self.E[which], self.state[which], self.unit[which])
