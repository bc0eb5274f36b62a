"""Impacts cut out of measured tosses of a cube, and what the data say of the cube first.

    python examples/cube_tosses.py TOSSES.h5 --output FOLDER

TOSSES.h5 has the poses of all tosses of ContactNets (Pfrommer, Halm, Posa, CoRL 2020; DAIRLab/contact-nets,
data/tosses_processed, BSD-3-Clause) in SI units: position (n, 3), the middle of the cube; quaternion (n, 4),
w x y z, body to world; first_row (tosses + 1); attributes half_width [m], mass [kg], gravity and time_step.
Written are impact problems for `carom impact FILE --measured`: one file of the impacts that one corner
explains, one of those that need two, and facts.json with everything that was found out about the cube.

A free rigid body of uniform inertia keeps its angular velocity, and its centre of mass falls. Impacts are
where two such flights, each fitted to 5 to 10 frames, meet. Filtered velocities of the source are not used.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
from typing import Any

import h5py
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import carom

WINDOWS = range(5, 11)  # frames of a fitted flight
BETWEEN = 4  # frames at most between two flights
MEETING = 3e-3  # [m], distance at which two flights still meet, in position and rotation together
EXPLAINED = 0.025  # a floor below it: the corners explain the impact
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
UP = np.array([0.0, 0.0, 1.0])


@dataclasses.dataclass
class Tosses:
    """Poses of all tosses, one after the other; toss i is rows first[i]:first[i + 1]."""

    position: np.ndarray  # (n, 3) [m], as in the file
    quaternion: np.ndarray  # (n, 4)
    first: np.ndarray
    half_width: float  # [m]
    mass: float  # [kg]
    gravity: float  # [m/s^2]
    time_step: float  # [s]

    @property
    def toss(self) -> np.ndarray:
        """Of each row."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    @property
    def lowest(self) -> np.ndarray:
        """Height of each row's lowest corner, sharp and unscaled [m]."""
        depth = np.abs(matrix(self.quaternion)[:, 2, :]).sum(1)
        return self.position[:, 2] - self.half_width * depth


def read_tosses(path: str | pathlib.Path) -> Tosses:
    with h5py.File(path) as file:
        q = file["quaternion"][:].astype(float)
        names = ("half_width", "mass", "gravity", "time_step")
        return Tosses(file["position"][:].astype(float), q / np.linalg.norm(q, axis=1, keepdims=True),
                      file["first_row"][:], *(float(file.attrs[name]) for name in names))  # fmt: skip


# Rotations as quaternions w x y z, and as rotation vectors [rad] in the world


def times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    w = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(-1, keepdims=True)
    v = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([w, v], -1)


def inverse(q: np.ndarray) -> np.ndarray:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def vector(q: np.ndarray) -> np.ndarray:
    q = q * np.where(q[..., :1] < 0, -1, 1)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    return q[..., 1:] * np.where(sine > 1e-12, 2 * np.arctan2(sine, q[..., :1]) / np.maximum(sine, 1e-300), 2.0)


def turned(r: np.ndarray) -> np.ndarray:
    half = np.linalg.norm(r, axis=-1, keepdims=True) / 2
    return np.concatenate([np.cos(half), r * np.sinc(half / np.pi) / 2], -1)


def matrix(q: np.ndarray) -> np.ndarray:
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]  # fmt: skip
    return np.stack(rows, -1).reshape(*q.shape[:-1], 3, 3)


# What free flight and rest say


def free_flight(tosses: Tosses) -> dict[str, Any]:
    """g as the file's lengths give it, its standard error, and the centre of mass [m, of the file's], by
    the wobble of the middle: position = parabola - R offset before the first impact."""
    low, dt = tosses.lowest, tosses.time_step
    rows, sides, gravity = [], [], []
    for begin, end in zip(tosses.first, tosses.first[1:]):
        touching = np.flatnonzero(low[begin:end] < 4e-3)
        frames = (touching[0] if len(touching) else end - begin) - 1
        if frames < 9:
            continue
        t = dt * np.arange(frames)
        y = tosses.position[begin : begin + frames].reshape(-1)
        known = np.zeros((frames, 3, 6))
        for axis in range(3):
            known[:, axis, axis], known[:, axis, 3 + axis] = 1.0, t
        wobble = -matrix(tosses.quaternion[begin : begin + frames])
        fall = -0.5 * t[:, None, None] ** 2 * UP[:, None]
        basis = np.linalg.qr(known.reshape(-1, 6))[0]
        asked = np.concatenate([fall, wobble], 2).reshape(-1, 4)
        rows.append(asked - basis @ (basis.T @ asked))
        sides.append(y - basis @ (basis.T @ y))
        gravity.append(-2 * np.polyfit(t, tosses.position[begin : begin + frames, 2], 2)[0])
    weight = np.ones(len(rows))
    for _ in range(10):  # Cauchy's weights: some tosses were let go late
        x = np.linalg.lstsq(np.concatenate([w * a for w, a in zip(weight, rows)]),
                            np.concatenate([w * b for w, b in zip(weight, sides)]), rcond=None)[0]  # fmt: skip
        miss = np.array([np.sqrt(np.mean((b - a @ x) ** 2)) for a, b in zip(rows, sides)])
        weight = 1 / np.sqrt(1 + (miss / np.median(miss)) ** 2)
    return {"gravity": float(x[0]), "gravity_error": float(np.std(gravity) / np.sqrt(len(gravity))), "tosses": len(rows),
            "offset": x[1:]}  # fmt: skip


def resting_height(tosses: Tosses) -> np.ndarray:
    """Of the middle at the end of each toss that ends at rest [m, of the file's]."""
    ends = np.stack([tosses.position[end - 20 : end, 2] for end in tosses.first[1:]])
    return np.median(ends[np.ptp(ends, axis=1) < 2e-4], axis=1)


# Flights, and impacts where they meet


@dataclasses.dataclass
class Flights:
    """Fits to all windows of one length, at the middle of their time."""

    position: np.ndarray  # of the centre of mass (w, 3)
    velocity: np.ndarray
    quaternion: np.ndarray
    omega: np.ndarray  # in the world
    misses: tuple[np.ndarray, np.ndarray]  # positions' (w, L, 3) [m], rotations' (w, L, 3) [rad]


def fit(centre: np.ndarray, quaternion: np.ndarray, frames: int, dt: float, gravity: float) -> Flights:
    t = (np.arange(frames) - (frames - 1) / 2) * dt
    spread = (t**2).sum()
    y = np.moveaxis(sliding_window_view(centre, frames, axis=0), -1, 1)
    y = y + 0.5 * gravity * UP * (t**2)[:, None]
    p, v = y.mean(1), np.einsum("k,wkc->wc", t, y) / spread
    q = np.moveaxis(sliding_window_view(quaternion, frames, axis=0), -1, 1)
    middle, omega = q[:, frames // 2], np.zeros_like(p)
    for _ in range(3):  # Gauss and Newton
        error = vector(times(q, inverse(times(turned(t[:, None] * omega[:, None]), middle[:, None]))))
        shift, rate = error.mean(1), np.einsum("k,wkc->wc", t, error) / spread
        middle, omega = times(turned(shift), middle), omega + rate
    miss = error - shift[:, None] - t[:, None] * rate[:, None]
    return Flights(p, v, middle, omega, (y - p[:, None] - t[:, None] * v[:, None], miss))


@dataclasses.dataclass
class Cut:
    """n impacts. Velocities are the centre of mass's, then the angular one, in the world (n, 6)."""

    toss: np.ndarray
    frame: np.ndarray  # time of the impact in frames from the toss's first
    between: np.ndarray  # frames that belong to neither flight
    gap: np.ndarray  # [m], how far apart the flights are where they meet
    centre: np.ndarray  # of mass (n, 3) [m]
    rotation: np.ndarray  # body to world (n, 3, 3)
    before: np.ndarray
    after: np.ndarray

    def __getitem__(self, which: Any) -> Cut:
        return Cut(**{f.name: getattr(self, f.name)[which] for f in dataclasses.fields(self)})

    def __len__(self) -> int:
        return len(self.toss)


@dataclasses.dataclass
class Cube:
    """Lengths of the file times scale are metres; the rest in metres and kilograms."""

    scale: float
    offset: np.ndarray  # of the centre of mass from the middle, in the body
    radius: float  # of the corners
    inertia: float  # over mass [m^2]
    half_width: float
    mass: float

    def arms(self, cut: Cut) -> np.ndarray:
        """From the centre of mass to the lowest points of the corners, the lowest first (n, 8, 3)."""
        corner = np.einsum("nij,kj->nki", cut.rotation, CORNERS)
        order = np.argsort(corner[:, :, 2], axis=1)
        corner = np.take_along_axis(corner, order[:, :, None], 1)
        return (self.half_width - self.radius) * corner - self.radius * UP - (cut.rotation @ self.offset)[:, None]


def noise(tosses: Tosses, cube: Cube) -> dict[str, float]:
    """Of a pose within 8 frames of free flight [m], [rad], and of velocities that such windows give [m/s],
    [rad/s], by how much two windows of one flight differ: slow errors of the poses are in it."""
    centre = cube.scale * tosses.position + matrix(tosses.quaternion) @ cube.offset
    found = fit(centre, tosses.quaternion, 8, tosses.time_step, tosses.gravity)
    last = len(centre) - 7
    free = sliding_window_view(tosses.lowest, 8).min(1) > 4e-3
    free &= tosses.toss[:last] == tosses.toss[7:]
    position, rotation = (np.median(np.sqrt((miss[free] ** 2).sum((1, 2)) / (3 * 6))) for miss in found.misses)
    pair = np.flatnonzero(free[:-8] & free[8:] & (tosses.toss[: last - 8] == tosses.toss[8:last]))
    fall = tosses.gravity * 8 * tosses.time_step * UP
    spread = [float(np.median(np.abs(d)) / 0.6745 / np.sqrt(2)) for d in
              (found.velocity[pair + 8] - found.velocity[pair] + fall, found.omega[pair + 8] - found.omega[pair])]  # fmt: skip
    return {"position": float(position), "rotation": float(rotation), "velocity": spread[0], "omega": spread[1]}


def cut_impacts(tosses: Tosses, cube: Cube, sigma: dict[str, float]) -> Cut:
    """All places where one flight ends and, at most BETWEEN frames later, another begins."""
    n, toss, dt = len(tosses.position), tosses.toss, tosses.time_step
    centre = cube.scale * tosses.position + matrix(tosses.quaternion) @ cube.offset
    flights, good = {}, {}
    for frames in WINDOWS:
        flights[frames] = fit(centre, tosses.quaternion, frames, dt, tosses.gravity)
        good[frames] = toss[: n - frames + 1] == toss[frames - 1 :]
        for miss, allowed in zip(flights[frames].misses, (sigma["position"], sigma["rotation"])):
            good[frames] &= np.abs(miss).max((1, 2)) < 4 * allowed
    shortest = WINDOWS[0]
    begins, ends = np.zeros(n, bool), np.zeros(n, bool)
    begins[: n - shortest + 1] = ends[shortest - 1 :] = good[shortest]
    first = np.flatnonzero(begins & ~np.r_[False, begins[:-1]])
    last = np.flatnonzero(ends & ~np.r_[ends[1:], False])
    after = np.searchsorted(first, last + 1)
    last, after = last[after < len(first)], after[after < len(first)]
    pair = np.stack([last, first[after]], 1)
    pair = pair[(pair[:, 1] - pair[:, 0] - 1 <= BETWEEN) & (toss[pair[:, 0]] == toss[pair[:, 1]])]

    def state(row: int, back: bool) -> tuple[np.ndarray, ...]:
        """Of the longest good window that ends or begins there, and the middle of its time."""
        for frames in reversed(WINDOWS):
            at = row - frames + 1 if back else row
            if 0 <= at < len(good[frames]) and good[frames][at]:
                f = flights[frames]
                return f.position[at], f.velocity[at], f.quaternion[at], f.omega[at], (at + (frames - 1) / 2) * dt
        raise AssertionError("a flight begins and ends with a good window")

    weight, fall = np.sqrt(cube.inertia), -tosses.gravity * UP
    rows: list[tuple[Any, ...]] = []
    for i, j in pair:
        (pa, va, qa, wa, ta), (pb, vb, qb, wb, tb) = state(i, True), state(j, False)
        t = np.linspace(i - 1, j + 1, 40 * (j - i + 2) + 1)[:, None] * dt
        gap = (pb + vb * (t - tb) + 0.5 * fall * (t - tb) ** 2) - (pa + va * (t - ta) + 0.5 * fall * (t - ta) ** 2)
        turn = vector(times(times(turned(wb * (t - tb)), qb), inverse(times(turned(wa * (t - ta)), qa))))
        apart = np.sqrt((gap**2).sum(1) + (weight * turn) ** 2 @ np.ones(3))
        k = int(np.argmin(apart))
        s = t[k, 0]
        rows.append((toss[i], s / dt - tosses.first[toss[i]], j - i - 1, apart[k],
                     pa + va * (s - ta) + 0.5 * fall * (s - ta) ** 2 + gap[k] / 2,
                     matrix(times(turned(turn[k] / 2), times(turned(wa * (s - ta)), qa))),
                     np.r_[va + fall * (s - ta), wa], np.r_[vb + fall * (s - tb), wb]))  # fmt: skip
    return Cut(*(np.array(column) for column in zip(*rows)))


def moments(cut: Cut, cube: Cube, keep: np.ndarray | None = None) -> tuple[Cube, np.ndarray]:
    """Centre of mass, radius and inertia by I/m dw = (p - c) x dv of impacts of one corner, by least
    squares of soft absolute values, and the moment residuals at 0.06 m of all impacts (n) [m/s]."""
    corner = np.einsum("nij,kj->nki", cut.rotation, CORNERS)
    heights = np.sort(corner[:, :, 2], axis=1) * cube.half_width
    lead = heights[:, 1] - heights[:, 0]
    s = np.take_along_axis(corner, np.argmin(corner[:, :, 2], axis=1)[:, None, None], 1)[:, 0]
    jump = cut.after - cut.before
    dv, dw = jump[:, :3], jump[:, 3:]
    offset = cube.offset.copy()

    def terms(offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        moved = dv + np.cross(dw, cut.rotation @ (offset - cube.offset))  # of that centre of mass
        columns = [np.cross(cut.rotation[:, :, k], moved) for k in range(3)]
        columns += [np.cross(s + UP, moved), dw]
        return np.stack(columns, -1) / 0.06, cube.half_width * np.cross(s, moved) / 0.06

    use = lead > 15e-3
    if keep is not None:
        use &= keep
    for _ in range(6):
        weight = np.ones((use.sum(), 3))
        for _ in range(50):
            a, b = terms(offset)
            x = np.linalg.lstsq((weight[..., None] * a[use]).reshape(-1, 5), (weight * b[use]).reshape(-1), rcond=None)[0]
            offset = x[:3]
            miss = b - a @ x
            weight = (1 + (miss[use] / 0.02) ** 2) ** -0.25
        total = np.linalg.norm(miss, axis=1)
        use = (total < 0.05) & (lead > 4e-3)
        if keep is not None:
            use &= keep
    found = dataclasses.replace(cube, offset=offset, radius=float(x[3]), inertia=float(x[4]))
    return found, total


def radius_by_height(cut: Cut, cube: Cube, one: np.ndarray) -> float:
    """From how high the sharp corner is at an impact: h = level + radius (|n|_1 - 1)."""
    depth = np.abs(cut.rotation[one][:, 2, :]).sum(1)
    middle = cut.centre[one] - cut.rotation[one] @ cube.offset
    a = np.stack([np.ones(one.sum()), 1 - depth], 1)
    h = middle[:, 2] - cube.half_width * depth
    weight = np.ones(len(h))
    for _ in range(50):
        x = np.linalg.lstsq(weight[:, None] * a, weight * h, rcond=None)[0]
        weight = (1 + ((h - a @ x) / 0.3e-3) ** 2) ** -0.25
    return float(x[1])


def about(cut: Cut, cube: Cube, other: Cube) -> Cut:
    """The impacts with velocities of another centre of mass."""
    arm = cut.rotation @ (other.offset - cube.offset)
    moved = [np.c_[v[:, :3] + np.cross(v[:, 3:], arm), v[:, 3:]] for v in (cut.before, cut.after)]
    return dataclasses.replace(cut, centre=cut.centre + arm, before=moved[0], after=moved[1])


def problems(cut: Cut, cube: Cube, corners: int, friction: float = 0.3) -> carom.impact.Problems:
    """The impacts at their lowest corners, velocities as in Cut; contacts' frames are z, x, y."""
    arm = cube.arms(cut)[:, :corners]
    rows = np.zeros((len(cut), corners, 3, 6))
    rows[..., 0, 2] = rows[..., 1, 0] = rows[..., 2, 1] = 1.0
    for axis, unit in enumerate((UP, [1.0, 0, 0], [0, 1.0, 0])):
        rows[..., axis, 3:] = np.cross(arm, unit)
    mass = cube.mass * np.diag([1.0] * 3 + [cube.inertia] * 3)
    return carom.impact.Problems.of(
        np.tile(mass, (len(cut), 1, 1)), rows[:, :, 0], rows[:, :, 1:].reshape(len(cut), -1, 6),
        np.full((len(cut), corners), friction), cut.before, name=f"cube at {corners} corners",
        contact_names=tuple("ABCDEFGH"[:corners]))  # fmt: skip


def change(cut: Cut, cube: Cube) -> np.ndarray:
    """|v+ - v-|_M over |v-|_M: what no corner at all leaves (n)."""
    root = np.sqrt(np.r_[1.0, 1.0, 1.0, [cube.inertia] * 3])
    return np.linalg.norm(root * (cut.after - cut.before), axis=1) / np.linalg.norm(root * cut.before, axis=1)


def covariance(cut: Cut, cube: Cube, sigma: dict[str, float], arm: float = 0.7e-3) -> np.ndarray:
    """Of v+ as measured (n, 6, 6): both flights' noise, and what an error of `arm` [m] of the contact
    point does to the angular velocity that the measured impulse gives."""
    noise = 2 * np.r_[[sigma["velocity"] ** 2] * 3, [sigma["omega"] ** 2] * 3]
    push = (cut.after - cut.before)[:, :3]
    skew = np.cross(np.eye(3)[None], push[:, None]) / cube.inertia
    total = np.tile(np.diag(noise), (len(cut), 1, 1))
    total[:, 3:, 3:] += arm**2 * np.einsum("nki,nkj->nij", skew, skew)
    return total


def explained(cut: Cut, cube: Cube, most: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """How many of the lowest corners an impact needs, most + 1 where they do not do; floors (most, n)."""
    floors = np.stack([carom.impact.floor(problems(cut, cube, k), cut.after).floor for k in range(1, most + 1)])
    return np.argmax(np.r_[floors < EXPLAINED, np.ones((1, len(cut)), bool)], axis=0) + 1, floors


def write(path: pathlib.Path, cut: Cut, cube: Cube, corners: int, sigma: dict[str, float]) -> None:
    """An HDF5 file of impact problems for the command, with what was measured."""
    made = problems(cut, cube, corners)
    names = [f"toss {t} frame {f:.2f} between {b} gap {1e3 * g:.2f} mm" for t, f, b, g in
             zip(cut.toss, cut.frame, cut.between, cut.gap)]  # fmt: skip
    with h5py.File(path, "w") as file:
        file.attrs["source"] = "DAIRLab/contact-nets, data/tosses_processed (CoRL 2020), cut by examples/cube_tosses.py"
        file.attrs["licence"] = "BSD-3-Clause, Copyright (c) 2020, Dynamic Autonomy and Intelligent Robotics Lab"
        sets = {**made.arrays(), "measured_velocity": cut.after, "measured_covariance": covariance(cut, cube, sigma)}
        for name, values in sets.items():
            kept = values.astype(np.float32) if name not in ("mass_matrix", "friction") else values
            file.create_dataset(name, data=kept.astype(float), compression="gzip", compression_opts=9, shuffle=True)
        file.create_dataset("name", data=names, dtype=h5py.string_dtype(), compression="gzip")


def examine(tosses: Tosses) -> tuple[dict[str, Any], Cut, Cube, np.ndarray]:
    """Everything that is found out: facts, impacts, the cube, and how many corners each impact needs."""
    flight, rest = free_flight(tosses), resting_height(tosses)
    scale = np.mean([tosses.gravity / flight["gravity"], tosses.half_width / np.median(rest)])
    cube = Cube(float(scale), scale * flight["offset"], 4e-3, 2.6e-3, tosses.half_width, tosses.mass)
    for _ in range(2):  # the cut depends a little on the centre of mass
        sigma = noise(tosses, cube)
        cut = cut_impacts(tosses, cube, sigma)
        candidates = len(cut)
        cut = cut[cut.gap < MEETING]
        meeting = len(cut)
        cut = cut[change(cut, cube) > EXPLAINED]  # a bad pose splits a flight as an impact does
        found, miss = moments(cut, cube)
        half = [moments(cut, cube, cut.toss % 2 == k)[0] for k in range(2)]
        cut, cube = about(cut, cube, found), found
    corners, floors = explained(cut, cube)
    one = corners == 1
    facts = {
        "scale": cube.scale, "scale_of_gravity": tosses.gravity / flight["gravity"],
        "scale_of_rest": tosses.half_width / float(np.median(rest)),
        "gravity": flight["gravity"], "gravity_error": flight["gravity_error"], "free_flights": flight["tosses"],
        "resting_height": float(np.median(rest)), "resting": len(rest),
        "offset": cube.offset.tolist(), "offset_of_flight": (cube.scale * flight["offset"]).tolist(),
        "offset_of_halves": [h.offset.tolist() for h in half],
        "radius": cube.radius, "radius_of_height": radius_by_height(cut, cube, one),
        "radius_of_halves": [h.radius for h in half],
        "inertia_over_mass": cube.inertia, "inertia_of_halves": [h.inertia for h in half],
        "moment_residual": float(np.median(miss[one]) / np.sqrt(3)), "noise": sigma,
        "candidates": candidates, "meeting": meeting, "impacts": len(cut),
        "corners": [int((corners == k).sum()) for k in range(1, 6)],
        "two_corners_within_2_frames": int(((corners == 2) & (cut.between <= 2)).sum()),
        "floor": [float(np.median(floors[k, corners == k + 1])) for k in range(2)],
    }  # fmt: skip
    return facts, cut, cube, corners


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tosses", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    tosses = read_tosses(options.tosses)
    facts, cut, cube, corners = examine(tosses)
    print(json.dumps(facts, indent=1))
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")
    one, two = corners == 1, (corners == 2) & (cut.between <= 2)
    write(options.output / "one_corner.h5", cut[one], cube, 1, facts["noise"])
    write(options.output / "two_corners.h5", cut[two], cube, 2, facts["noise"])
    middle = dataclasses.replace(cube, offset=np.zeros(3))  # what the file's geometry would give
    write(options.output / "two_corners_middle.h5", about(cut[two], cube, middle), middle, 2, facts["noise"])


if __name__ == "__main__":
    main()
