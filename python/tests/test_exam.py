"""The exam for contact solvers: sets of solutions against closed forms, the judge against mutants."""

import dataclasses
import itertools
import subprocess
import sys

import numpy as np
import pytest

import carom
from carom import _exam_solvers, exam


@pytest.fixture(scope="module")
def drawn():
    return exam.problems(count=12, seed=7)


def of(drawn, group):
    return [problem for problem in drawn if problem.group == group]


def test_groups_and_reproduction(drawn):
    assert [problem.group for problem in drawn] == [group for group in exam.GROUPS for _ in range(12)]
    again = exam.problems(count=12, seed=7, groups=["ambiguous"])
    for one, two in zip(of(drawn, "ambiguous"), again):
        assert one.name == two.name and np.array_equal(one.velocity, two.velocity)
    assert not np.array_equal(again[0].velocity, exam.problems(1, 8, ["ambiguous"])[0].velocity)


def test_every_listed_solution_obeys_the_law(drawn):
    for problem in drawn:
        listed = [problem.known] if problem.solutions is None else problem.solutions.impulse
        for impulse in listed:
            assert problem.residual(impulse) < 1e-13, problem.name
            if problem.solutions is not None:
                assert problem.speed_error(impulse) < 1e-9


def rod(velocity, friction):
    """A point mass on the ground: W = 1, so modes and impulses are elementary."""
    return exam.Problem("rod", "well_posed", np.eye(2), np.array([[0.0, 1.0]]), np.array([[[1.0, 0.0]]]),
                        np.array([friction]), np.asarray(velocity, dtype=float), np.zeros(1))  # fmt: skip


@pytest.mark.parametrize(
    ("velocity", "mode", "impulse"),
    [((1.0, 1.0), 0, (0.0, 0.0)), ((0.2, -1.0), 1, (1.0, -0.2)), ((2.0, -1.0), 2, (1.0, -0.5)), ((-2.0, -1.0), 3, (1.0, 0.5))],
)  # fmt: skip
def test_point_mass(velocity, mode, impulse):
    (found,) = exam.solutions([rod(velocity, 0.5)])
    assert found.modes.tolist() == [[mode]]
    np.testing.assert_allclose(found.impulse[0, 0], impulse, atol=1e-12)
    np.testing.assert_allclose(found.impulse_low, found.impulse_high, atol=1e-9)


def test_two_outcomes_of_a_jammed_slip():
    """W_nn < mu W_nt: with u_n = q_n > 0 before, both no contact and an impulse that holds the rod down are
    solutions (Painleve's paradox); the impulse of slip- is q_n / (mu W_nt - W_nn)."""
    arm = np.array([-0.5, -1.0])
    mass = np.diag([1.0, 1.0, 0.05])
    normal = np.array([[0.0, 1.0, arm[0]]])
    tangent = np.array([[[1.0, 0.0, -arm[1]]]])
    W = np.concatenate([normal, tangent[0]]) @ np.linalg.inv(mass) @ np.concatenate([normal, tangent[0]]).T
    sign = -np.sign(W[0, 1])  # of the friction that presses down
    friction, u = 1.0, np.array([0.3, -sign * 8.0])
    velocity = np.linalg.lstsq(np.concatenate([normal, tangent[0]]), u, rcond=None)[0]
    problem = exam.Problem("p", "ambiguous", mass, normal, tangent, np.array([friction]), velocity, np.zeros(1))
    (found,) = exam.solutions([problem])
    slope = W[0, 0] + sign * friction * W[0, 1]
    assert slope < 0
    pressed = -u[0] / slope
    sliding = found.modes[:, 0] == (2 if sign < 0 else 3)
    assert found.modes[0, 0] == 0 and sliding.sum() == 1
    np.testing.assert_allclose(found.impulse[sliding][0, 0], [pressed, sign * friction * pressed], rtol=1e-12)
    assert len(set(found.component)) == len(found.modes) == 3


def test_modes_against_complementary_bases(drawn):
    """Every basic solution of the LCP lies in a listed polyhedron, and each polyhedron that is a point is a basic
    solution: all complementary bases of the LCP, enumerated here."""
    for problem in of(drawn, "well_posed") + of(drawn, "ambiguous"):
        if problem.contacts > 2:
            continue
        M, q = problem.lcp()
        n = len(q)
        basic = []
        for chosen in itertools.product((False, True), repeat=n):
            rows = np.array(chosen)
            if rows.any() and np.linalg.cond(M[np.ix_(rows, rows)]) > 1e10:
                continue
            z = np.zeros(n)
            z[rows] = np.linalg.solve(M[np.ix_(rows, rows)], -q[rows]) if rows.any() else 0.0
            if z.min() >= -1e-12 and (M @ z + q).min() >= -1e-10 * np.abs(q).max():
                basic.append(problem.from_lcp(z))
        assert basic
        for impulse in basic:
            assert problem.speed_error(impulse) < 1e-8, problem.name
        for impulse in problem.solutions.impulse:
            assert min(np.abs(impulse - other).max() for other in basic) < 1e-7 * (1 + np.abs(impulse).max())


def test_redundant_and_jammed(drawn):
    for problem in of(drawn, "redundant"):
        found = problem.solutions
        assert (found.impulse_high - found.impulse_low).max() > 1e-6
        assert (found.speed_high - found.speed_low).max() < 1e-8
    jammed = of(drawn, "jammed")
    empty = [len(problem.solutions.modes) == 0 for problem in jammed]
    assert 0 < sum(empty) < len(jammed)
    for problem, none in zip(jammed, empty):
        M, q = problem.lcp()
        decision = carom.decide_lcp(M, q)[0]
        assert (decision.status == carom.Status.infeasible) == none and decision.verify()
        if not none:
            assert np.isinf(problem.solutions.impulse_high).any()


def test_polyhedron_is_the_set(drawn):
    for problem in of(drawn, "redundant")[:4]:
        A, row_low, row_high, low, high = problem.polyhedron(problem.solutions.modes[0])
        impulse = problem.solutions.impulse[0]
        x = np.concatenate([impulse.ravel(), problem.after(impulse)])
        tiny = 1e-12 * (np.abs(A) @ np.abs(x)).max()
        assert (A @ x - row_low).min() > -tiny and (row_high - A @ x).min() > -tiny
        assert (x - low).min() >= -1e-12 and (high - x).min() >= -1e-12


def test_the_judge_sees_mutants(drawn):
    """A hundredth more or less of an impulse, a reversed friction, a pull: never right."""
    for problem in of(drawn, "well_posed") + of(drawn, "space"):
        right = problem.known if problem.solutions is None else problem.solutions.impulse[0]
        for at in np.argwhere(np.abs(right) > 0.03 * np.abs(right).max()):
            for factor in (0.99, 1.01, -1.0):
                wrong = right.copy()
                wrong[tuple(at)] *= factor
                assert problem.residual(wrong) > 1e-6, (problem.name, at, factor)


def test_scores(drawn):
    def none(problem):
        return None

    def broken(problem):
        raise RuntimeError

    def known(problem):
        if problem.solutions is None:
            return problem.known
        return problem.solutions.impulse[0] if len(problem.solutions.modes) else None

    empty = sum(problem.solutions is not None and len(problem.solutions.modes) == 0 for problem in drawn)
    for solve, right, failed in ((none, empty, 0), (broken, 0, 60), (known, 60, 0)):
        scores = exam.score(solve, drawn)
        assert [score.group for score in scores] == list(exam.GROUPS)
        assert sum(score.right for score in scores) == right
        assert sum(score.failed for score in scores) == failed
        assert all(s.right + s.wrong + s.denied + s.invented + s.failed == s.problems for s in scores)


def test_carom_passes(drawn):
    assert all(score.right == 12 for score in exam.score(_exam_solvers.decide, drawn))
    for name in ("well_posed", "redundant", "ambiguous"):
        assert exam.score(_exam_solvers.boxed, of(drawn, name))[0].right == 12
    convex = exam.score(_exam_solvers.convex, of(drawn, "well_posed"))[0]
    assert 0 < convex.wrong <= 12  # another law where contacts slide


def test_files(drawn, tmp_path):
    pytest.importorskip("h5py")
    path = str(tmp_path / "exam.h5")
    exam.save(drawn, path)
    for one, two in zip(drawn, exam.load(path)):
        for field in dataclasses.fields(exam.Problem):
            if field.name != "solutions":
                assert np.array_equal(getattr(one, field.name), getattr(two, field.name))
        if one.solutions is not None:
            for field in dataclasses.fields(exam.Solutions):
                assert np.array_equal(getattr(one.solutions, field.name), getattr(two.solutions, field.name))


def test_command(tmp_path):
    (tmp_path / "mine.py").write_text("def solve(problem):\n    return None\n")
    run = [sys.executable, "-m", "carom", "exam", "--problems", "2", "--group", "jammed", "--solver"]
    ended = subprocess.run([*run, "mine:solve"], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "| mine:solve | jammed | 2 |" in ended.stdout
    for name in ("mine:other", "nowhere:solve"):
        ended = subprocess.run([*run, name], cwd=tmp_path, capture_output=True, text=True)
        assert ended.returncode == 2 and name.split(":")[name.startswith("mine")] in ended.stderr
    with pytest.raises(carom.InvalidInput, match="groups: all"):
        exam.problems(1, groups=["all"])


def test_dart_gives_what_its_law_says(drawn):
    """dSolveLCP beside carom's own method for limits that ODE freezes, where there is one answer."""
    dart = _exam_solvers.SOLVERS.get("DART (dSolveLCP)")
    if dart is None:
        pytest.skip("no libdart-external-odelcpsolver")
    for problem in of(drawn, "well_posed"):
        given = problem.boxed_lcp()
        rest = {name: given[name] for name in ("findex", "mu")}
        ours = carom.solve_boxed_lcp(given["M"], given["q"], given["lo"], given["hi"], **rest, friction_law="ode").solution[0]
        np.testing.assert_allclose(dart(problem), ours, atol=1e-9 * np.abs(ours).max() + 1e-15)
