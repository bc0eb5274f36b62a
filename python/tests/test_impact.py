"""Impacts: the command's bits, shapes, refusals as data, results."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import carom
from carom import impact


def arrays(n=None, nv=3):
    rng = np.random.default_rng(7)
    count = 1 if n is None else n
    root = rng.normal(size=(count, nv, nv))
    M = root @ root.transpose(0, 2, 1) + nv * np.eye(nv)
    M = 0.5 * (M + M.transpose(0, 2, 1))
    Jn = rng.normal(size=(count, 2, nv))
    Jt = rng.normal(size=(count, 2, nv))
    mu = rng.uniform(0.1, 1.0, size=(count, 2))
    v = rng.normal(size=(count, nv))
    parts = (M, Jn, Jt, mu, v)
    return tuple(part[0] for part in parts) if n is None else parts


@pytest.mark.parametrize("options", [{}, {"sampler": "sobol"}, {"selection": "lemke"}, {"seed": 5}])
def test_bits_of_the_command(command, tmp_path, options):
    h5py = pytest.importorskip("h5py")
    file = tmp_path / "set.h5"
    flags = [f"--{name}={value}" for name, value in options.items()]
    command("impact", "compass_gait", "--samples", 4096, "--output", file, *flags)
    run = impact.sample("compass_gait", samples=4096, keep_paths=512, **options)
    with h5py.File(file) as read:
        group = read["impact_0"]
        for name in ("velocity", "impulse", "residual", "modes", "steps", "status"):
            kept = group["samples"][name][...]
            ours = getattr(run.samples, name)[0]
            assert kept.shape == ours.shape
            assert kept.tobytes() == ours.tobytes(), name
        assert group["paths/velocity"][...].tobytes() == run.paths[0].velocity.tobytes()
        for name in ("samples", "terminated", "lcp_solves", "max_residual", "max_energy_ratio"):
            assert group.attrs[name] == run.summary[name][0]


def test_net_and_counts_of_the_command(command):
    said = command("impact", "tripod", "--samples", 4096, "--epsilon", 0.01, "--json")
    said = said[0] if isinstance(said, list) else said
    run = impact.sample(carom.model("tripod"), samples=4096, epsilon=0.01)
    assert said["mode_counts"] == run.mode_names()
    assert said["epsilon_net"]["coverage"] == run.net[0].coverage.tolist()
    assert said["max_residual"] == run.summary["max_residual"][0]
    assert len(run.net[0].velocity) == said["epsilon_net"]["points"]
    assert run.net[0].multiplicity.sum() == run.summary["terminated"][0]


def test_a_batch_of_models_is_its_problems_and_a_file_of_the_command(command, tmp_path):
    frictions = np.linspace(0.1, 1.0, 5)
    batch = carom.model("rocking_block", friction=frictions, width=1.2)
    assert len(batch) == 5 and batch.friction.shape == (5, 2)
    for i, friction in enumerate(frictions):
        one = carom.model("rocking_block", friction=friction, width=1.2)
        for name, value in one.arrays().items():
            assert value[0].tobytes() == getattr(batch, name)[i].tobytes()
    file = tmp_path / "batch.json"
    batch.write_json(file)
    said = command("impact", file, "--samples", 3000, "--json", "--no-check")
    run = impact.sample(batch, samples=3000)
    assert [entry["mode_counts"] for entry in said] == [run.mode_names(i) for i in range(5)]


def test_shards_of_samples_make_the_whole():
    whole = impact.sample("box_wall", samples=3000, mode_table=True)
    parts = [
        impact.sample("box_wall", samples=1000, first_sample=first, mode_table=True)
        for first in (0, 1000, 2000)
    ]
    joined = np.concatenate([part.samples.velocity for part in parts], axis=1)
    assert joined.tobytes() == whole.samples.velocity.tobytes()
    assert impact.sample("box_wall", samples=31).settings["mode_table"] is False
    assert impact.sample("box_wall", samples=32).settings["mode_table"] is True


def test_shapes_broadcast_and_conversions():
    one = impact.sample(*arrays(), samples=64, seed=1)
    assert one.samples.velocity.shape == (1, 64, 3)
    assert one.samples.impulse.shape == (1, 64, 4)
    M, Jn, Jt, mu, v = arrays()
    lists = impact.sample(M.tolist(), Jn.tolist(), Jt.tolist(), mu.tolist(), v.tolist(),
                          samples=64, seed=1)  # fmt: skip
    assert lists.samples.velocity.tobytes() == one.samples.velocity.tobytes()
    many = impact.sample(M, Jn[None], Jt, mu, np.stack([v, 0.5 * v, -v]), samples=64, seed=1)
    assert many.samples.velocity.shape == (3, 64, 3)
    assert many.samples.velocity[0].tobytes() == one.samples.velocity[0].tobytes()
    strided = np.asfortranarray(np.stack([M, M]))[::2]
    assert not strided.flags.c_contiguous
    again = impact.sample(strided, Jn, Jt, mu, v, samples=64, seed=1)
    assert again.samples.velocity.tobytes() == one.samples.velocity.tobytes()
    with pytest.raises(carom.InvalidInput, match="strict"):
        impact.sample(strided, Jn, Jt, mu, v, strict=True)
    with pytest.raises(carom.InvalidInput, match="float32"):
        impact.sample(M, Jn, Jt, mu, v.astype(np.float32), strict=True)
    empty = impact.sample(M, Jn, Jt, mu, np.zeros((0, 3)), samples=8)
    assert empty.samples.velocity.shape == (0, 8, 3) and len(empty.summary) == 0


def test_refusals_are_data():
    M, Jn, Jt, mu, v = arrays(4)
    v[2, 1] = np.nan
    with pytest.raises(carom.InvalidInput) as refused:
        impact.sample(M, Jn, Jt, mu, v)
    error = refused.value
    assert isinstance(error, ValueError)
    assert (error.field, error.index, error.problem) == ("velocity", (1,), 2)
    assert np.isnan(error.value) and error.rule == "must be finite"
    assert str(error) == "v[1] (velocity) of problem 2 is nan: must be finite"
    again = pickle.loads(pickle.dumps(error))
    assert (again.field, again.index, again.problem, str(again)) == (
        error.field, error.index, error.problem, str(error))  # fmt: skip
    mu[3, 0] = -0.5
    v[2, 1] = 0.0
    with pytest.raises(carom.InvalidInput) as refused:
        impact.sample(M, Jn, Jt, mu, v)
    assert (refused.value.field, refused.value.problem, refused.value.value) == ("friction", 3, -0.5)
    bad = tuple(part[3] for part in (M, Jn, Jt, mu, v))
    for call in (
        impact.steps, impact.simultaneous, impact.sequential, impact.newton, impact.bounce, impact.check_unique_step,
    ):
        with pytest.raises(carom.InvalidInput, match=r"^mu\[0\] \(friction\) of problem 0 is -0.5: must be >= 0$"):
            call(*bad)
    with pytest.raises(carom.InvalidInput, match=r"^friction\[0\] of problem 0 is -0.5: must be >= 0$"):
        impact.sample(impact.Problems.of(*bad))
    with pytest.raises(carom.InvalidInput, match=r"^friction\b"):
        impact.sample(M, Jn, Jt, mu, v, friction=-1.0)


@pytest.mark.parametrize(
    ("settings", "field", "said"),
    [
        ({"samples": 0}, "samples", ">= 1"),
        ({"sampels": 1}, "sampels", "known are samples"),
        ({"sampler": "halton"}, "sampler", "uniform or sobol"),
        ({"samples": 1.5}, "samples", "integer"),
        ({"step_size": "big"}, "step_size", "number"),
        ({"mode_table": 1}, "mode_table", "True or False"),
        ({"backend": "fastest"}, "backend", "auto, cpu"),
        ({"precision": "half"}, "precision", "no such setting"),
        ({"seed": -1}, "seed", "2^64"),
        ({"samples": 2**70}, "samples", "64 bits"),
        ({"max_steps": 2**40}, "max_steps", "out of range"),
        ({"on_error": "ignore"}, "on_error", "status"),
    ],
)
def test_settings_are_refused_by_name(settings, field, said):
    with pytest.raises(carom.InvalidInput) as refused:
        impact.sample("rocking_block", **{"samples": 4, **settings})
    assert refused.value.field == field and said in str(refused.value)


def test_shapes_are_refused_by_name():
    M, Jn, Jt, mu, v = arrays(4)
    for changed, field in (
        ((M[:, :2], Jn, Jt, mu, v), "mass_matrix"),
        ((M, Jn[:, :, :2], Jt, mu, v), "normal_jacobian"),
        ((M, Jn, Jt[:, :1], mu, v), "tangent_jacobian"),
        ((M, Jn, Jt, mu[:, :1], v), "friction"),
        ((M, Jn, Jt, mu[:2], v), "friction"),
        ((M, Jn, Jt, mu, v * 1j), "velocity"),
        ((M, Jn[:, :0], Jt[:, :0], mu[:, :0], v), "dimension"),
    ):
        with pytest.raises(carom.InvalidInput) as refused:
            impact.sample(*changed)
        assert refused.value.field == field, str(refused.value)
    with pytest.raises(TypeError):
        impact.sample(M, Jn, Jt)


def test_a_bad_problem_leaves_its_neighbours_and_nothing_behind():
    M, Jn, Jt, mu, v = arrays(5)
    expected = impact.sample(M, Jn, Jt, mu, v, samples=32).samples.velocity.copy()
    broken = v.copy()
    broken[1, 0] = np.inf
    with pytest.raises(carom.InvalidInput):
        impact.sample(M, Jn, Jt, mu, broken, samples=32)
    isolated = impact.sample(M, Jn, Jt, mu, broken, samples=32, bad_problem="isolate")
    others = [0, 2, 3, 4]
    assert isolated.samples.velocity[others].tobytes() == expected[others].tobytes()
    assert np.isnan(isolated.samples.velocity[1]).all()
    assert isolated.status[1] == carom.Status.invalid_input
    with pytest.raises(carom.SolveError) as raised:
        impact.sample(M, Jn, Jt, mu, broken, samples=32, bad_problem="isolate", on_error="raise")
    assert raised.value.problem == 1 and raised.value.status == "invalid_input"
    assert raised.value.result.samples.velocity[0].tobytes() == expected[0].tobytes()
    assert pickle.loads(pickle.dumps(raised.value)).problem == 1
    again = impact.sample(M, Jn, Jt, mu, v, samples=32)
    assert again.samples.velocity.tobytes() == expected.tobytes()


def test_workspace_keeps_the_bits_and_is_cleared():
    workspace = carom.Workspace()
    plain = impact.sample("disk_stack", samples=256)
    for _ in range(3):
        kept = impact.sample("disk_stack", samples=256, workspace=workspace)
        assert kept.samples.impulse.tobytes() == plain.samples.impulse.tobytes()
    workspace.clear()


def test_results_are_frozen_and_pickle():
    run = impact.sample("rocking_block", samples=128, epsilon=0.01, keep_paths=4)
    with pytest.raises(AttributeError):
        run.seconds = 0.0
    again = pickle.loads(pickle.dumps(run))
    assert again.samples.velocity.tobytes() == run.samples.velocity.tobytes()
    assert again.net[0].multiplicity.tolist() == run.net[0].multiplicity.tolist()
    assert len(again.paths[0]) == 4 and again.mode_names() == run.mode_names()
    assert again.paths[0][0][0].tolist() == run.problems.velocity[0].tolist()
    assert "rocking_block" in repr(run) and "<table>" in run._repr_html_()
    assert set(run.to_dict()) >= {"samples", "summary", "net", "problems"}


def test_hull_holds_every_point():
    run = impact.sample("rocking_block", samples=4096)
    corners = run.hull(0, 0, 1)
    points = run.samples.velocity[0][:, :2]
    for a, b in zip(corners, np.roll(corners, -1, axis=0)):
        edge, away = b - a, points - a
        assert (edge[0] * away[:, 1] - edge[1] * away[:, 0] >= -1e-15).all()
    with pytest.raises(carom.InvalidInput):
        run.hull(0, 0, 3)


def test_other_models_of_an_impact(command):
    said = command("impact-models", "compass_gait", "--json", "--samples", 256)
    said = said[0] if isinstance(said, list) else said
    text = json.dumps(said)
    for outcome in impact.simultaneous("compass_gait"):
        assert repr(outcome.kinetic_energy) in text
        assert outcome.residual <= 1e-9
    outcomes = impact.sequential("compass_gait")
    assert [outcome.order for outcome in outcomes] == [(0, 1), (1, 0)]
    for outcome in outcomes:
        assert repr(outcome.kinetic_energy) in text
    assert impact.sequential("compass_gait", orders=[(1, 0)])[0].velocity.tolist() == (
        outcomes[1].velocity.tolist())  # fmt: skip
    with pytest.raises(carom.InvalidInput, match="orders"):
        impact.sequential("compass_gait", orders=[(0, 2)])


def test_newtons_restitution_on_a_point_mass():
    one = carom.Problems.of(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], [0.0], [0.3, -2.0])
    outcome = impact.newton(one, contact=0, restitution=0.5)
    np.testing.assert_allclose(outcome.velocity, [0.3, 1.0], atol=1e-15)


def test_models_are_listed_and_refused_by_name():
    listed = carom.models()
    assert {"rocking_block", "compass_gait", "tripod"} <= set(listed)
    assert listed["rocking_block"].parameters["friction"].unit == "-"
    with pytest.raises(carom.InvalidInput, match="rocking_block"):
        carom.model("rocking_blocks")
    with pytest.raises(carom.InvalidInput, match="known are"):
        carom.model("rocking_block", frction=0.5)
    with pytest.raises(carom.InvalidInput) as refused:
        carom.model("rocking_block", friction=[0.5, -1.0])
    assert refused.value.problem == 1 and refused.value.value == -1.0
    with pytest.raises(carom.InvalidInput, match="must have 2"):
        carom.model("rocking_block", friction=[0.5, 1.0], width=[1.0, 1.0, 1.0])


def test_padding_adds_contacts_without_impulse():
    problems = carom.model("rocking_block", friction=[0.3, 0.6])
    padded = problems.padded(4)
    run = impact.sample(padded, samples=64)
    assert run.summary["terminated"].tolist() == [64, 64]
    normals = run.samples.impulse[:, :, 2:4]
    assert (normals == 0.0).all()


def test_picture(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = impact.sample("rocking_block", samples=512).plot()
    axes.figure.savefig(tmp_path / "set.png")
    assert (tmp_path / "set.png").stat().st_size > 5000
    assert len(axes.get_legend().get_texts()) == 4  # three outcomes and the state before
    assert impact.sample("ball_in_corner", samples=64).plot(0, 0, 2).get_xlabel() == "v[0]"


@pytest.mark.parametrize("method", ["events", "lcp"])
def test_kept_paths_with_restitution_are_judged_by_the_command(command, tmp_path, method):
    h5py = pytest.importorskip("h5py")
    file = tmp_path / "paths.h5"
    flags = ["--restitution", "0.2:0.4", "--samples", 64, "--paths", 64, "--method", method]
    command("impact", "box_wall", *flags, "--quiet", "--output", file)
    assert command("verify", file, "--json")["path"] == dict(proven=64, refuted=0, not_judged=0)
    for name in ["velocity", "impulse", "restitution", "friction"]:
        with h5py.File(file, "r+") as kept:
            values, ends = kept["impact_0/paths"][name], kept["impact_0/paths/offset"][:]
            before = values[:]
            values[ends[7] + 1 : ends[8]] *= 1.01  # pieces of the eighth path
        said = command("verify", file, "--json", status=1)
        assert said["path"] == dict(proven=63, refuted=1, not_judged=0), name
        assert said["refuted"] == [7]
        with h5py.File(file, "r+") as kept:
            kept["impact_0/paths"][name][:] = before
    command("verify", file)


def test_enclosures_hold_the_samples_and_prove_themselves(command):
    problems = carom.model("rocking_block", friction=[0.3, 1.0])
    run = impact.sample(problems, samples=2000)
    for i, found in enumerate(impact.enclose(problems)):
        assert found.status == impact.EnclosureStatus.enclosed and found.proves()
        assert set(run.mode_names(i)) <= set(found.mode_names())
        normal, tangent = problems[i].contact_velocity(run.samples.velocity[i : i + 1])
        slack = 0.05 * np.abs(problems.velocity).max()  # what finite steps err
        assert (normal >= found.normal_velocity_min - slack).all()
        assert (normal <= found.normal_velocity_max + slack).all()
        assert found.never("A separating, B separating")
        assert not found.never("A separating")
        assert pickle.loads(pickle.dumps(found)).proves()
    forged = {**found.to_dict(), "normal_velocity_max": found.normal_velocity_max * 0.5}
    assert not impact.ImpactEnclosure(**forged).proves()
    with pytest.raises(carom.InvalidInput):
        found.never("C separating")


def test_a_bad_problem_says_why_nothing_is_enclosed():
    M, Jn, Jt, mu, v = arrays(3)
    mu = mu.copy()
    mu[1, 0] = -0.5
    sets = impact.enclose(M, Jn, Jt, mu, v)
    assert [one.reason() for one in sets] == ["", "friction[0] is -0.5: must be >= 0", ""]
    assert repr(sets[1]) == "ImpactEnclosure(invalid_input; friction[0] is -0.5: must be >= 0)"


def test_restitution_is_enclosed_by_its_law():
    (found,) = impact.enclose("rocking_block", restitution=(0.2, 0.5), friction=(0.3, 0.4), law="stronge")
    assert found.law == "stronge" and found.status == impact.EnclosureStatus.outer and found.proves()
    run = impact.sample("rocking_block", restitution=(0.2, 0.5), friction=(0.3, 0.4), samples=4096, epsilon=0.0)
    reached = run.summary[0]["normal_velocity_max"]
    assert (reached <= found.normal_velocity_max).all() and (found.normal_velocity_max < 1.25 * reached).all()
    again = impact.proven(found.problem, invariant=found.invariant, outer=True, law="stronge")
    assert np.array_equal(again.normal_velocity_max, found.normal_velocity_max)
    other = impact.proven(found.problem, invariant=found.invariant, outer=True, law="poisson")
    assert impact.EnclosureStatus(other.status).name == "budget"  # all of the work may come back by that law
    (decision,) = impact.decide("rocking_block", restitution=0.5, event="A normal > 0.3")
    assert impact.ImpactAnswer(decision.answer).name == "never" and decision.proof.proves()
    with pytest.raises(carom.InvalidInput, match="hertz"):
        impact.proven(found.problem, invariant=found.invariant, outer=True, law="hertz")


def test_spatial_impacts_have_bounds(command):
    run = impact.sample("tripod", samples=500, step_size=0.05, max_steps=2000)
    (found,) = impact.enclose("tripod")
    assert found.status == impact.EnclosureStatus.outer and found.proves()
    assert len(found.modes) == 0 and len(found.tangent_velocity_max) == 6
    normal, tangent = run.problems.contact_velocity(run.samples.velocity)
    assert (normal <= found.normal_velocity_max + 1e-9).all()
    assert (np.abs(tangent.reshape(-1, 6)) <= found.tangent_velocity_max + 1e-9).all()
    assert found.never("foot_0 normal > 2.0") and not found.never("foot_0 sliding")
    forged = {**found.to_dict(), "normal_velocity_max": found.normal_velocity_max * 0.5}
    assert not impact.ImpactEnclosure(**forged).proves()


def test_questions_are_decided():
    answer = impact.ImpactAnswer
    problems = carom.model("rocking_block", friction=[0.3, 1.0, 3.0])
    whole = impact.enclose(problems)
    for event in ["A separating, B separating", "A separating", "B normal > 0.2"]:
        for decision, found in zip(impact.decide(problems, event=event), whole):
            assert decision.answer == (answer.never if found.never(event) else answer.happens)
            if decision.answer == answer.never:
                assert decision.proof.proves() and decision.proof.never(event)
            else:
                assert decision.proof is None and decision.made <= found.made
            assert pickle.loads(pickle.dumps(decision)).answer == decision.answer
    (apart,) = impact.decide("tripod", event="foot_1 tangent2 > 0.01")
    assert apart.answer == answer.open
    with pytest.raises(carom.InvalidInput):
        impact.decide(problems, event="C separating")
    with pytest.raises(carom.InvalidInput):
        impact.decide("tripod", event="foot_1 sliding+")
