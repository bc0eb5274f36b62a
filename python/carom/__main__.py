"""python -m carom check | info"""

from __future__ import annotations

import argparse
import json
import sys


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m carom", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="solve a problem of each family on every backend")
    commands.add_parser("info", help="version, build, backends and devices, as JSON")
    chosen = parser.parse_args(arguments)
    import carom

    if chosen.command == "info":
        print(json.dumps(carom.info(), indent=2))
        return 0
    build = carom.info()
    print(f"carom {build['version']} ({build['commit']}), {build['instruction_set']}, "
          f"{build['hardware_threads']} threads, {len(build['cuda_devices'])} CUDA devices")  # fmt: skip
    return 0 if carom.check(verbose=True) else 1


if __name__ == "__main__":
    sys.exit(main())
