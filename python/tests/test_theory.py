"""Single steps and what the theory says, contact problems with the true cone, charts, critical values."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import ROOT

import carom


def test_one_contact_by_hand():
    # u = r + q: stick needs |r_t| <= mu r_n; beyond, r_t = mu r_n and the rest slides.
    found = carom.solve_coulomb(np.eye(2), [[-1.0, -0.2], [-1.0, -2.0], [1.0, -2.0]], 0.5 * np.ones(1))
    np.testing.assert_allclose(found.reaction, [[1.0, 0.2], [1.0, 0.5], [0.0, 0.0]], atol=1e-9)
    np.testing.assert_allclose(found.velocity, [[0.0, 0.0], [0.0, -1.5], [1.0, -2.0]], atol=1e-9)
    assert (found.status == carom.Status.solved).all() and found.residual.max() <= 1e-9
    # The true cone: friction opposes a slip in any direction.
    slip = np.array([3.0, 4.0])
    round_ = carom.solve_coulomb(np.eye(3), [-1.0, *slip], [0.5])
    np.testing.assert_allclose(round_.reaction[0, 1:], -0.5 * slip / 5.0, atol=1e-9)


def test_contact_problems_are_the_commands(command):
    file = ROOT / "examples/data/friction.json"
    document = json.loads(file.read_text())
    said = command("solve", file, "--json")
    found = carom.solve_coulomb(document["W"], document["q"], document["mu"])
    assert found.reaction[0].tolist() == said[0]["x"] and found.residual[0] == said[0]["residual"]


def test_contact_problems_that_are_refused():
    q = np.array([[-1.0, 0.1], [np.nan, 0.1], [-1.0, 0.1]])
    found = carom.solve_coulomb(np.eye(2), q, [0.5])
    assert found.status.tolist() == [0, carom.Status.invalid_input, 0] and np.isnan(found.reaction[1]).all()
    with pytest.raises(carom.InvalidInput, match="must have 2 or 3"):
        carom.solve_coulomb(np.eye(4), np.ones(4), [0.5])
    for mu in (np.inf, -np.inf, np.nan, -0.5):
        with pytest.raises(carom.InvalidInput, match=rf"mu\[1\] \(friction\) of problem 2 is {mu}: must be >= 0"):
            carom.solve_coulomb(np.eye(4), np.ones(4), [[0.5, 0.5], [0.0, 2.0], [0.5, mu]])
    with pytest.raises(carom.SolveError):
        carom.solve_coulomb(np.eye(2), q, [0.5], on_error="raise")


@pytest.mark.parametrize("name", ["rocking_block", "cube_drop", "tripod"])
def test_a_step_without_bound_is_the_simultaneous_model(name):
    problem = carom.model(name)
    step = carom.impact.steps(problem)
    assert step.status[0] == carom.Status.solved and step.residual[0] <= 1e-9
    one = carom.impact.one_simultaneous(problem)
    outcomes = [outcome.velocity for outcome in carom.impact.simultaneous(problem)]
    for velocity in (step.velocity[0], one.velocity):
        assert min(np.abs(velocity - other).max() for other in outcomes) < 1e-7
    J = np.concatenate([problem.normal_jacobian[0], problem.tangent_jacobian[0]])
    np.testing.assert_allclose(J @ step.velocity[0], step.contact_velocity[0], atol=1e-9)


def test_a_bounded_step_is_one_of_its_outcomes():
    problem = carom.model("rocking_block", friction=[0.3, 0.9])
    bound = [[0.1, 0.2], [0.3, 0.05]]
    steps = carom.impact.steps(problem, max_impulse=bound)
    for i in range(2):
        assert (steps.impulse[i, :2] <= np.array(bound[i]) + 1e-12).all()
        outcomes = carom.impact.step_outcomes(problem[i], max_impulse=bound[i])
        assert min(np.abs(steps.velocity[i] - each.velocity).max() for each in outcomes) < 1e-9
    with pytest.raises(carom.InvalidInput, match="max_impulse"):
        carom.impact.steps(problem, max_impulse=[0.1, 0.2, 0.3])


def test_pointedness_and_the_bounds_of_the_theory():
    block = carom.model("rocking_block")
    found = carom.impact.pointedness(block)
    assert found.pointed and found.margin >= 1.0 - 1e-9
    inverse = np.linalg.inv(block.mass_matrix[0])
    normal, tangent = block.normal_jacobian[0], block.tangent_jacobian[0]
    for i in range(2):  # the extreme rays of planar cones
        for sign in (-1.0, 1.0):
            ray = normal[i] + sign * block.friction[0, i] * tangent[i]
            assert found.direction @ inverse @ ray >= 1.0 - 1e-9
    # Two contacts that press on a body from opposite sides: impulses that cancel.
    squeezed = carom.Problems.of(np.eye(1), [[1.0], [-1.0]], np.zeros((2, 1)), [0.5, 0.5], [0.0])
    assert not carom.impact.pointedness(squeezed).pointed
    with pytest.raises(carom.InvalidInput, match="pointed"):
        carom.impact.termination_bound(squeezed, step_size=0.3, k=10)
    near, far = (carom.impact.termination_bound(block, step_size=0.3, k=k) for k in (10, 1000))
    assert near["c"] == far["c"] > 0.0 and far["steps"] - near["steps"] == 990.0
    assert 0.0 <= far["probability"] < near["probability"] <= 1.0
    few, many = (carom.impact.samples_for_epsilon_net(3, lipschitz=2.0, step_size=1.0, epsilon=e, delta=0.01)
                 for e in (0.5, 0.25))  # fmt: skip
    assert 1.0 < few < many


def test_steps_of_the_block_are_unique_and_rare_ones_are_not():
    block = carom.impact.check_unique_step("rocking_block", trajectories=64)
    assert block["steps"] > 64 and block["nonunique"] == 0 and len(block["outcomes"]) == 0
    many = carom.impact.check_unique_step(carom.model("disk_stack"), trajectories=64)
    assert 0 < many["nonunique"] < many["steps"] and len(many["outcomes"]) >= 2
    assert np.abs(np.diff(many["outcomes"][:2], axis=0)).max() > 1e-6
    assert (many["max_impulse"] >= 0.0).all()


@pytest.mark.parametrize("name", ["rocking_block", "compass_gait", "box_wall", "ramone"])
def test_a_step_with_several_outcomes_is_named_wherever_there_is_one(name):
    found = carom.impact.decide_unique_step(name)
    assert found["decided"] and found["unique"] == (name == "rocking_block")
    if found["unique"]:
        assert found["pairs"] == 49 * 50 // 2 and found["difference"] < 1e-8
        return
    m = carom.model(name)
    again = carom.Problems.of(m.mass_matrix[0], m.normal_jacobian[0], m.tangent_jacobian[0], m.friction[0], found["velocity"])
    outcomes = carom.impact.step_outcomes(again, max_impulse=found["max_impulse"])
    assert len(outcomes) == len(found["outcomes"]) >= 2
    for outcome in outcomes:  # LCP (75) of the step, by its own terms
        normal, tangent = m.normal_jacobian[0] @ outcome.velocity, m.tangent_jacobian[0] @ outcome.velocity
        pressed, rubbed = np.split(outcome.impulse, 2)
        change = m.mass_matrix[0] @ (outcome.velocity - found["velocity"])
        assert np.abs(change - pressed @ m.normal_jacobian[0] - rubbed @ m.tangent_jacobian[0]).max() < 1e-8
        assert (pressed <= found["max_impulse"] + 1e-9).all() and (np.abs(rubbed) <= m.friction[0] * pressed + 1e-9).all()
        assert (np.minimum(pressed, np.maximum(normal, 0.0)) < 1e-8).all()
        assert (np.abs(m.friction[0] * pressed * np.abs(tangent) + rubbed * tangent) < 1e-8).all()
        assert np.linalg.norm(found["outcomes"] - outcome.velocity, axis=1).min() < 1e-9
    assert np.abs(outcomes[0].velocity - outcomes[1].velocity).max() > 1e-6


def test_steps_of_one_contact_are_unique_where_sliding_both_ways_is():
    # Of inverse mass [[1, b], [b, 2]]: beyond mu |b| = 1 two velocities fit.
    for b, friction, unique in ((0.8, 1.2, True), (-0.8, 1.2, True), (0.8, 1.3, False), (-0.8, 1.3, False)):
        one = carom.Problems.of(np.linalg.inv([[1.0, b], [b, 2.0]]), [[1.0, 0.0]], [[0.0, 1.0]], [friction], [-1.0, 0.0])
        found = carom.impact.decide_unique_step(one)
        assert found["decided"] and found["unique"] == unique, (b, friction)
    with pytest.raises(carom.InvalidInput, match="contacts"):
        carom.impact.decide_unique_step("disk_stack")


def test_charts_are_their_stances():
    chart = carom.stability.chart("figure2", points=9)
    assert chart.verdict.shape == (9, 9) and len(chart.found.verdict) == 81
    assert sum(chart.found.verdicts().values()) == 81
    for row, column in ((0, 0), (3, 7), (8, 8)):
        one = carom.stability.model("figure2", **{chart.names[0]: chart.x[column], chart.names[1]: chart.y[row]})
        assert carom.stability.analyse(one).verdict[0] == chart.verdict[row, column]
    own = carom.stability.chart("figure2", ("mu1", [0.2, 0.4]), ("mu2", [0.1, 0.3, 0.5]), parameters={"d": 0.5})
    assert own.verdict.shape == (3, 2) and own.names == ("mu1", "mu2")
    assert own.stances.friction[:, 0].tolist() == [0.2, 0.4] * 3
    with pytest.raises(carom.InvalidInput, match="model"):
        carom.stability.chart("figure9")
    pytest.importorskip("matplotlib").use("agg")
    assert chart.plot().get_xlabel() == chart.names[0]


def test_shards_of_stances_are_the_whole():
    stances = carom.stability.model("figure3", mu=np.linspace(0.1, 1.4, 40), e=0.2)
    settings = {"method": "simulate", "states": 20, "events": 1000}
    whole = carom.stability.analyse(stances, **settings)
    for first in (0, 17, 39):
        one = carom.stability.analyse(stances[first], first_problem=first, **settings)
        assert one.events[0] == whole.events[first] and one.verdict[0] == whole.verdict[first]
        assert one.start[0].tobytes() == whole.start[first].tobytes()
    assert (carom.stability.analyse(stances, first_problem=7, **settings).events != whole.events).any()


def test_ambiguity_is_proven_by_a_mode():
    found = carom.stability.chart("figure2", points=12)
    places = np.flatnonzero(found.found.ambiguous_modes)
    assert len(places)
    stance = found.stances[int(places[0])]
    words = [mode["word"] for mode in carom.stability.modes(stance) if mode["consistent"] and set(mode["word"]) != {"S"}]
    assert any(carom.stability.proves_ambiguous(stance, word) for word in words)
    assert not carom.stability.proves_ambiguous(stance, "SS")


def test_critical_values_are_the_commands(command):
    com = [0.1, 0.0, 0.4]
    said = command("equilibrium", "tripod_flat", "--centre-of-mass", "0.1,0,0.4", "--critical", "friction=0.01:2", "--json")
    text = json.dumps(said)
    found = carom.equilibrium.critical("tripod_flat", "friction", 0.01, 2.0, com=com)
    assert found["found"] is True or not found["held_high"], text
    assert abs(found["held"] - found["not_held"]) < 1e-6
    assert repr(found["held"])[:9] in text
    planar = carom.equilibrium.critical("two_contacts", "friction", 0.01, 2.0, com=[0.0, 1.0])
    assert planar["held_low"] is not None
