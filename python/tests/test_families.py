"""Equilibrium, compliant steps and stability: the command's numbers, proofs, refusals."""

from __future__ import annotations

import json
import pickle
import re

import numpy as np
import pytest

import carom
from carom import compliant, equilibrium, stability


def only(said):
    return said[0] if isinstance(said, list) else said


def numbers_in(document):
    """Every number of a JSON document."""
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list):
        return [number for part in document for number in numbers_in(part)]
    return [document] if isinstance(document, (int, float)) else []


def test_planar_regions_of_the_command(command):
    said = numbers_in(command("equilibrium", "two_contacts", "--p=-0.3:0.3", "--q=0:0.125", "--json"))
    region = equilibrium.planar(
        equilibrium.model("two_contacts", neighbourhood={"p": (-0.3, 0.3), "q": (0, 0.125)})
    )
    for value in (region.lower[0], region.upper[0], region.torque_min[0], region.residual[0]):
        assert value in said
    assert region.polygon().shape == (4, 2)
    for value in region.polygon().ravel():
        assert value in said
    forces, f = region.force[0], np.array([0.0, -1.0])
    np.testing.assert_allclose(forces.sum(axis=1), [-f, -f], atol=1e-12)


def test_spatial_regions_of_the_command(command):
    said = numbers_in(command("equilibrium", "climbing_four", "--json"))
    region = equilibrium.spatial("climbing_four", area_tolerance=1e-4, max_vertices=1024)[0]
    assert region.area_inner in said and region.area_outer in said
    np.testing.assert_allclose(region.forces.sum(axis=1), [[0, 0, 1]] * len(region.inner), atol=1e-8)
    probes = equilibrium.support("climbing_four", directions=16)
    assert (probes.lower <= probes.upper + 1e-12).all()
    held = equilibrium.margins("climbing_four", com=[*region.inner.mean(axis=0), 0.0])
    assert held.status[0] == carom.Status.solved and held.margin_lower[0] > 0
    with pytest.raises(carom.InvalidInput, match=r"com is of shape \(2,\): must be \(3,\) or \(1, 3\)"):
        equilibrium.margins("climbing_four", com=[50.0, 0.0])
    beyond = equilibrium.margins("climbing_four", com=[50.0, 0.0, 0.0])
    assert beyond.status[0] == carom.Status.infeasible and beyond.margin_upper[0] < 0


def test_robust_regions_contain_what_every_wrench_holds():
    one = equilibrium.model("tripod_flat")
    wrenches = np.zeros((3, 6))
    wrenches[:, 2] = -1.0
    wrenches[:, 0] = [-0.1, 0.0, 0.1]
    postures = equilibrium.Postures.of(
        one.position, one.normal, one.friction, neighbourhood=wrenches
    )
    region = equilibrium.robust(postures)[0]
    section = region.section(0.2)
    middle = np.append(section["inner"].mean(axis=0), 0.2)
    assert region.contains(np.stack([middle, [9.0, 9.0, 0.2]])).tolist() == [1, -1]
    for wrench in wrenches:
        single = equilibrium.margins(one.position, one.normal, one.friction, wrench=wrench,
                                     com=middle)  # fmt: skip
        assert single.margin_lower[0] > 0
    assert len(equilibrium.three_contacts("tripod_steep")[0].boundary_type) > 3


def test_postures_are_refused_and_isolated():
    position = np.array([[[0.0, 0.0], [1.0, 0.0]]] * 3)
    normal = np.array([[[0.0, 1.0], [0.0, 1.0]]] * 3)
    normal[1, 1] = [0.0, 2.0]
    with pytest.raises(carom.InvalidInput) as refused:
        equilibrium.planar(position, normal, [0.5, 0.5])
    assert (refused.value.field, refused.value.problem, refused.value.index) == ("normal", 1, (1,))
    isolated = equilibrium.planar(position, normal, [0.5, 0.5], bad_problem="isolate")
    assert isolated.status.tolist() == [0, int(carom.Status.invalid_input), 0]
    good = equilibrium.planar(position[:1], normal[:1], [0.5, 0.5])
    assert isolated.upper[0] == good.upper[0] == isolated.upper[2]
    slanted = np.array([[0.6, 0.8], [-0.6, 0.8]]) * (1.0 + 1e-9)
    whole = equilibrium.planar(position[0], slanted, [0.5, 0.5])
    apart = equilibrium.planar(position[0], slanted, [0.5, 0.5], bad_problem="isolate")
    assert whole.force.tobytes() == apart.force.tobytes()
    with pytest.raises(carom.InvalidInput, match="method"):
        equilibrium.planar(position[:1], normal[:1], [0.5, 0.5], method="guess")


def test_worlds_by_the_programme_of_the_paper(command):
    """Drumwright's programme over time: it sticks where Coulomb says, and hops where the block should slide."""
    friction = np.array([0.125, 0.25, 0.375])
    ran = compliant.worlds("inclined_block", {"friction": friction}, stride=1, law="programme")
    law = compliant.worlds("inclined_block", {"friction": friction}, stride=1)
    highest = (ran.frame_state[:, :, 2] - ran.frame_state[0, :, 2]).max(axis=0)
    np.testing.assert_allclose(highest, [1.27824, 0.23113, 0.0], atol=1e-3)
    np.testing.assert_allclose(ran.displacement, [0.543614, 0.330676, 0.0], atol=1e-3)
    assert (law.frame_state[:, :, 2] - law.frame_state[0, :, 2]).max() < 1e-6
    words = ["step", "inclined_block", "--sweep", "friction=0.25:0.375:2", "--law", "programme", "--json"]
    told = command(*words)
    np.testing.assert_allclose(told["height_largest"], highest[1:], atol=1e-9)
    heavier = compliant.worlds("inclined_block", {"friction": 0.125}, steps=20, law="programme", normal_weight=1e14)
    lighter = compliant.worlds("inclined_block", {"friction": 0.125}, steps=20, law="programme")
    assert abs(heavier.displacement[0] - lighter.displacement[0]) > 1e-3


def test_worlds_of_the_command(command):
    said = command("step", "inclined_block", "--sweep", "friction=0:0.375:4", "--json")
    said = numbers_in(said)
    ran = compliant.worlds("inclined_block", {"friction": np.linspace(0.0, 0.375, 4)}, stride=25)
    for value in ran.displacement:
        assert value in said
    assert (ran.status == carom.Status.solved).all()
    assert ran.frame_time.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    last = np.concatenate([ran.position, ran.velocity], axis=1)
    assert ran.frame_state[-1].tobytes() == last.tobytes()
    with pytest.raises(carom.InvalidInput) as refused:
        compliant.worlds("inclined_block", {"friction": [0.1, -1.0]})
    assert refused.value.field == "friction" and refused.value.problem == 1
    stopped = compliant.worlds("inclined_block", n=500, steps=10**6, progress=lambda a, b: False)
    assert stopped.cancelled
    assert pickle.loads(pickle.dumps(ran)).displacement.tolist() == ran.displacement.tolist()


def test_steps_from_arrays_of_the_command(command):
    import conftest

    file = conftest.ROOT / "examples/data/step.json"
    said = numbers_in(command("step", file, "--json"))
    given = only(json.loads(file.read_text()))
    types, J, parts = [], [], {"phi": [], "K": [], "B": [], "mu": [], "Jdot_v": []}
    for constraint in given["constraints"]:
        rows = np.atleast_2d(constraint["jacobian"]).tolist()
        J += rows
        kinds = [constraint["type"]] * len(rows)
        if constraint["type"] == "contact":
            kinds = ["normal"] + ["tangent"] * (len(rows) - 1)
        types += kinds
        for name, key in (("phi", "phi"), ("K", "stiffness"), ("B", "damping"),
                          ("Jdot_v", "jacobian_dot_v")):  # fmt: skip
            value = constraint.get(key, 0.0)
            value = value if isinstance(value, list) else [value]
            parts[name] += value * len(rows) if len(value) == 1 else value
        parts["mu"] += [constraint.get("friction", 0.0)] * len(rows)
    stepped = compliant.step(
        given["mass_matrix"], given["force"], given["velocity"],
        compliant.Rows(types, J, **parts), given["dt"],
        dimension=given.get("dimension", 3), on_error="raise",
    )  # fmt: skip
    for value in stepped.velocity[0]:
        assert value in said
    assert stepped.residual[0] <= 1e-9


def test_a_block_that_falls_onto_a_spring():
    rows = compliant.Rows(["normal", "tangent"], [[0.0, 1.0], [1.0, 0.0]], K=1e6, B=0.0, mu=0.5)
    v = np.array([[0.0, -1.0], [1.0, -1.0], [np.nan, 0.0]])
    found = compliant.step(np.eye(2), [0.0, -9.81], v, rows, 0.01, dimension=2)
    assert found.status.tolist() == [0, 0, int(carom.Status.invalid_input)]
    assert (found.force[:2, 0] > 0).all()
    assert (np.abs(found.force[:2, 1]) <= 0.5 * found.force[:2, 0] + 1e-9).all()
    assert found.reasons() == {2: "v[0] (velocity) of problem 2 is nan: must be finite"}
    assert "v[0] (velocity) of problem 2" in repr(found)
    for h, K, said in ((0.0, 1e6, "h (step_size) of problem 0 is 0"), (0.1, -1.0, "K[0] (stiffness) of problem 0 is -1")):
        bad = compliant.Rows(["normal", "tangent"], [[0.0, 1.0], [1.0, 0.0]], K=K)
        with pytest.raises(carom.SolveError, match=re.escape(said)):
            compliant.step(np.eye(2), [0.0, -9.81], v[0], bad, h, dimension=2, on_error="raise")
    with pytest.raises(carom.InvalidInput, match="normal"):
        compliant.step(np.eye(2), [0, 0], [0, 0], compliant.Rows(["wall"], [[1.0, 0.0]]), 0.01)


def test_stability_of_the_command(command):
    said = command("stability", "figure2", "--sweep", "mu1=0.2:1:3", "--sweep", "d=0.2:1.1:3", "--json")
    friction, distance = np.meshgrid(np.linspace(0.2, 1.0, 3), np.linspace(0.2, 1.1, 3), indexing="ij")
    stances = stability.model("figure2", mu1=friction.ravel(), d=distance.ravel())
    found = stability.analyse(stances)
    words = [stability.StabilityVerdict(int(verdict)).name for verdict in found.verdict]
    assert [point["verdict"] for point in said["points"]] == words and len(set(words)) == 2
    assert list(stability.verify(stances, found)) == [word == "stable" for word in words]
    tilts = np.linspace(-0.5, 0.5, 9)
    chart = stability.analyse(stability.model("figure2", alpha=tilts))
    assert len(chart.verdict) == 9 and sum(chart.verdicts().values()) == 9
    forged = chart.to_dict()
    forged["kappa"] = np.full_like(chart.s, 1e6)
    forged["certificate"] = np.full_like(chart.certificate, int(stability.CertificateKind.paper))
    batch = stability.model("figure2", alpha=tilts)
    assert not stability.verify(batch, stability.StabilityResult(**forged)).any()


def test_a_refused_stance_has_a_reason():
    stances = stability.model("figure2", alpha=[0.1, 0.2, 0.3])
    friction = stances.friction.copy()
    friction[1, 0] = -1.0
    found = stability.analyse(stability.Stances(**{**stances.to_dict(), "friction": friction}))
    assert found.verdict[1] == stability.StabilityVerdict.invalid_input
    assert found.reasons() == {1: "friction[0] of stance 1 is -1: must be >= 0 and finite"}
    assert "1 invalid_input" in repr(found) and "friction[0] of stance 1" in repr(found)
    assert stability.analyse(stances).reasons() == {}


def test_modes_impacts_and_motions_of_a_stance():
    stance = stability.Stances.of(l=[-1.0, 1.0], h=1.0, friction=0.5, restitution=0.2)
    words = [mode["word"] for mode in stability.modes(stance)]
    assert len(words) == 16 and words[0] == "FF"
    hit = stability.impact(stance, 0, [0.0, -1.0, 0.0])
    assert hit["consistent"] == 1 and hit["normal_impulse"] > 0
    motion = stability.trajectory(stance, [0.0, 0.1, 0.0], [0.0, 0.0, 0.0], events=50)
    assert motion["kind"][0] == "start" and "impact" in motion["kind"]
    assert (np.diff(motion["time"]) >= 0).all()
    with pytest.raises(carom.InvalidInput, match="velocity"):
        stability.impact(stance, 0, [0.0, -1.0])


def test_stances_of_files(tmp_path, command):
    h5py = pytest.importorskip("h5py")
    sets = {"l": [[-0.3, 0.8], [-0.4, 0.6]], "h": [[1, 0.9], [1, 1]], "friction": [[0.9, 0.9], [0.5, 2]],
            "angle": [0.2, 0.1]}  # fmt: skip

    def write(**changed):
        with h5py.File(tmp_path / "stances.h5", "w") as file:
            for name, values in {**sets, **changed}.items():
                file[name] = np.asarray(values, dtype=float)
        return tmp_path / "stances.h5"

    read = stability.read(write())
    assert len(read) == 2 and read.force.tolist() == [1.0, 1.0] and not read.slope.any()
    said = command("stability", write(), "--json")
    words = [stability.StabilityVerdict(int(v)).name for v in stability.analyse(read).verdict]
    assert words == [point["verdict"] for point in said["points"]]
    (tmp_path / "stances.json").write_text(json.dumps([point["stance"] for point in said["points"]]))
    again = stability.read(tmp_path / "stances.json")
    for name, values in read.to_dict().items():
        assert values.tobytes() == getattr(again, name).tobytes()
    with pytest.raises(carom.InvalidInput, match=r"stances.h5: friction\[0\] of stance 1 is -1") as refusal:
        stability.read(write(friction=[[0.9, 0.9], [-1, 2]]))
    assert refusal.value.problem == 1 and refusal.value.index == (0,)
    with pytest.raises(carom.InvalidInput, match="mass"):
        stability.read(write(mass=[1.0, 1.0]))


@pytest.mark.parametrize("family", ["equilibrium", "stability"])
def test_models_refuse_unknown_parameters(family):
    module = getattr(carom, family)
    name = next(iter(module.models()))
    with pytest.raises(carom.InvalidInput):
        module.model(name, nonsense=1.0)
    with pytest.raises(carom.InvalidInput):
        module.model("nonsense")


def test_pictures(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    equilibrium.spatial("tripod_flat")[0].plot().figure.savefig(tmp_path / "region.png")
    compliant.worlds("pendulum_joint", stride=5).plot().figure.savefig(tmp_path / "worlds.png")
    assert (tmp_path / "region.png").stat().st_size > 3000
    assert (tmp_path / "worlds.png").stat().st_size > 3000
