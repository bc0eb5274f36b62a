"""Compares gradients of 10^4 rigid contact steps: carom's vjp, qpax's jax.grad, central differences.

    python bench/derivatives.py [STEPS]

A box in space meets the ground with 4 or 8 corners: min v'M v/2 - (M v0)'v over N v >= 0. The gradient is that of
w'v in v0 for random w. What is right is known from the rows that hold (strict complementarity, in exact modes of an answer
polished in long double): v = v0 - M^-1 N_B'(N_B M^-1 N_B')^-1 N_B v0, whatever the multipliers. A gradient counts as
right where its error is at most 1e-6 of its size. One thread.

    python bench/derivatives.py mujoco [STEPS]

10^4 states of tossed boxes on the ground in MuJoCo, and the gradient of w'v' in v over one step: that of MuJoCo's step by
mjd_transitionFD, that of carom's compliant step with the same masses, contacts and forces by vjp, each judged by its own
map: differences of fourth order with two steps, where these agree to 1e-7; elsewhere a mode changes within them.

    python bench/derivatives.py nimble [STEPS]

The same compared with Nimble, a fork of DART whose steps have analytic derivatives (nimblephysics 0.10; its bindings need NumPy
before 2), with states of boxes tossed in Nimble.

    python bench/derivatives.py runs [STEPS]

Runs of scenarios: time of the processor of vjp, with checkpoints every root of the steps and as it is, and of jvp, over that
of the run itself. One thread, least of three."""

from __future__ import annotations

import sys
import time

import numpy as np

import carom

CORNERS = np.array([(x, y) for x in (-0.5, 0.5) for y in (-0.4, 0.4)])
DOUBLED = np.concatenate([CORNERS, 0.6 * CORNERS])


def problems(rng, n, corners):
    rows = np.array([[1.0, y, -x] for x, y in corners])
    N = np.repeat(rows[None], n, axis=0)
    M = np.zeros((n, 3, 3))
    for p in range(n):
        A = rng.normal(size=(3, 3))
        M[p] = np.diag([2.0, 0.1, 0.15]) @ (np.eye(3) + 0.05 * (A + A.T)) @ np.diag([1.0, 1.0, 1.0])
        M[p] = (M[p] + M[p].T) / 2
    v0 = np.concatenate([-rng.uniform(0.1, 1, (n, 1)), rng.normal(size=(n, 2)) * rng.choice([0.05, 1.0, 4.0], (n, 1))], axis=1)
    return M, v0, N


def exact(M, v, N, w):
    """The gradient in v0 from the rows that hold."""
    found = np.empty_like(w)
    rank = np.empty(len(w), int)
    for p in range(len(w)):
        held = np.abs(N[p] @ v[p]) < 1e-9
        G = N[p][held]
        if len(G) == 0:
            found[p], rank[p] = w[p], 0
            continue
        U, s, Vt = np.linalg.svd(G)
        B = Vt[: int((s > 1e-9).sum())]
        X = np.linalg.solve(M[p], B.T)
        found[p] = w[p] - B.T @ np.linalg.solve(B @ X, X.T @ w[p])
        rank[p] = len(G) - len(B)
    return found, rank


def main(n):
    rng = np.random.default_rng(0)
    for name, corners in (("4 corners", CORNERS), ("8 corners", DOUBLED)):
        M, v0, N = problems(rng, n, corners)
        m = len(corners)
        w = rng.normal(size=(n, 3))
        q = -np.einsum("nij,nj->ni", M, v0)
        zero = np.zeros((n, m))
        solve = lambda q: carom.solve_qp(M, q, N, zero, None, threads=1)  # noqa: E731
        start = time.perf_counter()
        r = solve(q)
        forward = time.perf_counter() - start
        expected, redundant = exact(M, r.solution, N, w)

        def report(who, gradient, seconds, more=""):
            error = np.abs(gradient - expected).max(axis=1) / np.abs(expected).max(axis=1).clip(1e-3)
            nan = np.isnan(gradient).any(axis=1)
            right = (error <= 1e-6).mean()
            print(f"  {who:34s} right {100 * right:6.2f} %  NaN {100 * nan.mean():6.2f} %  wrong, no NaN "
                  f"{100 * ((error > 1e-6) & ~nan).mean():6.2f} %  {1e6 * seconds / n:8.2f} us{more}")

        print(f"{name}, {n} steps, redundant rows held in {100 * (redundant > 0).mean():.1f} %; "
              f"forward {1e6 * forward / n:.2f} us")
        start = time.perf_counter()
        g = r.vjp(solution=w, wrt="vector", threads=1)
        seconds = time.perf_counter() - start
        gradient = -np.einsum("nij,nj->ni", M, g.vector)
        words, counts = np.unique(g.words(), return_counts=True)
        report("carom vjp", gradient, seconds, f"  ({seconds / forward:.2f} of forward) " + ", ".join(
            f"{c} {word}" for word, c in zip(words, counts)))
        smooth = g.status == 0
        error = np.abs(gradient - expected).max(axis=1) / np.abs(expected).max(axis=1).clip(1e-3)
        print(f"  {'':34s} worst error of those called smooth: {error[smooth].max():.1e}")
        for t in (1e-4, 1e-6):
            start = time.perf_counter()
            found = np.empty((n, 3))
            for j in range(3):
                e = t * np.eye(3)[j]
                up, down = (solve(-np.einsum("nij,nj->ni", M, v0 + s * e)).solution for s in (1, -1))
                found[:, j] = ((up - down) * w).sum(axis=1) / (2 * t)
            report(f"carom, central differences {t:g}", found, time.perf_counter() - start)
        try:
            import jax
            import jax.numpy as jnp
            import qpax
        except ImportError:
            print("  qpax: not installed")
            continue
        jax.config.update("jax_enable_x64", True)

        def loss(v0, M, N, w):
            none = jnp.zeros((0, 3)), jnp.zeros(0)
            return qpax.solve_qp_primal(M, -M @ v0, *none, -N, jnp.zeros(m), solver_tol=1e-10, target_kappa=kappa) @ w

        for kappa in (1e-3, 1e-9):
            gradient_of = jax.jit(jax.vmap(jax.grad(loss)))
            gradient_of(v0, M, N, w).block_until_ready()
            start = time.perf_counter()
            found = np.asarray(gradient_of(v0, M, N, w).block_until_ready())
            report(f"qpax, target_kappa {kappa:g}", found, time.perf_counter() - start)


BOX = """<mujoco><option timestep="0.005" cone="elliptic" jacobian="dense"/>
<worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 1"><freejoint/>
<geom type="box" size="0.1 0.08 0.05" density="400" friction="0.5"/></body></worldbody></mujoco>"""


def tosses(mujoco, n):
    """A model, and n states of tossed boxes that touch the ground: q, v, M, J, f, distances, contacts."""
    model = mujoco.MjModel.from_xml_string(BOX)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(1)
    kept = []
    while len(kept) < n:
        mujoco.mj_resetData(model, data)
        data.qpos[2] = 0.15
        data.qpos[3:7] = rng.normal(size=4)
        data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
        data.qvel[:] = rng.normal(size=6) * [1, 1, 0.5, 4, 4, 4]
        for _ in range(120):
            mujoco.mj_step(model, data)
            mujoco.mj_forward(model, data)
            if not 1 <= data.ncon <= 4 or len(kept) == n:
                continue
            M, J, phi = np.zeros((6, 6)), np.zeros((12, 6)), np.zeros(12)
            for j in range(6):
                mujoco.mj_mulM(model, data, M[j], np.eye(6)[j])
            J[: 3 * data.ncon] = data.efc_J.reshape(-1, 6)[: 3 * data.ncon]
            phi[: 3 * data.ncon : 3] = data.contact.dist
            kept.append((data.qpos.copy(), data.qvel.copy(), M, J, -data.qfrc_bias, phi, data.ncon))
    return model, data, [np.array(part) for part in zip(*kept)]


def by_differences(step, v, w, t):
    """The gradient of w'v' in v by differences of fourth order."""
    found = np.empty_like(v)
    for j in range(6):
        e = t * np.eye(6)[j]
        near, far = (((step(v + s * e) - step(v - s * e)) * w).sum(axis=1) for s in (1.0, 2.0))
        found[:, j] = (8.0 * near - far) / (12.0 * t)
    return found


class Page:
    """n gradients of w'v' in v, each way judged by its own map `step`: its lines, and what is known of the map."""

    def __init__(self, w, v):
        self.w, self.v = w, v

    def truth(self, step):
        one, two = (by_differences(step, self.v, self.w, t) for t in (1e-5, 5e-6))
        size = np.abs(one).max(axis=1).clip(1e-3)
        return one, size, np.abs(one - two).max(axis=1) <= 1e-7 * size

    def report(self, who, gradient, expected, seconds, forward, more=""):
        one, size, known = expected
        error = (np.abs(gradient - one).max(axis=1) / size)[known]
        print(f"  {who:42s} right {100 * (error <= 1e-6).mean():6.2f} %  off by 1e-3 "
              f"{100 * (error > 1e-3).mean():5.2f} %  worst {np.nanmax(error):.1e}  NaN "
              f"{100 * np.isnan(gradient).any(axis=1).mean():.2f} %  known {100 * known.mean():.2f} %  "
              f"{1e6 * seconds / len(one):7.2f} us, {seconds / forward:5.1f} of forward{more}")

    def carom(self, M, J, f, phi, contacts, h):
        """carom's compliant steps: up to four contacts of three rows (normal, two tangents) in J and phi."""
        there = np.arange(4)[None] < contacts[:, None]
        kinds = carom.compliant.RowType
        of_contact = np.tile(np.array([kinds.normal, kinds.tangent, kinds.tangent], dtype=np.uint8), 4)
        types = np.where(np.repeat(there, 3, axis=1), of_contact, np.uint8(kinds.none))
        stiffness, damping = np.tile([2e4, 0.0, 0.0], 4), np.tile([200.0, 2e3, 2e3], 4)
        rows = carom.compliant.Rows(types, J, 0.0, phi, stiffness, damping, 0.5)
        carom.compliant.step(M, f, self.v, rows, h, threads=1)
        start = time.perf_counter()
        answer = carom.compliant.step(M, f, self.v, rows, h, threads=1)
        forward = time.perf_counter() - start
        start = time.perf_counter()
        g = answer.vjp(velocity=self.w, wrt="velocity", threads=1)
        seconds = time.perf_counter() - start
        words, counts = np.unique(g.words(), return_counts=True)
        sharp = self.truth(lambda v: carom.compliant.step(M, f, v, rows, h, threads=1, tolerance=1e-12).velocity)
        self.report("carom.compliant.step, vjp", g.velocity, sharp, seconds, forward,
                    "; " + ", ".join(f"{c} {word}" for word, c in zip(words, counts)))  # fmt: skip


def beside_mujoco(n):
    import mujoco

    model, data, (q, v, M, J, f, phi, contacts) = tosses(mujoco, n)
    w = np.random.default_rng(2).normal(size=(n, 6))
    page = Page(w, v)
    print(f"{n} states of tossed boxes, contacts {np.bincount(contacts)[1:].tolist()}")
    page.carom(M, J, f, phi, contacts, model.opt.timestep)

    def all_steps(v):
        after = np.empty_like(v)
        for p in range(n):
            data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = q[p], v[p], 0.0
            mujoco.mj_step(model, data)
            after[p] = data.qvel
        return after

    usual, tight = (model.opt.tolerance, model.opt.iterations), (1e-15, 50)
    model.opt.tolerance, model.opt.iterations = tight
    sharp = page.truth(all_steps)
    for who, options in (("as it is", usual), ("tolerance 1e-15", tight)):
        model.opt.tolerance, model.opt.iterations = options
        start = time.perf_counter()
        all_steps(v)
        forward = time.perf_counter() - start
        for eps in (1e-6, 1e-4):
            A, gradient = np.zeros((12, 12)), np.empty((n, 6))
            start = time.perf_counter()
            for p in range(n):
                data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = q[p], v[p], 0.0
                mujoco.mjd_transitionFD(model, data, eps, True, A, None, None, None)
                gradient[p] = A[6:, 6:].T @ w[p]
            page.report(f"mjd_transitionFD {eps:g}, {who}", gradient, sharp, time.perf_counter() - start, forward)


def nimble_world(nimble, size, h):
    """A box on the ground, and what must outlive its bindings."""
    world = nimble.simulation.World()
    world.setGravity([0.0, 0.0, -9.81])
    world.setTimeStep(h)
    kept = [world]

    def add(pair, size):
        joint, body = pair
        shape = body.createShapeNode(nimble.dynamics.BoxShape(size))
        shape.createVisualAspect()
        shape.createCollisionAspect()
        body.setFrictionCoeff(0.5)
        kept.extend((joint, body, shape))
        return joint, body

    ground, box = nimble.dynamics.Skeleton(), nimble.dynamics.Skeleton()
    joint, _ = add(ground.createWeldJointAndBodyNodePair(), [10.0, 10.0, 1.0])
    place = nimble.math.Isometry3()
    place.set_translation([0.0, 0.0, -0.5])
    joint.setTransformFromParentBodyNode(place)
    _, body = add(box.createFreeJointAndBodyNodePair(), size)
    mass = 400.0 * np.prod(size)
    body.setInertia(nimble.dynamics.Inertia(mass, np.zeros(3), np.diag(mass / 12.0 * (np.sum(np.square(size)) - np.square(size)))))
    for skeleton in (ground, box):
        world.addSkeleton(skeleton)
        kept.append(skeleton)
    return world, body, kept


def beside_nimble(n):
    import nimblephysics_libs._nimblephysics as nimble  # without the package around it, which asks for torch

    h = 0.005
    world, body, alive = nimble_world(nimble, np.array([0.2, 0.16, 0.1]), h)
    rng = np.random.default_rng(1)
    kept = []
    while len(kept) < n:
        world.setPositions(np.r_[rng.normal(size=3), 0.0, 0.0, 0.15])
        world.setVelocities(rng.normal(size=6) * [4, 4, 4, 1, 1, 0.5])
        for _ in range(120):
            before = world.getState()
            world.step()
            found = world.getLastCollisionResult()
            count = found.getNumContacts()
            if not 1 <= count <= 4 or len(kept) == n:
                continue
            after = world.getState()
            world.setState(before)
            J, phi = np.zeros((12, 6)), np.zeros(12)
            pose = body.getWorldTransform()
            for k in range(count):
                contact = found.getContact(k)
                offset = pose.rotation().T @ (contact.point - pose.translation())
                J[3 * k : 3 * k + 3] = body.getWorldJacobian(offset)[3:][[2, 0, 1]]  # the ground is level
                phi[3 * k] = -contact.penetrationDepth
            force = -world.getCoriolisAndGravityAndExternalForces()
            kept.append((before, before[6:], world.getMassMatrix(), J, force, phi, count))
            world.setState(after)
    state, v, M, J, f, phi, contacts = (np.array(part) for part in zip(*kept))
    w = np.random.default_rng(2).normal(size=(n, 6))
    page = Page(w, v)
    print(f"{n} states of tossed boxes, contacts {np.bincount(contacts)[1:].tolist()}")
    page.carom(M, J, f, phi, contacts, h)

    def set_state(p, v):
        world.setState(np.r_[state[p, :6], v])
        world.setCachedLCPSolution(np.zeros(0))

    def all_steps(v):
        after = np.empty_like(v)
        for p in range(n):
            set_state(p, v[p])
            world.step()
            after[p] = world.getState()[6:]
        return after

    sharp = page.truth(all_steps)
    start = time.perf_counter()
    all_steps(v)
    forward = time.perf_counter() - start
    gradient, seconds = np.empty((n, 6)), 0.0
    for p in range(n):
        set_state(p, v[p])
        snapshot = nimble.neural.forwardPass(world)
        start = time.perf_counter()
        gradient[p] = snapshot.backpropState(world, np.r_[np.zeros(6), w[p]]).lossWrtState[6:]
        seconds += time.perf_counter() - start
    page.report("nimble, backpropState", gradient, sharp, seconds, forward)
    error = np.abs(gradient - sharp[0]).max(axis=1) / sharp[1]
    for count in range(1, 5):
        of = sharp[2] & (contacts == count)
        print(f"    {count} contacts: {of.sum()}, right {100 * (error[of] <= 1e-6).mean():.2f} %, "
              f"off by 1e-3 {100 * (error[of] > 1e-3).mean():.2f} %")


RUNS = (
    ("inclined_block", 512, {"friction": np.linspace(0.1, 0.3, 512)}),
    ("compliant_block_impact", 512, {"downward_velocity": np.linspace(2.0, 4.0, 512), "angle": 3.0, "stiffness_ratio": 1.5,
                                     "tangent_damping": 10.0}),
    ("pendulum_limit", 512, {"angular_velocity": np.linspace(-2.0, -1.5, 512)}),
    ("sphere_stack", 64, {"gap": np.linspace(1e-3, 2e-3, 64)}),
    ("elastic_foundation", 16, {"depth": np.linspace(0.9, 1.1, 16)}),
)  # fmt: skip


def runs(steps):
    def least(call):
        times = []
        for _ in range(3):
            start = time.process_time()
            answer = call()
            times.append(time.process_time() - start)
        return min(times), answer

    root = int(np.ceil(np.sqrt(steps)))
    print(f"{steps} steps; over the run itself: vjp with checkpoints every {root} steps, vjp, jvp")
    for scenario, worlds, parameters in RUNS:
        forward, run = least(lambda: carom.compliant.worlds(scenario, parameters, steps=steps, threads=1))
        name = next(iter(parameters))
        kept, _ = least(lambda: run.vjp(displacement=1.0, checkpoint=root, threads=1))
        back, g = least(lambda: run.vjp(displacement=1.0, threads=1))
        ahead, _ = least(lambda: run.jvp(parameters={name: 1.0}, threads=1))
        words, counts = np.unique(g.words(), return_counts=True)
        print(f"  {scenario:24s} {kept / forward:6.2f} {back / forward:6.2f} {ahead / forward:6.2f}   forward "
              f"{1e6 * forward / (worlds * steps):7.3f} us a step; " + ", ".join(f"{c} {w}" for w, c in zip(words, counts)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["runs"]:
        runs(int(sys.argv[2]) if len(sys.argv) > 2 else 200)
    elif sys.argv[1:2] == ["mujoco"]:
        beside_mujoco(int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
    elif sys.argv[1:2] == ["nimble"]:
        beside_nimble(int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
