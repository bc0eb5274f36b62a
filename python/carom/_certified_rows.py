"""Rows of datasets whose answers are sets: exact outcome sets of impacts, problems of the exam, measured impacts."""

from __future__ import annotations

import importlib.resources
import pathlib
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import exam, impact, problems
from ._arrays import refuse
from ._judge import Measured, read_measured
from .errors import InvalidInput

Columns = dict[str, np.ndarray]
Parameters = Mapping[str, np.ndarray]
Spec = Mapping[str, Any]

MOST_VERTICES = 64  # of a row; more are left out and only counted
MOST_POLYHEDRA = 32
SETS = {  # restitution, friction; named as in docs/tutorials/measured.md
    "inelastic": (0.0, 0.18),
    "reported": (0.125, 0.18),
    "wide_low": ((0.0, 0.2), (0.1, 0.3)),
    "point": (0.28, 0.16),
    "interval": ((0.24, 0.34), (0.13, 0.20)),
    "wide": ((0.2, 0.4), (0.1, 0.2)),
}

_CONTACT: tuple[tuple[str, str, float, str], ...] = (("x", "m", -np.inf, "place"), ("y", "m", -np.inf, "place"), ("tilt", "rad", -np.inf, "of the normal"),
            ("friction", "", 0.0, "coefficient"))  # fmt: skip
_DRAWN: tuple[tuple[str, str, float, str], ...] = (
    ("mass", "kg", 0.0, "mass"), ("gyration", "m", 0.0, "radius of gyration"),
    *((f"{name}_{c}", unit, least, meaning) for c in "ab" for name, unit, least, meaning in _CONTACT),
    ("velocity_x", "m/s", -np.inf, "before the impact"), ("velocity_y", "m/s", -np.inf, "before the impact"),
    ("angular_velocity", "rad/s", -np.inf, "before the impact"),
)  # fmt: skip
RANDOM_PARAMETERS = {
    name: problems.Parameter(name, unit, 0.0, least, name in ("mass", "gyration"), np.inf, meaning)
    for name, unit, least, meaning in _DRAWN
}


def two_contacts(drawn: Parameters) -> problems.Problems:
    """A planar body with two contacts. Its velocities are those of the centre of mass (x, y) [m/s] and the
    angular one; contact c is at (x_c, y_c) [m] from the centre of mass, its normal is the y axis turned
    clockwise by tilt_c [rad], its tangent that turned by a right angle; gyration: radius of gyration [m]."""
    missing = [name for name in RANDOM_PARAMETERS if name not in drawn]
    if missing:
        raise refuse(f"draw.{missing[0]}", "missing", "of a random body must be drawn or a number")
    n = len(drawn["mass"])
    M = np.zeros((n, 3, 3))
    M[:, 0, 0] = M[:, 1, 1] = drawn["mass"]
    M[:, 2, 2] = drawn["mass"] * drawn["gyration"] ** 2
    Jn, Jt = np.zeros((n, 2, 3)), np.zeros((n, 2, 3))
    for i, c in enumerate("ab"):
        x, y = drawn[f"x_{c}"], drawn[f"y_{c}"]
        s, k = np.sin(drawn[f"tilt_{c}"]), np.cos(drawn[f"tilt_{c}"])
        Jn[:, i] = np.stack([s, k, x * k - y * s], axis=1)
        Jt[:, i] = np.stack([k, -s, -x * s - y * k], axis=1)
    mu = np.stack([drawn["friction_a"], drawn["friction_b"]], axis=1)
    v = np.stack([drawn[name] for name in ("velocity_x", "velocity_y", "angular_velocity")], axis=1)
    return problems.Problems.of(M, Jn, Jt, mu, v, name="two_contacts", contact_names=("A", "B"))


def ragged(rows: list[bytes]) -> np.ndarray:
    """A column of bytes of any length."""
    column = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        column[i] = np.frombuffer(row, dtype=np.uint8)
    return column


def outcome_sets(made: problems.Problems) -> Columns:
    """The exact set of each problem: vertices by combination of modes, and the proof of everything else."""
    if made.dimension != 2 or made.contacts > 4:
        raise refuse("source", made.name, "must be planar with at most four contacts: polyhedra enclose those", "is")
    n, rows = len(made), 2 * made.contacts
    found = impact.enclose(made)
    vertices = np.full((n, MOST_VERTICES, rows), np.nan)
    vertex_modes = np.zeros((n, MOST_VERTICES), dtype=np.uint8)
    low, high = np.full((n, rows), np.nan), np.full((n, rows), np.nan)
    count = np.zeros(n, dtype=np.int32)
    for i, each in enumerate(found):
        low[i] = np.concatenate([each.normal_velocity_min, each.tangent_velocity_min])
        high[i] = np.concatenate([each.normal_velocity_max, each.tangent_velocity_max])
        count[i] = sum(map(len, each.vertices))
        if count[i] <= MOST_VERTICES:
            begin = 0
            for modes, corners in zip(each.modes, each.vertices):
                vertices[i, begin : begin + len(corners)] = corners
                vertex_modes[i, begin : begin + len(corners)] = modes
                begin += len(corners)
    return {
        "enclosure_status": np.array([each.status for each in found], dtype=np.uint8),
        "exact": np.array([each.exact for each in found]),
        "data_rounding": np.array([each.data_rounding for each in found]),
        "bounds_low": low,
        "bounds_high": high,
        "vertex_count": count,
        "vertices": vertices,
        "vertex_modes": vertex_modes,
        "proof": ragged([zlib.compress(each.invariant.encode(), 9) for each in found]),
    }


# The exam: problems of every shape in arrays of one

_BODIES, _CONTACTS, _DIRECTIONS = 4, 4, 2


def exam_rows(spec: Spec, drawn: Parameters, first: int, count: int, threads: int) -> Columns:
    """The groups in turn; what is drawn depends on the first row and the number of rows of a part."""
    groups = spec["source"]["groups"]
    wanted = [groups[i % len(groups)] for i in range(first, first + count)]
    made = {name: iter(exam.problems(wanted.count(name), (spec["seed"], first), (name,))) for name in set(wanted)}
    return exam_columns([next(made[name]) for name in wanted])


def exam_columns(made: list[exam.Problem]) -> Columns:
    n, k, nv = len(made), _CONTACTS, 6 * _BODIES
    columns: Columns = {
        "group": np.array([exam.GROUPS.index(p.group) for p in made], dtype=np.uint8),
        "contacts": np.array([p.contacts for p in made], dtype=np.uint8),
        "directions": np.array([p.tangent.shape[1] for p in made], dtype=np.uint8),
        "velocities": np.array([len(p.velocity) for p in made], dtype=np.uint8),
        "polyhedra": np.array([-1 if p.solutions is None else len(p.solutions.modes) for p in made], dtype=np.int32),
    }
    shapes = {
        "mass_matrix": (nv, nv), "normal": (k, nv), "tangent": (k, _DIRECTIONS, nv), "friction": (k,),
        "velocity": (nv,), "approach": (k,),
    }  # fmt: skip
    for name, shape in shapes.items():
        columns[name] = np.zeros((n, *shape))
        for i, p in enumerate(made):
            _put(columns[name][i], getattr(p, name))
    columns["known"] = np.full((n, k, 1 + _DIRECTIONS), np.nan)
    columns["modes"] = np.full((n, MOST_POLYHEDRA, k), -1, dtype=np.int8)
    columns["component"] = np.full((n, MOST_POLYHEDRA), -1, dtype=np.int8)
    ends = ("impulse", "impulse_low", "impulse_high", "speed_low", "speed_high")
    for name in ends:
        columns[name] = np.full((n, MOST_POLYHEDRA, k, 2), np.nan)
    for i, p in enumerate(made):
        if p.solutions is None:
            _put(columns["known"][i], p.known)
            continue
        if len(p.solutions.modes) > MOST_POLYHEDRA:
            raise refuse(f"{p.group} {i}", f"{len(p.solutions.modes)} polyhedra", f"at most {MOST_POLYHEDRA} are kept", "has")
        for name in (*ends, "modes", "component"):
            _put(columns[name][i], getattr(p.solutions, name))
    columns["status"] = np.zeros(n, dtype=np.uint8)  # every set was proven: others are not drawn
    return columns


def _put(into: np.ndarray, values: Any) -> None:
    values = np.asarray(values)
    into[tuple(map(slice, values.shape))] = values


# Measured impacts


def measured_file(name: str) -> pathlib.Path:
    installed = importlib.resources.files("carom") / "cube_tosses" / name
    path = pathlib.Path(str(installed))
    if not path.is_file():
        raise InvalidInput(f"source.measured: {path} is missing: this build of carom was installed without its data", "source.measured")
    return path


class _Impacts:
    """Both files, their impacts in the order of tosses, so that a toss is in one split."""

    def __init__(self) -> None:
        self.files = [read_measured(measured_file(f"{name}_corner{'s' * (name == 'two')}.h5")) for name in ("one", "two")]
        rows = []
        for corners, data in enumerate(self.files, start=1):
            for i, name in enumerate(data.names):
                toss, frame = re.match(r"toss (\d+) frame ([\d.]+)", name).groups()  # type: ignore[union-attr]
                rows.append((int(toss), float(frame), corners, i))
        self.rows = sorted(rows)


def count_of_tosses() -> int:
    return len(_Impacts().rows)


def toss_rows(spec: Spec, drawn: Parameters, first: int, count: int, threads: int) -> Columns:
    every = _Impacts()
    rows = every.rows[first : first + count]
    columns: Columns = {
        "toss": np.array([row[0] for row in rows], dtype=np.int32),
        "frame": np.array([row[1] for row in rows]),
        "corners": np.array([row[2] for row in rows], dtype=np.uint8),
    }
    for corners, data in enumerate(every.files, start=1):
        places = np.flatnonzero(columns["corners"] == corners)
        if len(places):
            own = np.array([rows[place][3] for place in places])
            for name, values in _judged(data, own, spec, first, threads).items():
                if name not in columns:
                    columns[name] = np.full((count, *values.shape[1:]), np.nan if values.dtype.kind == "f" else 0, dtype=values.dtype)
                columns[name][places] = values
    return columns


def _judged(data: Measured, own: np.ndarray, spec: Spec, first: int, threads: int) -> Columns:
    batch, v = data.problems[own], data.velocity[own]
    assert data.covariance is not None
    settings = spec["settings"]
    wide = batch.padded(2)  # rows of zeros take no impulse
    kept = np.float32 if spec["float"] == "float32" else np.float64
    columns = {**wide.arrays(), "measured_velocity": v, "measured_covariance": data.covariance[own]}
    size = np.sqrt(np.einsum("ni,nij,nj->n", batch.velocity, batch.mass_matrix, batch.velocity))

    def distance(velocity: np.ndarray) -> np.ndarray:
        off = velocity - v
        return np.asarray(np.sqrt(np.einsum("ni,nij,nj->n", off, batch.mass_matrix, off)) / size)

    exact = {"method": "events", "friction_directions": 16}
    for name, (restitution, friction) in SETS.items():
        found = impact.judge(batch, v, restitution=restitution, friction=friction, samples=settings["samples"],
                             sampling={**exact, "threads": threads, "first_problem": first})  # fmt: skip
        for field in ("distance", "resolution", "verdict", "floor", "nearest_velocity"):
            columns[f"{name}/{field}"] = getattr(found, field)
    restitution, friction = SETS["interval"]
    run = impact.sample(batch, restitution=restitution, friction=friction, samples=settings["kept"], keep_samples=-1,
                        epsilon=0.0, seed=spec["seed"], first_problem=first, threads=threads, **exact)  # fmt: skip
    columns |= {
        "velocity_after": run.samples.velocity.astype(kept), "status": run.samples.status,
        "max_residual": run.samples.residual.max(axis=1),
    }  # fmt: skip
    inelastic = batch.with_intervals(friction=SETS["inelastic"][1])
    for name, predicted in _MODELS.items():
        outcomes = [predicted(inelastic[i]) for i in range(len(batch))]
        nothing = np.full(batch.velocities, np.nan)
        v_after = np.array([each[0].velocity if each else nothing for each in outcomes])
        columns[f"{name}/outcome"], columns[f"{name}/distance"] = v_after, distance(v_after)
    return columns


def _in_order(problem: problems.Problems, forwards: bool) -> list[impact.ImpactOutcome]:
    order = tuple(range(problem.contacts))
    return impact.sequential(problem, orders=[order if forwards else order[::-1]])


# Models with one outcome; of several simultaneous ones the one with the least energy.
_MODELS: dict[str, Callable[[problems.Problems], list[impact.ImpactOutcome]]] = {
    "simultaneous": impact.simultaneous,
    "lowest_first": lambda problem: _in_order(problem, True),
    "lowest_last": lambda problem: _in_order(problem, False),
}
