"""LPs from the literature, compared with HiGHS, CLP and GLPK: minimise c'x, row_lower <= A x <= row_upper,
col_lower <= x <= col_upper. See classes.py.

Netlib's problems (data/netlib.npz, numbers of SciPy's benchmarks) have costs moved by 1 %."""
import ctypes
import ctypes.util
import os

import numpy as np
from classes import largest, optimal
from qp_classes import plant

KIND = PROGRAM = "lp"
INFINITY = np.inf
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "netlib.npz")


def dense_feasible(rng, n):
    """Rows bounded around a point, as many again as unknowns."""
    matrix = rng.standard_normal((2 * n, n))
    middle = matrix @ rng.standard_normal(n)
    width = rng.uniform(0.1, 1.0, (2, 2 * n))
    return (rng.standard_normal(n), matrix, middle - width[0], middle + width[1], np.full(n, -10.0), np.full(n, 10.0))


def standard_form(rng, n):
    """A x = b, x >= 0, one entry in five; a primal and a dual point are planted."""
    m = n // 2
    matrix = np.where(rng.uniform(size=(m, n)) < 0.2, rng.standard_normal((m, n)), 0.0)
    matrix[np.arange(m), rng.permutation(n)[:m]] = 1.0
    basic = rng.uniform(size=n) < 0.5
    right = matrix @ np.where(basic, rng.uniform(0.0, 1.0, n), 0.0)
    cost = matrix.T @ rng.standard_normal(m) + np.where(basic, 0.0, rng.uniform(0.0, 1.0, n))
    return cost, matrix, right, right, np.zeros(n), np.full(n, INFINITY)


def bipartite(left, right):
    return np.vstack([np.kron(np.eye(left), np.ones(right)), np.kron(np.ones(left), np.eye(right))])


def assignment(rng, k):
    ones = np.ones(2 * k)
    return rng.integers(1, 100, k * k).astype(float), bipartite(k, k), ones, ones, np.zeros(k * k), np.full(k * k, INFINITY)


def transport(rng, k):
    """k sources, 2 k sinks, whole numbers."""
    wanted = rng.integers(1, 20, 2 * k).astype(float)
    there = np.diff(np.concatenate([[0.0], np.sort(rng.integers(0, int(wanted.sum()) + 1, k - 1)), [wanted.sum()]]))
    right = np.concatenate([there, wanted])
    return (rng.integers(1, 50, 2 * k * k).astype(float), bipartite(k, 2 * k), right, right, np.zeros(2 * k * k),
            np.full(2 * k * k, INFINITY))


def max_flow(rng, nodes):
    """A path through all nodes and three times as many random arcs; the last column is the flow."""
    tail = np.concatenate([np.arange(nodes - 1), rng.integers(0, nodes, 3 * nodes)])
    head = np.concatenate([np.arange(1, nodes), rng.integers(0, nodes, 3 * nodes)])
    head = np.where(head == tail, (head + 1) % nodes, head)
    arcs = len(tail)
    matrix = np.zeros((nodes, arcs + 1))
    matrix[tail, np.arange(arcs)] = -1.0
    matrix[head, np.arange(arcs)] = 1.0
    matrix[0, arcs], matrix[nodes - 1, arcs] = 1.0, -1.0
    cost = np.zeros(arcs + 1)
    cost[arcs] = -1.0
    capacity = np.append(rng.integers(1, 20, arcs).astype(float), INFINITY)
    return cost, matrix, np.zeros(nodes), np.zeros(nodes), np.zeros(arcs + 1), capacity


def klee_minty(rng, n):
    """Chvatal's form, right-hand sides to 100^(n-1), moved by up to 1 %."""
    matrix = np.eye(n)
    for i in range(n):
        for j in range(i):
            matrix[i, j] = 2.0 * 10.0 ** (i - j)
    right = 100.0 ** np.arange(n) * rng.uniform(0.99, 1.0, n)
    return -10.0 ** np.arange(n - 1, -1, -1), matrix, np.full(n, -INFINITY), right, np.zeros(n), np.full(n, INFINITY)


def chebyshev_centre(rng, n):
    """Largest ball in a polyhedron of 4 n rows: unknowns are the centre and the radius."""
    rows = rng.standard_normal((4 * n, n))
    matrix = np.hstack([rows, np.linalg.norm(rows, axis=1, keepdims=True)])
    cost = np.zeros(n + 1)
    cost[n] = -1.0
    return (cost, matrix, np.full(4 * n, -INFINITY), rng.uniform(0.5, 2.0, 4 * n),
            np.append(np.full(n, -INFINITY), 0.0), np.full(n + 1, INFINITY))


def regression(rng, features, columns):
    """A x - b between -t and t, one t a row (l1) or one for all (largest error)."""
    count = 3 * features
    design = rng.standard_normal((count, features))
    data = design @ rng.standard_normal(features) + rng.standard_t(2, count)
    slack = np.eye(count) if columns > 1 else np.ones((count, 1))
    matrix = np.vstack([np.hstack([design, slack]), np.hstack([design, -slack])])
    n = features + slack.shape[1]
    return (np.concatenate([np.zeros(features), np.ones(slack.shape[1])]), matrix,
            np.concatenate([data, np.full(count, -INFINITY)]), np.concatenate([np.full(count, INFINITY), data]),
            np.full(n, -INFINITY), np.full(n, INFINITY))


def basis_pursuit(rng, n):
    """Least |x|_1 with A x = b: x is u - v."""
    m = n // 2
    design = rng.standard_normal((m, n))
    right = design @ (rng.standard_normal(n) * (rng.uniform(size=n) < 0.2))
    return np.ones(2 * n), np.hstack([design, -design]), right, right, np.zeros(2 * n), np.full(2 * n, INFINITY)


def mpc_l1(rng, steps):
    """Three states, one input; |x| + 0.1 |u| by slacks, bounds on both."""
    states = 3
    a, b = plant(rng, states, 1)
    width = states + 1
    size = steps * width
    dynamics = np.zeros((steps * states, size))
    right = np.zeros(steps * states)
    for k in range(steps):
        row = slice(k * states, (k + 1) * states)
        dynamics[row, k * width:k * width + 1] = b
        dynamics[row, k * width + 1:(k + 1) * width] = -np.eye(states)
        if k == 0:
            right[row] = -a @ (0.5 * rng.standard_normal(states))
        else:
            dynamics[row, k * width - states:k * width] = a
    zero, unit = np.zeros_like(dynamics), np.eye(size)
    matrix = np.vstack([np.hstack([dynamics, zero]), np.hstack([unit, unit]), np.hstack([-unit, unit])])
    weight = np.tile(np.concatenate([[0.1], np.ones(states)]), steps)
    limit = np.tile(np.concatenate([[0.5], np.full(states, 4.0)]), steps)
    return (np.concatenate([np.zeros(size), weight]), matrix, np.concatenate([right, np.zeros(2 * size)]),
            np.concatenate([right, np.full(2 * size, INFINITY)]), np.concatenate([-limit, np.zeros(size)]),
            np.concatenate([limit, np.full(size, INFINITY)]))


def contact_edges(contacts, rng=None):
    """Generators of four-sided friction pyramids on a regular polygon of feet, or of fingers on a sphere."""
    wrenches = []
    for k in range(contacts):
        angle = 2.0 * np.pi * k / contacts
        if rng is None:
            normal, point = np.array([0.0, 0.0, 1.0]), np.array([np.cos(angle), np.sin(angle), 0.0])
        else:
            point = rng.standard_normal(3)
            point /= np.linalg.norm(point)
            normal = -point
        first = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.9 else [0.0, 1.0, 0.0])
        first /= np.linalg.norm(first)
        second = np.cross(normal, first)
        for tangent in (first, second, -first, -second):
            force = normal + 0.5 * tangent
            wrenches.append(np.concatenate([force, np.cross(point, force)]))
    return np.array(wrenches).T


def stance(rng, contacts):
    """Furthest horizontal place of the centre of mass on symmetric feet at one height: highly degenerate."""
    forces = contact_edges(contacts)
    angle = np.pi / 4 * rng.integers(0, 8)
    place = np.zeros((6, 2))  # torque of the weight (0, 0, -1) at (x, y): (-y, x, 0)
    place[3, 1], place[4, 0] = -1.0, 1.0
    matrix = np.hstack([forces, place])
    right = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    n = matrix.shape[1]
    cost = np.append(np.zeros(n - 2), [-np.cos(angle), -np.sin(angle)])
    return (cost, matrix, right, right, np.append(np.zeros(n - 2), [-INFINITY] * 2), np.full(n, INFINITY))


def grasp(rng, contacts):
    """Least largest edge force of fingers on a sphere under gravity."""
    forces = contact_edges(contacts, rng)
    edges = forces.shape[1]
    matrix = np.vstack([np.hstack([forces, np.zeros((6, 1))]), np.hstack([-np.eye(edges), np.ones((edges, 1))])])
    weight = rng.standard_normal(3)
    weight = np.concatenate([-weight / np.linalg.norm(weight), np.zeros(3)])
    cost = np.append(np.zeros(edges), 1.0)
    return (cost, matrix, np.concatenate([weight, np.zeros(edges)]),
            np.concatenate([weight, np.full(edges, INFINITY)]), np.zeros(edges + 1), np.full(edges + 1, INFINITY))


def matrix_game(rng, n):
    """Best mixed strategy of a zero-sum game with whole payoffs."""
    payoff = rng.integers(-9, 10, (n, n)).astype(float)
    matrix = np.vstack([np.hstack([payoff, -np.ones((n, 1))]), np.append(np.ones(n), 0.0)])
    return (np.append(np.zeros(n), -1.0), matrix, np.append(np.zeros(n), 1.0), np.append(np.full(n, INFINITY), 1.0),
            np.append(np.zeros(n), -INFINITY), np.full(n + 1, INFINITY))


def degenerate_vertex(rng, n):
    """3 n rows of small whole numbers through the origin, cut off by one row."""
    rows = rng.integers(-2, 3, (3 * n, n)).astype(float)
    matrix = np.vstack([rows, np.ones(n)])
    return (rng.integers(-5, 6, n).astype(float), matrix, np.full(3 * n + 1, -INFINITY),
            np.append(np.zeros(3 * n), 1.0), np.zeros(n), np.full(n, INFINITY))


def dyadic(rng, *shape):
    """Normal numbers of few bits, whose sums of products are exact: what is planted holds to the last bit."""
    return np.round(64.0 * rng.standard_normal(shape)) / 64.0


def infeasible(rng, n):
    """Rows of which a positive combination is 0 <= -1/64."""
    m = 2 * n
    matrix, right = dyadic(rng, m, n), dyadic(rng, m)
    weight = rng.integers(1, 9, n).astype(float)
    matrix[n] = -(weight @ matrix[:n])
    right[n] = -(weight @ right[:n]) - 1.0 / 64.0
    return rng.standard_normal(n), matrix, np.full(m, -INFINITY), right, np.full(n, -INFINITY), np.full(n, INFINITY)


def unbounded(rng, n):
    """A direction along which the cost falls and rows do not end."""
    way = rng.standard_normal(n)
    matrix = rng.standard_normal((2 * n, n))
    matrix -= np.outer(np.maximum(matrix @ way + 0.01, 0.0) / (way @ way), way)
    cost = rng.standard_normal(n)
    cost -= (cost @ way + 0.1) / (way @ way) * way
    return (cost, matrix, np.full(2 * n, -INFINITY), rng.uniform(0.5, 1.0, 2 * n), np.full(n, -INFINITY),
            np.full(n, INFINITY))


def netlib(feasible):
    """Problems by name, as the sizes of a class."""
    with np.load(DATA) as data:
        all_of = {key: data[key] for key in data}
    at = {"entries": 0, "columns": 0, "rows": 0}
    problems = {}
    for name, found, (n, m, equations, entries) in zip(all_of["names"], all_of["feasible"], all_of["sizes"]):
        part = slice(at["entries"], at["entries"] + entries)
        columns, rows = slice(at["columns"], at["columns"] + n), slice(at["rows"], at["rows"] + m)
        at = {"entries": part.stop, "columns": columns.stop, "rows": rows.stop}
        if found != feasible:
            continue
        matrix = np.zeros((m, n))
        matrix[all_of["rows"][part], all_of["columns"][part]] = all_of["values"][part]
        right = all_of["right"][rows]
        problems[str(name)] = (all_of["cost"][columns], matrix,
                               np.where(np.arange(m) < m - equations, -INFINITY, right), right,
                               all_of["lower"][columns], all_of["upper"][columns])

    def make(rng, name):
        cost, *rest = problems[name]
        return cost * (1.0 + 0.01 * rng.standard_normal(len(cost))), *rest
    return make, tuple(sorted(problems, key=lambda name: problems[name][1].size))


CLASSES = {
    "dense_feasible": (dense_feasible, (6, 12, 24, 48)),
    "standard_form": (standard_form, (12, 24, 48, 96)),
    "assignment": (assignment, (3, 5, 8, 10)),
    "transport": (transport, (3, 5, 7)),
    "max_flow": (max_flow, (6, 12, 24)),
    "klee_minty": (klee_minty, (3, 5, 7)),
    "chebyshev_centre": (chebyshev_centre, (4, 8, 16, 32)),
    "l1_regression": (lambda rng, n: regression(rng, n, 2), (3, 6, 12)),
    "least_largest_error": (lambda rng, n: regression(rng, n, 1), (4, 8, 16, 32)),
    "basis_pursuit": (basis_pursuit, (8, 16, 32)),
    "mpc_l1": (mpc_l1, (3, 6, 10)),
    "stance": (stance, (4, 8, 16)),
    "grasp": (grasp, (4, 6, 10)),
    "matrix_game": (matrix_game, (4, 8, 16, 32)),
    "degenerate_vertex": (degenerate_vertex, (5, 10, 20)),
    "infeasible": (infeasible, (6, 12, 24, 48), ("infeasible",)),
    "unbounded": (unbounded, (6, 12, 24, 48), ("unbounded",)),
    "netlib": netlib(True),
    "netlib_infeasible": (*netlib(False), ("infeasible",)),
}
TRIVIAL = (np.ones(1), np.eye(1), np.zeros(1), np.ones(1), np.zeros(1), np.ones(1))


def count(n, quick):
    if isinstance(n, str):
        return 4
    return (16 if quick else 32) if n <= 16 else (8 if quick else 16)


def shape(problem):
    return len(problem[0]), len(problem[2])


def sizes(problem):
    return shape(problem)


def arrays(problem):
    return problem


def split(problem, numbers):
    n = len(problem[0])
    return numbers[:n], numbers[n:]


def objective(problem, x):
    return problem[0] @ x


def unit(problem):
    """Of objectives that are about zero."""
    return largest(problem[0])


def good(problem, x, y):
    """y of the rows; reduced costs of the columns follow from it."""
    cost, matrix, row_lower, row_upper, lower, upper = problem
    if x is None or not np.all(np.isfinite(y)):
        return False
    return optimal((None, cost, np.vstack([matrix, np.eye(len(cost))]), np.concatenate([row_lower, lower]),
                    np.concatenate([row_upper, upper])), x, np.concatenate([-y, matrix.T @ y - cost]))


def by_columns(matrix):
    """Starts, rows and entries of the columns."""
    column, row = np.nonzero(matrix.T)
    starts = np.searchsorted(column, np.arange(matrix.shape[1] + 1))
    return starts, row, matrix.T[column, row]


def highs():
    import highspy
    known = {highspy.HighsModelStatus.kOptimal: "solved", highspy.HighsModelStatus.kInfeasible: "infeasible",
             highspy.HighsModelStatus.kUnbounded: "unbounded"}
    code = highspy.Highs()
    code.setOptionValue("output_flag", False)
    code.setOptionValue("threads", 1)
    def prepare(problem):
        cost, matrix, row_lower, row_upper, lower, upper = problem
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = matrix.shape[1], matrix.shape[0]
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, lower, upper
        lp.row_lower_, lp.row_upper_ = row_lower, row_upper
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = by_columns(matrix)
        return lp
    def solve(lp):
        code.passModel(lp)
        code.run()
        answer = code.getSolution()
        return known.get(code.getModelStatus(), "error"), np.array(answer.col_value), np.array(answer.row_dual)
    return prepare, solve


def library(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    raise OSError(names[0])


def clp():
    code = library("libClp.so.1", "libClp.so")
    code.Clp_newModel.restype = ctypes.c_void_p
    for name in ("Clp_primalColumnSolution", "Clp_dualRowSolution"):
        getattr(code, name).restype = ctypes.POINTER(ctypes.c_double)
        getattr(code, name).argtypes = [ctypes.c_void_p]
    model = ctypes.c_void_p(code.Clp_newModel())
    code.Clp_setLogLevel(model, 0)
    code.Clp_setPerturbation(model, 100)  # none: faster on all of these, and exact at degenerate vertices
    known = {0: "solved", 1: "infeasible", 2: "unbounded"}
    def prepare(problem):
        cost, matrix, row_lower, row_upper, lower, upper = (np.ascontiguousarray(part, float) for part in problem)
        starts, rows, values = by_columns(matrix)
        kept = (starts.astype(np.int32), rows.astype(np.int32), values, lower, upper, cost, row_lower, row_upper)
        pointers = [part.ctypes.data_as(ctypes.c_void_p) for part in kept]
        return kept, pointers, matrix.shape
    def solve(arrays):
        _, pointers, (m, n) = arrays
        code.Clp_loadProblem(model, n, m, *pointers)
        code.Clp_dual(model, 0)
        if code.Clp_secondaryStatus(model) > 1:  # optimal as scaled, not as it was given: CLP says so itself
            code.Clp_scaling(model, 0)
            code.Clp_primal(model, 0)
            code.Clp_scaling(model, 3)
        return (known.get(code.Clp_status(model), "error"),
                np.ctypeslib.as_array(code.Clp_primalColumnSolution(model), (n,)).copy(),
                np.ctypeslib.as_array(code.Clp_dualRowSolution(model), (m,)).copy())
    return prepare, solve


def glpk():
    code = library("libglpk.so.40", "libglpk.so")
    double, integer, pointer = ctypes.c_double, ctypes.c_int, ctypes.c_void_p
    code.glp_create_prob.restype = pointer
    for name in ("glp_set_row_bnds", "glp_set_col_bnds"):
        getattr(code, name).argtypes = [pointer, integer, integer, double, double]
    code.glp_set_obj_coef.argtypes = [pointer, integer, double]
    for name in ("glp_get_col_prim", "glp_get_row_dual"):
        getattr(code, name).restype = double
        getattr(code, name).argtypes = [pointer, integer]
    code.glp_term_out(0)
    settings = (ctypes.c_char * 512)()  # glp_smcp
    code.glp_init_smcp(settings)
    known = {5: "solved", 4: "infeasible", 6: "unbounded"}  # GLP_OPT, GLP_NOFEAS, GLP_UNBND

    class Loaded:
        def __init__(self, problem):
            cost, matrix, row_lower, row_upper, lower, upper = problem
            self.m, self.n = matrix.shape
            self.model = pointer(code.glp_create_prob())
            if self.m:
                code.glp_add_rows(self.model, self.m)
            code.glp_add_cols(self.model, self.n)
            for name, low, high in (("row", row_lower, row_upper), ("col", lower, upper)):
                for i, (l, u) in enumerate(zip(low, high)):
                    kind = (5 if l == u else 4 if np.isfinite(l) and np.isfinite(u) else
                            2 if np.isfinite(l) else 3 if np.isfinite(u) else 1)
                    getattr(code, f"glp_set_{name}_bnds")(self.model, i + 1, kind, l, u)
            for j, c in enumerate(cost):
                code.glp_set_obj_coef(self.model, j + 1, c)
            row, column = np.nonzero(matrix)
            self.kept = (np.append(0, row + 1).astype(np.int32), np.append(0, column + 1).astype(np.int32),
                         np.append(0.0, matrix[row, column]))
            code.glp_load_matrix(self.model, len(row), *[part.ctypes.data_as(pointer) for part in self.kept])

        def __del__(self):
            code.glp_delete_prob(self.model)

    def solve(loaded):
        code.glp_std_basis(loaded.model)
        failed = code.glp_simplex(loaded.model, settings)
        status = "error" if failed else known.get(code.glp_get_status(loaded.model), "error")
        return (status, np.array([code.glp_get_col_prim(loaded.model, j + 1) for j in range(loaded.n)]),
                np.array([code.glp_get_row_dual(loaded.model, i + 1) for i in range(loaded.m)]))
    return Loaded, solve


PEERS = {"highs": highs, "clp": clp, "glpk": glpk}
