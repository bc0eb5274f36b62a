"""Decides LCPs and boxed LCPs that Lemke's method leaves open: an answer, or a proof that there is none."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from . import _core
from ._arrays import Batch
from ._results import Status
from ._settings import in_words, takes_settings

__all__ = ["LcpDecision", "decide_lcp"]


@dataclasses.dataclass(frozen=True, eq=False)
class LcpDecision:
    """The decision of one LCP or boxed LCP of order k.

    status: solved, infeasible, ray (undecided) or invalid_input. solution z (k,) or None. nodes: number of nodes
    examined. The proof of infeasible: tree (nodes, 3) of parent, pair and side (0: z_pair at its lower bound,
    1: w_pair = 0, 2: z_pair at its upper bound), the root (-1, -1, -1) first, or empty; leaf_farkas (leaves, k), a
    vector for each node without children, in their order, with two more columns for each friction row. bound: infinite
    if there is no answer at all; otherwise there is none with |z_j| <= bound for all z_j without bounds."""

    status: Any
    solution: np.ndarray | None
    residual: float
    nodes: int
    tree: np.ndarray
    leaf_farkas: np.ndarray
    bound: float
    problem: dict[str, Any] = dataclasses.field(repr=False)

    def verify(self, tolerance: float | None = None) -> bool:
        """Checks the answer, or every leaf and branch of the tree, again from M and q."""
        limit = self.problem["tolerance"] if tolerance is None else tolerance
        k = len(self.problem["vector"])
        if self.status == Status.solved:
            nothing = np.full((1, k), np.nan)
            given = {name: value[None] for name, value in self._arrays().items()}
            answer = {
                "solution": self.solution[None], "farkas": nothing,  # type: ignore[index]
                "status": np.zeros(1, np.uint8),
            }  # fmt: skip
            if "lower" in given:
                return bool(_core.boxed_lcp_residuals(given, answer, 1, k, False)[0] <= limit)
            return bool(_core.lcp_residuals(given, answer, 1, k)[0] <= limit)
        return self.status == Status.infeasible and self.proof_residual() <= limit

    def _arrays(self) -> dict[str, np.ndarray]:
        return {name: value for name, value in self.problem.items() if isinstance(value, np.ndarray)}

    def proof_residual(self) -> float:
        """The largest recomputed residual of the leaves' vectors; infinite if a branch lacks a side or a vector proves
        nothing."""
        tree = np.ascontiguousarray(self.tree, dtype=np.int32)
        leaves = np.ascontiguousarray(self.leaf_farkas, dtype=np.float64)
        given = {name: np.ascontiguousarray(value) for name, value in self._arrays().items()}
        return float(_core.lcp_tree_residual(given, tree, leaves, float(self.bound)))

    def message(self) -> str:
        """What the status says, in a sentence."""
        if self.status == Status.solved:
            return "solved"
        if self.status != Status.infeasible:
            return f"{self.status.name}: undecided after {self.nodes} nodes"
        if np.isinf(self.bound):
            return f"infeasible: no answer, by {len(self.leaf_farkas)} Farkas vectors"
        return f"infeasible: no answer with all |z| <= {self.bound:.3g}, by {len(self.leaf_farkas)} Farkas vectors"


_OPEN = (Status.ray, Status.inaccurate, Status.numerical_error, Status.iteration_limit)


def decide_open(
    arrays: dict[str, np.ndarray], answer: dict[str, Any], settings: dict[str, Any]
) -> dict[str, np.ndarray]:
    """Decides the problems that `answer` leaves open, writes answers and single proofs into its arrays and
    returns the trees: bound (n), tree (t, 4) of problem, parent, pair, side, leaf_farkas (l, k), with two
    more columns for each friction row, zero where a problem has fewer than others."""
    n, k = answer["solution"].shape
    decide = _core.decide_boxed_lcp if "lower" in arrays else _core.decide_lcp
    width = k + 2 * int((arrays["findex"] >= 0).sum(axis=1).max(initial=0)) if "findex" in arrays else k
    bound, trees, leaves = np.full(n, np.inf), [np.zeros((0, 4), np.int32)], [np.zeros((0, width))]
    rows = np.flatnonzero(np.isin(answer["status"], _OPEN))
    if rows.size and settings.get("max_nodes") != 0:
        whole = {
            name: np.ascontiguousarray(np.broadcast_to(array, (n, *array.shape[1:]))[rows])
            for name, array in arrays.items()
        }
        for p, one in zip(rows, decide(whole, len(rows), k, in_words(settings))):
            if one["status"] not in (Status.solved, Status.infeasible):
                continue
            answer["status"][p], answer["residual"][p] = one["status"], one["residual"]
            answer["solution"][p] = one["solution"] if one["status"] == Status.solved else np.nan
            if one["status"] == Status.solved:
                continue
            bound[p] = one["bound"]
            own = np.asarray(one["leaf_farkas"])
            if len(one["tree"]) <= 1 and np.isinf(bound[p]) and own.shape[1] == k:
                if answer.get("farkas") is not None:
                    answer["farkas"][p] = own[0]
                continue
            trees.append(np.insert(np.asarray(one["tree"], np.int32), 0, p, axis=1))
            leaves.append(np.pad(own, ((0, 0), (0, width - own.shape[1]))))
    return {"bound": bound, "tree": np.concatenate(trees), "leaf_farkas": np.concatenate(leaves)}


@takes_settings(_core.lcp_decision_settings())
def decide_lcp(M: Any, q: Any, *, strict: bool = False, **settings: Any) -> list[LcpDecision]:
    """Finds z >= 0 with w = M z + q >= 0 and z'w = 0, or a proof that there is none, for each of n problems.

    First Lemke's method runs, with several covering vectors. Problems that remain open are decided by branch and bound
    over the pairs (z_k, w_k), of which one is zero in every answer. Each node is a linear program; a leaf is closed by a
    Farkas vector. That may take thousands of times as long as solve_lcp. M (n, k, k), q (n, k); k at most 128.
    Errors: InvalidInput for shapes and settings.
    """
    batch = Batch(strict)
    batch.add("matrix", M, "k", "k")
    batch.add("vector", q, "k")
    arrays = batch.arrays()
    default = next(s["default"] for s in _core.lcp_decision_settings() if s["name"] == "tolerance")
    tolerance = float(settings.get("tolerance", default))
    found = _core.decide_lcp(arrays, batch.problems, batch.extents["k"], in_words(settings))
    return [
        LcpDecision(
            **{**one, "status": Status(one["status"]), "solution": one["solution"] if one["status"] == 0 else None},
            problem={"matrix": arrays["matrix"][p], "vector": arrays["vector"][p], "tolerance": tolerance},
        )
        for p, one in enumerate(found)
    ]  # fmt: skip
