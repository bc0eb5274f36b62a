"""Datasets of `python -m carom dataset make NAME`, and the descriptions of kinds and columns for cards."""

from __future__ import annotations

import copy
from typing import Any

from ._arrays import refuse

_SPLITS = {"train": 0.8, "validation": 0.1, "test": 0.1}
RECIPES: dict[str, dict[str, Any]] = {
    "impact-sets-2c": {
        # 4.5 kB a problem; a hundred thousand are made by --problems 100000
        "dataset": {"kind": "impact_set", "problems": 40_000, "seed": 1, "part_rows": 2000,
                    "splits": _SPLITS, "float": "float32", "compression": 4},
        "source": {"random": "two_contacts"},
        # Tilt and angle of friction together stay below a right angle: every push has an upward part.
        "draw": {
            "mass": {"loguniform": [0.5, 5.0]}, "gyration": {"loguniform": [0.1, 1.0]},
            "x_a": {"uniform": [-1.0, 0.0]}, "x_b": {"uniform": [0.0, 1.0]},
            **{f"y_{c}": {"uniform": [-1.0, -0.1]} for c in "ab"},
            **{f"tilt_{c}": {"uniform": [-0.7, 0.7]} for c in "ab"},
            **{f"friction_{c}": {"uniform": [0.0, 1.0]} for c in "ab"},
            "velocity_x": {"norm": [0.0, 0.5]}, "velocity_y": {"uniform": [-2.0, -0.2]},
            "angular_velocity": {"norm": [0.0, 1.0]},
        },
        "impact_set": {"samples": 256, "method": "events"},
    },
    "friction-exam": {
        "dataset": {"kind": "exam", "problems": 10_000, "seed": 1, "part_rows": 1000,
                    "splits": {"train": 0.8, "test": 0.2}, "compression": 4},
        "source": {"groups": ["well_posed", "redundant", "jammed", "ambiguous", "space"]},
    },
    "tosses": {
        "dataset": {"kind": "tosses", "problems": 587, "seed": 1, "part_rows": 128,
                    "splits": {"train": 0.8, "test": 0.2}, "float": "float32", "compression": 4},
        "source": {"measured": "cube_tosses"},
    },
}  # fmt: skip


def recipe(name: str, problems: int | None = None) -> dict[str, Any]:
    """The spec of a named dataset, all tables of it, with so many problems or as many as it says."""
    if name not in RECIPES:
        raise refuse("recipe", repr(name), "must be one of " + ", ".join(RECIPES))
    spec = copy.deepcopy(RECIPES[name])
    spec["dataset"] = {"name": name, **spec["dataset"]}
    if problems is not None:
        spec["dataset"]["problems"] = problems
    return spec


_OURS = "BSD-3-Clause, that of carom."
# Of a kind: what a row is and how it was made, how it is read, licence, limits.
ABOUT: dict[str, tuple[str, str, str, str]] = {
    "impact_set": (
        "A row is a simultaneous inelastic impact with friction of a planar body. Its outcomes are a set (Halm and Posa, "
        "\"Set-Valued Rigid-Body Dynamics for Simultaneous, Inelastic, Frictional Impacts\"). The set is given exactly, by the "
        "vertices of a polytope for each combination of contact modes, computed in exact arithmetic, with the proof that nothing else can "
        "happen, followed by random outcomes, each with a certified residual. Parameters of the body were drawn; the table "
        "of draws is in `spec.json`. u = (normal velocities, tangential velocities) of the contacts, J v.",
        """    row = carom.data.Rows(DIR, "test")[0]
    u = row["vertices"][: row["vertex_count"]]         # the set's support function in direction d: (u @ d).max()
    text = zlib.decompress(row["proof"].tobytes()).decode()
    data = [row[name] for name in ("mass_matrix", "normal_jacobian", "tangent_jacobian", "friction", "velocity")]
    found = carom.impact.proven(*data, invariant=text, outer=row["enclosure_status"] == 1)   # checks every step anew""",
        _OURS,
        "Planar bodies, inelastic contacts, Coulomb friction. Shares of outcomes depend on how impulses were drawn and are no probabilities. "
        "Where `exact` is false the polytopes contain the set; the convex hull over modes is not the set. Vertices are rounded to doubles, "
        "and the proof speaks of the problem with its data changed by at most `data_rounding` of their largest. `vertices` is NaN where "
        "there are more than fit; `proof` has them.",
    ),
    "exam": (
        "A row is a problem of contact with friction together with all its solutions: a union of polyhedra in the plane, of which every "
        "other combination of modes was excluded by a Farkas vector; one known solution in space.\n\n"
        "Asked are impulses r = (λ, f) of k contacts, a normal and d tangential ones each (N s, d = 1 in the plane), of one impact or time step without "
        "restitution. With contact velocities u = W r + q, which contain the bodies' velocity before and the approach of each contact's other side,\n\n"
        "    0 <= λ,  0 <= u_n,  λ u_n = 0,   |f| <= mu λ,   f = -mu λ u_t / |u_t| where u_t is not zero\n\n"
        "A solver is a function in a file of yours, here `mine.py`. A hundred problems of each group are marked in the time it takes to solve them; without `--problems` all are:",
        """    def solve(problem):                 # mine.py
        W, q = problem.delassus()       # rows: of each contact its normal, then its d tangents
        r = ...                         # yours; problem.friction (k) is mu; 1 + d is problem.components
        return r                        # (k, 1 + d) or as one vector; None says that there are no such impulses

    python -m carom exam --file DIR --solver mine:solve --problems 100
    exam = carom.exam.load(DIR)         # a list of carom.exam.Problem: mass_matrix, normal, tangent, friction, velocity, approach,
                                        # solutions; delassus(), lcp(), boxed_lcp(), cone_program(); residual(r) is the judge's

*right*: no contact breaks the law by more than 1e-6 of the sizes of its own terms, or None where there is no solution. *wrong*: more. *denied*: None where there are solutions. *invented*: impulses where there are none. *failed*: an exception, or NaN.""",
        _OURS,
        "Drawn, not measured. No restitution, no compliance. In space other solutions than the known one may exist; the judge asks the law, not the "
        "list. Which problems are drawn depends on `part_rows`.",
    ),
    "tosses": (
        "A row is a measured impact of an acrylic cube on a floor at one or two of its corners, cut out of 570 tosses (DAIRLab/contact-nets, "
        "data/tosses_processed; Pfrommer, Halm, Posa: ContactNets, CoRL 2020) by `examples/cube_tosses.py`. In addition to what was measured there are sets of "
        "outcomes for six choices of restitution e and friction mu, with the verdict whether the measurement is inside: `inelastic` e = 0, mu = 0.18; `reported` e = 0.125, "
        "mu = 0.18; `wide_low` e 0..0.2, mu 0.1..0.3; `point` e = 0.28, mu = 0.16; `interval` e 0.24..0.34, mu 0.13..0.20; `wide` e 0.2..0.4, mu 0.1..0.2. "
        "`velocity_after` are random outcomes of `interval`. Three models with one outcome, inelastic with mu = 0.18: `simultaneous`, and one corner after the other, "
        "`lowest_first`, `lowest_last`. Distances are |.|_M over |v-|_M. Rows are in the order of tosses; a contact that is absent has rows of zeros.",
        """    rows = carom.data.Rows(DIR, "train").batch(range(100))
    (rows["interval/distance"] < 0.03).mean()         # share that restitution 0.24..0.34, friction 0.13..0.20 explain""",
        "The measurements: BSD-3-Clause, Copyright (c) 2020, Dynamic Autonomy and Intelligent Robotics Lab; `LICENSE` next to this card must be passed on with them. The rest: "
        + _OURS,
        "Impacts that rigid corners do not explain were not kept. *not reached* (0) is no proof, *outside proven* (2) is one; `resolution` says how far apart samples are. Errors of the cube's "
        "shape are shared by all rows and are not in `measured_covariance`.",
    ),
}

_VELOCITY, _OUTSIDE = "m/s, rad/s", "of the speed before"
# Unit and meaning of columns; of NAME/column the second part's.
COLUMNS: dict[str, tuple[str, str]] = {
    "index": ("", "place of the problem"),
    "mass_matrix": ("kg, kg m, kg m^2", "M"),
    "normal_jacobian": ("", "Jn"), "tangent_jacobian": ("", "Jt"),
    "friction": ("", "coefficient of each contact"),
    "velocity": (_VELOCITY, "before"),
    "velocity_after": (_VELOCITY, "a row for each sample"),
    "impulse": ("N s", "normals first; of the exam a point of each polyhedron, (contact, normal and tangential)"),
    "modes": ("", "of impacts two bits a contact, contact 0 lowest: 0 separating, 1 sticking, 2 sliding+, 3 sliding-; of the exam of each polyhedron: 0 open, 1 stick, 2 slip+, 3 slip-; -1 no polyhedron"),
    "status": ("", "of each sample; 0 terminated"),
    "residual": ("", "certified, of each sample"), "max_residual": ("", "the largest certified one"),
    "enclosure_status": ("", "0 enclosed, 1 outer, 2 no set found within the budget, 3 refused, 4 contradiction"),
    "exact": ("", "no polyhedron was moved outward"),
    "data_rounding": ("", "relative change of the data of which the proof speaks"),
    "bounds_low": ("m/s", "least contact velocities, u"), "bounds_high": ("m/s", "largest"),
    "vertex_count": ("", "vertices of all modes"),
    "vertices": ("m/s", "contact velocities u, mode by mode; NaN beyond vertex_count"),
    "vertex_modes": ("", "combination of modes of each vertex, as in modes"),
    "proof": ("", "text of the invariant, compressed by zlib"),
    "group": ("", "0 well posed, 1 redundant, 2 jammed, 3 ambiguous, 4 space"),
    "contacts": ("", "k, how many rows of contacts are used"),
    "directions": ("", "d, 1 in the plane, 2 in space"),
    "velocities": ("", "nv, how many velocities are used"),
    "polyhedra": ("", "of the set of solutions; 0: there is none; -1: not known"),
    "normal": ("", "rows of the Jacobian"), "tangent": ("", "rows of the Jacobian, (contact, direction, velocity)"),
    "approach": ("m/s", "speed at which the other side comes closer"),
    "known": ("N s", "in space: one solution"),
    "component": ("", "polyhedra with the same number are connected"),
    "impulse_low": ("N s", "extent of each polyhedron"), "impulse_high": ("N s", "extent of each polyhedron"),
    "speed_low": ("m/s", "extent in contact velocities"), "speed_high": ("m/s", "extent in contact velocities"),
    "toss": ("", "number of the toss"), "frame": ("1/148 s", "frame of the impact in its toss"),
    "corners": ("", "1 or 2"),
    "measured_velocity": (_VELOCITY, "after, as measured"),
    "measured_covariance": ("their squares", "of measured_velocity"),
    "floor": (_OUTSIDE, "least distance of any impulse in the largest friction cones"),
    "distance": (_OUTSIDE, "of the nearest sample, or the model's outcome, from the measurement"),
    "resolution": (_OUTSIDE, "median distance of held-out samples from the others"),
    "verdict": ("", "0 inside, 1 not reached, 2 outside proven"),
    "outcome": (_VELOCITY, "of the model"),
    "nearest_velocity": (_VELOCITY, "of the nearest sample"),
    "force": ("N", ""), "forces": ("N", ""), "position": ("m", ""), "energy": ("J", ""), "energy_start": ("J", ""),
    "displacement": ("m or rad", ""), "lower": ("m", ""), "upper": ("m", ""), "point": ("m", ""), "time": ("s", ""),
    "torque": ("N m", ""), "torque_min": ("N m", ""), "torque_max": ("N m", ""),
}  # fmt: skip


def described(name: str) -> tuple[str, str]:
    """Unit and meaning of a column."""
    if name in COLUMNS:
        return COLUMNS[name]
    return ("", "drawn") if name.startswith("parameter/") else COLUMNS.get(name.rpartition("/")[2], ("", ""))
