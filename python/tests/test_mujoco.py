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
<mujoco model="leg"><compiler angle="radian"/><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
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
    data.qvel[2], data.qvel[0], data.qvel[6] = -1.0, 3.0, -3.0
    with pytest.raises(carom.InvalidInput, match="equalities"):
        carom.from_mujoco(model, data)


def test_a_velocity_off_its_equalities_is_projected():
    """What soft equalities leave: onto the nearest velocity in the mass metric, and it is said how far."""
    model = mujoco.MjModel.from_xml_string(WELD)
    qvel = np.zeros(12)
    qvel[[2, 8]] = -1.0, -0.99
    qpos = np.array(mujoco.MjData(model).qpos)
    found = carom.from_mujoco(model, qpos=qpos[None], qvel=qvel[None])
    problems, M = found[0], np.eye(12)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, M)
    kept = found.states.velocity[0]
    np.testing.assert_allclose(problems.lift[0] @ problems.velocity[0], kept, atol=1e-12)
    # The rest is orthogonal, in the mass metric, to all velocities that keep the weld.
    np.testing.assert_allclose(problems.lift[0].T @ M @ (qvel - kept), 0.0, atol=1e-12)
    lost = (qvel - kept) @ M @ (qvel - kept) / (qvel @ M @ qvel)
    assert 0.0 < lost < 1e-4 and abs(found.states.projected[0] - lost) < 1e-12
    with pytest.raises(carom.InvalidInput, match="max_projected"):
        carom.from_mujoco(model, qpos=qpos, qvel=qvel, max_projected=0.1 * lost)


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


@pytest.mark.parametrize("field", ["raw", "stays"])
def test_contacts_are_the_same_however_they_lie_in_memory(field, monkeypatch):
    """Also of a MuJoCo whose contacts are not one block, or whose block moves."""
    model, states = box(), dict(qpos=[[0, 0, 0.2, 1, 0, 0, 0], [0, 0, 0.19, 1, 0, 0, 0]], qvel=[[0, 0, -1.0, 0, 0.1, 0]] * 2)
    expected = carom.from_mujoco(model, **states)
    memory = carom._mujoco._memory()
    assert memory.raw is not None and memory.stays  # of this MuJoCo: the other ways are not used by themselves
    monkeypatch.setattr(memory, field, None)
    found = carom.from_mujoco(model, **states)
    assert [each.contacts for each in found] == [each.contacts for each in expected] == [4]
    for name, array in expected[0].arrays().items():
        np.testing.assert_array_equal(getattr(found[0], name), array)


def test_islands_are_blocks_of_the_whole():
    """Three boxes, two of which touch each other."""
    bodies = "".join(f'<body pos="{x} 0 {z}"><freejoint/><geom type="box" size=".1 .1 .1" mass="{mass}"/></body>'
                     for x, z, mass in ((0, 0.1, 1), (1, 0.1, 2), (0.05, 0.3, 3)))
    model = mujoco.MjModel.from_xml_string(f'<mujoco><worldbody><geom type="plane" size="5 5 .1"/>{bodies}</worldbody></mujoco>')
    data = mujoco.MjData(model)
    data.qvel[:] = np.random.default_rng(3).normal(size=18)
    robot = carom.robot(model)
    whole = robot.impacts(data, islands=False, align=False, reduce=None)
    apart = robot.impacts(data, align=False, reduce=None)
    assert apart.islands.tolist() == [2] and sorted(part.velocities for part in apart.parts) == [6, 12]
    (full,), (rows,) = whole.parts, whole.part_rows
    for part, places in zip(apart.parts, apart.part_rows):
        dofs = np.arange(6, 12) if part.velocities == 6 else np.r_[0:6, 12:18]
        mine = np.searchsorted(rows[0], places[0])
        np.testing.assert_array_equal(part.mass_matrix[0], full.mass_matrix[0][np.ix_(dofs, dofs)])
        np.testing.assert_array_equal(part.velocity[0], full.velocity[0, dofs])
        np.testing.assert_array_equal(part.normal_jacobian[0], full.normal_jacobian[0][np.ix_(mine, dofs)])
        lines = np.stack([2 * mine, 2 * mine + 1], axis=1).reshape(-1)
        np.testing.assert_array_equal(part.tangent_jacobian[0], full.tangent_jacobian[0][np.ix_(lines, dofs)])
        np.testing.assert_array_equal(part.lift[0], np.eye(18)[:, dofs])


def test_refusals_name_what_is_not_taken():
    model = box(z=0.19)
    with pytest.raises(carom.InvalidInput, match="floor/box.*max_penetration"):
        carom.from_mujoco(model, falling(model), max_penetration=1e-3)
    pair = BOX.format(z=0.2, condim=3, cone="elliptic", mu=0.7).replace(
        "</mujoco>",
        '<contact><pair geom1="floor" geom2="box" condim="4" friction=".5 .2 .01 0 0"/></contact></mujoco>')
    model = mujoco.MjModel.from_xml_string(pair)
    with pytest.raises(carom.InvalidInput, match="anisotropic"):
        carom.from_mujoco(model, falling(model))
    with pytest.raises(carom.InvalidInput, match=r"qvel\[2\] of state 0 is nan"):
        carom.from_mujoco(box(), qpos=[0, 0, 0.2, 1, 0, 0, 0], qvel=[0, 0, np.nan, 0, 0, 0])
    with pytest.raises(carom.InvalidInput, match="reduce"):
        carom.from_mujoco(box(), falling(box()), reduce="corners")


PAIR = """
<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/><body name="box" pos="0 0 .2004"><freejoint/>
<geom name="box" type="box" size=".5 .3 .2"/></body></worldbody>
<contact><pair geom1="floor" geom2="box"/></contact></mujoco>"""


def test_activation_widens_explicit_pairs_too():
    model = mujoco.MjModel.from_xml_string(PAIR)
    assert carom.from_mujoco(model, falling(model), activation=1e-3).contacts == 4
    assert carom.from_mujoco(model, falling(model)).contacts == 0
    assert (model.pair_gap == 0.0).all()


def test_contacts_by_the_time_to_them():
    """0.4 mm at 1 m/s: in 0.4 ms."""
    model = mujoco.MjModel.from_xml_string(PAIR)
    assert carom.from_mujoco(model, falling(model), time_to_contact=1e-3).contacts == 4
    assert carom.from_mujoco(model, falling(model), time_to_contact=3e-4).contacts == 0
    assert carom.from_mujoco(model, falling(model, 1.0), time_to_contact=1e-3).contacts == 0
    turned = falling(model, 0.0)
    turned.qvel[4] = 1.0  # about y: one side comes down
    assert carom.from_mujoco(model, turned, time_to_contact=1e-3).contacts == 2


def test_joint_limits_are_no_deeper_than_contacts_may_be():
    model = mujoco.MjModel.from_xml_string(LEG)
    deep = {"qpos": [0.0, -0.01], "qvel": [0.0, -1.0]}
    assert carom.from_mujoco(model, **deep).contacts == 1
    assert carom.from_mujoco(model, qpos=[0.0, -0.65], qvel=[0.0, -1.0]).contacts == 1
    with pytest.raises(carom.InvalidInput, match="knee lower.*max_penetration"):
        carom.from_mujoco(model, **deep, max_penetration=1e-3)
    with pytest.raises(carom.InvalidInput, match="knee lower"):  # more than half a turn
        carom.from_mujoco(model, qpos=[0.0, -3.2], qvel=[0.0, -1.0])


def test_depth_goes_by_the_size_of_the_smaller_body():
    """At a plane a third of the diameter of its geoms, at most 4 cm."""
    for depth, taken in ((0.039, True), (0.041, False)):
        model = box(z=0.2 - depth)
        if taken:
            assert carom.from_mujoco(model, falling(model)).distance.min() == pytest.approx(-depth)
        else:
            with pytest.raises(carom.InvalidInput, match="floor/box"):
                carom.from_mujoco(model, falling(model))
    small = BOX.replace('size=".5 .3 .2"', 'size=".01 .01 .01"')
    model = mujoco.MjModel.from_xml_string(small.format(z=-0.002, condim=3, cone="elliptic", mu=0.7))
    with pytest.raises(carom.InvalidInput, match="0.0115"):  # of a diameter of 34.6 mm
        carom.from_mujoco(model, falling(model))


def test_ball_joints_and_tendons_have_limits_where_they_are_active():
    ball = LEG.replace('type="hinge" axis="0 1 0"', 'type="ball"').replace('range="0 2"', 'range="0 1"')
    model = mujoco.MjModel.from_xml_string(ball)
    turn = np.array([np.cos(0.5), 0.0, np.sin(0.5), 0.0])  # 1 rad about y
    free = carom.from_mujoco(model, qpos=[0.0, 1.0, 0.0, 0.0, 0.0], qvel=[0.0, 0.0, 1.0, 0.0])
    held = carom.from_mujoco(model, qpos=[0.0, *turn], qvel=[0.0, 0.0, 1.0, 0.0])
    assert free.contacts == 0 and held.contacts == 1 and held.contact_names == ("knee",)
    np.testing.assert_allclose(held.normal_jacobian[0, 0], [0.0, 0.0, -1.0, 0.0], atol=1e-12)
    tendon = LEG.replace("</mujoco>", '<tendon><fixed name="cord" limited="true" range="-1 .5"><joint joint="slide" coef="1"/>'
                         '<joint joint="knee" coef=".5"/></fixed></tendon></mujoco>')
    model = mujoco.MjModel.from_xml_string(tendon)
    assert carom.from_mujoco(model, qpos=[0.0, 0.5], qvel=[0.0, 0.0]).contacts == 0
    held = carom.from_mujoco(model, qpos=[0.2, 0.6], qvel=[1.0, 0.0])
    assert held.contact_names == ("cord upper",)
    np.testing.assert_allclose(held.normal_jacobian[0, 0], [-1.0, -0.5], atol=1e-12)


def test_a_bad_state_leaves_the_others():
    model = box()
    qpos = np.tile([0, 0, 0.2, 1, 0, 0, 0], (4, 1)).astype(float)
    qpos[1, 2], qpos[2, 0] = 0.1, np.nan
    qvel = np.zeros((4, 6))
    qvel[:, 2] = -1.0
    buckets = carom.from_mujoco(model, qpos=qpos, qvel=qvel)
    assert [(each.contacts, each.index.tolist()) for each in buckets] == [(4, [0, 3])]
    assert buckets.states.reasons() == {"taken": 2, "too_deep": 1, "invalid": 1}
    assert "floor/box" in buckets.why[1] and buckets.why[2] == "qpos[0] of state 2 is nan: must be finite"
    with pytest.raises(carom.InvalidInput, match="floor/box"):
        carom.from_mujoco(model, qpos=qpos, qvel=qvel, on_error="raise")


def test_every_state_of_a_bucket_has_its_own_step():
    """Of one bucket the fastest state is 2,000 times as fast as the slowest: with its step alone the
    slowest would end in a single jump each time."""
    model = box()
    qpos = np.tile([0, 0, 0.2, 1, 0, 0, 0], (2, 1)).astype(float)
    qvel = np.zeros((2, 6))
    qvel[:, 2], qvel[:, 3] = [-2.0, -0.001], [1.0, 0.0005]
    (bucket,) = carom.from_mujoco(model, qpos=qpos, qvel=qvel)
    run = carom.impact.sample(bucket, samples=512, method="lcp")
    alone = carom.impact.sample(bucket[1], samples=512, method="lcp", first_problem=1)
    assert run.summary["step_size"][0] > 1000 * run.summary["step_size"][1] > 0.0
    assert (run.samples.velocity[1] == alone.samples.velocity[0]).all()
    shared = carom.impact.sample(bucket, samples=512, method="lcp", step_size=float(run.summary["step_size"][0]))
    own, fewer = (len(np.unique(each.samples.velocity[1].round(12), axis=0)) for each in (run, shared))
    assert own > 100 > 10 * fewer


def test_what_is_taken_for_a_robot():
    """Events and 8 directions up to 16 contacts, else lcp with 8; what is given stays."""
    model = box()
    problems = carom.from_mujoco(model, falling(model))
    run = carom.impact.sample(problems, samples=64)
    assert run.settings["method"] == "events" and run.settings["friction_directions"] == 8
    assert "events" in repr(run) and "8 friction directions" in repr(run)
    given = carom.impact.sample(problems, samples=64, friction_directions=4, step_size=0.5)
    assert given.settings["method"] == "lcp" and given.settings["friction_directions"] == 4
    wide = carom.impact.sample(problems.padded(17), samples=64)
    assert wide.settings["method"] == "lcp" and wide.settings["friction_directions"] == 8
    assert carom.impact.sample("cube_drop", samples=8).settings["method"] == "lcp"


def test_points_between_others_are_left_out():
    from carom._reduce import hull as _hull

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
    run = carom.impact.sample(problems, samples=512, step_size=2.0, max_steps=40, mode_table=True, friction_directions=4)
    said = said[0] if isinstance(said, list) else said
    assert "contacts: floor/box 1, floor/box 2, floor/box 3, floor/box 4" in command("impact", file, "--samples", 8)
    assert carom.load(file).contact_names == problems.contact_names
    assert said["mode_counts"] == run.mode_names() and said["max_residual"] == run.summary["max_residual"][0]


# Half as high as 0.2, or a ground whose top is at z = 0.
TOPS = {
    "sphere": 'type="sphere" size=".2"', "capsule": 'type="capsule" size=".1 .1"', "ellipsoid": 'type="ellipsoid" size=".3 .3 .2"',
    "cylinder": 'type="cylinder" size=".3 .2"', "box": 'type="box" size=".5 .3 .2"', "mesh": 'type="mesh" mesh="block"',
}
GROUNDS = {
    "plane": 'type="plane" size="5 5 .1"', "hfield": 'type="hfield" hfield="flat"', "box": 'type="box" size="5 5 .5" pos="0 0 -.5"',
    "mesh": 'type="mesh" mesh="slab" pos="0 0 -.5"', "cylinder": 'type="cylinder" size="5 .5" pos="0 0 -.5"',
    "sphere": 'type="sphere" size=".5" pos="0 0 -.5"', "capsule": 'type="capsule" size=".3 .2" pos="0 0 -.5"',
    "ellipsoid": 'type="ellipsoid" size=".7 .7 .5" pos="0 0 -.5"',
}
SHAPES = """<mujoco><asset><hfield name="flat" nrow="4" ncol="4" size="5 5 1 .1"/>
<mesh name="block" vertex="-.5 -.3 -.2 .5 -.3 -.2 -.5 .3 -.2 .5 .3 -.2 -.5 -.3 .2 .5 -.3 .2 -.5 .3 .2 .5 .3 .2"/>
<mesh name="slab" vertex="-5 -5 -.5 5 -5 -.5 -5 5 -.5 5 5 -.5 -5 -5 .5 5 -5 .5 -5 5 .5 5 5 .5"/></asset>
<worldbody>{bodies}</worldbody></mujoco>"""


@pytest.mark.parametrize("below", [1e-5, 1e-3])
@pytest.mark.parametrize("ground", list(GROUNDS))
@pytest.mark.parametrize("top", list(TOPS))
def test_normals_are_right_for_every_pair_of_shapes_in_both_orders(top, ground, below):
    """What falls at 1 m/s comes nearer at 1 m/s, wherever it stands in the model."""
    falls = f'<body name="body" pos="0 0 {0.2 - below}"><freejoint/><geom name="top" {TOPS[top]}/></body>'
    joint = "" if ground in ("plane", "hfield") else "<freejoint/>"
    still = f'<geom name="ground" {GROUNDS[ground]}/>'
    still = f'<body name="still">{joint}{still}</body>' if joint else still
    for bodies in (falls + still, still + falls):
        model = mujoco.MjModel.from_xml_string(SHAPES.format(bodies=bodies))
        data = mujoco.MjData(model)
        first = model.jnt_dofadr[model.body_jntadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "body")]]
        data.qvel[first : first + 3] = 0.1, 0.0, -1.0
        problems = carom.from_mujoco(model, data)
        normal, tangent = problems.contact_velocity()
        assert problems.contacts >= 1
        np.testing.assert_allclose(normal, -1.0, atol=5e-3)  # pairs of ellipsoids are found by iteration
        np.testing.assert_allclose(problems.distance.min(), -below, atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(tangent.reshape(-1, 2), axis=1), 0.1, atol=4e-2)
