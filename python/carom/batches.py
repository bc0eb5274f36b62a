"""Solver objects, for problems that are solved again and again with new numbers, as in simulation and control.

An object stores the arrays, its memory and earlier answers, and starts the next solve from these (warm start).
Answers pass the same certificates as those of solve_lp, solve_qp and solve_lcp; the start does not change what a
status means.

    solver = carom.LpBatch(c, A, row_upper=b, lower=0.0)
    first = solver.solve()
    second = solver.update(row_upper=b + 0.01 * noise).solve()
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._arrays import from_any, refuse, require_symmetric
from ._bounds import AnytimeBounds, bounds_of_lps, bounds_of_qps
from ._results import Status
from ._settings import in_words
from .solvers import _CONES, LcpResult, LpResult, QpResult, solve_lcp, solve_lp, solve_qp

__all__ = ["AnytimeBounds", "LcpBatch", "LpBatch", "QpBatch"]

_MOST = 2e-3  # [s] pieces of a quarter of it can be cancelled
_TREES = ("bound", "tree", "leaf_farkas")
_TAKES_A_START = ("active_set", "admm", "projected")

class Pending:
    """A solve that runs in its own thread. The solver object takes no other call until it is done."""

    def __init__(self, batch: _Batch, settings: dict[str, Any]) -> None:
        self._batch, self._settings = batch, settings
        self._found: Any = None
        self._error: BaseException | None = None
        self._stop = batch._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found = self._batch.solve(**self._settings)
        except BaseException as error:
            self._error = error
        finally:
            self._batch._stop = None

    def cancel(self) -> None:
        """Starts no further problem; those that have not been started get the status cancelled. The solve stops
        within about half a millisecond, or after the problem that is being solved."""
        self._stop.set()

    def done(self) -> bool:
        return not self._thread.is_alive()

    def result(self, timeout: float | None = None) -> Any:
        """Waits for the result. Errors: TimeoutError after `timeout` seconds; those of the solve."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError(f"not done after {timeout} s")
        if self._error is not None:
            raise self._error
        return self._found


class _Batch:
    """Arrays by name, each shared or with the axis of problems first."""

    _ranks: dict[str, int] = {}

    def __init__(self, arrays: dict[str, Any], settings: dict[str, Any]) -> None:
        self._arrays: dict[str, np.ndarray] = {}
        self._settings = settings
        self._workspace = _core.Workspace()
        self._last: Any = None
        self._stop: threading.Event | None = None
        self._known: tuple[np.ndarray, np.ndarray] | None = None
        self._borrowed = False
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
        """Replaces arrays by name, for all problems or for those selected by `problems` (mask or indices).
        Errors: InvalidInput for an unknown name and for shapes that differ from the previous ones."""
        for name, value in arrays.items():
            if name not in self._ranks:
                raise refuse(name, "not an array of this solver", f"known are {', '.join(sorted(self._ranks))}")
            new = self._taken(name, value)
            old = self._arrays.get(name)
            if problems is not None:
                if old is None:
                    raise refuse(name, "not given yet", "give it for all problems first")
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
        """Deletes earlier answers: the next solve is a cold start."""
        self._last = self._known = None
        return self

    def solve(self) -> Any:
        raise NotImplementedError

    def _learn(self, x: np.ndarray, y: np.ndarray, status: np.ndarray) -> None:
        """Keeps points and multipliers of the latest answers for bounds(). Little time where a budget left few."""
        done = np.flatnonzero(status == Status.solved)
        if done.size == len(status):
            self._known, self._borrowed = (x, y), True  # the caller's arrays
            return
        if not done.size:
            return
        if self._known is None or len(self._known[0]) != len(x):
            first = np.full(len(x), done[0])
            self._known, self._borrowed = (x[first], y[first]), False
        elif self._borrowed:
            self._known, self._borrowed = (self._known[0].copy(), self._known[1].copy()), False
        for known, new in zip(self._known, (x, y)):
            known[done] = new[done]

    def _whole(self, name: str, shape: tuple[int, ...], absent: float, each: bool = True) -> np.ndarray:
        """An array with its problems in front, or shared where it may be."""
        array = self._arrays.get(name)
        if array is None or array.ndim <= len(shape):
            shared = np.broadcast_to(absent if array is None else array, shape)
            return np.broadcast_to(shared, (self.problems, *shape)) if each else shared
        return np.broadcast_to(array, (self.problems, *shape))

    def _latest(self, v: int, r: int) -> tuple[np.ndarray, np.ndarray]:
        if self._known is not None and len(self._known[0]) == self.problems:
            return self._known
        return np.zeros((self.problems, v)), np.zeros((self.problems, r))

    def solve_async(self, **settings: Any) -> Pending:
        """Runs solve(**settings) in its own thread, which can be cancelled; result() returns what solve returns.
        Errors: InvalidInput while another solve is running."""
        if self._stop is not None:
            raise refuse("solve_async", "running already", "wait for its result first")
        return Pending(self, settings)

    def _part(self, name: str, rows: Any) -> np.ndarray | None:
        array = self._arrays.get(name)
        if array is None or array.ndim <= self._ranks[name] or array.shape[0] in (1, len(rows)):
            return array
        part: np.ndarray = array[rows]
        return part

    def _tolerance(self, table: Any) -> float:
        default = next(entry["default"] for entry in table if entry["name"] == "tolerance")
        return float(self._settings.get("tolerance", default))

    def _plain(self, table: Any, *names: str, shared: bool = True) -> bool:
        """Whether these arrays are there, finite and (if asked) shared, and no setting asks for more than the library's."""
        found = [self._arrays.get(name) for name in names]
        return set(self._settings) <= {entry["name"] for entry in table} and all(
            a is not None and a.size > 0 and (not shared or a.ndim == self._ranks[name]) and bool(np.isfinite(a).all())
            for name, a in zip(names, found)
        )

    def _or_absent(self, name: str, rows: Any, count: int, absent: float) -> np.ndarray:
        part = self._part(name, rows)
        if part is None or part.ndim == 0:
            return np.full(count, absent if part is None else float(part))
        return np.ascontiguousarray(part)

    def _in_time(
        self, rows: np.ndarray, budget: float | None, start: float,
        solve: Callable[[np.ndarray], Any], keep: Callable[[np.ndarray, Any], None],
    ) -> np.ndarray:  # fmt: skip
        """solve(rows) in pieces until the budget is spent or somebody cancels; the rows that were left."""
        if budget is None and self._stop is None:
            if rows.size:
                keep(rows, solve(rows))
            return rows[:0]
        size, at = 1, 0
        while at < rows.size:
            spent = time.perf_counter() - start
            if at > 0 and ((budget is not None and spent >= budget) or (self._stop is not None and self._stop.is_set())):
                break
            piece = rows[at : at + size]
            before = time.perf_counter()
            keep(piece, solve(piece))
            at += piece.size
            each = (time.perf_counter() - before) / piece.size
            left = _MOST if budget is None else budget - (time.perf_counter() - start)
            if self._stop is not None:
                left = min(left, _MOST)
            size = int(np.clip(0.25 * left / max(each, 1e-9), 1, 4096))
        return rows[at:]


def _checked(budget: float | None) -> float | None:
    if budget is not None and not budget >= 0.0:
        raise refuse("time_budget", f"{budget:g}", "must be a number of seconds, not negative")
    return budget


class _Answers:
    """Arrays of a result, filled problem by problem: NaN and `cancelled` where nothing came."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.arrays: dict[str, Any] = {}

    def keep(self, rows: np.ndarray, answer: dict[str, Any]) -> None:
        for name, value in answer.items():
            if not isinstance(value, np.ndarray):
                self.arrays.setdefault(name, value)
            elif len(value) == self.n and rows.size == self.n:
                self.arrays[name] = value
            else:
                if name not in self.arrays:
                    empty = np.nan if value.dtype.kind == "f" else 0
                    self.arrays[name] = np.full((self.n, *value.shape[1:]), empty, value.dtype)
                    if name == "status":
                        self.arrays[name][:] = Status.cancelled
                self.arrays[name][rows] = value


class LcpBatch(_Batch):
    """w = M z + q, z >= 0, w >= 0, z'w = 0 for one M and many q, or an M each.

    M (k, k) or (n, k, k), q (n, k); settings as of solve_lcp, except that a ray is not decided by a tree. There is no
    warm start: a cold solve of order 10 takes less than a microsecond and one of order 40 ten, and certifying a guess
    would take longer.
    """

    _ranks = {"M": 2, "q": 1}

    def __init__(self, M: Any, q: Any, **settings: Any) -> None:
        super().__init__({"M": M, "q": q}, settings)

    def solve(self, time_budget: float | None = None) -> LcpResult:
        """As solve_lcp. time_budget [s]: problems that have not been started by then get the status cancelled; a
        problem that was started is finished, and at least one is started. Errors: InvalidInput for a negative one."""
        began, budget = time.perf_counter(), _checked(time_budget)
        answers = _Answers(self.problems)

        def solve(rows: np.ndarray) -> dict[str, Any]:
            M, q = self._part("M", rows), self._part("q", rows)
            found = solve_lcp(M, q, workspace=self._workspace, max_nodes=0, **self._settings).to_dict()
            return {name: value for name, value in found.items() if name not in _TREES}

        self._in_time(np.arange(self.problems), budget, began, solve, answers.keep)
        fields = {name: answers.arrays[name] for name in LcpResult.__dataclass_fields__ if name not in (*_TREES, "problem")}
        problem = {
            name: self._arrays[own] if self._arrays[own].ndim > self._ranks[own] else self._arrays[own][None]
            for name, own in (("matrix", "M"), ("vector", "q"))
        }
        last = LcpResult(**fields, problem={**problem, "tolerance": self._tolerance(_core.lcp_settings())})
        self._last = last
        return last


class LpBatch(_Batch):
    """Minimises c'x subject to row_lower <= A x <= row_upper, lower <= x <= upper, again and again with new numbers.

    Arrays as of solve_lp, with one objective per problem. If all problems share c and A, up to `pool` bases of earlier
    answers are stored with their inverses; a basis that was optimal once is optimal for all bounds for which its point
    is feasible. Otherwise a solve starts from the basis of the problem's latest answer, or from the most frequent one.
    """

    _ranks = {"c": 1, "A": 2, "row_lower": 1, "row_upper": 1, "lower": 1, "upper": 1}
    _basis: np.ndarray | None  # of the latest answers
    _keeper: Any
    _first: np.ndarray  # which of the pool each problem tries first

    def __init__(
        self, c: Any, A: Any = None, row_lower: Any = None, row_upper: Any = None, *, lower: Any = None,
        upper: Any = None, pool: int = 256, **settings: Any,
    ) -> None:  # fmt: skip
        c = np.array(from_any("c", c))
        given = {"c": c, "A": A, "row_lower": row_lower, "row_upper": row_upper, "lower": lower, "upper": upper}
        rows = 0 if A is None else np.shape(A)[-2]
        for name, count in (("row_lower", rows), ("row_upper", rows), ("lower", c.shape[-1]), ("upper", c.shape[-1])):
            if given[name] is not None and np.ndim(given[name]) == 0:
                given[name] = np.full(count, float(given[name]))
        super().__init__(given, settings)
        self._pool = pool
        self.reset()

    def update(self, *, problems: Any = None, **arrays: Any) -> LpBatch:
        if not {"c", "A"}.isdisjoint(arrays):
            self._keeper = None
        super().update(problems=problems, **arrays)
        return self

    def reset(self) -> LpBatch:
        self._basis = self._keeper = None
        self._first = np.zeros(0, dtype=np.int32)
        super().reset()
        return self

    def _keeps(self) -> bool:
        if self._keeper is None and self._pool > 0 and self._plain(_core.lp_settings(), "c", "A"):
            A, c = self._arrays["A"], self._arrays["c"]
            rows, columns = A.shape
            settings = in_words(dict(self._settings))
            self._keeper = _core.LpSolver({"matrix": A, "cost": c}, rows, columns, settings, self._pool)
            self._first = np.full(self.problems, -1, dtype=np.int32)
        if self._keeper is not None and len(self._first) != self.problems:
            self._first = np.full(self.problems, -1, dtype=np.int32)
        return self._keeper is not None

    def _solve_kept(self, rows: np.ndarray) -> dict[str, Any]:
        r, v = self._arrays["A"].shape
        bounds = {
            "row_lower": self._or_absent("row_lower", rows, r, -np.inf),
            "row_upper": self._or_absent("row_upper", rows, r, np.inf),
            "column_lower": self._or_absent("lower", rows, v, -np.inf),
            "column_upper": self._or_absent("upper", rows, v, np.inf),
        }
        first = np.ascontiguousarray(self._first[rows])
        found: dict[str, Any] = self._keeper.solve(bounds, len(rows), r, v, first)
        self._first[rows] = first
        return found

    def solve(self, warm: bool = True, time_budget: float | None = None) -> LpResult:
        """As solve_lp; time_budget as of LcpBatch.solve."""
        start, budget = time.perf_counter(), _checked(time_budget)
        n = self.problems
        answers = _Answers(n)
        kept = warm and self._keeps()
        basis = self._basis if warm and not kept else None
        if basis is not None and len(basis) != n:
            kinds, counts = np.unique(basis, axis=0, return_counts=True)
            basis = np.repeat(kinds[np.argmax(counts)][None], n, axis=0)

        def solve(rows: np.ndarray) -> dict[str, Any]:
            if kept:
                return self._solve_kept(rows)
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
            ).to_dict()  # fmt: skip

        self._in_time(np.arange(n), budget, start, solve, answers.keep)
        fields = {name: answers.arrays[name] for name in LpResult.__dataclass_fields__ if name != "problem"}
        whole = {"matrix": "A", "cost": "c", "row_lower": "row_lower", "row_upper": "row_upper",
                 "column_lower": "lower", "column_upper": "upper"}  # fmt: skip
        r, v = fields["dual"].shape[2], fields["solution"].shape[2]
        missing = {"matrix": np.zeros((1, 0, v)), "row_lower": np.full((1, r), -np.inf),
                   "row_upper": np.full((1, r), np.inf), "column_lower": np.full((1, v), -np.inf),
                   "column_upper": np.full((1, v), np.inf)}  # fmt: skip
        problem: dict[str, Any] = {"tolerance": self._tolerance(_core.lp_settings())}
        for name, own in whole.items():
            array = self._arrays.get(own)
            if array is None:
                problem[name] = missing[name]
            else:
                array = array[None] if array.ndim == self._ranks[own] else array
                problem[name] = array[:, None, :] if name == "cost" else array
        result = LpResult(**fields, problem=problem)
        good = result.status[:, 0] == Status.solved
        if good.any() and not kept:
            if self._basis is None or len(self._basis) != n:
                self._basis = np.repeat(result.basis[np.argmax(good)][None], n, axis=0)
            self._basis[good] = result.basis[good]
        self._last = result
        self._learn(result.solution[:, 0], result.dual[:, 0], result.status[:, 0])
        return result

    def bounds(self) -> AnytimeBounds:
        """Certain bounds of the optimum of each problem, for its present arrays, solved or not.

        The multipliers and the point of its latest answer (or of another problem's answer) bound the optimum by weak
        duality, rounding included. A column without a bound on the side that its reduced cost needs leaves no lower
        bound."""
        c = self._whole("c", self._arrays["c"].shape[-1:], 0.0)
        v = c.shape[1]
        A = self._arrays.get("A", np.zeros((0, v)))
        r = A.shape[-2]
        x, y = self._latest(v, r)
        return bounds_of_lps(
            c, A if A.ndim == 2 else self._whole("A", (r, v), 0.0),
            self._whole("row_lower", (r,), -np.inf), self._whole("row_upper", (r,), np.inf),
            self._whole("lower", (v,), -np.inf), self._whole("upper", (v,), np.inf), x, y,
        )  # fmt: skip


class QpBatch(_Batch):
    """Minimises x'P x / 2 + q'x subject to l <= A x <= u and b - C x in cones, again and again with new numbers.

    Arrays as of solve_qp. Without cones, the method auto starts from the rows that were active in the latest answer. It
    stores factors if all problems share a definite P and A, and from the second solve with the same matrices on if each
    problem has its own. The methods active_set, admm and projected start at the latest answer. A problem that is not
    decided from its start is solved again without it."""

    _ranks = {"P": 2, "q": 1, "A": 2, "l": 1, "u": 1, "C": 2, "b": 1}

    def __init__(
        self, P: Any, q: Any, A: Any = None, l: Any = None, u: Any = None, C: Any = None, b: Any = None, *,
        cones: Any = (), method: str = "auto", **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__({"P": P, "q": q, "A": A, "l": l, "u": u, "C": C, "b": b}, settings)
        self._cones = list(cones)
        self._method = method
        self._keeper: Any = None
        self._kept_for: int | None = None  # problems of the keeper, where they have their own matrices
        self._new = True  # matrices that no solve has seen
        self._held: np.ndarray | None = None

    def update(self, *, problems: Any = None, **arrays: Any) -> QpBatch:
        if not {"P", "A"}.isdisjoint(arrays):
            self._keeper, self._new = None, True
        super().update(problems=problems, **arrays)
        return self

    def _taken(self, name: str, value: Any) -> np.ndarray:
        array = super()._taken(name, value)
        if name == "P" and array.shape[-1] == array.shape[-2]:
            require_symmetric(name, array)
        return array

    def reset(self) -> QpBatch:
        self._held = None
        super().reset()
        return self

    @property
    def state(self) -> np.ndarray | None:
        """The working sets, (n, r) of uint8: 0 inactive, 1 at l, 2 at u. None before the first answer. May be
        set, for reruns and from files."""
        return None if self._held is None else self._held.copy()

    @state.setter
    def state(self, held: Any) -> None:
        rows = 0 if self._arrays.get("A") is None else self._arrays["A"].shape[-2]
        given = np.array(held, dtype=np.uint8)
        if given.shape != (self.problems, rows) or given.max(initial=0) > 2:
            raise refuse("state", f"of shape {given.shape}", f"must be {(self.problems, rows)} of 0, 1, 2")
        self._held = given

    def _keeps(self) -> bool:
        """Whether there are working sets to begin with, and a solver that takes them."""
        if self._method not in ("auto", "automatic") or self._cones or self._held is None:
            return False
        if self._keeper is None or self._kept_for not in (self.problems, None):
            if len(self._held) != self.problems or not self._plain(_core.qp_settings(), "P", "A", shared=False):
                return False
            if self._new and self._own_matrices():
                return False  # a keeper costs as much as a solve does
            self._keeper = self._keeper_of(np.arange(self.problems))
            self._kept_for = self.problems if self._own_matrices() else None
        m = self._arrays["A"].shape[-2]
        return bool(self._keeper.keeps_factors()) and self._held.shape == (self.problems, m)

    def _own_matrices(self) -> bool:
        return any(self._arrays[name].ndim > self._ranks[name] for name in ("P", "A"))

    def _keeper_of(self, rows: np.ndarray) -> Any:
        """A solver of these problems, which serves any where all share their matrices."""
        P, A = self._arrays["P"], self._arrays["A"]
        if self._own_matrices():
            P, A = (
                np.ascontiguousarray(np.broadcast_to(a, (self.problems, *a.shape[-2:]))[rows]) for a in (P, A)
            )
        settings = in_words({**self._settings, "method": "auto"})
        return _core.QpSolver({"hessian": P, "matrix": A}, P.shape[-1], A.shape[-2], settings)

    def _solve_kept(self, rows: np.ndarray) -> dict[str, Any]:
        assert self._held is not None
        m, v = self._arrays["A"].shape[-2:]
        whole = len(rows) == len(self._held)
        keeper = self._keeper if whole or not self._own_matrices() else self._keeper_of(rows)
        q = self._part("q", rows)
        vectors = {
            "vector": np.ascontiguousarray(q),
            "lower": self._or_absent("l", rows, m, -np.inf),
            "upper": self._or_absent("u", rows, m, np.inf),
        }
        held = self._held if whole else self._held[rows]
        found: dict[str, Any] = keeper.solve(vectors, len(rows), v, m, held)
        self._held[rows] = held
        return found

    def solve(
        self, warm: bool = True, shift: tuple[int, int] | None = None, time_budget: float | None = None
    ) -> QpResult:
        """As solve_qp. shift (variables, rows): of a receding horizon, the start is the latest answer moved
        to the front by so many variables and rows, the end repeated. time_budget as of LcpBatch.solve."""
        began, budget = time.perf_counter(), _checked(time_budget)
        n = self.problems
        answers = _Answers(n)
        kept = warm and self._keeps()
        if kept and shift is not None and 0 < shift[1] <= self._held.shape[1]:  # type: ignore[union-attr]
            self._held = np.concatenate([self._held[:, shift[1] :], self._held[:, -shift[1] :]], axis=1)  # type: ignore[index]
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

        def solve(rows: np.ndarray, cold: bool = False) -> dict[str, Any]:
            if kept:
                return self._solve_kept(rows)
            part: dict[str, Any] = {name: self._part(name, rows) for name in self._ranks}
            if all(a is None or a.ndim == self._ranks[name] for name, a in part.items()):
                rows = rows[:1]
            begin = None if cold or not start else {name: a[rows] for name, a in start.items()}
            return solve_qp(
                **part, cones=self._cones, warm_start=begin, method=self._method,
                workspace=self._workspace, **self._settings,
            ).to_dict()  # fmt: skip

        def keep(rows: np.ndarray, answer: dict[str, Any]) -> None:
            answers.keep(rows, answer)
            if not start:
                return
            verdicts = (Status.solved, Status.infeasible, Status.unbounded, Status.nonconvex, Status.invalid_input)
            again = rows[~np.isin(answer["status"], verdicts)]
            if again.size:
                answers.keep(again, solve(again, cold=True))

        self._in_time(np.arange(n), budget, began, solve, keep)
        fields = {name: answers.arrays[name] for name in QpResult.__dataclass_fields__ if name != "problem"}
        v, m = fields["solution"].shape[1], fields["dual"].shape[1]
        k = fields["cone_dual"].shape[1]
        names = {"hessian": ("P", (v, v)), "vector": ("q", (v,)), "matrix": ("A", (m, v)), "lower": ("l", (m,)),
                 "upper": ("u", (m,)), "cone_matrix": ("C", (k, v)), "cone_vector": ("b", (k,))}  # fmt: skip
        problem: dict[str, Any] = {
            "cones": [[_CONES.get(kind, kind), int(size)] for kind, size in self._cones],
            "tolerance": self._tolerance(_core.qp_settings()),
        }
        for name, (own, shape) in names.items():
            array = self._arrays.get(own)
            if array is None:
                array = np.full(shape, {"lower": -np.inf, "upper": np.inf}.get(name, 0.0))
            problem[name] = np.broadcast_to(array, shape)[None] if array.ndim <= len(shape) else array
        result = QpResult(**fields, problem=problem)
        if not kept and self._method in ("auto", "automatic") and not self._cones:
            if self._held is None or self._held.shape != (n, m):
                self._held = np.zeros((n, m), np.uint8)
            done = np.flatnonzero(result.status != Status.cancelled)
            y = fields["dual"][done]
            self._held[done] = np.where(y > 0.0, 2, y < 0.0)
        self._new = False
        self._last = result
        self._learn(result.solution, result.dual, result.status)
        return result

    def bounds(self) -> AnytimeBounds:
        """As of LpBatch.bounds; without cones. Where P is not definite there is no lower bound.
        Errors: InvalidInput with cones."""
        if self._cones:
            raise refuse("cones", "given", "must be left out for bounds")
        v = self._arrays["q"].shape[-1]
        A = self._arrays.get("A", np.zeros((0, v)))
        r = A.shape[-2]
        x, y = self._latest(v, r)
        return bounds_of_qps(
            self._whole("P", (v, v), 0.0, each=False), self._whole("q", (v,), 0.0),
            A if A.ndim == 2 else self._whole("A", (r, v), 0.0),
            self._whole("l", (r,), -np.inf), self._whole("u", (r,), np.inf), x, y,
        )  # fmt: skip
