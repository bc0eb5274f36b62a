"""One mechanism read by MuJoCo and by Pinocchio, each from the same file: the same impacts."""

from __future__ import annotations

import numpy as np
import pytest

import carom

mujoco = pytest.importorskip("mujoco")
pin = pytest.importorskip("pinocchio")
coal = pytest.importorskip("coal")

# Inertias are given: Pinocchio's reader makes none of geoms that do not collide.
LEG = """
<body name="{side}thigh" pos="0 {y} -.2"><joint name="{side}hip" type="hinge" axis="0 1 0" range="-2 2"/>
<inertial pos=".01 0 -.2" mass="3" diaginertia=".05 .04 .01"/>
<body name="{side}shin" pos="0 0 -.4"><joint name="{side}knee" type="hinge" axis="0 1 0" range="0 2"/>
<inertial pos="0 0 -.2" mass="1.5" diaginertia=".02 .019 .003"/>
<geom name="{side}foot" type="{foot}" pos="0 0 -.4" size="{size}" friction=".8"/></body></body>"""
WALKER = """
<mujoco model="walker"><compiler autolimits="true" angle="radian"/><worldbody>
<geom name="floor" type="plane" size="5 5 .1" friction=".3"/>
<body name="trunk" pos="0 0 1"><freejoint name="root"/>
<inertial pos=".03 0 .02" mass="8" diaginertia=".2 .15 .1"/>{legs}</body></worldbody></mujoco>"""
FEET = {"sphere": ".05", "box": ".09 .05 .03"}


class Both:
    """The walker in both libraries."""

    def __init__(self, foot, folder):
        legs = "".join(LEG.format(side=side, y=y, foot=foot, size=FEET[foot]) for side, y in (("l", 0.1), ("r", -0.1)))
        path = folder / "walker.xml"
        path.write_text(WALKER.format(legs=legs))
        self.robot = mujoco.MjModel.from_xml_path(str(path))
        self.model = pin.buildModelFromMJCF(str(path))
        self.geom = pin.buildGeomFromMJCF(self.model, str(path), pin.GeometryType.COLLISION)
        floor = self.geom.getGeometryId("floor")
        self.geom.geometryObjects[floor].geometry = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        for i, each in enumerate(self.geom.geometryObjects):
            if i != floor and each.name.endswith("foot"):
                self.geom.addCollisionPair(pin.CollisionPair(floor, i))

    def state(self, qpos):
        """A state of MuJoCo's as Pinocchio's, and T of v_mujoco = T v_pinocchio: there a free body's
        linear velocity is in the body's frame."""
        q = np.concatenate([qpos[:3], qpos[[4, 5, 6, 3]], qpos[7:]])
        T = np.eye(self.model.nv)
        T[:3, :3] = pin.Quaternion(q[3:7]).toRotationMatrix()
        return q, T

    def problems(self, qpos, qvel):
        q, T = self.state(qpos)
        theirs = carom.from_mujoco(self.robot, qpos=qpos, qvel=qvel)
        ours = carom.from_pinocchio(self.model, self.geom, q, np.linalg.solve(T, qvel), friction=0.8)
        return theirs, ours, T


@pytest.fixture(params=list(FEET))
def both(request, tmp_path):
    return Both(request.param, tmp_path)


def touching(both, hips, knees, turn):
    """qpos with both soles level on the floor where the legs stand alike: the lowest foot exactly touches."""
    qpos = np.zeros(both.robot.nq)
    qpos[3:7] = [np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)]
    qpos[7:] = [hips[0], knees[0], hips[1], knees[1]]
    data = mujoco.MjData(both.robot)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(both.robot, data)
    sole = FEET["box"].split()[2] if _is_box(both) else FEET["sphere"]
    feet = [data.geom_xpos[mujoco.mj_name2id(both.robot, mujoco.mjtObj.mjOBJ_GEOM, name)][2] for name in ("lfoot", "rfoot")]
    qpos[2] = float(sole) - min(feet)
    return qpos


def _is_box(both):
    foot = mujoco.mj_name2id(both.robot, mujoco.mjtObj.mjOBJ_GEOM, "lfoot")
    return both.robot.geom_type[foot] == mujoco.mjtGeom.mjGEOM_BOX


def paired(rows, others):
    """The permutation that takes `others` to `rows`, which are the same in some order."""
    apart = np.abs(rows[:, None, :] - others[None, :, :]).max(axis=2)
    place = apart.argmin(axis=1)
    assert sorted(place) == list(range(len(rows)))
    assert apart.min(axis=1).max(initial=0.0) < 1e-9
    return place


STATES = [  # hips, knees, turn about z, contacts of a point foot, at a limit
    ((0.3, -0.2), (0.4, 0.7), 0.4, 1, 0),
    ((0.25, 0.25), (0.5, 0.5), -1.1, 2, 0),
    ((-0.3, -0.3), (0.0, 0.0), 0.0, 2, 2),  # both knees exactly at their limits
    ((0.6, 0.0), (0.0, 0.0), 2.0, 1, 2),
]


@pytest.mark.parametrize("case", range(len(STATES)))
def test_impacts_are_the_same(both, case):
    hips, knees, turn, feet, limits = STATES[case]
    if _is_box(both):  # soles level: flat feet have a contact at each corner
        hips = tuple(-knee for knee in knees)
        feet = 8 if knees[0] == knees[1] else 4
    qpos = touching(both, hips, knees, turn)
    qvel = np.random.default_rng(case).normal(size=both.robot.nv)
    theirs, ours, T = both.problems(qpos, qvel)
    assert theirs.contacts == ours.contacts == feet + limits
    np.testing.assert_allclose(ours.mass_matrix[0], T.T @ theirs.mass_matrix[0] @ T, atol=1e-10)
    np.testing.assert_allclose(theirs.velocity[0], T @ ours.velocity[0], atol=1e-12)
    place = paired(ours.normal_jacobian[0], theirs.normal_jacobian[0] @ T)
    assert (ours.friction[0] == theirs.friction[0][place]).all()
    np.testing.assert_allclose(ours.distance[0], theirs.distance[0][place], atol=1e-9)
    # The two tangents of a contact may be turned by right angles: J'J is the same.
    tangents = theirs.tangent_jacobian[0].reshape(-1, 2, len(qvel))[place] @ T
    for mine, other in zip(ours.tangent_jacobian[0].reshape(-1, 2, len(qvel)), tangents):
        np.testing.assert_allclose(mine.T @ mine, other.T @ other, atol=1e-9)


@pytest.mark.parametrize("case", range(len(STATES)))
def test_outcomes_are_the_same(case, tmp_path):
    """All outcomes of the simultaneous model, whose friction is polygons with four corners: the two
    libraries' tangents differ by right angles, or the polygons would."""
    both = Both("sphere", tmp_path)
    hips, knees, turn, feet, limits = STATES[case]
    qpos = touching(both, hips, knees, turn)
    qvel = np.zeros(both.robot.nv)
    qvel[[0, 2]] = 0.3, -1.0
    qvel[7:10:2] = -0.5  # knees towards their limits
    theirs, ours, T = both.problems(qpos, qvel)
    found = [carom.impact.simultaneous(problem) for problem in (theirs, ours)]
    assert len(found[0]) == len(found[1]) > 0
    for mine, other in zip(found[1], found[0]):
        np.testing.assert_allclose(T @ mine.velocity, other.velocity, atol=1e-8)
        assert abs(mine.kinetic_energy - other.kinetic_energy) < 1e-8
    samples = [carom.impact.sample(problem, samples=512, step_size=1.0, max_steps=60) for problem in (theirs, ours)]
    for run in samples:
        assert run.summary["terminated"][0] == 512 and run.summary["max_energy_ratio"][0] <= 1.0 + 1e-9
