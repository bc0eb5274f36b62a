"""Derivatives of compliant steps: against Newton's method in long double with the modes held, one-sided
differences at constructed kinks, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from test_derivatives import Long, apart, difference, inner, sizes, solved

import carom

INPUTS = ("step_size", "mass_matrix", "force", "velocity", "jacobian", "jacobian_dot_v", "phi", "stiffness",
          "damping", "friction")  # fmt: skip
SLIDE, STICK, OPEN, CLOSED = "slide", "stick", "open", "closed"


def held_step(inputs, modes, p, kinds=()):
    """v', lambda and kinetic energy for contacts of `modes`, from p in long double: rows of contact c are
    the next 1 + t, or one row of a joint. kinds: rows that have a centripetal term together."""
    h, M, f, v, J, Jdv, phi, K, B, mu = (np.asarray(inputs[name], dtype=Long) for name in INPUTS)
    n, m = len(v), len(phi)
    X = np.stack([solved(M, column) for column in np.concatenate([J, f[None]])])
    v0 = v + h * X[m]
    s = h * K + B
    D = J @ X[:m].T
    W = D + np.diag(1 / (h * s))
    spring = K * phi
    for rows in kinds:  # the centripetal term, kind by kind
        spring[rows] = spring[rows] + solved(D[np.ix_(rows, rows)], Jdv[rows])
    u = J @ v0 + h * Jdv + spring / s
    p = p.astype(Long)
    for _ in range(8):
        F = W @ p + u
        E, T = np.zeros(m, dtype=Long), np.zeros((m, m), dtype=Long)
        for k, mode, t in modes:
            tangents = np.arange(k + 1, k + 1 + t)
            if mode == OPEN:
                for i in (k, *tangents):
                    E[i], T[i, i] = p[i], 1
                continue
            E[k], T[k] = F[k], W[k]
            if mode == STICK:
                E[tangents], T[tangents] = F[tangents], W[tangents]
            elif mode == SLIDE:
                size = np.sqrt(F[tangents] @ F[tangents])
                for i in tangents:
                    E[i] = p[i] * size + mu[k] * p[k] * F[i]
                    T[i] = p[i] * (F[tangents] @ W[tangents]) / size + mu[k] * p[k] * W[i]
                    T[i, i] += size
                    T[i, k] += mu[k] * F[i]
        p = p - solved(T, E)
    after = v0 + X[:m].T @ p
    return np.concatenate([after, h * after, p / h, [after @ M @ after / 2]])


def modes_of(problem, result, dimension, p):
    """From forces, as a reader sees them."""
    t = dimension - 1
    types, force = problem["type"], result.force[p]
    found, k = [], 0
    while k < len(types):
        if types[k] == "bilateral":
            found.append((k, CLOSED, 0))
            k += 1
            continue
        size = np.linalg.norm(force[k + 1 : k + 1 + t])
        limit = problem["friction"][p, k] * force[k]
        mode = OPEN if force[k] == 0 else SLIDE if size > limit * (1 - 1e-9) else STICK
        found.append((k, mode, t))
        k += 1 + t
    return found


def random_steps(rng, n, contacts, joints, dimension, nv, redundant):
    t = dimension - 1
    types = ["bilateral"] * joints + (["normal"] + ["tangent"] * t) * contacts
    m = len(types)
    B = rng.normal(size=(n, nv, nv))
    J = rng.normal(size=(n, m, nv))
    if redundant:
        J[:, -1 - t :] = J[:, joints : joints + 1 + t]  # the last contact is the first one again
    made = {
        "step_size": rng.uniform(1e-3, 2e-2, n), "mass_matrix": B @ B.transpose(0, 2, 1) / nv + 0.5 * np.eye(nv),
        "force": 5 * rng.normal(size=(n, nv)), "velocity": rng.normal(size=(n, nv)), "jacobian": J,
        "jacobian_dot_v": rng.normal(size=(n, m)), "phi": -1e-3 * rng.uniform(0, 1, size=(n, m)),
        "stiffness": 10 ** rng.uniform(2, 5, (n, m)), "damping": 10 ** rng.uniform(0, 3, (n, m)),
        "friction": rng.uniform(0.1, 0.6, (n, m)),
    }  # fmt: skip
    if redundant:  # alike in all but stiffness, or they could not share a slip
        made["damping"][:, -t:] = made["damping"][:, joints + 1 : joints + 1 + t]
    tangent = np.array([word == "tangent" for word in types])
    made["stiffness"][:, tangent], made["phi"][:, tangent] = 0.0, 0.0
    for k, word in enumerate(types):
        if word == "tangent" and types[k - 1] == "tangent":
            made["damping"][:, k] = made["damping"][:, k - 1]
    return {**made, "type": types}


def kinds_of(types):
    """Rows of joints, of normals, of first and of second tangents."""
    words = [word if word != "tangent" else "first" if types[i - 1] == "normal" else "second" for i, word in enumerate(types)]
    return [[i for i, word in enumerate(words) if word == kind] for kind in sorted(set(words))]


def taken(problem, dimension, centripetal=False, **settings):
    rows = carom.compliant.Rows(problem["type"], problem["jacobian"], problem["jacobian_dot_v"], problem["phi"],
                                problem["stiffness"], problem["damping"], problem["friction"])  # fmt: skip
    return carom.compliant.step(problem["mass_matrix"], problem["force"], problem["velocity"], rows, problem["step_size"],
                                dimension=dimension, centripetal=centripetal, **settings)  # fmt: skip


@pytest.mark.parametrize("centripetal", [False, True])
@pytest.mark.parametrize(
    "contacts, joints, dimension, nv, redundant",
    [(1, 0, 2, 3, False), (2, 1, 2, 4, False), (1, 0, 3, 3, False), (3, 1, 3, 6, False), (3, 0, 3, 6, True), (4, 2, 3, 6, False)],
)
def test_steps_are_right_in_long_double(contacts, joints, dimension, nv, redundant, centripetal):
    if centripetal and redundant:
        return  # below
    rng = np.random.default_rng(10 * contacts + joints + dimension)
    n = 40
    problem = random_steps(rng, n, contacts, joints, dimension, nv, redundant)
    r = taken(problem, dimension, centripetal)
    assert (r.status == 0).all()
    kinds = kinds_of(problem["type"]) if centripetal else ()
    m = len(problem["type"])
    cotangent = {"velocity": rng.normal(size=(n, nv)), "increment": rng.normal(size=(n, nv)),
                 "force": 1e-2 * rng.normal(size=(n, m)), "kinetic_energy": rng.normal(size=n)}
    direction = {name: rng.normal(size=problem[name].shape) * np.abs(problem[name]).mean() for name in INPUTS}
    direction["mass_matrix"] += direction["mass_matrix"].transpose(0, 2, 1)
    g, d = r.vjp(**cotangent), r.jvp(**direction)
    assert g.words() == d.words() and set(g.words()) == {"smooth"}
    left = inner([getattr(g, name) for name in INPUTS], [direction[name] for name in INPUTS])
    answers = [getattr(d, name) for name in cotangent]
    scale = sizes([getattr(g, name) for name in INPUTS], [direction[name] for name in INPUTS])
    assert np.max(np.abs(left - inner(cotangent.values(), answers)) / scale) < 1e-12
    seen = set()
    for p in range(n):
        modes = modes_of(problem, r, dimension, p)
        seen.update(mode for _, mode, _ in modes)

        def answer(t, p=p, modes=modes):
            moved = {name: problem[name][p].astype(Long) + t * direction[name][p] for name in INPUTS}
            return held_step(moved, modes, r.force[p] * problem["step_size"][p], kinds)

        base = answer(Long(0))
        assert np.max(np.abs(base[:nv] - r.velocity[p])) < 1e-7
        got = np.concatenate([d.velocity[p], d.increment[p], d.force[p], [d.kinetic_energy[p]]])
        expected = difference(answer, Long(1e-6))
        for part in (slice(0, nv), slice(2 * nv, 2 * nv + m)):  # velocities and forces have their own units
            assert apart(got[part], expected[part], d.condition[p]) < 1e-10
        assert apart(got, expected, d.condition[p]) < 1e-10
    assert {SLIDE, OPEN} <= seen


def block(v, mu=0.5, f=(0.0, -9.81), phi=-1e-4, h=0.01, K=1e4, B=1e3, Bt=1e6):
    rows = carom.compliant.Rows(["normal", "tangent"], [[0.0, 1.0], [1.0, 0.0]], 0.0, [phi, 0.0], [K, 0.0], [B, Bt], [mu, 0.0])
    return carom.compliant.step(np.eye(2), f, v, rows, h, dimension=2)


def test_a_sliding_block_has_the_closed_form():
    """p_n = eta (s/..)..: the block slides at rate f_x - mu N; d v_x'/d mu = -p_n and d v_x'/d f_x = h."""
    r = block([1.0, 0.0])
    g = r.vjp(velocity=[[1.0, 0.0]])
    normal = r.force[0, 0]
    assert g.words() == ["smooth"]
    np.testing.assert_allclose(g.friction, [-0.01 * normal, 0.0], rtol=1e-13)
    np.testing.assert_allclose(g.force, [0.01, -0.5 * 0.01 * (r.vjp(force=[[1.0, 0.0]], wrt="force").force[1])], rtol=1e-12)
    assert g.velocity[0] == pytest.approx(1.0, rel=1e-14)
    # Sticking: friction does not matter, and the derivative says so.
    stuck = block([0.0, 0.0], f=(1.0, -9.81)).vjp(velocity=[[1.0, 0.0]])
    assert stuck.words() == ["smooth"] and (stuck.friction == 0.0).all() and stuck.velocity[0] < 1e-3


def normal_impulse(phi, vz, h=0.01, K=1e4, B=1e3, f=-9.81):
    s = h * K + B
    return -(vz + h * f + K * phi / s) / (1.0 + 1.0 / (h * s))


def test_touching_with_slip_is_a_kink():
    vz = 0.01 * 9.81  # arrives with F_n = p_n = 0 at phi = 0
    r = block([1.0, vz], phi=0.0)
    g = r.vjp(velocity=[[0.0, 1.0]])
    assert g.words() == ["kink"] and g.doubtful.tolist() == [1] and g.reach.tolist() == [0.0]
    compliance = 1.0 / (0.01 * (0.01 * 1e4 + 1e3))
    closed = compliance / (1 + compliance)  # d v_z'/d v_z where closed
    for element, expected in (("free", 1.0), ("held", closed), ("mean", (1 + closed) / 2)):
        made = r.vjp(velocity=[[0.0, 1.0]], at_kink=element)
        assert made.velocity[1] == pytest.approx(expected, rel=1e-9)
    up, down = r.jvp(velocity=[0.0, 1.0]), r.jvp(velocity=[0.0, -1.0])
    np.testing.assert_allclose(up.velocity, [[0.0, 1.0]], atol=1e-12)
    np.testing.assert_allclose(down.velocity[0, 1], -closed, rtol=1e-9)
    np.testing.assert_allclose(down.velocity[0, 0], -0.5 * (1 - closed), rtol=1e-9)  # friction comes with it
    t = 1e-6
    moved = block([1.0, vz - t], phi=0.0)
    np.testing.assert_allclose((moved.velocity - r.velocity)[0] / t, down.velocity[0], rtol=1e-6)


def test_the_border_of_stick_and_slip_is_a_kink():
    normal = normal_impulse(-1e-4, 0.0)
    mu, eta = 0.5, 0.01 * 1e6
    # p_t = -mu p_n exactly stops it: F_t = v_x + p_t (1 + 1/eta) = 0.
    vx = mu * normal * (1 + 1 / eta)
    r = block([vx, 0.0], mu=mu)
    assert r.force[0, 1] == pytest.approx(-mu * r.force[0, 0], rel=1e-9)
    g = r.vjp(velocity=[[1.0, 0.0]])
    assert g.words() == ["kink"]
    sticking = r.vjp(velocity=[[1.0, 0.0]], at_kink="held")
    sliding = r.vjp(velocity=[[1.0, 0.0]], at_kink="free")
    assert sticking.velocity[0] == pytest.approx((1 / eta) / (1 + 1 / eta), rel=1e-9) and sticking.friction[0] == 0
    assert sliding.velocity[0] == pytest.approx(1.0, rel=1e-9) and sliding.friction[0] == pytest.approx(-normal, rel=1e-9)
    t = 1e-7
    for sign in (1.0, -1.0):
        for name, moved in (("velocity", block([vx + sign * t, 0.0], mu=mu)), ("friction", block([vx, 0.0], mu=mu + sign * t))):
            along = r.jvp(**{name: [sign, 0.0]})
            assert along.words() == ["kink"]
            np.testing.assert_allclose((moved.velocity - r.velocity)[0] / t, along.velocity[0], atol=2e-6)


def test_a_contact_that_touches_at_rest_is_left_undefined_from_the_right():
    r = block([0.0, 0.01 * 9.81], phi=0.0)
    assert r.vjp(velocity=[[0.0, 1.0]]).words() == ["kink"]
    along = r.jvp(velocity=[0.0, -1.0])
    assert along.words() == ["undefined"] and np.isnan(along.velocity).all()


CORNERS = [(x, y) for x in (-0.5, 0.5) for y in (-0.4, 0.4)]


def box(v, count=4, mu=0.4):
    """A box in space on `count` corners, h = 0.01, v = (vx, vy, vz, wx, wy, wz)."""
    J = []
    for x, y in (CORNERS * 4)[:count]:
        z = -0.3
        J += [[0, 0, 1, y, -x, 0], [1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x]]
    types = ["normal", "tangent", "tangent"] * count
    n = len(types)
    normal = np.arange(n) % 3 == 0
    rows = carom.compliant.Rows(types, np.array(J, float), 0.0, np.where(normal, -1e-4, 0.0), np.where(normal, 2e4, 0.0),
                                np.where(normal, 50.0, 1e4), np.where(normal, mu, 0.0))  # fmt: skip
    M = np.diag([2.0, 2.0, 2.0, 0.1, 0.15, 0.2])
    return carom.compliant.step(M, [0, 0, -2 * 9.81, 0, 0, 0], v, rows, 0.01)


@pytest.mark.parametrize("count", [4, 8, 16])
@pytest.mark.parametrize("v", [[0.0] * 6, [1.0, 0.2, 0, 0, 0, 0], [0.3, 0, 0, 0.5, 0, 1.0]])
def test_redundant_contacts_of_a_box_are_smooth(count, v):
    r = box(v, count)
    J, status = r.jacobian("velocity", "velocity", with_status=True)
    assert status.tolist() == [carom.Smoothness.smooth]
    t = 1e-6
    for j in range(6):
        step = t * np.eye(6)[j]
        up, down = box(np.array(v) + step, count), box(np.array(v) - step, count)
        np.testing.assert_allclose((up.velocity - down.velocity)[0] / (2 * t), J[0, :, j], atol=2e-6)


def test_what_is_not_offered_says_so():
    rows = carom.compliant.Rows(["unilateral"], [[1.0]], 0.3, -1e-3, 1e3, 10.0)
    r = carom.compliant.step(np.eye(1), [0.0], [-1.0], rows, 0.01)
    # Equal rows: which of them carries the centripetal term may jump with G and M.
    twins = carom.compliant.Rows(["unilateral"] * 2, [[1.0], [1.0]], [0.3, 0.3], -1e-3, 1e3, 10.0)
    two = carom.compliant.step(np.eye(1), [0.0], [-1.0], twins, 0.01)
    assert two.vjp(velocity=[[1.0]]).words() == two.jvp(jacobian=[[1.0], [0.0]]).words() == ["undefined"]
    assert two.vjp(velocity=[[1.0]], wrt=("velocity", "phi", "jacobian_dot_v")).words() == ["smooth"]
    programme = carom.compliant.step(np.eye(1), [0.0], [-1.0], rows, 0.01, law="programme")
    with pytest.raises(carom.InvalidInput, match="law is programme"):
        programme.vjp(velocity=[[1.0]])
    with pytest.raises(carom.InvalidInput, match=r"cotangent.force\[0\] of problem 0 is inf"):
        r.vjp(force=[[np.inf]])


def test_rates_of_rows_are_asked_for_where_they_are_given():
    """Rounding decides whether rows (1, 0) and (1, 1e-5) depend on each other, and only Jdot_v depends on that."""
    J = [[1.0, 0.0], [1.0, 1e-5]]

    def gradient(*rates, **asked):
        rows = carom.compliant.Rows(["bilateral"] * 2, J, *rates, K=1e3, B=10.0)
        return carom.compliant.step(np.eye(2), [0.0, 0.0], [-1.0, 0.5], rows, 0.01).vjp(velocity=[[1.0, 2.0]], **asked)

    default = gradient()
    assert default.words() == ["smooth"] and default.jacobian_dot_v is None
    assert gradient(wrt="jacobian_dot_v").words() == gradient([0.0, 0.0]).words() == gradient(0.1).words() == ["undefined"]
    assert np.isnan(gradient([0.0, 0.0]).velocity).all()
    without = gradient([0.0, 0.0], wrt=("velocity", "jacobian", "stiffness"))
    assert without.words() == ["smooth"]
    for name in ("velocity", "jacobian", "stiffness"):
        np.testing.assert_array_equal(getattr(default, name), getattr(without, name))


def test_numbers_that_stand_for_all_rows_have_the_sum():
    J = np.array([[1.0, 0.0], [0.5, 1.0]])
    one = carom.compliant.step(np.eye(2), [0.0, 0.0], [-1.0, -0.5], carom.compliant.Rows(["unilateral"] * 2, J, K=1e3, B=10.0), 0.01)
    each = carom.compliant.step(np.eye(2), [0.0, 0.0], [-1.0, -0.5],
                                carom.compliant.Rows(["unilateral"] * 2, J, K=[1e3, 1e3], B=[10.0, 10.0]), 0.01)  # fmt: skip
    g, e = one.vjp(velocity=[[1.0, 2.0]]), each.vjp(velocity=[[1.0, 2.0]])
    assert g.stiffness.shape == () and g.step_size.shape == ()
    assert float(g.damping) == pytest.approx(e.damping.sum(), rel=1e-14)


def test_slips_of_all_sizes_are_certified():
    """Some of 4000 boxes are about to stick: a slide's equation changes with its flow."""
    rng = np.random.default_rng(2)
    n = 4000
    J = np.array([row for x, y in CORNERS for row in ([0, 0, 1, y, -x, 0], [1, 0, 0, 0, -0.3, -y], [0, 1, 0, 0.3, 0, x])], float)
    normal = np.arange(12) % 3 == 0
    rows = carom.compliant.Rows(["normal", "tangent", "tangent"] * 4, J, 0.0,
                                np.where(normal, -1e-3 * rng.uniform(size=(n, 12)), 0.0), np.where(normal, 2e4, 0.0),
                                np.where(normal, 50.0, 1e4), np.where(normal, 0.4, 0.0))  # fmt: skip
    v = rng.normal(size=(n, 6)) * [1, 1, 0.2, 0.2, 0.2, 0.2]
    M = np.diag([2.0, 2.0, 2.0, 0.1, 0.15, 0.2])
    r = carom.compliant.step(M, [0, 0, -20.0, 0, 0, 0], v, rows, 0.01)
    w, dv = rng.normal(size=(2, n, 6))
    g, d = r.vjp(velocity=w, wrt=("velocity",)), r.jvp(velocity=dv)
    assert set(g.words()) == set(d.words()) == {"smooth"} and g.margin.min() < 1e-4
    left, right = (g.velocity * dv).sum(axis=1), (d.velocity * w).sum(axis=1)
    assert np.max(np.abs(left - right) / np.abs(g.velocity * dv).sum(axis=1)) < 1e-11
