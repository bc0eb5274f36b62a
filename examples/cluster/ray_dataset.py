"""A dataset on Ray, a part a task: python ray_dataset.py spec.toml FOLDER

FOLDER is one that all workers see. A task whose worker dies is tried again; what it had written
whole stays.
"""

import pathlib
import sys

import ray

import carom


@ray.remote(num_cpus=1, max_retries=3)
def make_part(spec: str, folder: str, part: int) -> int:
    return carom.dataset.make(spec, folder, part=part, threads=1)


def main(spec: str, folder: str) -> None:
    spec, folder = (str(pathlib.Path(path).resolve()) for path in (spec, folder))
    count = len(carom.dataset.parts(carom.dataset.resolve(spec)))
    ray.init(ignore_reinit_error=True, include_dashboard=False)
    carom.dataset.make(spec, folder, part=0, threads=1)  # writes the spec before anybody else does
    written = ray.get([make_part.remote(spec, folder, part) for part in range(1, count)])
    manifest = carom.dataset.finish(folder)
    print(f"{1 + sum(written)} parts written, {manifest['rows']} rows")


if __name__ == "__main__":
    main(*sys.argv[1:])
