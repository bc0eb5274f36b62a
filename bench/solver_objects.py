"""Speedup by solver objects: QPs of a receding horizon, of shared matrices and of each problem's own, and LPs with
moving bounds, cold and warm in one run on one thread, in the thread's own time. Usage: python bench/solver_objects.py"""

import time

import numpy as np

import carom

WORLDS, STEPS = 1000, 8


def clocked(call):
    begin = time.thread_time()
    found = call()
    return found, time.thread_time() - begin


def horizon(n, rng):
    """A double integrator with bounds on force, speed and place, condensed: n forces, 3 n rows."""
    move, push = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.005], [0.1]])
    free, forced = np.zeros((2 * n, 2)), np.zeros((2 * n, n))
    for i in range(n):
        free[2 * i : 2 * i + 2] = np.linalg.matrix_power(move, i + 1)
        for j in range(i + 1):
            forced[2 * i : 2 * i + 2, j : j + 1] = np.linalg.matrix_power(move, i - j) @ push
    weight = np.kron(np.eye(n), np.diag([10.0, 1.0]))
    P = forced.T @ weight @ forced + 0.1 * np.eye(n)
    A = np.vstack([np.eye(n), forced[1::2], forced[0::2]])
    limit = np.concatenate([np.full(n, 1.0), np.full(n, 1.5), np.full(n, 60.0)])

    def vectors(x):
        away = x @ free.T
        offset = np.concatenate([np.zeros((len(x), n)), away[:, 1::2], away[:, 0::2]], axis=1)
        return {"q": away @ weight @ forced, "l": -limit - offset, "u": limit - offset}

    x = rng.normal(size=(WORLDS, 2)) * [2.0, 0.45]
    return 0.5 * (P + P.T), A, vectors, x, move, push


def qps(n, own=False, shift=None):
    rng = np.random.default_rng(n)
    P, A, vectors, x, move, push = horizon(n, rng)
    given = vectors(x)
    if own:  # the same problems, so that the changes are, with matrices that nothing knows to be equal
        P, A = np.repeat(P[None], WORLDS, 0), np.repeat(A[None], WORLDS, 0)
    solver = carom.QpBatch(P, given["q"], A, given["l"], given["u"], threads=1)
    solver.solve()
    last, warm, cold, changes = solver.solve(), 0.0, 0.0, 0.0  # twice: what is made once, is made
    for _ in range(STEPS):
        x = x @ move.T + np.nan_to_num(last.x[:, :1]) * push.T + 0.02 * rng.normal(size=x.shape)
        given = vectors(x)
        solver.update(**given)
        last, seconds = clocked(lambda: solver.solve(shift=shift))
        warm += seconds
        other, seconds = clocked(lambda: carom.solve_qp(P, given["q"], A, given["l"], given["u"], threads=1))
        cold += seconds
        assert (last.status == other.status).all() and last.verify().all()
        changes += last.iterations.mean()
    to_us = 1e6 / WORLDS / STEPS
    kind = ", own" if own else ", shifted" if shift else ""
    print(f"qp {n:3} x {3 * n:3}{kind}: cold {cold * to_us:6.1f} us, warm {warm * to_us:6.1f} us, "
          f"{cold / warm:5.1f} times, {changes / STEPS:.1f} changes")  # fmt: skip


def lps(rows, columns, spread):
    rng = np.random.default_rng(1)
    A, x = rng.normal(size=(rows, columns)), rng.random(columns)
    c = A.T @ rng.normal(size=rows) + 0.5 * rng.random(columns) * rng.choice([-1, 1], columns)
    high = lambda: A @ x * (1.0 + spread * rng.uniform(-1, 1, (WORLDS, rows)))
    upper = high()
    solver = carom.LpBatch(c, A, upper - 1.0, upper, lower=0.0, upper=2.0, threads=1)
    solver.solve()
    warm = cold = hits = 0.0
    for _ in range(4):
        upper = high()
        solver.update(row_lower=upper - 1.0, row_upper=upper)
        found, seconds = clocked(solver.solve)
        warm += seconds
        zero, two = np.zeros(columns), np.full(columns, 2.0)
        other, seconds = clocked(lambda: carom.solve_lp(c, A, upper - 1.0, upper, lower=zero, upper=two, threads=1))
        cold += seconds
        assert (found.status == other.status).all() and found.verify().all()
        hits += (found.pivots == 0).mean()
    to_us = 1e6 / WORLDS / 4
    print(f"lp {rows:2} x {columns:2}, {100 * spread:2.0f} %: cold {cold * to_us:6.1f} us, warm {warm * to_us:6.1f} us, "
          f"{cold / warm:5.1f} times, {25 * hits:.0f} % without a pivot")  # fmt: skip


for n in (20, 30, 40):
    qps(n)
    qps(n, shift=(1, 1))
    qps(n, own=True)
for rows, columns in ((10, 20), (20, 40), (40, 80)):
    for spread in (0.01, 0.05, 0.2):
        lps(rows, columns, spread)
