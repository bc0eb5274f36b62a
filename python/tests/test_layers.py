"""Layers of cvxpylayers solved by carom: their gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest

import carom
import carom.compat

cp = pytest.importorskip("cvxpy")
jax = pytest.importorskip("jax")
layers = pytest.importorskip("cvxpylayers.jax")
jax.config.update("jax_enable_x64", True)


def quadratic(n, m):
    x, A, b, c = cp.Variable(n), cp.Parameter((m, n)), cp.Parameter(m), cp.Parameter(n)
    Q, e = cp.Parameter((n, n), PSD=True), cp.Parameter()
    rows = A @ x <= b
    problem = cp.Problem(cp.Minimize(0.5 * cp.quad_form(x, Q) + c @ x), [rows, cp.sum(x) == e])
    return problem, [A, b, Q, c, e], [x, rows.dual_variables[0]]


def conic(n, m):
    x, A, b, c, Q = cp.Variable(n), cp.Parameter((m, n)), cp.Parameter(m), cp.Parameter(n), cp.Parameter((n, n), PSD=True)
    ball = cp.SOC(cp.Constant(1.0), x)
    return cp.Problem(cp.Minimize(0.5 * cp.quad_form(x, Q) + c @ x), [ball, A @ x <= b]), [A, b, c, Q], [x]


# Interior answers on cones, and so their derivatives and differences, have fewer digits.
@pytest.mark.parametrize("make, count, share, limit", [(quadratic, 1000, 0.97, 1e-6), (conic, 60, 0.5, 1e-4)])
def test_gradients_of_layers_are_differences(make, count, share, limit):
    rng, n, m = np.random.default_rng(97), 4, 5
    problem, parameters, variables = make(n, m)
    layer = layers.CvxpyLayer(problem, parameters, variables, solver=carom.compat.cvxpylayers_solver(tolerance=1e-11))
    root = rng.normal(size=(count, n, n))
    given = {(m, n): rng.normal(size=(count, m, n)), (m,): rng.random((count, m)) + 0.05, (n,): rng.normal(size=(count, n)),
             (n, n): root @ root.transpose(0, 2, 1) + np.eye(n), (): 0.1 * rng.normal(size=count)}  # fmt: skip
    inputs = [jax.numpy.asarray(given[p.shape]) for p in parameters]
    weights = [rng.normal(size=(count, *v.shape)) for v in variables]

    def each(*arrays):
        return sum((part * w).reshape(count, -1).sum(1) for part, w in zip(layer(*arrays), weights))

    gradients = jax.grad(lambda *a: each(*a).sum(), argnums=tuple(range(len(inputs))))(*inputs)
    for k, (array, gradient) in enumerate(zip(inputs, gradients)):
        along = rng.normal(size=array.shape)
        if array.shape[1:] == (n, n) and parameters[k].shape == (n, n):
            along = along + along.transpose(0, 2, 1)

        def difference(h):
            moved = [[*inputs[:k], array + s * h * along, *inputs[k + 1 :]] for s in (1.0, -1.0)]
            return np.asarray(each(*moved[0]) - each(*moved[1])) / (2.0 * h)

        coarse, fine = difference(2e-5), difference(1e-5)
        smooth = np.abs(coarse - fine) <= 1e-7 * (1.0 + np.abs(fine))  # rows that change in between are kinks
        own = np.asarray((gradient * along).reshape(count, -1).sum(1))
        assert smooth.mean() > share and np.isfinite(own).mean() > 0.99
        wrong = smooth & (np.abs(own - fine) > limit * (1.0 + np.abs(fine)))
        assert not wrong.any(), (parameters[k].shape, np.flatnonzero(wrong))


def test_what_has_no_gradient_says_so():
    x, b = cp.Variable(2), cp.Parameter(2)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= b])
    layer = layers.CvxpyLayer(problem, [b], [x], solver=carom.compat.cvxpylayers_solver())
    gradient = lambda b, own=layer: jax.grad(lambda v: own(v)[0].sum())(jax.numpy.asarray(b))
    np.testing.assert_allclose(gradient([1.0, -1.0]), [1.0, 0.0], atol=1e-8)
    assert np.isnan(gradient([1.0, 0.0])).any()  # the second row is active without a multiplier
    half = layers.CvxpyLayer(problem, [b], [x], solver=carom.compat.cvxpylayers_solver(at_kink="mean"))
    np.testing.assert_allclose(gradient([1.0, 0.0], half), [1.0, 0.5], atol=1e-8)
    empty = cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= b, x <= 0.0])
    layer = layers.CvxpyLayer(empty, [b], [x], solver=carom.compat.cvxpylayers_solver())
    with pytest.raises(carom.SolveError, match="infeasible"):
        layer(jax.numpy.ones(2))
    cone = cp.Problem(cp.Minimize(cp.sum(cp.exp(x))), [x >= b])
    with pytest.raises(carom.InvalidInput, match="exponential"):
        layers.CvxpyLayer(cone, [b], [x], solver=carom.compat.cvxpylayers_solver())
