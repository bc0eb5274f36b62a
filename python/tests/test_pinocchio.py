"""States of Pinocchio models, beside those of MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

import carom

pin = pytest.importorskip("pinocchio")
coal = pytest.importorskip("coal")


def box(ground="half"):
    model = pin.Model()
    model.name = "box"
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(480.0 * 0.001, 1.0, 0.6, 0.4), pin.SE3.Identity())
    geom = pin.GeometryModel()
    geom.addGeometryObject(pin.GeometryObject("box", joint, pin.SE3.Identity(), coal.Box(1.0, 0.6, 0.4)))
    if ground == "half":
        shape, place = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), pin.SE3.Identity()
    else:
        shape, place = coal.Box(10.0, 10.0, 1.0), pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5]))
    geom.addGeometryObject(pin.GeometryObject("floor", 0, place, shape))
    geom.addAllCollisionPairs()
    return model, geom


def at(model, z, quaternion=(0.0, 0.0, 0.0, 1.0)):
    q = pin.neutral(model)
    q[2] = z
    q[3:7] = quaternion
    return q


@pytest.mark.parametrize("above", [0.0, 1e-9, 5e-7, -1e-5])
def test_a_box_on_the_ground_has_four_contacts(above):
    model, geom = box()
    v = np.array([0.0, 0.0, -1.0, 0.1, 0.2, 0.3])
    problems = carom.from_pinocchio(model, geom, at(model, 0.2 + above), v, friction=0.5)
    assert problems.contacts == 4 and problems.dimension == 3 and problems.name == "box"
    assert (problems.friction == 0.5).all() and problems.contact_names[0] == "box/floor 1"
    np.testing.assert_allclose(problems.distance, above, atol=1e-10)
    normal, tangent = problems.contact_velocity()
    corners = np.array([[x, y, -0.2] for x in (-0.5, 0.5) for y in (-0.3, 0.3)])
    expected = np.array([v[:3] + np.cross(v[3:], corner) for corner in corners])
    np.testing.assert_allclose(np.sort(normal[0]), np.sort(expected[:, 2]), atol=1e-12)
    speed = np.sort(np.linalg.norm(tangent[0].reshape(4, 2), axis=1))
    np.testing.assert_allclose(speed, np.sort(np.linalg.norm(expected[:, :2], axis=1)), atol=abs(above) + 1e-12)
    run = carom.impact.sample(problems, samples=64)
    assert run.summary["terminated"][0] == 64


def test_nothing_touches_above():
    model, geom = box()
    assert carom.from_pinocchio(model, geom, at(model, 0.21), friction=0.5).contacts == 0


def test_rates_of_distances_are_the_normal_rows():
    model, geom = box()
    rng = np.random.default_rng(3)
    half = np.sqrt(0.5)
    for quaternion in ((0.0, 0.0, half, half), (half, 0.0, 0.0, half)):
        height = 0.2 if quaternion[2] else 0.3
        q, v = at(model, height, quaternion), rng.normal(size=6) * [1, 1, 1, 0, 0, 0]
        before = carom.from_pinocchio(model, geom, q, v, friction=0.5, activation=1e-2)
        after = carom.from_pinocchio(model, geom, pin.integrate(model, q, 1e-6 * v), v, friction=0.5, activation=1e-2)
        normal, _ = before.contact_velocity()
        np.testing.assert_allclose((after.distance - before.distance) / 1e-6, normal, atol=1e-5)


def test_it_agrees_with_mujoco():
    mujoco = pytest.importorskip("mujoco")
    robot = mujoco.MjModel.from_xml_string("""
<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/><body name="box" pos="0 0 .2"><freejoint/>
<geom name="box" type="box" size=".5 .3 .2" mass=".48"/></body></worldbody></mujoco>""")
    data = mujoco.MjData(robot)
    data.qvel[:] = [0.2, 0.1, -1.0, 0.0, 0.0, 0.0]
    theirs = carom.from_mujoco(robot, data)
    model, geom = box()
    ours = carom.from_pinocchio(model, geom, at(model, 0.2), data.qvel, friction=1.0)
    np.testing.assert_allclose(ours.mass_matrix, theirs.mass_matrix, atol=1e-9)

    def corners(problems):
        rows = problems.normal_jacobian[0]
        return rows[np.lexsort(rows.round(6).T)]

    np.testing.assert_allclose(corners(ours), corners(theirs), atol=1e-6)


def test_many_states_and_limits():
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "knee")
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.4])))
    model.lowerPositionLimit[:], model.upperPositionLimit[:] = 0.0, 2.0
    geom = pin.GeometryModel()
    states = np.array([[0.0], [1.0], [2.0], [-1e-9]])
    buckets = carom.from_pinocchio(model, geom, states, -np.ones((4, 1)), friction=0.5)
    assert [(each.contacts, each.index.tolist()) for each in buckets] == [(0, [1]), (1, [0, 2, 3])]
    assert buckets[1].normal_jacobian[:, 0, 0].tolist() == [1.0, -1.0, 1.0]
    assert (buckets[1].friction == 0.0).all()


def test_refusals():
    model, geom = box()
    q = at(model, 0.2)
    with pytest.raises(carom.InvalidInput, match="max_penetration"):
        carom.from_pinocchio(model, geom, at(model, 0.19), friction=0.5, max_penetration=1e-3)
    with pytest.raises(carom.InvalidInput, match="friction"):
        carom.from_pinocchio(model, geom, q, friction={("box", "wall"): 0.5})
    assert carom.from_pinocchio(model, geom, q, friction={("floor", "box"): 0.3}).friction[0, 0] == 0.3
    with pytest.raises(carom.InvalidInput, match=r"v\[1\] of state 0 is nan"):
        carom.from_pinocchio(model, geom, q, [0.0, np.nan, 0.0, 0.0, 0.0, 0.0], friction=0.5)
    with pytest.raises(carom.InvalidInput, match="of shape"):
        carom.from_pinocchio(model, geom, q[:3], friction=0.5)
    with pytest.raises(carom.InvalidInput, match="reduce"):
        carom.from_pinocchio(model, geom, q, friction=0.5, reduce="all")


def polyhedron(half, convex):
    """A box as a convex polyhedron or a mesh."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    if convex:
        points = coal.StdVec_Vec3s()
        for corner in corners:
            points.append(corner)
        return coal.ConvexBase.convexHull(points, True, "Qt")
    sides = ((0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4), (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2),
             (1, 3, 7), (1, 7, 5))
    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(len(sides), len(corners))
    for side in sides:
        a, b, c = corners[list(side)]
        if np.cross(b - a, c - a) @ (a + b + c) < 0:
            b, c = c, b
        mesh.addTriangle(a, b, c)
    mesh.endModel()
    return mesh


TOPS = {
    "box": lambda: coal.Box(1.0, 0.6, 0.4), "convex": lambda: polyhedron(np.array([0.5, 0.3, 0.2]), True),
    "mesh": lambda: polyhedron(np.array([0.5, 0.3, 0.2]), False), "sphere": lambda: coal.Sphere(0.2),
    "ellipsoid": lambda: coal.Ellipsoid(0.3, 0.3, 0.2), "capsule": lambda: coal.Capsule(0.1, 0.2),
    "cylinder": lambda: coal.Cylinder(0.3, 0.4), "cone": lambda: coal.Cone(0.3, 0.4),
}
GROUNDS = {
    "half-space": (lambda: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), 0.0),
    "plane": (lambda: coal.Plane(np.array([0.0, 0.0, 1.0]), 0.0), 0.0), "box": (lambda: coal.Box(10.0, 10.0, 1.0), -0.5),
    "convex": (lambda: polyhedron(np.array([5.0, 5.0, 0.5]), True), -0.5),
    "mesh": (lambda: polyhedron(np.array([5.0, 5.0, 0.5]), False), -0.5),
    "sphere": (lambda: coal.Sphere(0.5), -0.5), "ellipsoid": (lambda: coal.Ellipsoid(0.7, 0.7, 0.5), -0.5),
    "capsule": (lambda: coal.Capsule(0.3, 0.4), -0.5), "cylinder": (lambda: coal.Cylinder(0.7, 1.0), -0.5),
    "cone": (lambda: coal.Cone(0.5, 1.0), -0.5),
}
ROUND = ("sphere", "ellipsoid", "capsule", "cone")


@pytest.mark.parametrize("below", [1e-5, 1e-3])
@pytest.mark.parametrize("ground", list(GROUNDS))
@pytest.mark.parametrize("top", list(TOPS))
def test_normals_are_right_for_every_pair_of_shapes_in_both_orders(top, ground, below):
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(1.0, 1.0, 0.6, 0.4), pin.SE3.Identity())
    make, height = GROUNDS[ground]
    body = pin.GeometryObject("body", joint, pin.SE3.Identity(), TOPS[top]())
    floor = pin.GeometryObject("floor", 0, pin.SE3(np.eye(3), np.array([0.0, 0.0, height])), make())
    found = []
    for order in ((body, floor), (floor, body)):
        geom = pin.GeometryModel()
        for each in order:
            geom.addGeometryObject(each)
        geom.addAllCollisionPairs()
        v = [0.1, 0.0, -1.0, 0.0, 0.0, 0.0]
        found.append(carom.from_pinocchio(model, geom, at(model, 0.2 - below), v, friction=0.5))
    for problems in found:
        normal, tangent = problems.contact_velocity()
        exact = 3e-4 if ground in ROUND else 1e-6  # of what is found by iteration
        np.testing.assert_allclose(normal, -1.0, atol=exact)  # all approach, upwards is separating
        np.testing.assert_allclose(problems.distance, -below, atol=2e-6)
        speed = np.linalg.norm(tangent.reshape(-1, 2), axis=1)
        np.testing.assert_allclose(speed, 0.1, atol=10 * exact)
        if top in ("box", "convex", "mesh") and ground not in ROUND:
            corners = problems.normal_jacobian[0][:, 3:5]
            assert len(corners) == 4 and np.abs(np.abs(corners) - [0.3, 0.5]).max() < 1e-4
    assert found[0].contacts == found[1].contacts >= (1 if ground in ROUND or top in ROUND[:3] else 3)


def test_corners_above_the_plane_are_no_contacts():
    """A box tilted by 1 mrad: two corners touch, the others are a millimetre up."""
    model, geom = box()
    half = 0.5e-3
    q = at(model, 0.2 + 0.5e-3, (0.0, np.sin(half), 0.0, np.cos(half)))
    problems = carom.from_pinocchio(model, geom, q, friction=0.5, activation=1e-5)
    assert problems.contacts == 2
    assert carom.from_pinocchio(model, geom, q, friction=0.5, activation=2e-3).contacts == 4
