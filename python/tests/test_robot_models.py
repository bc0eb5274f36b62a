"""Robots of installed packages, none of which is a part of this repository: states that a simulator leaves are
taken, and what is made of them is right."""

from __future__ import annotations

import numpy as np
import pytest
import robot_models

import carom

mujoco = pytest.importorskip("mujoco")


@pytest.fixture(autouse=True)
def quiet():
    mujoco.set_mju_user_warning(lambda message: None)


@pytest.mark.parametrize("name", sorted(robot_models.MJCF))
@pytest.mark.filterwarnings("ignore:.*torsional")
def test_states_of_a_robot_are_taken(name):
    try:
        model = robot_models.model(mujoco, name)
    except Exception as error:  # a file that this MuJoCo does not read, or that lacks others
        pytest.skip(f"not read: {error}")
    if model is None:
        pytest.skip(f"package {robot_models.MJCF[name][0]} is not installed")
    qpos, qvel = robot_models.fallen(mujoco, model, 16)
    if not len(qpos):
        pytest.skip("its simulation does not run from rest")
    states = carom.robot(model).impacts(qpos, qvel)
    assert states.accepted.mean() > 0.8, states.why
    assert all(bool(why) == (status > 1) for why, status in zip(states.why, states.status))
    check(model, states, qpos, qvel)


def check(model, states, qpos, qvel):
    """M is MuJoCo's, and the normal rows are its Jacobians of both points, along its normals."""
    data = mujoco.MjData(model)
    for part, rows in zip(states.parts, states.part_rows):
        i = 0
        state = int(part.index[i])
        data.qpos[:], data.qvel[:] = qpos[state], qvel[state]
        mujoco.mj_fwdPosition(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        lift = np.eye(model.nv) if part.lift is None else part.lift[i]
        np.testing.assert_allclose(part.mass_matrix[i], lift.T @ M @ lift, atol=1e-9 * np.abs(M).max())
        for contact, row in enumerate(rows[i]):
            names = str(states.row_name[row]).split("/")
            if not states.row_bodies[row][0] or len(names) != 2:
                continue
            jacobians = []
            for body in states.row_bodies[row]:
                jacobian = np.zeros((3, model.nv))
                number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, str(body))
                if number < 0:  # a body without a name
                    number = int(str(body).split()[-1])
                mujoco.mj_jac(model, data, jacobian, None, states.row_point[row], number)
                jacobians.append(jacobian)
            expected = states.row_frame[row] @ (jacobians[1] - jacobians[0]) @ lift
            np.testing.assert_allclose(part.normal_jacobian[i, contact], expected[0], atol=1e-9)
            np.testing.assert_allclose(part.tangent_jacobian[i, 2 * contact : 2 * contact + 2], expected[1:], atol=1e-9)
    assert (states.projected <= 0.05).all() or (states.status[states.projected > 0.05] == carom.robots.StateStatus.off_equalities).any()
