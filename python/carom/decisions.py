"""LCPs that Lemke's method leaves on a ray, decided: an answer, or a proof that there is none."""

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
    """status solved, infeasible, ray (undecided) or invalid_input; solution z (k) or None; nodes looked at;
    where infeasible the proof: tree (nodes, 3) of parent, pair and side (0: z_pair = 0, 1: w_pair = 0), the
    root (-1, -1, -1) first, or empty; leaf_farkas (leaves, k), of the nodes without children in their order;
    bound: infinite where there is no answer at all, else there is none with all z_j <= bound."""

    status: Any
    solution: np.ndarray | None
    residual: float
    nodes: int
    tree: np.ndarray
    leaf_farkas: np.ndarray
    bound: float
    problem: dict[str, Any] = dataclasses.field(repr=False)

    def verify(self, tolerance: float | None = None) -> bool:
        """Whether the answer, or every leaf and branch of the tree, is proven anew from M and q."""
        M, q = self.problem["matrix"], self.problem["vector"]
        limit = self.problem["tolerance"] if tolerance is None else tolerance
        if self.status == Status.solved:
            given = {"matrix": M[None], "vector": q[None]}
            answer = {
                "solution": self.solution[None], "farkas": None,  # type: ignore[index]
                "status": np.zeros(1, np.uint8),
            }  # fmt: skip
            return bool(_core.lcp_residuals(given, answer, 1, len(q))[0] <= limit)
        if self.status != Status.infeasible:
            return False
        tree = np.ascontiguousarray(self.tree, dtype=np.int32)
        leaves = np.ascontiguousarray(self.leaf_farkas, dtype=np.float64)
        return bool(_core.lcp_tree_residual(M, q, tree, leaves, float(self.bound)) <= limit)

    def message(self) -> str:
        """What the status says, in a sentence."""
        if self.status == Status.solved:
            return "solved"
        if self.status != Status.infeasible:
            return f"{self.status.name}: undecided after {self.nodes} nodes"
        if np.isinf(self.bound):
            return f"infeasible: no answer, by {len(self.leaf_farkas)} Farkas vectors"
        return f"infeasible: no answer with all z <= {self.bound:.3g}, by {len(self.leaf_farkas)} Farkas vectors"


_OPEN = (Status.ray, Status.inaccurate, Status.numerical_error, Status.iteration_limit)


def decide_open(
    arrays: dict[str, np.ndarray], answer: dict[str, Any], settings: dict[str, Any]
) -> dict[str, np.ndarray]:
    """Decides the problems that `answer` leaves open, writes answers and single proofs into its arrays and
    returns the trees: bound (n), tree (t, 4) of problem, parent, pair, side, leaf_farkas (l, k)."""
    n, k = answer["solution"].shape
    bound, trees, leaves = np.full(n, np.inf), [np.zeros((0, 4), np.int32)], [np.zeros((0, k))]
    rows = np.flatnonzero(np.isin(answer["status"], _OPEN))
    if rows.size and settings.get("max_nodes") != 0:
        whole = {
            name: np.ascontiguousarray(np.broadcast_to(array, (n, *array.shape[1:]))[rows])
            for name, array in arrays.items()
        }
        for p, one in zip(rows, _core.decide_lcp(whole, len(rows), k, in_words(settings))):
            if one["status"] not in (Status.solved, Status.infeasible):
                continue
            answer["status"][p], answer["residual"][p] = one["status"], one["residual"]
            answer["solution"][p] = one["solution"] if one["status"] == Status.solved else np.nan
            if one["status"] == Status.solved:
                continue
            bound[p] = one["bound"]
            if len(one["tree"]) <= 1 and np.isinf(bound[p]):
                if answer.get("farkas") is not None:
                    answer["farkas"][p] = one["leaf_farkas"][0]
                continue
            trees.append(np.insert(np.asarray(one["tree"], np.int32), 0, p, axis=1))
            leaves.append(np.asarray(one["leaf_farkas"]))
    return {"bound": bound, "tree": np.concatenate(trees), "leaf_farkas": np.concatenate(leaves)}


@takes_settings(_core.lcp_decision_settings())
def decide_lcp(M: Any, q: Any, *, strict: bool = False, **settings: Any) -> list[LcpDecision]:
    """z >= 0 with w = M z + q >= 0 and z'w = 0, or a proof that there is none, one decision a problem.

    What solve_lcp leaves open is tried along other covering vectors, then by a tree over the pairs
    (z_k, w_k), of which one is zero in every answer: a node is a linear program, closed by Farkas' vector.
    M (n, k, k), q (n, k); k at most 128. A tree may take thousands of times as long as solve_lcp.
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
