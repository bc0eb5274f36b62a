"""carom.robot: states of a robot as impacts, stances, steps and motions."""

from __future__ import annotations

import numpy as np
import pytest
import robot_models

import carom

mujoco = pytest.importorskip("mujoco")

BOX = """
<mujoco model="box"><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
<body name="box" pos="0 0 .2"><freejoint/><geom name="box" type="box" size=".5 .3 .2" friction=".6" mass="2"/></body>
</worldbody></mujoco>"""
TWO = """
<mujoco model="two"><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
<body name="left" pos="-1 0 .2"><freejoint/><geom name="left" type="box" size=".5 .3 .2" friction=".6"/></body>
<body name="right" pos="1 0 .1"><freejoint/><geom name="right" type="sphere" size=".1"/></body></worldbody></mujoco>"""


def model_of(text=BOX):
    return mujoco.MjModel.from_xml_string(text)


def states(count=4, down=-1.0):
    qpos = np.tile([0, 0, 0.2, 1, 0, 0, 0], (count, 1)).astype(float)
    qvel = np.zeros((count, 6))
    qvel[:, 2] = down
    return qpos, qvel


def test_states_say_what_became_of_them():
    robot = carom.robot(model_of())
    qpos, qvel = states(5)
    qpos[1, 2], qpos[2, 2], qpos[3, 2] = 0.19, 0.1, 0.5
    found = robot.impacts(qpos, qvel)
    assert found.reasons() == {"taken": 3, "no_contact": 1, "too_deep": 1}
    assert found.accepted.tolist() == [True, True, False, True, True]
    assert found.why[2].startswith("floor/box is 0.1 m deep") and found.why[0] == ""
    assert found.depth[1] == pytest.approx(0.01) and [each.index.tolist() for each in found.parts] == [[0, 1, 4]]
    contacts = found.contacts(1)
    assert len(contacts) == 4 and contacts[0].name == "floor/box" and contacts[0].bodies == ("world", "box")
    assert contacts[0].normal_velocity == pytest.approx(-1.0) and contacts[0].distance == pytest.approx(-0.01)
    np.testing.assert_allclose(contacts[0].frame[0], [0.0, 0.0, 1.0], atol=1e-12)
    assert sorted(np.abs(np.array([each.point for each in contacts]))[:, 0].round(6)) == [0.5] * 4
    assert found.contacts(3) == [] and found[1].contacts == 4
    with pytest.raises(carom.InvalidInput, match="deep"):
        found[2]
    with pytest.raises(carom.InvalidInput, match="deep"):
        robot.impacts(qpos, qvel, on_error="raise")
    assert "1 refused" in repr(found) and "box" in repr(robot)


def test_impacts_of_states_are_sampled_and_come_back_in_the_robots_velocities():
    robot = carom.robot(model_of())
    qpos, qvel = states(3)
    qpos[1, 2], qpos[2, 2] = 0.5, 0.1
    found = robot.impacts(qpos, qvel)
    run = carom.impact.sample(found, samples=256)
    assert run.taken == ("4 contacts: events, 16 friction directions, 4 turns",) and len(run) == 3
    after = run.velocity(0)
    turns = [run, *run.turned]
    assert after.shape == (256, 6) and [each.runs[0].samples.velocity.shape[1] for each in turns] == [64] * 4
    np.testing.assert_array_equal(after, np.concatenate([each.runs[0].samples.velocity[0] for each in turns]))
    np.testing.assert_array_equal(run.status, [0])
    modes = run.modes(0)
    assert list(modes) == [f"floor/box {i}" for i in (1, 2, 3, 4)]
    assert all(sum(shares.values()) == pytest.approx(1.0) for shares in modes.values())
    np.testing.assert_array_equal(run.velocity(1), qvel[1:2])  # in flight
    with pytest.raises(carom.InvalidInput, match="deep"):
        run.velocity(2)
    alone = carom.impact.sample(found[0], samples=256)  # one polygon of 8
    plain = carom.impact.sample(found, samples=256, turns=1, friction_directions=8)
    np.testing.assert_array_equal(alone.samples.velocity, plain.runs[0].samples.velocity)
    assert carom.impact.sample(found, samples=2).velocity(0).shape == (2, 6)


def test_lists_of_problems_are_one_batch():
    parts = [carom.model("rocking_block", n=2), carom.model("cube_drop")]
    run = carom.impact.sample(parts, samples=64)
    assert len(run) == 3 and run.part.tolist() == [0, 0, 1] and run.place.tolist() == [0, 1, 0]
    other = carom.impact.sample(parts[1], samples=64, first_problem=2)
    np.testing.assert_array_equal(run.velocity(2), other.samples.velocity[0])
    assert "3 problems in 2 shapes" in repr(run)


def test_what_moves_apart_is_solved_apart():
    robot = carom.robot(model_of(TWO))
    data = mujoco.MjData(robot._ready.model)
    qpos = np.array(data.qpos)
    qvel = np.zeros(12)
    qvel[[2, 8, 6]] = -1.0, -2.0, 0.5
    found = robot.impacts(qpos, qvel)
    assert found.islands.tolist() == [2] and sorted(each.contacts for each in found.parts) == [1, 4]
    assert all(each.velocities == 6 for each in found.parts)
    run = carom.impact.sample(found, samples=512)
    after = run.velocity(0)
    assert after.shape == (512, 12)
    alone = carom.robot(model_of()).impacts(*states(1))
    box = carom.impact.sample(alone, samples=2048).velocity(0)
    for i in (2, 3, 4):  # the same set as the box's that is alone
        assert after[:, i].max() == pytest.approx(box[:, i].max(), abs=0.1)
    whole = robot.impacts(qpos, qvel, islands=False)
    together = carom.impact.sample(whole, samples=512).velocity(0)
    np.testing.assert_allclose(together[:, 6:].max(axis=0), after[:, 6:].max(axis=0), atol=0.05)
    np.testing.assert_allclose(together[:, 6:].min(axis=0), after[:, 6:].min(axis=0), atol=0.05)


def test_what_nothing_touches_keeps_its_velocity():
    robot = carom.robot(model_of(TWO))
    qpos = np.array(mujoco.MjData(robot._ready.model).qpos)
    qpos[9] = 3.0
    qvel = np.zeros(12)
    qvel[[2, 8, 6]] = -1.0, -2.0, 0.5
    found = robot.impacts(qpos, qvel)
    assert found.islands.tolist() == [1] and found.parts[0].velocities == 6
    after = carom.impact.sample(found, samples=32).velocity(0)
    np.testing.assert_array_equal(after[:, 6:], np.tile(qvel[6:], (32, 1)))


def test_true_cones_end_inside_the_set():
    """Outcomes of many small steps with Coulomb's disc, which share nothing with the library."""
    import true_cone

    robot = carom.robot(model_of())
    for seed in range(3):
        qpos, qvel = states(1)
        qvel += 0.5 * np.random.default_rng(seed).normal(size=6)
        found = robot.impacts(qpos, qvel)
        problem = found[0]
        kept = carom.impact.sample(found, samples=2048).velocity(0)
        after = true_cone.outcomes(*(getattr(problem, name)[0] for name in (
            "mass_matrix", "normal_jacobian", "tangent_jacobian", "friction", "velocity")), count=128, steps=40, iterations=30)
        assert np.isfinite(after).all(axis=1).mean() > 0.95
        beyond, _, _ = true_cone.outside(after, kept[np.isfinite(kept).all(axis=1)], problem.mass_matrix[0], problem.velocity[0])
        assert beyond < 0.03  # of the largest change; 8 directions stand for the disc


def test_tangents_point_along_the_slip():
    robot = carom.robot(model_of())
    qpos, qvel = states(1)
    qvel[0, :2], qvel[0, 5] = [0.3, -0.4], 0.2
    problem = robot.impacts(qpos, qvel)[0]
    _, tangent = problem.contact_velocity()
    tangent = tangent.reshape(-1, 2)
    assert (tangent[:, 0] > 0.1).all() and np.abs(tangent[:, 1]).max() < 1e-12
    plain = robot.impacts(qpos, qvel, align=False)[0]
    _, other = plain.contact_velocity()
    np.testing.assert_allclose(np.linalg.norm(other.reshape(-1, 2), axis=1), tangent[:, 0], atol=1e-12)


TABLE = """
<mujoco model="table"><worldbody><geom name="floor" type="plane" size="5 5 .1" friction=".5"/>
<body name="table" pos="0 0 0.1"><freejoint/>{geoms}</body></worldbody></mujoco>"""


def table(points):
    """A body on small spheres, its geoms, and one contact at each."""
    geoms = "".join(f'<geom type="sphere" size=".1" pos="{x} {y} {z}" friction=".5"/>' for x, y, z in points)
    return carom.robot(model_of(TABLE.format(geoms=geoms)))


def wrenches(contacts, sides=16):
    """Generators of the cones, columns of force and moment."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    columns = []
    for each in contacts:
        across = np.outer(np.cos(angle), each.frame[1]) + np.outer(np.sin(angle), each.frame[2])
        force = each.frame[0] + each.friction * across
        columns += [np.concatenate([f, np.cross(each.point, f)]) for f in force]
    return np.array(columns).T


def test_reduction_keeps_the_wrench_cone_within_its_bound():
    """Every force through a contact that was left out is one through those that stay, up to the moment said."""
    optimize = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(4)
    corners = [(x, y, 0.0) for x in (-1, 1) for y in (-1, 1)]
    inner = [(*rng.uniform(-0.9, 0.9, 2), rng.uniform(0.0, 5e-5)) for _ in range(8)]
    near = [(1.0 - 3e-5, 1.0 - 4e-5, 2e-5)]
    qpos, qvel = [0, 0, 0.1, 1, 0, 0, 0], [0.0, 0, -1, 0, 0, 0]
    robot = table(corners + inner + near)
    full = robot.impacts(qpos, qvel, reduce=None)
    found = robot.impacts(qpos, qvel)
    assert len(full.contacts(0)) == 13 and len(found.contacts(0)) == 4 and found.merged[0] == 9
    assert 0.0 < found.reduction_moment[0] < 2e-4 and found.reduction_turn[0] < 1e-9
    kept = wrenches(found.contacts(0))
    for wanted in wrenches(full.contacts(0)).T:
        scale = np.linalg.norm(wanted[:3])
        weights, residual = optimize.nnls(kept, wanted)
        assert residual <= found.reduction_moment[0] * scale * (1 + 1e-9)
        assert np.linalg.norm((kept @ weights - wanted)[:3]) <= found.reduction_moment[0] * scale


def test_corners_of_points_in_rows_are_kept():
    """Of grids in any direction: the support of what stays is that of all, up to what counts as near."""
    from carom._reduce import NEAR, patch_corners

    rng = np.random.default_rng(5)
    angle = np.linspace(0.0, 2.0 * np.pi, 360, endpoint=False)
    directions = np.stack([np.cos(angle), np.sin(angle)])
    left_out = 0
    for _ in range(2000):
        pos = np.zeros((int(rng.integers(3, 20)), 3))
        pos[:, :2] = 0.05 * rng.integers(0, 4, (len(pos), 2)) + rng.choice([0.0, 3e-5]) * rng.normal(size=(len(pos), 2))
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        frame = np.tile(turn[[2, 0, 1]], (len(pos), 1, 1))
        stays, moment, _ = patch_corners(pos @ turn, frame, np.full(len(pos), 0.5), np.array([0, len(pos)]))
        lost = (pos[:, :2] @ directions).max(axis=0) - (pos[stays, :2] @ directions).max(axis=0)
        assert lost.max() <= moment[0] + 1e-12 and moment[0] <= NEAR
        left_out += int((~stays).sum())
    assert left_out > 5000


def test_forty_contacts_are_sampled_and_their_modes_counted():
    """Of more contacts than a word of modes has room for; each has its own plane, so that none is left out."""
    angle = 2.0 * np.pi * np.arange(40) / 40
    robot = table([(2.0 * np.cos(a), 2.0 * np.sin(a), -2e-4 * (7 * i % 40)) for i, a in enumerate(angle)])
    states = robot.impacts([0, 0, 0.1, 1, 0, 0, 0], [0.2, 0, -1, 0.1, 0, 0])
    assert [part.contacts for part in states.parts] == [40] and states.merged[0] == 0
    run = carom.impact.sample(states, samples=64)
    assert run.runs[0].settings["method"] == "lcp" and not run.runs[0].mode_names()
    assert len(run.runs[0].summary["failed"]) == 1 and run.runs[0].summary["failed"][0] == 0
    after = run.velocity(0)
    after = after[np.isfinite(after).all(axis=1)]
    shares = run.modes(0)
    assert len(shares) == 40 and len(after) > 0
    for contact, share in zip(states.contacts(0), shares.values()):
        point = contact.point - [0, 0, 0.1]  # of the body, which stands upright
        speed = after[:, :3] + np.cross(after[:, 3:], point)
        opens = speed[:, 2] > 1e-6
        assert share["separating"] == pytest.approx(opens.mean())
        slips = np.linalg.norm(speed[:, :2], axis=1) > 1e-6
        assert share["sliding"] == pytest.approx((~opens & slips).mean())


LINKAGE = """
<mujoco model="linkage"><option gravity="0 0 -9.81"/><worldbody><geom name="floor" type="plane" size="5 5 .1" pos="0 0 -.5"/>
<body pos="0 0 0"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 .05" size=".02"/>
<body pos=".3 0 .05"><joint type="hinge" axis="{off} 1 {off}"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".02"/>
<body pos="0 0 -.4"><joint type="hinge" axis="0 1 {off}"/><geom type="capsule" fromto="0 0 0 -.2 0 .1" size=".02"/></body>
</body></body><body name="frame" pos=".1 0 -.25"/></worldbody>
<contact><exclude body1="world" body2="frame"/></contact>
<equality><connect body1="frame" body2="{last}" anchor="0 0 0"/></equality></mujoco>"""


@pytest.mark.parametrize("off", [0.0, 1e-5])
def test_planar_linkages_move_whatever_the_last_digits_of_their_axes(off):
    """A loop of three links has one degree of freedom; three rows for three velocities would lock it."""
    text = LINKAGE.format(off=off, last="tip").replace('<body pos="0 0 -.4">', '<body name="tip" pos="0 0 -.4">')
    model = model_of(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    E = np.array(data.efc_J).reshape(-1, 3)[:3]
    flat = E[[0, 2]]  # in the plane
    qvel = np.linalg.svd(flat)[2][2]  # along the loop
    states = carom.robot(model).impacts(data.qpos, qvel)
    if off == 0.0:
        assert np.abs(E[1]).max() < 1e-12
    else:
        assert 1e-7 < np.abs(E[1]).max() < 1e-4
    np.testing.assert_allclose(states.velocity[0], qvel, atol=1e-9)
    assert states.projected[0] < 1e-12
    problem = carom.from_mujoco(model, qpos=data.qpos, qvel=qvel)
    assert problem.velocities == 1
    np.testing.assert_allclose(np.abs(problem.lift[0][:, 0]), np.abs(qvel), atol=1e-9)


def test_states_of_mjx_are_those_of_mujoco():
    """One state and a batch of them from MJX; its Model is refused with what to give instead."""
    mjx = pytest.importorskip("mujoco.mjx")
    jax = pytest.importorskip("jax")
    model = model_of(TABLE.format(geoms='<geom type="box" size=".2 .2 .1" friction=".5"/>'))
    there = mjx.put_model(model)
    robot = carom.robot(model)
    heights, speeds = np.array([0.1, 0.0995, 0.3]), np.array([-1.0, -0.5, -0.2])

    def state(height, speed):
        data = mjx.make_data(there)
        return mjx.kinematics(there, data.replace(qpos=data.qpos.at[2].set(height), qvel=data.qvel.at[2].set(speed)))

    batch = jax.vmap(state)(heights, speeds)
    found = robot.impacts(batch)
    qpos = np.tile([0, 0, 0, 1.0, 0, 0, 0], (3, 1))
    qpos[:, 2] = heights
    qvel = np.zeros((3, 6))
    qvel[:, 2] = speeds
    own = robot.impacts(qpos.astype(np.float32), qvel.astype(np.float32))
    assert found.status.tolist() == own.status.tolist() == [0, 0, 1]
    np.testing.assert_array_equal(found.row_distance, own.row_distance)
    assert len(robot.impacts(jax.tree.map(lambda each: each[0], batch)).contacts(0)) == 4
    with pytest.raises(carom.InvalidInput, match="give"):
        carom.robot(there)


def test_states_of_warp_are_those_of_mujoco():
    """Worlds of MuJoCo Warp, in its own arrays, after its own kinematics."""
    warp = pytest.importorskip("warp")
    mujoco_warp = pytest.importorskip("mujoco_warp")
    model = model_of(TABLE.format(geoms='<geom type="box" size=".2 .2 .1" friction=".5"/>'))
    robot = carom.robot(model)
    qpos = np.tile(np.array([0, 0, 0, 1, 0, 0, 0], np.float32), (3, 1))
    qpos[:, 2] = 0.1, 0.0995, 0.3
    qvel = np.zeros((3, 6), np.float32)
    qvel[:, 2] = -1.0, -0.5, -0.2
    there = mujoco_warp.put_model(model)
    worlds = mujoco_warp.make_data(model, nworld=3)
    warp.copy(worlds.qpos, warp.array(qpos, dtype=float))
    warp.copy(worlds.qvel, warp.array(qvel, dtype=float))
    mujoco_warp.kinematics(there, worlds)
    found, own = robot.impacts(worlds), robot.impacts(qpos, qvel)
    assert found.status.tolist() == own.status.tolist() == [0, 0, 1]
    np.testing.assert_array_equal(found.row_distance, own.row_distance)
    np.testing.assert_array_equal(found.velocity, own.velocity)
    with pytest.raises(carom.InvalidInput, match="give"):
        carom.robot(there)


def test_crowded_states_are_made_coarser_as_far_as_need_be_and_say_so():
    """40 points on a circle: as few of them as an impact may have, each force within the bound."""
    optimize = pytest.importorskip("scipy.optimize")
    angle = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    robot = table([(0.05 * np.cos(a), 0.05 * np.sin(a), 0.0) for a in angle])
    qpos, qvel = [0, 0, 0.1, 1, 0, 0, 0], [0.0, 0, -1, 0, 0, 0]
    found = robot.impacts(qpos, qvel)
    full = robot._ready.collected(np.array([qpos], dtype=float), np.array([qvel]), carom._states.Options(time_to_contact=1e-3))
    contacts = found.contacts(0)
    assert len(full.rows) == 40 and 8 <= len(contacts) <= 16 and found.merged[0] == 40 - len(contacts)
    assert 1e-3 < found.reduction_moment[0] <= 6e-3
    kept = wrenches(contacts)
    for point in full.rows.pos:
        wanted = np.concatenate([[0.0, 0.0, 1.0], np.cross(point, [0.0, 0.0, 1.0])])
        assert optimize.nnls(kept, wanted)[1] <= found.reduction_moment[0] * (1 + 1e-9)


def test_corners_and_other_heights_stay():
    """What is not between others is left: a corner, another height, another friction."""
    robot = table([(x, y, z) for x, y, z in ((-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0.0, 0.0, -0.001))])
    found = robot.impacts([0, 0, 0.1, 1, 0, 0, 0], [0.0, 0, -1, 0, 0, 0])
    assert len(found.contacts(0)) == 5 and found.merged[0] == 0 and found.reduction_moment[0] == 0.0


def test_arrays_of_other_libraries_and_objects_with_both():
    robot = carom.robot(model_of())
    qpos, qvel = states(3)
    expected = robot.impacts(qpos, qvel)
    data = mujoco.MjData(robot._ready.model)
    data.qvel[2] = -1.0
    assert robot.impacts(data).parts[0].contacts == 4

    class World:
        def __init__(self, wrap):
            self.qpos, self.qvel = wrap(qpos), wrap(qvel)

    wraps = [lambda a: a]
    try:
        import jax.numpy

        wraps.append(jax.numpy.asarray)
    except ImportError:
        pass

    class Warp:  # as Warp's arrays
        def __init__(self, array):
            self.array = array

        def numpy(self):
            return self.array

    for wrap in [*wraps, Warp]:
        found = robot.impacts(World(wrap))
        np.testing.assert_allclose(found.parts[0].normal_jacobian, expected.parts[0].normal_jacobian, atol=1e-6)


def test_models_in_files_and_holders(tmp_path):
    (tmp_path / "box.xml").write_text(BOX)
    assert carom.robot(tmp_path / "box.xml").name == "box"

    class Environment:
        unwrapped = None
        model = model_of()

    assert carom.robot(Environment()).name == "box"
    assert carom.robot(mujoco.MjSpec.from_string(BOX)).velocities == 6
    with pytest.raises(carom.InvalidInput, match="no such file"):
        carom.robot(tmp_path / "none.xml")
    with pytest.raises(carom.InvalidInput, match="MjModel"):
        carom.robot(3)


URDFS = ("talos_reduced.urdf", "solo12.urdf", "bolt.urdf", "go2.urdf", "a1.urdf", "icub_reduced.urdf")


@pytest.mark.parametrize("name", URDFS)
def test_robots_of_urdf_files_land_on_the_ground(name):
    """Meshes and all: what touches approaches when the robot falls, and separates in no sample."""
    pin = pytest.importorskip("pinocchio")
    file = robot_models.urdf(name)
    if file is None:
        pytest.skip("example-robot-data is not installed")
    robot = carom.robot(file, packages=robot_models.urdf_folders())
    model, lowest = robot._ready.model, []
    q = np.tile(pin.neutral(model), (8, 1))
    rng = np.random.default_rng(0)
    for each in q:
        each[:] = pin.integrate(model, each, np.concatenate([np.zeros(3), 0.05 * rng.normal(size=model.nv - 3)]))
        each[7:] = np.clip(each[7:], model.lowerPositionLimit[7:] + 0.01, model.upperPositionLimit[7:] - 0.01)
        robot._ready.pin.updateGeometryPlacements(model, robot._ready.data, robot._ready.geom, robot._ready.found, each)
        lowest.append(min((robot._ready.found.oMg[i].act(point))[2] for _, i, points in robot._ready.flat.values() for point in points)
                      if robot._ready.flat else 0.0)
    if not robot._ready.flat:
        pytest.skip("no polyhedra")
    q[:, 2] -= np.array(lowest) + 1e-4
    v = np.zeros((8, model.nv))
    for i in range(8):  # straight down in the world
        v[i, :3] = pin.Quaternion(q[i, 3:7]).toRotationMatrix().T @ [0.0, 0.0, -0.5]
    states = robot.impacts(q, v)
    assert states.accepted.all() and (states.row_normal_velocity[states.row_distance < 0.0] < 0.0).any()
    touching = np.array([name.endswith("/ground") for name in states.row_name])
    np.testing.assert_allclose(states.row_normal_velocity[touching], -0.5, atol=1e-9)
    run = carom.impact.sample(states, samples=32)
    assert all((part.summary["max_energy_ratio"] <= 1.0 + 1e-9).all() for part in run.runs)


def test_threads_change_nothing():
    robot = carom.robot(model_of())
    rng = np.random.default_rng(0)
    qpos, qvel = states(500)
    qpos[:, 2] += rng.uniform(-0.02, 0.02, 500)
    qvel += rng.normal(size=qvel.shape)
    one, two = (robot.impacts(qpos, qvel, threads=threads) for threads in (1, 2))
    assert (one.status == two.status).all() and len(one.parts) == len(two.parts)
    for a, b in zip(one.parts, two.parts):
        assert a.normal_jacobian.tobytes() == b.normal_jacobian.tobytes() and (a.index == b.index).all()


def test_contacts_are_looked_for_as_far_as_each_state_is_fast():
    # Boxes so near each other that MuJoCo finds many contacts, so that states are taken in groups of similar
    # speed. from_mujoco searches all states as far as the fastest one needs.
    boxes = "".join(f'<body pos="0 0 {0.05 + 0.1002 * k}"><freejoint/><geom type="box" size=".05 .05 .05" pos="0 0 0"/></body>'
                    for k in range(6))  # fmt: skip
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><geom type='plane' size='1 1 1'/>{boxes}"
        "<body pos='.2002 0 .1'><joint type='hinge' axis='0 1 0' pos='0 0 .1'/><geom type='box' size='.05 .05 .1'/>"
        "<body pos='-.1001 0 0'><joint type='slide' axis='1 0 0' range='-.1 .1' limited='true'/>"
        "<geom type='box' size='.05 .05 .1'/></body></body></worldbody></mujoco>"
    )
    rng = np.random.default_rng(3)
    data = mujoco.MjData(model)
    qpos = np.tile(data.qpos, (256, 1))
    qvel = rng.normal(size=(256, model.nv)) * 10.0 ** rng.uniform(-4, 2, (256, 1))
    robot = carom.robot(model)
    states = robot.impacts(qpos, qvel, reduce=None, islands=False, align=False, time_to_contact=1e-3)
    alone = carom.from_mujoco(model, qpos=qpos, qvel=qvel, time_to_contact=1e-3).states
    assert len(robot._ready._levels(mujoco.MjData(robot._ready.model), qpos, robot._ready.fastest(qvel) * 1e-3)) >= 3
    assert np.bincount(states.row_state).max() > np.bincount(alone.row_state).min() >= 0
    np.testing.assert_array_equal(states.row_state, alone.row_state)
    np.testing.assert_allclose(states.row_distance, alone.row_distance, atol=1e-12)
    np.testing.assert_array_equal(states.status, alone.status)


def test_a_stance_and_its_margin():
    robot = carom.robot(model_of())
    qpos, _ = states(2)
    qpos[1, 2] = 0.5
    stance = robot.posture(qpos)
    assert [each.contacts for each in stance.parts] == [4] and stance.weight == pytest.approx(2 * 9.81)
    np.testing.assert_allclose(stance.mass_centre[0], [0.0, 0.0, 0.2], atol=1e-12)
    margin = stance.margins()
    assert margin.shape == (2, 2) and np.isnan(margin[1]).all()
    assert margin[0, 0] - 1e-6 <= 0.3 <= margin[0, 1] + 1e-6  # the nearer side
    with pytest.raises(carom.InvalidInput, match="fixed base"):
        carom.robot(model_of(PENDULUM)).posture([0.0, 0.0])


PENDULUM = """
<mujoco model="arm"><compiler angle="radian"/><worldbody><geom name="floor" type="plane" size="5 5 .1" pos="0 0 -2"/>
<body name="upper" pos="0.1 0 0" euler="0.2 0.1 0.3"><joint name="a" type="hinge" axis="0 1 0" damping=".1" stiffness="2"/>
<geom type="capsule" fromto="0 0 0 0 0 -.4" size=".02" mass="1" contype="0" conaffinity="0"/>
<body name="lower" pos="0 0 -.4" euler="0.5 0 0"><joint name="b" type="hinge" axis="1 0 0" pos="0.02 0 0"/>
<geom type="capsule" fromto="0 0 0 .1 0 -.3" size=".02" mass=".5" contype="0" conaffinity="0"/>
<geom name="tip" type="sphere" size=".03" pos=".1 0 -.3" mass=".1"/></body></body></worldbody></mujoco>"""


def test_a_step_falls_and_lands():
    robot = carom.robot(model_of())
    qpos, qvel = states(2)
    qpos[1, 2] = 1.0
    found = robot.step(qpos, qvel, 1e-3)
    assert found.solved.all()
    np.testing.assert_allclose(found.qvel[1], [0, 0, -1 - 9.81e-3, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(found.qpos[1, 2], 1.0 - 1e-3 * (1 + 9.81e-3), atol=1e-9)
    assert -1.0 < found.qvel[0, 2] < -0.1  # four dampers of 1 kN s/m take up 2 kg within some steps
    for _ in range(200):
        found = robot.step(found.qpos, found.qvel, 1e-3)
    assert abs(found.qvel[0, 2]) < 1e-3 and 0.199 < found.qpos[0, 2] < 0.2


def test_a_motion_is_that_of_the_same_mechanism():
    """Mass matrix and forces of the tree are MuJoCo's own, and so is a fall."""
    model = model_of(PENDULUM)
    robot = carom.robot(model)
    rng = np.random.default_rng(1)
    qpos, qvel = rng.uniform(-1, 1, (3, 2)), rng.uniform(-1, 1, (3, 2))
    starts = robot.motion(qpos, qvel)
    data = mujoco.MjData(model)
    for i in range(3):
        terms = carom.motion.terms(starts[i])
        data.qpos[:], data.qvel[:] = qpos[i], qvel[i]
        mujoco.mj_forward(model, data)
        M = np.zeros((2, 2))
        mujoco.mj_fullM(model, data, M)
        np.testing.assert_allclose(terms.mass_matrix, M, atol=1e-12)
        np.testing.assert_allclose(terms.force, data.qfrc_passive - data.qfrc_bias, atol=1e-10)
        tip = data.geom_xpos[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, "tip")]
        np.testing.assert_allclose(terms.gap, tip[2] + 2.0 - 0.03, atol=1e-12)


def test_a_free_body_moves_as_it_does_there():
    model = model_of(BOX.replace('pos="0 0 .2"', 'pos="0 0 1" euler="30 20 10"'))
    robot = carom.robot(model)
    data = mujoco.MjData(model)
    data.qvel[:] = [0.3, -0.2, 0.5, 1.0, 2.0, -1.0]
    starts = robot.motion(data.qpos, data.qvel)
    terms = carom.motion.terms(starts)
    mujoco.mj_forward(model, data)
    M = np.zeros((6, 6))
    mujoco.mj_fullM(model, data, M)
    np.testing.assert_allclose(terms.mass_matrix, M, atol=1e-12)
    np.testing.assert_allclose(terms.force, data.qfrc_passive - data.qfrc_bias, atol=1e-10)
    run = carom.motion.simulate(starts, samples=1, duration=0.2)
    fall = np.array(data.qpos)
    model.opt.timestep = 1e-5
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    for _ in range(20000):
        mujoco.mj_step(model, data)
    np.testing.assert_allclose(run.position[0, 0], data.qpos, atol=1e-5)
    assert abs(fall[2] - data.qpos[2]) > 0.05


def test_motions_name_what_they_have_not():
    for change, word in (('armature="0.1"', "dof_armature"), ('limited="true" range="-1 1"', "range of b")):
        text = PENDULUM.replace('axis="1 0 0"', f'axis="1 0 0" {change}')
        with pytest.raises(carom.InvalidInput, match=word):
            carom.robot(model_of(text)).motion([0.0, 0.0])


def test_results_are_kept_in_files(tmp_path):
    pytest.importorskip("h5py")
    robot = carom.robot(model_of())
    qpos, qvel = states(2)
    qpos[1, 2] = 0.1
    found = robot.impacts(qpos, qvel)
    found.save(tmp_path / "states.h5")
    again = carom.load(tmp_path / "states.h5")
    assert repr(again) == repr(found) and again.contacts(0)[0].name == "floor/box" and again.why == found.why
    run = carom.impact.sample(found, samples=32)
    run.save(tmp_path / "run.h5")
    np.testing.assert_array_equal(carom.load(tmp_path / "run.h5").velocity(0), run.velocity(0))


def test_the_picture_of_modes():
    pytest.importorskip("matplotlib").use("Agg")
    run = carom.impact.sample(carom.robot(model_of()).impacts(*states(1)), samples=64)
    assert len(run.plot(0).patches) == 12


def test_the_settings_that_states_were_taken_with():
    found = carom.robot(model_of()).impacts(*states(1), time_to_contact=0.002)
    assert found.settings["time_to_contact"] == 0.002 and found.settings["reduce"] == "hull"
    with pytest.raises(carom.InvalidInput, match="activation"):
        carom.robot(model_of()).impacts(*states(1), activation=-1.0)


def test_turns_of_frictions_polygon_together_cover_the_discs_outcomes():
    """Independent outcomes with the true cone, of impacts whose slip turns: beyond one polygon's set, within that of
    eight turns of the same number of samples."""
    import true_cone

    rng = np.random.default_rng(3)
    alone, together = [], []
    for _ in range(5):
        m = int(rng.integers(1, 4))
        half = rng.normal(size=(6, 6))
        M, Jn, Jt = half @ half.T + 0.3 * np.eye(6), rng.normal(size=(m, 6)), rng.normal(size=(2 * m, 6))
        mu, v = rng.uniform(0.1, 0.4, m), rng.normal(size=6)
        v -= np.linalg.pinv(Jn) @ (Jn @ v + 1.0)
        problem = carom.problems.RobotProblems.of(M[None], Jn[None], Jt[None], mu[None], v[None])
        true = true_cone.outcomes(M, Jn, Jt, mu, v, count=64)
        for turns, found in ((1, alone), (8, together)):
            run = carom.impact.sample([problem], samples=1024, epsilon=0.0, turns=turns)
            after = run.velocity(0)
            assert len(after) == 1024 and np.isfinite(after).all()
            assert sum(next(iter(run.modes(0).values())).values()) == pytest.approx(1.0)
            found.append(true_cone.outside(true, after, M, v)[0])
    assert 0.05 < max(alone) < 0.09 and abs(max(together)) < 0.006
    with pytest.raises(carom.InvalidInput, match="turns"):
        carom.impact.sample(problem, turns=8)
    with pytest.raises(carom.InvalidInput, match="turns"):
        carom.impact.sample([problem], samples=4, turns=8)


STACK = """<mujoco><worldbody><geom name="table" type="box" size=".5 .5 .5" pos="0 0 -.5"/>
<body name="cube" pos="{x} {y} {z}"><freejoint/><geom name="cube" type="box" size=".05 .05 .05" mass="1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("at, taken", [((0.0, 0.0, 0.025), True), ((0.52, 0.0, 0.025), False), ((0.0, 0.0, -0.02), False)])
def test_deep_contacts_are_taken_where_no_other_way_apart_is_as_short(at, taken):
    """A cube of 0.1 m in a table: 25 mm deep on its top, the same near an edge 30 mm away, and 70 mm deep."""
    model = mujoco.MjModel.from_xml_string(STACK.format(x=at[0], y=at[1], z=at[2]))
    states = carom.robot(model).impacts(np.array(model.qpos0), np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0]))
    assert bool(states.accepted[0]) is taken, states.why[0]
    assert states.status[0] == (0 if taken else carom.robots.StateStatus.too_deep)
    if taken:
        assert states.depth[0] == pytest.approx(0.025)
        np.testing.assert_allclose(np.abs(states.row_frame[:, 0, 2]), 1.0)


@pytest.mark.parametrize("geom, reach", [
    ('type="sphere" size=".3"', 0.3), ('type="capsule" size=".1 .2"', 0.1 + 0.2 / 3**0.5), ('type="box" size=".1 .2 .3"', 0.6 / 3**0.5),
    ('type="cylinder" size=".3 .2"', 0.3 * (2 / 3) ** 0.5 + 0.2 / 3**0.5), ('type="ellipsoid" size=".1 .2 .2"', 0.3 / 3**0.5),
    ('type="mesh" mesh="m"', 0.5 / 3**0.5)])  # fmt: skip
def test_reach_of_geoms(geom, reach):
    """Along (1, 1, 1) / sqrt(3), about a place 1 m away along x."""
    from carom._clear import _support

    model = mujoco.MjModel.from_xml_string(
        '<mujoco><asset><mesh name="m" vertex="0 0 0 .5 0 0 0 .5 0 0 0 .5"/></asset><worldbody><body pos="1 0 0">'
        f'<freejoint/><geom {geom}/></body></worldbody></mujoco>')  # fmt: skip
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    way = np.ones((1, 3)) / 3**0.5
    assert _support(mujoco, model, data, 0, way)[0] == pytest.approx(reach + 1.0 / 3**0.5)


def test_a_goal_of_a_mocap_body_is_a_drive():
    text = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/><body name="goal" mocap="true" pos="0 0 1"/>
    <body name="hand" pos="0 0 .1"><freejoint/><geom size=".1" mass="2"/></body></worldbody>
    <equality><weld body1="goal" body2="hand"/></equality></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    robot = carom.robot(model)
    assert any("mocap" in note for note in robot.notes)
    fall = np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    states = robot.impacts(np.array(model.qpos0), fall)
    assert states.accepted.all() and states.projected[0] == 0.0
    np.testing.assert_allclose(states[0].mass_matrix[0, 2, 2], 2.0)
    run = carom.impact.sample(states, samples=16)
    np.testing.assert_allclose(run.velocity(0)[:, 2], 0.0, atol=1e-9)  # the floor stops it, the goal does not
    rigid = robot.impacts(np.array(model.qpos0), fall, goals="rigid")
    assert rigid.status[0] == carom.robots.StateStatus.off_equalities
    with pytest.raises(carom.InvalidInput, match="goals"):
        robot.impacts(np.array(model.qpos0), fall, goals="both")


@pytest.mark.parametrize("angle, taken", [(0.0, True), (-2.0, True), (-90.0, False)])
def test_limits_act_wherever_a_joint_is_beyond_them(angle, taken):
    """An arm whose range leaves out 0, where simulators start it; and one in degrees."""
    model = mujoco.MjModel.from_xml_string("""<mujoco><compiler angle="radian"/><worldbody><body><joint name="elbow" range="1.1 5.1"
    limited="true" axis="0 1 0"/><geom size=".05" pos=".3 0 0" mass="2"/></body></worldbody></mujoco>""")
    states = carom.robot(model).impacts([angle], [-3.0])
    assert bool(states.accepted[0]) is taken, states.why[0]
    if taken:
        assert states.contacts(0)[0].distance == pytest.approx(angle - 1.1)
        assert carom.impact.sample(states, samples=16).velocity(0) == pytest.approx(np.zeros((16, 1)), abs=1e-12)
    else:
        assert "elbow lower is 91.1 m or rad deep" in states.why[0]


def test_contacts_whose_normal_moves_nothing_are_left_out():
    """A disc that turns about the normal of its face on a plate, as links of arms do, and pushes a ball."""
    text = """<mujoco><worldbody><geom name="plate" type="box" size=".5 .5 .1" pos="0 0 -.1"/>
    <body name="disc" pos="0 0 .049"><joint axis="0 0 1"/><geom name="disc" type="box" size=".2 .1 .05" mass="1"/></body>
    <body name="ball" pos=".1 .149 .2"><freejoint/><geom name="ball" size=".05" pos="0 0 -.15" mass="1"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    robot = carom.robot(model)
    qvel = np.zeros(model.nv)
    qvel[0] = 1.0
    states = robot.impacts(np.array(model.qpos0), qvel)
    assert {each.name for each in states.contacts(0)} == {"ball/disc", "ball/plate"}
    assert len(robot.impacts(np.array(model.qpos0), qvel, reduce=None).contacts(0)) == 6
    run = carom.impact.sample(states, samples=64)
    assert run.status[0] == 0 and np.isfinite(run.velocity(0)).all()


def test_links_that_are_deep_in_each_other_as_built_do_not_touch():
    arm = """<mujoco><worldbody><body name="base"><geom name="base" type="box" size=".1 .1 .1" mass="1"/>
    <body name="middle" pos="0 0 .3"><joint axis="0 1 0"/><geom name="middle" size=".05" mass="1"/>
    <body name="hand" pos="0 .06 -.25"><joint axis="1 0 0" pos="0 0 .25"/><geom name="hand" size=".05" mass="1"/></body></body></body>
    <body name="ball" pos="0 0 {z}"><freejoint/><geom name="ball" size=".05" mass="1"/></body></worldbody></mujoco>"""
    robot = carom.robot(mujoco.MjModel.from_xml_string(arm.format(z=0.398)))
    assert any("hand/base" in note for note in robot.notes)
    q = np.array([0.0, 0.0, 0.0, 0.0, 0.398, 1.0, 0.0, 0.0, 0.0])
    states = robot.impacts(q, np.zeros(8))
    assert states.accepted.all() and [each.name for each in states.contacts(0)] == ["middle/ball"], states.contacts(0)
    assert robot.impacts(q, np.zeros(8), max_penetration=0.04).status[0] == carom.robots.StateStatus.too_deep  # asked for
    other = carom.robot(mujoco.MjModel.from_xml_string(arm.format(z=0.07)))  # bodies that no joint connects may be anywhere
    assert not any("ball" in note for note in other.notes)


def test_bases_without_mass_are_fixed_and_joints_without_mass_named(tmp_path):
    pytest.importorskip("pinocchio")
    link = '<link name="{0}"><inertial><mass value="{1}"/><inertia ixx="{1}" iyy="{1}" izz="{1}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = '<joint name="j" type="continuous"><parent link="world"/><child link="arm"/><axis xyz="0 0 1"/></joint>'

    def made(name, text, **settings):
        path = tmp_path / name
        path.write_text(f'<robot name="r">{text}</robot>')
        return carom.robot(path, **settings)

    whole = link.format("arm", 1.0) + '<link name="world"/>' + joint
    fixed = made("fixed.urdf", whole)
    assert fixed.velocities == 1 and any("fixed" in note for note in fixed.notes)
    with pytest.raises(carom.InvalidInput, match="moves no mass"):
        made("free.urdf", whole, floating=True)
    assert made("heavy.urdf", link.format("arm", 1.0) + link.format("world", 2.0) + joint).velocities == 7
    with pytest.raises(carom.InvalidInput, match="'j' moves no mass"):
        made("light.urdf", link.format("arm", 0.0) + link.format("world", 2.0) + joint)
    with pytest.raises(carom.InvalidInput, match="broken.urdf"):
        made("broken.urdf", '<link name="a"/><joint name="j" type="none"><parent link="a"/><child link="b"/></joint>')
