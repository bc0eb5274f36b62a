"""Solver objects: the same matrices over and over, as in simulation and control. An object keeps what is
shared, its memory and what earlier answers teach; the answers pass the same certificates, and no status
depends on the start.

    solver = carom.LpBatch(c, A, row_upper=b, lower=0.0)
    first = solver.solve()
    second = solver.update(row_upper=b + 0.01 * noise).solve()
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._arrays import from_any, refuse
from ._results import Status
from .solvers import LcpResult, LpResult, QpResult, solve_lcp, solve_lp, solve_qp

__all__ = ["LcpBatch", "LpBatch", "QpBatch"]

_TAKES_A_START = ("active_set", "admm", "projected")

class _Batch:
    """Arrays by name, each shared or with its problems in front."""

    _ranks: dict[str, int] = {}

    def __init__(self, arrays: dict[str, Any], settings: dict[str, Any]) -> None:
        self._arrays: dict[str, np.ndarray] = {}
        self._settings = settings
        self._workspace = _core.Workspace()
        self._last: Any = None
        for name, value in arrays.items():
            if value is not None:
                self._arrays[name] = self._taken(name, value)

    def _taken(self, name: str, value: Any) -> np.ndarray:
        array = np.array(from_any(name, value))
        rank = self._ranks[name]
        if array.ndim == 0 and rank == 1:
            return array
        if array.ndim not in (rank, rank + 1):
            raise refuse(name, f"of shape {array.shape}", f"must have {rank} axes, or one more for problems")
        return array

    @property
    def problems(self) -> int:
        counts = {a.shape[0] for n, a in self._arrays.items() if a.ndim > self._ranks[n]}
        return max(counts, default=1)

    def update(self, *, problems: Any = None, **arrays: Any) -> Any:
        """Replaces arrays by name, of all problems or of those that `problems` (mask or indices) has.
        Errors: InvalidInput for a name that the object does not have and for other shapes."""
        for name, value in arrays.items():
            if name not in self._ranks:
                raise refuse(name, "unknown", f"must be one of {', '.join(sorted(self._ranks))}")
            new = self._taken(name, value)
            old = self._arrays.get(name)
            if problems is not None:
                if old is None:
                    raise refuse(name, "absent so far", "give it for all problems first")
                rank = self._ranks[name]
                if old.ndim == rank:
                    old = np.array(np.broadcast_to(old, (self.problems, *old.shape)))
                old[problems] = new
                new = old
            elif old is not None and old.ndim > 0 and new.ndim > 0:
                if old.shape[old.ndim - self._ranks[name] :] != new.shape[new.ndim - self._ranks[name] :]:
                    raise refuse(name, f"of shape {new.shape}", f"must be as before, {old.shape}")
            self._arrays[name] = new
        return self

    def reset(self) -> Any:
        """Forgets earlier answers: the next solve is a cold one."""
        self._last = None
        return self

    def _part(self, name: str, rows: Any) -> np.ndarray | None:
        array = self._arrays.get(name)
        if array is None or array.ndim <= self._ranks[name] or array.shape[0] == 1:
            return array
        part: np.ndarray = array[rows]
        return part

    def _in_time(
        self, rows: np.ndarray, budget: float | None, start: float,
        solve: Callable[[np.ndarray], Any], keep: Callable[[np.ndarray, Any], None],
    ) -> np.ndarray:  # fmt: skip
        """solve(rows) in pieces until the budget is spent; the rows that were left."""
        if budget is None:
            if rows.size:
                keep(rows, solve(rows))
            return rows[:0]
        size, at = 1, 0
        while at < rows.size:
            spent = time.perf_counter() - start
            if at > 0 and spent >= budget:
                break
            piece = rows[at : at + size]
            before = time.perf_counter()
            keep(piece, solve(piece))
            at += piece.size
            each = (time.perf_counter() - before) / piece.size
            left = budget - (time.perf_counter() - start)
            size = int(np.clip(0.25 * left / max(each, 1e-9), 1, 4096))
        return rows[at:]


class _Answers:
    """Arrays of a result, filled problem by problem: NaN and `cancelled` where nothing came."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.arrays: dict[str, Any] = {}

    def keep(self, rows: np.ndarray, answer: Any) -> None:
        for name, value in answer.to_dict().items():
            if isinstance(value, np.ndarray):
                if name not in self.arrays:
                    empty = np.nan if value.dtype.kind == "f" else 0
                    self.arrays[name] = np.full((self.n, *value.shape[1:]), empty, value.dtype)
                    if name == "status":
                        self.arrays[name][:] = Status.cancelled
                self.arrays[name][rows] = value
            elif name not in self.arrays:
                self.arrays[name] = value


class LcpBatch(_Batch):
    """w = M z + q, z >= 0, w >= 0, z'w = 0 for one M and many q, or an M each.

    M (k, k) or (n, k, k), q (n, k); settings as of solve_lcp. Lemke's method takes no start: a cold solve of
    order 10 takes less than a microsecond, one of order 40 ten, and certifying a guess takes longer.
    """

    _ranks = {"M": 2, "q": 1}

    def __init__(self, M: Any, q: Any, **settings: Any) -> None:
        super().__init__({"M": M, "q": q}, settings)

    def solve(self, time_budget: float | None = None) -> LcpResult:
        """As solve_lcp. time_budget [s]: problems that are not begun by then have the status cancelled; one
        that is begun is finished, and the first piece always is."""
        began = time.perf_counter()
        answers = _Answers(self.problems)

        def solve(rows: np.ndarray) -> LcpResult:
            M, q = self._part("M", rows), self._part("q", rows)
            answer: LcpResult = solve_lcp(M, q, workspace=self._workspace, **self._settings)
            return answer

        self._in_time(np.arange(self.problems), time_budget, began, solve, answers.keep)
        fields = {name: answers.arrays[name] for name in LcpResult.__dataclass_fields__ if name != "problem"}
        problem = {
            name: self._arrays[own] if self._arrays[own].ndim > self._ranks[own] else self._arrays[own][None]
            for name, own in (("matrix", "M"), ("vector", "q"))
        }
        last = LcpResult(**fields, problem={**problem, "tolerance": answers.arrays["problem"]["tolerance"]})
        self._last = last
        return last


class LpBatch(_Batch):
    """Minimises c'x subject to row_lower <= A x <= row_upper, lower <= x <= upper; arrays as of solve_lp, one
    objective a problem. Warm solves start from the basis of the problem's latest answer, or from the most
    frequent one of all answers. What basis it is changes no status."""

    _ranks = {"c": 1, "A": 2, "row_lower": 1, "row_upper": 1, "lower": 1, "upper": 1}

    def __init__(
        self, c: Any, A: Any = None, row_lower: Any = None, row_upper: Any = None, *, lower: Any = None,
        upper: Any = None, **settings: Any,
    ) -> None:  # fmt: skip
        c = np.array(from_any("c", c))
        given = {"c": c, "A": A, "row_lower": row_lower, "row_upper": row_upper, "lower": lower, "upper": upper}
        rows = 0 if A is None else np.shape(A)[-2]
        for name, count in (("row_lower", rows), ("row_upper", rows), ("lower", c.shape[-1]), ("upper", c.shape[-1])):
            if given[name] is not None and np.ndim(given[name]) == 0:
                given[name] = np.full(count, float(given[name]))
        super().__init__(given, settings)
        self._basis: np.ndarray | None = None

    def reset(self) -> LpBatch:
        self._basis = None
        super().reset()
        return self

    def solve(self, warm: bool = True, time_budget: float | None = None) -> LpResult:
        """As solve_lp; time_budget as of LcpBatch.solve."""
        start = time.perf_counter()
        n = self.problems
        answers = _Answers(n)
        basis = self._basis if warm else None
        if basis is not None and len(basis) != n:
            kinds, counts = np.unique(basis, axis=0, return_counts=True)
            basis = np.repeat(kinds[np.argmax(counts)][None], n, axis=0)

        def solve(rows: np.ndarray) -> LpResult:
            part = {name: self._part(name, rows) for name in self._ranks}
            c = part.pop("c")
            own = None if basis is None else np.ascontiguousarray(basis[rows])
            if own is not None and len(rows) != 1 and all(
                a is None or a.ndim == self._ranks[name] for name, a in {**part, "c": c}.items()
            ):
                own = own[:1]
            return solve_lp(
                c, part["A"], part["row_lower"], part["row_upper"], lower=part["lower"], upper=part["upper"],
                start=own, workspace=self._workspace, **self._settings,
            )  # fmt: skip

        self._in_time(np.arange(n), time_budget, start, solve, answers.keep)
        fields = {name: answers.arrays[name] for name in LpResult.__dataclass_fields__ if name != "problem"}
        whole = {"matrix": "A", "cost": "c", "row_lower": "row_lower", "row_upper": "row_upper",
                 "column_lower": "lower", "column_upper": "upper"}  # fmt: skip
        r, v = fields["dual"].shape[2], fields["solution"].shape[2]
        missing = {"matrix": np.zeros((1, 0, v)), "row_lower": np.full((1, r), -np.inf),
                   "row_upper": np.full((1, r), np.inf), "column_lower": np.full((1, v), -np.inf),
                   "column_upper": np.full((1, v), np.inf)}  # fmt: skip
        problem: dict[str, Any] = {"tolerance": answers.arrays["problem"]["tolerance"]}
        for name, own in whole.items():
            array = self._arrays.get(own)
            if array is None:
                problem[name] = missing[name]
            else:
                array = array[None] if array.ndim == self._ranks[own] else array
                problem[name] = array[:, None, :] if name == "cost" else array
        result = LpResult(**fields, problem=problem)
        good = result.status[:, 0] == Status.solved
        if good.any():
            if self._basis is None or len(self._basis) != n:
                self._basis = np.repeat(result.basis[np.argmax(good)][None], n, axis=0)
            self._basis[good] = result.basis[good]
        self._last = result
        return result


class QpBatch(_Batch):
    """Minimises x'P x / 2 + q'x subject to l <= A x <= u and b - C x in cones; arrays as of solve_qp.

    The methods active_set, admm and projected start at the latest answer; what that leaves without a
    verdict is solved again without a start. auto takes none: its cold solves in packs of problems are
    faster than warm ones of active_set (docs/howto/solver_objects.md)."""

    _ranks = {"P": 2, "q": 1, "A": 2, "l": 1, "u": 1, "C": 2, "b": 1}

    def __init__(
        self, P: Any, q: Any, A: Any = None, l: Any = None, u: Any = None, C: Any = None, b: Any = None, *,
        cones: Any = (), method: str = "auto", **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__({"P": P, "q": q, "A": A, "l": l, "u": u, "C": C, "b": b}, settings)
        self._cones = list(cones)
        self._method = method

    def solve(
        self, warm: bool = True, shift: tuple[int, int] | None = None, time_budget: float | None = None
    ) -> QpResult:
        """As solve_qp. shift (variables, rows): of a receding horizon, the start is the latest answer moved
        to the front by so many variables and rows, the end repeated. time_budget as of LcpBatch.solve."""
        began = time.perf_counter()
        n = self.problems
        answers = _Answers(n)
        usable = warm and self._method in _TAKES_A_START and self._last is not None
        last = self._last if usable and len(self._last.status) == n else None
        start: dict[str, np.ndarray] = {}
        if last is not None:
            good = np.isin(last.status, (Status.solved, Status.inaccurate))
            for name, by in (("solution", 0), ("dual", 1), ("cone_dual", None)):
                values = np.where(good[:, None], getattr(last, name), 0.0)
                if shift is not None and by is not None and shift[by] > 0 and values.shape[1] >= shift[by]:
                    moved = int(shift[by])
                    values = np.concatenate([values[:, moved:], values[:, -moved:]], axis=1)
                start[name] = np.ascontiguousarray(values)

        def solve(rows: np.ndarray, cold: bool = False) -> QpResult:
            part: dict[str, Any] = {name: self._part(name, rows) for name in self._ranks}
            if all(a is None or a.ndim == self._ranks[name] for name, a in part.items()):
                rows = rows[:1]
            begin = None if cold or not start else {name: a[rows] for name, a in start.items()}
            return solve_qp(
                **part, cones=self._cones, warm_start=begin, method=self._method,
                workspace=self._workspace, **self._settings,
            )  # fmt: skip

        def keep(rows: np.ndarray, answer: QpResult) -> None:
            answers.keep(rows, answer)
            if not start:
                return
            verdicts = (Status.solved, Status.infeasible, Status.unbounded, Status.nonconvex, Status.invalid_input)
            again = rows[~np.isin(answer.status, verdicts)]
            if again.size:
                answers.keep(again, solve(again, cold=True))

        self._in_time(np.arange(n), time_budget, began, solve, keep)
        fields = {name: answers.arrays[name] for name in QpResult.__dataclass_fields__ if name != "problem"}
        one = answers.arrays["problem"]
        names = {"hessian": "P", "vector": "q", "matrix": "A", "lower": "l", "upper": "u",
                 "cone_matrix": "C", "cone_vector": "b"}  # fmt: skip
        problem = dict(one)
        for name, own in names.items():
            array = self._arrays.get(own)
            if array is not None:
                problem[name] = array[None] if array.ndim == self._ranks[own] else array
            elif isinstance(one.get(name), np.ndarray):
                problem[name] = one[name][:1]
        result = QpResult(**fields, problem=problem)
        self._last = result
        return result
