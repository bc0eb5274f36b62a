"""Cone programs from the literature, compared with Clarabel, ECOS, SCS and QOCO: minimise 1/2 x'P x + q'x,
lower <= A x <= upper, b - C x in second-order cones. See classes.py.

Lobo, Vandenberghe, Boyd and Lebret's applications (antenna arrays, robust least squares, robust LPs,
grasping forces, sums of norms), portfolios with a bound on the loss, group lasso, random programmes with
interior points, and programmes without solution or without interior."""
import classes
import numpy as np
from classes import largest, optimal
from lp_classes import contact_edges, dyadic

KIND, PROGRAM = "cone", "qp"
INFINITY = np.inf
TOLERANCE = 1e-6


def programme(cost, rows, cones, hessian=None):
    """rows: (matrix, lower, upper); cones: list of (C, b)."""
    n = len(cost)
    rows = [(np.atleast_2d(np.asarray(a, float)), np.atleast_1d(l), np.atleast_1d(u)) for a, l, u in rows]
    matrix, lower, upper = (np.concatenate(part) for part in zip(*rows)) if rows else \
        (np.zeros((0, n)), np.zeros(0), np.zeros(0))
    return (hessian, np.asarray(cost, float), matrix, lower, upper, tuple(len(b) for _, b in cones),
            np.vstack([c for c, _ in cones]), np.concatenate([b for _, b in cones]))


def norm_below(matrix, vector, top, constant=0.0):
    """|matrix x + vector| <= top'x + constant as a cone: C and b."""
    return -np.vstack([top, matrix]), np.concatenate([[constant], vector])


def inside(rng, cones):
    """A point inside of each cone."""
    parts = []
    for size in cones:
        v = rng.standard_normal(size - 1)
        parts.append(np.append(np.linalg.norm(v) + rng.uniform(0.5, 1.5), v))
    return np.concatenate(parts)


def random_feasible(rng, n):
    """n / 2 cones of four rows, n / 4 equations, points inside of all cones and dual cones."""
    cones = (4,) * (n // 2)
    matrix, equations = rng.standard_normal((4 * len(cones), n)), rng.standard_normal((n // 4, n))
    x = rng.standard_normal(n)
    cost = -matrix.T @ inside(rng, cones) - equations.T @ rng.standard_normal(n // 4)
    right = equations @ x
    return None, cost, equations, right, right, cones, matrix, matrix @ x + inside(rng, cones)


def sum_of_norms(rng, n):
    """A place with the least sum of distances to n points of three coordinates (Fermat and Weber)."""
    points = rng.standard_normal((n, 3))
    cones = []
    for k, point in enumerate(points):
        top = np.zeros(3 + n)
        top[3 + k] = 1.0
        cones.append(norm_below(np.eye(3, 3 + n), -point, top))
    return programme(np.concatenate([np.zeros(3), np.ones(n)]), [], cones)


def robust_least_squares(rng, n):
    """|A x - b| + 0.3 |x|, twice as many rows."""
    design = np.hstack([rng.standard_normal((2 * n, n)), np.zeros((2 * n, 2))])
    tops = np.eye(n + 2)[n:]
    return programme(np.concatenate([np.zeros(n), [1.0, 0.3]]), [],
                     [norm_below(design, -rng.standard_normal(2 * n), tops[0]),
                      norm_below(np.eye(n, n + 2), np.zeros(n), tops[1])])


def robust_lp(rng, n):
    """a'x + |P x| <= b for 2 n rows whose a is known within an ellipsoid."""
    rows = rng.standard_normal((2 * n, n))
    cones = [norm_below(0.1 * rng.standard_normal((3, n)), np.zeros(3), -row, rng.uniform(0.5, 1.5)) for row in rows]
    return programme(-rows.T @ rng.uniform(0.0, 1.0, 2 * n), [], cones)


def antenna(rng, n):
    """Least sidelobes of n elements on a line, gain 1 towards the target: complex weights."""
    spacing, target = 0.5, rng.uniform(-0.5, 0.5)
    place = np.arange(n) + 0.1 * rng.standard_normal(n)
    def gain(angle):
        phase = 2.0 * np.pi * spacing * place * np.sin(angle)
        return np.array([np.concatenate([np.cos(phase), -np.sin(phase), [0.0]]),
                         np.concatenate([np.sin(phase), np.cos(phase), [0.0]])])
    angles = np.concatenate([np.linspace(-1.5, target - 2.0 / n, 3 * n), np.linspace(target + 2.0 / n, 1.5, 3 * n)])
    top = np.eye(2 * n + 1)[2 * n]
    wanted = np.array([1.0, 0.0])
    return programme(top, [(gain(target), wanted, wanted)], [norm_below(gain(angle), np.zeros(2), top) for angle in angles])


def grasp(rng, contacts):
    """Least largest normal force of fingers with friction cones that hold a weight."""
    n = 3 * contacts + 1
    edges = contact_edges(contacts, rng).reshape(6, contacts, 4)
    normal = edges.mean(axis=2)
    first, second = edges[:, :, 0] - normal, edges[:, :, 1] - normal  # half of the tangents' wrenches
    wrench = np.hstack([np.stack([normal, 2.0 * first, 2.0 * second], axis=2).reshape(6, -1), np.zeros((6, 1))])
    weight = rng.standard_normal(3)
    weight = np.concatenate([-weight / np.linalg.norm(weight), np.zeros(3)])
    unit = np.eye(n)
    cones = [norm_below(unit[3 * k + 1:3 * k + 3], np.zeros(2), 0.5 * unit[3 * k]) for k in range(contacts)]
    most = np.array([unit[n - 1] - unit[3 * k] for k in range(contacts)])
    return programme(unit[n - 1], [(wrench, weight, weight), (most, np.zeros(contacts), np.full(contacts, INFINITY))],
                     cones)


def force_distribution(rng, contacts):
    """Least squares of forces in friction cones on level feet that carry a weight off the middle."""
    feet = contact_edges(contacts).reshape(6, contacts, 4)
    normal = feet.mean(axis=2)
    wrench = np.stack([normal, 2.0 * (feet[:, :, 0] - normal), 2.0 * (feet[:, :, 1] - normal)], axis=2).reshape(6, -1)
    x, y = rng.uniform(-0.3, 0.3, 2)
    load = np.array([0.0, 0.0, 1.0, y, -x, 0.0])
    unit = np.eye(3 * contacts)
    cones = [norm_below(unit[3 * k + 1:3 * k + 3], np.zeros(2), 0.5 * unit[3 * k]) for k in range(contacts)]
    return programme(np.zeros(3 * contacts), [(wrench, load, load)], cones, 2.0 * unit)


def ball_in_ellipsoids(rng, n):
    """Largest r and a centre with |A_i (x - c_i)| + r |A_i| <= 1 for n ellipsoids around the origin, and rows."""
    cones, top = [], np.zeros(n + 1)
    for _ in range(n):
        shape = np.diag(rng.uniform(0.5, 1.0, n)) + 0.1 * rng.standard_normal((n, n))
        middle = 0.2 * rng.standard_normal(n) / np.sqrt(n)
        top[n] = -np.linalg.norm(shape, 2)
        cones.append(norm_below(np.hstack([shape, np.zeros((n, 1))]), -shape @ middle, top.copy(), 1.0))
    rows = rng.standard_normal((2 * n, n))
    rows = np.hstack([rows, np.linalg.norm(rows, axis=1, keepdims=True)])
    return programme(-np.eye(n + 1)[n], [(rows, np.full(2 * n, -INFINITY), np.full(2 * n, 1.0))], cones)


def loss_portfolio(rng, n):
    """Most return, |F x| below a bound, weights of sum 1 and at least 0."""
    root = rng.standard_normal((n, n)) / np.sqrt(n)
    bound = 1.5 * np.linalg.norm(root @ np.full(n, 1.0 / n))
    return programme(-rng.uniform(0.0, 1.0, n), [(np.ones((1, n)), 1.0, 1.0), (np.eye(n), np.zeros(n), np.full(n, INFINITY))],
                     [norm_below(root, np.zeros(n), np.zeros(n), bound)])


def group_lasso(rng, n):
    """1/2 |A x - b|^2 and the norms of groups of three."""
    groups = n // 3
    design = rng.standard_normal((2 * n, n))
    data = design[:, :3] @ rng.standard_normal(3) + 0.1 * rng.standard_normal(2 * n)
    hessian = np.zeros((n + groups, n + groups))
    hessian[:n, :n] = design.T @ design
    unit = np.eye(n + groups)
    weight = 0.3 * max(np.linalg.norm(design[:, 3 * g:3 * g + 3].T @ data) for g in range(groups))
    return programme(np.concatenate([-design.T @ data, np.full(groups, weight)]), [],
                     [norm_below(unit[3 * g:3 * g + 3], np.zeros(3), unit[n + g]) for g in range(groups)], hessian)


def exact(rng, n):
    """As random_feasible, of numbers with few bits."""
    cones = (4,) * (n // 2)
    return cones, dyadic(rng, 4 * len(cones), n), dyadic(rng, n // 4, n)


def into(rng, cones):
    """A point inside of each cone, of few bits."""
    return np.concatenate([[1.0, *(rng.integers(-3, 4, size - 1) / 8.0)] for size in cones])


def infeasible(rng, n):
    """z in the cones with C'z + A'y = 0 and b'z + r'y = -1/64."""
    cones, matrix, equations = exact(rng, n)
    z, y, vector, right = into(rng, cones), rng.integers(-4, 5, n // 4), dyadic(rng, len(matrix)), dyadic(rng, n // 4)
    matrix[0] -= matrix.T @ z + equations.T @ y
    vector[0] -= vector @ z + right @ y + 1.0 / 64.0
    return None, rng.standard_normal(n), equations, right, right, cones, matrix, vector


def unbounded(rng, n):
    """A direction of entries 1 and -1 into the cones along which the cost falls."""
    cones, matrix, equations = exact(rng, n)
    way, x = rng.choice([-1.0, 1.0], n), dyadic(rng, n)
    equations[:, 0] -= equations @ way * way[0]
    matrix[:, 0] -= (matrix @ way + into(rng, cones)) * way[0]
    cost = dyadic(rng, n)
    cost[0] -= (cost @ way + 1.0 / 64.0) * way[0]
    right = equations @ x
    return None, cost, equations, right, right, cones, matrix, matrix @ x + into(rng, cones)


def no_interior(rng, n):
    """Random ones with a cone of which all points have t = v_1: its rows leave only its edge."""
    hessian, cost, equations, right, _, cones, matrix, vector = random_feasible(rng, n)
    extra = rng.standard_normal((1, n))
    edge = np.vstack([extra[0], extra[0], np.zeros((2, n))])
    level = 3.0 * np.abs(extra[0]).sum()
    return (hessian, cost, equations, right, right, (*cones, 4), np.vstack([matrix, edge]),
            np.concatenate([vector, [level, level, 0.0, 0.0]]))


def weakly_infeasible(rng, n):
    """Random ones, and |(t, 1)| <= t of an unknown that nothing else has: the longer t, the nearer."""
    hessian, cost, equations, right, _, cones, matrix, vector = random_feasible(rng, n)
    one_more = lambda part: np.pad(part, ((0, 0), (0, 1)))
    near = np.zeros((3, n + 1))
    near[:2, n] = -1.0
    return (hessian, np.append(cost, 0.0), one_more(equations), right, right, (*cones, 3),
            np.vstack([one_more(matrix), near]), np.concatenate([vector, [0.0, 0.0, 1.0]]))


SIZES = (4, 8, 16, 32)
CLASSES = {
    "random_feasible": (random_feasible, SIZES),
    "sum_of_norms": (sum_of_norms, SIZES),
    "robust_least_squares": (robust_least_squares, SIZES),
    "robust_lp": (robust_lp, SIZES),
    "antenna": (antenna, (4, 6, 10)),
    "grasp": (grasp, (5, 8, 12)),
    "force_distribution": (force_distribution, (4, 8, 12)),
    "ball_in_ellipsoids": (ball_in_ellipsoids, (3, 6, 10)),
    "loss_portfolio": (loss_portfolio, SIZES),
    "group_lasso": (group_lasso, (6, 12, 24)),
    "infeasible": (infeasible, SIZES, ("infeasible",)),
    "unbounded": (unbounded, SIZES, ("unbounded",)),
    "no_interior": (no_interior, (4, 8, 16)),
    "weakly_infeasible": (weakly_infeasible, (4, 8, 16), ("no_interior", "infeasible")),
}
TRIVIAL = (None, np.ones(1), np.eye(1), np.zeros(1), np.ones(1), (2,), np.array([[0.0], [1.0]]), np.array([2.0, 0.0]))


def count(n, quick):
    return (8 if quick else 16) if n <= 16 else (4 if quick else 8)


def shape(problem):
    return len(problem[1]), len(problem[3]) + len(problem[7])


def sizes(problem):
    return (len(problem[1]), len(problem[3]), len(problem[5]), *problem[5])


def arrays(problem):
    hessian, cost, matrix, lower, upper, _, cone_matrix, cone_vector = problem
    n = len(cost)
    return np.zeros((n, n)) if hessian is None else hessian, cost, matrix, lower, upper, cone_matrix, cone_vector


def split(problem, numbers):
    n, m = len(problem[1]), len(problem[3])
    return numbers[:n], numbers[n:n + m], numbers[n + m:]


def objective(problem, x):
    return problem[1] @ x + (0.0 if problem[0] is None else 0.5 * x @ problem[0] @ x)


def unit(problem):
    """Of objectives that are about zero."""
    return largest(problem[1])


def feasible(problem, x):
    return classes.feasible(problem, x, TOLERANCE)


def good(problem, x, y, z):
    return optimal(problem, x, y, z, TOLERANCE)


class Standard:
    """Rows as other codes want them: equations, then rows >= 0, then cones."""

    def __init__(self, problem, signs=False):
        from scipy import sparse
        hessian, cost, matrix, lower, upper, self.cones, cone_matrix, cone_vector = problem
        self.equal = np.flatnonzero(lower == upper)
        self.up = np.flatnonzero((lower < upper) & np.isfinite(upper))
        self.low = np.flatnonzero((lower < upper) & np.isfinite(lower))
        self.m = len(lower)
        self.cost = cost
        self.p = sparse.csc_matrix(np.triu(hessian) if hessian is not None else np.zeros((len(cost),) * 2))
        self.a, self.b = sparse.csc_matrix(matrix[self.equal]), upper[self.equal]
        self.g = sparse.csc_matrix(np.vstack([matrix[self.up], -matrix[self.low], cone_matrix]))
        self.h = np.concatenate([upper[self.up], -lower[self.low], cone_vector])
        self.positive = len(self.up) + len(self.low)
        self.all = sparse.vstack([self.a, self.g], format="csc")
        self.right = np.concatenate([self.b, self.h])

    def duals(self, equations, others):
        y = np.zeros(self.m)
        y[self.equal] = equations
        y[self.up] += others[:len(self.up)]
        y[self.low] -= others[len(self.up):self.positive]
        return y, np.array(others[self.positive:])

    def both(self, duals):
        duals = np.asarray(duals)
        return self.duals(duals[:len(self.equal)], duals[len(self.equal):])


def clarabel():
    import clarabel
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    def prepare(problem):
        of = Standard(problem)
        of.kinds = [clarabel.ZeroConeT(len(of.equal)), clarabel.NonnegativeConeT(of.positive),
                    *map(clarabel.SecondOrderConeT, of.cones)]
        return of
    known = {"Solved": "solved", "PrimalInfeasible": "infeasible", "DualInfeasible": "unbounded"}
    def solve(of):
        answer = clarabel.DefaultSolver(of.p, of.cost, of.all, of.right, of.kinds, settings).solve()
        return known.get(str(answer.status), "error"), np.array(answer.x), *of.both(answer.z)
    return prepare, solve


def ecos():
    import ecos
    known = {0: "solved", 1: "infeasible", 2: "unbounded"}
    def prepare(problem):
        if problem[0] is not None:
            raise NotImplementedError
        of = Standard(problem)
        of.equations = {"A": of.a, "b": of.b} if len(of.b) else {}
        return of
    def solve(of):
        answer = ecos.solve(of.cost, of.g, of.h, {"l": of.positive, "q": list(of.cones)}, verbose=False, **of.equations)
        return (known.get(answer["info"]["exitFlag"], "error"), answer["x"],
                *of.duals(answer["y"] if len(of.b) else [], answer["z"]))
    return prepare, solve


def scs():
    import scs
    known = {1: "solved", -2: "infeasible", -1: "unbounded"}
    def solve(of):
        code = scs.SCS({"P": of.p, "A": of.all, "b": of.right, "c": of.cost},
                       {"z": len(of.equal), "l": of.positive, "q": list(of.cones)}, verbose=False, eps_abs=1e-8,
                       eps_rel=1e-8, eps_infeas=1e-8, max_iters=2500)
        answer = code.solve()
        return known.get(answer["info"]["status_val"], "error"), answer["x"], *of.both(answer["y"])
    return Standard, solve


def qoco():
    import qoco
    known = {"QOCO_SOLVED": "solved"}
    def solve(of):
        code = qoco.QOCO()
        code.setup(len(of.cost), len(of.h), len(of.b), of.p if of.p.nnz else None, of.cost, of.a if len(of.b) else None,
                   of.b if len(of.b) else None, of.g, of.h, of.positive, len(of.cones), np.array(of.cones))
        answer = code.solve()
        return known.get(answer.status, "error"), answer.x, *of.duals(answer.y if len(of.b) else [], answer.z)
    return Standard, solve


PEERS = {"clarabel": clarabel, "ecos": ecos, "scs": scs, "qoco": qoco}
