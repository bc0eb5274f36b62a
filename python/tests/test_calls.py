"""What a call does to the process around it: threads, signals, memory, forks, arrays of others."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pathlib
import resource
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import carom
from conftest import ends_at_ctrl_c


def lcps(n, k=6, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, k, k))
    return root @ root.transpose(0, 2, 1) + np.eye(k), rng.normal(size=(n, k))


def test_other_threads_run_meanwhile():
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    samples = 2**20
    while True:
        before = len(ticks)
        carom.impact.sample("compass_gait", samples=samples, keep_samples=0)
        if time.perf_counter() - start > 0.3:
            break
        samples *= 2
    done.set()
    thread.join()
    assert len(ticks) - before > 10


def test_devices_that_are_not_there_are_refused():
    there = [device["index"] for device in carom.info()["cuda_devices"]]
    if there:
        with carom.CudaScope(), carom.CudaScope(there[:1]):
            assert carom.impact.sample("rocking_block", samples=8, backend="cuda").summary["terminated"][0] == 8
        with pytest.raises(carom.InvalidInput, match="devices is 4096"), carom.CudaScope([4096]):
            pass
    else:
        for devices in (None, [0]):
            with pytest.raises(carom.BackendUnavailable, match="cuda"), carom.CudaScope(devices):
                pass
    assert carom.impact.sample("rocking_block", samples=8).summary["terminated"][0] == 8


def test_two_calls_at_once_and_a_workspace_that_refuses_the_second():
    workspace = carom.Workspace()
    started = threading.Event()

    def slow():
        carom.impact.sample(
            "compass_gait", samples=2**22, keep_samples=0, workspace=workspace,
            progress=lambda done, total: started.set(),
        )  # fmt: skip

    thread = threading.Thread(target=slow)
    thread.start()
    started.wait(20)
    try:
        if thread.is_alive():
            with pytest.raises(carom.InvalidInput, match="workspace"):
                carom.impact.sample("rocking_block", samples=8, workspace=workspace)
    finally:
        thread.join()
    carom.impact.sample("rocking_block", samples=8, workspace=workspace)


@pytest.mark.parametrize("code", [
    "carom.impact.sample('compass_gait', samples=2**36, keep_samples=0)",
    "carom.solve_lcp(M, q, max_pivots=10**6)",
])  # fmt: skip
def test_ctrl_c_ends_the_call(code):
    assert ends_at_ctrl_c("""
        rng = np.random.default_rng(0)
        root = rng.normal(size=(40000, 32, 32))
        M, q = root @ root.transpose(0, 2, 1) + np.eye(32), rng.normal(size=(40000, 32))
    """, code)  # fmt: skip


def test_progress_is_called_stops_and_raises():
    seen = []
    carom.impact.sample("rocking_block", samples=2**21, keep_samples=0,
                        progress=lambda done, total: seen.append((done, total)))  # fmt: skip
    assert seen and seen[-1][0] == seen[-1][1] == 2**21
    run = carom.impact.sample("rocking_block", samples=2**24, keep_samples=0,
                              progress=lambda done, total: False)  # fmt: skip
    assert run.cancelled and run.summary["samples"][0] < 2**24
    with pytest.raises(ZeroDivisionError):
        carom.impact.sample("rocking_block", samples=2**24, keep_samples=0,
                            progress=lambda done, total: 1 / 0)  # fmt: skip


def test_pieces_have_the_bits_of_single_problems():
    M, q = lcps(3000)
    whole = carom.solve_lcp(M, q)
    for i in (0, 255, 256, 257, 1711, 2999):
        one = carom.solve_lcp(M[i], q[i])
        assert one.solution[0].tobytes() == whole.solution[i].tobytes()
        assert one.pivots[0] == whole.pivots[i]


def test_no_memory_is_lost_in_ten_thousand_calls():
    M, q = lcps(8)
    bad = q.copy()
    bad[0, 0] = np.nan
    problems = carom.model("rocking_block")

    def calls(count):
        for _ in range(count):
            carom.solve_lcp(M, q)
            carom.impact.sample(problems, samples=16, epsilon=0.1, keep_paths=2)
            with pytest.raises(carom.InvalidInput):
                carom.impact.sample(problems, samples=-1)
            carom.solve_lcp(M, bad)
        gc.collect()

    def resident():
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize()

    calls(1000)
    before = resident()
    calls(10000)
    assert resident() - before < 8 * 2**20


def test_results_own_their_memory():
    M, q = lcps(4)
    z = carom.solve_lcp(M, q).solution
    copy = z.copy()
    gc.collect()
    for _ in range(100):
        carom.solve_lcp(M, -q)
    assert z.tobytes() == copy.tobytes()
    assert z.flags.writeable and z.flags.c_contiguous
    inner = np.from_dlpack(z)
    assert inner.__array_interface__["data"][0] == z.__array_interface__["data"][0]


def _child(queue, threads):
    M, q = lcps(500)
    queue.put(carom.solve_lcp(M, q, threads=threads).solution.tobytes())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_and_spawned_children_give_the_same_bits():
    M, q = lcps(500)
    expected = carom.solve_lcp(M, q).solution.tobytes()
    for method, threads in (("fork", 1), ("fork", 2), ("fork", 0), ("spawn", 0)):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        child = context.Process(target=_child, args=(queue, threads))
        child.start()
        assert queue.get(timeout=60) == expected
        child.join(20)
        assert child.exitcode == 0


class Graded:
    """What a torch tensor with a gradient looks like."""

    requires_grad = True

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_a_gradient_is_not_lost_silently():
    M, q = lcps(2)
    with pytest.raises(carom.InvalidInput, match="detach") as refused:
        carom.solve_lcp(M, Graded(q))
    assert refused.value.field == "vector"


def test_torch_tensors_without_copies():
    torch = pytest.importorskip("torch")
    M, q = lcps(16)
    expected = carom.solve_lcp(M, q).solution
    found = carom.solve_lcp(torch.from_numpy(M), torch.from_numpy(q), strict=True).solution
    assert found.tobytes() == expected.tobytes()
    tensor = torch.from_dlpack(found)
    assert tensor.data_ptr() == found.__array_interface__["data"][0]
    with pytest.raises(carom.InvalidInput, match="detach"):
        carom.solve_lcp(torch.from_numpy(M).requires_grad_(), q)


def test_jax_arrays():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    M, q = lcps(16)
    expected = carom.solve_lcp(M, q).solution
    found = carom.solve_lcp(jax.numpy.asarray(M), jax.numpy.asarray(q)).solution
    assert found.tobytes() == expected.tobytes()


def test_readonly_and_masked_arrays():
    M, q = lcps(3)
    M.setflags(write=False)
    q.setflags(write=False)
    assert (carom.solve_lcp(M, q, strict=True).status == carom.Status.solved).all()
    masked = np.ma.masked_array(q, mask=np.zeros_like(q, dtype=bool))
    masked[1, 1] = np.ma.masked
    with pytest.raises(carom.InvalidInput, match="masked"):
        carom.solve_lcp(M, masked)


def test_sparse_matrices_are_refused_by_name():
    sparse = pytest.importorskip("scipy.sparse")
    M, q = lcps(1)
    for kind in (sparse.csc_matrix, sparse.coo_array):
        with pytest.raises(carom.InvalidInput, match="sparse.*toarray") as refused:
            carom.solve_lcp(kind(M[0]), q)
        assert refused.value.field == "matrix"


def test_a_decision_of_no_problem_is_refused_by_name():
    found = carom.solve_lcp(*lcps(3))
    assert found.decision(-1).verify() and found.decision(2).verify()
    for problem in (99, 3, -4):
        with pytest.raises(carom.InvalidInput, match="must be from -3 to 2") as refused:
            found.decision(problem)
        assert (refused.value.field, refused.value.value) == ("problem", problem)


def test_check_and_info():
    done = subprocess.run([sys.executable, "-m", "carom", "check"], capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WRONG" not in done.stdout and done.stdout.count(" ok") >= 17
    assert carom.info()["version"] == carom.__version__
    assert carom.info()["instruction_set"] in carom.info()["instruction_sets"]


def test_the_extension_is_for_every_python_from_3_10():
    assert pathlib.Path(carom._core.__file__).name == "_core.abi3.so"


def test_whole_numbers_and_lists_of_one_stand_for_all_problems():
    batch = carom.model("rocking_block", width=1, height=[2], friction=[0.1, 0.2, 0.3])
    assert len(batch) == 3 and batch.friction[2, 0] == 0.3
    assert len(carom.model("rocking_block", width=1)) == 1
    with pytest.raises(carom.InvalidInput, match="friction has 3 values: must have 2, or 1"):
        carom.model("rocking_block", width=[1, 2], friction=[0.1, 0.2, 0.3])
    with pytest.raises(carom.InvalidInput, match="must have 4, or 1"):
        carom.model("rocking_block", n=4, friction=[0.1, 0.2])
