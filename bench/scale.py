#!/usr/bin/env python3
"""A dataset of very many small parts on machines that fail, compared with an undisturbed run.

scale.py [--parts N] [--workers W] [--life SECONDS] [--store folder|objects] [--folder DIR]

Two schedulers at once, each with all parts in an order of its own and W worker processes. Workers are
killed (SIGKILL) after random times of mean --life; some are stopped for a while and go on when others
have done their parts; the disk is full now and then; the wall clock jumps by up to ten years at
every reading. The scheduler that ends first finishes the dataset while the other's workers still
write. The result has to be the undisturbed run's, byte of manifest for byte. JSON on standard output:
equal, faults, wasted work, time and memory of finish and verify, bytes of the manifest.
"""

from __future__ import annotations

import argparse
import errno
import json
import mmap
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback

import carom
from carom import _store, dataset

BATCH = 40  # parts that a worker is given at a time


def specification(parts: int) -> dict:
    return {
        "dataset": {"kind": "equilibrium", "problems": 2 * parts, "part_rows": 2, "seed": 5,
                    "splits": {"train": 0.9, "test": 0.1}},
        "source": {"model": "two_contacts"},
        "draw": {"friction": {"uniform": [0.1, 1.2]}},
    }  # fmt: skip


class Counters:
    """Numbers that a killed process leaves: a slot each, written by one process at a time."""

    def __init__(self, slots: int) -> None:
        self.memory = mmap.mmap(-1, 8 * slots)
        self.slots = slots

    def add(self, slot: int) -> None:
        (value,) = struct.unpack_from("q", self.memory, 8 * slot)
        struct.pack_into("q", self.memory, 8 * slot, value + 1)

    def total(self) -> int:
        return sum(struct.unpack_from(f"{self.slots}q", self.memory))


def disk_is_full(error: OSError) -> bool:  # in h5py's words or the system's
    return "No space left" in str(error) or error.errno == errno.ENOSPC


def forked(work) -> int:
    """A child that does work() and ends with its answer."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = work()
        except OSError as error:
            code = errno.ENOSPC if disk_is_full(error) else 2
            if code == 2:
                traceback.print_exc()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def worker(spec, where, batch, counters, slot) -> int:
    plain = dataset.write_part

    def counted(*arguments, **named):
        counters.add(slot)
        return plain(*arguments, **named)

    dataset.write_part = counted
    dataset.make(spec, where, part=batch, threads=1)
    return 0


def scheduler(name, spec, where, given, counters, report) -> int:
    """Hands out batches until each was done by somebody."""
    chance = random.Random(name)
    _store.store_of(where).size("spec.json")  # what it imports is not imported again by every worker
    parts = len(dataset.parts(dataset.resolve(spec)))
    order = list(range(parts))
    chance.shuffle(order)
    queue = [order[i : i + BATCH] for i in range(0, parts, BATCH)]
    faults = {"killed": 0, "stopped": 0, "full": 0}
    running: dict[int, dict] = {}
    free = list(range(name * given.workers, (name + 1) * given.workers))
    cpu, full = 0.0, pathlib.Path(os.environ["CAROM_FULL"])
    next_full = time.monotonic() + chance.expovariate(1 / (8 * given.life))

    while queue or running:
        while queue and free:
            batch, slot = queue.pop(), free.pop()
            child = forked(lambda: worker(spec, where, batch, counters, slot))
            life = chance.expovariate(1 / given.life)
            running[child] = {"batch": batch, "slot": slot, "until": time.monotonic() + life,
                              "stops": chance.random() < 0.2, "stopped": False, "late": False}  # fmt: skip
        now = time.monotonic()
        if name == 0 and now > next_full:  # the disk is full for a moment
            full.touch()
            time.sleep(0.1)
            full.unlink()
            next_full = now + chance.expovariate(1 / (8 * given.life))
        for child, each in running.items():
            if each["stopped"] and now > each["until"]:
                os.kill(child, signal.SIGCONT)
                each.update(stopped=False, until=now + chance.expovariate(1 / given.life))
            elif now > each["until"]:
                if each["stops"] and not each["late"]:  # a straggler: others get its parts
                    os.kill(child, signal.SIGSTOP)
                    faults["stopped"] += 1
                    queue.append(each["batch"])
                    each.update(stopped=True, late=True, until=now + 2 * given.life)
                else:
                    os.kill(child, signal.SIGKILL)
                    each["until"] = now + 3600
        child, status, used = os.wait4(-1, os.WNOHANG)
        if child == 0:
            time.sleep(0.002)
            continue
        each = running.pop(child)
        free.append(each["slot"])
        cpu += used.ru_utime + used.ru_stime
        if status == 0:
            continue
        if not each["late"]:
            queue.insert(0, each["batch"])
        if os.WIFSIGNALED(status):
            faults["killed"] += 1
        elif os.WEXITSTATUS(status) == errno.ENOSPC:
            faults["full"] += 1
        else:
            raise SystemExit(f"a worker ended with {status}")
    finished(spec, where)
    with_room(lambda: pathlib.Path(report).write_text(json.dumps({"cpu_s": cpu, **faults})))
    return 0


def with_room(work):
    """work()'s answer; it is done again while the other scheduler fills the disk."""
    while True:
        try:
            return work()
        except OSError as error:
            if not disk_is_full(error):
                raise
            time.sleep(0.05)


def finished(spec, where) -> int:
    """How many parts had to be made again: none in a folder. Here an object is a file that is written in
    place, not at once as an object store has it, and a straggler that is killed may leave half of one."""
    again = 0
    while True:
        try:
            with_room(lambda: dataset.finish(where))
            return again
        except carom.InvalidInput:
            again += with_room(lambda: dataset.make(spec, where, threads=1))


def measured(*works) -> dict:
    """CPU seconds of processes that do these at a time, and the memory that the largest takes in addition to ours."""
    begin = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ended = [os.wait4(child, 0) for child in [forked(lambda work=work: work() or 0) for work in works]]
    assert all(status == 0 for _, status, _ in ended)
    return {"cpu_s": round(sum(used.ru_utime + used.ru_stime for _, _, used in ended), 2),
            "s": round(time.monotonic() - begin, 2),
            "mb_more": round(max(0, max(used.ru_maxrss for _, _, used in ended) - before) / 1024, 1)}  # fmt: skip


def bytes_of(folder: pathlib.Path, pattern: str) -> int:
    return sum(path.stat().st_size for path in folder.glob(pattern))


def run(given, folder: pathlib.Path) -> dict:
    spec = specification(given.parts)
    os.environ["CAROM_FULL"] = str(folder / "full")
    broken, plain = folder / "broken", folder / "plain"
    where = str(broken) if given.store == "folder" else f"file://{broken}"
    counters = Counters(2 * given.workers)

    begin = time.monotonic()
    reports = [folder / f"scheduler-{name}.json" for name in (0, 1)]
    children = [forked(lambda name=name: scheduler(name, spec, where, given, counters, reports[name]))
                for name in (0, 1)]  # fmt: skip
    for child in children:
        status = os.waitpid(child, 0)[1]
        assert status == 0, f"a scheduler ended with {status}"
    seconds = time.monotonic() - begin
    each = [json.loads(report.read_text()) for report in reports]
    again = finished(spec, where)
    found = {
        "parts": given.parts, "store": given.store, "made_again": again, "s": round(seconds, 1),
        **{name: sum(one[name] for one in each) for name in ("killed", "stopped", "full")},
        "parts_begun": counters.total(),
        "begun_in_vain": round(counters.total() / given.parts - 1, 4),
        "orphans_left": len(list(broken.rglob(".*.tmp"))),
        "finish": measured(lambda: dataset.finish(where) and None),
    }  # fmt: skip

    def verified(name: int) -> None:
        wrong = dataset.verify(where, recompute=min(100, given.parts), shard=(name, given.workers), threads=1)
        (folder / f"wrong-{name}.json").write_text(json.dumps(wrong))

    found["verify"] = measured(*(lambda name=name: verified(name) for name in range(given.workers)))
    found["wrong"] = sum((json.loads(path.read_text()) for path in folder.glob("wrong-*.json")), [])
    found["manifest"] = {"root_bytes": bytes_of(broken, "manifest.json"), "branches": len(list(broken.glob("manifest/*"))),
                         "branch_bytes": bytes_of(broken, "manifest/*"), "record_bytes": bytes_of(broken, "parts/**/*.json"),
                         "data_bytes": bytes_of(broken, "data/**/*.h5")}  # fmt: skip
    manifest = {path.relative_to(broken): path.read_bytes() for path in
                [broken / "manifest.json", *broken.glob("manifest/*")]}  # fmt: skip
    shutil.rmtree(broken)

    def shard(name: int) -> None:
        dataset.make(spec, plain, shard=(name, given.workers), threads=1)

    found["undisturbed_cpu_s"] = measured(*(lambda name=name: shard(name) for name in range(given.workers)))["cpu_s"]
    dataset.finish(plain)
    found["disturbed_cpu_s"] = round(sum(one["cpu_s"] for one in each), 1)
    found["digest"] = json.loads((plain / "manifest.json").read_text())["digest"]
    found["equal"] = manifest == {path.relative_to(plain): path.read_bytes() for path in
                                  [plain / "manifest.json", *plain.glob("manifest/*")]}  # fmt: skip
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", type=int, default=100000)
    parser.add_argument("--workers", type=int, default=2, help="of each scheduler")
    parser.add_argument("--life", type=float, default=2.0, help="mean seconds until a worker is killed")
    parser.add_argument("--store", choices=["folder", "objects"], default="folder")
    parser.add_argument("--folder", help="where to work; must have room")
    given = parser.parse_args()
    if "CAROM_FULL" not in os.environ:  # again, with the faults
        with tempfile.TemporaryDirectory(prefix="carom-scale-", dir=given.folder) as folder:
            shim = f"{folder}/faults.so"
            source = pathlib.Path(__file__).with_name("faults.c")
            subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"], check=True)
            faults = {"LD_PRELOAD": shim, "CAROM_FULL": f"{folder}/full", "CAROM_CLOCK": str(10 * 365 * 86400),
                      "CAROM_NO_FSYNC": "1"}  # fmt: skip
            return subprocess.run([sys.executable, *sys.argv], env={**os.environ, **faults, "CAROM_SCALE": folder},
                                  check=False).returncode  # fmt: skip
    found = run(given, pathlib.Path(os.environ["CAROM_SCALE"]))
    print(json.dumps(found, indent=1))
    return 0 if found["equal"] and not found["wrong"] else 1


if __name__ == "__main__":
    sys.exit(main())
