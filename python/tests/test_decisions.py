"""Decisions of LCPs that Lemke's method leaves open: answers, and trees judged by a script of its own."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from math import fsum, inf
from pathlib import Path

import numpy as np

import carom
from carom import Status

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import lcp_rays


def total(terms):
    terms = list(terms)
    return 0.0 if abs(fsum(terms)) <= 1e-8 * max(map(abs, terms), default=0.0) else fsum(terms)


def proves(M, q, tree, leaves, bound):
    """Whether both sides of every branch are there and every leaf is empty; shares nothing with carom."""
    n, children = len(q), [{} for _ in tree]
    if len(tree) == 0:
        tree, children = [(-1, -1, -1)], [{}]
    for i, (parent, pair, side) in enumerate(tree):
        if i == 0:
            continue
        if not (0 <= parent < i and 0 <= pair < n and side in (0, 1)) or (pair, side) in children[parent]:
            return False
        children[parent][pair, side] = i
    at = 0
    for i in range(len(tree)):
        if children[i]:
            if {side for _, side in children[i]} != {0, 1} or len({pair for pair, _ in children[i]}) != 1:
                return False
            continue
        if at == len(leaves):
            return False
        y, fixed, node = leaves[at], set(), i
        while tree[node][0] >= 0:
            fixed.add((tree[node][1], tree[node][2]))
            node = tree[node][0]
        if any(y[k] < 0 and (k, 1) not in fixed for k in range(n)):
            return False
        most = [q[k] * y[k] for k in range(n)]
        for j in range(n):
            pull = 0.0 if (j, 0) in fixed else total(M[i][j] * y[i] for i in range(n))
            if pull > 0:
                if bound == inf:
                    return False
                most.append(pull * bound)
        if not total(most) < 0:
            return False
        at += 1
    return at == len(leaves)


def by_enumeration(M, q):
    """Whether any complementary basis is an answer; integers of few digits."""
    n = len(q)
    for basis in itertools.product((False, True), repeat=n):
        own = np.flatnonzero(basis)
        z = np.zeros(n)
        if own.size:
            z[own] = np.linalg.lstsq(M[np.ix_(own, own)], -q[own], rcond=None)[0]
        w = M @ z + q
        if z.min() >= -1e-9 and w.min() >= -1e-9 and np.abs(z * w).max() <= 1e-9:
            return True
    return False


def test_integers_are_decided_as_enumeration_says():
    rng = np.random.default_rng(1)
    kinds = {"solved": 0, "tree": 0, "farkas": 0}
    for _ in range(300):
        n = int(rng.integers(2, 7))
        M, q = rng.integers(-3, 4, (n, n)).astype(float), rng.integers(-4, 3, n).astype(float)
        (own,) = carom.decide_lcp(M, q)
        assert own.status in (Status.solved, Status.infeasible) and own.verify()
        if own.status == Status.solved:
            w = M @ own.solution + q
            assert own.solution.min() >= 0 and w.min() >= -1e-9 and np.abs(w * own.solution).max() <= 1e-9
            kinds["solved"] += 1
            continue
        assert not by_enumeration(M, q)
        assert proves(M.tolist(), q.tolist(), own.tree.tolist(), own.leaf_farkas.tolist(), own.bound)
        kinds["tree" if len(own.tree) > 1 else "farkas"] += 1
    assert min(kinds.values()) >= 10, kinds


def test_the_ray_of_the_book_has_an_answer():
    M, q = [[0, 0, 10, 20], [0, 0, 30, 15], [10, 20, 0, 0], [30, 15, 0, 0]], np.full(4, -1.0)
    assert carom.solve_lcp(M, q, max_nodes=0).status[0] == Status.ray
    (own,) = carom.decide_lcp(M, q)
    assert own.status == Status.solved and own.verify()


def driven(rng, m):
    """Planar contacts all around one body, walls that move: Stewart and Trinkle's LCP of order 4 m."""
    N, D = np.zeros((m, 3)), np.zeros((2 * m, 3))
    for c in range(m):
        p, angle = np.array([rng.integers(-2, 3), -1.0]), rng.uniform(-2.4, 2.4)
        normal = np.array([-np.sin(angle), np.cos(angle)])
        tangent = np.array([normal[1], -normal[0]])
        for rows, at, v in ((N, c, normal), (D, 2 * c, tangent), (D, 2 * c + 1, -tangent)):
            rows[at] = *v, p[0] * v[1] - p[1] * v[0]
    J, E, n = np.vstack([N, D]), np.kron(np.eye(m), np.ones((2, 1))), 4 * m
    M = np.zeros((n, n))
    M[: 3 * m, : 3 * m] = J @ J.T
    M[m : 3 * m, 3 * m :] = E
    M[3 * m :, :m], M[3 * m :, m : 3 * m] = np.diag(rng.uniform(0.1, 1.0, m)), -E.T
    q = np.concatenate([J @ rng.normal(size=3), np.zeros(m)])
    q[:m] += 0.5 * rng.normal(size=m)
    return M, q


def test_trees_of_contacts_and_none_that_is_changed():
    rng = np.random.default_rng(5)
    M, q = map(np.array, zip(*[driven(rng, 6) for _ in range(24)]))
    trees = refused = 0
    for own, matrix, vector in zip(carom.decide_lcp(M, q), M, q):
        assert own.status in (Status.solved, Status.infeasible) and own.verify(), own.message()
        if own.status == Status.solved or len(own.tree) < 3:
            continue
        trees += 1
        parts = matrix.tolist(), vector.tolist()
        assert proves(*parts, own.tree.tolist(), own.leaf_farkas.tolist(), own.bound)
        for change in ("side", "leaf", "node", "sign"):
            tree, leaves = own.tree.copy(), own.leaf_farkas.copy()
            if change == "side":
                tree[rng.integers(1, len(tree)), 2] ^= 1
            elif change == "leaf":
                leaves = np.delete(leaves, rng.integers(len(leaves)), axis=0)
            elif change == "node":
                tree = np.delete(tree, len(tree) - 1, axis=0)
            else:
                leaves[rng.integers(len(leaves))] *= -1.0
            assert not dataclasses.replace(own, tree=tree, leaf_farkas=leaves).verify(), change
            assert not proves(*parts, tree.tolist(), leaves.tolist(), own.bound), change
            refused += 1
    assert trees >= 3 and refused == 4 * trees


def test_eight_families_are_decided_without_a_bound():
    """bench/lcp_rays.py prints the same of 2,560 problems."""
    rng, undecided, proofs = np.random.default_rng(431), [], 0
    for planar, contacts in ((True, 7), (False, 4), (True, 14)):
        for family in lcp_rays.FAMILIES:
            M, q = map(np.array, zip(*[lcp_rays.problem(rng, family, planar, contacts) for _ in range(6)]))
            for own, matrix, vector in zip(carom.decide_lcp(M, q), M, q):
                assert own.verify() == (own.status in (Status.solved, Status.infeasible))
                if own.status == Status.infeasible:
                    tree, leaves = own.tree.tolist(), own.leaf_farkas.tolist()
                    assert proves(matrix.tolist(), vector.tolist(), tree, leaves, own.bound)
                    proofs += 1
                if own.status not in (Status.solved, Status.infeasible) or own.bound < inf:
                    undecided.append(family)
    assert proofs >= 30 and len(undecided) <= 0.025 * 24 * 6, undecided


def test_what_is_not_decided_says_so():
    rng = np.random.default_rng(5)
    M, q = map(np.array, zip(*[driven(rng, 6) for _ in range(24)]))
    short = [own for own in carom.decide_lcp(M, q, max_nodes=1) if own.status == Status.ray]
    assert len(short) >= 3
    for own in short:
        assert own.solution is None and not own.verify() and "undecided" in own.message()


def test_solve_lcp_is_one_door():
    rng = np.random.default_rng(6)
    M = rng.integers(-3, 4, (400, 5, 5)).astype(float)
    q = rng.integers(-4, 3, (400, 5)).astype(float)
    plain, whole = carom.solve_lcp(M, q, max_nodes=0), carom.solve_lcp(M, q)
    open_ = plain.status == Status.ray
    assert 20 < open_.sum() and np.isin(whole.status, (Status.solved, Status.infeasible)).all()
    assert whole.verify().all() and np.isin(whole.status[open_], (Status.solved, Status.infeasible)).all()
    np.testing.assert_array_equal(plain.z[~open_], whole.z[~open_])
    own = carom.decide_lcp(M[open_], q[open_])
    for p, decision in zip(np.flatnonzero(open_), own):
        assert whole.status[p] == decision.status and whole.decision(int(p)).verify()
        assert (whole.status[p] == Status.solved) == by_enumeration(M[p], q[p])
        if decision.status == Status.infeasible:
            found = whole.decision(int(p))
            assert proves(M[p], q[p], found.tree.tolist(), found.leaf_farkas.tolist(), found.bound)
    trees = np.unique(whole.tree[:, 0])
    assert len(trees) > 10
    whole.leaf_farkas[0] *= -1.0  # spoils the first tree, and no other
    assert np.flatnonzero(~whole.verify()).tolist() == [trees[0]]
