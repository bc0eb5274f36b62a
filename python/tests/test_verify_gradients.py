"""Gradients judged by answers that are solved anew: right ones stand, spoiled ones and other statuses do not."""

from __future__ import annotations

import dataclasses

import numpy as np

import carom
from carom import Smoothness


def spoiled(gradient, name, problem):
    array = getattr(gradient, name).copy()
    array[problem] = 1.02 * array[problem]
    return dataclasses.replace(gradient, **{name: array})


def spd(rng, *shape):
    root = rng.normal(size=shape)
    return root @ np.swapaxes(root, -1, -2) + np.eye(shape[-1])


def test_lcps():
    rng = np.random.default_rng(1)
    M, q, g = spd(rng, 30, 6, 6), rng.normal(size=(30, 6)), rng.normal(size=(30, 6))
    answer = carom.solve_lcp(M, q)
    gradient = answer.vjp(solution=g)
    held = answer.verify_vjp(gradient, solution=g)
    np.testing.assert_array_equal(held, gradient.status == Smoothness.smooth)
    assert held.sum() >= 28
    some = int(np.argmax(np.abs(gradient.vector).sum(axis=1)))
    again = answer.verify_vjp(spoiled(gradient, "vector", some), solution=g)
    assert np.flatnonzero(held != again).tolist() == [some]
    kink = carom.solve_lcp(np.eye(2), [0.0, -1.0])
    assert not kink.verify_vjp(kink.vjp(solution=np.ones((1, 2))), solution=np.ones((1, 2))).any()


def test_qps_lps_and_what_problems_share():
    rng = np.random.default_rng(2)
    P, A, q = spd(rng, 5, 5), rng.normal(size=(4, 5)), rng.normal(size=(20, 5))
    answer = carom.solve_qp(P, q, A, -np.ones(4), np.array([1.0, 1.0, -0.5, 0.3]))
    g = {"solution": rng.normal(size=(20, 5)), "dual": rng.normal(size=(20, 4))}
    for wrt in (("vector",), None):  # None: the shared ones too
        gradient = answer.vjp(**g, wrt=wrt)
        assert (gradient.status == Smoothness.smooth).all() and answer.verify_vjp(gradient, **g).all()
    assert not answer.verify_vjp(spoiled(gradient, "matrix", 0), **g).any()
    C, b = -np.eye(5), np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    cone = carom.solve_qp(P, 3.0 * q, C=C, b=b, cones=[("soc", 5)])
    gradient = cone.vjp(solution=g["solution"], wrt="vector")
    smooth = gradient.status == Smoothness.smooth
    np.testing.assert_array_equal(cone.verify_vjp(gradient, solution=g["solution"]), smooth)
    assert smooth.sum() >= 15
    x = rng.random((20, 5))
    lp = carom.solve_lp(rng.normal(size=(20, 1, 5)), A, x @ A.T, x @ A.T, lower=np.zeros(5), upper=np.full(5, 2.0))
    gradient = lp.vjp(objective=np.ones((20, 1)), wrt=("cost", "row_lower", "row_upper"))
    smooth = gradient.status[:, 0] == Smoothness.smooth
    np.testing.assert_array_equal(lp.verify_vjp(gradient, objective=np.ones((20, 1))), smooth)
    assert smooth.sum() >= 19
