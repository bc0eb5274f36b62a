"""What results claim, judged anew from their problems; backends against each other."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import carom
from carom import Status

rng = np.random.default_rng(3)


def tampered(result, **fields):
    """The result with other numbers, of which its residual and status know nothing."""
    return dataclasses.replace(result, **fields)


def test_lcps_are_judged_anew():
    n, k = 200, 6
    a = rng.standard_normal((n, k, k))
    found = carom.solve_lcp(a @ a.transpose(0, 2, 1) + 0.1 * np.eye(k), rng.standard_normal((n, k)))
    assert (found.status == Status.solved).all() and found.verify().all()
    np.testing.assert_allclose(found.residuals(), found.residual, atol=1e-15)
    z = found.z.copy()
    z[7] += 1e-3
    wrong = tampered(found, solution=z).verify()
    assert not wrong[7] and wrong.sum() == n - 1
    found.problem["vector"][9, 0] = -1e3  # the problem's arrays are looked at, not the solver's memory of them
    assert not found.verify()[9]


def test_lcps_without_an_answer_claim_nothing():
    # three answers, and a ray on Lemke's path (Cottle, Pang, Stone 2009)
    found = carom.solve_lcp([[0, 0, 10, 20], [0, 0, 30, 15], [10, 20, 0, 0], [30, 15, 0, 0]], np.full(4, -1.0), max_nodes=0)
    assert found.status[0] == Status.ray and not found.verify()[0] and np.isnan(found.residuals()[0])


def test_contradictory_lcps_have_a_farkas_vector():
    found = carom.solve_lcp([[[-1.0]], [[2.0]]], [[-1.0], [-1.0]])
    assert found.status.tolist() == [Status.infeasible, Status.solved]
    assert found.verify().all() and found.farkas[0, 0] > 0 and np.isnan(found.farkas[1, 0])
    assert not tampered(found, farkas=-found.farkas).verify()[0]
    bare = carom.solve_lcp([[-1.0]], [-1.0], certificates=False)
    assert bare.status[0] == Status.infeasible and bare.farkas is None and not bare.verify()[0]


def test_automatic_is_auto():
    found = carom.solve_lcp([[2.0]], [-1.0], backend="automatic")
    assert found.status[0] == Status.solved
    assert carom.solve_qp([[1.0]], [-1.0], method="automatic").status[0] == Status.solved


def linear(n=60):
    """min c'x, A x <= b: with an answer, without a point, without an end."""
    a = rng.standard_normal((n, 5, 3))
    a[n // 3 : 2 * n // 3, 4] = -a[n // 3 : 2 * n // 3, 3]
    b = np.abs(rng.standard_normal((n, 5))) + 0.1
    b[n // 3 : 2 * n // 3, 4] = -b[n // 3 : 2 * n // 3, 3] - 1.0  # a x <= b and a x >= b + 1
    low = np.zeros((n, 3))
    low[2 * n // 3 :] = -np.inf
    return rng.standard_normal((n, 2, 3)), a, b, low


def test_lps_with_all_their_proofs():
    c, a, b, low = linear()
    found = carom.solve_lp(c, a, row_upper=b, lower=low, upper=np.full(3, np.inf))
    kinds = set(found.status.ravel().tolist())
    assert {int(Status.solved), int(Status.infeasible), int(Status.unbounded)} <= kinds
    claimed = np.isin(found.status, (Status.solved, Status.infeasible, Status.unbounded))
    assert claimed.all() and found.verify().all() and found.verify().shape == (60, 2)
    for status, field in ((Status.solved, "solution"), (Status.solved, "dual"), (Status.infeasible, "farkas"),
                          (Status.unbounded, "ray"), (Status.unbounded, "point")):  # fmt: skip
        values = getattr(found, field).copy()
        at = tuple(np.argwhere(found.status == status)[0])
        values[at] = -values[at] - 1.0
        wrong = tampered(found, **{field: values}).verify()
        assert not wrong[at] and wrong.sum() == wrong.size - 1, field
    # an infeasible problem that claims to be solved
    status = found.status.copy()
    status[found.status == Status.infeasible] = Status.solved
    assert not tampered(found, status=status).verify()[found.status == Status.infeasible].any()
    bare = carom.solve_lp(c, a, row_upper=b, lower=low, upper=np.full(3, np.inf), certificates=False)
    assert (bare.verify() == (bare.status == Status.solved)).all()


def test_lps_share_their_polytope():
    found = carom.solve_lp(rng.standard_normal((8, 1, 2)), [[1.0, 1.0]], row_upper=[1.0], lower=[0.0, 0.0], upper=[1.0, 1.0])
    assert found.verify().all() and found.problem["matrix"].shape == (1, 1, 2)


def test_qps_with_all_their_proofs():
    n, v = 40, 3
    p = rng.standard_normal((n, v, v))
    p = p @ p.transpose(0, 2, 1) + 0.1 * np.eye(v)
    a, q = rng.standard_normal((n, 2, v)), rng.standard_normal((n, v))
    low, high = -np.ones((n, 2)), np.ones((n, 2))
    a[:10, 1], low[:10, 1], high[:10, 1] = a[:10, 0], 2.0, 3.0  # a x <= 1 and a x >= 2
    p[10:20], a[10:20] = 0.0, 0.0  # nothing holds q'x
    p[20:25] = -np.eye(v)
    low[25:28, 0], high[25:28, 0] = 2.0, 1.0  # bounds that exclude each other
    found = carom.solve_qp(p, q, a, low, high)
    wanted = [Status.infeasible] * 10 + [Status.unbounded] * 10 + [Status.nonconvex] * 5 + [Status.infeasible] * 3
    assert found.status.tolist() == [*wanted, *[Status.solved] * 12] and found.verify().all()
    for field, at in (("solution", 30), ("dual", 30), ("certificate", 0), ("certificate", 12), ("certificate", 22),
                      ("certificate", 26), ("point", 12)):  # fmt: skip
        values = getattr(found, field).copy()
        values[at] = 0.0 if field == "certificate" else values[at] + (np.inf if field == "point" else 1.0)
        wrong = tampered(found, **{field: values}).verify()
        assert not wrong[at] and wrong.sum() == n - 1, (field, at)


def test_cones():
    found = carom.solve_qp(np.eye(2), [-1.0, -1.0], C=-np.eye(3)[:, 1:], b=[1.0, 0.0, 0.0], cones=[("soc", 3)])
    assert found.verify().all()
    assert not tampered(found, cone_dual=found.z + 1.0).verify().any()
    # x = 2 and |x| <= 1
    none = carom.solve_qp([[1.0]], [0.0], [[1.0]], [2.0], [2.0], C=[[0.0], [-1.0]], b=[1.0, 0.0], cones=[("soc", 2)])
    assert none.status[0] == Status.infeasible and none.verify().all()
    assert not tampered(none, certificate=none.certificate * [[1.0, 0.0, 1.0]]).verify().any()
    zero = carom.solve_qp([[1.0]], [0.0], C=[[1.0], [1.0]], b=[1.0, 1.0], cones=[("zero", 1), ("nonneg", 1)])
    assert zero.verify().all() and zero.x[0, 0] == pytest.approx(1.0)


def test_sdps_and_friction():
    # the least eigenvalue of a matrix
    m = rng.standard_normal((4, 5, 5))
    m = m + m.transpose(0, 2, 1)
    found = carom.solve_sdp(m, np.eye(5)[None, None], [1.0])
    np.testing.assert_allclose(found.y[:, 0], np.linalg.eigvalsh(m)[:, 0], atol=1e-6)
    assert found.verify().all()
    assert not tampered(found, y=found.y + 1e-3).verify().any()
    assert not tampered(found, x=found.x * 1.01).verify().any()
    none = carom.solve_sdp(-np.eye(2), np.array([[[1.0, 0.0], [0.0, -1.0]]]), [1.0])
    assert none.status[0] == Status.infeasible and none.verify().all()
    assert not tampered(none, x=-none.x).verify().any()
    # -1 on the diagonal, the last entry free: what X has there is rounding, and all of its terms
    a = np.zeros((4, 3, 3))
    for i, (row, column) in enumerate([(0, 1), (0, 2), (1, 2), (2, 2)]):
        a[i, row, column] = a[i, column, row] = -1.0
    empty = carom.solve_sdp(np.diag([0.0, -1.0, 0.0]), a, np.ones(4))
    assert empty.status[0] == Status.infeasible and empty.verify().all()
    endless = carom.solve_sdp(np.eye(2), -np.eye(2)[None], [1.0])
    assert endless.status[0] == Status.unbounded and endless.verify().all()
    assert not tampered(endless, ray=-endless.ray).verify().any()
    # an error that is small only compared with the largest constant and with the objective
    apart = carom.solve_sdp([1e6, 1e-3], [[1e6, 0.0], [0.0, 1.0]], [1e6, 1.0], blocks=[1, 1])
    np.testing.assert_allclose(apart.objective, 1e6, rtol=1e-8)
    np.testing.assert_allclose(apart.residuals(), apart.residual, rtol=1e-4)
    assert apart.verify().all() and not tampered(apart, y=apart.y + [0.0, 1e-3]).verify().any()
    free = carom.solve_sdp(np.eye(2), [np.eye(2), np.eye(2)], [2.0, -1.0])
    assert free.status[0] == Status.unbounded and free.verify().all()
    w = rng.standard_normal((20, 6, 6))
    held = carom.solve_coulomb(w @ w.transpose(0, 2, 1) + np.eye(6), rng.standard_normal((20, 6)), [0.5, 0.5])
    assert (held.status == Status.solved).all() and held.verify().all()
    assert not tampered(held, reaction=held.reaction + 0.01).verify().any()


def test_proofs_travel_with_results(tmp_path):
    pytest.importorskip("h5py")
    c, a, b, low = linear(9)
    found = carom.solve_lp(c, a, row_upper=b, lower=low, upper=np.full(3, np.inf))
    found.save(tmp_path / "lp.h5")
    cones = carom.solve_qp(np.eye(2), [-1.0, -1.0], C=-np.eye(3)[:, 1:], b=[1.0, 0.0, 0.0], cones=[("soc", 3)])
    cones.save(tmp_path / "qp.h5")
    for each in (carom.load(tmp_path / "lp.h5"), pickle.loads(pickle.dumps(found)), copy.deepcopy(found),
                 carom.load(tmp_path / "qp.h5"), pickle.loads(pickle.dumps(cones))):  # fmt: skip
        assert each.verify().all()


def test_the_tolerance_is_the_settings():
    a = rng.standard_normal((50, 4, 4))
    p, q = a @ a.transpose(0, 2, 1) + 0.1 * np.eye(4), rng.standard_normal((50, 4))
    coarse = carom.solve_qp(p, q, np.eye(4), -np.ones(4), np.ones(4), method="admm", polish=False, tolerance=1e-4)
    assert (coarse.status == Status.solved).all() and coarse.verify().all()
    assert not coarse.verify(1e-15).all()


def test_enclosures_and_their_samples():
    problem = carom.model("rocking_block")
    run = carom.impact.sample(problem, samples=4096)
    enclosure = carom.impact.enclose(problem)[0]
    share = enclosure.filled(run)
    bounds = [enclosure.normal_velocity_max - enclosure.normal_velocity_min,
              enclosure.tangent_velocity_max - enclosure.tangent_velocity_min]  # fmt: skip
    summary = run.summary[0]
    reached = [summary["normal_velocity_max"] - summary["normal_velocity_min"],
               summary["tangent_velocity_max"] - summary["tangent_velocity_min"]]  # fmt: skip
    wide = np.concatenate(bounds) > 1e-9
    assert share == pytest.approx((np.concatenate(reached)[wide] / np.concatenate(bounds)[wide]).min(), abs=1e-12)
    assert 0.5 < share <= 1.0
    few = carom.impact.sample(problem, samples=4)
    assert enclosure.filled(few) < share
    with pytest.raises(carom.InvalidInput):
        enclosure.filled(carom.impact.sample(carom.model("compass_gait" if problem.contacts != 2 else "disk_stack"), samples=4))


def test_backends_are_compared(monkeypatch):
    problems = carom.model("rocking_block", friction=np.linspace(0.2, 1.0, 5))
    found = carom.validate(problems, samples=64)
    assert found.agree and found.backends == ("cpu", "reference") and found.disagreements.shape == (1, 5)
    assert found.max_difference.max() < 1e-9 and "0 disagreements in 64 samples of 5 problems" in repr(found)
    with pytest.raises(carom.InvalidInput, match="two or more"):
        carom.validate(problems, backends=["cpu"])
    plain = carom.impact.sample

    def other(*arguments, backend, **settings):
        run = plain(*arguments, backend=backend, **settings)
        if backend == "reference":
            run.samples.velocity[2, 7] += 1e-3
        return run

    monkeypatch.setattr(carom.impact, "sample", other)
    wrong = carom.validate(problems, samples=64)
    assert not wrong.agree and wrong.disagreements.tolist() == [[0, 0, 1, 0, 0]]
    assert wrong.worst_sample.tolist() == [[-1, -1, 7, -1, -1]] and wrong.velocity_differences[0, 2] == 1
