"""States of MuJoCo models: what the rows are, and what is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import carom

mujoco = pytest.importorskip("mujoco")

BOX = """
<mujoco model="box"><option cone="{cone}" timestep="0.001"/>
<worldbody><geom name="floor" type="plane" size="5 5 .1" condim="{condim}" friction="{mu}"/>
<body name="box" pos="0 0 {z}"><freejoint/><geom name="box" type="box" size=".5 .3 .2" condim="{condim}"
 friction=".5"/></body></worldbody></mujoco>"""
LEG = """
<mujoco model="leg"><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
<body pos="0 0 1"><joint name="slide" type="slide" axis="0 0 1"/>
<geom name="hip" type="sphere" size=".1" mass="5"/>
<body pos="0 0 -.1"><joint name="knee" type="hinge" axis="0 1 0" limited="true" range="0 2"/>
<geom name="shin" type="capsule" fromto="0 0 0 0 0 -.4" size=".04"/></body></body>
</worldbody></mujoco>"""
WELD = """
<mujoco model="weld"><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
<body name="a" pos="-.3 0 .1"><freejoint/><geom name="a" type="sphere" size=".1"/></body>
<body name="b" pos=".3 0 .1"><freejoint/><geom name="b" type="sphere" size=".1"/></body></worldbody>
<equality><weld body1="a" body2="b"/></equality></mujoco>"""


def box(z=0.2, condim=3, cone="pyramidal", mu=0.7):
    return mujoco.MjModel.from_xml_string(BOX.format(z=z, condim=condim, cone=cone, mu=mu))


def falling(model, down=-1.0):
    data = mujoco.MjData(model)
    mujoco.mj_resetData(model, data)
    data.qvel[2] = down
    return data


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
def test_normal_rows_are_rates_of_distances(cone, condim):
    model = box(condim=condim, cone=cone)
    rng = np.random.default_rng(2)
    data = mujoco.MjData(model)
    data.qvel[:] = rng.normal(size=6)
    if condim > 3:
        with pytest.warns(UserWarning, match="torsional"):
            problems = carom.from_mujoco(model, data, activation=1e-2)
    else:
        problems = carom.from_mujoco(model, data, activation=1e-2)
    assert problems.contacts == 4 and problems.dimension == 3
    assert (problems.friction == (0.0 if condim == 1 else 0.7)).all()  # the larger of the two
    normal, _ = problems.contact_velocity()
    step = 1e-7
    moved = np.array(data.qpos)
    mujoco.mj_integratePos(model, moved, np.array(data.qvel), step)
    after = carom.from_mujoco(model, qpos=moved, qvel=data.qvel, activation=1e-2) if condim < 4 else None
    if after is not None:
        np.testing.assert_allclose((after.distance - problems.distance) / step, normal, atol=1e-5)
    np.testing.assert_allclose(problems.mass_matrix[0], np.diag(np.diag(problems.mass_matrix[0])), atol=1e-9)


@pytest.mark.parametrize("above", [0.0, 1e-7])
def test_a_body_that_exactly_touches_has_its_contacts(above):
    model = box(z=0.2 + above)
    problems = carom.from_mujoco(model, falling(model))
    assert problems.contacts == 4
    np.testing.assert_allclose(problems.distance, above, atol=1e-12)
    run = carom.impact.sample(problems, samples=256)
    assert run.summary["terminated"][0] == 256 and run.summary["max_energy_ratio"][0] <= 1.0
    assert carom.from_mujoco(box(z=0.21), falling(box(z=0.21))).contacts == 0


def test_the_state_given_is_left_alone():
    model = box()
    data = falling(model)
    before, gap = data.qvel.copy(), model.geom_gap.copy()
    carom.from_mujoco(model, data)
    assert (data.qvel == before).all() and data.ncon == 0 and (model.geom_gap == gap).all()


@pytest.mark.parametrize(("angle", "rows"), [(0.0, 1), (-1e-9, 1), (1e-3, 0), (2.0, 1)])
def test_joints_at_their_limits(angle, rows):
    model = mujoco.MjModel.from_xml_string(LEG)
    problems = carom.from_mujoco(model, qpos=[0.0, angle], qvel=[0.0, -1.0])
    assert problems.contacts == rows
    if rows:
        assert problems.friction[0, 0] == 0.0 and (problems.tangent_jacobian == 0.0).all()
        sign = -1.0 if angle == 2.0 else 1.0
        assert problems.normal_jacobian[0, 0].tolist() == [0.0, sign]
        assert problems.contact_names[0].startswith("knee")
    if angle == 0.0:
        run = carom.impact.sample(problems, samples=64)
        assert run.summary["terminated"][0] == 64
        assert (run.samples.velocity[0, :, 1] >= -1e-9).all()


def test_a_weld_removes_its_directions():
    model = mujoco.MjModel.from_xml_string(WELD)
    data = mujoco.MjData(model)
    data.qvel[[2, 8]] = -1.0
    problems = carom.from_mujoco(model, data)
    assert problems.velocities == 6 and problems.contacts == 2 and problems.lift.shape == (1, 12, 6)
    np.testing.assert_allclose(problems.lift[0] @ problems.velocity[0], data.qvel, atol=1e-12)
    run = carom.impact.sample(problems, samples=64)
    assert run.summary["terminated"][0] == 64
    data.qvel[2] = 1.0
    with pytest.raises(carom.InvalidInput, match="equalities"):
        carom.from_mujoco(model, data)


def test_many_states_are_bucketed():
    model = box()
    qpos = np.tile([0, 0, 0.2, 1, 0, 0, 0], (5, 1)).astype(float)
    qpos[1, 2], qpos[3, 2] = 0.5, 0.7
    qvel = np.zeros((5, 6))
    qvel[:, 2] = -1.0
    buckets = carom.from_mujoco(model, qpos=qpos, qvel=qvel)
    assert [(each.contacts, each.index.tolist()) for each in buckets] == [(0, [1, 3]), (4, [0, 2, 4])]
    padded = carom.from_mujoco(model, qpos=qpos, qvel=qvel, pad=True)
    assert [each.contacts for each in padded] == [4, 4]
    assert buckets[1].contact_names == tuple(f"floor/box {i}" for i in (1, 2, 3, 4))


def test_refusals_name_what_is_not_taken():
    model = box(z=0.19)
    with pytest.raises(carom.InvalidInput, match="floor/box.*max_penetration"):
        carom.from_mujoco(model, falling(model))
    pair = BOX.format(z=0.2, condim=3, cone="elliptic", mu=0.7).replace(
        "</mujoco>",
        '<contact><pair geom1="floor" geom2="box" condim="4" friction=".5 .2 .01 0 0"/></contact></mujoco>')
    model = mujoco.MjModel.from_xml_string(pair)
    with pytest.raises(carom.InvalidInput, match="anisotropic"):
        carom.from_mujoco(model, falling(model))
    ball = LEG.replace('type="hinge" axis="0 1 0"', 'type="ball"').replace('range="0 2"', 'range="0 1"')
    model = mujoco.MjModel.from_xml_string(ball)
    with pytest.raises(carom.InvalidInput, match="knee.*ball"):
        carom.from_mujoco(model, mujoco.MjData(model))
    with pytest.raises(carom.InvalidInput, match=r"qvel\[2\] of state 0 is nan"):
        carom.from_mujoco(box(), qpos=[0, 0, 0.2, 1, 0, 0, 0], qvel=[0, 0, np.nan, 0, 0, 0])
    with pytest.raises(carom.InvalidInput, match="reduce"):
        carom.from_mujoco(box(), falling(box()), reduce="corners")


def test_points_between_others_are_left_out():
    from carom._states import _hull

    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5], [0.5, 0.0]])
    assert sorted(_hull(square)) == [0, 1, 2, 3]
    model = box()
    assert carom.from_mujoco(model, falling(model), reduce="hull").contacts == 4


def test_the_command_takes_a_robots_file(command, tmp_path):
    model = box()
    data = falling(model)
    data.qvel[3] = 0.5
    problems = carom.from_mujoco(model, data)
    file = tmp_path / "box.json"
    problems.write_json(file)
    said = command("impact", file, "--step", 2, "--max-steps", 40, "--samples", 512, "--json", "--no-check")
    run = carom.impact.sample(problems, samples=512, step_size=2.0, max_steps=40, mode_table=True)
    said = said[0] if isinstance(said, list) else said
    assert "contacts: floor/box 1, floor/box 2, floor/box 3, floor/box 4" in command("impact", file, "--samples", 8)
    assert carom.load(file).contact_names == problems.contact_names
    assert said["mode_counts"] == run.mode_names() and said["max_residual"] == run.summary["max_residual"][0]
