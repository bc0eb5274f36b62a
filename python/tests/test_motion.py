"""Motions: the command's numbers, shards, starts, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import carom
from carom import motion


def test_a_ball_bounces_as_newton_says():
    ran = motion.simulate("bouncing_ball", coefficient=0.5, keep_samples=1, keep_events=50)
    assert (ran.end != motion.MotionEnd.failed).all()
    count = int(ran.event_count[0, 0])
    kinds, times = ran.event_kind[0, 0][:count], ran.event_time[0, 0][:count]
    flights = np.diff(times[kinds == motion.MotionEventKind.impact])
    np.testing.assert_allclose(flights[1:] / flights[:-1], 0.5, rtol=1e-9)
    assert kinds[-2:].tolist() == [motion.MotionEventKind.zeno, motion.MotionEventKind.rest]
    # The flights after impact k last half of those before: their sum is finite.
    np.testing.assert_allclose(ran.zeno_time[0, 0], times[0] + 2 * flights[0], rtol=1e-9)


def test_shards_of_samples_make_the_whole():
    whole = motion.simulate("rocking_block_drop", samples=30, seed=3)
    parts = [motion.simulate("rocking_block_drop", samples=10, first_sample=f, seed=3) for f in (0, 10, 20)]
    joined = np.concatenate([part.position for part in parts], axis=1)
    assert joined.tobytes() == whole.position.tobytes()
    assert whole.residual.max() <= 1e-8


def test_shards_of_problems_make_the_whole():
    widths = np.array([0.8, 1.0, 1.2, 1.4])
    run = dict(samples=6, duration=0.4, seed=3)
    whole = motion.simulate(motion.model("rocking_block_drop", width=widths), **run)
    part = motion.simulate(motion.model("rocking_block_drop", width=widths[2:]), first_problem=2, **run)
    assert part.position.tobytes() == whole.position[2:].tobytes()
    other = motion.simulate(motion.model("rocking_block_drop", width=widths[2:]), **run)
    assert other.position.tobytes() != part.position.tobytes()
    with pytest.raises(carom.InvalidInput, match="first_problem"):
        motion.simulate("rocking_block_drop", first_problem=-1)


def test_numbers_of_the_command(command):
    model = motion.models()["rocking_block_drop"]
    ran = motion.simulate("rocking_block_drop", samples=20)
    said = str(command("motion", "rocking_block_drop", "--samples", 20, "--json"))
    assert repr(float(ran.residual.max())) in said
    assert repr(float(ran.velocity[0, :, 0].max())) in said or repr(float(ran.position[0, :, 0].max())) in said
    assert model.duration > 0


def test_starts_are_changed_and_refused():
    start = motion.model("rocking_block_drop", n=3)
    assert len(start) == 3
    moved = start.changed(velocity=np.zeros(start.velocity.shape[1]))
    assert (moved.velocity == 0).all() and moved.velocity.shape == start.velocity.shape
    with pytest.raises(carom.InvalidInput) as refused:
        motion.simulate(start.changed(position=np.full(start.position.shape[1], np.nan)))
    assert refused.value.problem == 0 and refused.value.field == "position"
    with pytest.raises(carom.InvalidInput, match="must end in"):
        start.changed(position=[0.0])
    with pytest.raises(carom.InvalidInput, match="restitution"):
        motion.simulate("rocking_block_drop", restitution="hertz")
    with pytest.raises(carom.InvalidInput):
        motion.model("rocking_block_drop", nonsense=1.0)
