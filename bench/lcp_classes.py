"""LCPs from the literature, compared with Siconos' lexicographic Lemke and codes from PyPI: z >= 0, w = M z + q >= 0,
z'w = 0. See classes.py.

Books' examples that make pivoting long (Murty, Fathi), random matrices of the literature's classes
(Harker and Pang's P-matrices, semidefinite, copositive-plus), discretised obstacles and American options,
Nash equilibria, optimality conditions of QPs and LPs, impacts with polygonal friction, problems of other
codes' tests (tests/data/lcp)."""
import ctypes
import glob
import json
import os

import numpy as np
import qp_classes
from lp_classes import library

KIND = PROGRAM = "lcp"
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "data", "lcp")
TOLERANCE = 1e-7


def murty(rng, n):
    """Ones on the diagonal, twos below it; q moved by 1 % from -1."""
    return np.eye(n) + 2.0 * np.tri(n, k=-1), -rng.uniform(0.99, 1.01, n)


def fathi(rng, n):
    """M = L L' of Murty's matrix, positive definite."""
    root = np.eye(n) + 2.0 * np.tri(n, k=-1)
    return root @ root.T, -rng.uniform(0.99, 1.01, n)


def harker_pang(rng, n):
    """A'A + skew + diagonal, a P-matrix; q in (-500, 0)."""
    root, skew = rng.uniform(-5.0, 5.0, (2, n, n))
    return root.T @ root + np.triu(skew, 1) - np.triu(skew, 1).T + np.diag(rng.uniform(0.0, 0.3, n)), rng.uniform(-500.0, 0.0, n)


def definite(rng, n):
    root = rng.standard_normal((n, n))
    return root.T @ root + 0.01 * np.eye(n), rng.standard_normal(n)


def planted(rng, matrix):
    """q of a strictly complementary solution."""
    value = rng.uniform(0.1, 1.0, len(matrix))
    positive = rng.uniform(size=len(matrix)) < 0.5
    return matrix, np.where(positive, 0.0, value) - matrix @ np.where(positive, value, 0.0)


def semidefinite(rng, n):
    """Symmetric, of half rank."""
    root = rng.standard_normal((n // 2, n))
    return planted(rng, root.T @ root)


def monotone(rng, n):
    """Of half rank and skew: semidefinite, not symmetric."""
    root, skew = rng.standard_normal((n // 2, n)), rng.standard_normal((n, n))
    return planted(rng, root.T @ root + skew - skew.T)


def monotone_infeasible(rng, n):
    """[0 -A'; A 0] of an infeasible system, Farkas' vector planted."""
    m = n // 2
    matrix = rng.standard_normal((m, n - m))
    weight = rng.uniform(0.1, 1.0, m)
    matrix -= np.outer(weight, np.maximum(weight @ matrix + 0.01, 0.0)) / (weight @ weight)
    right = rng.standard_normal(m)
    right -= (weight @ right + 0.05) / (weight @ weight) * weight
    return (np.block([[np.zeros((n - m, n - m)), -matrix.T], [matrix, np.zeros((m, m))]]),
            np.concatenate([rng.uniform(0.0, 1.0, n - m), right]))


def copositive_plus(rng, n):
    """Entries of whole numbers >= 0, diagonal positive: strictly copositive, many ties."""
    return rng.integers(0, 6, (n, n)) + np.eye(n), -rng.integers(1, 6, n).astype(float)


def bimatrix(rng, n):
    """A Nash equilibrium of two players' costs in (1, 2), after Lemke and Howson."""
    k = n // 2
    first, second = rng.uniform(1.0, 2.0, (2, k, k))
    zero = np.zeros((k, k))
    return np.block([[zero, first], [second.T, zero]]), -np.ones(2 * k)


def obstacle(rng, n):
    """A string over a wavy obstacle, by finite differences."""
    at = np.arange(1, n + 1) / (n + 1)
    height = rng.uniform(0.1, 0.5) * np.sin((2 + rng.integers(0, 4)) * np.pi * at) - 0.05
    stiffness = (2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)) * (n + 1)
    return stiffness, stiffness @ height + rng.uniform(0.0, 2.0) / (n + 1)


def american_put(rng, n):
    """One implicit time step of Black and Scholes at n prices; z is the value above the payoff."""
    strike, rate, volatility, step = 1.0, rng.uniform(0.01, 0.1), rng.uniform(0.1, 0.5), 0.05
    price = np.linspace(0.0, 3.0, n + 2)[1:-1]
    width = 3.0 / (n + 1)
    diffusion, drift = 0.5 * (volatility * price / width) ** 2, 0.5 * rate * price / width
    matrix = (np.diag(1.0 + step * (rate + 2.0 * diffusion)) - np.diag(step * (diffusion + drift)[:-1], 1)
              - np.diag(step * (diffusion - drift)[1:], -1))
    payoff = np.maximum(strike - price, 0.0)
    right = payoff.copy()
    right[0] += step * (diffusion[0] - drift[0]) * strike
    return matrix, matrix @ payoff - right


def of_program(rng, hessian, n):
    """Optimality of min 1/2 x'P x + c'x, A x >= b, x >= 0 with planted points."""
    m = n - len(hessian)
    rows = rng.standard_normal((m, len(hessian)))
    return planted(rng, np.block([[hessian, -rows.T], [rows, np.zeros((m, m))]]))


def of_qp(rng, n):
    root = rng.standard_normal((n // 4, n // 2))
    return of_program(rng, root.T @ root, n)


def of_lp(rng, n):
    return of_program(rng, np.zeros((n // 2, n // 2)), n)


def friction(rng, contacts, sides, velocities):
    """Stewart and Trinkle's impact of random contacts with mu in (0.2, 1): pyramids or, of two sides, planar."""
    jacobian = rng.standard_normal((contacts, 3 if sides > 2 else 2, velocities))
    root = rng.standard_normal((velocities, velocities))
    inverse = np.linalg.inv(root @ root.T + np.eye(velocities))
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ways = np.stack([np.cos(angle), np.sin(angle)])[:jacobian.shape[1] - 1]
    normal = jacobian[:, 0]
    tangents = np.einsum("cdv,ds->csv", jacobian[:, 1:], ways).reshape(-1, velocities)
    rows = np.vstack([normal, tangents])
    m, k = contacts, contacts * sides
    matrix = np.zeros((2 * m + k, 2 * m + k))
    matrix[:m + k, :m + k] = rows @ inverse @ rows.T
    ones = np.kron(np.eye(m), np.ones((sides, 1)))
    matrix[m:m + k, m + k:] = ones
    matrix[m + k:, :m] = np.diag(rng.uniform(0.2, 1.0, m))
    matrix[m + k:, m:m + k] = -ones.T
    return matrix, np.concatenate([rows @ rng.standard_normal(velocities), np.zeros(m)])


def public():
    """Problems of other codes' tests, by name."""
    problems = {}
    for path in sorted(glob.glob(os.path.join(DATA, "*.json"))):
        with open(path) as file:
            data = json.load(file)
        problems[os.path.basename(path)[:-5]] = np.array(data["M"], float), np.array(data["q"], float)
    return lambda _, name: problems[name], tuple(sorted(problems, key=lambda name: len(problems[name][1])))


SIZES = (8, 16, 32, 64)
CLASSES = {
    "murty": (murty, (4, 8, 16, 32)),
    "fathi": (fathi, (4, 8, 16, 32)),
    "harker_pang": (harker_pang, (*SIZES, 120)),
    "definite": (definite, SIZES),
    "semidefinite": (semidefinite, SIZES),
    "monotone": (monotone, SIZES),
    "monotone_infeasible": (monotone_infeasible, SIZES, ("infeasible",)),
    "copositive_plus": (copositive_plus, SIZES),
    "bimatrix": (bimatrix, SIZES),
    "obstacle": (obstacle, (*SIZES, 120)),
    "american_put": (american_put, (*SIZES, 120)),
    "of_qp": (of_qp, SIZES),
    "of_lp": (of_lp, SIZES),
    "friction_planar": (lambda rng, m: friction(rng, m, 2, 6), (2, 4, 8)),
    "friction_pyramids": (lambda rng, m: friction(rng, m, 4, 6), (2, 4, 8)),
    "friction_crowded": (lambda rng, m: friction(rng, m, 4, 3), (2, 4, 8)),
    "tests_of_others": public(),
}
TRIVIAL = (np.eye(1), -np.ones(1))


def count(n, quick):
    if isinstance(n, str):
        return 8
    return (16 if quick else 32) if n <= 16 else (8 if quick else 16)


def shape(problem):
    return len(problem[1]), len(problem[1])


def sizes(problem):
    return (len(problem[1]),)


def arrays(problem):
    return problem


def split(problem, numbers):
    return (numbers,)


def objective(problem, z):
    """Solutions may differ: nothing to compare."""
    return 0.0


def unit(problem):
    """Of objectives that are about zero."""
    return 1.0


def good(problem, z, *_):
    matrix, vector = problem
    if z is None or not np.all(np.isfinite(z)):
        return False
    w = matrix @ z + vector
    length = max(np.abs(z).max(), 1e-300)
    size = np.maximum(np.abs(matrix) @ np.abs(z), np.abs(vector))
    size = np.maximum(size, 1e-3 * size.max())  # rows of tiny numbers are judged as parts of the whole
    return bool(z.min() >= -TOLERANCE * length and np.all(w >= -TOLERANCE * size)
                and np.all((z <= TOLERANCE * length) | (w <= TOLERANCE * size)))


def siconos(method="lcp_lexicolemke", number=200):
    """SICONOS_LCP_LEMKE, or SICONOS_LCP_PIVOT (215), which has its own tableau and ratio test."""
    code = library("libsiconos_numerics.so", "libsiconos_numerics.so.7")
    pointer = ctypes.c_void_p

    class Problem(ctypes.Structure):
        _fields_ = [("size", ctypes.c_int), ("matrix", pointer), ("vector", pointer)]

    code.NM_create_from_data.restype = pointer
    code.NM_create_from_data.argtypes = [ctypes.c_int] * 3 + [pointer]
    code.solver_options_create.restype = pointer
    options = pointer(code.solver_options_create(number))
    call = getattr(code, method)
    def prepare(problem):
        matrix, vector = np.asfortranarray(problem[0], float).ravel(order="F"), np.array(problem[1], float)
        n = len(vector)
        lcp = Problem(n, code.NM_create_from_data(0, n, n, matrix.ctypes.data), vector.ctypes.data)
        return lcp, np.zeros(n), np.zeros(n), matrix, vector
    def solve(arrays):
        lcp, z, w = arrays[:3]
        z[:] = 0.0
        info = ctypes.c_int(0)
        call(ctypes.byref(lcp), z.ctypes.data_as(pointer), w.ctypes.data_as(pointer), ctypes.byref(info), options)
        return "solved" if info.value == 0 else "ray", z.copy()
    return prepare, solve


def lemkelcp():
    from lemkelcp.lemkelcp import lemketableau
    def solve(problem):
        tableau = lemketableau(*problem, maxIter=10 * len(problem[1]) + 100)
        tableau.wPos, tableau.zPos = list(tableau.wPos), list(tableau.zPos)  # ranges in Python 3
        z, code, _ = tableau.lemkeAlgorithm()
        return "solved" if code == 0 else "ray", z
    return lambda problem: problem, solve


def as_qp(load):
    """Symmetric semidefinite matrices, by a QP code."""
    code = load()
    def prepare(problem):
        matrix, vector = problem
        n = len(vector)
        if not np.array_equal(matrix, matrix.T) or np.linalg.eigvalsh(matrix)[0] < -1e-9:
            raise NotImplementedError
        return code[0]((matrix, vector, np.eye(n), np.zeros(n), np.full(n, np.inf)))
    return prepare, code[1]


PEERS = {"siconos": siconos, "siconos_pivot": lambda: siconos("lcp_pivot", 215), "lemkelcp": lemkelcp, "daqp": lambda: as_qp(qp_classes.daqp),
         "piqp": lambda: as_qp(qp_classes.piqp), "proxqp": lambda: as_qp(qp_classes.proxqp)}
