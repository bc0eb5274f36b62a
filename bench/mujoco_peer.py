#!/usr/bin/env python3
"""The scenario inclined_block in MuJoCo: a box of 1 kg, 0.2 x 0.1 x 0.05 m, on a plane that is tilted
by 15 degrees, four contacts at its corners, dt = 0.01 s.

  python3 bench/mujoco_peer.py > mujoco.json

Elliptic friction cones, Newton's solver with MuJoCo's own tolerance (1e-8) and number of iterations
(100), semi-implicit Euler, in three settings: as they come; impratio = 100, which stiffens friction
against the normal direction; 20 iterations of the no-slip solver after each step. A pass is 1,000
steps in one call of mj_step from the same state; what the call and the reset cost is measured with
no step in it, and subtracted. Process time, one thread.

slid_error: the way in the first second at mu = 0.25 against 0.5 g (sin 15 - mu cos 15), relative.
creep: mean speed from 1 s to 11 s at mu = 0.375 > tan 15, where the block ought to stand [m/s]."""
import json
import math
import sys
import time

STEPS = 1000
PASSES = 20
ANGLE = math.radians(15.0)
GRAVITY = 9.81
SETTINGS = {
    "mujoco": "",
    "mujoco_impratio100": 'impratio="100"',
    "mujoco_noslip20": 'noslip_iterations="20"',
}


def model(mujoco, friction, options):
    return mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <option timestep="0.01" cone="elliptic" solver="Newton" {options}
    gravity="{GRAVITY * math.sin(ANGLE)!r} 0 {-GRAVITY * math.cos(ANGLE)!r}"/>
  <worldbody>
    <geom type="plane" size="0 0 1" condim="3" friction="{friction} 0 0"/>
    <body pos="0 0 0.025">
      <freejoint/>
      <geom type="box" size="0.1 0.05 0.025" mass="1" condim="3" friction="{friction} 0 0"/>
    </body>
  </worldbody>
</mujoco>""")


def ways(mujoco, friction, options, *times):
    """Positions downhill after so many steps in all."""
    world = model(mujoco, friction, options)
    data = mujoco.MjData(world)
    done, found = 0, []
    for steps in times:
        mujoco.mj_step(world, data, steps - done)
        done = steps
        found.append(float(data.qpos[0]))
    return found, int(data.ncon)


def seconds(mujoco, world, data, steps):
    start = time.process_time()
    for _ in range(PASSES):
        mujoco.mj_resetData(world, data)
        mujoco.mj_step(world, data, steps)
    return (time.process_time() - start) / PASSES


def main():
    try:
        import mujoco
    except ImportError:
        print("mujoco: not installed (pip install mujoco)", file=sys.stderr)
        print("[]")
        return
    expected = 0.5 * GRAVITY * (math.sin(ANGLE) - 0.25 * math.cos(ANGLE))
    results = []
    for name, options in SETTINGS.items():
        (slid,), contacts = ways(mujoco, 0.25, options, 100)
        (early, late), _ = ways(mujoco, 0.375, options, 100, 1100)
        world = model(mujoco, 0.25, options)
        data = mujoco.MjData(world)
        seconds(mujoco, world, data, STEPS)
        call = sorted(seconds(mujoco, world, data, 0) for _ in range(5))[2]
        times = [max(seconds(mujoco, world, data, STEPS) - call, 1e-9) for _ in range(5)]
        results.append({
            "name": f"worlds/inclined_block/{name}", "time_unit": "s", "cpu_time": times,
            "real_time": times, "problems": float(STEPS), "threads": 1, "rows": 3 * contacts,
            "slid_error": slid / expected - 1.0, "creep": (late - early) / 10.0,
            "call_seconds": call, "version": mujoco.__version__})
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
