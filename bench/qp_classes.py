"""Quadratic programs from the literature, compared with QP codes from PyPI: minimise 1/2 x'P x + q'x,
lower <= A x <= upper. See classes.py.

Random definite and semidefinite Hessians with twice as many rows as unknowns, model predictive control
(inputs only, and states as unknowns), support vector machines (dual and primal), lasso, portfolios of a
factor model, flows in networks, transport, isotonic regression, total variation, and small problems of
Maros and Meszaros with a moved gradient."""
import json
import os

import numpy as np
from classes import largest, optimal

KIND = PROGRAM = "qp"

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "data", "qp")
INFINITY = np.inf


def random_qp(rng, n, rank, shift):
    root = rng.standard_normal((rank, n))
    matrix = rng.standard_normal((2 * n, n))
    middle = matrix @ rng.standard_normal(n)
    width = rng.uniform(0.1, 1.0, (2, 2 * n))
    return (root.T @ root / n + shift * np.eye(n), 3.0 * rng.standard_normal(n), matrix,
            middle - width[0], middle + width[1])


def definite(rng, n):
    return random_qp(rng, n, n, 0.01)


def semidefinite(rng, n):
    return random_qp(rng, n, n // 2, 0.0)


def plant(rng, states, inputs):
    a = np.eye(states) + 0.1 * rng.standard_normal((states, states))
    return a, 0.3 * rng.standard_normal((states, inputs))


def mpc_inputs(rng, n):
    """Two inputs, four states, bounds on all; the states are eliminated."""
    states, inputs = 4, 2
    steps = n // inputs
    a, b = plant(rng, states, inputs)
    start = 0.4 * rng.standard_normal(states)
    reach = np.zeros((steps * states, n))
    free = np.zeros(steps * states)
    state, power = start, [b]
    for _ in range(steps):
        power.append(a @ power[-1])
    for k in range(steps):
        state = a @ state
        free[k * states:(k + 1) * states] = state
        for j in range(k + 1):
            reach[k * states:(k + 1) * states, j * inputs:(j + 1) * inputs] = power[k - j]
    hessian = reach.T @ reach + 0.1 * np.eye(n)
    half = steps // 2  # bounds on states of the first half
    rows = np.vstack([np.eye(n), reach[:half * states]])
    limit = 1.0 + np.abs(free[:half * states])
    return (hessian, reach.T @ free, rows, np.concatenate([-0.5 * np.ones(n), -limit - free[:len(limit)]]),
            np.concatenate([0.5 * np.ones(n), limit - free[:len(limit)]]))


def mpc_states(rng, n):
    """The same with the states as unknowns and the plant as equations."""
    states, inputs = 4, 2
    steps = n // (states + inputs)
    a, b = plant(rng, states, inputs)
    start = 0.4 * rng.standard_normal(states)
    size = steps * (states + inputs)
    dynamics = np.zeros((steps * states, size))
    right = np.zeros(steps * states)
    for k in range(steps):
        row = slice(k * states, (k + 1) * states)
        at = k * (states + inputs)
        dynamics[row, at:at + inputs] = b
        dynamics[row, at + inputs:at + inputs + states] = -np.eye(states)
        if k == 0:
            right[row] = -a @ start
        else:
            dynamics[row, at - states:at] = a
    weight = np.tile(np.concatenate([0.1 * np.ones(inputs), np.ones(states)]), steps)
    limit = np.tile(np.concatenate([0.5 * np.ones(inputs), 4.0 * np.ones(states)]), steps)
    return (np.diag(weight), np.zeros(size), np.vstack([dynamics, np.eye(size)]),
            np.concatenate([right, -limit]), np.concatenate([right, limit]))


def samples(rng, count, features):
    label = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
    return label, rng.standard_normal((count, features)) + 0.5 * label[:, None]


def svm_dual(rng, n):
    label, point = samples(rng, n, 5)
    signed = label[:, None] * point
    return (signed @ signed.T, -np.ones(n), np.vstack([label, np.eye(n)]), np.zeros(n + 1),
            np.concatenate([[0.0], np.ones(n)]))


def svm_primal(rng, n):
    features = 3
    count = n - features - 1
    label, point = samples(rng, count, features)
    hessian = np.diag(np.concatenate([np.ones(features), np.zeros(count + 1)]))
    margin = np.hstack([label[:, None] * point, label[:, None], np.eye(count)])
    positive = np.hstack([np.zeros((count, features + 1)), np.eye(count)])
    return (hessian, np.concatenate([np.zeros(features + 1), np.ones(count)]),
            np.vstack([margin, positive]), np.concatenate([np.ones(count), np.zeros(count)]),
            np.full(2 * count, INFINITY))


def lasso(rng, n):
    size = n // 2
    design = rng.standard_normal((2 * size, size))
    truth = rng.standard_normal(size) * (rng.uniform(size=size) < 0.3)
    data = design @ truth + 0.1 * rng.standard_normal(2 * size)
    weight = 0.2 * np.abs(design.T @ data).max()
    hessian = np.zeros((n, n))
    hessian[:size, :size] = design.T @ design
    rows = np.block([[np.eye(size), np.eye(size)], [-np.eye(size), np.eye(size)]])
    return (hessian, np.concatenate([-design.T @ data, weight * np.ones(size)]), rows,
            np.zeros(n), np.full(n, INFINITY))


def portfolio(rng, n):
    factors = max(1, n // 10)
    loading = rng.standard_normal((n, factors)) * (rng.uniform(size=(n, factors)) < 0.5)
    risk = np.diag(rng.uniform(0.0, np.sqrt(factors), n)) + loading @ loading.T
    return (2.0 * risk, -rng.standard_normal(n), np.vstack([np.ones(n), np.eye(n)]),
            np.concatenate([[1.0], np.zeros(n)]), np.concatenate([[1.0], 0.3 * np.ones(n)]))


def portfolio_factors(rng, n):
    """The same with the factors as unknowns."""
    factors = max(1, n // 10)
    assets = n - factors
    loading = rng.standard_normal((assets, factors)) * (rng.uniform(size=(assets, factors)) < 0.5)
    hessian = np.diag(np.concatenate([rng.uniform(0.0, np.sqrt(factors), assets),
                                      np.ones(factors)]))
    rows = np.vstack([np.concatenate([np.ones(assets), np.zeros(factors)]),
                      np.hstack([loading.T, -np.eye(factors)]),
                      np.hstack([np.eye(assets), np.zeros((assets, factors))])])
    lower = np.concatenate([[1.0], np.zeros(factors), np.zeros(assets)])
    upper = np.concatenate([[1.0], np.zeros(factors), 0.3 * np.ones(assets)])
    return (2.0 * hessian, np.concatenate([-rng.standard_normal(assets), np.zeros(factors)]), rows,
            lower, upper)


def flow(rng, n):
    """Least cost in a network with capacities, quadratic on two arcs in five. One balance follows from the others."""
    nodes = max(4, 2 * n // 5)
    balance = np.zeros((nodes, n))
    for arc in range(n):
        start, end = rng.choice(nodes, 2, replace=False)
        balance[start, arc], balance[end, arc] = 1.0, -1.0
    planted = rng.uniform(0.0, 1.0, n) * (rng.uniform(size=n) < 0.6)
    supply = balance @ planted
    hessian = np.diag(np.where(rng.uniform(size=n) < 0.4, rng.uniform(0.5, 2.0, n), 0.0))
    capacity = np.maximum(rng.uniform(0.8, 2.0, n), planted)
    return (hessian, rng.uniform(0.0, 2.0, n), np.vstack([balance, np.eye(n)]),
            np.concatenate([supply, np.zeros(n)]), np.concatenate([supply, capacity]))


def transport(rng, n):
    """Whole supplies and demands, whole costs, quadratic on three ways in ten."""
    sources = max(2, int(np.sqrt(n)))
    sinks = n // sources
    ways = sources * sinks
    sums = np.vstack([np.kron(np.eye(sources), np.ones(sinks)), np.kron(np.ones(sources), np.eye(sinks))])
    amounts = sums @ (rng.integers(0, 5, ways) * (rng.uniform(size=ways) < 0.5))
    hessian = np.diag(np.where(rng.uniform(size=ways) < 0.3, 1.0, 0.0))
    return (hessian, rng.integers(1, 9, ways).astype(float), np.vstack([sums, np.eye(ways)]),
            np.concatenate([amounts, np.zeros(ways)]), np.concatenate([amounts, np.full(ways, INFINITY)]))


def isotonic(rng, n):
    """The nearest growing sequence, where three values in ten are missing."""
    data = np.sort(rng.standard_normal(n)) + 0.5 * rng.standard_normal(n)
    weight = np.where(rng.uniform(size=n) < 0.7, rng.uniform(0.5, 2.0, n), 0.0)
    return (np.diag(weight), -weight * data, np.vstack([np.eye(n)[1:] - np.eye(n)[:-1], np.eye(n)]),
            np.concatenate([np.zeros(n - 1), np.full(n, -3.0)]),
            np.concatenate([np.full(n - 1, INFINITY), np.full(n, 3.0)]))


def total_variation(rng, n):
    """The nearest sequence, each of its steps at a price."""
    size = (n + 1) // 2
    data = np.cumsum(rng.standard_normal(size) * (rng.uniform(size=size) < 0.3)) + 0.1 * rng.standard_normal(size)
    step = np.eye(size)[1:] - np.eye(size)[:-1]
    price = np.eye(size - 1)
    hessian = np.diag(np.concatenate([np.ones(size), np.zeros(size - 1)]))
    return (hessian, np.concatenate([-data, np.full(size - 1, 0.5)]),
            np.block([[step, price], [-step, price]]), np.zeros(2 * size - 2), np.full(2 * size - 2, INFINITY))


def read(name):
    with open(os.path.join(DATA, f"mm_{name}.json")) as file:
        data = json.load(file)
    bound = lambda key, sign: np.array([sign * INFINITY if v is None or abs(v) >= 1e20 else v
                                        for v in data[key]])
    return (np.array(data["P"], float), np.array(data["q"], float), np.array(data["A"], float),
            bound("l", -1.0), bound("u", 1.0))


def maros(rng, name):
    """A small problem of Maros and Meszaros, its gradient moved by 1 %."""
    hessian, q, *rest = read(name)
    return hessian, q * (1.0 + 0.01 * rng.standard_normal(len(q))), *rest


SIZES = (4, 6, 8, 12, 16, 20, 24, 32, 40, 50, 60)
CLASSES = {
    "definite": (definite, SIZES),
    "semidefinite": (semidefinite, SIZES),
    "mpc_inputs": (mpc_inputs, (8, 12, 20, 32, 40, 60)),
    "mpc_states": (mpc_states, (12, 24, 36, 48, 60)),
    "svm_dual": (svm_dual, (8, 12, 20, 40, 60)),
    "svm_primal": (svm_primal, (10, 16, 24, 40, 60)),
    "lasso": (lasso, (8, 12, 20, 40, 60)),
    "portfolio": (portfolio, (6, 12, 20, 40, 60)),
    "portfolio_factors": (portfolio_factors, (6, 12, 24, 40, 60)),
    "flow": (flow, (8, 16, 24, 40, 56)),
    "transport": (transport, (9, 16, 25, 36, 56)),
    "isotonic": (isotonic, (8, 16, 24, 40, 56)),
    "total_variation": (total_variation, (7, 15, 23, 39, 55)),
    "maros": (maros, ("DUALC2", "DUALC8", "HS118", "HS268", "HS35MOD", "HS52", "HS76", "LOTSCHD", "QPTEST")),
}
TRIVIAL = (np.eye(1), np.ones(1), np.eye(1), np.zeros(1), np.ones(1))


def count(n, quick):
    return (32 if quick else 64) if isinstance(n, str) or n <= 24 else (16 if quick else 32)


def shape(problem):
    return len(problem[1]), len(problem[3])


def sizes(problem):
    return (*shape(problem), 0)


def arrays(problem):
    return problem


def split(problem, numbers):
    n = len(problem[1])
    return numbers[:n], numbers[n:]


def objective(problem, x):
    return 0.5 * x @ problem[0] @ x + problem[1] @ x


def unit(problem):
    """Of objectives that are about zero."""
    return largest(problem[1])


good = optimal


def bounds_first(problem):
    """Rows of the identity, if all are there, and the others: codes know them as bounds."""
    hessian, q, matrix, lower, upper = problem
    n = len(q)
    unit = np.flatnonzero((np.count_nonzero(matrix, axis=1) == 1) & (matrix.max(axis=1) == 1.0))
    bounds = np.full(n, -1)
    bounds[matrix[unit].argmax(axis=1)] = unit
    if np.any(bounds < 0):
        bounds = bounds[:0]
    rest = np.setdiff1d(np.arange(len(lower)), bounds)
    return bounds, rest


def daqp():
    import daqp
    from ctypes import c_int
    def prepare(problem):
        hessian, q, matrix, lower, upper = problem
        bounds, rest = bounds_first(problem)
        order = np.concatenate([bounds, rest])
        sense = np.where(lower == upper, 5, 0).astype(c_int)[order]
        return (hessian, q, np.ascontiguousarray(matrix[rest]),
                np.where(np.isfinite(upper), upper, 1e30)[order],
                np.where(np.isfinite(lower), lower, -1e30)[order], sense), order
    def solve(problem):
        arrays, order = problem
        x, _, _, info = daqp.solve(*arrays)
        y = np.empty(len(order))
        y[order] = info["lam"]
        return x, y
    return prepare, solve


def piqp():
    import piqp
    def prepare(problem):
        hessian, q, matrix, lower, upper = problem
        bounds, rest = bounds_first(problem)
        equal = rest[lower[rest] == upper[rest]]
        rest = rest[lower[rest] != upper[rest]]
        box = (lower[bounds], upper[bounds]) if len(bounds) else (None, None)
        return (hessian, q, np.ascontiguousarray(matrix[equal]), upper[equal],
                np.ascontiguousarray(matrix[rest]), lower[rest], upper[rest], *box), \
            (bounds, equal, rest)
    def solve(problem):
        arrays, (bounds, equal, rest) = problem
        code = piqp.DenseSolver()
        code.settings.eps_abs = 1e-9
        code.settings.eps_rel = 1e-9
        code.setup(*arrays)
        code.solve()
        result = code.result
        y = np.empty(len(bounds) + len(equal) + len(rest))
        y[equal] = result.y
        y[rest] = np.array(result.z_u) - np.array(result.z_l)
        if len(bounds):
            y[bounds] = np.array(result.z_bu) - np.array(result.z_bl)
        return np.array(result.x), y
    return prepare, solve


def proxqp():
    import proxsuite
    def prepare(problem):
        hessian, q, matrix, lower, upper = problem
        equal = lower == upper
        return (hessian, q, np.ascontiguousarray(matrix[equal]), upper[equal],
                np.ascontiguousarray(matrix[~equal]),
                np.where(np.isfinite(lower), lower, -1e30)[~equal],
                np.where(np.isfinite(upper), upper, 1e30)[~equal], equal)
    def solve(problem):
        hessian, q, equations, right, matrix, lower, upper, equal = problem
        code = proxsuite.proxqp.dense.QP(len(q), len(right), len(lower))
        code.settings.eps_abs = 1e-9
        code.settings.eps_rel = 1e-9
        code.init(hessian, q, equations, right, matrix, lower, upper)
        code.solve()
        y = np.empty(len(equal))
        y[equal] = code.results.y
        y[~equal] = code.results.z
        return np.array(code.results.x), y
    return prepare, solve


def quadprog():
    import quadprog
    def prepare(problem):
        hessian, q, matrix, lower, upper = problem
        equal = lower == upper
        low, up = ~equal & np.isfinite(lower), ~equal & np.isfinite(upper)
        rows = np.vstack([matrix[equal], matrix[low], -matrix[up]])
        right = np.concatenate([lower[equal], lower[low], -upper[up]])
        return hessian, -q, np.ascontiguousarray(rows.T), right, int(equal.sum()), (equal, low, up)
    def solve(problem):
        hessian, q, rows, right, equations, (equal, low, up) = problem
        answer = quadprog.solve_qp(hessian, q, rows, right, equations)
        y = np.zeros(len(equal))
        lam = answer[4]
        y[equal] = -lam[:equations]
        y[low] -= lam[equations:equations + int(low.sum())]
        y[up] += lam[equations + int(low.sum()):]
        return answer[0], y
    return prepare, solve


def osqp():
    import osqp
    from scipy import sparse
    def prepare(problem):
        hessian, q, matrix, lower, upper = problem
        return sparse.csc_matrix(np.triu(hessian)), q, sparse.csc_matrix(matrix), lower, upper
    def solve(problem):
        code = osqp.OSQP()
        code.setup(*problem, eps_abs=1e-9, eps_rel=1e-9, polishing=True, verbose=False,
                   max_iter=20000)
        answer = code.solve()
        return answer.x, answer.y
    return prepare, solve


PEERS = {"daqp": daqp, "piqp": piqp, "proxqp": proxqp, "quadprog": quadprog,
         "osqp": osqp}
