"""python -m carom check | info | exam | dataset make | finish | verify | show | export"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from typing import Any

from ._progress import called


def _dataset(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("dataset", help="datasets in parts that survive a kill")
    actions = parser.add_subparsers(dest="action", required=True)
    make = actions.add_parser("make", help="compute the parts that are not there yet")
    make.add_argument("spec", help="TOML file; or impact-sets-2c, friction-exam or tosses, which is then finished, too")
    make.add_argument("folder", nargs="?", help="or a URL of an object store, such as s3://bucket/name; that name where left out")
    make.add_argument("--problems", type=int, metavar="N", help="of a named one, other than its own number")
    make.add_argument("--shard", metavar="I/N", help="every N-th part, from I")
    make.add_argument("--part", type=int, metavar="K", help="only that part")
    make.add_argument("--threads", type=int, default=0, help="CPU threads, 0 all")
    for name, text in (
        ("finish", "check that all parts are there; write card and manifest"),
        ("show", "what it is and how far, as JSON"),
    ):
        actions.add_parser(name, help=text).add_argument("folder")
    verify = actions.add_parser("verify", help="read every byte; exit status 1 where any is wrong")
    verify.add_argument("folder")
    verify.add_argument("--recompute", default="0", metavar="K|1%", help="parts to compute again")
    verify.add_argument("--shard", metavar="I/N", help="every N-th part, from I")
    verify.add_argument("--threads", type=int, default=0, help="CPU threads, 0 all")
    export = actions.add_parser("export", help="write all parts in another format")
    export.add_argument("folder")
    export.add_argument("out")
    export.add_argument("--to", required=True, choices=["parquet", "npz", "zarr", "lerobot"])


def _run_dataset(chosen: argparse.Namespace) -> int:
    from . import dataset

    if chosen.action == "make":
        named = chosen.spec in dataset.RECIPES
        if not named and (chosen.problems or not chosen.folder):
            raise ImportError("dataset make: a TOML file needs a folder and has its number of problems itself")
        spec = dataset.recipe(chosen.spec, chosen.problems) if named else chosen.spec
        folder = chosen.folder or chosen.spec
        written = dataset.make(
            spec, folder, shard=chosen.shard, part=chosen.part, threads=chosen.threads,
            progress=sys.stderr.isatty() or None,
        )  # fmt: skip
        print(f"{written} parts written")
        if named and chosen.shard is None and chosen.part is None:
            manifest = dataset.finish(folder)
            print(f"{manifest['rows']} rows, {manifest['bytes'] / 1e6:.1f} MB, card {folder}/README.md")
    elif chosen.action == "finish":
        manifest = dataset.finish(chosen.folder)
        print(f"{manifest['rows']} rows in {len(dataset.parts(manifest['spec']))} parts, digest {manifest['digest']}")
    elif chosen.action == "show":
        print(json.dumps(dataset.show(chosen.folder), indent=2))
    elif chosen.action == "export":
        print(f"{dataset.export(chosen.folder, chosen.out, to=chosen.to)} parts written")
    else:
        recompute = chosen.recompute if chosen.recompute.endswith("%") else int(chosen.recompute)
        wrong = dataset.verify(
            chosen.folder, recompute=recompute, shard=chosen.shard, threads=chosen.threads
        )
        print("\n".join(wrong) or "all parts are as they were computed")
        return 1 if wrong else 0
    return 0


def _exam(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "exam", help="contact problems with all their solutions; marks a solver's answers"
    )
    parser.add_argument(
        "--solver", action="append", default=[], metavar="MODULE:FUNCTION",
        help="takes a carom.exam.Problem, returns impulses or None; repeatable",
    )  # fmt: skip
    parser.add_argument("--compare", action="store_true", help="next to carom's own solvers and those of simulators")
    parser.add_argument("--problems", type=int, metavar="N", help="of each group (200; of a file: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--group", action="append", help="only this group; repeatable")
    parser.add_argument("--file", help="problems of such a file instead of drawn ones")
    parser.add_argument("--save", metavar="FILE", help="writes the problems and their solutions, HDF5")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="of the residual (1e-6)")


def _solver(name: str) -> Any:
    module, _, function = name.partition(":")
    sys.path.insert(0, "")  # a module of the present folder
    try:
        found = getattr(importlib.import_module(module), function or "solve")
    except AttributeError as error:
        raise ImportError(f"--solver is {name}: {error}") from error
    finally:
        sys.path.remove("")
    return found


def _run_exam(chosen: argparse.Namespace) -> int:
    from . import exam
    from ._exam_solvers import SOLVERS

    solvers = {name: _solver(name) for name in chosen.solver}
    if chosen.compare:
        solvers.update(SOLVERS)
    if not solvers and not chosen.save:
        raise ImportError("exam: give --solver MODULE:FUNCTION, --compare or --save FILE")
    progress = called(sys.stderr.isatty() or None)
    if chosen.file:
        problems = exam.load(chosen.file)
        if chosen.problems is not None or chosen.group:
            count = len(problems) if chosen.problems is None else chosen.problems
            problems = exam.first(problems, count, chosen.group or exam.GROUPS)
    else:
        count = 200 if chosen.problems is None else chosen.problems
        problems = exam.problems(count, chosen.seed, chosen.group or exam.GROUPS, progress)
    if chosen.save:
        exam.save(problems, chosen.save)
        print(f"{len(problems)} problems in {chosen.save}")
    if solvers:
        scores = {name: exam.score(solve, problems, chosen.tolerance, progress) for name, solve in solvers.items()}
        print(exam.table(scores))
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m carom", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="solve a problem of each family on every backend")
    commands.add_parser("info", help="version, build, backends and devices, as JSON")
    _dataset(commands)
    _exam(commands)
    chosen = parser.parse_args(arguments)
    import carom

    if chosen.command == "info":
        print(json.dumps(carom.info(), indent=2))
        return 0
    if chosen.command in ("dataset", "exam"):
        try:
            return _run_dataset(chosen) if chosen.command == "dataset" else _run_exam(chosen)
        except (carom.InvalidInput, OSError, ImportError) as error:
            print(f"carom: {error}", file=sys.stderr)
            return 2
    build = carom.info()
    print(
        f"carom {build['version']} ({build['commit']}), {build['instruction_set']}, "
        f"{build['hardware_threads']} threads, {len(build['cuda_devices'])} CUDA devices"
    )
    return 0 if carom.check(verbose=True) else 1


if __name__ == "__main__":
    sys.exit(main())
