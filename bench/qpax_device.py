#!/usr/bin/env python3
"""qpax, an interior point in JAX, on the GPU and on the problems of device_bench.cpp's pyramids.

  CAROM_QP_PROBLEMS=problems.bin carom_bench --benchmark_list_tests
  python3 bench/qpax_device.py problems.bin OUT.json [POWER ...]

One vmapped and compiled call for 2^POWER problems (default 10, 14 and 18), all in device memory and
in doubles, after one that is not timed. Answers are judged as in qp_peers.py. OUT.json is for
compact.py."""
import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import qpax

from qp_peers import good, read

TOLERANCE = 1e-9
ITERATIONS = 50
REPETITIONS = 5


def solver():
    def solve(hessian, q, matrix, lower):
        none = jnp.zeros((0, q.shape[0]))
        x, _, dual, _, _, _ = qpax.solve_qp(hessian, q, none, jnp.zeros(0), -matrix, -lower,
                                            solver_tol=TOLERANCE, max_iter=ITERATIONS)
        return x, dual
    return jax.jit(jax.vmap(solve))


def measured(solve, problems, power):
    count = 2 ** power
    stacked = [np.stack(arrays) for arrays in zip(*problems)]
    places = np.arange(count) % len(problems)
    batch = [jax.device_put(arrays[places]) for arrays in stacked]
    x, dual = (np.asarray(values[:len(problems)]) for values in solve(*batch))
    solved = [good(problem, x[p], dual[p]) for p, problem in enumerate(problems[:count])]
    wall, process = [], []
    for _ in range(REPETITIONS):
        start, start_process = time.perf_counter(), time.process_time()
        jax.block_until_ready(solve(*batch))
        wall.append(time.perf_counter() - start)
        process.append(time.process_time() - start_process)
    return {"name": f"device/contact_pyramids_n12_2^{power}/qpax", "time_unit": "s",
            "cpu_time": process, "real_time": wall, "problems": count,
            "solved": sum(solved) / len(solved)}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    jax.config.update("jax_enable_x64", True)
    problems = read(sys.argv[1], 256)
    powers = [int(power) for power in sys.argv[3:]] or [10, 14, 18]
    solve = solver()
    entries = []
    for power in powers:
        entries.append(measured(solve, problems, power))
        with open(sys.argv[2], "w", encoding="utf-8") as stream:
            json.dump(entries, stream)
        rate = 2 ** power / min(entries[-1]["real_time"])
        print(f"2^{power}: {rate:.3g} a second, solved {entries[-1]['solved']:.4f}", flush=True)


if __name__ == "__main__":
    main()
