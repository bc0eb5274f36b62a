"""Equilibrium of a body on frictional contacts: the region in which its centre of mass may be (Or and Rimon's planar
and spatial papers). Frame: world, y (planar) or z (spatial) up; lengths in m, forces in N."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import Batch, from_any, refuse
from ._derivatives import SETTINGS, MarginGradient, MarginTangent, margin_gradient, margin_tangent
from ._results import Batched, Result, Status, checked, result
from ._settings import in_words, takes_arrays, takes_settings
from .problems import BuiltIn, built_in, columns

__all__ = [
    "PlanarMargins", "PlanarRegions", "PostureModel", "Postures", "RobustRegion", "SpatialMargins",
    "SpatialRegion", "Support", "ThreeContactRegion", "critical", "critical_tilt", "margins", "model", "models",
    "planar", "robust", "spatial", "support", "three_contacts", "v_terrain",
]  # fmt: skip

_NORMAL_TOLERANCE = 1e-6
_RESOLUTION = 1e-12  # of a range that is bisected


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Postures(Result):
    """n bodies on k contacts each.

    position, normal (n, k, d): the normals point into the body. friction (n, k). length (n, k): of planar patches, or
    None. wrench (n, 3 or 6): external force and torque about the origin. wrench_vertices (n, w, 3 or 6): corners of the
    set of wrenches that a robust region resists."""

    position: np.ndarray
    normal: np.ndarray
    friction: np.ndarray
    wrench: np.ndarray
    wrench_vertices: np.ndarray
    length: np.ndarray | None = None
    dimension: int = 2
    name: str = "posture"
    contact_names: tuple[str, ...] = ()

    @classmethod
    @takes_arrays(friction="mu", wrench_vertices="neighbourhood")
    def of(
        cls, position: Any, normal: Any, mu: Any, *, length: Any = None, wrench: Any = None,
        neighbourhood: Any = None, strict: bool = False, **more: Any,
    ) -> Postures:  # fmt: skip
        """Makes postures from arrays, with or without the axis of problems. wrench: default gravity of unit weight.
        neighbourhood: vertices (n, w, 3 or 6); for planar postures also {"p": (low, high), "q": (low, high)} or
        {"polygon": (w, 2)} of p = f_x / f_y, q = torque / f_y."""
        batch = Batch(strict)
        batch.add("position", position, "k", "d")
        d = batch.extents["d"]
        if d not in (2, 3):
            raise refuse("position", f"{d} columns", "must have 2 (planar) or 3 (spatial)", "has")
        batch.add("normal", normal, "k", "d")
        batch.add("friction", mu, "k")
        size = 3 if d == 2 else 6
        if length is not None:
            batch.add("length", length, "k")
        if wrench is None:
            wrench = np.zeros(size)
            wrench[d - 1] = -1.0
        batch.add("wrench", wrench, size)
        if isinstance(neighbourhood, Mapping):
            neighbourhood = _vertices(neighbourhood, d)
        if neighbourhood is None:
            neighbourhood = np.zeros((0, size))
        batch.add("wrench_vertices", neighbourhood, "w", size)
        arrays: dict[str, Any] = batch.arrays()
        return cls(**arrays, dimension=d, **more)

    def __len__(self) -> int:
        return len(self.position)

    @property
    def contacts(self) -> int:
        return int(self.position.shape[1])

    def sizes(self) -> tuple[int, int, int, int]:
        return len(self), self.dimension, self.contacts, self.wrench_vertices.shape[1]

    def arrays(self, isolate: bool = False) -> dict[str, np.ndarray]:
        names = ("position", "normal", "friction", "wrench", "wrench_vertices")
        arrays = {name: getattr(self, name) for name in names}
        if self.length is not None:
            arrays["length"] = self.length
        if isolate:  # as the library does it to problems that it checks
            squares = self.normal[..., 0] * self.normal[..., 0]
            for axis in range(1, self.dimension):
                squares = squares + self.normal[..., axis] * self.normal[..., axis]
            size = np.sqrt(squares)[..., None]
            near = np.abs(size - 1.0) <= _NORMAL_TOLERANCE
            arrays["normal"] = np.where(near, self.normal / np.where(near, size, 1.0), self.normal)
        return arrays

    def __repr__(self) -> str:
        kind = "planar" if self.dimension == 2 else "spatial"
        return f"Postures({self.name!r}: {len(self)} {kind}, {self.contacts} contacts)"


def _vertices(given: Mapping[str, Any], dimension: int) -> np.ndarray:
    if dimension != 2:
        raise refuse("neighbourhood", "p, q or a polygon", "of a spatial posture: give the vertices")
    unknown = set(given) - {"p", "q", "polygon"}
    if unknown or ("polygon" in given and len(given) > 1):
        raise refuse("neighbourhood", str(sorted(given)), "must be p and q, or polygon")
    if "polygon" in given:
        corners: np.ndarray = _core.wrench_polygon(from_any("neighbourhood", given["polygon"]), -1.0)
        return corners
    (p1, p2), (q1, q2) = given.get("p", (0.0, 0.0)), given.get("q", (0.0, 0.0))
    corners = _core.wrench_rectangle(p1, p2, q1, q2, -1.0)
    return corners


@dataclasses.dataclass(frozen=True)
class PostureModel(BuiltIn):
    """A built-in posture and its parameters."""

    dimension: int
    contact_names: tuple[str, ...]


def models() -> dict[str, PostureModel]:
    """All built-in postures by name."""
    return built_in(PostureModel, _core.posture_models())


def model(name: str, *, n: int | None = None, neighbourhood: Any = None, **parameters: Any) -> Postures:
    """Postures of a built-in model, with parameters changed by name; arrays of parameters make a batch."""
    taken, count = columns(parameters, n)
    lists = {key: column.tolist() for key, column in taken.items()}
    dimension, arrays = _core.build_postures(name, lists, count)
    if arrays["length"] is None or arrays["length"].size == 0:
        arrays["length"] = None
    made = Postures(
        **arrays, dimension=dimension, name=name, contact_names=models()[name].contact_names
    )
    if neighbourhood is None:
        return made
    return Postures.of(
        made.position, made.normal, made.friction, length=made.length, wrench=made.wrench,
        neighbourhood=neighbourhood, name=name, contact_names=made.contact_names,
    )  # fmt: skip


@result
class PlanarRegions(Batched):
    """The regions of n planar postures: strips lower <= x . normal <= upper of centres of mass, with proofs.

    status, torque_min, torque_max, lower, upper, residual (n); normal (n, 2). force (n, 2, k, 2) and torque (n, 2, k):
    contact forces at the two ends. height, separation (n, 2). essential (n, 4): contacts that bound the strip, -1
    after the last. robust_*: the same for the neighbourhood; empty without one.
    """

    def plot(self, ax: Any = None) -> Any:
        """The strip of each posture, one above the other. Needs matplotlib."""
        from ._plots import plot_strips

        return plot_strips(self, ax)

    def polygon(self, i: int = 0) -> np.ndarray:
        """The vertices (q, 2) of the robust region of posture i, counter-clockwise; empty if it is empty."""
        count = self.robust_count
        if count.size == 0:
            raise refuse("neighbourhood", "left out", "must be given for a robust region")
        return self.robust_polygon[i, : max(int(count[i, 0]), 0)]


@result
class PlanarMargins(Batched):
    """Margins of n planar postures: distance (n) [m] of the centre of mass to the nearer end of the strip, negative
    outside; robust_distance; scale: factor by which the neighbourhood may grow; limiting_vertex; status."""

    status: np.ndarray
    distance: np.ndarray
    robust_distance: np.ndarray
    scale: np.ndarray
    limiting_vertex: np.ndarray
    problem: dict[str, Any]

    @takes_settings(SETTINGS, without=("at_kink", "radius", "reach"))
    def vjp(
        self, *, distance: Any = 1.0, wrt: Any = None, at_kink: str = "mean", not_solved: str = "nan",
        on_error: str = "status", **settings: Any,
    ) -> MarginGradient:  # fmt: skip
        """The gradient of a loss in the postures, from its gradient in the distances, (n) or one number.

        wrt: names out of position, normal, friction, wrench, centre_of_mass and, with patches, length; None: all. kink:
        both ends are equally near, or forces or proofs are not unique and what was asked may vary with them; or a
        contact without friction would help if it had some. undefined: every centre of mass is held. Otherwise as
        SpatialMargins.vjp."""
        return margin_gradient(self, distance, "distance", wrt, at_kink, not_solved, on_error, settings)

    @takes_settings(SETTINGS, without=("at_kink", "radius", "reach"))
    def jvp(
        self, *, position: Any = None, normal: Any = None, friction: Any = None, wrench: Any = None,
        centre_of_mass: Any = None, length: Any = None, on_error: str = "status", **settings: Any,
    ) -> MarginTangent:  # fmt: skip
        """How the distances change along a direction of the postures: SpatialMargins.jvp."""
        direction = {
            "position": position, "normal": normal, "friction": friction, "wrench": wrench,
            "centre_of_mass": centre_of_mass, "length": length,
        }  # fmt: skip
        return margin_tangent(self, direction, on_error, settings)


@result
class SpatialMargins(Batched):
    """Margins of n spatial postures: margin_lower <= signed distance to the region's boundary <= margin_upper [m].

    status solved: held, by forces (n, k, 3) of least norm; infeasible: not held, proven by dual (n, 6)."""

    status: np.ndarray
    margin_lower: np.ndarray
    margin_upper: np.ndarray
    forces: np.ndarray
    residual: np.ndarray
    dual: np.ndarray
    problem: dict[str, Any]

    @takes_settings(SETTINGS, without=("at_kink", "radius", "reach"))
    def vjp(
        self, *, margin: Any = 1.0, wrt: Any = None, at_kink: str = "mean", not_solved: str = "nan",
        on_error: str = "status", **settings: Any,
    ) -> MarginGradient:  # fmt: skip
        """The gradient of a loss in the postures, from its gradient in the margins, (n) or one number.

        wrt: names out of position, normal, friction, wrench, centre_of_mass; None: all. The status is that of all of
        them: kink if two sides are equally near, or if forces or proofs are not unique and what was asked varies with
        them; not_solved if no centre of mass is held. Postures that are not held have gradients, too.
        at_kink: "mean", "held" and "free" give the gradient by one of the sides; "nan"; or "raise". Otherwise as
        LcpResult.vjp. Errors: InvalidInput for cones that are not exact, and as there."""
        return margin_gradient(self, margin, "margin", wrt, at_kink, not_solved, on_error, settings)

    @takes_settings(SETTINGS, without=("at_kink", "radius", "reach"))
    def jvp(
        self, *, position: Any = None, normal: Any = None, friction: Any = None, wrench: Any = None,
        centre_of_mass: Any = None, on_error: str = "status", **settings: Any,
    ) -> MarginTangent:  # fmt: skip
        """How the margins change along a direction of the postures, arrays of their shapes or of one posture's. The
        status is that of the inputs given; where it is kink, the rate is NaN. Only the part of a change of normals counts
        that turns them. Errors: InvalidInput as vjp."""
        direction = {
            "position": position, "normal": normal, "friction": friction, "wrench": wrench,
            "centre_of_mass": centre_of_mass,
        }  # fmt: skip
        return margin_tangent(self, direction, on_error, settings)


@result
class Support(Batched):
    """Bounds lower <= h(d) <= upper (n, q) of the support function in q directions d, with proofs: point (n, q, 2) and
    its forces (n, q, k, 3); dual (n, q, 6); slack, residual, status, pivots (n, q)."""

    _axes = ("problem", "direction")


@result
class SpatialRegion(Result):
    """The horizontal cross-section of a spatial region, between two polygons; coordinates along frame[0] and frame[1].

    inner (m, 2): each vertex is held by forces (m, k, 3). outer (q, 2): each half_plane (h, 3) is proven by dual (h, 6).
    dimension: -1 empty, 0 a point, 1 a segment, 2. support: the directions that were computed.
    """

    status: int
    dimension: int
    frame: np.ndarray
    inner: np.ndarray
    forces: np.ndarray
    outer: np.ndarray
    half_plane: np.ndarray
    dual: np.ndarray
    area_inner: float
    area_outer: float
    residual: float
    pivots: int
    support: Mapping[str, np.ndarray]

    def plot(self, ax: Any = None) -> Any:
        """Both polygons. Needs matplotlib."""
        from ._plots import plot_polygons

        return plot_polygons({"held": self.inner, "not beyond": self.outer}, ax)

    def _summary(self) -> str:
        return f"{Status(self.status).name}, area {self.area_inner:.6g}..{self.area_outer:.6g} m^2"


@result
class RobustRegion(Result):
    """A robust region in R^3, between two polyhedra of half-spaces N . x <= offset.

    outer (h, 4) contains the region; each half-space is proven by dual (h, 6) for wrench vertex (h). inner (g, 4) lies
    inside the region."""

    status: int
    outer: np.ndarray
    dual: np.ndarray
    vertex: np.ndarray
    inner: np.ndarray
    extent: float
    centre: np.ndarray

    def section(self, height: float) -> dict[str, Any]:
        """Polygons inner and outer of the cross-section at z = height, areas, bounded."""
        return _core.robust_section(self.to_dict(), float(height))

    def contains(self, points: Any) -> np.ndarray:
        """For points (p, 3): 1 inside, -1 outside, 0 between inner and outer (not decided)."""
        x = from_any("points", points)
        if x.shape[-1:] != (3,):
            raise refuse("points", f"of shape {x.shape}", "must be (p, 3)")
        sides: np.ndarray = _core.robust_contains(self.to_dict(), x)
        return sides

    def _summary(self) -> str:
        return f"{Status(self.status).name}, {len(self.outer)} half-spaces"


@result
class ThreeContactRegion(Result):
    """The region of three contacts by the construction of section 3.

    plus, minus: the pieces of P. conservative and searched (m, 2): polygons inside the region. boundary_*: critical
    points with type, direction, r and point."""

    plus: list[np.ndarray]
    minus: list[np.ndarray]
    conservative: np.ndarray
    searched: np.ndarray
    area_conservative: float
    area_searched: float
    boundary_type: tuple[str, ...]
    boundary_direction: np.ndarray
    boundary_r: np.ndarray
    boundary_point: np.ndarray


def _postures(given: tuple[Any, ...], more: dict[str, Any], dimension: int | None) -> Postures:
    if len(given) == 1 and isinstance(given[0], (Postures, str)):
        made = model(given[0]) if isinstance(given[0], str) else given[0]
        for name, value in more.items():
            if value is not None and name != "strict":
                raise refuse(name, "given", "belongs to the postures: Postures.of(...)")
    elif len(given) == 3:
        made = Postures.of(*given, **more)
    else:
        raise TypeError("takes Postures, a model's name, or the arrays position, normal, mu")
    if dimension is not None and made.dimension != dimension:
        raise refuse("dimension", str(made.dimension), f"must be {dimension}")
    return made


def _isolate(bad_problem: str) -> bool:
    if bad_problem not in ("refuse", "isolate"):
        raise refuse("bad_problem", repr(bad_problem), "must be refuse or isolate")
    return bad_problem == "isolate"


@takes_settings(_core.planar_settings())
def planar(
    *postures: Any, length: Any = None, wrench: Any = None, neighbourhood: Any = None,
    bad_problem: str = "refuse", backend: str = "auto", workspace: Any = None,
    strict: bool = False, on_error: str = "status", **settings: Any,
) -> PlanarRegions:  # fmt: skip
    """The regions (strips) in which the centre of mass of planar postures is held.

    Postures with a neighbourhood of wrenches also get a robust polygon, which resists all of them.
    postures: Postures, a model's name, or position (n, k, 2), normal (n, k, 2), mu (n, k), with
    length (n, k), wrench (n, 3) and neighbourhood as Postures.of takes them. Errors: InvalidInput
    naming field, index, posture and value; bad_problem="isolate" gives such a posture the status
    invalid_input instead.
    """
    more = {"length": length, "wrench": wrench, "neighbourhood": neighbourhood, "strict": strict}
    batch = _postures(postures, more, 2)
    isolate = _isolate(bad_problem)
    answer = _core.planar_equilibrium(
        batch.arrays(isolate), batch.sizes(), isolate, in_words(settings), backend, workspace
    )
    return checked(PlanarRegions(**answer), on_error, (Status.solved, Status.unbounded))


@takes_settings(_core.spatial_settings())
def spatial(
    *postures: Any, wrench: Any = None, backend: str = "auto", workspace: Any = None,
    strict: bool = False, **settings: Any,
) -> list[SpatialRegion]:  # fmt: skip
    """The region of every spatial posture, between a proven inner and a proven outer polygon.

    postures: Postures, a model's name, or position (n, k, 3), normal (n, k, 3), mu (n, k).
    Errors: InvalidInput naming field, index, posture and value.
    """
    batch = _postures(postures, {"wrench": wrench, "strict": strict}, 3)
    regions = _core.spatial_equilibrium(
        batch.arrays(), batch.sizes(), False, in_words(settings), backend, workspace
    )
    return [SpatialRegion(**region) for region in regions]


@takes_settings(_core.spatial_settings())
def support(
    *postures: Any, directions: Any, wrench: Any = None, bad_problem: str = "refuse",
    backend: str = "auto", workspace: Any = None, strict: bool = False, on_error: str = "status",
    **settings: Any,
) -> Support:  # fmt: skip
    """The support function of the cross-section of spatial postures.

    directions: unit vectors (q, 2), or a number of equally spaced ones. Errors: InvalidInput as in spatial, and for a
    direction that is not a unit vector."""
    batch = _postures(postures, {"wrench": wrench, "strict": strict}, 3)
    if isinstance(directions, (int, np.integer)):
        angle = 2.0 * np.pi * np.arange(directions) / max(int(directions), 1)
        directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    wanted = from_any("directions", directions)
    if wanted.ndim != 2 or wanted.shape[1] != 2:
        raise refuse("directions", f"of shape {wanted.shape}", "must be (q, 2)")
    isolate = _isolate(bad_problem)
    answer = _core.support(
        batch.arrays(isolate), batch.sizes(), wanted, isolate, in_words(settings), backend, workspace
    )
    return checked(Support(**answer), on_error)


def margins(
    *postures: Any, com: Any, length: Any = None, wrench: Any = None, neighbourhood: Any = None,
    bad_problem: str = "refuse", backend: str = "auto", workspace: Any = None,
    strict: bool = False, on_error: str = "status", **settings: Any,
) -> PlanarMargins | SpatialMargins:  # fmt: skip
    """The margin of each posture's centre of mass: its distance [m] to the boundary of the region, negative outside.

    postures: as in planar and spatial. com: (n, d), or (d,) for all postures; d is 2 for planar postures and 3 for
    spatial ones. Returns PlanarMargins (settings of planar), or SpatialMargins (settings of spatial, on the
    host). Errors: InvalidInput for the shape of com, and as in planar and spatial."""
    more = {"length": length, "wrench": wrench, "neighbourhood": neighbourhood, "strict": strict}
    batch = _postures(postures, more, None)
    centre = from_any("com", com)
    if centre.shape not in ((batch.dimension,), (1, batch.dimension), (len(batch), batch.dimension)):
        rule = f"must be ({batch.dimension},) or ({len(batch)}, {batch.dimension})"
        raise refuse("com", f"of shape {centre.shape}", rule)
    centre = np.ascontiguousarray(np.broadcast_to(centre, (len(batch), batch.dimension)))
    isolate = _isolate(bad_problem)
    bad = np.argwhere(~np.isfinite(centre))
    if len(bad) and not isolate:
        p, i = map(int, bad[0])
        raise refuse("com", str(centre[p, i]), "must be finite", index=[i], problem=p)
    arrays = batch.arrays(isolate)
    asked = {**arrays, "centre_of_mass": centre, "sizes": batch.sizes(), "settings": in_words(settings)}
    if batch.dimension == 2:
        answer = _core.planar_margins(
            arrays, batch.sizes(), centre, isolate, in_words(settings), backend, workspace
        )
        return checked(PlanarMargins(**answer, problem=asked), on_error, (Status.solved, Status.unbounded))
    answer = _core.membership(arrays, batch.sizes(), centre, isolate, in_words(settings), workspace)
    return checked(SpatialMargins(**answer, problem=asked), on_error)


def critical(
    name: str, parameter: str, low: float, high: float, *, com: Any,
    parameters: Mapping[str, float] | None = None, **settings: Any,
) -> dict[str, Any]:  # fmt: skip
    """The value of a parameter at which a built-in posture begins or ceases to hold a centre of mass.

    Bisects [low, high]. com: (2,) or (3,). Returns a dict: held and not_held, two values that enclose the critical
    one as closely as the proofs allow; held_low and held_high, whether the ends are held; found, False
    if both ends give the same answer. settings: those of margins. Errors: InvalidInput as in model and margins.
    """

    def held(value: float) -> bool | None:
        changed: dict[str, Any] = {**(parameters or {}), parameter: value}
        made = margins(model(name, **changed), com=com, **settings)
        status = int(made.status[0])
        if isinstance(made, PlanarMargins):
            return bool(made.distance[0] >= 0.0) if status in (Status.solved, Status.unbounded) else None
        return {int(Status.solved): True, int(Status.infeasible): False}.get(status)

    ends = held(low), held(high)
    result: dict[str, Any] = {"held_low": ends[0], "held_high": ends[1], "found": False}
    if None in ends or ends[0] == ends[1]:
        return result
    inside, outside = (low, high) if ends[0] else (high, low)
    while abs(inside - outside) > _RESOLUTION * (high - low):
        middle = 0.5 * (inside + outside)
        verdict = None if middle in (inside, outside) else held(middle)
        if verdict is None:  # numbers or proofs end here
            break
        inside, outside = (middle, outside) if verdict else (inside, middle)
    return {**result, "found": True, "held": inside, "not_held": outside}


@takes_settings(_core.spatial_settings())
def robust(
    *postures: Any, neighbourhood: Any = None, strict: bool = False, **settings: Any
) -> list[RobustRegion]:
    """The robust regions of spatial postures: centres of mass in R^3 that are held against every wrench of the
    neighbourhood. Errors: InvalidInput without a neighbourhood, and as in spatial."""
    batch = _postures(postures, {"neighbourhood": neighbourhood, "strict": strict}, 3)
    regions = _core.robust_region(batch.arrays(), batch.sizes(), in_words(settings))
    return [RobustRegion(**region) for region in regions]


@takes_settings(_core.three_contact_settings())
def three_contacts(*postures: Any, strict: bool = False, **settings: Any) -> list[ThreeContactRegion]:
    """The region of postures on three contacts by the paper's construction, as polygons inside it.

    Errors: InvalidInput unless there are three contacts that point upward and do not lie in one plane with the
    force, and the wrench has no torque about the force.
    """
    batch = _postures(postures, {"strict": strict}, 3)
    found = []
    for i in range(len(batch)):
        one = {name: np.ascontiguousarray(a[i : i + 1]) for name, a in batch.arrays().items()}
        found.append(
            ThreeContactRegion(
                **_core.three_contact_region(one, (1, *batch.sizes()[1:]), in_words(dict(settings)))
            )
        )
    return found


def critical_tilt(*postures: Any, com: Any, tolerance: float = 1e-12) -> np.ndarray:
    """The largest tilt of the force [rad] at which each planar posture holds com (2,); (n,)."""
    batch = _postures(postures, {}, 2)
    x, y = from_any("com", com)
    found = []
    for i in range(len(batch)):
        one = {name: np.ascontiguousarray(a[i : i + 1]) for name, a in batch.arrays().items()}
        found.append(_core.critical_tilt(one, (1, *batch.sizes()[1:]), x, y, tolerance))
    return np.array(found)


def v_terrain(
    slope: float, friction_angle: float, distance: float = 1.0, height: float = 0.0
) -> dict[str, float]:
    """Critical tilts [rad] of the symmetric V terrain (section 5): rolling, sliding and critical, and
    the height [m] above which it slides first. Angles in rad, lengths in m."""
    return _core.v_terrain(slope, friction_angle, distance, height)
