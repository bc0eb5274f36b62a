"""Measured impacts of a cube against sets of outcomes: the table and figures of docs/tutorials/measured.md.

    python examples/cube_judge.py [--page docs/tutorials/measured.md] [--figures docs/images]
"""

from __future__ import annotations

import argparse
import pathlib
import re

import numpy as np

import carom

DATA = pathlib.Path(__file__).parent / "data" / "cube_tosses"
EXACT = {"method": "events", "friction_directions": 16}
SETS = {
    "inelastic, mu = 0.18": (0.0, 0.18),
    "reported e = 0.125, mu = 0.18": (0.125, 0.18),
    "e in [0, 0.2], mu in [0.1, 0.3]": ((0.0, 0.2), (0.1, 0.3)),
    "e = 0.28, mu = 0.16": (0.28, 0.16),
    "e in [0.24, 0.34], mu in [0.13, 0.20]": ((0.24, 0.34), (0.13, 0.20)),
    "e in [0.2, 0.4], mu in [0.1, 0.2]": ((0.2, 0.4), (0.1, 0.2)),
}


def admissible(problems: carom.impact.Problems, seed: int = 0) -> np.ndarray:
    """One velocity for each problem: after random impulses in the cones, if nothing approaches any more
    and no energy is gained (n, nv)."""
    rng = np.random.default_rng(seed)
    m, found = problems.contacts, np.full(problems.velocity.shape, np.nan)
    J = np.concatenate([problems.normal_jacobian, problems.tangent_jacobian], axis=1)
    response = np.linalg.solve(problems.mass_matrix, J.transpose(0, 2, 1))
    size = np.einsum("nij,nj->ni", problems.normal_jacobian, problems.velocity).clip(max=0).min(1)
    for i in range(len(problems)):
        energy = problems.velocity[i] @ problems.mass_matrix[i] @ problems.velocity[i]
        while np.isnan(found[i, 0]):
            normal = -2 * size[i] * problems.mass_matrix[i, 0, 0] * rng.random(m)
            angle, slip = 2 * np.pi * rng.random(m), 0.3 * normal * np.sqrt(rng.random(m))
            v = problems.velocity[i] + response[i] @ np.r_[normal, np.stack([slip * np.cos(angle), slip * np.sin(angle)], 1).ravel()]
            if (problems.normal_jacobian[i] @ v >= 0).all() and v @ problems.mass_matrix[i] @ v <= energy:
                found[i] = v
    return found


ONE = {"restitution": 0.28, "friction": 0.16}  # of models with one outcome
BOTH = "better of both sequences, e = 0.28, mu = 0.16"
MODELS = {
    BOTH: [{"model": "sequential", "order": order} for order in ((0, 1), (1, 0))],
    "rounds by Poisson, same": [{"model": "poisson"}],
    "rounds by Newton, same": [{"model": "newton"}],
    "springs together (LZB), same": [{"model": "springs", "stiffness": 1e7}],
}


def modelled(problems: carom.impact.Problems) -> dict[str, np.ndarray]:
    """Outcomes of the models of every problem (n, outcomes, nv)."""
    found: dict[str, list[list[np.ndarray]]] = {name: [] for name in MODELS}
    for i in range(len(problems)):
        for name, calls in MODELS.items():
            outcomes = [carom.impact.bounce(problems[i], friction_directions=16, **ONE, **call) for call in calls]
            found[name].append([outcome.velocity for outcome in outcomes])
    return {name: np.array(outcomes) for name, outcomes in found.items()}


def distances(problems: carom.impact.Problems, outcomes: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Of the nearest outcome of each problem, |.|_M over |v-|_M (n)."""
    root = np.linalg.cholesky(problems.mass_matrix).transpose(0, 2, 1)
    away = np.einsum("nij,nkj->nki", root, outcomes - measured[:, None])
    size = np.linalg.norm(np.einsum("nij,nj->ni", root, problems.velocity), axis=1)
    return np.linalg.norm(away, axis=2).min(1) / size


def row(name: str, corners: int, distance: np.ndarray, resolution: float | None) -> str:
    near, close = ((distance <= x).mean() for x in (0.02, 0.03))
    last = "" if resolution is None else f"{resolution:.3f}"
    return f"| {name} | {corners} | {np.median(distance):.3f} | {near:.1%} | {close:.1%} | {last} |"


def table(samples: int, figures: pathlib.Path | None) -> str:
    lines = ["| set or model | corners | median | <= 0.02 | <= 0.03 | resolution |", "|---|---|---|---|---|---|"]
    for corners, name in ((1, "one_corner"), (2, "two_corners")):
        data = carom.impact.read_measured(DATA / f"{name}.h5")
        rows = [(text, data.velocity, *given) for text, given in SETS.items()]
        rows.append(("random outcomes, e in [0.2, 0.4], mu in [0.1, 0.2]", admissible(data.problems), (0.2, 0.4), (0.1, 0.2)))
        far = {}
        for text, v, restitution, friction in rows:
            found = carom.impact.judge(data.problems, v, restitution=restitution, friction=friction, samples=samples, sampling=EXACT)
            if text == "e in [0.2, 0.4], mu in [0.1, 0.2]":
                wide = found
            if not text.startswith("random"):
                far[text] = found.distance
            lines.append(row(text, corners, found.distance, float(np.median(found.resolution))))
        if corners == 1:
            one = data
            continue
        models = modelled(data.problems)
        for text, outcomes in models.items():
            far[text] = distances(data.problems, outcomes, data.velocity)
            lines.append(row(text, corners, far[text], None))
        if figures:
            import cube_figures

            cube_figures.draw(figures, data, one, wide, models, far)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--page", type=pathlib.Path, help="write the table into this page")
    parser.add_argument("--figures", type=pathlib.Path, help="draw the page's figures into this folder")
    options = parser.parse_args()
    text = table(options.samples, options.figures)
    print(text)
    if options.page:
        page = options.page.read_text()
        options.page.write_text(re.sub(r"(<!-- table -->\n).*(<!-- end -->)", lambda m: f"{m[1]}\n{text}\n\n{m[2]}", page, flags=re.S))


if __name__ == "__main__":
    main()
