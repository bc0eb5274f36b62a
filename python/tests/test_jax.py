"""carom.jax: the bits of the plain calls, under jit and vmap, by targets and by callbacks."""

from __future__ import annotations

import numpy as np
import pytest

import carom

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402

import carom.jax as cj  # noqa: E402


@pytest.fixture(params=["ffi", "callback"], autouse=True)
def way(request, monkeypatch):
    if request.param == "ffi" and not cj.BY_FFI:
        pytest.skip("built without the headers of jax.ffi")
    monkeypatch.setattr(cj, "BY_FFI", request.param == "ffi")
    jax.clear_caches()


def lcps(n, k=3, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, k, k))
    return A @ A.transpose(0, 2, 1) + 0.1 * np.eye(k), rng.normal(size=(n, k))


def same(answer, plain):
    for name in answer._fields:
        expected = np.asarray(getattr(plain, name))
        assert np.asarray(getattr(answer, name)).tobytes() == expected.tobytes(), name


def test_lcp_under_jit_and_vmap():
    M, q = lcps(24)
    plain = carom.solve_lcp(M, q)
    same(jax.jit(cj.solve_lcp)(M, q), plain)
    same(jax.vmap(cj.solve_lcp)(M, q), plain)
    nested = jax.vmap(jax.vmap(cj.solve_lcp))(M.reshape(4, 6, 3, 3), q.reshape(4, 6, 3))
    assert nested.solution.shape == (4, 6, 3)
    assert np.asarray(nested.solution).tobytes() == plain.solution.tobytes()
    one = jax.vmap(cj.solve_lcp, in_axes=(None, 0))(M[0], q)
    same(one, carom.solve_lcp(M[0], q))


def test_it_is_part_of_a_programme():
    M, q = lcps(8)

    @jax.jit
    def programme(M, q):
        z = cj.solve_lcp(M, q, tolerance=1e-8).solution
        return jnp.einsum("nij,nj->ni", M, z) + q

    expected = carom.solve_lcp(M, q, tolerance=1e-8)
    np.testing.assert_allclose(programme(M, q), expected.w, atol=1e-12)


def test_bad_problems_are_statuses():
    M, q = lcps(4)
    q[2, 1] = np.nan
    answer = jax.jit(cj.solve_lcp)(M, q)
    assert np.asarray(answer.status).tolist() == [0, 0, int(carom.Status.invalid_input), 0]
    assert np.isnan(answer.solution[2]).all() and np.isfinite(answer.solution[3]).all()


def test_qp_with_cones():
    rng = np.random.default_rng(1)
    n, v = 6, 4
    B = rng.normal(size=(n, v, v))
    P, q = B @ B.transpose(0, 2, 1) + np.eye(v), rng.normal(size=(n, v))
    A, l, u = rng.normal(size=(n, 2, v)), -np.ones((n, 2)), np.ones((n, 2))
    C, b = -np.eye(3, v), np.array([2.0, 0.0, 0.0])
    plain = carom.solve_qp(P, q, A, l, u, C, b, cones=[("soc", 3)])
    assert (plain.status == 0).all()
    same(jax.jit(lambda *a: cj.solve_qp(*a, cones=[("soc", 3)]))(P, q, A, l, u, C, b), plain)
    same(jax.vmap(cj.solve_qp)(P, q), carom.solve_qp(P, q))


def test_boxed_lcps_with_friction_indices():
    """Of contacts [normal, friction], each problem with its own coefficient; an equation between them."""
    random = np.random.default_rng(23)
    half = random.normal(size=(6, 5, 5))
    M, q = half @ half.transpose(0, 2, 1) + 0.1 * np.eye(5), random.normal(size=(6, 5))
    lo, hi = np.array([0.0, -np.inf, 0.0, -np.inf, -np.inf]), np.full(5, np.inf)
    findex, mu = np.array([-1, 0, -1, 2, -1]), random.uniform(0.1, 1.0, (6, 5))
    plain = carom.solve_boxed_lcp(M, q, lo, hi, findex=findex, mu=mu)
    assert (plain.status == carom.Status.solved).all()
    for call in (cj.solve_boxed_lcp, jax.vmap(cj.solve_boxed_lcp, in_axes=(0, 0, None, None))):
        without = jax.jit(call)(M, q, lo, hi)
        assert (without.solution == carom.solve_boxed_lcp(M, q, lo, hi).solution).all()
    answer = jax.jit(jax.vmap(lambda M, q, mu: cj.solve_boxed_lcp(M, q, lo, hi, findex=findex, mu=mu)))(M, q, mu)
    for name in answer._fields:
        assert (getattr(answer, name) == getattr(plain, name)).all(), name
    assert (np.abs(answer.solution[:, 1]) <= mu[:, 1] * answer.solution[:, 0] + 1e-9).all()
    bad = jax.jit(lambda q: cj.solve_boxed_lcp(M, q))(np.where(np.arange(6)[:, None] == 2, np.nan, q))
    assert (np.flatnonzero(bad.status != 0) == [2]).all()
    as_ode = np.where(findex >= 0, 0.5, np.inf)  # coefficients in the place of bounds
    answer = jax.jit(lambda q: cj.solve_boxed_lcp(M, q, np.where(findex >= 0, -as_ode, lo), as_ode, findex=findex))(q)
    assert (answer.solution == carom.solve_boxed_lcp(M, q, lo, as_ode, findex=findex).solution).all()
    for wrong in ([9, -1, -1, -1, -1], [-1, 0]):
        with pytest.raises(carom.InvalidInput, match="findex"):
            jax.jit(lambda q, wrong=wrong: cj.solve_boxed_lcp(M, q, lo, hi, findex=wrong, mu=mu))(q)


def test_impacts():
    blocks = carom.model("rocking_block", friction=np.linspace(0.2, 1.0, 5))
    arrays = [blocks.mass_matrix, blocks.normal_jacobian, blocks.tangent_jacobian, blocks.friction, blocks.velocity]
    settings = {"samples": 64, "step_size": 0.3, "max_steps": 10, "seed": 2**64 - 1}
    plain = carom.impact.sample(*arrays, **settings).samples
    answer = jax.jit(lambda *a: cj.sample_impacts(*a, **settings))(*arrays)
    same(answer, plain)
    same(jax.vmap(lambda *a: cj.sample_impacts(*a, **settings))(*arrays), plain)
    arrays[0] = arrays[0].copy()
    arrays[0][1, 0, 0] = -1.0  # no mass matrix
    bad = cj.sample_impacts(*arrays, **settings)
    assert (np.asarray(bad.status)[0] == 0).all() and not (np.asarray(bad.status)[1] == 0).any()


def test_refusals_come_while_tracing():
    M, q = lcps(2)
    with pytest.raises(carom.InvalidInput, match="toleranc"):
        jax.jit(lambda M, q: cj.solve_lcp(M, q, toleranc=1e-8))(M, q)
    with pytest.raises(carom.InvalidInput, match="vector"):
        cj.solve_lcp(M, q[:, :2])
    with pytest.raises(carom.InvalidInput, match="epsilon"):
        cj.sample_impacts(*(np.zeros((1, 1)),) * 5, epsilon=0.1)
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(carom.InvalidInput, match="float64"):
            cj.solve_lcp(M, q)
    finally:
        jax.config.update("jax_enable_x64", True)


def test_gradients_are_those_of_the_plain_calls_under_jit_and_vmap():
    M, q = lcps(12)
    r = carom.solve_lcp(M, q)
    plain = r.vjp(solution=2 * r.solution)
    assert set(plain.words()) == {"smooth"}

    def loss(M, q):
        return jnp.sum(cj.solve_lcp(M, q).solution ** 2)

    made = jax.jit(jax.grad(loss, argnums=(0, 1)))(M, q)
    assert np.asarray(made[0]).tobytes() == plain.matrix.tobytes()
    assert np.asarray(made[1]).tobytes() == plain.vector.tobytes()
    each = jax.jit(jax.vmap(jax.grad(loss, argnums=1)))(M, q)
    assert np.asarray(each).tobytes() == plain.vector.tobytes()
    shared = jax.grad(loss)(M[0], q)
    expected = carom.solve_lcp(np.repeat(M[:1], 12, axis=0), q)
    np.testing.assert_allclose(shared, expected.vjp(solution=2 * expected.solution).matrix.sum(axis=0), rtol=1e-13)
    answer, gradient = jax.jit(cj.solve_lcp_vjp)(M, q, 2 * r.solution)
    same(gradient, plain)
    along = r.jvp(matrix=M, vector=q)
    same(jax.jit(lambda: cj.solve_lcp_jvp((M, q), (M, q))[1])(), along)


def test_gradients_of_qps_ask_for_what_jax_differentiates():
    from jax.test_util import check_grads

    rng = np.random.default_rng(4)
    P, _ = lcps(6)
    q, A = 5 * rng.normal(size=(6, 3)), rng.normal(size=(6, 5, 3))
    l, u = -np.ones((6, 5)), np.ones((6, 5))
    r = carom.solve_qp(P, q, A, l, u)

    def loss(P, q, A, u):
        answer = cj.solve_qp(P, q, A, l, u)
        return jnp.sum(answer.solution**2) + jnp.sum(answer.objective) + jnp.sum(answer.dual)

    plain = r.vjp(solution=2 * r.solution, dual=np.ones((6, 5)), objective=np.ones(6))
    assert set(plain.words()) == {"smooth"}
    made = jax.jit(jax.grad(loss, argnums=(0, 1, 2, 3)))(P, q, A, u)
    for got, name in zip(made, ("hessian", "vector", "matrix", "upper")):
        np.testing.assert_allclose(got, getattr(plain, name), atol=1e-14)
    check_grads(lambda q, u: cj.solve_qp(P, q, A, l, u).solution, (q, u), order=1, modes=["rev"])
    # Redundant corners: smooth in q alone, with which jax.grad is content; NaN nowhere.
    corners = np.array([[1.0, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]])
    mass = np.diag([2.0, 0.3, 0.5])
    velocity = jax.grad(lambda q: jnp.sum(cj.solve_qp(mass, q, corners, jnp.zeros(4)).solution))
    np.testing.assert_allclose(velocity(jnp.array([2.0, 0.0, 0.0])), 0.0, atol=1e-13)
    _, own = cj.solve_qp_vjp(mass, np.array([2.0, 0, 0]), corners, np.zeros(4), solution=np.ones(3))
    _, smooth = cj.solve_qp_vjp(mass, np.array([2.0, 0, 0]), corners, np.zeros(4), solution=np.ones(3), wrt=("vector",))
    assert int(own.status) == carom.Smoothness.kink and int(smooth.status) == carom.Smoothness.smooth
    _, along = cj.solve_qp_jvp((P, q, A, l, u), (None, q))
    np.testing.assert_array_equal(along.solution, r.jvp(vector=q).solution)


def test_a_cotangent_with_nan_spoils_its_own_problem_alone():
    M, q = lcps(3)
    bad = np.ones((3, 3))
    bad[1, 2] = np.nan
    _, gradient = cj.solve_lcp_vjp(M, q, bad)
    assert np.isnan(gradient.vector[1]).all() and np.isfinite(gradient.vector[jnp.array([0, 2])]).all()


def sliding(mu, steps=60, kept=False):
    """Position of a block on an incline after its steps."""
    pull = 9.81 * jnp.array([np.sin(0.35), -np.cos(0.35)])

    def one(state, _):
        x, v = state
        rows = carom.compliant.Rows(["normal", "tangent"], [[0.0, 1.0], [1.0, 0.0]], 0.0, jnp.array([x[1], 0.0]),
                                    jnp.array([1e5, 0.0]), jnp.array([1e3, 1e5]), jnp.array([mu, 0.0]))  # fmt: skip
        r = cj.step(jnp.eye(2), pull, v, rows, 0.01, dimension=2)
        return (x + r.increment, r.velocity), r.status

    body = one if kept else jax.checkpoint(one)
    (x, _), status = jax.lax.scan(body, (jnp.zeros(2), jnp.zeros(2)), None, length=steps)
    return x[0]


def test_runs_of_steps_have_gradients_under_jit_vmap_and_scan():
    value, slope = jax.jit(jax.value_and_grad(sliding))(0.2)
    t = 1e-5
    assert float(slope) == pytest.approx(float(sliding(0.2 + t) - sliding(0.2 - t)) / (2 * t), rel=1e-7)
    # -g cos(tilt) h^2 T (T + 1) / 2, but for the first steps, in which the block settles.
    assert float(slope) == pytest.approx(-9.81 * np.cos(0.35) * 1e-4 * 60 * 61 / 2, rel=1e-3)
    whole = jax.grad(lambda mu: sliding(mu, kept=True))(0.2)
    assert float(whole) == float(slope)  # steps taken again are the same
    each = jax.jit(jax.vmap(jax.grad(sliding)))(jnp.array([0.1, 0.2, 0.6]))
    assert float(each[1]) == pytest.approx(float(slope), rel=1e-14) and float(each[2]) == 0.0  # it sticks


def test_steps_are_those_of_the_plain_call():
    rng = np.random.default_rng(8)
    n, nv = 5, 3
    B = rng.normal(size=(n, nv, nv))
    M, J = B @ B.transpose(0, 2, 1) + np.eye(nv), rng.normal(size=(n, 4, nv))
    f, v = rng.normal(size=(n, nv)), rng.normal(size=(n, nv))
    rows = carom.compliant.Rows(["normal", "tangent", "tangent", "unilateral"], J, 0.0, [-1e-3, 0, 0, -1e-3],
                                [1e4, 0, 0, 1e3], [1e2, 1e3, 1e3, 10.0], [0.4, 0, 0, 0])  # fmt: skip
    plain = carom.compliant.step(M, f, v, rows, 0.01)
    same(jax.jit(lambda v: cj.step(M, f, v, rows, 0.01))(v), plain)
    w = rng.normal(size=(n, nv))
    expected = plain.vjp(velocity=w)
    answer, gradient = cj.step_vjp(M, f, v, rows, 0.01, velocity=w)
    same(answer, plain)
    for name in ("mass_matrix", "force", "velocity", "jacobian", "status", "margin"):
        assert np.asarray(getattr(gradient, name)).tobytes() == getattr(expected, name).tobytes(), name
    np.testing.assert_allclose(gradient.stiffness.sum(axis=0), expected.stiffness, rtol=1e-12)
    with pytest.raises(carom.InvalidInput, match="law"):
        cj.step(M, f, v, rows, 0.01, law="programme")


def test_gradients_of_runs():
    friction, angle = jnp.array([0.1, 0.2]), 20.0

    def loss(friction, angle):
        end = cj.worlds("inclined_block", {"friction": friction, "angle": angle}, steps=30, tolerance=1e-12)
        return jnp.sum(end.displacement * jnp.array([1.0, 2.0])) + jnp.sum(end.velocity)

    value, (of_friction, of_angle) = jax.jit(jax.value_and_grad(loss, (0, 1)))(friction, angle)
    run = carom.compliant.worlds("inclined_block", {"friction": np.array(friction), "angle": angle}, steps=30, tolerance=1e-12)
    assert float(value) == pytest.approx(float(run.displacement @ [1.0, 2.0] + run.velocity.sum()))
    plain = run.vjp(displacement=[1.0, 2.0], velocity=1.0)
    np.testing.assert_allclose(of_friction, plain.parameters["friction"], rtol=1e-13)
    assert float(of_angle) == pytest.approx(plain.parameters["angle"], rel=1e-13)
    t = 1e-4
    far, near = ((loss(friction, angle + s) - loss(friction, angle - s)) for s in (2 * t, t))
    assert float(of_angle) == pytest.approx(float(8.0 * near - far) / (12.0 * t), rel=1e-7)
    one = lambda mu: cj.worlds("inclined_block", {"friction": mu}, steps=30).displacement
    each = jax.vmap(jax.grad(one))(friction)
    np.testing.assert_allclose(each, [jax.grad(one)(mu) for mu in friction], rtol=1e-13)
    flat = jax.grad(lambda a: cj.worlds("compliant_block_impact", {"angle": a}, steps=3).displacement)(0.0)
    assert np.isnan(flat)  # the lower corner changes there
    for parameters, words in (({}, "empty"), ({"frictoin": 0.1}, "frictoin")):
        with pytest.raises(carom.InvalidInput, match=words):
            cj.worlds("inclined_block", parameters)
