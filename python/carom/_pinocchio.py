"""Impact problems of Pinocchio states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import refuse
from ._optional import needed
from ._reduce import hull
from ._states import (
    Collected, Options, StateImpacts, StateStatus, allowed_of_contacts, answered, assembled, is_near, limits, states_of,
)  # fmt: skip
from ._state_rows import Equalities, Masses, Rows, lines_of
from .errors import InvalidInput

_MESH_CONTACTS = 512  # triangles of a mesh that touch, at most
_ROUND = 8  # corners of a round face, whose polygon reaches 8 % less far
_SAME = 1e-9  # [m]: points of a mesh's triangles so near are one
_PLANES = ("Halfspace", "Plane")
_FLAT = 1e-6  # of volumes: a mesh which fills its hull so well is convex
_FASTEST = 10.0  # [m/s]: approaches beyond are looked for as if they had this speed


def _tangents(normal: np.ndarray) -> np.ndarray:
    """Two directions across a normal that depend on it only: contacts on one surface share them."""
    least = np.eye(3)[np.abs(normal).argmin()]
    first = np.cross(normal, least)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first)])


def _friction(given: Any, names: tuple[str, str]) -> float:
    if not isinstance(given, Mapping):
        return float(given)
    for pair in (names, names[::-1]):
        if pair in given:
            return float(given[pair])
    raise refuse("friction", f"without {names}", "must name every pair that touches, or be a number", "is")


def _vertices(shape: Any) -> np.ndarray | None:
    """Of a polyhedron, in its own frame; None of other shapes."""
    kind = type(shape).__name__
    if kind == "Box":
        half = np.asarray(shape.halfSide)
        unit = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
        corners: np.ndarray = unit * half
        return corners
    if kind == "TriangleP":
        return np.array([shape.a, shape.b, shape.c])
    if kind.startswith("Convex"):
        return np.array([shape.point(i) for i in range(shape.num_points)])
    if kind.startswith("BVHModel"):
        return np.unique(np.array([shape.vertex(i) for i in range(shape.num_vertices)]), axis=0)
    return None


def _volume(points: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.abs(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) / 6.0)


def _as_convex(shape: Any, always: bool) -> Any:
    """A mesh's convex hull, where it is the mesh itself or `always`: the collision library has a face's
    patch of convex shapes, of meshes single triangles."""
    if not type(shape).__name__.startswith("BVHModel") or shape.num_tris == 0:
        return shape
    try:
        shape.buildConvexHull(True, "Qt")
        convex = shape.convex
    except Exception:  # flat meshes have none
        return shape
    if always:
        return convex
    points = np.array([shape.vertex(i) for i in range(shape.num_vertices)])
    triangles = np.array([[shape.tri_indices(i)[k] for k in range(3)] for i in range(shape.num_tris)])
    corners = np.array([convex.point(i) for i in range(convex.num_points)])
    faces = np.array([[convex.polygons(i)[k] for k in range(3)] for i in range(convex.num_polygons)])
    whole, hull = _volume(points - points[0], triangles), _outer_volume(corners - points[0], faces)
    return convex if abs(whole - hull) <= _FLAT * hull else shape


def _outer_volume(points: np.ndarray, faces: np.ndarray) -> float:
    """Of a convex polyhedron, whose faces may be listed either way round."""
    middle = points.mean(axis=0)
    a, b, c = (points[faces[:, k]] - middle for k in range(3))
    return float(np.abs(np.einsum("ij,ij->i", a, np.cross(b, c))).sum() / 6.0)


class PinocchioRobot:
    """A model and its geometries made ready for many states."""

    def __init__(self, model: Any, geom: Any, friction: Any, hulls: bool = False) -> None:
        self.pin = needed("pinocchio", "from_pinocchio", "pinocchio")
        self.model, self.geom, self.friction = model, geom.clone(), friction
        self.name = model.name or "robot"
        self.nv = model.nv
        self.data = model.createData()
        for each in self.geom.geometryObjects:
            each.geometry = _as_convex(each.geometry, hulls)
        self._order_pairs()
        self.found = self.pin.GeometryData(self.geom)
        self.flat: dict[int, tuple[int, int, np.ndarray]] = {}  # pairs of a half-space and a polyhedron, which need no search
        for request in self.found.contactPatchRequests:
            request.setNumSamplesCurvedShapes(_ROUND)
        self.half_spaces: dict[int, tuple[int, int, np.ndarray]] = {}  # of pairs: the flat one, the other, its vertices
        self.meshes = set()
        self.round = set()  # pairs with a cylinder or cone whose face may meet another face
        for k, pair in enumerate(self.geom.collisionPairs):
            kinds = [type(self.geom.geometryObjects[i].geometry).__name__ for i in (pair.first, pair.second)]
            for flat, other in ((0, 1), (1, 0)):
                points = _vertices(self.geom.geometryObjects[(pair.first, pair.second)[other]].geometry)
                if kinds[flat] in _PLANES and points is not None:
                    self.half_spaces[k] = ((pair.first, pair.second)[flat], (pair.first, pair.second)[other], points)
                    if kinds[flat] == "Halfspace":
                        self.found.deactivateCollisionPair(k)
                        self.flat[k] = self.half_spaces[k]
            if any(kind in ("Cylinder", "Cone") for kind in kinds):
                self.round.add(k)
            if any(kind.startswith(("BVHModel", "HeightField", "OcTree")) for kind in kinds):
                self.meshes.add(k)
        self.size = self._sizes()
        self.balls: dict[int, tuple[np.ndarray, float]] = {}
        for _, other, points in self.flat.values():
            middle = points.mean(axis=0)
            self.balls[other] = middle, float(np.linalg.norm(points - middle, axis=1).max())
        tree = np.zeros(model.nv, dtype=np.int64)
        for j in range(1, model.njoints):
            root = j
            while model.parents[root] != 0:
                root = model.parents[root]
            joint = model.joints[j]
            tree[joint.idx_v : joint.idx_v + joint.nv] = root - 1
        self.trees = np.unique(tree, return_inverse=True)[1].reshape(-1) if model.nv else tree
        single = [j for j in range(1, model.njoints) if model.joints[j].nq == model.joints[j].nv == 1]
        self.single = single
        self.idx_q = np.array([model.joints[j].idx_q for j in single], dtype=np.int64)
        self.idx_v = np.array([model.joints[j].idx_v for j in single], dtype=np.int64)
        self.slides = np.array(["Prismatic" in model.joints[j].shortname() or model.joints[j].shortname()
                                in ("JointModelPX", "JointModelPY", "JointModelPZ") for j in single], dtype=bool)  # fmt: skip

    def _order_pairs(self) -> None:
        """Pairs anew, those whose first shape is round and flat the other way round: else the collision
        library has one point of their faces. turned: of each pair whether it was."""
        pairs = [(pair.first, pair.second) for pair in self.geom.collisionPairs]
        self.turned = []
        self.geom.removeAllCollisionPairs()
        for first, second in pairs:
            kinds = [type(self.geom.geometryObjects[i].geometry).__name__ for i in (first, second)]
            turned = kinds[0] in ("Cylinder", "Cone") and kinds[1] not in ("Halfspace", "Plane", "Cylinder", "Cone")
            self.turned.append(turned)
            self.geom.addCollisionPair(self.pin.CollisionPair(*((second, first) if turned else (first, second))))

    def _sizes(self) -> np.ndarray:
        """Of each geometry the size of the rigid body that it is fixed to: the diameter of its shapes, or of
        the ball that turns as heavily; of what does not move, infinite."""
        objects = list(self.geom.geometryObjects)
        joint = np.array([each.parentJoint for each in objects], dtype=np.int64)
        size = np.full(len(objects), np.inf)
        for j in np.unique(joint[joint > 0]):
            mine = np.flatnonzero(joint == j)
            reach, place = [], []
            for i in mine:
                objects[i].geometry.computeLocalAABB()
                reach.append(float(objects[i].geometry.aabb_radius))
                place.append(objects[i].placement.act(np.array(objects[i].geometry.aabb_center)))
            apart = np.linalg.norm(np.array(place)[:, None] - np.array(place)[None], axis=2)
            wide = float((apart + np.array(reach)[:, None] + np.array(reach)[None]).max())
            inertia = self.model.inertias[int(j)]
            if inertia.mass > 0.0:
                wide = max(wide, 2.0 * float(np.sqrt(max(0.0, 5.0 / 6.0 * np.trace(inertia.inertia) / inertia.mass))))
            size[mine] = wide
        return size

    def row_name(self, a: int, b: int) -> str:
        if a >= 0:
            return "/".join(self.geom.geometryObjects[i].name for i in (a, b))
        return str(self.model.names[self.single[-1 - a]]) + {-2: " lower", -3: " upper"}[b]

    def body_name(self, joint: int) -> str:
        return str(self.model.names[joint])

    def is_fixed(self) -> bool:
        """Whether something that moves does so otherwise than from a free joint."""
        model = self.model
        return any("FreeFlyer" not in model.joints[j].shortname() for j in range(1, model.njoints) if model.parents[j] == 0)

    def gravity(self) -> np.ndarray:
        return np.array(self.model.gravity.linear)

    def mass_centres(self, q: np.ndarray) -> tuple[np.ndarray, float]:
        pin, model, data = self.pin, self.model, self.data
        mass = sum(float(model.inertias[j].mass) for j in range(1, model.njoints))
        fixed = np.array(model.inertias[0].mass * model.inertias[0].lever)
        centres = np.array([pin.centerOfMass(model, data, each) for each in q]).reshape(-1, 3)
        whole = mass + float(model.inertias[0].mass) if data.mass[0] > mass * (1 + 1e-12) else mass
        return (centres * whole - (fixed if whole > mass else 0.0)) / mass, mass

    def forces(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Generalised forces of gravity and Coriolis terms (s, nv)."""
        return -np.array([self.pin.nonLinearEffects(self.model, self.data, *each) for each in zip(q, v)]).reshape(len(q), -1)

    def moved(self, q: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
        return np.array([self.pin.integrate(self.model, a, h * b) for a, b in zip(q, v)]).reshape(len(q), -1)

    def impacts(
        self, q: np.ndarray, v: np.ndarray, options: Options, *, whole: bool = True
    ) -> tuple[StateImpacts, dict[int, InvalidInput]]:
        return self.assembled(self.collected(q, v, options), options, whole)

    def assembled(self, found: Collected, options: Options, whole: bool) -> tuple[StateImpacts, dict[int, InvalidInput]]:
        return assembled(found, options, self.name, self.row_name, self.body_name, whole)

    def collected(self, q: np.ndarray, v: np.ndarray, options: Options) -> Collected:
        pin, model, data = self.pin, self.model, self.data
        reach = max(options.activation, _FASTEST * options.time_to_contact)
        for k, request in enumerate(self.found.collisionRequests):
            request.enable_contact = True
            request.security_margin = reach
            if k in self.meshes:
                request.num_max_contacts = _MESH_CONTACTS
        masses = np.zeros((len(q), model.nv, model.nv))
        refused: dict[int, tuple[StateStatus, InvalidInput]] = {}
        found: list[tuple[Any, ...]] = []
        for place in range(len(q)):
            if not (np.isfinite(q[place]).all() and np.isfinite(v[place]).all()):
                masses[place] = np.eye(model.nv)
                refused[place] = StateStatus.invalid, _not_finite(q[place], v[place], place)
                continue
            M = np.array(pin.crba(model, data, q[place]))
            masses[place] = np.triu(M) + np.triu(M, 1).T  # crba fills the upper triangle
            pin.computeJointJacobians(model, data, q[place])
            pin.updateGeometryPlacements(model, data, self.geom, self.found, q[place])
            pin.computeCollisions(self.geom, self.found, False)
            # Without patches a pair has one contact point, however flat it is.
            pin.computeContactPatches(self.geom, self.found)
            try:
                found += self._contacts(place, v[place], options)
            except InvalidInput as error:
                refused[place] = StateStatus.not_taken, error
        nv = model.nv
        state, J, *others = (list(column) for column in zip(*found)) if found else [[] for _ in range(6)]
        rows = Rows.of(state, lines_of(np.array(J).reshape(-1, 3, nv)), *others)
        low = np.asarray(model.lowerPositionLimit)[self.idx_q]
        high = np.asarray(model.upperPositionLimit)[self.idx_q]
        ends = limits(self.idx_v, low, high, q[:, self.idx_q], v[:, self.idx_v], self.slides, options)
        return Collected(Masses.of(masses), v, Rows.joined([rows, ends]), Equalities.joined(nv, []), self.trees, np.arange(model.njoints), refused)

    def _point_jacobian(self, joint: int, at: np.ndarray) -> np.ndarray:
        if joint == 0:
            return np.zeros((3, self.nv))
        pin = self.pin
        six: np.ndarray = pin.getJointJacobian(self.model, self.data, joint, pin.LOCAL_WORLD_ALIGNED)
        x, y, z = at - self.data.oMi[joint].translation
        moved: np.ndarray = six[:3] - np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ six[3:]
        return moved

    def _contacts(self, place: int, v: np.ndarray, options: Options) -> list[tuple[Any, ...]]:
        rows = []
        for k, pair in enumerate(self.geom.collisionPairs):
            if k in self.flat:
                if not self._lowest(k, self.found.collisionRequests[k].security_margin):
                    continue
            elif not self.found.activeCollisionPairs[k] or not self.found.collisionResults[k].isCollision():
                continue
            numbers = (pair.second, pair.first) if self.turned[k] else (pair.first, pair.second)
            first, second = (self.geom.geometryObjects[i] for i in numbers)
            mu = _friction(self.friction, (first.name, second.name))
            plane = any(type(each.geometry).__name__ in _PLANES for each in (first, second))
            allowed = float(allowed_of_contacts(self.size[list(numbers)].min(), np.array(plane), options))
            points = self._points(k, pair, f"{first.name}/{second.name}")
            sign = -1.0 if self.turned[k] else 1.0
            joints = first.parentJoint, second.parentJoint
            points = [(phi, normal * (sign / np.linalg.norm(normal)), at) for phi, normal, at in points]
            if options.time_to_contact > 0.0 and len(points) > 4:  # most are not near enough: Jacobians of the others only
                at = np.array([each[2] for each in points])
                speed = self._speeds(joints[1], at, v) - self._speeds(joints[0], at, v)
                rate = np.einsum("pi,pi->p", np.array([each[1] for each in points]), speed)
                near = is_near(np.array([each[0] for each in points]), rate, options)
                points = [each for each, taken in zip(points, near) if taken]
            frame = np.zeros((3, 3))
            for phi, normal, at in points:
                if (frame[0] != normal).any():
                    frame = np.vstack([normal, _tangents(normal)])
                J = frame @ (self._point_jacobian(joints[1], at) - self._point_jacobian(joints[0], at))
                if is_near(np.array(phi), np.array(J[0] @ v), options):
                    rows.append((place, J, mu, phi, allowed, numbers, at, frame, joints))
        return rows

    def _speeds(self, joint: int, at: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Of points (p, 3) of a joint's body."""
        if joint == 0:
            return np.zeros(at.shape)
        six = self.pin.getJointJacobian(self.model, self.data, joint, self.pin.LOCAL_WORLD_ALIGNED) @ v
        moved: np.ndarray = six[:3] + np.cross(six[3:], at - self.data.oMi[joint].translation)
        return moved

    def _points(self, k: int, pair: Any, name: str) -> list[tuple[float, np.ndarray, np.ndarray]]:
        """Distances, normals from the first to the second, and points of a pair that touches."""
        if k in self.flat:
            return self._flat_points(k, pair, None)
        result = self.found.collisionResults[k]
        contacts = [result.getContact(i) for i in range(result.numContacts())]
        # Patches of meshes may have the other side's normal (coal#883): those of contacts are right.
        towards = np.array(contacts[0].normal)
        if k in self.half_spaces:
            return self._flat_points(k, pair, towards)
        if k in self.meshes:
            points: list[tuple[float, np.ndarray, np.ndarray]] = []
            for contact in contacts:
                at, normal = np.array(contact.pos), np.array(contact.normal)
                self._need_finite(name, normal, at)
                if all(np.linalg.norm(at - other) > _SAME or np.linalg.norm(normal - before) > _SAME
                       for _, before, other in points):  # fmt: skip
                    points.append((float(contact.penetration_depth), normal, at))
            return points
        patches = self.found.contactPatchResults[k]
        if k in self.round and patches.numContactPatches() == 1 and patches.getContactPatch(0).size() == 1:
            patches = self._other_way(k, pair)
        found = []
        for p in range(patches.numContactPatches()):
            patch = patches.getContactPatch(p)
            normal = np.array(patch.getNormal())
            if normal @ towards < 0.0:
                normal = -normal
            for i in range(patch.size()):
                at = np.array(patch.getPoint(i))
                self._need_finite(name, normal, at)
                found.append((float(patch.penetration_depth), normal, at))
        return found

    def _other_way(self, k: int, pair: Any) -> Any:
        """The patches of the shapes in the other order: of a cylinder's or cone's face seen from behind the
        collision library has one point."""
        coal = needed("coal", "faces of cylinders", "pinocchio")
        shapes = [x for i in (pair.second, pair.first)
                  for x in (self.geom.geometryObjects[i].geometry, self._placement(i))]  # fmt: skip
        request, result, patches = self.found.collisionRequests[k], coal.CollisionResult(), coal.ContactPatchResult()
        coal.collide(*shapes, request, result)
        if result.isCollision():
            coal.computeContactPatch(*shapes, result, self.found.contactPatchRequests[k], patches)
        return patches if patches.numContactPatches() else self.found.contactPatchResults[k]

    def _placement(self, i: int) -> Any:
        coal = needed("coal", "faces of cylinders", "pinocchio")
        return coal.Transform3s(self.found.oMg[i].rotation, self.found.oMg[i].translation)

    @staticmethod
    def _need_finite(name: str, normal: np.ndarray, at: np.ndarray) -> None:
        if not np.isfinite(normal).all() or not np.isfinite(at).all():
            raise refuse(name, "no contact point", "comes from coal for this pair: a Halfspace instead "
                         "of a Box as the ground has one", "and")  # fmt: skip

    def _lowest(self, k: int, reach: float) -> bool:
        """Whether a ball around the polyhedron comes so near to the half-space."""
        flat, other, _ = self.half_spaces[k]
        shape, placement = self.geom.geometryObjects[flat].geometry, self.found.oMg[flat]
        normal = placement.rotation @ np.asarray(shape.n)
        middle = self.found.oMg[other].act(self.balls[other][0])
        return bool(normal @ middle - float(shape.d) - float(normal @ placement.translation) <= reach + self.balls[other][1])

    def _flat_points(self, k: int, pair: Any, towards: np.ndarray | None) -> list[tuple[float, np.ndarray, np.ndarray]]:
        """Corners of a polyhedron at a half-space or plane, each with its own distance. The contact's
        point lies halfway between the corner and the plane."""
        flat, other, points = self.half_spaces[k]
        shape, placement = self.geom.geometryObjects[flat].geometry, self.found.oMg[flat]
        normal = placement.rotation @ np.asarray(shape.n)
        offset = float(shape.d) + float(normal @ placement.translation)
        world = points @ self.found.oMg[other].rotation.T + self.found.oMg[other].translation
        phi = world @ normal - offset
        outward = normal if flat == pair.first else -normal
        if towards is not None and outward @ towards < 0.0:  # a plane, from its other side
            normal, phi, outward = -normal, -phi, -outward
        near = np.flatnonzero(phi <= self.found.collisionRequests[k].security_margin)
        if len(near) > 3 and np.ptp(phi[near]) <= _SAME:  # a face: points between its corners add nothing
            near = near[sorted(hull(world[near] @ _tangents(normal).T))]
        return [(float(phi[i]), outward, world[i] - 0.5 * phi[i] * normal) for i in near]


def _not_finite(q: np.ndarray, v: np.ndarray, place: int) -> InvalidInput:
    field, array = ("q", q) if not np.isfinite(q).all() else ("v", v)
    i = int(np.flatnonzero(~np.isfinite(array))[0])
    return refuse(f"{field}[{i}] of state {place}", str(array[i]), "must be finite")


def from_pinocchio(
    model: Any, geom: Any, q: Any, v: Any = None, *, friction: Any, activation: float = 1e-6,
    time_to_contact: float = 0.0, max_penetration: float | None = None, reduce: str | None = None, pad: bool = False,
    on_error: str | None = None,
) -> Any:  # fmt: skip
    """Impact problems of states of a Pinocchio model, just before contacts act.

    geom: a GeometryModel with its collision pairs. It and the model are not changed.
    q (nq) and v (nv), or many states (s, nq) and (s, nv). Velocities are Pinocchio's: those of a free-flyer
    are in the body's frame.
    friction: a number, or {(name, name): number} for pairs of geometries.

    One state gives Problems, many a list of Problems by the number of contacts. The result and the other
    arguments are as in from_mujoco.

    Flat faces that touch have a contact at each corner of their common area. A polyhedron on a half-space
    has one at each corner that touches. Convex meshes are polyhedra; other meshes have a contact for
    each triangle. A joint of one coordinate at its limit is a contact without friction.

    Errors: InvalidInput naming contacts deeper than max_penetration [m], pairs without friction or for
    which the collision library has no point, more than 64 contacts or 256 velocities.
    """
    needed("pinocchio", "from_pinocchio", "pinocchio")
    options = Options(activation, time_to_contact, max_penetration, reduce=reduce)
    q, v, single = states_of("q", q, model.nq, "v", v, model.nv, finite=False)
    states, errors = PinocchioRobot(model, geom, friction).impacts(q, v, options)
    return answered(states, single, pad, on_error, errors)
