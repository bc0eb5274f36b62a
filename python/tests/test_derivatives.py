"""Derivatives of answers, against differences of the modes' equations in long double, one-sided
differences of the solver at kinks, closed forms, and the adjoint identity."""

from __future__ import annotations

import numpy as np
import pytest

import carom

Long = np.longdouble
STEP = Long(1e-5)


def solved(A, b):
    """A^-1 b in long double."""
    A, b = np.array(A, dtype=Long), np.array(b, dtype=Long)
    n = len(b)
    for k in range(n):
        p = k + int(np.argmax(abs(A[k:, k])))
        A[[k, p]], b[[k, p]] = A[[p, k]], b[[p, k]]
        factor = A[k + 1 :, k] / A[k, k]
        A[k + 1 :] -= factor[:, None] * A[k]
        b[k + 1 :] -= factor * b[k]
    for k in range(n - 1, -1, -1):
        b[k] = (b[k] - A[k, k + 1 :] @ b[k + 1 :]) / A[k, k]
    return b


def difference(f, step=STEP):
    """df/dt at 0, of fourth order."""
    return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * step)


def apart(found, expected, condition):
    """Error relative to the largest component, as the acceptance has it."""
    if expected.size == 0:
        return 0.0
    error = np.max(np.abs(found - expected)) / max(np.max(np.abs(expected)), Long(1e-300))
    return float(error) / max(1.0, condition / 1e6)


def inner(one, other):
    return sum(np.sum((a * b).reshape(len(a), -1), axis=1) for a, b in zip(one, other))


def sizes(one, other):
    return sum(np.sum(np.abs(a * b).reshape(len(a), -1), axis=1) for a, b in zip(one, other))


def definite(rng, n, k):
    B, S = rng.normal(size=(2, n, k, k))
    return B @ B.transpose(0, 2, 1) / k + 0.1 * np.eye(k) + (S - S.transpose(0, 2, 1)) / 2


@pytest.mark.parametrize("k", [1, 2, 5, 12, 28])
def test_lcps_are_right_in_long_double(k):
    rng = np.random.default_rng(k)
    n = 40
    M, q = definite(rng, n, k), rng.normal(size=(n, k))
    r = carom.solve_lcp(M, q)
    gz, gw = rng.normal(size=(2, n, k))
    dM, dq = rng.normal(size=(n, k, k)), rng.normal(size=(n, k))
    g, d = r.vjp(solution=gz, w=gw), r.jvp(matrix=dM, vector=dq)
    assert set(g.words()) == set(d.words()) == {"smooth"}
    left, right = inner((g.matrix, g.vector), (dM, dq)), inner((gz, gw), (d.solution, d.w))
    assert np.max(np.abs(left - right) / sizes((gz, gw), (d.solution, d.w))) < 1e-12
    factors = r.vjp(solution=gz, w=gw, factored=True).matrix
    np.testing.assert_array_equal(-np.einsum("ni,nj->nij", *factors), g.matrix)
    for p in range(n):
        held = np.flatnonzero(r.solution[p] > 0)

        def z(t, p=p, held=held):
            found = np.zeros(k, dtype=Long)
            moved = M[p].astype(Long) + t * dM[p], q[p].astype(Long) + t * dq[p]
            found[held] = solved(moved[0][np.ix_(held, held)], -moved[1][held])
            return np.concatenate([found, moved[0] @ found + moved[1]])

        expected = difference(z)
        assert apart(np.concatenate([d.solution[p], d.w[p]]), expected, d.condition[p]) < 1e-10


def kinks(rng, n, k, b):
    """LCPs with b rows where z = w = 0."""
    M = definite(rng, n, k)
    z, w = np.zeros((2, n, k))
    for p in range(n):
        place = rng.permutation(k)
        held = place[b : b + (k - b) // 2]
        z[p, held] = rng.uniform(0.5, 1.5, len(held))
        rest = place[b + len(held) :]
        w[p, rest] = rng.uniform(0.5, 1.5, len(rest))
    return M, w - np.einsum("nij,nj->ni", M, z)


@pytest.mark.parametrize("b", [1, 2, 3])
def test_lcp_kinks_have_one_sided_derivatives_and_named_elements(b):
    rng = np.random.default_rng(100 + b)
    n, k = 40, 7
    M, q = kinks(rng, n, k, b)
    r = carom.solve_lcp(M, q)
    g = r.vjp(solution=rng.normal(size=(n, k)))
    assert set(g.words()) == {"kink"} and (g.doubtful == b).all() and (g.reach == 0).all()
    dM, dq = rng.normal(size=(n, k, k)), rng.normal(size=(n, k))
    d = r.jvp(matrix=dM, vector=dq)
    t = 1e-6
    one, two = (carom.solve_lcp(M + s * dM, q + s * dq).solution for s in (t, 2 * t))
    base = r.solution
    np.testing.assert_allclose(d.solution, (4 * one - two - 3 * base) / (2 * t), rtol=1e-6, atol=1e-6)
    # Against the enumerated elements: held is all of beta, free none, mean their mean.
    J = {word: r.jacobian("solution", "vector", at_kink=word, with_status=True)[0] for word in ("held", "free", "mean")}
    np.testing.assert_allclose(J["mean"], (J["held"] + J["free"]) / 2, atol=1e-13)
    for p in range(n):
        z, w = base[p], r.w[p]
        for word, held in (("free", z > 1e-9), ("held", w < 1e-9)):
            held = np.flatnonzero(held)
            expected = np.zeros((k, k))
            expected[np.ix_(held, held)] = -np.linalg.inv(M[p][np.ix_(held, held)])
            np.testing.assert_allclose(J[word][p], expected, atol=1e-11)
    assert np.isnan(r.vjp(solution=np.ones((n, k)), at_kink="nan").vector).all()
    with pytest.raises(carom.SolveError, match="problem 0 is kink"):
        r.vjp(solution=np.ones((n, k)), at_kink="raise")


def test_the_touch_test_looks_at_what_the_loss_sees():
    # The second row touches; only losses that see z_1 have a kink.
    r = carom.solve_lcp(np.eye(2), [-1.0, 0.0])
    seen, unseen = r.vjp(solution=[[1.0, 1.0]]), r.vjp(solution=[[1.0, 0.0]])
    assert seen.words() == ["kink"] and unseen.words() == ["smooth"]
    np.testing.assert_array_equal(seen.vector, [-1.0, -0.5])
    np.testing.assert_array_equal(unseen.vector, [-1.0, 0.0])
    assert r.jvp(vector=[1.0, 0.0]).words() == ["smooth"]
    up, down = r.jvp(vector=[0.0, 1.0]), r.jvp(vector=[0.0, -1.0])
    assert up.words() == down.words() == ["kink"]
    np.testing.assert_array_equal(up.solution, [[0.0, 0.0]])
    np.testing.assert_array_equal(down.solution, [[0.0, 1.0]])


def test_lcp_statuses_by_construction():
    # Two equal contacts: M_aa singular. One held, its twin doubtful: S = 0 is no P-matrix.
    twins = carom.solve_lcp([[1.0, 1.0], [1.0, 1.0]], [-1.0, -1.0])
    assert twins.vjp(solution=[[1.0, 0.0]]).words() == ["set_valued"]
    # max(0, -q) of noise beside rows of size one counts as touching.
    noise = carom.solve_lcp(np.eye(2), [1.0, 1e-17])
    assert noise.vjp(solution=[[1.0, 1.0]]).words() == ["kink"]
    # The same in units of their own is not noise.
    own = carom.solve_lcp(np.diag([1.0, 1e-34]), [1.0, 1e-17])
    assert own.vjp(solution=[[1.0, 1.0]]).words() == ["smooth"]
    none = carom.solve_lcp([[-1.0]], [-1.0])
    gradient = none.vjp(solution=[[1.0]])
    assert gradient.words() == ["not_solved"] and np.isnan(gradient.vector).all()
    assert (none.vjp(solution=[[1.0]], not_solved="zero").vector == 0.0).all()


def test_a_stale_result_is_refused():
    M, q = np.eye(2)[None].copy(), np.array([[-1.0, 1.0]])
    r = carom.solve_lcp(M, q)
    assert r.vjp(solution=np.ones((1, 2))).words() == ["smooth"]
    q[0, 0] = -2.0  # the caller's own memory
    assert r.vjp(solution=np.ones((1, 2))).words() == ["not_solved"]


def test_neighbours_batches_and_threads_do_not_change_bits():
    rng = np.random.default_rng(5)
    M, q = definite(rng, 200, 6), rng.normal(size=(200, 6))
    gz = rng.normal(size=(200, 6))
    whole = carom.solve_lcp(M, q).vjp(solution=gz)
    one = carom.solve_lcp(M, q).vjp(solution=gz, threads=1)
    assert whole.matrix.tobytes() == one.matrix.tobytes()
    q[17] = np.nan
    broken = carom.solve_lcp(M, q).vjp(solution=gz)
    assert broken.words()[17] == "not_solved" and np.isnan(broken.vector[17]).all()
    rest = np.arange(200) != 17
    assert broken.matrix[rest].tobytes() == whole.matrix[rest].tobytes()
    alone = carom.solve_lcp(M[3], q[3]).vjp(solution=gz[3])
    assert alone.matrix.shape == (6, 6) and alone.matrix.tobytes() == whole.matrix[3].tobytes()


def test_shared_inputs_have_the_sum():
    rng = np.random.default_rng(6)
    M, q = definite(rng, 1, 5), rng.normal(size=(30, 5))
    gz = rng.normal(size=(30, 5))
    for shared in (M, M[0]):
        g = carom.solve_lcp(shared, q).vjp(solution=gz)
        each = carom.solve_lcp(np.repeat(M, 30, axis=0), q).vjp(solution=gz)
        assert g.matrix.shape == shared.shape
        np.testing.assert_allclose(g.matrix.reshape(5, 5), each.matrix.sum(axis=0), rtol=1e-14)
        assert g.vector.tobytes() == each.vector.tobytes()


def test_reach_is_where_modes_change():
    rng = np.random.default_rng(7)
    M, q = definite(rng, 60, 6), rng.normal(size=(60, 6))
    r = carom.solve_lcp(M, q)
    dq = rng.normal(size=(60, 6))
    d = r.jvp(vector=dq)  # along q modes are exact, not first order alone
    inside = carom.solve_lcp(M, q + 0.999 * d.reach[:, None] * dq)
    outside = carom.solve_lcp(M, q + 1.001 * d.reach[:, None] * dq)
    finite = np.isfinite(d.reach)
    assert finite.sum() > 40
    same = ((inside.solution > 0) == (r.solution > 0)).all(axis=1)
    other = ((outside.solution > 0) != (r.solution > 0)).any(axis=1)
    assert same[finite].all() and other[finite].all()
    without = r.jvp(vector=dq, reach=False)
    assert np.isnan(without.reach).all()
    np.testing.assert_array_equal(without.solution, d.solution)


def qps(rng, n, v, r, equations=0):
    B = rng.normal(size=(n, v, v))
    P = B @ B.transpose(0, 2, 1) / v + 0.1 * np.eye(v)
    q, A = rng.normal(size=(n, v)), rng.normal(size=(n, r, v))
    middle = np.einsum("nij,nj->ni", A, 0.3 * rng.normal(size=(n, v)))
    l, u = middle - rng.uniform(0, 1, (n, r)), middle + rng.uniform(0, 1, (n, r))
    l[:, 2::3] = -np.inf
    u[:, :equations] = l[:, :equations]
    return P, q, A, l, u


QP = ("hessian", "vector", "matrix", "lower", "upper", "cone_matrix", "cone_vector")


@pytest.mark.parametrize("v, r, equations", [(1, 1, 0), (3, 4, 0), (6, 8, 2), (12, 20, 1)])
def test_qps_are_right_in_long_double(v, r, equations):
    rng = np.random.default_rng(10 * v + r)
    n = 30
    P, q, A, l, u = qps(rng, n, v, r, equations)
    found = carom.solve_qp(P, q, A, l, u)
    keep = found.status == carom.Status.solved
    assert keep.sum() >= 24
    cotangent = {"solution": rng.normal(size=(n, v)), "dual": rng.normal(size=(n, r)), "objective": rng.normal(size=n)}
    direction = {"hessian": rng.normal(size=(n, v, v)), "vector": rng.normal(size=(n, v)),
                 "matrix": rng.normal(size=(n, r, v)), "lower": rng.normal(size=(n, r)), "upper": rng.normal(size=(n, r))}
    direction["lower"][:, :equations] = direction["upper"][:, :equations]
    g, d = found.vjp(**cotangent), found.jvp(**direction)
    assert {g.words()[p] for p in range(n) if keep[p]} == {"smooth"}
    assert g.words() == d.words()
    np.testing.assert_array_equal(g.hessian, g.hessian.transpose(0, 2, 1))
    names = tuple(direction)
    left = inner([getattr(g, name)[keep] for name in names], [direction[name][keep] for name in names])
    answers = [getattr(d, name)[keep] for name in cotangent]
    given = [cotangent[name][keep] for name in cotangent]
    assert np.max(np.abs(left - inner(given, answers)) / (1e-3 + sizes(given, answers))) < 1e-12
    assert (g.lower[keep][~np.isfinite(l[keep])] == 0).all()
    for p in np.flatnonzero(keep):
        y = found.dual[p]
        held = np.flatnonzero((np.abs(y) > 1e-8) | (l[p] == u[p]))
        upper = y > 0
        bound = np.where(upper, u[p], l[p])[held]
        along = np.where(upper, direction["upper"][p], direction["lower"][p])[held]
        dP = (direction["hessian"][p] + direction["hessian"][p].T) / 2

        def answer(t, p=p, held=held, bound=bound, along=along, dP=dP):
            G = (A[p].astype(Long) + t * direction["matrix"][p])[held]
            m = len(held)
            K = np.zeros((v + m, v + m), dtype=Long)
            K[:v, :v], K[:v, v:], K[v:, :v] = P[p].astype(Long) + t * dP, G.T, G
            return solved(K, np.concatenate([-(q[p].astype(Long) + t * direction["vector"][p]), bound.astype(Long) + t * along]))

        got = np.concatenate([d.solution[p], d.dual[p][held]])
        assert apart(got, difference(answer), d.condition[p]) < 1e-10


def cone_answer(P, q, C, b, x, z, states, size):
    """(x, z, objective) by Newton's method in long double, with the cones' states held."""
    R = np.diag([1.0] + [-1.0] * (size - 1)).astype(Long)
    v = len(q)
    blocks = [slice(c * size, (c + 1) * size) for c in range(len(states))]
    x, z = x.astype(Long), z.astype(Long)
    tau = [Long(0)] * len(states)
    for c, rows in enumerate(blocks):
        s = b[rows] - C[rows] @ x
        if states[c] == "edge":
            tau[c] = z[rows] @ (R @ s) / (s @ s)
        elif states[c] == "free":
            z[rows] = 0
    for _ in range(5):
        top, gradients, rest = P.copy(), [], []
        for c, rows in enumerate(blocks):
            s = b[rows] - C[rows] @ x
            if states[c] == "edge":
                z[rows] = tau[c] * (R @ s)
                top = top - tau[c] * C[rows].T @ R @ C[rows]
                gradients.append((R @ s) @ C[rows])
                rest.append(s @ R @ s / 2)
            elif states[c] == "apex":
                gradients.extend(C[rows])
                rest.extend(s)
        m = len(gradients)
        K = np.zeros((v + m, v + m), dtype=Long)
        K[:v, :v] = top
        if m:
            K[:v, v:], K[v:, :v] = np.array(gradients).T, np.array(gradients)
        step = solved(K, np.concatenate([-(P @ x + q + C.T @ z), np.array(rest, dtype=Long)]))
        x = x + step[:v]
        place = v
        for c, rows in enumerate(blocks):
            if states[c] == "edge":
                tau[c] += step[place]
                place += 1
            elif states[c] == "apex":
                z[rows] += step[place : place + size]
                place += size
    for c, rows in enumerate(blocks):
        if states[c] == "edge":
            z[rows] = tau[c] * (R @ (b[rows] - C[rows] @ x))
    return np.concatenate([x, z, [x @ P @ x / 2 + q @ x]])


def test_cones_are_right_in_long_double():
    """Second-order cones in all three states."""
    rng = np.random.default_rng(21)
    n, v, size = 60, 6, 3
    B = rng.normal(size=(n, v, v))
    P = B @ B.transpose(0, 2, 1) / v + 0.2 * np.eye(v)
    q, C, b = 2 * rng.normal(size=(n, v)), rng.normal(size=(n, 2 * size, v)), rng.normal(size=(n, 2 * size))
    b[:, ::size] += 1.0
    r = carom.solve_qp(P, q, C=C, b=b, cones=[("soc", size), ("soc", size)])
    keep = r.status == carom.Status.solved
    direction = {"hessian": rng.normal(size=(n, v, v)), "vector": rng.normal(size=(n, v)),
                 "cone_matrix": rng.normal(size=(n, 2 * size, v)), "cone_vector": rng.normal(size=(n, 2 * size))}
    direction["hessian"] += direction["hessian"].transpose(0, 2, 1)
    d = r.jvp(**direction)
    cotangent = {"solution": rng.normal(size=(n, v)), "cone_dual": rng.normal(size=(n, 2 * size)), "objective": rng.normal(size=n)}
    g = r.vjp(**cotangent)
    assert {g.words()[p] for p in np.flatnonzero(keep)} == {"smooth"} and keep.sum() > 50
    left = inner([getattr(g, name)[keep] for name in direction], [a[keep] for a in direction.values()])
    given, answers = [a[keep] for a in cotangent.values()], [getattr(d, name)[keep] for name in cotangent]
    assert np.max(np.abs(left - inner(given, answers)) / sizes(given, answers)) < 1e-12
    seen = set()
    for p in np.flatnonzero(keep):
        s = (b[p] - C[p] @ r.solution[p]).reshape(2, size)
        z = r.cone_dual[p].reshape(2, size)
        states = ["free" if np.abs(z[c]).max() < 1e-6 else "apex" if np.abs(s[c]).max() < 1e-6 else "edge" for c in (0, 1)]
        seen.update(states)
        names = {"hessian": P, "vector": q, "cone_matrix": C, "cone_vector": b}

        def answer(t, p=p, states=states, names=names):
            moved = [a[p].astype(Long) + t * direction[name][p] for name, a in names.items()]
            return cone_answer(*moved, r.solution[p], r.cone_dual[p], states, size)

        got = np.concatenate([d.solution[p], d.cone_dual[p], [d.objective[p]]])
        assert apart(got, difference(answer, STEP / 20), d.condition[p]) < 1e-10
    assert seen == {"free", "apex", "edge"}


def test_cones_between_two_states():
    """x on the boundary of the cone, where nothing presses: it leaves inwards, and slides along outwards."""
    rng = np.random.default_rng(22)
    n = 200
    B = rng.normal(size=(n, 3, 3))
    P = B @ B.transpose(0, 2, 1) / 3 + 0.3 * np.eye(3)
    w = rng.normal(size=(n, 2))
    x = rng.uniform(0.5, 2, (n, 1)) * np.concatenate([np.linalg.norm(w, axis=1, keepdims=True), w], axis=1)
    q = -np.einsum("nij,nj->ni", P, x)
    r = carom.solve_qp(P, q, C=-np.eye(3), b=np.zeros(3), cones=[("soc", 3)])
    dq, g = rng.normal(size=(2, n, 3))
    d = r.jvp(vector=dq)
    assert set(d.words()) == {"kink"} and (d.doubtful == 1).all()
    left = {element: r.vjp(solution=g, at_kink=element) for element in ("free", "held", "mean")}
    inwards = 0
    for p in range(n):
        v = np.concatenate([x[p, :1], -x[p, 1:]])
        inverse = np.linalg.inv(P[p])
        free = -inverse @ dq[p]
        along = inverse @ v / (v @ inverse @ v)
        inwards += v @ free > 0
        np.testing.assert_allclose(d.solution[p], free - min(0.0, v @ free) * along, atol=2e-6 * np.abs(free).max())
        expected = {"free": -inverse @ g[p], "held": -inverse @ (g[p] - v * (along @ g[p]))}
        expected["mean"] = (expected["free"] + expected["held"]) / 2
        for element, value in expected.items():
            np.testing.assert_allclose(left[element].vector[p], value, atol=2e-6 * np.abs(value).max())
    assert 0 < inwards < n
    # Nothing is left of two conditions at once, or of a cone whose slack vanishes while z does not press inside.
    at_zero = carom.solve_qp(np.eye(3), np.zeros(3), C=-np.eye(3), b=np.zeros(3), cones=[("soc", 3)])
    assert at_zero.vjp(solution=[[1.0, 0, 0]]).words() == ["kink"]
    assert at_zero.jvp(vector=[1.0, 0, 0]).words() == ["undefined"]


CORNERS = np.array([[1.0, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]])
MASS = np.diag([2.0, 0.3, 0.5])


@pytest.mark.parametrize("before", [[-1.0, 0, 0], [-1.0, 0.05, 0.02], [-0.5, 0.0, 0.1]])
def test_redundant_contacts_have_smooth_velocities(before):
    """A body that lands on four corners: min v'Mv/2 - (M v0)'v over N v >= 0; v = 0 for all v0 nearby,
    while the multipliers are not unique."""
    r = carom.solve_qp(MASS, -MASS @ np.array(before), CORNERS, np.zeros(4), None)
    np.testing.assert_allclose(r.solution, 0.0, atol=1e-12)
    g = r.vjp(solution=[[1.0, 2.0, 3.0]], wrt="vector")
    assert g.words() == ["smooth"] and g.margin[0] > 1e-3
    np.testing.assert_allclose(g.vector, 0.0, atol=1e-12)
    assert r.jvp(vector=[0.3, -0.1, 0.2]).words() == ["smooth"]
    assert r.vjp(solution=[[1.0, 2.0, 3.0]]).words() == ["kink"]  # the rows themselves
    multipliers = r.vjp(dual=[[1.0, 0, 0, 0]], wrt="vector")
    assert multipliers.words() == ["set_valued"] and np.isnan(multipliers.vector).all()


def test_redundant_contacts_with_motion_left():
    """Two corners and a third between them: the body may turn about their line."""
    rows = np.array([[1.0, 1, 1], [1, 1, -1], [1, 1, 0]])
    v0 = np.array([-1.0, -0.4, 0.05])
    r = carom.solve_qp(MASS, -MASS @ v0, rows, np.zeros(3), None)
    J, status = r.jacobian("solution", "vector", with_status=True)
    assert status.tolist() == [carom.Smoothness.smooth]
    # Held: v_0 + v_1 = 0 and v_2 = 0, whatever the multipliers: v_1 = (-m0 v0_0 + m1 v0_1)/(m0 + m1).
    q = -MASS @ v0
    expected = np.zeros((3, 3))
    m = MASS[0, 0] + MASS[1, 1]
    expected[0] = [-1 / m, 1 / m, 0]
    expected[1] = [1 / m, -1 / m, 0]
    np.testing.assert_allclose(r.solution[0], [(-q[0] + q[1]) / m, (q[0] - q[1]) / m, 0.0], atol=1e-12)
    np.testing.assert_allclose(J[0], expected, atol=1e-12)


def test_qp_kinks_and_the_touch_test():
    r = carom.solve_qp(np.eye(2), [0.0, -1.0], np.eye(2), np.zeros(2), None)  # x = max(0, -q)
    assert r.vjp(solution=[[1.0, 1.0]]).words() == ["kink"]
    np.testing.assert_allclose(r.vjp(solution=[[1.0, 1.0]]).vector, [-0.5, -1.0])
    np.testing.assert_allclose(r.vjp(solution=[[1.0, 1.0]], at_kink="held").vector, [0.0, -1.0])
    np.testing.assert_allclose(r.vjp(solution=[[1.0, 1.0]], at_kink="free").vector, [-1.0, -1.0])
    assert r.vjp(solution=[[0.0, 1.0]]).words() == ["smooth"]
    assert r.vjp(objective=[1.0]).words() == ["smooth"]  # the value is smooth where its argument is not
    np.testing.assert_allclose(r.jvp(vector=[1.0, 0.0]).solution, [[0.0, 0.0]], atol=1e-15)
    np.testing.assert_allclose(r.jvp(vector=[-1.0, 0.0]).solution, [[1.0, 0.0]], atol=1e-15)


@pytest.mark.parametrize("b", [1, 2, 3])
def test_qp_kinks_have_one_sided_derivatives(b):
    rng = np.random.default_rng(40 + b)
    n, v, r = 30, 6, 7
    P, _, A, l, u = qps(rng, n, v, r)
    x, y = rng.normal(size=(n, v)), np.zeros((n, r))
    level = np.einsum("nij,nj->ni", A, x)
    l, u = level - 1.0, level + 1.0
    u[:, : b + 2] = level[:, : b + 2]  # active: b of them with multiplier zero
    y[:, b : b + 2] = rng.uniform(0.5, 1.0, (n, 2))
    q = -np.einsum("nij,nj->ni", P, x) - np.einsum("nij,ni->nj", A, y)
    found = carom.solve_qp(P, q, A, l, u)
    g = found.vjp(solution=rng.normal(size=(n, v)))
    assert set(g.words()) == {"kink"} and (g.doubtful == b).all()
    direction = [rng.normal(size=a.shape) for a in (P, q, A, l, u)]
    direction[0] = direction[0] + direction[0].transpose(0, 2, 1)
    d = found.jvp(hessian=direction[0], vector=direction[1], matrix=direction[2], lower=direction[3], upper=direction[4])
    t = 1e-6
    one, two = (carom.solve_qp(*(a + s * da for a, da in zip((P, q, A, l, u), direction))) for s in (t, 2 * t))
    for name in ("solution", "dual"):
        base = getattr(found, name)
        expected = (4 * getattr(one, name) - getattr(two, name) - 3 * base) / (2 * t)
        np.testing.assert_allclose(getattr(d, name), expected, rtol=2e-6, atol=2e-6)


def test_dependent_equations_have_no_derivative_in_their_bounds():
    A, b = np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([1.0, 2.0])
    r = carom.solve_qp(np.eye(2), [1.0, 0.0], A, b, b)
    assert r.vjp(solution=[[1.0, 0.0]]).words() == ["undefined"]
    inside = r.vjp(solution=[[1.0, 0.0]], wrt="vector")
    assert inside.words() == ["smooth"]
    np.testing.assert_allclose(inside.vector, [-0.5, 0.5], atol=1e-14)


def test_dependent_rows_may_move_where_they_agree():
    A, b = np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([1.0, 2.0])
    r = carom.solve_qp(np.eye(2), [1.0, 0.0], A, b, b)
    agree = r.jvp(lower=[1.0, 2.0], upper=[1.0, 2.0])  # x = ((1, 1) b - (1, -1)) / 2
    assert agree.words() == ["smooth"] and np.isnan(agree.dual).all()
    np.testing.assert_allclose(agree.solution, [[0.5, 0.5]], atol=1e-14)
    assert r.jvp(lower=[1.0, 1.0], upper=[1.0, 1.0]).words() == ["undefined"]
    # Four corners of a box on a floor that moves as a plane.
    box = carom.solve_qp(MASS, -MASS @ [-1.0, 0.0, 0.0], CORNERS, np.zeros(4), None)
    plane = np.array([0.3, -0.2, 0.1])
    moved = box.jvp(lower=CORNERS @ plane)
    assert moved.words() == ["smooth"]
    np.testing.assert_allclose(moved.solution, [plane], atol=1e-13)
    assert box.jvp(lower=[1.0, 0.0, 0.0, 0.0]).words() == ["undefined"]
    assert box.jvp(matrix=np.ones((4, 3))).words() == ["undefined"]


def test_an_argument_that_is_not_unique_is_said_to_be():
    r = carom.solve_qp(np.diag([1.0, 0.0]), [0.5, 0.0], [[1.0, 0.0]], [-1.0], [1.0])
    assert r.vjp(solution=[[0.0, 1.0]]).words() == ["set_valued"]


def test_refusals_name_field_and_value():
    r = carom.solve_lcp(np.eye(2), [-1.0, 1.0])
    with pytest.raises(carom.InvalidInput, match=r"cotangent.solution\[1\] of problem 0 is nan"):
        r.vjp(solution=[[1.0, np.nan]])
    with pytest.raises(carom.InvalidInput, match="solution is of shape"):
        r.vjp(solution=[[1.0]])
    with pytest.raises(carom.InvalidInput, match="wrt is 'friction'"):
        r.vjp(solution=[[1.0, 0.0]], wrt=("friction",))
    with pytest.raises(carom.InvalidInput, match="cotangent is left out"):
        r.vjp()
    with pytest.raises(carom.InvalidInput, match="direction is left out"):
        r.jvp()
    with pytest.raises(carom.InvalidInput, match="margin_tolerance is 2"):
        r.vjp(solution=[[1.0, 0.0]], margin_tolerance=2.0)
    with pytest.raises(carom.InvalidInput, match="at_kink is 'middle'"):
        r.vjp(solution=[[1.0, 0.0]], at_kink="middle")
    with pytest.raises(carom.InvalidInput, match="of is 'pivots'"):
        r.jacobian("pivots", "vector")


def test_results_say_and_keep_their_statuses(tmp_path):
    pytest.importorskip("h5py")
    r = carom.solve_lcp(np.eye(2), [-1.0, 0.0])
    g = r.vjp(solution=[[1.0, 1.0]])
    assert "1 kink" in repr(g)
    g.save(tmp_path / "gradient.h5")
    again = carom.load(tmp_path / "gradient.h5")
    assert again.words() == ["kink"] and again.vector.tobytes() == g.vector.tobytes()


def test_qpax_agrees_where_its_formula_is_right():
    qpax = pytest.importorskip("qpax")
    import jax

    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(3)
    P, q, A, l, u = qps(rng, 1, 6, 5)
    G, h = A[0], u[0]
    r = carom.solve_qp(P[0], q[0], G, None, h)
    weights = rng.normal(size=6)

    def loss(q, h):
        none = np.zeros((0, 6)), np.zeros(0)
        return qpax.solve_qp_primal(P[0], q, *none, G, h, solver_tol=1e-10, target_kappa=1e-9) @ weights

    other = jax.grad(loss, argnums=(0, 1))(q[0], h)
    g = r.vjp(solution=weights[None])
    np.testing.assert_allclose(g.vector, other[0], atol=1e-5)
    np.testing.assert_allclose(g.upper, other[1], atol=1e-5)


@pytest.mark.parametrize("v, r", [(2, 3), (5, 8)])
def test_lps_are_right_in_long_double(v, r):
    """Values and vertices, of two objectives over each polytope."""
    rng = np.random.default_rng(v)
    n, K = 30, 2
    c, A = rng.normal(size=(n, K, v)), rng.normal(size=(n, r, v))
    lower, upper = -rng.uniform(0.5, 1, (n, r)), rng.uniform(0.5, 1, (n, r))
    box = rng.uniform(1, 2, (n, v))
    result = carom.solve_lp(c, A, lower, upper, -box, box)
    assert (result.status == 0).all()
    cotangent = {"solution": rng.normal(size=(n, K, v)), "dual": rng.normal(size=(n, K, r)), "objective": rng.normal(size=(n, K))}
    arrays = {"cost": c, "matrix": A, "row_lower": lower, "row_upper": upper, "column_lower": -box, "column_upper": box}
    direction = {name: rng.normal(size=a.shape) for name, a in arrays.items()}
    g, d = result.vjp(**cotangent), result.jvp(**direction)
    assert set(g.words()) == set(d.words()) == {"smooth"} and g.status.shape == (n, K)
    left = inner([getattr(g, name) for name in arrays], direction.values())
    answers = [getattr(d, name) for name in cotangent]
    right = inner(cotangent.values(), answers)
    assert np.max(np.abs(left - right) / sizes([getattr(g, name) for name in arrays], direction.values())) < 1e-12
    value = result.vjp(objective=np.ones((n, K)))
    np.testing.assert_allclose(value.cost, result.solution, atol=1e-12)  # Danskin
    for p in range(n):
        for k in range(K):
            x, y = result.solution[p, k], result.dual[p, k]
            rows = np.concatenate([A[p], np.eye(v)])
            low, up = np.concatenate([lower[p], -box[p]]), np.concatenate([upper[p], box[p]])
            level = rows @ x
            held = np.flatnonzero(np.minimum(level - low, up - level) < 1e-9)
            assert len(held) == v
            above = (up - level < level - low)[held]
            bound = np.where(above, up[held], low[held])
            moved_rows = np.concatenate([direction["matrix"][p], np.zeros((v, v))])[held]
            moved_low = np.concatenate([direction["row_lower"][p], direction["column_lower"][p]])[held]
            moved_up = np.concatenate([direction["row_upper"][p], direction["column_upper"][p]])[held]
            moved = np.where(above, moved_up, moved_low)

            def answer(t, p=p, k=k, held=held, rows=rows, bound=bound, moved=moved, moved_rows=moved_rows):
                G = rows[held].astype(Long) + t * moved_rows
                cost = c[p, k].astype(Long) + t * direction["cost"][p, k]
                at = solved(G, bound.astype(Long) + t * moved)
                multipliers = solved(G.T, cost)
                y = np.zeros(r, dtype=Long)
                y[held[held < r]] = multipliers[held < r]
                return np.concatenate([at, y, [cost @ at]])

            np.testing.assert_allclose(answer(Long(0))[v : v + r].astype(float), y, atol=1e-9)
            got = np.concatenate([d.solution[p, k], d.dual[p, k], [d.objective[p, k]]])
            assert apart(got, difference(answer), d.condition[p, k]) < 1e-10


def test_statuses_of_lps():
    square = {"col_lower": [0.0, 0.0], "col_upper": [1.0, 1.0]}
    # A whole edge is optimal.
    edge = carom.solve_lp([1.0, 0.0], **square).vjp(solution=[[[0.0, 1.0]]])
    assert edge.words() == ["set_valued"]
    # A third row through the vertex (0, 0): the vertex stays where it is along c, not along the rows.
    corner = carom.solve_lp([1.0, 1.0], [[1.0, 1.0]], [0.0], [np.inf], **square)
    assert corner.vjp(solution=[[[1.0, 2.0]]], wrt="cost").words() == ["smooth"]
    assert corner.vjp(solution=[[[1.0, 2.0]]]).words() == ["kink"]
    none = carom.solve_lp([1.0], [[1.0]], [2.0], [np.inf], [0.0], [1.0])
    assert none.vjp(solution=[[[1.0]]]).words() == ["not_solved"]


def test_no_change_inside_the_radius_changes_the_modes():
    rng = np.random.default_rng(31)
    n, k = 50, 5
    M, q = definite(rng, n, k), rng.normal(size=(n, k))
    r = carom.solve_lcp(M, q)
    assert r.vjp(solution=np.ones((n, k))).radius is None
    radius = r.vjp(solution=np.ones((n, k)), radius=True).radius
    assert (radius > 0).all()
    assert r.jvp(vector=np.ones((n, k)), radius=True).radius.tobytes() == radius.tobytes()
    held = r.solution > 0

    def modes(t):
        dM, dq = rng.choice([-1.0, 1.0], M.shape) * np.abs(M), rng.choice([-1.0, 1.0], q.shape) * np.abs(q)
        return carom.solve_lcp(M + t[:, None, None] * dM, q + t[:, None] * dq).solution > 0

    for _ in range(200):  # corners of the box of changes
        assert (modes(0.999 * radius) == held).all()
    changed = np.zeros(n, bool)  # nor is it far from the largest
    for _ in range(300):
        changed |= (modes(10 * radius) != held).any(axis=1)
    assert changed.mean() > 0.5
    assert carom.solve_lcp([[1.0]], [0.0]).vjp(solution=[[1.0]], radius=True).radius.tolist() == [0.0]


def _table():
    position = [[[-1.0, -0.7, 0.0], [1.0, -0.7, 0.0], [1.0, 0.7, 0.0], [-1.0, 0.7, 0.0]]]
    return carom.equilibrium.Postures.of(position, [[[0.0, 0.0, 1.0]] * 4], [[0.5] * 4])


def test_margins_of_a_table_have_the_gradient_of_their_nearest_edge():
    found = carom.equilibrium.margins(_table(), com=[0.6, 0.2, 0.8])
    slope = found.vjp()
    assert slope.words() == ["smooth"]
    np.testing.assert_allclose(slope.value, 0.4, atol=1e-13)
    share = 0.9 / 1.4
    np.testing.assert_allclose(slope.position[0, :, 0], [0.0, 1.0 - share, share, 0.0], atol=1e-12)
    np.testing.assert_allclose(slope.centre_of_mass, [[-1.0, 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(slope.wrench, [[-0.8, 0.0, 0.0, 0.0, -1.0, 0.0]], atol=1e-12)
    twice = found.vjp(margin=[2.0], wrt="centre_of_mass")
    np.testing.assert_allclose(twice.centre_of_mass, [[-2.0, 0.0, 0.0]], atol=1e-12)
    assert twice.position is None and twice.wrench is None


def test_margins_say_where_they_have_no_gradient():
    between = carom.equilibrium.margins(_table(), com=[0.3, 0.0, 0.5])  # 0.7 from three edges
    assert between.vjp().words() == ["kink"]
    assert np.isnan(between.vjp(at_kink="nan").centre_of_mass).all()
    with pytest.raises(carom.SolveError, match="kink"):
        between.vjp(at_kink="raise")
    with pytest.raises(carom.InvalidInput, match="margin is of shape"):
        between.vjp(margin=[1.0, 2.0])
    with pytest.raises(carom.InvalidInput, match="wrt"):
        between.vjp(wrt="length")
    polygons = carom.equilibrium.margins(_table(), com=[0.3, 0.1, 0.5], cone_sides=8)
    with pytest.raises(carom.InvalidInput, match="cones is pair"):
        polygons.vjp()


def test_margins_move_along_a_direction():
    found = carom.equilibrium.margins(_table(), com=[0.6, 0.2, 0.8])
    slope = found.vjp()
    random = np.random.default_rng(5)
    along = {name: random.normal(size=getattr(slope, name).shape) for name in ("position", "friction", "wrench", "centre_of_mass")}
    moved = found.jvp(**along)
    expected = sum(np.sum(getattr(slope, name) * value) for name, value in along.items())
    np.testing.assert_allclose(moved.rate, [expected], rtol=1e-13)
    assert moved.words() == ["smooth"] and moved.value == slope.value
    between = carom.equilibrium.margins(_table(), com=[0.3, 0.0, 0.5]).jvp(centre_of_mass=[1.0, 0.0, 0.0])
    assert between.words() == ["kink"] and np.isnan(between.rate).all()
    feet, up, mu = [[[-1.0, 0.0], [1.0, 0.0]]], [[[0.0, 1.0]] * 2], [[0.5] * 2]
    planar = carom.equilibrium.margins(feet, up, mu, length=[[0.0, 0.5]], com=[1.2, 0.8])
    assert planar.jvp(length=[[0.0, 3.0]], centre_of_mass=[[0.5, 7.0]]).rate == pytest.approx([2.5], abs=1e-14)
    with pytest.raises(carom.InvalidInput, match="friction is of shape"):
        planar.jvp(friction=[1.0])
    with pytest.raises(carom.InvalidInput, match="left out"):
        planar.jvp()


def test_planar_margins_move_the_nearer_foot():
    feet, up, mu = [[[-1.0, 0.0], [1.0, 0.0]]], [[[0.0, 1.0]] * 2], [[0.5] * 2]
    slope = carom.equilibrium.margins(feet, up, mu, com=[0.4, 0.8]).vjp(distance=2.0)
    assert slope.words() == ["smooth"] and slope.length is None
    np.testing.assert_allclose(slope.value, 0.6, atol=1e-15)
    np.testing.assert_allclose(slope.position, [[[0.0, 0.0], [2.0, 0.0]]], atol=1e-15)
    np.testing.assert_allclose(slope.wrench, [[-1.6, 0.0, 2.0]], atol=1e-15)
    middle = carom.equilibrium.margins(feet, up, mu, com=[0.0, 0.8])
    assert middle.vjp().words() == ["kink"]
    patch = carom.equilibrium.margins(feet, up, mu, length=[[0.0, 0.5]], com=[1.2, 0.8])
    np.testing.assert_allclose(patch.vjp(wrt="length").length, [[0.0, 1.0]], atol=1e-15)
    with pytest.raises(carom.InvalidInput, match="distance is of shape"):
        middle.vjp(distance=[1.0, 2.0])
    with pytest.raises(carom.InvalidInput, match="wrt"):
        middle.vjp(wrt="length")


def test_margins_of_a_model_agree_with_differences():
    tripod = carom.equilibrium.model("tripod_flat")
    com = np.array([0.1, 0.1, 0.4])
    slope = carom.equilibrium.margins(tripod, com=com).vjp()
    assert slope.words() == ["smooth"]
    step = 1e-4
    for axis in range(3):
        way = step * np.eye(3)[axis]
        up, down = (carom.equilibrium.margins(tripod, com=com + sign * way).vjp().value[0] for sign in (1.0, -1.0))
        np.testing.assert_allclose(slope.centre_of_mass[0, axis], (up - down) / (2.0 * step), atol=1e-7)
