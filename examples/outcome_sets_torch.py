#!/usr/bin/env python3
"""The network of docs/tutorials/outcome_sets.md in torch.

    python -m carom dataset make impact-sets-2c sets --problems 2000
    python examples/outcome_sets_torch.py sets

It prints the mean error of the support function on the test split beside that of one set for all problems."""

import argparse

import numpy as np
import torch

import carom

POINTS = 16  # the predicted set is their convex hull


def load(folder, split):
    """Inputs (n, 16): A = J M^-1 J' without its scale, friction, contact velocities before; vertices (n, v, 4) in
    units of the fastest contact before."""
    batch = carom.data.Rows(folder, split).batch(range(len(carom.data.Rows(folder, split))))
    J = np.concatenate([batch["normal_jacobian"], batch["tangent_jacobian"]], axis=1)
    before = np.einsum("nij,nj->ni", J, batch["velocity"])
    size = np.abs(before).max(axis=1, keepdims=True)
    A = J @ np.linalg.solve(batch["mass_matrix"], J.transpose(0, 2, 1))
    A /= np.trace(A, axis1=1, axis2=2)[:, None, None]
    row, column = np.triu_indices(4)
    x = np.concatenate([A[:, row, column], batch["friction"], before / size], axis=1)
    vertices = batch["vertices"] / size[:, :, None]
    vertices = np.where(np.isnan(vertices), vertices[:, :1], vertices)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(vertices, dtype=torch.float32)


def reach(points, directions):
    """Support function (n, k) of the hulls of points (n, v, 4)."""
    return torch.einsum("nvi,nki->nvk", points, directions).amax(dim=1)


def unit(n, k):
    return torch.nn.functional.normalize(torch.randn(n, k, 4), dim=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=1500)
    chosen = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the layers are small
    x, vertices = load(chosen.folder, "train")
    mean, deviation = x.mean(dim=0), x.std(dim=0)
    net = torch.nn.Sequential(torch.nn.Linear(x.shape[1], 128), torch.nn.Tanh(), torch.nn.Linear(128, 128), torch.nn.Tanh(),
                              torch.nn.Linear(128, 4 * POINTS))  # fmt: skip
    adam = torch.optim.Adam(net.parameters(), lr=2e-3)
    slower = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.0, chosen.steps)
    for _ in range(chosen.steps):
        rows = torch.randint(len(x), (128,))
        d = unit(128, 32)
        error = reach(net((x[rows] - mean) / deviation).view(-1, POINTS, 4), d) - reach(vertices[rows], d)
        adam.zero_grad()
        (0.5 * error.square().mean()).backward()
        adam.step()
        slower.step()
    tx, exact_set = load(chosen.folder, "test")
    d = unit(len(tx), 200)
    exact = reach(exact_set, d)
    with torch.no_grad():
        predicted = reach(net((tx - mean) / deviation).view(-1, POINTS, 4), d)
    same = reach(vertices[:1], d).mean(dim=0)
    print(f"network {float((predicted - exact).abs().mean()):.4f}, one set for all {float((same - exact).abs().mean()):.4f}")


if __name__ == "__main__":
    main()
