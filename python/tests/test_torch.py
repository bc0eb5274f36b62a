"""carom.torch against torch's own finite differences, the NumPy gradients and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import carom

torch = pytest.importorskip("torch")
from carom import torch as layers  # noqa: E402


def tensor(array):
    return torch.tensor(np.asarray(array, dtype=float), dtype=torch.float64, requires_grad=True)


def spd(rng, *shape):
    root = rng.normal(size=shape)
    return root @ np.swapaxes(root, -1, -2) + np.eye(shape[-1])


def test_lcps():
    rng = np.random.default_rng(1)
    M, q = tensor(spd(rng, 3, 4, 4)), tensor(rng.normal(size=(3, 4)))
    assert torch.autograd.gradcheck(lambda M, q: layers.solve_lcp(M, q).solution, (M, q), eps=1e-7, atol=1e-5)
    answer = layers.solve_lcp(M, q)
    assert answer.gradient is None and answer.result.verify().all()
    answer.solution.sum().backward()
    plain = carom.solve_lcp(M.detach().numpy(), q.detach().numpy()).vjp(solution=np.ones((3, 4)))
    np.testing.assert_array_equal(M.grad.numpy(), plain.matrix)
    np.testing.assert_array_equal(q.grad.numpy(), plain.vector)
    assert answer.gradient.words() == plain.words() == ["smooth"] * 3


def test_qps_shared_and_own():
    rng = np.random.default_rng(2)
    P, A, u = tensor(spd(rng, 4, 4)), tensor(rng.normal(size=(3, 4))), tensor(0.1 * np.ones(3))
    q = tensor(rng.normal(size=(5, 4)))

    def layer(P, q, A, u):
        answer = layers.solve_qp(0.5 * (P + P.T), q, A, u=u)
        return answer.solution, answer.dual, answer.objective

    assert torch.autograd.gradcheck(layer, (P, q, A, u), eps=1e-7, atol=1e-5)
    one = layers.solve_qp(P, q[0], A, u=u)
    assert one.solution.shape == (4,) and one.objective.shape == ()
    one.solution.sum().backward()
    assert P.grad.shape == (4, 4) and q.grad.shape == (5, 4) and not q.grad[1:].any()


def test_cones_and_single_precision():
    rng = np.random.default_rng(3)
    C, b = -np.eye(3), np.array([1.0, 0.0, 0.0])
    q = torch.tensor(rng.normal(size=3), dtype=torch.float32, requires_grad=True)
    answer = layers.solve_qp(np.zeros((3, 3)) + 2.0 * np.eye(3), 10.0 * q, C=C, b=b, cones=[("soc", 3)])
    assert answer.result.verify().all()
    answer.objective.backward()
    assert q.grad.dtype == torch.float32
    np.testing.assert_allclose(q.grad.numpy(), 10.0 * answer.result.x[0], rtol=1e-5)  # the envelope theorem


def test_lps():
    rng = np.random.default_rng(4)
    A, x = rng.normal(size=(3, 5)), rng.random((4, 5))
    c, b = tensor(rng.normal(size=(4, 5))), tensor(x @ A.T)
    layer = lambda c, b: layers.solve_lp(c, A, b, b, torch.zeros(5), torch.full((5,), 2.0, dtype=torch.float64))
    assert layer(c, b).solution.shape == (4, 5)
    assert torch.autograd.gradcheck(lambda c, b: (layer(c, b).solution, layer(c, b).objective), (c, b), eps=1e-8, atol=1e-5)


def test_misuse_and_problems_without_an_answer():
    M, q = tensor(-np.eye(2)[None]), tensor([[-1.0, 1.0]])
    answer = layers.solve_lcp(M, q)
    answer.solution.sum().backward()
    assert answer.status[0] == carom.Status.infeasible and torch.isnan(q.grad).all()
    with pytest.raises(carom.InvalidInput, match="floating"):
        layers.solve_lcp(torch.eye(2, dtype=torch.int64), torch.ones(2))
    M, q = tensor(np.eye(2)), tensor([-1.0, -2.0])
    (first,) = torch.autograd.grad(layers.solve_lcp(M, q).solution.sum(), q, create_graph=True)
    with pytest.raises(RuntimeError):
        first.sum().backward()


def test_a_layer_learns_a_friction_coefficient():
    """A sliding block: the friction impulse is mu times the normal one; mu is found from a velocity."""
    mu = torch.tensor(0.9, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.SGD([mu], lr=0.2)
    for _ in range(60):
        # unknowns normal, friction to the left, slip; velocity 2 to the right, 1 down, unit mass
        M = torch.stack([torch.stack([torch.tensor(x, dtype=torch.float64) if not torch.is_tensor(x) else x for x in row])
                         for row in ([1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [mu, -1.0, 0.0])])  # fmt: skip
        z = layers.solve_lcp(M, torch.tensor([-1.0, -2.0, 0.0], dtype=torch.float64)).solution
        loss = (2.0 - z[1] - 1.7) ** 2
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert mu.item() == pytest.approx(0.3, abs=1e-6)


def test_steps():
    rng = np.random.default_rng(5)
    n, nv, m = 3, 4, 3
    types = ["normal", "tangent", "tangent"]
    M, f, v = tensor(spd(rng, n, nv, nv)), tensor(rng.normal(size=(n, nv))), tensor(rng.normal(size=(n, nv)))
    J, phi, mu, h = tensor(rng.normal(size=(n, m, nv))), tensor(-0.01 * rng.random(m)), tensor(0.4), tensor(0.01)
    K, B = [2e3, 0.0, 0.0], [20.0, 30.0, 30.0]

    def layer(M, f, v, J, phi, mu, h):
        rows = carom.compliant.Rows(types, J, phi=phi, K=K, B=B, mu=mu)
        answer = layers.step(0.5 * (M + M.transpose(-1, -2)), f, v, rows, h, centripetal=False, tolerance=1e-12)
        return answer.velocity, answer.force, answer.kinetic_energy

    assert torch.autograd.gradcheck(layer, (M, f, v, J, phi, mu, h), eps=1e-7, atol=1e-5, rtol=1e-4)


def test_runs():
    friction, angle = tensor([0.1, 0.2]), tensor(20.0)

    def run(friction, angle):
        answer = layers.worlds("inclined_block", {"friction": friction, "angle": angle}, steps=30, tolerance=1e-12)
        return answer.displacement, answer.velocity

    assert torch.autograd.gradcheck(run, (friction, angle), eps=1e-6, atol=1e-6, rtol=1e-5)
    answer = layers.worlds("inclined_block", {"friction": friction[0], "angle": angle}, steps=30)
    assert answer.displacement.shape == () and answer.velocity.shape == (6,)
    answer.displacement.backward()
    plain = carom.compliant.worlds("inclined_block", {"friction": 0.1, "angle": 20.0}, steps=30).vjp(displacement=1.0)
    assert angle.grad.item() == plain.parameters["angle"] and answer.gradient.words() == ["smooth"]
