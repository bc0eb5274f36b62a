"""Contact LCPs for which Lemke's method ends on rays, and the results of carom.decide_lcp.

    python bench/lcp_rays.py --seed 7 --each 20

Stewart and Trinkle's LCPs of order 28 (7 planar contacts, or 4 spatial ones with 5 directions) and 56 (14, 8), eight
families: consistent q = J v of redundant, stacked, spread and wedged contacts; driven walls, negative gaps, contacts pinched
from two sides, and q with rounding in place of zeros. Prints a line for each and the share that stays undecided."""
import argparse
import collections
import time

import numpy as np

import carom

FAMILIES = ("redundant", "stacked", "spread", "wedged", "driven", "gaps", "pinched", "noise")
AROUND = ("wedged", "driven", "gaps")


def frame(rng, family, planar, contact):
    """Point, normal and directions of friction of a contact."""
    if planar:
        angle = rng.uniform(-2.4, 2.4) if family in AROUND else np.pi * (contact % 2 if family == "pinched" else 0)
        normal = np.array([-np.sin(angle), np.cos(angle)])
        tangent = np.array([normal[1], -normal[0]])
        point = rng.normal(size=2) if family == "wedged" else np.array([rng.integers(-2, 3), -1.0])
        return point, normal, [tangent, -tangent]
    normal = np.array([0.0, 0.0, 1.0])
    if family == "pinched":
        normal = normal * (1.0 if contact % 2 == 0 else -1.0)
    elif family in AROUND:
        normal = np.array([np.sin(0.6) * (1 if contact % 2 else -1), 0.0, np.cos(0.6)])
    first = np.array([normal[2], 0.0, -normal[0]])
    second = np.cross(normal, first)
    point = np.array([rng.integers(-1, 2), rng.integers(-1, 2), -np.sign(normal[2])])
    return point, normal, [np.cos(a) * first + np.sin(a) * second for a in 2.0 * np.pi * np.arange(5) / 5]


def problem(rng, family, planar, contacts):
    sides, size = (2, 3) if planar else (5, 6)
    bodies = max(2, contacts // 3) if family == "stacked" else 1
    normals, tangents = np.zeros((contacts, size * bodies)), np.zeros((contacts * sides, size * bodies))
    for c in range(contacts):
        body = c % bodies
        point, normal, directions = frame(rng, family, planar, c)
        for rows, at, way in [(normals, c, normal)] + [(tangents, c * sides + k, d) for k, d in enumerate(directions)]:
            moment = [point[0] * way[1] - point[1] * way[0]] if planar else np.cross(point, way)
            row = np.concatenate([way, moment])
            rows[at, size * body : size * (body + 1)] += row
            if family == "stacked" and body > 0:
                rows[at, size * (body - 1) : size * body] -= row
    velocities = size * bodies
    mass = 10.0 ** rng.uniform(-3, 3, velocities) if family == "spread" else np.ones(velocities)
    jacobian, ones = np.vstack([normals, tangents]), np.kron(np.eye(contacts), np.ones((sides, 1)))
    n, k = contacts * (sides + 2), contacts * (sides + 1)
    matrix = np.zeros((n, n))
    matrix[:k, :k] = jacobian @ np.diag(1.0 / mass) @ jacobian.T
    matrix[contacts:k, k:] = ones
    matrix[k:, :contacts], matrix[k:, contacts:k] = np.diag(rng.uniform(0.1, 1.0, contacts)), -ones.T
    vector = np.concatenate([jacobian @ rng.normal(size=velocities), np.zeros(contacts)])
    if family == "driven":
        vector[:contacts] += 0.5 * rng.normal(size=contacts)
    elif family in ("gaps", "pinched"):
        vector[:contacts] -= 0.3 * np.abs(rng.normal(size=contacts))
    elif family == "noise":
        some = rng.random(contacts) < 0.5
        vector[:contacts][some] = 1e-16 * np.abs(vector).max() * rng.normal(size=some.sum())
        vector[contacts:k][rng.random(k - contacts) < 0.3] = 0.0
    return matrix, vector


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--each", type=int, default=20, help="problems of each family and size; 80: 2,560 in all")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    total, rays, open_ = 0, 0, 0
    for planar, contacts in ((True, 7), (False, 4), (True, 14), (False, 8)):
        for family in FAMILIES:
            M, q = map(np.array, zip(*[problem(rng, family, planar, contacts) for _ in range(options.each)]))
            before = collections.Counter(carom.Status(int(s)).name for s in carom.solve_lcp(M, q).status)
            begin = time.perf_counter()
            decisions = carom.decide_lcp(M, q)
            seconds = time.perf_counter() - begin
            after = collections.Counter(d.status.name + ("" if np.isinf(d.bound) else " below bound") for d in decisions)
            wrong = sum(not d.verify() for d in decisions if d.status in (carom.Status.solved, carom.Status.infeasible))
            total += len(decisions)
            rays += sum(count for name, count in before.items() if name not in ("solved", "infeasible"))
            open_ += sum(d.status not in (carom.Status.solved, carom.Status.infeasible) for d in decisions)
            print(f"{'planar' if planar else 'spatial'} {contacts} {family}: {dict(before)} -> {dict(after)}, "
                  f"{max(d.nodes for d in decisions)} nodes at most, {seconds:.1f} s, {wrong} not verified", flush=True)
    print(f"{total} problems: {rays} left open by solve_lcp, {open_} ({100.0 * open_ / total:.2f} %) by decide_lcp")


if __name__ == "__main__":
    main()
