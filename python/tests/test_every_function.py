"""What every function that computes does to the process around it: other threads run meanwhile,
memory stays, a call that is refused leaves nothing behind, Ctrl-C ends it."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import gc
import os
import pathlib
import resource
import sys
import sysconfig
import threading
import time

import numpy as np
import pytest

import carom
from conftest import ends_at_ctrl_c


def spd(n, k, seed=0):
    root = np.random.default_rng(seed).normal(size=(n, k, k))
    return root @ root.transpose(0, 2, 1) + np.eye(k)


def vectors(n, k, seed=1):
    return np.random.default_rng(seed).normal(size=(n, k))


def bad(array):
    """With a number that is refused."""
    found = np.array(array)
    found.reshape(-1)[0] = np.nan
    return found


def block(n, **changed):
    return carom.model("rocking_block", n=n, **changed)


def stances(n, **changed):
    return carom.stability.model("figure2", n=n, **changed)


def rows(m=4):
    J = np.random.default_rng(2).normal(size=(m, 6))
    types = ["normal", "tangent", "tangent", "unilateral"]
    return carom.compliant.Rows(types, J, phi=0.01, K=1e4, B=10.0, mu=[0.5, 0.0, 0.0, 0.0])


def sdps(n):
    A = np.tile(np.stack([np.diag([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 0.0]])]), (n, 1, 1, 1))
    return np.tile(np.eye(2), (n, 1, 1)), A, vectors(n, 2)


# name: (a call of n problems, one whose numbers are refused; problems of a small and of a long call)
CALLS = {
    "solve_lcp": (lambda n: carom.solve_lcp(spd(n, 16), vectors(n, 16)),
                  lambda: carom.solve_lcp(spd(2, 4), vectors(2, 5)), 4, 60000),
    "solve_boxed_lcp": (lambda n: carom.solve_boxed_lcp(spd(n, 12), vectors(n, 12), -np.ones(12), np.ones(12)),
                        lambda: carom.solve_boxed_lcp(spd(2, 4), vectors(2, 5)), 4, 20000),
    "solve_lp": (lambda n: carom.solve_lp(vectors(n, 4), np.ones((1, 4)), row_upper=[1.0], lower=np.zeros(4)),
                 lambda: carom.solve_lp(vectors(2, 4), np.ones((1, 3))), 4, 400000),
    "solve_qp": (lambda n: carom.solve_qp(spd(n, 8), vectors(n, 8), np.eye(8), np.zeros(8)),
                 lambda: carom.solve_qp(spd(2, 4), vectors(2, 4), method="none"), 4, 100000),
    "solve_sdp": (lambda n: carom.solve_sdp(*sdps(n)),
                  lambda: carom.solve_sdp(np.array([[1.0, 2.0], [0.0, 1.0]]), *sdps(1)[1:]), 2, 20000),
    "solve_coulomb": (lambda n: carom.solve_coulomb(spd(n, 6), vectors(n, 6), [0.5, 0.5]),
                      lambda: carom.solve_coulomb(spd(2, 6), vectors(2, 6), [0.5]), 4, 20000),
    "impact.sample": (lambda n: carom.impact.sample(block(n), samples=256, epsilon=0.1, keep_paths=2),
                      lambda: carom.impact.sample(block(2), samples=-1), 2, 2000),
    "impact.events": (lambda n: carom.impact.sample(block(n), samples=64, method="events"),
                      lambda: carom.impact.sample(block(2), method="event"), 2, 4000),
    "impact.steps": (lambda n: carom.impact.steps(block(n), max_impulse=0.3),
                     lambda: carom.impact.steps(block(2), max_impulse=[0.1, 0.2, 0.3]), 4, 300000),
    "impact.enclose": (lambda n: carom.impact.enclose(block(n)),
                       lambda: carom.impact.enclose(block(1), budget=-1), 1, 60),
    "impact.simultaneous": (lambda n: [carom.impact.simultaneous(block(1)) for _ in range(n)],
                            lambda: carom.impact.simultaneous(block(2)), 1, 3000),
    "impact.check_unique_step": (lambda n: carom.impact.check_unique_step(block(1), trajectories=n, step_size=0.3),
                                 lambda: carom.impact.check_unique_step(block(2)), 2, 4000),
    "equilibrium.planar": (lambda n: carom.equilibrium.planar(carom.equilibrium.model("two_contacts", n=n)),
                           lambda: carom.equilibrium.planar("tripod_flat"), 4, 100000),
    "equilibrium.spatial": (lambda n: carom.equilibrium.spatial(carom.equilibrium.model("tripod_flat", n=n)),
                            lambda: carom.equilibrium.spatial("two_contacts"), 1, 2000),
    "equilibrium.support": (lambda n: carom.equilibrium.support(carom.equilibrium.model("tripod_flat", n=n), directions=16),
                            lambda: carom.equilibrium.support("tripod_flat", directions=[[2.0, 0.0]]), 1, 20000),
    "compliant.step": (lambda n: carom.compliant.step(spd(n, 6), vectors(n, 6), vectors(n, 6, 3), rows(), 0.01),
                       lambda: carom.compliant.step(spd(2, 6), vectors(2, 5), vectors(2, 6), rows(), 0.01), 4, 30000),
    "compliant.worlds": (lambda n: carom.compliant.worlds("inclined_block", n=n, steps=50, stride=10),
                         lambda: carom.compliant.worlds("inclined_block", {"friction": -1.0}), 2, 20000),
    "stability.analyse": (lambda n: carom.stability.analyse(stances(n, e=0.3), states=4, events=200),
                          lambda: carom.stability.analyse(stances(2), states=-1), 2, 3000),
    "motion.simulate": (lambda n: carom.motion.simulate("rocking_block_drop", samples=n, grid=0.1, keep_samples=2, keep_events=8),
                        lambda: carom.motion.simulate("rocking_block_drop", samples=0), 4, 20000),
    "motion.reachable": (lambda n: carom.motion.reachable("rocking_block_drop", epsilon=0.2, samples=n, grid=0.5),
                         lambda: carom.motion.reachable("rocking_block_drop", epsilon=-1.0), 4, 10000),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_other_threads_run_meanwhile(name):
    call, _, few, many = CALLS[name]
    call(few)
    inside, ticks = threading.Event(), []
    done = threading.Event()

    def tick():
        while not done.is_set():
            if inside.is_set():
                ticks.append(None)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    count, spent = many, 0.0
    try:
        for _ in range(8):  # until the call takes long enough to tell
            ticks.clear()
            start = time.perf_counter()
            inside.set()
            call(count)
            inside.clear()
            spent = time.perf_counter() - start
            if spent > 0.15:
                break
            count *= 4
    finally:
        done.set()
        thread.join()
    assert spent > 0.15
    # Arrays are made before and after with the GIL held in part; a call that held it would leave a few.
    assert len(ticks) > 20 * spent


def bits(answer):
    """Of all arrays and numbers of an answer; not how long it took."""
    if dataclasses.is_dataclass(answer):
        answer = {field.name: getattr(answer, field.name) for field in dataclasses.fields(answer)}
    if isinstance(answer, dict):
        return b"".join(bits(value) for name, value in answer.items() if "seconds" not in name)
    if isinstance(answer, (list, tuple)):
        return b"".join(map(bits, answer))
    if answer is None or isinstance(answer, (str, bytes)):
        return str(answer).encode()
    array = np.asarray(answer)
    return array.tobytes() if array.dtype != object else b""


def test_eight_threads_give_the_same_bits():
    """All functions in each thread at once, each thread from another one on. On a Python without the GIL they
    run at the same time in Python, too."""
    gil = getattr(sys, "_is_gil_enabled", lambda: True)
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert not gil(), "the module turned the GIL on"
    names = list(CALLS)
    alone = {name: bits(call(few)) for name, (call, _, few, _) in CALLS.items()}
    assert len(alone["solve_lcp"]) > 4 * 16 * 8 and len(set(alone.values())) == len(alone)
    start = threading.Barrier(8)

    def turn(first):
        start.wait()
        order = names[3 * first :] + names[: 3 * first]
        return [name for name in order if bits(CALLS[name][0](CALLS[name][2])) != alone[name]]

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert list(threads.map(turn, range(8))) == [[]] * 8


def resident():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="no /proc")
@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_left_of_calls_and_of_refusals(name):
    call, refused, few, _ = CALLS[name]

    def calls(seconds, count):
        start = time.perf_counter()
        for done in range(count):
            call(few)
            with pytest.raises((carom.InvalidInput, ValueError)):
                refused()
            if time.perf_counter() - start > seconds:
                return done + 1
        return count

    calls(0.7, 100)
    gc.collect()
    before = resident()
    # 10^4 of lcp and impacts are counted in test_calls.py; here what a few seconds have room for.
    done = calls(1.5, 10000)
    gc.collect()
    assert done >= 10
    assert resident() - before < 4 * 2**20


@pytest.mark.parametrize("name", ["solve_lcp", "solve_qp", "impact.sample", "equilibrium.planar", "stability.analyse"])
def test_a_bad_batch_leaves_its_successor_alone(name):
    call, refused, few, _ = CALLS[name]
    before = call(few)
    for _ in range(3):
        with pytest.raises(ValueError):
            refused()
    after = call(few)
    assert flat(before) == flat(after)


def flat(result):
    """Bytes of all arrays of a result but times."""
    found = []
    for field, value in sorted(result.to_dict().items()):
        if isinstance(value, carom._results.Result):
            found.append(flat(value))
        elif isinstance(value, np.ndarray) and "seconds" not in field:
            found.append(value.tobytes())
    return found


def test_a_refused_call_leaves_its_workspace_usable():
    workspace = carom.Workspace()
    M, q = spd(50, 8), vectors(50, 8)
    expected = carom.solve_lcp(M, q).solution.tobytes()
    problems = block(5)
    velocity = bad(problems.velocity)
    for _ in range(3):
        with pytest.raises(carom.InvalidInput, match="velocity.*nan"):
            carom.impact.sample(problems.mass_matrix, problems.normal_jacobian, problems.tangent_jacobian,
                                problems.friction, velocity, samples=8, workspace=workspace)  # fmt: skip
        assert carom.solve_lcp(M, q, workspace=workspace).solution.tobytes() == expected
    broken = carom.solve_lcp(M, bad(q), workspace=workspace)
    assert broken.status[0] == carom.Status.invalid_input
    assert broken.solution[1:].tobytes() == carom.solve_lcp(M, q).solution[1:].tobytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals of POSIX")
@pytest.mark.parametrize("code", [
    "carom.solve_sdp(C, A, b)",
    "carom.solve_coulomb(W, q, [0.5, 0.5])",
    "carom.stability.analyse(carom.stability.model('figure2', n=200000, e=0.3))",
    "carom.motion.simulate('rocking_block_drop', samples=10**6)",
    "carom.impact.enclose(carom.model('rocking_block', n=10**5))",
    "carom.equilibrium.spatial(carom.equilibrium.model('tripod_flat', n=10**5))",
    "carom.compliant.worlds('inclined_block', n=10**5, steps=10**5)",
])  # fmt: skip
def test_ctrl_c_ends_it(code):
    assert ends_at_ctrl_c("""
        rng = np.random.default_rng(0)
        root = rng.normal(size=(30000, 6, 6))
        W, q = root @ root.transpose(0, 2, 1) + np.eye(6), rng.normal(size=(30000, 6))
        A = np.tile(np.stack([np.diag([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 0.0]])]), (30000, 1, 1, 1))
        C, b = np.tile(np.eye(2), (30000, 1, 1)), rng.normal(size=(30000, 2))
    """, code)  # fmt: skip
