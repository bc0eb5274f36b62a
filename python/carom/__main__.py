"""python -m carom check | info | dataset make | finish | verify | show | export"""

from __future__ import annotations

import argparse
import json
import sys


def _dataset(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("dataset", help="datasets in parts that survive a kill")
    actions = parser.add_subparsers(dest="action", required=True)
    make = actions.add_parser("make", help="compute the parts that are not there yet")
    make.add_argument("spec", help="TOML file")
    make.add_argument("folder", help="or a URL of an object store, such as s3://bucket/name")
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
        written = dataset.make(
            chosen.spec, chosen.folder, shard=chosen.shard, part=chosen.part, threads=chosen.threads,
            progress=sys.stderr.isatty() or None,
        )  # fmt: skip
        print(f"{written} parts written")
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


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m carom", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="solve a problem of each family on every backend")
    commands.add_parser("info", help="version, build, backends and devices, as JSON")
    _dataset(commands)
    chosen = parser.parse_args(arguments)
    import carom

    if chosen.command == "info":
        print(json.dumps(carom.info(), indent=2))
        return 0
    if chosen.command == "dataset":
        try:
            return _run_dataset(chosen)
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
