"""Own mechanisms, their equations at a state, replays and reachable sets."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import ROOT

import carom

HOPPER = json.loads((ROOT / "examples/data/hopper.json").read_text())


def hopper(**more):
    return carom.motion.tree(HOPPER["mechanism"], HOPPER["position"], HOPPER["velocity"], name="hopper", **more)


def test_a_tree_is_the_commands(command):
    said = command("motion", ROOT / "examples/data/hopper.json", "--samples", 64, "--json")["problems"][0]
    ran = carom.motion.simulate(hopper(), samples=64, duration=2.0, step_size=2.0)
    assert (ran.end == carom.motion.MotionEnd.duration).sum() == said["ended"]["duration"]
    assert ran.position[0].min(axis=0).tolist() == said["final"]["position_min"]
    assert ran.velocity[0].max(axis=0).tolist() == said["final"]["velocity_max"]
    assert int(ran.impacts.sum()) == said["impacts"]


SPINNER = {
    "dimension": 3,
    "links": [{"name": "body", "mass": 2.0, "inertia": [0.2, 0.3, 0.4], "mass_centre": [0.0, 0.0, 0.0]},
              {"name": "arm", "parent": "body", "place": [0.2, 0.0, 0.1], "axis": [0.0, 1.0, 0.0], "mass": 0.5,
               "inertia": [0.02, 0.02, 0.01, 0.0, 0.0, 0.0], "mass_centre": [0.2, 0.0, 0.0], "damping": 0.05}],
    "contacts": [{"name": f"foot {i}", "link": "body", "point": [x, y, -0.2], "friction": 0.5}
                 for i, (x, y) in enumerate(((-0.3, -0.3), (0.3, -0.3), (0.0, 0.4)))],
}  # fmt: skip


def test_a_tree_in_space_is_the_commands(command, tmp_path):
    position, velocity = [0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.3], [0.2, 0.0, 0.0, 0.1, 0.4, 0.0, 1.0]
    spinner = carom.motion.tree(SPINNER, position, velocity, name="spinner")
    at = carom.motion.terms(spinner)
    assert at.jacobian.shape == (3, 3, 7) and abs(at.mass_matrix[0, 0] - 2.5) < 1e-12
    np.testing.assert_allclose(at.gap, 0.3)
    file = tmp_path / "spinner.json"
    file.write_text(json.dumps({"name": "spinner", "mechanism": SPINNER, "position": position, "velocity": velocity,
                                "duration": 0.7, "step_size": 1.0}))  # fmt: skip
    said = command("motion", file, "--samples", 16, "--json")["problems"][0]
    ran = carom.motion.simulate(spinner, samples=16, duration=0.7, step_size=1.0)
    assert ran.position[0].max(axis=0).tolist() == said["final"]["position_max"]
    assert int(ran.impacts.sum()) == said["impacts"] > 0
    with pytest.raises(carom.InvalidInput, match="inertia"):
        carom.motion.tree({"dimension": 3, "links": [{"name": "a", "mass": 1.0, "inertia": 0.1}]}, position, velocity)
    with pytest.raises(carom.InvalidInput, match="springs"):
        carom.motion.tree({**SPINNER, "springs": []}, position, velocity)


def test_pieces_of_problems_have_the_bits_of_one_call():
    widths = np.linspace(0.8, 1.4, 1500)
    run = {"samples": 2, "duration": 0.6, "seed": 3, "grid": 0.3, "keep_samples": 1, "keep_events": 4}
    whole = carom.motion.simulate(carom.motion.model("rocking_block_drop", width=widths), **run)
    for i in (0, 511, 512, 1024, 1499):
        one = carom.motion.simulate(carom.motion.model("rocking_block_drop", width=widths[i]), first_problem=i, **run)
        for name in ("position", "s", "state", "event_time", "event_count"):
            assert getattr(one, name)[0].tobytes() == getattr(whole, name)[i].tobytes(), (i, name)


def test_pieces_of_samples_have_the_bits_of_one_call():
    settings = {"samples": 3000, "duration": 0.6, "grid": 0.2, "keep_samples": 1500, "keep_events": 5}
    start = carom.motion.model("rocking_block_drop", angle=[0.5, 2.0]).changed(velocity_spread=[0.1, 0.0, 0.2])
    whole = carom.motion.simulate(start, **settings)
    shard = carom.motion.simulate(start, **{**settings, "samples": 700, "keep_samples": 200}, first_sample=1400)
    for name, width in (("position", 700), ("events", 700), ("state", 100), ("event_time", 100)):
        ours, theirs = getattr(shard, name)[:, :width], getattr(whole, name)[:, 1400 : 1400 + width]
        assert ours.tobytes() == np.ascontiguousarray(theirs).tobytes(), name


def test_progress_ends_a_run_with_what_is_done():
    seen = []

    def stop(done, total):
        seen.append((done, total))
        return False

    ran = carom.motion.simulate("rocking_block_drop", samples=200000, progress=stop)
    assert seen and 0 < ran.end.shape[1] < 200000 and ran.position.shape[1] == ran.end.shape[1]
    whole = carom.motion.simulate("rocking_block_drop", samples=100)
    assert ran.position[:, :100].tobytes() == whole.position.tobytes()


def test_terms_are_lagranges():
    motions = hopper()
    q, v = np.array([0.1, 1.3, 0.2, 0.3, 0.05]), np.array([0.3, -0.2, 0.5, -0.4, 0.1])
    at = carom.motion.terms(motions, q, v)
    M = at.mass_matrix
    np.testing.assert_allclose(M, M.T, atol=1e-14)
    assert np.linalg.eigvalsh(M).min() > 0 and abs(M[0, 0] - 4.8) < 1e-12
    assert at.jacobian.shape == (3, 2, 5) and (at.friction == 0.8).all()
    np.testing.assert_allclose(at.rates, v)
    step = 1e-6
    moved = carom.motion.terms(motions, q + step * v, v)
    np.testing.assert_allclose((moved.gap - at.gap) / step, at.jacobian[:, 0] @ v, atol=1e-5)
    np.testing.assert_allclose((moved.jacobian - at.jacobian) @ v / step, at.drift, atol=1e-4)
    # Without contact and but for the damper, energy stays: v'(M a - f) accounts for its rate.
    acceleration = np.linalg.solve(M, at.force)
    after = carom.motion.terms(motions, q + step * v + 0.5 * step**2 * acceleration, v + step * acceleration)
    damping = -0.1 * v[3] ** 2 - 3.0 * v[4] ** 2
    assert abs((after.energy - at.energy) / step - damping) < 1e-4


def test_the_impact_of_a_start():
    motions = carom.motion.tree(
        {"links": [{"name": "box", "mass": 2.0, "inertia": 0.3}],
         "contacts": [{"name": "left", "link": "box", "point": [-0.5, -0.2], "friction": 0.4},
                      {"name": "right", "link": "box", "point": [0.5, -0.2], "friction": 0.4}]},
        [0.0, 0.2, 0.0], [0.1, -1.0, 0.2])  # fmt: skip
    problem = motions.impact()
    assert problem.contacts == 2 and problem.dimension == 2 and problem.friction.tolist() == [[0.4, 0.4]]
    np.testing.assert_allclose(problem.mass_matrix[0], np.diag([2.0, 2.0, 0.3]))
    np.testing.assert_allclose(problem.normal_jacobian[0], [[0.0, 1.0, -0.5], [0.0, 1.0, 0.5]], atol=1e-15)
    run = carom.impact.sample(problem, samples=64, step_size=1.0)
    assert run.summary["terminated"][0] == 64
    assert motions.impact(gap=-1.0).contacts == 0


def test_replays_of_small_steps_agree():
    motions = hopper()
    ran = carom.motion.simulate(motions, samples=2, duration=0.8, step_size=2.0, grid=0.1, keep_samples=2,
                                keep_events=64)  # fmt: skip
    for sample in range(2):
        judged = carom.motion.replay(motions, ran, sample=sample)
        assert judged["pieces"] > 0 and judged["differing"] == judged["differing_jumps"] == 0
    with pytest.raises(carom.InvalidInput, match="sample"):
        carom.motion.replay(motions, ran, sample=2)


def test_reachable_sets_hold_the_samples():
    start = carom.motion.model("rocking_block_drop").changed(velocity_spread=[0.2, 0.0, 0.5])
    settings = {"samples": 300, "duration": 0.5, "grid": 0.25, "seed": 4}
    sets = carom.motion.reachable(start, epsilon=0.3, **settings)[0]
    assert [time for time, _ in sets] == [0.0, 0.25, 0.5]
    ran = carom.motion.simulate(start, keep_samples=300, **settings)
    for k, (_, net) in enumerate(sets):
        states = ran.state[0, :, k, :-1]
        assert net.multiplicity.sum() + net.dropped == 300
        apart = np.linalg.norm(states[:, None] - net.velocity[None], axis=2).min(axis=1)
        assert apart.max() <= net.epsilon + 1e-12


@pytest.mark.parametrize(("change", "field"), [
    ({"links": [{"name": "a"}]}, "mass"),
    ({"links": [{"name": "a", "mass": 1.0, "parent": "b"}]}, "parent"),
    ({"links": [{"name": "a", "mass": 1.0}, {"name": "a", "mass": 1.0}]}, "name"),
    ({"links": [{"name": "a", "mass": 1.0, "joint": "ball"}]}, "joint"),
    ({"links": [{"name": "a", "mass": 1.0, "weight": 2.0}]}, "weight"),
    ({"links": [{"name": "a", "mass": "heavy"}]}, "mass"),
    ({"links": [{"name": "a", "mass": 1.0}], "contacts": [{"link": "b"}]}, "link"),
    ({"links": [{"name": "a", "mass": 1.0}], "half_spaces": [{"normal": [1.0]}]}, "normal"),
    ({"links": [{"name": "a", "mass": -1.0}]}, "mass"),
    ({}, "links"),
])  # fmt: skip
def test_trees_are_refused_by_name(change, field):
    with pytest.raises(carom.InvalidInput, match=field):
        carom.motion.tree(change, [0.0, 1.0, 0.0], [0.0, 0.0, 0.0])
