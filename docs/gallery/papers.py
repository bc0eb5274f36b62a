"""Functions that the scripts of the gallery share."""

from __future__ import annotations

import numpy as np

#: What the five papers show of data: a script for each.
FIGURES = {
    "halm_posa": [*(f"figure {i}" for i in (1, 2, 3, *range(6, 15))), *(f"table {i}" for i in range(3, 9))],
    "drumwright": [*(f"figure {i}" for i in range(1, 11)), "table 1", "table 2"],
    "or_rimon_2d": [f"figure {i}" for i in (1, 2, 3, 4, 6, 7, 12)],
    "or_rimon_3d": [f"figure {i}" for i in range(1, 8)],
    "varkonyi": ["figure 2", "figure 3"],
}  # fmt: skip


def agree(what, found, expected, *, within=0.0, relative=0.0):
    """Prints a number next to what the paper has or its formula gives, and asserts that they agree."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    print(f"{what}: {_shown(found)}, expected {_shown(expected)}")
    error = np.abs(found - expected)
    allowed = within + relative * np.abs(expected)
    assert (error <= allowed).all(), f"{what}: off by {error.max():.3g}, allowed {allowed.max():.3g}"


def holds(what, truth):
    """Prints a statement of the paper, and asserts it."""
    print(("" if truth else "NOT ") + what)
    assert truth, what


#: What compare() and clock() were given, in order: the rows of docs/reference/published.md, see scripts/published.py.
ROWS = []


def compare(where, what, theirs, ours, *, within=0.0, relative=0.0, reproduced=True, note=""):
    """A number, word or statement (True) that the paper prints, next to ours, for docs/reference/published.md. Asserts that
    they agree, or where it is not `reproduced` that they differ by more than allowed; `note` says why."""
    number = not isinstance(theirs, (str, bool))
    if number:
        theirs, ours = float(theirs), float(ours)
        agrees = abs(ours - theirs) <= within + relative * abs(theirs)
    else:
        theirs, ours = (str(each) if isinstance(theirs, str) else bool(each) for each in (theirs, ours))
        agrees = theirs == ours
    print(f"{where}, {what}: {ours}, the paper has {theirs}{'' if reproduced else ': NOT reproduced'}")
    assert agrees == reproduced, f"{where}, {what}: {ours}, the paper has {theirs}"
    ROWS.append({"where": where, "what": what, "theirs": theirs, "ours": ours, "within": within, "relative": relative,
                 "reproduced": reproduced, "note": note, "clock": False})  # fmt: skip


def clock(where, what, theirs, ours=None, note=""):
    """A time [s] that the paper prints for its machine, next to that of this one; None: not measured here."""
    ROWS.append({"where": where, "what": what, "theirs": theirs, "ours": ours, "note": note, "clock": True})


def parameters(where, model, table, h, n):
    """A table of parameters, {name: the paper's value}, and its h and N, against a built-in model's defaults."""
    for name, value in table.items():
        known = model.parameters[name]
        compare(where, f"{name} [{known.unit}]", value, known.value, within=1e-9)
    compare(where, "step size h [N s]", h, model.step_size, within=1e-12)
    compare(where, "trajectory length N", n, model.max_steps)


def _shown(numbers):
    return np.array2string(numbers, precision=6, threshold=8, separator=", ")


def steps_of(name):
    """step_size h and max_steps N of the paper's table of a built-in model, for carom.impact.sample."""
    import carom

    model = carom.models()[name]
    return {"step_size": model.step_size, "max_steps": model.max_steps}


def violates_assumption_6(name):
    """Whether a step (75) of a built-in model has several v': found by linear programmes, and the same when solved again."""
    import carom

    found = carom.impact.decide_unique_step(name)
    m = carom.model(name)
    again = carom.Problems.of(m.mass_matrix[0], m.normal_jacobian[0], m.tangent_jacobian[0], m.friction[0], found["velocity"])
    outcomes = [outcome.velocity for outcome in carom.impact.step_outcomes(again, max_impulse=found["max_impulse"])]
    agree("largest speed before that step, scaled", np.abs(found["velocity"]).max(), 1.0, within=1e-12)
    first = [np.argsort(each, axis=0)[:, 0] for each in (found["outcomes"], outcomes)]  # in one order
    agree("its v'", found["outcomes"][first[0]], np.array(outcomes)[first[1]], within=1e-9)
    return found["decided"] and np.ptp(outcomes, axis=0).max() > 1e-3


def evolution(problem, planes, *, samples=2**14, paths=300):
    """Samples an impact and draws it as the paper does: paths of velocities in light gray, outcomes in dark,
    the simultaneous ones in blue, the sequential ones (A, B, ...) in red and (B, A, ...) in yellow.

    planes: pairs of coordinates such as (("normal", 0), ("tangent", 0)). Returns the run, the simultaneous
    and the sequential outcomes.
    """
    import matplotlib.pyplot as plt

    import carom

    run = carom.impact.sample(problem, samples=samples, keep_paths=paths, **steps_of(problem.name))
    together = carom.impact.simultaneous(problem)
    orders = [(0, 1), (1, 0)] if problem.contacts == 2 else []
    one_by_one = carom.impact.sequential(problem, orders=orders)
    done = run.samples.status[0] == carom.TrajectoryStatus.terminated

    def at(velocities, plane):
        normal, tangent = problem.contact_velocity(np.atleast_2d(velocities)[None])
        values = {"normal": normal[0], "tangent": tangent[0]}
        return [values[kind][:, contact] for kind, contact in plane]

    figure, axes = plt.subplots(1, len(planes), figsize=(4.5 * len(planes), 4), squeeze=False)
    for ax, plane in zip(axes[0], planes):
        for i in range(len(run.paths[0])):
            ax.plot(*at(run.paths[0][i], plane), color="0.85", linewidth=0.5)
        ax.plot(*at(run.samples.velocity[0][done], plane), ".", color="0.35", markersize=2)
        for outcomes, colour in ((together, "tab:blue"), (one_by_one[:1], "tab:red"), (one_by_one[1:], "gold")):
            for outcome in outcomes:
                ends = np.stack([problem.velocity[0], outcome.velocity])
                ax.plot(*at(ends, plane), "o-", color=colour, markevery=[1])
        names = [problem.contact_names[contact] for _, contact in plane]
        for put, (kind, _), name in zip((ax.set_xlabel, ax.set_ylabel), plane, names):
            put(f"{kind} velocity of {name} [m/s]")
        for limits, put in ((ax.get_xlim(), ax.set_xlim), (ax.get_ylim(), ax.set_ylim)):
            if np.ptp(limits) < 1e-6:  # only rounding
                put(-0.1, 0.1)
    figure.tight_layout()
    return run, together, one_by_one


def balanced(what, problem, answer):
    """Asserts M (v+ - v) = Jn' lambda_n + Jt' lambda_t of one outcome, or of all samples of a run that ended."""
    import carom

    if hasattr(answer, "samples"):
        done = answer.samples.status[0] == carom.TrajectoryStatus.terminated
        velocity, impulse = answer.samples.velocity[0][done], answer.samples.impulse[0][done]
    else:
        velocity, impulse = answer.velocity[None], answer.impulse[None]
    jacobian = np.concatenate([problem.normal_jacobian[0], problem.tangent_jacobian[0]])
    change = (velocity - problem.velocity[0]) @ problem.mass_matrix[0]
    off = np.abs(change - impulse @ jacobian).max() / np.abs(problem.mass_matrix[0] @ problem.velocity[0]).max()
    agree(f"{what}: momentum that the impulses do not account for, of that before", off, 0.0, within=1e-9)


def nearest(velocity, run):
    """Distance of a velocity to the nearest outcome of a sampled impact [m/s, rad/s]."""
    return float(np.nanmin(np.linalg.norm(run.samples.velocity[0] - velocity, axis=1)))


def cone_edges(posture):
    """Starts and directions (2 k, 2) of the edges of a planar posture's friction cones."""
    normal, mu = posture.normal[0], posture.friction[0][:, None]
    tangent = np.stack([normal[:, 1], -normal[:, 0]], axis=1)
    along = np.concatenate([normal + mu * tangent, normal - mu * tangent])
    return np.tile(posture.position[0], (2, 1)), along


def clip(polygon, normal, offset):
    """The part of a convex polygon (k, 2) in the half-plane x . normal <= offset."""
    kept = []
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0)):
        inside, next_inside = a @ normal - offset, b @ normal - offset
        if inside <= 0.0:
            kept.append(a)
        if inside * next_inside < 0.0:
            kept.append(a + inside / (inside - next_inside) * (b - a))
    return np.array(kept).reshape(-1, 2)


def cone_polygon(posture, signs, far=1e3):
    """What the cones of a planar posture's contacts share, or with sign -1 their reflections; within `far`."""
    polygon = far * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    count = posture.contacts
    at, along = cone_edges(posture)
    for i, sign in enumerate(signs):
        for edge, side in ((i, 1.0), (i + count, -1.0)):
            outward = side * sign * np.array([along[edge, 1], -along[edge, 0]])
            polygon = clip(polygon, outward, outward @ at[edge])
    return polygon


def draw_cones(ax, posture, length=0.6):
    """Contacts and friction cones of a planar posture."""
    at, along = cone_edges(posture)
    k = posture.contacts
    reach = along / np.linalg.norm(along, axis=1)[:, None] * length
    for i in range(k):
        corners = np.stack([at[i], at[i] + reach[i], at[i] + reach[i + k]])
        ax.fill(*corners.T, color="tab:blue", alpha=0.15)
    ax.plot(*posture.position[0].T, "ko")
    ax.set_aspect("equal")
    ax.set_xlabel("x [m]")
    ax.set_ylabel("y [m]")


def arrangements():
    """Three contacts as in the spatial paper's Figure 1: (a) at one height, (b) at different ones."""
    from carom import equilibrium

    return {
        "a": equilibrium.model("tripod_flat"),
        "b": equilibrium.model("tripod_steep", slope_1=19.0, slope_2=22.5, slope_3=30.0),
    }


def projected_cones(posture):
    """Of each contact of a spatial posture its place from above and the unit edges of its cone's shadow."""
    cones = []
    for at, n, mu in zip(posture.position[0], posture.normal[0], posture.friction[0]):
        lean, half = np.hypot(n[0], n[1]), np.arctan(mu)
        # A cone that leans by more than its own angle has a shadow of half angle asin(sin half / sin lean).
        spread = np.arcsin(np.sin(half) / lean)
        middle = np.arctan2(n[1], n[0])
        edges = np.stack([[np.cos(a), np.sin(a)] for a in (middle - spread, middle + spread)])
        cones.append((at[:2], edges))
    return cones


def signs_of(posture, point):
    """1 where a point is in a projected cone, -1 in its reflection, else 0."""
    found = []
    for at, (first, second) in projected_cones(posture):
        a, b = np.linalg.solve(np.stack([first, second], axis=1), point - at)
        found.append(1 if min(a, b) >= 0.0 else -1 if max(a, b) <= 0.0 else 0)
    return found


def closed(polygon):
    """A polygon with its first corner at the end, too."""
    return np.vstack([polygon, polygon[:1]])


def off_boundary(polygon, points):
    """Distances of points (k, 2) to the nearest side of a polygon."""
    a, side = polygon, np.roll(polygon, -1, axis=0) - polygon
    away = np.asarray(points)[:, None] - a
    along = np.clip((away * side).sum(-1) / np.maximum((side * side).sum(-1), 1e-300), 0.0, 1.0)
    return np.linalg.norm(away - along[..., None] * side, axis=-1).min(axis=1)


def inside(polygon, points, slack):
    """Which points lie in a convex polygon, or no farther than `slack` from its sides."""
    a, b = polygon, np.roll(polygon, -1, axis=0)
    side = b - a
    size = np.linalg.norm(side, axis=1)
    long = size > 1e-9 * size.max()  # shorter ones have no direction
    a, side, size = a[long], side[long], size[long]
    turn = np.sign(np.sum(polygon[:, 0] * np.roll(polygon[:, 1], -1) - polygon[:, 1] * np.roll(polygon[:, 0], -1)))
    offset = np.asarray(points)[:, None] - a[None]
    across = turn * (side[:, 0] * offset[..., 1] - side[:, 1] * offset[..., 0]) / size
    return (across >= -slack).all(axis=1)


def disks_as_computed(mass=5.0, code_tangents=True):
    """The disk stack of Halm and Posa with the two slips of their published code: the disks weigh as many kg as there
    are contacts, and the tangent of a normal n is (n_2, n_1) instead of (n_2, -n_1), which matters at the two contacts
    of the top disk alone. Arrays for carom.impact.sample, and the model they come from."""
    import carom

    stack = carom.model("disk_stack")
    tangents = stack.tangent_jacobian[0].copy()
    for contact, below in (("top_left", 0), ("top_right", 1)) if code_tangents else ():
        row = stack.contact_names.index(contact)
        n = stack.normal_jacobian[0, row, 6:8]
        tangents[row] = 0.0
        t = np.array([n[1], n[0]])
        turn = n[1] ** 2 - n[0] ** 2  # -R n x t, for either disk
        tangents[row, 6:9] = [*t, turn]
        tangents[row, 3 * below : 3 * below + 3] = [*-t, turn]
    return (mass * stack.mass_matrix, stack.normal_jacobian, tangents[None], stack.friction, stack.velocity), stack


def disk_counts(arrays, stack, samples):
    """Of Algorithm 1 with the h and N of Table 8: LCPs a sample, terminated samples, and of these how often the top disk
    leaves both others, keeps to the left or to the right one alone, keeps to both; both lower disks leave the floor,
    one of them does; and how often the disk that the top one left lifts off the floor."""
    import carom

    run = carom.impact.sample(*arrays, samples=samples, **steps_of("disk_stack"))
    done = run.samples.status[0] == carom.TrajectoryStatus.terminated
    leaves = run.samples.velocity[0][done] @ stack.normal_jacobian[0].T > 1e-6
    names = ("left_floor", "right_floor", "top_left", "top_right")
    left_floor, right_floor, left, right = (leaves[:, stack.contact_names.index(name)] for name in names)
    return {
        "lcps": run.summary["lcp_solves"][0] / samples,
        "ended": int(done.sum()),
        "both": int((left & right).sum()),
        "left alone": int((~left & right).sum()),
        "right alone": int((left & ~right).sum()),
        "rest": int((~left & ~right).sum()),
        "off the floor": int((left_floor & right_floor).sum()),
        "opposite lifts": int((~left & right & right_floor).sum() + (left & ~right & left_floor).sum()),
    }, run


class ThreeCones:
    """Three forces on the boundaries of their friction cones through one point r from above, and the centre of mass that
    they hold (section 3 of Or and Rimon's spatial paper), written apart from the library."""

    def __init__(self, posture):
        self.at = posture.position[0]
        self.normal = posture.normal[0] / np.linalg.norm(posture.normal[0], axis=1)[:, None]
        self.mu = posture.friction[0]

    def forces(self, r, signs):
        """Of points (..., 2) and a sign of (10) for each contact: forces (..., 3, 3), their vertical parts add to 1.
        A contact of sign 0 has no vertical part."""
        x, rises, weights = self.at[:, :2], [], []
        for i, sign in enumerate(signs):
            side = x[(i + 2) % 3] - x[(i + 1) % 3]
            weights.append((r - x[(i + 1) % 3]) @ np.array([side[1], -side[0]]))
            if sign == 0:
                rises.append(np.zeros(r.shape[:-1]))
                continue
            d, n, k = r - x[i], self.normal[i], 1.0 + self.mu[i] ** 2
            a, b, c = k * n[2] ** 2 - 1.0, 2.0 * k * n[2] * (d @ n[:2]), k * (d @ n[:2]) ** 2 - (d * d).sum(-1)
            rises.append((-b + sign * np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0))) / (2.0 * a))
        rise, weight = np.stack(rises, -1), np.stack(weights, -1)
        weight = weight / (weight * rise).sum(-1)[..., None]
        return weight[..., None] * np.concatenate([r[..., None, :] - x, rise[..., None]], -1)

    def centre(self, forces):
        """The centre of mass that the forces hold, from the balance of moments, (9)."""
        return (self.at[:, :2] * forces[..., 2:] - self.at[:, 2:] * forces[..., :2]).sum(-2)

    def pressing(self, forces):
        """Whether all forces press and lie in their cones."""
        along = (self.normal * forces).sum(-1) * np.sqrt(1.0 + self.mu**2)
        length = np.linalg.norm(forces, axis=-1)
        return ((forces[..., 2] >= -1e-9) & (along >= length * (1.0 - 1e-7) - 1e-9)).all(-1)

    def determinant(self, r, signs, h=1e-6):
        """det M_3 of (15) but for a factor that is not 0: the Jacobian of r -> centre, by differences."""
        columns = [
            (self.centre(self.forces(r + h * e, signs)) - self.centre(self.forces(r - h * e, signs))) / (2.0 * h)
            for e in np.eye(2)
        ]
        return columns[0][..., 0] * columns[1][..., 1] - columns[0][..., 1] * columns[1][..., 0]

    def critical(self, pieces, n=241):
        """Type 3b: points r (k, 2) in P where the determinant is 0, for every choice of signs, and their centres."""
        import itertools

        low, high = np.concatenate(pieces).min(axis=0), np.concatenate(pieces).max(axis=0)
        grid = np.stack(np.meshgrid(*(np.linspace(a, b, n) for a, b in zip(low, high))), -1)
        held = np.any([inside(piece, grid.reshape(-1, 2), 0.0).reshape(n, n) for piece in pieces], axis=0)
        points, centres = [], []
        for signs in itertools.product((1, -1), repeat=3):
            value = self.determinant(grid, signs)
            value[~(self.pressing(self.forces(grid, signs)) & held)] = np.nan
            for first, second in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1], np.s_[1:])):
                turns = value[first] * value[second] < 0.0
                a, b, at_a = grid[first][turns], grid[second][turns], value[first][turns]
                for _ in range(25):  # to a side of the grid's cells over 3e7
                    middle = 0.5 * (a + b)
                    same = np.sign(self.determinant(middle, signs)) == np.sign(at_a)
                    a, b = np.where(same[:, None], middle, a), np.where(same[:, None], b, middle)
                zero = np.abs(self.determinant(a, signs)) < 1e-3  # not a pole
                points.append(a[zero])
                centres.append(self.centre(self.forces(a[zero], signs)))
        return np.concatenate(points), np.concatenate(centres)

    def lines(self, pieces, n=25):
        """Type 2b: one force is free in its cone, the others lie on their cones' boundaries. Its vertical part t moves
        the centre along (1 - t) u(r) + t x_i, and r solves (13): u's Jacobian is singular, and its image has the line's
        direction. Of every solution in P (free contact, r, ends (2, 2) of the line). The heights differ, or there are
        curves of such points."""
        import itertools

        low, high = np.concatenate(pieces).min(axis=0), np.concatenate(pieces).max(axis=0)
        grid = np.stack(np.meshgrid(*(np.linspace(a, b, n) for a, b in zip(low, high))), -1).reshape(-1, 2)
        grid = grid[np.any([inside(piece, grid, 0.0) for piece in pieces], axis=0)]

        def derivative(function, r, h=1e-5):
            return np.stack([(function(r + h * e) - function(r - h * e)) / (2.0 * h) for e in np.eye(2)], -1)

        def det(a, b):
            return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]

        found = []
        for signs in itertools.product((1, 0, -1), repeat=3):
            if signs.count(0) != 1:
                continue
            free = signs.index(0)

            def start(r):
                return self.centre(self.forces(r, signs))

            def both(r):
                slope = derivative(start, r)
                to = self.at[free, :2] - start(r)
                return np.stack([det(slope[..., 0], slope[..., 1]), det(slope[..., 1], to)], -1)

            r = grid
            for _ in range(15):  # Newton's method from every point of the grid
                value, slope = both(r), derivative(both, r)
                with np.errstate(all="ignore"):
                    step = np.stack([det(value, slope[..., 1]), det(slope[..., 0], value)], -1)
                    step /= det(slope[..., 0], slope[..., 1])[:, None]
                    r = r - step * np.minimum(1.0, 0.05 / np.linalg.norm(step, axis=-1, keepdims=True))
                r = r[np.isfinite(r).all(-1) & (np.abs(r) < 20.0).all(-1)]
            r = r[(np.abs(both(r)) < 1e-7).all(-1)]
            r = r[np.any([inside(piece, r, 1e-9) for piece in pieces], axis=0)]
            for place in r[np.unique(r.round(5), axis=0, return_index=True)[1]]:
                if any(i == free and np.linalg.norm(place - other) < 1e-4 for i, other, _ in found):
                    continue
                # The forces of every t between 0 and 1: those that lie in the free cone, ends by bisection.
                def held(t):
                    forces = (1.0 - np.asarray(t))[..., None, None] * self.forces(place, signs)
                    forces[..., free, 2] = t
                    return self.pressing(forces)

                t = np.linspace(0.0, 1.0, 2001)
                fits = np.flatnonzero(held(t))
                if not len(fits):
                    continue
                ends = []
                for out, within in ((t[fits[0]] - 5e-4, t[fits[0]]), (t[fits[-1]] + 5e-4, t[fits[-1]])):
                    for _ in range(30):
                        middle = 0.5 * (out + within)
                        out, within = (out, middle) if held(middle) else (middle, within)
                    ends.append((1.0 - within) * start(place) + within * self.at[free, :2])
                found.append((free, place, np.array(ends)))
        return found

    def edges(self, pieces, n=400):
        """Type 3a: centres of the points of the sides of P's pieces, for every choice of signs."""
        import itertools

        found = []
        for piece in pieces:
            for a, b in zip(piece, np.roll(piece, -1, axis=0)):
                r = a + np.linspace(0.0, 1.0, n)[:, None] * (b - a)
                for signs in itertools.product((1, -1), repeat=3):
                    forces = self.forces(r, signs)
                    found.append(self.centre(forces)[self.pressing(forces)])
        return np.concatenate(found)


def hull(points):
    """Corners of the convex hull, counter-clockwise."""
    points = sorted(np.asarray(points).tolist())  # one by one, floats are ten times as fast as rows of an array

    def half(row):
        kept = []
        for x, y in row:
            while len(kept) > 1:
                (ax, ay), (bx, by) = kept[-2:]
                if (bx - ax) * (y - by) - (by - ay) * (x - bx) > 0.0:
                    break
                kept.pop()
            kept.append((x, y))
        return kept[:-1]

    return np.array(half(points) + half(points[::-1]))


def area(polygon):
    x, y = polygon.T
    return 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))
